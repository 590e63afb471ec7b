//! Samsung ENN: the NPU of Exynos chips. It has no options at run time.
//!
//! Sources: backends/samsung/runtime/{enn_backend.cpp, enn_api_implementation.cpp}.

use super::{Check, DelegateInfo, Platform, library, nothing_to_prepare};

pub(super) static INFO: DelegateInfo = DelegateInfo {
    id: "EnnBackend",
    short_name: "samsung",
    name: "Samsung ENN",
    platforms: &[Platform::Android],
    options: &[],
    needs: "libenn_public_api_cpp.so of the device",
    absence: "is_available() is true all the same; the method fails to load. Not in ExecuTorch's wheel",
    tested: "not run on a device",
    check: Check::Before(check),
    prepare: nothing_to_prepare,
};

fn check() -> Result<(), String> {
    library::open_any(&["libenn_public_api_cpp.so"]).map(drop)
}
