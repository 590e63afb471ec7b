//! ExecuTorch's own C++ `Module`, called through the thinnest bridge: the peer in Nearside's benchmarks.
//!
//! It has none of the runtime crate's checks. Give it only programs and inputs that are known to be right.

mod bridge;

use bridge::ffi;
use cxx::UniquePtr;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How `Module` brings the file into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadMode {
    /// Read segment by segment: `Module`'s default.
    File,
    /// Mapped.
    Mmap,
}

/// ExecuTorch failed.
#[derive(Debug, thiserror::Error)]
#[error("ExecuTorch's error 0x{0:x}")]
pub struct Error(u32);

/// A method of a `Module`, and the float32 inputs that it is run on.
pub struct BareModule<'data> {
    module: UniquePtr<ffi::BareModule>,
    _inputs: PhantomData<&'data [f32]>,
}

impl<'data> BareModule<'data> {
    /// Opens the program at `path` and loads `method`.
    ///
    /// # Errors
    /// ExecuTorch's.
    pub fn load(path: &Path, mode: LoadMode, method: &str) -> Result<Self, Error> {
        cxx::let_cxx_string!(path = path.as_os_str().as_bytes());
        cxx::let_cxx_string!(method = method);
        let mut module = ffi::open_module(&path, u8::from(mode == LoadMode::Mmap));
        match module.pin_mut().load(&method) {
            0 => Ok(Self { module, _inputs: PhantomData }),
            code => Err(Error(code)),
        }
    }

    /// Adds the next input: row major, of shape `sizes`.
    ///
    /// # Errors
    /// ExecuTorch's, for a shape that it can't take.
    ///
    /// # Panics
    /// If `data` does not have as many elements as `sizes` multiply to.
    pub fn input(mut self, data: &'data [f32], sizes: &[i32]) -> Result<Self, Error> {
        const FLOAT: i8 = 6; // ScalarType::Float
        let elements: usize =
            sizes.iter().map(|&size| usize::try_from(size).expect("no negative size")).product();
        assert_eq!(data.len(), elements);
        // SAFETY: the data has the elements that the shape asks for and is borrowed for as long as the module lives.
        match unsafe { self.module.pin_mut().add_input(FLOAT, sizes, data.as_ptr().cast()) } {
            0 => Ok(self),
            code => Err(Error(code)),
        }
    }

    /// `Module::execute`, as an app would call it; gives the first element of the first output, a float32 tensor.
    ///
    /// # Errors
    /// ExecuTorch's.
    pub fn module_execute(&mut self) -> Result<f32, Error> {
        read(&self.module.pin_mut().module_execute())
    }

    /// `set_input`, `Method::execute` and `get_output` inside one C++ call; gives the same.
    ///
    /// # Errors
    /// ExecuTorch's.
    pub fn method_execute(&mut self) -> Result<f32, Error> {
        read(&self.module.pin_mut().method_execute())
    }
}

fn read(read: &ffi::Read) -> Result<f32, Error> {
    if read.code == 0 { Ok(read.first) } else { Err(Error(read.code)) }
}
