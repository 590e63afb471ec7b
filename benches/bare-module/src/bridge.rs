//! The raw calls into the C++ side (`cpp/`).

#![allow(missing_docs, unreachable_pub)]

#[cxx::bridge(namespace = "nearside_bare")]
pub(crate) mod ffi {
    /// What a run gave: ExecuTorch's error code, and the first element of the first output.
    struct Read {
        code: u32,
        first: f32,
    }

    unsafe extern "C++" {
        include!("bare_module.h");

        type BareModule;
        fn open_module(path: &CxxString, mode: u8) -> UniquePtr<BareModule>;
        fn load(self: Pin<&mut BareModule>, method: &CxxString) -> u32;
        /// # Safety
        /// `data` must hold the tensor for as long as the module is run.
        unsafe fn add_input(self: Pin<&mut BareModule>, dtype: i8, sizes: &[i32], data: *const u8) -> u32;
        fn module_execute(self: Pin<&mut BareModule>) -> Read;
        fn method_execute(self: Pin<&mut BareModule>) -> Read;
    }
}
