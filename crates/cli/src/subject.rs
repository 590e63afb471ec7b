//! What a command that runs methods was given: a package or a program.

use crate::error::{Error, Result};
use crate::inspect;
use nearside_pipeline::Package;
use nearside_pipeline::runtime::file::DataFile;
use nearside_pipeline::runtime::{LoadMode, LoadOptions, Program};
use std::path::{Path, PathBuf};

/// A program, of a package or by itself.
pub(crate) struct Subject {
    /// The package's name, or the file's path.
    pub(crate) name: String,
    pub(crate) variant: Option<String>,
    pub(crate) program: Program,
    /// The method that was asked for, else the variant's own, else `forward`.
    pub(crate) method: String,
    pub(crate) package: Option<Package>,
}

impl Subject {
    pub(crate) fn open(
        path: &Path,
        data: &[PathBuf],
        variant: Option<&str>,
        method: Option<&str>,
        options: &LoadOptions,
    ) -> Result<Self> {
        let mode = LoadMode::default();
        if !inspect::is_package(path) {
            if variant.is_some() {
                return Err(Error::Usage("--variant is for packages".into()));
            }
            let data = data.iter().map(|path| DataFile::open(path, mode));
            let data = data.collect::<std::result::Result<Vec<_>, _>>()?;
            return Ok(Self {
                name: path.display().to_string(),
                variant: None,
                program: Program::open(path, mode)?.with_data(&data)?,
                method: method.unwrap_or("forward").to_owned(),
                package: None,
            });
        }
        if !data.is_empty() {
            return Err(Error::Usage(
                "a package names its data files itself; --data is for a .pte file".into(),
            ));
        }
        let package = Package::open(path)?;
        let variant = package.choose(variant, options, mode)?;
        Ok(Self {
            name: package.manifest().name.clone(),
            variant: Some(variant.name.clone()),
            program: package.open_program(variant, mode)?,
            method: method.unwrap_or(&variant.method).to_owned(),
            package: Some(package),
        })
    }
}
