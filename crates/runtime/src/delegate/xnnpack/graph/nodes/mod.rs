//! The nodes of a graph, a file a family: what each takes, what shape it gives and what memory it needs.

mod convert;
mod convolution;
mod elementwise;
mod layout;
mod linear;
mod packing;
mod pooling;
mod read;
mod resize;

use super::datatype::Datatype;
use super::shape::Shape;
use super::values::Value;

/// XNNPACK's flags, as `xnnpack.h` numbers them. Those that no exporter sets are not allowed.
const TRANSPOSE_WEIGHTS: u32 = 0x01;
const ALIGN_CORNERS: u32 = 0x08;
const KEEP_DIMS: u32 = 0x40;

/// One node as it is in the file.
#[derive(Debug)]
pub(super) struct Node {
    /// The node's type as the schema names it, without its prefix: `Conv2d`.
    pub(super) kind: &'static str,
    pub(super) inputs: Vec<u32>,
    pub(super) outputs: Vec<u32>,
    operation: Operation,
    /// What the output is clamped to.
    range: Option<(f32, f32)>,
}

#[derive(Debug)]
enum Operation {
    Unary(&'static [Datatype]),
    Binary(&'static [Datatype]),
    /// The larger or smaller of two.
    Extreme,
    Softmax,
    Convert,
    Copy,
    Transpose(Vec<u32>),
    Reshape(Vec<u32>),
    Slice {
        offsets: Vec<u32>,
        sizes: Vec<u32>,
    },
    Pad {
        before: Vec<u32>,
        after: Vec<u32>,
    },
    Concatenate(u32),
    Resize([u32; 2]),
    MaxPool(pooling::Window),
    AveragePool(pooling::Window),
    ArgMaxPool(pooling::Window),
    GlobalAveragePool,
    Convolution(convolution::Parameters),
    Depthwise(convolution::Parameters),
    Transposed(convolution::Parameters),
    FullyConnected {
        transposed: bool,
    },
    BatchMatrixMultiply,
}

/// A value that a node takes, with its shape at the upper bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand<'a> {
    pub(super) value: &'a Value,
    pub(super) shape: &'a Shape,
    /// Whether its shape is the same in every run.
    pub(super) fixed: bool,
}

/// What a node gives and needs.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The shape of each output.
    pub(super) shapes: Vec<Shape>,
    /// Bytes of workspace while it runs.
    pub(super) scratch_bytes: u64,
    /// Bytes that it holds from its first run on: tables of addresses.
    pub(super) held_bytes: u64,
    /// Bytes of its weights as XNNPACK packs them.
    pub(super) packed_bytes: u64,
}

impl Outcome {
    fn of(shape: Shape) -> Self {
        Self { shapes: vec![shape], ..Self::default() }
    }
}

impl Node {
    /// Whether it works on each element by itself.
    pub(super) fn is_elementwise(&self) -> bool {
        matches!(
            self.operation,
            Operation::Unary(_) | Operation::Binary(_) | Operation::Extreme | Operation::Convert
        )
    }

    /// Whether XNNPACK packs the weights into a form of its own when it creates the operator.
    pub(super) fn packs_weights(&self) -> bool {
        matches!(self.kind, "Conv2d" | "DepthwiseConv2d" | "ConvTranspose2d" | "FullyConnected")
    }

    /// Whether the exporter fused an activation, an operator of its own before, into it.
    pub(super) fn has_fused_clamp(&self) -> bool {
        self.range.is_some() && self.kind != "Clamp"
    }

    /// As how many nodes XNNPACK sees it: clamping is one of its own.
    pub(super) fn steps(&self) -> usize {
        1 + usize::from(self.range.is_some() && matches!(self.operation, Operation::Binary(_)))
    }

    /// Whether it multiplies by weights.
    pub(super) fn has_weights(&self) -> bool {
        matches!(
            self.operation,
            Operation::Convolution(_)
                | Operation::Depthwise(_)
                | Operation::Transposed(_)
                | Operation::FullyConnected { .. }
        )
    }

