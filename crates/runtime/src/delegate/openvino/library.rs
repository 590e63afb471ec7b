//! OpenVINO's C library: which file, and whether it can be used.

use super::options::LIBRARY;
use super::{INFO, environment};
use crate::delegate::library::open_any;
use crate::delegate::{DelegateOptions, OptionValue};
use crate::error::{Error, Result};
use std::env;
use std::ffi::{CStr, c_char};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::OnceLock;

/// What the delegate reads, once.
const VARIABLE: &str = "OPENVINO_LIB_PATH";
/// What the delegate opens if it is not set.
const DEFAULT: &str = "libopenvino_c.so";

/// The file that the delegate has opened, which is for good.
static USED: OnceLock<String> = OnceLock::new();

/// Puts the choice of library into effect.
pub(super) fn choose(options: &DelegateOptions) -> Result<()> {
    let Some(OptionValue::Text(path)) = options.get(INFO.id, LIBRARY) else { return Ok(()) };
    let refused = |reason| Error::DelegateOptionRefused {
        delegate: INFO.id.to_owned(),
        option: LIBRARY.to_owned(),
        value: path.clone(),
        reason,
    };
    if !Path::new(path).is_file() {
        return Err(refused("there is no such file".into()));
    }
    if let Some(used) = USED.get() {
        return if used == path { Ok(()) } else { Err(refused(format!("{used} is in use already"))) };
    }
    if env::var(VARIABLE).is_ok_and(|set| set == *path) {
        return Ok(());
    }
    environment::set(VARIABLE, path).map_err(refused)
}

/// Whether the library that the delegate will open can be used.
pub(super) fn check(options: &DelegateOptions) -> std::result::Result<(), String> {
    let file = match options.get(INFO.id, LIBRARY) {
        Some(OptionValue::Text(path)) => path.clone(),
        _ => from_environment(),
    };
    is_usable(&file)
}

/// From here on this file is the one.
pub(super) fn settle(file: String) {
    USED.get_or_init(|| file);
}

/// The library that the delegate will open, which can be used.
pub(super) fn usable() -> std::result::Result<String, String> {
    let file = from_environment();
    is_usable(&file).map(|()| file)
}

fn from_environment() -> String {
    env::var(VARIABLE).unwrap_or_else(|_| DEFAULT.to_owned())
}

fn is_usable(file: &str) -> std::result::Result<(), String> {
    if Path::new(file).is_dir() {
        return Err(format!("{VARIABLE} is {file}, a folder; it must be the file of libopenvino_c.so in it"));
    }
    // Never closed: the delegate keeps it too.
    let library = ManuallyDrop::new(open_any(&[file]).map_err(|problem| {
        format!("{problem}; install OpenVINO 2025 and set {VARIABLE} to the file of its libopenvino_c.so")
    })?);
    let version = version(&library).ok_or_else(|| format!("{file} is not OpenVINO's C library"))?;
    if !is_supported(&version) {
        return Err(format!(
            "{file} is OpenVINO {version}; ExecuTorch's delegate needs 2025.1 or later, before 2026"
        ));
    }
    Ok(())
}

/// `ov_version_t` of openvino/c/ov_common.h.
#[repr(C)]
struct OvVersion {
    build_number: *const c_char,
    description: *const c_char,
}

/// The library's build number, such as `2025.4.1-20426-…`.
fn version(library: &libloading::Library) -> Option<String> {
    type Get = unsafe extern "C" fn(*mut OvVersion) -> i32;
    type Free = unsafe extern "C" fn(*mut OvVersion);
    // SAFETY: the functions have had these signatures since OpenVINO 2022.3 (openvino/c/openvino.h).
    let (get, free) = unsafe {
        (library.get::<Get>(c"ov_get_openvino_version").ok()?, library.get::<Free>(c"ov_version_free").ok()?)
    };
    let mut version = OvVersion { build_number: std::ptr::null(), description: std::ptr::null() };
    // SAFETY: the structure lives through the call.
    if unsafe { get(&mut version) } != 0 || version.build_number.is_null() {
        return None;
    }
    // SAFETY: success gives a C string, which is ours until it is freed.
    let text = unsafe { CStr::from_ptr(version.build_number) }.to_string_lossy().into_owned();
    // SAFETY: filled in by the library.
    unsafe { free(&mut version) };
    Some(text)
}

/// What pyproject.toml of ExecuTorch 1.5.1 asks for: `openvino>=2025.1.0,<2026.0.0`.
fn is_supported(version: &str) -> bool {
    let mut numbers = version.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    matches!((numbers.next(), numbers.next()), (Some(2025), Some(1..)))
}

#[cfg(test)]
mod tests {
    use super::is_supported;

    #[test]
    fn versions_from_2025_1_to_before_2026_are_supported() {
        assert!(is_supported("2025.1.0-18503-6fec06580ab") && is_supported("2025.4.1-20426-x"));
        assert!(!is_supported("2025.0.0-17942-x") && !is_supported("2026.0.0-1-x"));
        assert!(!is_supported("2024.6.0") && !is_supported("custom"));
    }
}
