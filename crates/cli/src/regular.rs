//! Files that are read to their end.

use crate::error::{Error, Result};
use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a regular file: a pipe or device could block or never end.
pub(crate) fn open(path: &Path) -> Result<File> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")));
    }
    File::open(path).map_err(failed)
}
