//! A `.pte` file: its methods, segments and named data.

use super::header::{self, Layout};
use super::plan::MethodFile;
use super::source::Source;
use super::{unreadable, verifier};
use crate::error::{Error, Result};
use crate::schema::program::executorch_flatbuffer as fb;
use std::borrow::Cow;
use std::ops::Range;

/// What a `.pte` file holds. Every index and range in it has been checked against the file.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramFile {
    /// Bytes of the whole file.
    pub bytes: u64,
    /// Where in the file the description is that this was read from; segments with weights follow it.
    pub description: Range<u64>,
    /// The methods.
    pub methods: Vec<MethodFile>,
    /// Where in the file each segment is.
    pub segments: Vec<Range<u64>>,
    /// The segment of constant tensors, if there is one.
    pub constants: Option<Range<u64>>,
    /// Data that delegates ask for by name.
    pub named_data: Vec<NamedData>,
}

/// Data with a name in a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedData {
    /// Its name.
    pub key: String,
    /// Where in the file it is.
    pub range: Range<u64>,
}

/// More than any program has: what is told of each method reads the whole description.
const MAX_METHODS: usize = 256;

impl ProgramFile {
    /// Reads and verifies the description in `source`; `name` is for messages.
    pub(crate) fn read(name: &str, source: &Source) -> Result<Self> {
        let head = read(name, source, 0..source.len().min(header::HEAD_BYTES as u64))?;
        let layout = header::check(name, &head, source.len())?;
        let description = read(name, source, layout.description.clone())?;
        let damaged = |reason: String| Error::Damaged { name: name.to_owned(), reason };
        let root = flatbuffers::root_with_opts::<fb::Program<'_>>(&verifier(description.len()), &description)
            .map_err(|error| damaged(unreadable(&error)))?;
        Tables::new(root, &layout, source.len()).and_then(Tables::program).map_err(damaged)
    }

    /// The method called `name`.
    pub fn method(&self, name: &str) -> Option<&MethodFile> {
        self.methods.iter().find(|method| method.name == name)
    }
}

fn read<'s>(name: &str, source: &'s Source, range: Range<u64>) -> Result<Cow<'s, [u8]>> {
    source.read(range).map_err(|source| Error::Read { path: name.into(), source })
}

/// The tables of a program that its methods refer to.
pub(super) struct Tables<'f> {
    root: fb::Program<'f>,
    bytes: u64,
    layout: &'f Layout,
    segments: Vec<Range<u64>>,
}

type Checked<T> = std::result::Result<T, String>;

impl<'f> Tables<'f> {
    fn new(root: fb::Program<'f>, layout: &'f Layout, bytes: u64) -> Checked<Self> {
        let mut segments = Vec::new();
        for (index, segment) in root.segments().into_iter().flatten().enumerate() {
            if segment.size_() == 0 {
                // As written for a program without constants; such a file has no place for segments either.
                segments.push(0..0);
                continue;
            }
            let range = layout
                .segments_at
                .filter(|&base| base > 0)
                .and_then(|base| base.checked_add(segment.offset()))
                .and_then(|start| Some(start..start.checked_add(segment.size_())?))
                .filter(|range| range.end <= bytes)
                .ok_or_else(|| format!("segment {index} is not within the file"))?;
            segments.push(range);
        }
        Ok(Self { root, bytes, layout, segments })
    }

    fn program(self) -> Checked<ProgramFile> {
        if self.root.version() > 0 {
            return Err(format!("its schema version is {}, this build reads 0", self.root.version()));
        }
        let plans = self.root.execution_plan().ok_or("it has no methods")?;
        if plans.len() > MAX_METHODS {
            return Err(format!("it has {} methods, at most {MAX_METHODS} are possible", plans.len()));
        }
        let methods = plans.iter().map(|plan| MethodFile::read(&self, plan)).collect::<Checked<Vec<_>>>()?;
        for (index, method) in methods.iter().enumerate() {
            if methods[..index].iter().any(|earlier| earlier.name == method.name) {
                return Err(format!("it has two methods called `{}`", method.name));
            }
        }
        let named_data = self.named_data()?;
        let constants = self.constant_segment()?.map(|(range, _)| range);
        Ok(ProgramFile {
            bytes: self.bytes,
            description: self.layout.description.clone(),
            methods,
            segments: self.segments,
            constants,
            named_data,
        })
    }

