//! What goes in and out: safetensors documents, in files or one after another in a stream.

use crate::error::{Error, Result};
use crate::input::Input;
use nearside_pipeline::runtime::{DType, Outputs, Value};
use safetensors::tensor::Metadata;
use safetensors::{Dtype, SafeTensors};
use std::collections::HashMap;
use std::io::Read;

/// Facts of a document, by name: safetensors' `__metadata__`.
pub(super) type Facts = HashMap<String, String>;

/// Far more than any picture, prompt or cache.
const MAX_BYTES: usize = 1 << 30;
/// What the crate takes for a header.
const MAX_HEADER: u64 = 100_000_000;
/// The bytes of a header's length.
const LENGTH: usize = size_of::<u64>();

/// safetensors' types by those of the runtime.
const TYPES: [(Dtype, DType); 13] = [
    (Dtype::BOOL, DType::Bool),
    (Dtype::U8, DType::U8),
    (Dtype::I8, DType::I8),
    (Dtype::I16, DType::I16),
    (Dtype::U16, DType::U16),
    (Dtype::F16, DType::F16),
    (Dtype::BF16, DType::BF16),
    (Dtype::I32, DType::I32),
    (Dtype::U32, DType::U32),
    (Dtype::F32, DType::F32),
    (Dtype::F64, DType::F64),
    (Dtype::I64, DType::I64),
    (Dtype::U64, DType::U64),
];

/// A call's inputs, in the method's order, and what else was said.
pub(super) struct Request {
    pub(super) facts: Facts,
    pub(super) inputs: Vec<Input>,
}

impl Request {
    /// Reads the next document of `stream`; `None` at its end. `place` is for messages.
    pub(super) fn read(stream: &mut impl Read, place: &str) -> Result<Option<Self>> {
        let wrong = |reason: String| Error::Tensors { place: place.to_owned(), reason };
        let mut bytes = Vec::new();
        let more = |bytes: &mut Vec<u8>, stream: &mut dyn Read, count: u64| -> Result<bool> {
            // Grows as the bytes come, whatever the header claims.
            let read = stream.take(count).read_to_end(bytes).map_err(|error| wrong(error.to_string()))?;
            Ok(read as u64 == count)
        };
        if !more(&mut bytes, stream, LENGTH as u64)? {
            return if bytes.is_empty() { Ok(None) } else { Err(wrong("it ends within a header".into())) };
        }
        let length = bytes.as_slice().try_into().map_or(u64::MAX, u64::from_le_bytes);
        if length > MAX_HEADER {
            return Err(wrong("it does not begin with the length of a safetensors header".into()));
        }
        if !more(&mut bytes, stream, length)? {
            return Err(wrong("it ends within its header".into()));
        }
        let header: Metadata = serde_json::from_slice(&bytes[LENGTH..])
            .map_err(|error| wrong(format!("its header is no safetensors header: {error}")))?;
        let data = header.data_len();
        if data > MAX_BYTES {
            return Err(wrong(format!("its tensors take {data} bytes, at most {MAX_BYTES} are taken")));
        }
        if !more(&mut bytes, stream, data as u64)? {
            return Err(wrong("it ends within its tensors".into()));
        }
        let tensors = SafeTensors::deserialize(&bytes).map_err(|error| wrong(error.to_string()))?;
        let inputs = (0..tensors.len()).map(|index| input(&tensors, index).map_err(&wrong));
        let inputs = inputs.collect::<Result<_>>()?;
        Ok(Some(Self { facts: header.metadata().clone().unwrap_or_default(), inputs }))
    }
}

/// The tensor named `index`.
fn input(tensors: &SafeTensors<'_>, index: usize) -> std::result::Result<Input, String> {
    let tensor = tensors.tensor(&index.to_string()).map_err(|_| {
        let mut names = tensors.names();
        names.sort_unstable();
        format!("it has no tensor `{index}`; it has {}", names.join(", "))
    })?;
    let dtype = TYPES.iter().find(|(known, _)| *known == tensor.dtype()).map(|(_, dtype)| *dtype);
    let dtype =
        dtype.ok_or_else(|| format!("tensor `{index}` is of {:?}, which no input can be", tensor.dtype()))?;
    let size =
        |&size: &usize| i32::try_from(size).map_err(|_| format!("tensor `{index}` has a size of {size}"));
    let sizes = tensor.shape().iter().map(size).collect::<std::result::Result<_, _>>()?;
    Ok(Input::new(dtype, sizes, tensor.data()))
}

/// An output: its place among all, and a tensor, or a number as one of no dimension.
struct Output<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    data: std::borrow::Cow<'a, [u8]>,
}

impl safetensors::View for &Output<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> std::borrow::Cow<'_, [u8]> {
        std::borrow::Cow::Borrowed(&self.data)
    }

    fn data_len(&self) -> usize {
        self.data.len()
    }
}

/// A document with the outputs of a run, named `0`, `1`, …
pub(super) fn reply(outputs: &Outputs<'_>, facts: Facts, place: &str) -> Result<Vec<u8>> {
    let wrong = |reason: String| Error::Tensors { place: place.to_owned(), reason };
    let mut tensors = Vec::new();
    for index in 0..outputs.len() {
        let output = output(outputs.get(index)?).map_err(|kind| {
            wrong(format!("output {index} is of {kind}, which no safetensors file can hold"))
        })?;
        tensors.push((index.to_string(), output));
    }
    let named = tensors.iter().map(|(name, output)| (name.as_str(), output));
    safetensors::serialize(named, Some(facts)).map_err(|error| wrong(error.to_string()))
}

/// A document with no tensors.
pub(super) fn note(facts: Facts) -> Result<Vec<u8>> {
    let none: [(&str, &Output<'_>); 0] = [];
    // safetensors 0.8.0 writes an empty map of facts as no JSON.
    safetensors::serialize(none, (!facts.is_empty()).then_some(facts))
        .map_err(|error| Error::Tensors { place: "a reply".into(), reason: error.to_string() })
}

fn output(value: Value<'_>) -> std::result::Result<Output<'_>, String> {
    let number = |dtype, bytes: &[u8]| Output { dtype, shape: Vec::new(), data: bytes.to_vec().into() };
    Ok(match value {
        Value::Tensor(tensor) => {
            let dtype = TYPES.iter().find(|(_, known)| *known == tensor.dtype());
            Output {
                dtype: dtype.ok_or_else(|| tensor.dtype().to_string())?.0,
                shape: tensor.sizes().iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect(),
                data: tensor.bytes().into(),
            }
        }
        Value::Int(value) => number(Dtype::I64, &value.to_le_bytes()),
        Value::Double(value) => number(Dtype::F64, &value.to_le_bytes()),
        Value::Bool(value) => number(Dtype::BOOL, &[u8::from(value)]),
        Value::Other(kind) => return Err(kind.to_owned()),
    })
}
