//! A `.ptd` file.

use crate::args::InspectArgs;
use crate::error::Result;
use crate::stdout;
use crate::table::Table;
use nearside_pipeline::runtime::LoadMode;
use nearside_pipeline::runtime::file::{DataFile, NamedTensor};
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    file: String,
    data: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    bytes: u64,
    /// Unset for a delegate's own data.
    #[serde(skip_serializing_if = "Option::is_none")]
    dtype: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<Vec<i32>>,
}

pub(super) fn inspect(args: &InspectArgs) -> Result<()> {
    let file = DataFile::open(&args.path, LoadMode::Mmap)?;
    let data = file.entries().iter().map(entry).collect();
    let document = Document { file: file.name().to_owned(), data };
    if args.json { stdout::json(&document) } else { stdout::write(&text(&document)) }
}

fn entry(entry: &NamedTensor) -> Entry {
    Entry {
        name: entry.key.clone(),
        bytes: entry.range.end - entry.range.start,
        dtype: entry.layout.as_ref().map(|layout| layout.dtype.to_string()),
        shape: entry.layout.as_ref().map(|layout| layout.sizes.clone()),
    }
}

fn text(document: &Document) -> String {
    let mut table = Table::new(&["name", "bytes", "tensor"]);
    for entry in &document.data {
        let tensor = match (&entry.dtype, &entry.shape) {
            (Some(dtype), Some(shape)) => format!("{dtype} {shape:?}"),
            _ => "a delegate's own".into(),
        };
        table.row(vec![entry.name.clone(), entry.bytes.to_string(), tensor]);
    }
    format!("{}\n{}", document.file, table.render())
}
