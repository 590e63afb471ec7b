//! A `.pte` file, opened and checked.

use crate::bridge::ffi;
use crate::delegate;
use crate::error::{Code, Error, Result};
use crate::external::ExternalData;
use crate::file::{DataFile, Initial, ProgramFile, Source, open_regular};
use crate::group::MethodGroup;
use crate::load_options::LoadOptions;
use crate::metadata::MethodMeta;
use crate::method::Method;
use crate::preflight::{self, MethodReport};
use crate::snapshot;
use cxx::UniquePtr;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// How a program's file is brought into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoadMode {
    /// Mapped: pages come in when they are touched and can be dropped again. The default. The file must not be
    /// shortened while it is in use.
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
    external: Option<Arc<ExternalData>>,
    fingerprint: Arc<OnceLock<[u8; 32]>>,
}

struct Inner {
    name: String,
    methods: Vec<MethodMeta>,
    method_names: Vec<String>,
    /// ExecuTorch's view of it: made when a method is first loaded, so that a file can be described without C++.
    opened: OnceLock<Opened>,
    /// What the program reads from; dropped after it.
    source: Source,
}

struct Opened(UniquePtr<ffi::Program>);

// SAFETY: after opening, a program is only read; its loaders use positioned reads or memory, which any thread may do.
unsafe impl Send for Opened {}
// SAFETY: as above.
unsafe impl Sync for Opened {}

impl Program {
    /// Opens and checks the file at `path`. No weight is read.
    ///
    /// # Errors
    /// [`Error::Read`] if it can't be read, [`Error::NotAProgram`] or [`Error::Truncated`] if its first bytes say so,
    /// [`Error::Damaged`] if it contradicts itself.
    pub fn open(path: impl AsRef<Path>, mode: LoadMode) -> Result<Self> {
        let path = path.as_ref();
        let read = |source| Error::Read { path: path.to_owned(), source };
        let name = path.display().to_string();
        let file = open_regular(path).map_err(read)?;
        let source = match mode {
            LoadMode::Mmap => Source::map(&file),
            LoadMode::File => Source::file(file),
            LoadMode::Bytes => Source::whole(file),
        };
        Self::new(name, source.map_err(read)?)
    }

