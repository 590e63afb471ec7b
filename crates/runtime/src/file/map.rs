//! A file in memory, with room after its end.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// XNNPACK's kernels read, but never use, up to so many bytes past the end of a tensor (`XNN_EXTRA_BYTES`): of a weight
/// at the end of a file, past the end of the file. A page is more.
pub(crate) const SLACK: usize = 128;

/// A read-only map of a file. Zeros follow it for [`SLACK`] bytes at least.
#[derive(Debug)]
pub(crate) struct Map {
    start: NonNull<u8>,
    bytes: usize,
    reserved: usize,
}

// SAFETY: the map is only read, and belongs to no thread.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    /// Maps all `bytes` of `file`, which are not 0. Whoever shortens the file while it is in use ends the process.
    pub(super) fn new(file: &File, bytes: usize) -> io::Result<Self> {
        // SAFETY: asks for a number.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).map_err(io::Error::other)?;
        let reserved = bytes.checked_next_multiple_of(page).and_then(|bytes| bytes.checked_add(page));
        let reserved = reserved.ok_or(io::ErrorKind::FileTooLarge)?;
        let anonymous = libc::MAP_PRIVATE | libc::MAP_ANON;
        // SAFETY: a new map at a place of the system's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), reserved, libc::PROT_READ, anonymous, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let map = Self { start, bytes, reserved };
        let fixed = libc::MAP_PRIVATE | libc::MAP_FIXED;
        // SAFETY: replaces the first pages of the map above, which nothing refers to yet.
        let placed =
            unsafe { libc::mmap(start.as_ptr().cast(), bytes, libc::PROT_READ, fixed, file.as_raw_fd(), 0) };
        if placed == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        map.avoid_huge_pages();
        Ok(map)
    }

    /// A huge page would keep what was dropped beside what is kept. A kernel without huge pages refuses, rightly.
    fn avoid_huge_pages(&self) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        // SAFETY: advice on a map of ours.
        unsafe {
            libc::madvise(self.start.as_ptr().cast(), self.bytes, libc::MADV_NOHUGEPAGE);
        }
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: mapped for as long as `self` is there, and only read.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the map of `new`, which nothing borrows any more.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.reserved);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Map, SLACK};
    use std::io::Write;

    #[test]
    fn zeros_follow_a_file_of_any_length() {
        for bytes in [1, 4095, 4096, 8192, 65536] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&vec![7; bytes]).unwrap();
            let map = Map::new(&file, bytes).unwrap();
            assert!(map.len() == bytes && map.iter().all(|&byte| byte == 7));
            // SAFETY: what the map promises.
            let after = unsafe { std::slice::from_raw_parts(map.as_ptr().add(bytes), SLACK) };
            assert!(after.iter().all(|&byte| byte == 0));
        }
    }
}
