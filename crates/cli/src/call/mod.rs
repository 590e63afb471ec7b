//! `nearside call`: runs methods on tensors, from files or from a stream.

mod document;
mod message;
mod session;

use crate::args::CallArgs;
use crate::error::{Error, Result};
use crate::subject::Subject;
use crate::{regular, stdout};
use document::Document;
use message::{Facts, Request};
use nearside_pipeline::use_threads;
use session::Session;
use std::io::{BufReader, Read, Write};
use std::path::Path;

pub(crate) fn call(args: &CallArgs) -> Result<()> {
    // Before there are threads: some options go by way of the environment.
    let options = args.load.options()?;
    let (variant, method) = (args.variant.as_deref(), args.method.as_deref());
    let subject = Subject::open(&args.path, &args.data, variant, method, &options)?;
    use_threads(args.load.threads())?;
    let mut session = Session::new(subject, options, args.share.clone());
    if args.stream {
        return stream(&mut session, &mut BufReader::new(std::io::stdin().lock()));
    }
    if args.inputs.is_empty() {
        let request = Request { facts: Facts::new(), inputs: Vec::new() };
        one(&mut session, &request, args.out.as_deref(), 0)?;
    }
    for (index, path) in args.inputs.iter().enumerate() {
        let place = path.display().to_string();
        let mut file = BufReader::new(regular::open(path)?);
        let wrong = |reason: &str| Error::Tensors { place: place.clone(), reason: reason.into() };
        let request = Request::read(&mut file, &place)?.ok_or_else(|| wrong("it is empty"))?;
        if file.bytes().next().is_some() {
            return Err(wrong("it goes on after its tensors"));
        }
        one(&mut session, &request, args.out.as_deref(), index)?;
    }
    let document = Document::new(&session);
    if args.json { stdout::json(&document) } else { stdout::write(&document.text()) }
}

/// Runs call number `index`, and writes its outputs where they are wanted.
fn one(session: &mut Session, request: &Request, out: Option<&Path>, index: usize) -> Result<()> {
    let name = session.method_of(request);
    let (outputs, ms) = session.run(&name, request)?;
    let Some(folder) = out else { return Ok(()) };
    let path = folder.join(format!("{index}.safetensors"));
    let failed = |source| Error::WriteFile { path: path.clone(), source };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let bytes = message::reply(&outputs, facts(&name, ms), &path.display().to_string())?;
    std::fs::write(&path, bytes).map_err(failed)
}

/// Answers each document that comes with one, until there are no more. A call that fails is answered with why; the stream
/// goes on.
fn stream(session: &mut Session, requests: &mut impl Read) -> Result<()> {
    while let Some(request) = Request::read(requests, "stdin")? {
        let reply = answer(session, &request).or_else(|error| message::note(error_facts(&error)))?;
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(&reply).and_then(|()| stdout.flush()).map_err(Error::Write)?;
    }
    Ok(())
}

fn answer(session: &mut Session, request: &Request) -> Result<Vec<u8>> {
    match request.facts.get("do").map(String::as_str) {
        None | Some("call") => {
            let name = session.method_of(request);
            let (outputs, ms) = session.run(&name, request)?;
            message::reply(&outputs, facts(&name, ms), "a reply")
        }
        Some("reset") => {
            session.reset(request.facts.get("method").map(String::as_str))?;
            message::note(Facts::new())
        }
        Some("report") => {
            let report = serde_json::to_string(&Document::new(session));
            let report = report.map_err(|error| Error::Write(error.into()))?;
            message::note(Facts::from([("report".into(), report)]))
        }
        Some(other) => {
            let reason = format!("`do` is `{other}`, not `call`, `reset` or `report`");
            Err(Error::Tensors { place: "stdin".into(), reason })
        }
    }
}

fn facts(method: &str, ms: f64) -> Facts {
    Facts::from([("method".into(), method.to_owned()), ("ms".into(), ms.to_string())])
}

fn error_facts(error: &Error) -> Facts {
    let hint = error.hint().unwrap_or_default().to_owned();
    Facts::from([("error".into(), error.to_string()), ("hint".into(), hint)])
}
