//! A `.ptd` file: weights outside a program, by name.

use super::source::{Source, open_regular};
use super::{header, tensor, unreadable, verifier};
use crate::error::{Error, Result};
use crate::program::LoadMode;
use crate::schema::flat_tensor::flat_tensor_flatbuffer as fb;
use crate::tensor::DType;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// An opened `.ptd` file. Cheap to clone.
#[derive(Debug, Clone)]
pub struct DataFile {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: String,
    source: Source,
    entries: Vec<NamedTensor>,
}

/// A piece of data in a `.ptd` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTensor {
    /// Its name.
    pub key: String,
    /// Where in the file it is.
    pub range: Range<u64>,
    /// Its type and shape; `None` if it is not a tensor but a delegate's own data.
    pub layout: Option<TensorLayout>,
}

/// The type and shape of a tensor in a `.ptd` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorLayout {
    /// The element type.
    pub dtype: DType,
    /// The shape.
    pub sizes: Vec<i32>,
    /// The order of the dimensions in memory, outermost first.
    pub dim_order: Vec<u8>,
}

impl DataFile {
    /// Opens and checks the file at `path`. [`LoadMode::File`] reads it whole, as [`LoadMode::Bytes`] does.
    ///
    /// # Errors
    /// [`Error::Read`] if it can't be read, [`Error::NotDataFile`], [`Error::Truncated`] or [`Error::Damaged`].
    pub fn open(path: impl AsRef<Path>, mode: LoadMode) -> Result<Self> {
        let path = path.as_ref();
        let read = |source| Error::Read { path: path.to_owned(), source };
        let file = open_regular(path).map_err(read)?;
        let source = match mode {
            LoadMode::Mmap => Source::map(&file),
            LoadMode::File | LoadMode::Bytes => Source::whole(file),
        };
        Self::new(path.display().to_string(), source.map_err(read)?)
    }

    /// Opens a data file that is in memory already.
    ///
    /// # Errors
    /// As [`DataFile::open`], but for reading.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        Self::new("data file".into(), Source::bytes(bytes.into()))
    }

    fn new(name: String, source: Source) -> Result<Self> {
        let bytes = source.in_memory().unwrap_or_default();
        let layout = header::check_data(&name, bytes)?;
        let description = &bytes[layout.description.start as usize..layout.description.end as usize];
        let damaged = |reason: String| Error::Damaged { name: name.clone(), reason };
        let root =
            flatbuffers::root_with_opts::<fb::FlatTensor<'_>>(&verifier(description.len()), description)
                .map_err(|error| damaged(unreadable(&error)))?;
        let entries = entries(root, layout.segments_at.unwrap_or(0), source.len()).map_err(damaged)?;
        Ok(Self { inner: Arc::new(Inner { name, source, entries }) })
    }

    /// The file's path: for messages.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// What it holds, in order of the names.
    pub fn entries(&self) -> &[NamedTensor] {
        &self.inner.entries
    }

    /// The bytes of an entry.
    pub(crate) fn bytes(&self, entry: &NamedTensor) -> &[u8] {
        let all = self.inner.source.in_memory().unwrap_or_default();
        &all[entry.range.start as usize..entry.range.end as usize]
    }

    /// Bytes of the whole file.
    pub(crate) fn len(&self) -> u64 {
        self.inner.source.len()
    }

    /// Whether its pages can be dropped and come back.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.inner.source, Source::Map(_))
    }
}

fn entries(root: fb::FlatTensor<'_>, base: u64, bytes: u64) -> std::result::Result<Vec<NamedTensor>, String> {
    if root.version() > 0 {
        return Err(format!("its schema version is {}, this build reads 0", root.version()));
    }
    let segments: Vec<_> = root.segments().into_iter().flatten().collect();
    let mut entries = Vec::new();
    for data in root.named_data().into_iter().flatten() {
        let key = data.key().filter(|key| !key.is_empty()).ok_or("data has no name")?;
        let range = segments.get(data.segment_index() as usize).and_then(|segment| {
            let start = base.checked_add(segment.offset())?;
            Some(start..start.checked_add(segment.size_())?).filter(|range| range.end <= bytes)
        });
        let range = range.ok_or_else(|| format!("the data called `{key}` is not within the file"))?;
        let layout = data.tensor_layout().map(|layout| layout_of(layout, &range));
        let layout = layout.transpose().map_err(|reason| format!("the tensor called `{key}`: {reason}"))?;
        entries.push(NamedTensor { key: key.to_owned(), range, layout });
    }
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    match entries.windows(2).find(|pair| pair[0].key == pair[1].key) {
        Some(pair) => Err(format!("two pieces of data are called `{}`", pair[0].key)),
        None => Ok(entries),
    }
}

fn layout_of(layout: fb::TensorLayout<'_>, range: &Range<u64>) -> std::result::Result<TensorLayout, String> {
    let read = tensor::layout(layout.scalar_type().0, layout.sizes(), layout.dim_order())?;
    if read.bytes > range.end - range.start {
        return Err(format!("it has {} bytes, its shape asks for {}", range.end - range.start, read.bytes));
    }
    let aligned = read.dtype.element_bytes().is_some_and(|bytes| range.start.is_multiple_of(bytes as u64));
    if !aligned {
        return Err(format!("its {} elements start at byte {}", read.dtype, range.start));
    }
    Ok(TensorLayout { dtype: read.dtype, sizes: read.sizes, dim_order: read.dim_order })
}
