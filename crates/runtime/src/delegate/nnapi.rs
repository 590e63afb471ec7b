//! NNAPI, Android's neural networks API: ExecuTorch has no delegate for it, and never had one.
//!
//! Android itself has deprecated it since version 15
//! (<https://developer.android.com/ndk/guides/neuralnetworks/migration-guide>). What it once reached is reached by the
//! chip makers' own delegates: Qualcomm's `QnnBackend`, MediaTek's `NeuropilotBackend`, Samsung's `EnnBackend`; the GPU
//! by `VulkanBackend`, and the CPU of any device by `XnnpackBackend`.

/// Why a delegate of this name can't be had.
pub const WHY_NOT: &str = "ExecuTorch has no NNAPI delegate, and Android has deprecated NNAPI since version 15: export \
     for QnnBackend (Qualcomm), NeuropilotBackend (MediaTek), EnnBackend (Samsung), VulkanBackend (GPU) or \
     XnnpackBackend (CPU)";

/// Whether a name that is no delegate's means NNAPI.
pub(crate) fn is_meant(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "nnapi" || name == "nnapibackend" || name == "nnapi_backend"
}
