//! Setting a variable of the environment for C++ code to read, where that is sound.

use std::env;

/// Sets a variable, unless other threads might be reading the environment meanwhile; then says what to do instead.
pub(super) fn set(name: &str, value: &str) -> Result<(), String> {
    if !only_thread() && !reads_are_safe() {
        return Err(format!(
            "other threads may be reading the environment: set {name}={value} before the process starts, or before \
             its second thread"
        ));
    }
    // SAFETY: nobody else can be reading the environment, or the C library's readers can bear it.
    unsafe { env::set_var(name, value) };
    Ok(())
}

/// Whether this is the process's only thread. Another can come up only from this one.
#[cfg(target_os = "linux")]
fn only_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

#[cfg(not(target_os = "linux"))]
fn only_thread() -> bool {
    false
}

/// glibc's `getenv` may run beside `setenv` since 2.41 (its NEWS).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn reads_are_safe() -> bool {
    use std::ffi::{CStr, c_char};
    unsafe extern "C" {
        fn gnu_get_libc_version() -> *const c_char;
    }
    // SAFETY: gives a constant string.
    let version = unsafe { CStr::from_ptr(gnu_get_libc_version()) }.to_string_lossy();
    let mut numbers = version.split('.').map_while(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(2), Some(41))
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn reads_are_safe() -> bool {
    false
}
