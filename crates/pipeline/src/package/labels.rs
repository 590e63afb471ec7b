//! The labels file: UTF-8, one label a line, line i for class i.

use std::path::Path;
use std::sync::Arc;

pub(super) fn read(path: &Path) -> std::result::Result<Arc<[Arc<str>]>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("labels: {error}"))?;
    let labels: Arc<[Arc<str>]> = text.lines().map(Arc::from).collect();
    if labels.is_empty() {
        return Err("labels: the file is empty".into());
    }
    Ok(labels)
}
