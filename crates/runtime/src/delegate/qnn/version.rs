//! Which version of Qualcomm's libraries the device has, asked from the libraries themselves.

use crate::delegate::library::open_any;
use libloading::Library;
use std::ffi::{CStr, c_char};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;

/// The QNN API that ExecuTorch 1.5.1's delegate was built against, as compiled into its library (`QNN_API_VERSION_*`
/// of SDK 2.37). With the libraries of SDK 2.47 and 2.51, of API 2.36 and 2.40, its method load fails, for a structure
/// has changed since; older libraries lack functions. So the first two numbers must be these.
pub const BUILT_FOR: Version = Version { major: 2, minor: 27, patch: 0 };

/// A version as Qualcomm counts them (`Qnn_Version_t` of QnnCommon.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Version {
    /// Changes when programs of before no longer run.
    pub major: u32,
    /// Changes with additions, and in practice with structures too.
    pub minor: u32,
    /// Changes with repairs.
    pub patch: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The fields that `QnnInterface_t` (QnnInterface.h) and `QnnSystemInterface_t` (QnnSystemInterface.h) begin with; in
/// the second, `version` is that of the system interface. What follows in either is not looked at.
#[repr(C)]
struct Provider {
    backend_id: u32,
    name: *const c_char,
    version: Version,
}

/// `QnnInterface_getProviders` and `QnnSystemInterface_getProviders`: 0 is success.
type GetProviders = unsafe extern "C" fn(*mut *const *const Provider, *mut u32) -> u64;

/// Whether the libraries that the delegate opens are there and of the version that it was built for.
pub(super) fn check() -> Result<(), String> {
    let (name, api) = provider_of("libQnnHtp.so", c"QnnInterface_getProviders")?;
    // Of its own numbering, which the delegate does not compare; that it answers is enough.
    provider_of("libQnnSystem.so", c"QnnSystemInterface_getProviders")?;
    if (api.major, api.minor) == (BUILT_FOR.major, BUILT_FOR.minor) {
        return Ok(());
    }
    Err(format!(
        "libQnnHtp.so ({name}) is of QNN API {api}, and ExecuTorch's delegate was built for {BUILT_FOR} (SDK 2.37); \
         give the app the libraries of that SDK"
    ))
}

/// The name and version that a library gives for its first provider.
fn provider_of(file: &str, symbol: &CStr) -> Result<(String, Version), String> {
    // Never closed: the delegate opens it next, and Qualcomm's libraries leave threads behind.
    let library = ManuallyDrop::new(open_any(&[file])?);
    first_provider(&library, symbol)
        .ok_or_else(|| format!("{file} is not a QNN library: {} gives no provider", symbol.to_string_lossy()))
}

fn first_provider(library: &Library, symbol: &CStr) -> Option<(String, Version)> {
    // SAFETY: the function has had this signature since QNN API 2.0.
    let get_providers = unsafe { library.get::<GetProviders>(symbol) }.ok()?;
    let (mut providers, mut count) = (ptr::null(), 0);
    // SAFETY: both pointers are to values that live through the call.
    let code = unsafe { get_providers(&mut providers, &mut count) };
    if code != 0 || count == 0 || providers.is_null() {
        return None;
    }
    // SAFETY: the library promises `count` pointers, to structures that live as long as it, which is for ever.
    let provider = unsafe { (*providers).as_ref() }?;
    let name = if provider.name.is_null() {
        String::new()
    } else {
        // SAFETY: a name is a C string that lives as long as the library.
        unsafe { CStr::from_ptr(provider.name) }.to_string_lossy().into_owned()
    };
    Some((name, provider.version))
}
