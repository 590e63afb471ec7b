//! `nearside inspect`: what a package, a program or a data file holds.

mod data;
mod document;
mod task;
mod text;

use crate::args::InspectArgs;
use crate::error::{Error, Result};
use crate::stdout;
use document::{PackageDocument, ProgramDocument};
use nearside_pipeline::Package;
use nearside_pipeline::runtime::file::DataFile;
use nearside_pipeline::runtime::{LoadMode, Program};
use std::path::Path;

pub(crate) fn inspect(args: &InspectArgs) -> Result<()> {
    if is_package(&args.path) {
        if !args.data.is_empty() {
            return Err(Error::Usage(
                "a package names its data files itself; --data is for a .pte file".into(),
            ));
        }
        return inspect_package(args);
    }
    if ends_in(&args.path, "ptd") {
        return data::inspect(args);
    }
    let data = args.data.iter().map(|path| DataFile::open(path, LoadMode::Mmap));
    let data = data.collect::<std::result::Result<Vec<_>, _>>()?;
    let program = Program::open(&args.path, LoadMode::Mmap)?.with_data(&data)?;
    let document = ProgramDocument::new(&program, None)?;
    if args.json { stdout::json(&document) } else { stdout::write(&text::program(&document)) }
}

/// A folder is a package; what is missing is reported as one too, unless it is named like a file.
pub(crate) fn is_package(path: &Path) -> bool {
    path.is_dir() || (!path.exists() && !ends_in(path, "pte") && !ends_in(path, "ptd"))
}

fn ends_in(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|found| found == end)
}

fn inspect_package(args: &InspectArgs) -> Result<()> {
    let package = Package::open(&args.path)?;
    let mut programs = Vec::new();
    for variant in &package.manifest().variants {
        let program = package.open_program(variant, LoadMode::Mmap)?;
        programs.push(ProgramDocument::new(&program, Some(variant.name.clone()))?);
    }
    let document = PackageDocument { manifest: package.manifest(), programs };
    if args.json { stdout::json(&document) } else { stdout::write(&text::package(&package, &document)) }
}