    /// Whether XNNPACK checks, for fp16, that the range that the output is clamped to is not empty.
    pub(super) fn has_range_in_half(&self) -> bool {
        self.has_weights() || matches!(self.operation, Operation::AveragePool(_))
    }

    /// Whether what comes out is what came in, but for its place and range.
    pub(super) fn only_clamps_or_moves(&self) -> bool {
        self.kind == "Clamp"
            || matches!(
                self.operation,
                Operation::Copy
                    | Operation::Transpose(_)
                    | Operation::Reshape(_)
                    | Operation::Slice { .. }
                    | Operation::Pad { .. }
                    | Operation::Concatenate(_)
                    | Operation::MaxPool(_)
            )
    }

    /// The shapes that come out for `inputs` and the memory needed, after checking types, shapes and parameters.
    ///
    /// # Errors
    /// One clause, to follow the node's name.
    pub(super) fn run(&self, inputs: &[Operand<'_>], outputs: &[&Value]) -> Result<Outcome, String> {
        match &self.operation {
            Operation::Unary(types) => elementwise::unary(types, inputs, outputs),
            Operation::Binary(types) => elementwise::binary(types, inputs, outputs),
            Operation::Extreme => elementwise::extreme(inputs, outputs),
            Operation::Softmax => elementwise::softmax(inputs, outputs),
            Operation::Convert => convert::convert(inputs, outputs),
            Operation::Copy => layout::copy(inputs, outputs),
            Operation::Transpose(order) => layout::transpose(order, inputs, outputs),
            Operation::Reshape(shape) => layout::reshape(shape, inputs, outputs),
            Operation::Slice { offsets, sizes } => layout::slice(offsets, sizes, inputs, outputs),
            Operation::Pad { before, after } => layout::pad(before, after, inputs, outputs),
            Operation::Concatenate(axis) => layout::concatenate(*axis, inputs, outputs),
            Operation::Resize(size) => resize::bilinear(*size, inputs, outputs),
            Operation::MaxPool(window) => pooling::max(window, inputs, outputs),
            Operation::AveragePool(window) => pooling::average(window, inputs, outputs),
            Operation::ArgMaxPool(window) => pooling::arg_max(window, inputs, outputs),
            Operation::GlobalAveragePool => pooling::global_average(inputs, outputs),
            Operation::Convolution(parameters) => convolution::convolution(parameters, inputs, outputs),
            Operation::Depthwise(parameters) => convolution::depthwise(parameters, inputs, outputs),
            Operation::Transposed(parameters) => convolution::transposed(parameters, inputs, outputs),
            Operation::FullyConnected { transposed } => linear::fully_connected(*transposed, inputs, outputs),
            Operation::BatchMatrixMultiply => linear::batch_matrix_multiply(inputs, outputs),
        }
    }
}

/// Checks that inputs and outputs are all of one type, one of `types`, and returns it.
fn one_type(types: &[Datatype], inputs: &[Operand<'_>], outputs: &[&Value]) -> Result<Datatype, String> {
    let all = inputs.iter().map(|input| input.value).chain(outputs.iter().copied());
    let mut all = all.map(|value| value.datatype);
    let first = inputs[0].value.datatype;
    if types.contains(&first) && all.all(|datatype| datatype == first) {
        return Ok(first);
    }
    Err(format!("can't go from {} to {}", type_names(inputs), output_names(outputs)))
}

fn type_names(inputs: &[Operand<'_>]) -> String {
    let names: Vec<_> = inputs.iter().map(|input| input.value.datatype.to_string()).collect();
    names.join(", ")
}

fn output_names(outputs: &[&Value]) -> String {
    let names: Vec<_> = outputs.iter().map(|output| output.datatype.to_string()).collect();
    names.join(", ")
}
