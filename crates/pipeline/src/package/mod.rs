//! A model package: the manifest and the files it names, checked before any weight is loaded.

mod classifier;
mod files;
mod fit;
mod labels;
pub mod manifest;

pub use classifier::Classifier;
pub(crate) use files::read_text;
pub(crate) use fit::check_method;

use crate::error::{Error, Result};
use manifest::{FileEntry, Generate, Manifest, ParseError, Task, TaskKind, Variant};
use nearside_runtime::file::DataFile;
use nearside_runtime::{LoadMode, Program};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MANIFEST: &str = "manifest.json";

/// An opened package of any task. Its manifest and the files of its task (labels, tokenizer, chat template) have been
/// checked, its programs not yet: see [`Package::open_program`].
#[derive(Debug, Clone)]
pub struct Package {
    root: PathBuf,
    manifest: Manifest,
    /// Set if that is its task.
    classifier: Option<Classifier>,
}

impl Package {
    /// Opens the package folder at `path`.
    ///
    /// # Errors
    /// [`Error::NotAPackage`], [`Error::Read`], [`Error::Manifest`]; [`Error::FileSize`] or [`Error::FileHash`] if labels,
    /// tokenizer or chat template are not those that the manifest names.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let root = path.as_ref().to_owned();
        let manifest_path = root.join(MANIFEST);
        require_folder(&root, &manifest_path)?;
        let text = files::read_text(&manifest_path)?;
        let wrong = |ParseError(reason)| Error::Manifest { path: manifest_path.clone(), reason };
        let manifest = Manifest::parse(&text).map_err(wrong)?;
        let task = &manifest.task;
        for entry in task.tokenizer().into_iter().chain(task.chat_template()) {
            files::verified(&root, &manifest_path, entry)?;
        }
        let classifier = match task {
            Task::Classify(classify) => Some(Classifier::read(&root, &manifest_path, classify)?),
            Task::Embed(_) | Task::Generate(_) | Task::Describe(_) => None,
        };
        Ok(Self { root, manifest, classifier })
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The classifier's input and output.
    ///
    /// # Errors
    /// [`Error::WrongTask`] if the package is for something else.
    pub fn classifier(&self) -> Result<&Classifier> {
        self.classifier.as_ref().ok_or_else(|| Error::WrongTask {
            name: self.manifest.name.clone(),
            found: self.manifest.task.kind(),
            wanted: TaskKind::Classify,
        })
    }

    /// What the package says for generating text.
    ///
    /// # Errors
    /// [`Error::WrongTask`] if the package is for something else.
    pub fn generate(&self) -> Result<&Generate> {
        match &self.manifest.task {
            Task::Generate(generate) => Ok(generate),
            other => Err(Error::WrongTask {
                name: self.manifest.name.clone(),
                found: other.kind(),
                wanted: TaskKind::Generate,
            }),
        }
    }

    /// The tokenizer's file, where the task has one. It was checked when the package was opened.
    pub fn tokenizer(&self) -> Option<PathBuf> {
        self.manifest.task.tokenizer().map(|entry| self.root.join(&entry.path))
    }

    /// The chat template's file, if there is one. It was checked when the package was opened.
    pub fn chat_template(&self) -> Option<PathBuf> {
        self.manifest.task.chat_template().map(|entry| self.root.join(&entry.path))
    }

    /// The variant called `name`.
    ///
    /// # Errors
    /// [`Error::NoSuchVariant`].
    pub fn variant(&self, name: &str) -> Result<&Variant> {
        self.manifest.variants.iter().find(|variant| variant.name == name).ok_or_else(|| {
            Error::NoSuchVariant {
                name: name.to_owned(),
                available: self.manifest.variants.iter().map(|variant| variant.name.clone()).collect(),
            }
        })
    }

    /// Opens a variant's program with its data files, after the size and hash of each have been checked.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Manifest`] for an unsafe path, [`Error::FileSize`], [`Error::FileHash`];
    /// [`Error::Runtime`] if a file is not what its name says.
    pub fn open_program(&self, variant: &Variant, mode: LoadMode) -> Result<Program> {
        self.open_files(variant, mode, files::verified)
    }

    /// As [`Package::open_program`], mapped and without reading the files whole: only their sizes are checked. For what
    /// may turn out not to be wanted.
    pub(crate) fn look_at(&self, variant: &Variant) -> Result<Program> {
        self.open_files(variant, LoadMode::Mmap, files::sized)
    }

    fn open_files(
        &self,
        variant: &Variant,
        mode: LoadMode,
        checked: impl Fn(&Path, &Path, &FileEntry) -> Result<PathBuf>,
    ) -> Result<Program> {
        let manifest_path = self.root.join(MANIFEST);
        let checked = |entry| checked(&self.root, &manifest_path, entry);
        let program = checked(&variant.program)?;
        let data = variant.external_data.iter().map(checked).collect::<Result<Vec<_>>>()?;
        let program = Program::open(program, mode)?;
        if data.is_empty() {
            return Ok(program);
        }
        let data = data.into_iter().map(|path| DataFile::open(path, mode));
        Ok(program.with_data(&data.collect::<nearside_runtime::Result<Vec<_>>>()?)?)
    }
}

fn require_folder(root: &Path, manifest_path: &Path) -> Result<()> {
    let not = |reason: &str| Error::NotAPackage { path: root.to_owned(), reason: reason.to_owned() };
    match root.metadata() {
        Err(source) => Err(Error::Read { path: root.to_owned(), source: Arc::new(source) }),
        Ok(metadata) if !metadata.is_dir() => Err(not("it is a file, a package is a folder")),
        Ok(_) if !manifest_path.is_file() => Err(not("it has no manifest.json")),
        Ok(_) => Ok(()),
    }
}
