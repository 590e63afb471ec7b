//! The values of a method as its file holds them.

use crate::tensor::DType;
use std::ops::Range;

/// A value: what instructions read and write.
#[derive(Debug, Clone, PartialEq)]
pub enum FileValue {
    /// Nothing: an optional argument that was left out.
    None,
    /// A whole number.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A number.
    Double(f64),
    /// Text.
    String(String),
    /// A tensor.
    Tensor(FileTensor),
    /// Whole numbers, by the indices of their values.
    IntList(Vec<usize>),
    /// Numbers.
    DoubleList(Vec<f64>),
    /// Truth values.
    BoolList(Vec<bool>),
    /// Tensors, by the indices of their values.
    TensorList(Vec<usize>),
    /// Tensors or nothing, by the indices of their values.
    OptionalTensorList(Vec<Option<usize>>),
}

impl FileValue {
    /// The tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&FileTensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// ExecuTorch's name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Int(_) => "Int",
            Self::Bool(_) => "Bool",
            Self::Double(_) => "Double",
            Self::String(_) => "String",
            Self::Tensor(_) => "Tensor",
            Self::IntList(_) => "ListInt",
            Self::DoubleList(_) => "ListDouble",
            Self::BoolList(_) => "ListBool",
            Self::TensorList(_) => "ListTensor",
            Self::OptionalTensorList(_) => "ListOptionalTensor",
        }
    }
}

/// A tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTensor {
    /// The element type.
    pub dtype: DType,
    /// The shape: the upper bound where it is dynamic. Never negative.
    pub sizes: Vec<i32>,
    /// The order of the dimensions in memory, outermost first: a permutation of 0 to the rank.
    pub dim_order: Vec<u8>,
    /// Whether the shape can change from run to run.
    pub dynamism: Dynamism,
    /// Where its elements are.
    pub storage: Storage,
    /// Its name in the exported model, if the file has one.
    pub name: Option<String>,
    /// Bytes that the largest such tensor takes.
    pub bytes: u64,
}

/// Whether a tensor's shape can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dynamism {
    /// It can't.
    Static,
    /// It can, up to the sizes given.
    Bounded,
    /// It can, without bound. ExecuTorch 1.5.1 can't run such a program.
    Unbounded,
}

/// Where a tensor's elements are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// In the file, which is only read.
    Constant(Range<u64>),
    /// In a planned arena.
    Planned {
        /// The arena: ExecuTorch's memory id less 1.
        arena: usize,
        /// Bytes from its start.
        offset: u64,
        /// Where in the file the first contents are, if it has any.
        initial: Option<Initial>,
    },
    /// In a `.ptd` file, under this key; only read.
    External {
        /// The key.
        key: String,
    },
    /// Given when the method is run.
    Caller,
}

/// The first contents of a tensor in an arena.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Initial {
    /// In the program's file.
    File(Range<u64>),
    /// In a `.ptd` file, under this key.
    External(String),
}
