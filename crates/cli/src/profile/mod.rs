//! `nearside profile`: where the time of a run goes.

mod document;
mod inputs;
mod trace;

use crate::args::ProfileArgs;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::stdout;
use crate::subject::Subject;
use document::Document;
use nearside_pipeline::runtime::{LoadOptions, thread_count};
use nearside_pipeline::use_threads;

pub(crate) fn profile(args: &ProfileArgs) -> Result<()> {
    // Before there are threads: some options go by way of the environment.
    let delegate_options = crate::delegate_options::read(&args.delegate_option)?;
    let options = LoadOptions { profiling: true, delegate_options, ..LoadOptions::default() };
    let (variant, method) = (args.variant.as_deref(), args.method.as_deref());
    let subject = Subject::open(&args.path, &args.data, variant, method, &options)?;
    if args.image.is_some() && subject.package.is_none() {
        return Err(Error::Usage("--image is for packages".into()));
    }
    use_threads(args.threads.map(usize::from))?;
    let mut method = subject.program.load_method_with(&subject.method, &options)?;
    let inputs = match (&args.image, &subject.package) {
        (Some(image), Some(package)) => inputs::photo(image, package)?,
        _ => inputs::pseudo_random(method.meta())?,
    };
    let inputs = inputs.iter().map(Input::tensor).collect::<Result<Vec<_>>>()?;
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
