//! A model package: the manifest and the files it names, checked before any weight is loaded.

mod files;
mod image;
mod labels;
pub mod manifest;

use crate::error::{Error, Result};
use manifest::{Manifest, SCHEMA_VERSION, Variant};
use nearside_runtime::delegate::{Availability, availability};
use nearside_vision::ImageSpec;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MANIFEST: &str = "manifest.json";

/// An opened package. Its manifest and labels have been checked, its programs not yet: see [`Package::program`].
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
        let wrong = |reason: String| Error::Manifest { path: manifest_path.clone(), reason };
        check_version(&text).map_err(wrong)?;
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        check_variants(&manifest).map_err(wrong)?;
        let image_spec = image::spec(&manifest.image).map_err(|error| wrong(format!("image: {error}")))?;
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

    /// The variant called `wanted`, or the first whose delegates can run here.
    ///
    /// # Errors
    /// [`Error::NoSuchVariant`], [`Error::NoRunnableVariant`].
    pub fn choose(&self, wanted: Option<&str>) -> Result<&Variant> {
        match wanted {
            Some(name) => self.variant(name),
            None => first_runnable(&self.manifest),
        }
    }

    /// The path of a variant's program, after its size and hash have been checked.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Manifest`] for an unsafe path, [`Error::FileSize`], [`Error::FileHash`].
    pub fn program(&self, variant: &Variant) -> Result<PathBuf> {
        let manifest_path = self.root.join(MANIFEST);
        for data in &variant.external_data {
            files::verified(&self.root, &manifest_path, data)?;
        }
        files::verified(&self.root, &manifest_path, &variant.program)
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

/// Reads the version by itself first: a newer schema should be called that, not a list of unknown fields.
fn check_version(text: &str) -> std::result::Result<(), String> {
    #[derive(serde::Deserialize)]
    struct Version {
        schema_version: u32,
    }
    let version: Version = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if version.schema_version == SCHEMA_VERSION {
        return Ok(());
    }
    Err(format!("schema version {} is not known, this build reads {SCHEMA_VERSION}", version.schema_version))
}

fn check_variants(manifest: &Manifest) -> std::result::Result<(), String> {
    if manifest.variants.is_empty() {
        return Err("it has no variants".into());
    }
    for (index, variant) in manifest.variants.iter().enumerate() {
        if manifest.variants[..index].iter().any(|earlier| earlier.name == variant.name) {
            return Err(format!("the variant `{}` is there twice", variant.name));
        }
    }
    Ok(())
}

fn first_runnable(manifest: &Manifest) -> Result<&Variant> {
    let mut reasons = Vec::new();
    for variant in &manifest.variants {
        let missing = variant.delegates.iter().find_map(|delegate| match availability(delegate) {
            Availability::Available => None,
            Availability::NotLinked => Some(format!("{delegate}, which is not part of this build")),
            Availability::Unavailable { reason } => {
                Some(format!("{delegate}, which can't run here: {reason}"))
            }
        });
        match missing {
            None => return Ok(variant),
            Some(delegate) => {
                reasons.push(format!("variant `{}` needs the delegate {delegate}", variant.name));
            }
        }
    }
    Err(Error::NoRunnableVariant { reasons })
}
