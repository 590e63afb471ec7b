//! What a program's file says of a method, without loading it.

use crate::bridge::ffi;
use crate::tensor::DType;

/// A method's inputs, outputs, memory and delegates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodMeta {
    /// The method's name.
    pub name: String,
    /// Its inputs, in order.
    pub inputs: Vec<ValueMeta>,
    /// Its outputs, in order.
    pub outputs: Vec<ValueMeta>,
    /// Bytes of each planned arena.
    pub planned_bytes: Vec<u64>,
    /// Ids of the delegates that it calls.
    pub delegates: Vec<String>,
    /// Instructions: operator calls that stayed portable, delegate calls and jumps.
    pub instructions: usize,
}

impl MethodMeta {
    pub(crate) fn new(name: &str, facts: ffi::MethodFacts) -> Self {
        Self {
            name: name.to_owned(),
            inputs: facts.inputs.into_iter().map(ValueMeta::new).collect(),
            outputs: facts.outputs.into_iter().map(ValueMeta::new).collect(),
            // A negative size is nonsense; as the largest number it is refused when it is asked for.
            planned_bytes: facts
                .planned_bytes
                .into_iter()
                .map(|b| u64::try_from(b).unwrap_or(u64::MAX))
                .collect(),
            delegates: facts.backends,
            instructions: facts.instructions,
        }
    }
}

/// An input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueMeta {
    /// A tensor.
    Tensor(TensorMeta),
    /// Anything else, by ExecuTorch's name of its kind.
    Other(&'static str),
}

impl ValueMeta {
    fn new(facts: ffi::ValueFacts) -> Self {
        if facts.tag != tag::TENSOR {
            return Self::Other(tag::name(facts.tag));
        }
        Self::Tensor(TensorMeta {
            name: facts.name,
            dtype: DType::from_raw(facts.dtype),
            sizes: facts.sizes,
            dim_order: facts.dim_order,
            bytes: facts.bytes,
            memory_planned: facts.memory_planned,
        })
    }

    /// The tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&TensorMeta> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Other(_) => None,
        }
    }
}

/// A tensor input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorMeta {
    /// Its name in the exported graph, may be empty.
    pub name: String,
    /// The element type.
    pub dtype: DType,
    /// The shape: the upper bound where it is dynamic.
    pub sizes: Vec<i32>,
    /// The order of the dimensions in memory, outermost first: 0, 1, 2 … for row major.
    pub dim_order: Vec<u8>,
    /// Bytes that the largest such tensor takes.
    pub bytes: usize,
    /// Whether it lives in a planned arena. An input that does not is used in place, one that does is copied in.
    pub memory_planned: bool,
}

/// ExecuTorch's value tags (runtime/core/tag.h of 1.5.1).
pub(crate) mod tag {
    pub(crate) const TENSOR: u32 = 1;
    pub(crate) const DOUBLE: u32 = 3;
    pub(crate) const INT: u32 = 4;
    pub(crate) const BOOL: u32 = 5;

    pub(crate) fn name(tag: u32) -> &'static str {
        const NAMES: [&str; 12] = [
            "None",
            "Tensor",
            "String",
            "Double",
            "Int",
            "Bool",
            "ListBool",
            "ListDouble",
            "ListInt",
            "ListTensor",
            "ListScalar",
            "ListOptionalTensor",
        ];
        NAMES.get(tag as usize).copied().unwrap_or("unknown")
    }
}
