//! A `.pte` file, opened and checked.

use crate::bridge::ffi;
use crate::error::{Code, Error, Result};
use crate::header;
use crate::metadata::MethodMeta;
use crate::method::Method;
use cxx::UniquePtr;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// How a program's file is brought into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoadMode {
    /// Mapped: pages come in when they are touched and can be dropped again. The default.
    #[default]
    Mmap,
    /// Read segment by segment into memory of its own.
    File,
    /// Read whole into memory at once.
    Bytes,
}

/// An ExecuTorch program. Cheap to clone, can be shared between threads.
#[derive(Clone)]
pub struct Program {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    method_names: Vec<String>,
    program: UniquePtr<ffi::Program>,
    /// What the program reads from in [`LoadMode::Bytes`]; dropped after it.
    _bytes: Option<Box<[u8]>>,
}

// SAFETY: after opening, a program is only read; its loaders use positioned reads or maps, which any thread may do.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Program {
    /// Opens and checks the file at `path`.
    ///
    /// # Errors
    /// [`Error::Read`] if it can't be read, [`Error::NotAProgram`] or [`Error::Truncated`] if its first bytes say so,
    /// [`Error::ExecuTorch`] if ExecuTorch finds it damaged.
    pub fn open(path: impl AsRef<Path>, mode: LoadMode) -> Result<Self> {
        let path = path.as_ref();
        let read = |source| Error::Read { path: path.to_owned(), source };
        let name = path.display().to_string();
        if mode == LoadMode::Bytes {
            let bytes = std::fs::read(path).map_err(read)?;
            return Self::from_named_bytes(name, bytes);
        }
        let mut file = File::open(path).map_err(read)?;
        let metadata = file.metadata().map_err(read)?;
        if !metadata.is_file() {
            return Err(Error::NotAProgram { name, reason: "it is not a regular file".into() });
        }
        let mut head = Vec::with_capacity(header::HEAD_BYTES);
        file.by_ref().take(header::HEAD_BYTES as u64).read_to_end(&mut head).map_err(read)?;
        header::check(&name, &head, metadata.len())?;
        ffi::start_log();
        let mut code = 0;
        cxx::let_cxx_string!(c_path = path.as_os_str().as_bytes());
        let program = match mode {
            LoadMode::File => ffi::open_file(&c_path, &mut code),
            _ => ffi::open_mapped(&c_path, &mut code),
        };
        Self::new(name, program, code, None)
    }

    /// Opens a program that is in memory already.
    ///
    /// # Errors
    /// As [`Program::open`], but for reading.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        Self::from_named_bytes("program".into(), bytes.into())
    }

    fn from_named_bytes(name: String, bytes: Vec<u8>) -> Result<Self> {
        header::check(&name, &bytes[..bytes.len().min(header::HEAD_BYTES)], bytes.len() as u64)?;
        let bytes = bytes.into_boxed_slice();
        ffi::start_log();
        let mut code = 0;
        // SAFETY: the bytes are kept beside the program in `Inner`, and methods keep `Inner`.
        let program = unsafe { ffi::open_bytes(&bytes, &mut code) };
        Self::new(name, program, code, Some(bytes))
    }

    fn new(
        name: String,
        program: UniquePtr<ffi::Program>,
        code: u32,
        bytes: Option<Box<[u8]>>,
    ) -> Result<Self> {
        let Some(opened) = program.as_ref() else { return Err(failed(format!("open {name}"), code)) };
        let method_names = (0..opened.method_count()).map(|i| opened.method_name(i)).collect();
        Ok(Self { inner: Arc::new(Inner { name, method_names, program, _bytes: bytes }) })
    }

    /// The file's path, or `program` for bytes: for messages.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The names of its methods.
    pub fn method_names(&self) -> &[String] {
        &self.inner.method_names
    }

    /// What the file says of a method.
    ///
    /// # Errors
    /// [`Error::NoSuchMethod`], or [`Error::ExecuTorch`] if the file is damaged.
    pub fn method_meta(&self, name: &str) -> Result<MethodMeta> {
        if !self.method_names().iter().any(|known| known == name) {
            return Err(Error::NoSuchMethod {
                name: name.to_owned(),
                available: self.method_names().to_vec(),
            });
        }
        let mut facts = ffi::MethodFacts {
            inputs: Vec::new(),
            outputs: Vec::new(),
            planned_bytes: Vec::new(),
            backends: Vec::new(),
            instructions: 0,
        };
        ffi::start_log();
        cxx::let_cxx_string!(c_name = name);
        match self.ffi().method_facts(&c_name, &mut facts) {
            0 => Ok(MethodMeta::new(name, facts)),
            code => Err(failed(format!("read the metadata of method `{name}`"), code)),
        }
    }

    /// Loads a method: allocates its planned arenas, prepares its delegates, resolves its operators.
    ///
    /// # Errors
    /// [`Error::NoSuchMethod`]; [`Error::DelegateMissing`] or [`Error::DelegateUnavailable`] before anything is
    /// allocated; [`Error::OutOfMemory`]; [`Error::ExecuTorch`], for example for a missing operator.
    pub fn load_method(&self, name: &str) -> Result<Method> {
        Method::load(self, self.method_meta(name)?)
    }

    pub(crate) fn ffi(&self) -> &ffi::Program {
        &self.inner.program
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("name", &self.inner.name)
            .field("methods", &self.inner.method_names)
            .finish()
    }
}

/// The error for ExecuTorch's `code`, with what it logged on this thread.
pub(crate) fn failed(action: String, code: u32) -> Error {
    Error::ExecuTorch { action, code: Code::from_raw(code), detail: ffi::logged_errors() }
}
