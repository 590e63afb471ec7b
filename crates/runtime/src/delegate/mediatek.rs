//! MediaTek NeuroPilot: the NPU of Dimensity chips. It has no options at run time: `HighAddr`, `ImportForever` and
//! `ExtractSharedBlobKey` are compile specs.
//!
//! Sources: backends/mediatek/runtime/NeuronBackend.cpp and include/api/{NeuronAdapterShim,APUWareUtilsLib}.h.

use super::{Check, DelegateInfo, Platform, library, nothing_to_prepare};

pub(super) static INFO: DelegateInfo = DelegateInfo {
    id: "NeuropilotBackend",
    short_name: "mediatek",
    name: "MediaTek NeuroPilot",
    platforms: &[Platform::Android],
    options: &[],
    needs: "libneuronusdk_adapter.mtk.so, libneuron_adapter_mgvi.so or libneuron_adapter.so of the device, and \
            MediaTek's libneuron_buffer_allocator.so in the app",
    absence: "is_available() is true all the same; the method fails to load or run. Not in ExecuTorch's wheel",
    tested: "not run on a device",
    check: Check::Before(check),
    prepare: nothing_to_prepare,
};

/// The names that the delegate tries.
const ADAPTERS: [&str; 3] =
    ["libneuronusdk_adapter.mtk.so", "libneuron_adapter_mgvi.so", "libneuron_adapter.so"];

fn check() -> Result<(), String> {
    library::open_any(&ADAPTERS)?;
    library::open_any(&["libneuron_buffer_allocator.so"])?;
    Ok(())
}
