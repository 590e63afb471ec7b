//! The labels file: UTF-8, one label a line, line i for class i.

use super::files;
use crate::error::{Error, Result};
use std::path::Path;
use std::sync::Arc;

pub(super) fn read(path: &Path) -> Result<Arc<[Arc<str>]>> {
    let text = files::read_text(path)?;
    // Some editors begin UTF-8 with a byte order mark.
    let labels: Arc<[Arc<str>]> = text.trim_start_matches('\u{feff}').lines().map(Arc::from).collect();
    if labels.is_empty() {
        return Err(Error::Manifest { path: path.to_owned(), reason: "it has no labels".into() });
    }
    Ok(labels)
}
