//! Opening a vendor's library as a delegate will.

use libloading::Library;

/// Opens the first of `names` that can be; else says why each can't, in one sentence.
pub(super) fn open_any(names: &[&str]) -> Result<Library, String> {
    let mut problems = Vec::new();
    for name in names {
        // SAFETY: the delegate itself opens this library; its initialisers are as sound now as then.
        match unsafe { Library::new(*name) } {
            Ok(library) => return Ok(library),
            Err(error) => problems.push(problem(name, &error)),
        }
    }
    Err(problems.join("; "))
}

fn problem(name: &str, error: &libloading::Error) -> String {
    let detail = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    format!("{name} can't be opened ({})", detail.trim())
}
