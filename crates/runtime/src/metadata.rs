//! What a program's file says of a method: what goes in, what comes out, what it needs.

use crate::file::{Dynamism, FileTensor, FileValue, Instruction, MethodFile, Storage};
use crate::tensor::DType;
use std::collections::BTreeSet;

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
    pub(crate) fn new(method: &MethodFile) -> Self {
        let values =
            |indices: &[usize]| indices.iter().map(|&at| ValueMeta::new(&method.values[at])).collect();
        let mut delegates: Vec<String> = Vec::new();
        let mut seen = BTreeSet::new();
        for step in &method.instructions {
            let Instruction::Delegate { delegate, .. } = step else { continue };
            let id = method.delegates[*delegate].id.as_str();
            if seen.insert(id) {
                delegates.push(id.to_owned());
            }
        }
        Self {
            name: method.name.clone(),
            inputs: values(&method.inputs),
            outputs: values(&method.outputs),
            planned_bytes: method.planned_bytes.clone(),
            delegates,
            instructions: method.instructions.len(),
        }
    }
}

/// An input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueMeta {
    /// A tensor.
    Tensor(TensorMeta),
    /// Anything else, by ExecuTorch's name of its kind. As an input it has the value that it was exported with.
    Other(&'static str),
}

impl ValueMeta {
    fn new(value: &FileValue) -> Self {
        value.as_tensor().map_or(Self::Other(value.kind()), |tensor| Self::Tensor(TensorMeta::new(tensor)))
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
    /// Whether `sizes` is an upper bound.
    pub dynamic: bool,
    /// The order of the dimensions in memory, outermost first: 0, 1, 2 … for row major.
    pub dim_order: Vec<u8>,
    /// Bytes that the largest such tensor takes.
    pub bytes: usize,
    /// Whether it lives in a planned arena. An input that does not is used in place, one that does is copied in.
    pub memory_planned: bool,
}

impl TensorMeta {
    fn new(tensor: &FileTensor) -> Self {
        Self {
            name: tensor.name.clone().unwrap_or_default(),
            dtype: tensor.dtype,
            sizes: tensor.sizes.clone(),
            dynamic: tensor.dynamism != Dynamism::Static,
            dim_order: tensor.dim_order.clone(),
            // Checked to fit when it was read.
            bytes: tensor.bytes as usize,
            memory_planned: matches!(tensor.storage, Storage::Planned { .. }),
        }
    }
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
