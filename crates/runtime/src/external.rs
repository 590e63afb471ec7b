//! The data files of a program, together.

use crate::bridge::ffi;
use crate::error::{Error, Result};
use crate::file::{DataFile, NamedTensor};
use cxx::UniquePtr;
use std::fmt;

/// Data by name, from one or more `.ptd` files.
pub(crate) struct ExternalData {
    map: UniquePtr<ffi::DataMap>,
    files: Vec<DataFile>,
}

// SAFETY: the map is filled once and only read then; what it points to lives in `files`.
unsafe impl Send for ExternalData {}
// SAFETY: as above.
unsafe impl Sync for ExternalData {}

impl ExternalData {
    pub(crate) fn new(files: &[DataFile]) -> Result<Self> {
        let files = files.to_vec();
        let mut all: Vec<(&DataFile, &NamedTensor)> =
            files.iter().flat_map(|file| file.entries().iter().map(move |entry| (file, entry))).collect();
        all.sort_by(|a, b| a.1.key.cmp(&b.1.key));
        if let Some(pair) = all.windows(2).find(|pair| pair[0].1.key == pair[1].1.key) {
            return Err(Error::DuplicateData {
                key: pair[0].1.key.clone(),
                files: [pair[0].0.name().to_owned(), pair[1].0.name().to_owned()],
            });
        }
        let mut map = ffi::new_data_map();
        for (file, entry) in all {
            let (dtype, sizes, dim_order): (i8, &[i32], &[u8]) = match &entry.layout {
                Some(layout) => (layout.dtype.to_raw(), &layout.sizes, &layout.dim_order),
                None => (0, &[], &[]),
            };
            let data = file.bytes(entry);
            // SAFETY: the slices are in the files' shared parts, which `files` keeps; the keys are sorted.
            unsafe {
                map.pin_mut().add(
                    &entry.key,
                    data,
                    file.is_mapped(),
                    entry.layout.is_some(),
                    dtype,
                    sizes,
                    dim_order,
                );
            }
        }
        Ok(Self { map, files })
    }

    pub(crate) fn find(&self, key: &str) -> Option<&NamedTensor> {
        self.files.iter().find_map(|file| {
            let at = file.entries().binary_search_by(|entry| entry.key.as_str().cmp(key)).ok()?;
            Some(&file.entries()[at])
        })
    }

    /// The data called `key`.
    pub(crate) fn data(&self, key: &str) -> Option<&[u8]> {
        self.files.iter().find_map(|file| {
            let at = file.entries().binary_search_by(|entry| entry.key.as_str().cmp(key)).ok()?;
            Some(file.bytes(&file.entries()[at]))
        })
    }

    /// The files.
    pub(crate) fn files(&self) -> &[DataFile] {
        &self.files
    }

    /// All names with their data.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files
            .iter()
            .flat_map(|file| file.entries().iter().map(|entry| (entry.key.as_str(), file.bytes(entry))))
    }

    pub(crate) fn map(&self) -> *const ffi::DataMap {
        self.map.as_ref().map_or(std::ptr::null(), std::ptr::from_ref)
    }
}

impl fmt::Debug for ExternalData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalData").field("files", &self.files).finish_non_exhaustive()
    }
}
