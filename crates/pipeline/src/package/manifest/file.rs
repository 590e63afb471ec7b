//! A file of the package, as the manifest names it.

use serde::{Deserialize, Serialize};

/// A file of the package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Relative to the package, without `..`.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Its hash, 64 hex digits.
    pub sha256: String,
}
