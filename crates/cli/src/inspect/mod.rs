//! `nearside inspect`: what a package, a program or a data file holds.

mod data;
mod document;
mod text;

use crate::args::InspectArgs;
use crate::error::{Error, Result};
use crate::stdout;
use document::{PackageDocument, ProgramDocument};
use nearside_pipeline::Package;
use nearside_pipeline::runtime::file::DataFile;
use nearside_pipeline::runtime::{LoadMode, Program};

pub(crate) fn inspect(args: &InspectArgs) -> Result<()> {
    let ends_in = |end: &str| args.path.extension().is_some_and(|found| found == end);
    // A folder is a package; what is missing is reported as one too, unless it is named like a file.
    if args.path.is_dir() || (!args.path.exists() && !ends_in("pte") && !ends_in("ptd")) {
        if !args.data.is_empty() {
            return Err(Error::Usage(
                "a package names its data files itself; --data is for a .pte file".into(),
            ));
        }
        return inspect_package(args);
    }
    if ends_in("ptd") {
        return data::inspect(args);
    }
    let data = args.data.iter().map(|path| DataFile::open(path, LoadMode::Mmap));
    let data = data.collect::<std::result::Result<Vec<_>, _>>()?;
    let program = Program::open(&args.path, LoadMode::Mmap)?.with_data(&data)?;
    let document = ProgramDocument::new(&program, None)?;
    if args.json { stdout::json(&document) } else { stdout::write(&text::program(&document)) }
}

fn inspect_package(args: &InspectArgs) -> Result<()> {
    let package = Package::open(&args.path)?;
    let mut programs = Vec::new();
    for variant in &package.manifest().variants {
        let program = Program::open(package.program(variant)?, LoadMode::Mmap)?;
        programs.push(ProgramDocument::new(&program, Some(variant.name.clone()))?);
    }
    let document = PackageDocument { manifest: package.manifest(), programs };
    if args.json { stdout::json(&document) } else { stdout::write(&text::package(&package, &document)) }
}