    fn named_data(&self) -> Checked<Vec<NamedData>> {
        let mut all: Vec<NamedData> = Vec::new();
        for entry in self.root.named_data().into_iter().flatten() {
            let key = entry.key().filter(|key| !key.is_empty()).ok_or("named data has no name")?;
            let range = self.segment(entry.segment_index(), || format!("named data `{key}`"))?;
            all.push(NamedData { key: key.to_owned(), range });
        }
        let mut keys: Vec<_> = all.iter().map(|data| data.key.as_str()).collect();
        keys.sort_unstable();
        if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("it has two pieces of data called `{}`", pair[0]));
        }
        Ok(all)
    }

    /// The range of segment `index`, which `what` refers to.
    pub(super) fn segment(&self, index: u32, what: impl Fn() -> String) -> Checked<Range<u64>> {
        let found = self.segments.get(index as usize).cloned();
        found.ok_or_else(|| format!("{} refers to segment {index}, it has {}", what(), self.segments.len()))
    }

    fn constant_segment(&self) -> Checked<Option<(Range<u64>, flatbuffers::Vector<'f, u64>)>> {
        let Some(constants) = self.root.constant_segment() else { return Ok(None) };
        // The first offset stands for tensors that are not constant.
        let Some(offsets) = constants.offsets().filter(|offsets| offsets.len() > 1) else { return Ok(None) };
        if self.root.constant_buffer().is_some_and(|buffers| !buffers.is_empty()) {
            return Err("it has constants both in its description and in a segment".into());
        }
        Ok(Some((self.segment(constants.segment_index(), || "the table of constants".into())?, offsets)))
    }

    /// Where constant `index`, of `bytes`, is in the file.
    pub(super) fn constant(&self, index: u32, bytes: u64) -> Checked<Range<u64>> {
        if let Some((segment, offsets)) = self.constant_segment()? {
            if index as usize >= offsets.len() {
                return Err(format!("constant {index} does not exist, there are {}", offsets.len()));
            }
            return within(&segment, offsets.get(index as usize), bytes)
                .ok_or_else(|| format!("constant {index} is not within its segment"));
        }
        let buffers = self.root.constant_buffer().ok_or("it has no constants")?;
        if index as usize >= buffers.len() {
            return Err(format!("constant {index} does not exist, there are {}", buffers.len()));
        }
        let storage = buffers.get(index as usize).storage();
        let range = self.inline(storage.map(|storage| storage.bytes()).unwrap_or_default());
        within(&range, 0, bytes).ok_or_else(|| format!("constant {index} is shorter than its tensor"))
    }

    /// Where the first contents of a mutable tensor, number `index` and of `bytes`, are in the file.
    pub(super) fn initial(&self, index: u32, bytes: u64) -> Checked<Range<u64>> {
        // ExecuTorch 1.5.1 reads from the first entry, whatever the tensor says.
        let data = self.root.mutable_data_segments().filter(|data| !data.is_empty());
        let data = data.ok_or("it has no data for mutable tensors")?.get(0);
        let segment = self.segment(data.segment_index(), || "the table of mutable data".into())?;
        let offsets = data.offsets().filter(|offsets| (index as usize) < offsets.len());
        let offset =
            offsets.ok_or_else(|| format!("mutable data {index} does not exist"))?.get(index as usize);
        within(&segment, offset, bytes)
            .ok_or_else(|| format!("mutable data {index} is not within its segment"))
    }

    /// Where a delegate's payload is in the file.
    pub(super) fn payload(
        &self,
        reference: fb::BackendDelegateDataReference<'f>,
        what: &str,
    ) -> Checked<Range<u64>> {
        match reference.location() {
            fb::DataLocation::SEGMENT => self.segment(reference.index(), || what.to_owned()),
            fb::DataLocation::INLINE => {
                let all = self.root.backend_delegate_data();
                let all = all.filter(|all| (reference.index() as usize) < all.len());
                let entry = all.ok_or_else(|| format!("{what} refers to data that does not exist"))?;
                let data = entry.get(reference.index() as usize).data();
                let data = data.ok_or_else(|| format!("{what} has no data"))?;
                Ok(self.inline(data.bytes()))
            }
            other => Err(format!("{what} has its data in place {}, which is not known", other.0)),
        }
    }

    /// Where bytes of the description are in the file.
    fn inline(&self, bytes: &[u8]) -> Range<u64> {
        if bytes.is_empty() {
            return 0..0;
        }
        // Both point into the description, which starts the file.
        let start = bytes.as_ptr() as u64 - self.root._tab.buf().as_ptr() as u64;
        start..start + bytes.len() as u64
    }
}

/// `bytes` from `offset` of `outer`, if they are within it.
fn within(outer: &Range<u64>, offset: u64, bytes: u64) -> Option<Range<u64>> {
    let start = outer.start.checked_add(offset)?;
    let end = start.checked_add(bytes)?;
    (end <= outer.end).then_some(start..end)
}
