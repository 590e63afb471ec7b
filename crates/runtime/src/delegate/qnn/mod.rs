//! Qualcomm QNN (AI Engine Direct): the Hexagon NPU of Snapdragon chips.
//!
//! Its delegate says that it is available whatever the device has, and fails without a word when a method is loaded.
//! So Qualcomm's libraries are opened here first and asked for their version.

mod options;
mod version;

pub use options::{HtpPerformance, LogLevel, QnnOptions};
pub use version::{BUILT_FOR, Version};

use super::option::{OptionInfo, OptionKind, Scope};
use super::{Check, DelegateInfo, Platform, nothing_to_prepare};

pub(super) static INFO: DelegateInfo = DelegateInfo {
    id: "QnnBackend",
    short_name: "qnn",
    name: "Qualcomm QNN",
    platforms: &[Platform::Android, Platform::Linux, Platform::Windows],
    options: &[
        OptionInfo {
            key: options::LOG_LEVEL,
            kind: OptionKind::Choice(&[
                ("off", 0),
                ("error", 1),
                ("warn", 2),
                ("info", 3),
                ("verbose", 4),
                ("debug", 5),
            ]),
            default: "what the program was exported with",
            scope: Scope::Process,
            meaning: "what the delegate and Qualcomm's libraries log",
        },
        OptionInfo {
            key: options::HTP_PERFORMANCE,
            kind: OptionKind::Choice(&[
                ("default", 0),
                ("sustained-high-performance", 1),
                ("burst", 2),
                ("high-performance", 3),
                ("power-saver", 4),
                ("low-power-saver", 5),
                ("high-power-saver", 6),
                ("low-balanced", 7),
                ("balanced", 8),
            ]),
            default: "what the program was exported with",
            scope: Scope::Process,
            meaning: "speed against power on the NPU",
        },
        OptionInfo {
            key: "qnn_runtime_profile_level",
            kind: OptionKind::Choice(&[("off", 0), ("basic", 1), ("detailed", 2), ("optrace", 3)]),
            default: "what the program was exported with",
            scope: Scope::Process,
            meaning: "what the delegate measures",
        },
        OptionInfo {
            key: "qnn_runtime_lpai_fps",
            kind: OptionKind::Int { min: 1, max: i32::MAX },
            default: "what the program was exported with",
            scope: Scope::Process,
            meaning: "runs a second on the low-power AI core",
        },
        OptionInfo {
            key: "qnn_runtime_lpai_ftrt_ratio",
            kind: OptionKind::Int { min: 1, max: i32::MAX },
            default: "what the program was exported with",
            scope: Scope::Process,
            meaning: "how much faster than real time the low-power AI core must be, in tenths",
        },
        OptionInfo {
            key: "qnn_runtime_lpai_client_perf_type",
            kind: OptionKind::Choice(&[("undefined", 0), ("real-time", 1), ("non-real-time", 2)]),
            default: "what the program was exported with",
            scope: Scope::Process,
            meaning: "whether runs on the low-power AI core have a deadline",
        },
        OptionInfo {
            key: "qnn_runtime_lpai_affinity",
            kind: OptionKind::Choice(&[("undefined", 0), ("soft", 1), ("hard", 2)]),
            default: "what the program was exported with",
            scope: Scope::Process,
            meaning: "how strictly the choice of low-power AI cores is kept",
        },
        OptionInfo {
            key: "qnn_runtime_lpai_core_selection",
            kind: OptionKind::Int { min: 0, max: i32::MAX },
            default: "what the program was exported with",
            scope: Scope::Process,
            meaning: "the low-power AI core to run on",
        },
        OptionInfo {
            key: "qnn_runtime_heap_profiling_path",
            kind: OptionKind::Path,
            default: "none",
            scope: Scope::Process,
            meaning: "the file to which the use of the DSP's heap is written",
        },
    ],
    needs: "Qualcomm's libQnnHtp.so and libQnnSystem.so of QNN API 2.27 (SDK 2.37) where the loader finds them; on a \
            phone also libQnnHtpVxxStub.so and the skeleton for its DSP, in the app",
    absence: "is_available() is true all the same; 0x1 (Internal) at method load",
    tested: "not run on a device; our check ran with Qualcomm's libraries absent and, on Linux x86_64, of another version",
    check: Check::InPlace(|_| version::check()),
    prepare: nothing_to_prepare,
};
