//! A model package: the manifest and the files it names, checked before any weight is loaded.

mod files;
mod image;
mod labels;
pub mod manifest;

use crate::error::{Error, Result};
use manifest::{FileEntry, Manifest, ParseError, Variant};
use nearside_runtime::file::DataFile;
use nearside_runtime::{LoadMode, Program};
use nearside_vision::ImageSpec;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MANIFEST: &str = "manifest.json";

/// An opened package. Its manifest and labels have been checked, its programs not yet: see
/// [`Package::open_program`].
#[derive(Debug, Clone)]
pub struct Package {
    root: PathBuf,
    manifest: Manifest,
    labels: Arc<[Arc<str>]>,
    image_spec: ImageSpec,
}

impl Package {
    /// Opens the package folder at `path`.
    ///
    /// # Errors
    /// [`Error::NotAPackage`], [`Error::Read`], [`Error::Manifest`]; [`Error::FileSize`] or [`Error::FileHash`] if the
    /// labels are not those that the manifest names.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let root = path.as_ref().to_owned();
        let manifest_path = root.join(MANIFEST);
        require_folder(&root, &manifest_path)?;
        let text = files::read_text(&manifest_path)?;
        let wrong = |ParseError(reason)| Error::Manifest { path: manifest_path.clone(), reason };
        let manifest = Manifest::parse(&text).map_err(wrong)?;
        let image_spec = manifest.image.spec().map_err(wrong)?;
        let labels = labels::read(&files::verified(&root, &manifest_path, &manifest.labels)?)?;
        Ok(Self { root, manifest, labels, image_spec })
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The labels, by class.
    pub fn labels(&self) -> &Arc<[Arc<str>]> {
        &self.labels
    }

    /// How pixels become the input.
    pub fn image_spec(&self) -> &ImageSpec {
        &self.image_spec
    }

    /// The shape of the input: one image, in the manifest's layout.
    pub fn input_sizes(&self) -> [i32; 4] {
        let image = &self.manifest.image;
        // The sides were checked to be at most 16384.
        let (width, height) = (image.width as i32, image.height as i32);
        match image.layout {
            manifest::Layout::Nchw => [1, 3, height, width],
            manifest::Layout::Nhwc => [1, height, width, 3],
        }
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
