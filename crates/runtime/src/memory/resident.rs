//! Resident memory of this process.

/// Resident memory of this process, bytes. Mapped files count as far as they were touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resident {
    /// Now.
    pub current_bytes: u64,
    /// The most since the process started, or since [`reset_peak`].
    pub peak_bytes: u64,
}

/// What the system says of this process. `None` where it does not tell.
///
/// Linux and Android: `VmRSS` and `VmHWM` of `/proc/self/status` (proc_pid_status(5)). Apple: `resident_size` and
/// `resident_size_max` of `mach_task_basic_info` (mach/task_info.h).
pub fn resident() -> Option<Resident> {
    system::resident()
}

/// Lets [`Resident::peak_bytes`] begin again at what is resident now. False where that can't be had.
///
/// Linux and Android: writes 5 to `/proc/self/clear_refs` (proc_pid_clear_refs(5)).
pub fn reset_peak() -> bool {
    system::reset_peak()
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use super::Resident;

    pub(super) fn resident() -> Option<Resident> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let bytes = |key: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(key))?;
            Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
        };
        Some(Resident { current_bytes: bytes("VmRSS:")?, peak_bytes: bytes("VmHWM:")? })
    }

    pub(super) fn reset_peak() -> bool {
        std::fs::write("/proc/self/clear_refs", "5").is_ok()
    }
}

#[cfg(target_vendor = "apple")]
mod system {
    use super::Resident;
    use mach2::kern_return::KERN_SUCCESS;
    use mach2::task::task_info;
    use mach2::task_info::{MACH_TASK_BASIC_INFO, mach_task_basic_info};
    use mach2::traps::mach_task_self;

    pub(super) fn resident() -> Option<Resident> {
        let mut info = std::mem::MaybeUninit::<mach_task_basic_info>::zeroed();
        let mut words = (size_of::<mach_task_basic_info>() / size_of::<u32>()) as u32;
        // SAFETY: the structure has room for as many words as the call is told.
        let status = unsafe {
            task_info(mach_task_self(), MACH_TASK_BASIC_INFO, info.as_mut_ptr().cast(), &raw mut words)
        };
        if status != KERN_SUCCESS {
            return None;
        }
        // SAFETY: all zeros are a value of it, and the call has filled it in.
        let info = unsafe { info.assume_init() };
        // The structure is packed: its fields are copied.
        let (current_bytes, peak_bytes) = (info.resident_size, info.resident_size_max);
        Some(Resident { current_bytes, peak_bytes })
    }

    pub(super) fn reset_peak() -> bool {
        false
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod system {
    use super::Resident;

    pub(super) fn resident() -> Option<Resident> {
        None
    }

    pub(super) fn reset_peak() -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{reset_peak, resident};

    #[test]
    fn what_is_touched_is_resident() {
        const BYTES: usize = 64 << 20;
        let before = resident().unwrap();
        let block = std::hint::black_box(vec![1u8; BYTES]);
        let during = resident().unwrap();
        assert!(
            during.current_bytes >= before.current_bytes + BYTES as u64 * 9 / 10,
            "{before:?} {during:?}"
        );
        drop(block);
        let after = resident().unwrap();
        assert!(after.current_bytes < during.current_bytes - BYTES as u64 / 2, "{during:?} {after:?}");
        // The kernel counts pages in batches a thread.
        assert!(after.peak_bytes >= during.current_bytes - (1 << 20), "{during:?} {after:?}");
        if reset_peak() {
            let reset = resident().unwrap();
            assert!(reset.peak_bytes < during.current_bytes - BYTES as u64 / 2, "{during:?} {reset:?}");
        }
    }
}
