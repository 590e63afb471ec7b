//! `nearside profile`: where the time of a run goes.

mod document;
mod inputs;
mod trace;

use crate::args::ProfileArgs;
use crate::error::{Error, Result};
use crate::{inspect, stdout};
use document::Document;
use nearside_pipeline::runtime::file::DataFile;
use nearside_pipeline::runtime::{LoadMode, LoadOptions, Program, thread_count};
use nearside_pipeline::{Package, use_threads};

/// What is profiled.
struct Subject {
    /// The package's name, or the file's path.
    name: String,
    variant: Option<String>,
    program: Program,
    method: String,
    package: Option<Package>,
}

impl Subject {
    fn open(args: &ProfileArgs, options: &LoadOptions) -> Result<Self> {
        let mode = LoadMode::default();
        if !inspect::is_package(&args.path) {
            if args.image.is_some() || args.variant.is_some() {
                return Err(Error::Usage("--image and --variant are for packages".into()));
            }
            let data = args.data.iter().map(|path| DataFile::open(path, mode));
            let data = data.collect::<std::result::Result<Vec<_>, _>>()?;
            return Ok(Self {
                name: args.path.display().to_string(),
                variant: None,
                program: Program::open(&args.path, mode)?.with_data(&data)?,
                method: args.method.clone().unwrap_or_else(|| "forward".into()),
                package: None,
            });
        }
        if !args.data.is_empty() {
            return Err(Error::Usage(
                "a package names its data files itself; --data is for a .pte file".into(),
            ));
        }
        let package = Package::open(&args.path)?;
        let variant = package.choose(args.variant.as_deref(), options, mode)?;
        Ok(Self {
            name: package.manifest().name.clone(),
            variant: Some(variant.name.clone()),
            program: package.open_program(variant, mode)?,
            method: args.method.clone().unwrap_or_else(|| variant.method.clone()),
            package: Some(package),
        })
    }
}

pub(crate) fn profile(args: &ProfileArgs) -> Result<()> {
    // Before there are threads: some options go by way of the environment.
    let delegate_options = crate::delegate_options::read(&args.delegate_option)?;
    let options = LoadOptions { profiling: true, delegate_options, ..LoadOptions::default() };
    let subject = Subject::open(args, &options)?;
    use_threads(args.threads.map(usize::from))?;
    let mut method = subject.program.load_method_with(&subject.method, &options)?;
    let inputs = match (&args.image, &subject.package) {
        (Some(image), Some(package)) => inputs::photo(image, package)?,
        _ => inputs::pseudo_random(method.meta())?,
    };
    let inputs = inputs.iter().map(inputs::Input::tensor).collect::<Result<Vec<_>>>()?;
    for _ in 0..args.warmup {
        method.execute(&inputs)?;
    }
    let profile = method.profile(&inputs, args.runs)?;
    if let Some(path) = &args.trace {
        trace::write(path, &subject.name, &profile)?;
    }
    let document = Document::new(&subject, thread_count(), &profile);
    if args.json { stdout::json(&document) } else { stdout::write(&document.text()) }
}