    /// Opens a program that is in memory already.
    ///
    /// # Errors
    /// As [`Program::open`], but for reading.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        Self::new("program".into(), Source::bytes(bytes.into()))
    }

    fn new(name: String, source: Source) -> Result<Self> {
        let file = ProgramFile::read(&name, &source)?;
        let methods: Vec<_> = file.methods.iter().map(MethodMeta::new).collect();
        let method_names = methods.iter().map(|meta| meta.name.clone()).collect();
        let opened = OnceLock::new();
        let inner = Inner { name, methods, method_names, opened, source };
        Ok(Self { inner: Arc::new(inner), external: None, fingerprint: Arc::default() })
    }

    /// The program with the data files that its weights are in.
    ///
    /// # Errors
    /// [`Error::DuplicateData`] if two of them have data of the same name.
    pub fn with_data(mut self, files: &[DataFile]) -> Result<Self> {
        self.external = Some(Arc::new(ExternalData::new(files)?));
        self.fingerprint = Arc::default();
        Ok(self)
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
    /// [`Error::NoSuchMethod`].
    pub fn method_meta(&self, name: &str) -> Result<&MethodMeta> {
        self.inner.methods.iter().find(|meta| meta.name == name).ok_or_else(|| Error::NoSuchMethod {
            name: name.to_owned(),
            available: self.method_names().to_vec(),
        })
    }

    /// Everything that the file holds. Read again at each call, for it can be large.
    ///
    /// # Errors
    /// [`Error::Read`], or those of [`Program::open`] if the file was changed since.
    pub fn file(&self) -> Result<ProgramFile> {
        ProgramFile::read(self.name(), &self.inner.source)
    }

    /// What a method holds and needs: operators, delegates, coverage, memory, and why it can't be loaded here if so.
    ///
    /// # Errors
    /// [`Error::NoSuchMethod`], [`Error::Read`], or [`Error::Damaged`] if the file contradicts itself.
    pub fn report(&self, name: &str) -> Result<MethodReport> {
        MethodReport::new(self, name)
    }

    /// Loads a method: allocates its planned arenas, prepares its delegates, resolves its operators.
    ///
    /// # Errors
    /// [`Error::NoSuchMethod`]; [`Error::DelegateMissing`] or [`Error::DelegateUnavailable`] before anything is
    /// allocated; [`Error::OutOfMemory`]; [`Error::ExecuTorch`], for example for a missing operator.
    pub fn load_method(&self, name: &str) -> Result<Method> {
        self.load_method_with(name, &LoadOptions::default())
    }

    /// As [`Program::load_method`], with choices and demands.
    ///
    /// # Errors
    /// Those of [`Program::load_method`]; [`Error::CoverageTooLow`], [`Error::DelegatesNotAllowed`] or
    /// [`Error::OverBudget`] if a demand is not met.
    pub fn load_method_with(&self, name: &str, options: &LoadOptions) -> Result<Method> {
        self.method_meta(name)?;
        let file = self.file()?;
        let method = file.method(name).ok_or_else(|| self.changed())?;
        Method::load(self, &file, method, options)
    }

    /// Loads methods that share their state: the mutable buffers that were exported with `share_mutable_buffers` are in the
    /// same memory for all of them. Each method that is loaded by itself has a state of its own instead.
    ///
    /// `options` hold for each method, a memory budget for all together: what they share counts once.
    ///
    /// # Errors
    /// [`Error::NotShared`] if they have no such buffers or don't agree about them; those of
    /// [`Program::load_method_with`].
    pub fn load_group(&self, names: &[&str], options: &LoadOptions) -> Result<MethodGroup> {
        MethodGroup::load(self, names, options)
    }

    /// All checks that [`Program::load_method_with`] makes before it allocates anything, but for whether delegates' options
    /// can be put into effect. It is as if the program and its data files had been opened in `mode`: a mapped file can tell whether it
    /// would fit if it were read.
    ///
    /// # Errors
    /// Those of [`Program::load_method_with`] that come from the files and the demands.
    pub fn check_method(&self, name: &str, options: &LoadOptions, mode: LoadMode) -> Result<()> {
        self.method_meta(name)?;
        let file = self.file()?;
        let method = file.method(name).ok_or_else(|| self.changed())?;
        delegate::require(method, &options.delegate_options)?;
        preflight::check(self, &file, method, options, Some(mode)).map(|_| ())
    }

    pub(crate) fn changed(&self) -> Error {
        Error::Damaged { name: self.name().to_owned(), reason: "it was changed since it was opened".into() }
    }

    /// ExecuTorch's view of the program.
    pub(crate) fn ffi(&self) -> Result<&ffi::Program> {
        if self.inner.opened.get().is_none() {
            // Two threads may both get here; the second's program is dropped.
            let _ = self.inner.opened.set(self.open_ffi()?);
        }
        self.inner.opened.get().and_then(|opened| opened.0.as_ref()).ok_or_else(|| self.changed())
    }

    fn open_ffi(&self) -> Result<Opened> {
        ffi::start_log();
        let mut code = 0;
        let program = match &self.inner.source {
            // Not by its path, where another file may be by now. It is kept beside the program in `Inner`, and methods
            // keep `Inner`.
            Source::File { file, bytes } => ffi::open_file(file.as_raw_fd(), *bytes, &mut code),
            source => {
                let droppable = matches!(source, Source::Map(_));
                // SAFETY: the source is kept as above.
                unsafe { ffi::open_bytes(source.in_memory().unwrap_or_default(), droppable, &mut code) }
            }
        };
        if program.is_null() {
            return Err(failed(format!("open {}", self.name()), code));
        }
        Ok(Opened(program))
    }

    /// Bytes of the file. The range must be one that its description gives.
    pub(crate) fn read(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
        let read = |source| Error::Read { path: self.name().into(), source };
        self.inner.source.read(range).map_err(read)
    }

    pub(crate) fn load_mode(&self) -> LoadMode {
        match self.inner.source {
            Source::Map(_) => LoadMode::Mmap,
            Source::Bytes(_) => LoadMode::Bytes,
            Source::File { .. } => LoadMode::File,
        }
    }

    /// What a tensor with contents of its own begins with.
    pub(crate) fn initial(&self, initial: &Initial, bytes: usize) -> Result<Cow<'_, [u8]>> {
        match initial {
            Initial::File(range) => self.read(range.clone()),
            Initial::External(key) => {
                let found = self.external().and_then(|data| data.entries().find(|entry| entry.0 == key));
                // Checked when the method was loaded, and the data is kept.
                found.map(|(_, data)| Cow::Borrowed(&data[..bytes])).ok_or_else(|| self.changed())
            }
        }
    }

    /// What ties snapshots to it. Computed when it is first asked for.
    pub(crate) fn fingerprint(&self) -> Result<[u8; 32]> {
        if let Some(known) = self.fingerprint.get() {
            return Ok(*known);
        }
        let computed = snapshot::fingerprint(self)?;
        Ok(*self.fingerprint.get_or_init(|| computed))
    }

    pub(crate) fn external(&self) -> Option<&ExternalData> {
        self.external.as_deref()
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
