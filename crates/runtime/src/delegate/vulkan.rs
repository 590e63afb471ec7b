//! Vulkan: GPUs of Android devices. It has no options at run time: what its compile specs say was chosen at export.
//!
//! Source: backends/vulkan/runtime/VulkanBackend.cpp.

use super::{Check, DelegateInfo, Platform, nothing_to_prepare};

pub(super) static INFO: DelegateInfo = DelegateInfo {
    id: "VulkanBackend",
    short_name: "vulkan",
    name: "Vulkan",
    platforms: &[Platform::Android, Platform::Linux, Platform::Windows],
    options: &[],
    needs: "a Vulkan 1.1 driver (libvulkan.so and a GPU); some programs need 16-bit or 8-bit storage",
    absence: "not in ExecuTorch's wheel: 0x20 (NotFound) at method load; without a driver is_available() is false",
    tested: "not run on a device",
    check: Check::None,
    prepare: nothing_to_prepare,
};
