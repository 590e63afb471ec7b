//! From the flatbuffer's nodes to [`Node`].

use super::convolution::Parameters;
use super::elementwise::{CLAMP, FLOAT, FLOAT_OR_INT8};
use super::pooling::Window;
use super::{ALIGN_CORNERS, KEEP_DIMS, Node, Operation, TRANSPOSE_WEIGHTS};
use crate::delegate::xnnpack::graph::datatype::Datatype;
use crate::delegate::xnnpack::graph::values::NO_ID;
use crate::schema::xnnpack::fb_xnnpack::{
    _XNNCat, _XNNNode1x1, _XNNNode2x1, _XNNNodeConv, _XNNPooling2D, XNode, XNodeUnion,
};
use flatbuffers::Vector;

impl Node {
    /// Reads a node and checks what can be told without its operands.
    ///
    /// # Errors
    /// One sentence that begins with the node.
    pub(in crate::delegate::xnnpack::graph) fn read(index: usize, node: XNode<'_>) -> Result<Self, String> {
        let union = node.xnode_union_type();
        let kind = union.variant_name().map(|name| name.trim_start_matches("XNN"));
        let Some(kind) = kind.filter(|_| union != XNodeUnion::NONE) else {
            return Err(format!("node {index} is of the unknown type {}: it needs a newer XNNPACK", union.0));
        };
        let parts = read(node).and_then(|parts| Ok((parts, range(node)?)));
        let (parts, range) = parts.map_err(|what| format!("node {index} ({kind}) {what}"))?;
        let Parts { inputs, outputs, flags, allowed, operation } = parts;
        if flags & !allowed != 0 {
            return Err(format!(
                "node {index} ({kind}) has the flags {flags:#x}, of which {allowed:#x} are known"
            ));
        }
        Ok(Self { kind, inputs, outputs, operation, range })
    }
}

struct Parts {
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    flags: u32,
    allowed: u32,
    operation: Operation,
}

impl Parts {
    fn new(inputs: &[u32], output: u32, flags: u32, allowed: u32, operation: Operation) -> Self {
        Self { inputs: inputs.to_vec(), outputs: vec![output], flags, allowed, operation }
    }

    fn one(table: Option<_XNNNode1x1<'_>>, operation: Operation) -> Result<Self, String> {
        let table = table.ok_or_else(missing)?;
        Ok(Self::new(&[table.input_id()], table.output_id(), table.flags(), 0, operation))
    }

    fn two(table: Option<_XNNNode2x1<'_>>, operation: Operation) -> Result<Self, String> {
        let table = table.ok_or_else(missing)?;
        let inputs = [table.input1_id(), table.input2_id()];
        Ok(Self::new(&inputs, table.output_id(), table.flags(), 0, operation))
    }

    fn cat(table: Option<_XNNCat<'_>>, count: usize) -> Result<Self, String> {
        let table = table.ok_or_else(missing)?;
        let inputs =
            [table.input1_id(), table.input2_id(), table.input3_id(), table.input4_id(), table.input5_id()];
        let operation = Operation::Concatenate(table.axis());
        Ok(Self::new(&inputs[..count], table.output_id(), table.flags(), 0, operation))
    }

    fn convolution(
        table: Option<_XNNNodeConv<'_>>,
        operation: impl Fn(Parameters) -> Operation,
    ) -> Result<Self, String> {
        let table = table.ok_or_else(missing)?;
        let inputs = with_bias(table.input1_id(), table.filter_id(), table.bias_id());
        let operation = operation(Parameters::read(table)?);
        Ok(Self::new(&inputs, table.output_id(), table.flags(), 0, operation))
    }

    fn pooling(
        table: Option<_XNNPooling2D<'_>>,
        operation: impl Fn(Window) -> Operation,
    ) -> Result<Self, String> {
        let table = table.ok_or_else(missing)?;
        let operation = operation(Window::read(table)?);
        Ok(Self::new(&[table.input_id()], table.output_id(), table.flags(), KEEP_DIMS, operation))
    }
}

fn read(node: XNode<'_>) -> Result<Parts, String> {
    use Operation::{Binary, Unary};
    use XNodeUnion as U;
    const PRELU: &[Datatype] = FLOAT_OR_INT8;
    match node.xnode_union_type() {
        U::XNNAdd => Parts::two(node.xnode_union_as_xnnadd(), Binary(FLOAT_OR_INT8)),
        U::XNNSubtract => Parts::two(node.xnode_union_as_xnnsubtract(), Binary(FLOAT_OR_INT8)),
        U::XNNMultiply => Parts::two(node.xnode_union_as_xnnmultiply(), Binary(FLOAT_OR_INT8)),
        U::XNNDiv => Parts::two(node.xnode_union_as_xnndiv(), Binary(FLOAT)),
        U::XNNMinimum => Parts::two(node.xnode_union_as_xnnminimum(), Operation::Extreme),
        U::XNNMaximum => Parts::two(node.xnode_union_as_xnnmaximum(), Operation::Extreme),
        U::XNNPReLU => Parts::two(node.xnode_union_as_xnnpre_lu(), Binary(PRELU)),
        U::XNNBatchMatrixMultiply => {
            Parts::two(node.xnode_union_as_xnnbatch_matrix_multiply(), Operation::BatchMatrixMultiply)
        }
        U::XNNSoftmax => Parts::one(node.xnode_union_as_xnnsoftmax(), Operation::Softmax),
        U::XNNSigmoid => Parts::one(node.xnode_union_as_xnnsigmoid(), Unary(FLOAT_OR_INT8)),
        U::XNNClamp => Parts::one(node.xnode_union_as_xnnclamp(), Unary(CLAMP)),
        U::XNNFloor => Parts::one(node.xnode_union_as_xnnfloor(), Unary(FLOAT_OR_INT8)),
        U::XNNSquareRoot => Parts::one(node.xnode_union_as_xnnsquare_root(), Unary(FLOAT_OR_INT8)),
        U::XNNReciprocalSquareRoot => {
            Parts::one(node.xnode_union_as_xnnreciprocal_square_root(), Unary(FLOAT_OR_INT8))
        }
        U::XNNCeiling => Parts::one(node.xnode_union_as_xnnceiling(), Unary(FLOAT_OR_INT8)),
        U::XNNHardswish => Parts::one(node.xnode_union_as_xnnhardswish(), Unary(FLOAT_OR_INT8)),
        U::XNNNegate => Parts::one(node.xnode_union_as_xnnnegate(), Unary(FLOAT_OR_INT8)),
        U::XNNSquare => Parts::one(node.xnode_union_as_xnnsquare(), Unary(FLOAT_OR_INT8)),
        U::XNNAbs => Parts::one(node.xnode_union_as_xnnabs(), Unary(FLOAT_OR_INT8)),
        U::XNNLog => Parts::one(node.xnode_union_as_xnnlog(), Unary(FLOAT_OR_INT8)),
        U::XNNGelu => Parts::one(node.xnode_union_as_xnngelu(), Unary(FLOAT_OR_INT8)),
        U::XNNTanh => Parts::one(node.xnode_union_as_xnntanh(), Unary(FLOAT_OR_INT8)),
        U::XNNExp => Parts::one(node.xnode_union_as_xnnexp(), Unary(FLOAT_OR_INT8)),
        U::XNNSin => Parts::one(node.xnode_union_as_xnnsin(), Unary(FLOAT_OR_INT8)),
        U::XNNCos => Parts::one(node.xnode_union_as_xnncos(), Unary(FLOAT_OR_INT8)),
        U::XNNCopy => Parts::one(node.xnode_union_as_xnncopy(), Operation::Copy),
        U::XNNConvert => Parts::one(node.xnode_union_as_xnnconvert(), Operation::Convert),
        U::XNNConcatenate2 => Parts::cat(node.xnode_union_as_xnnconcatenate_2(), 2),
        U::XNNConcatenate3 => Parts::cat(node.xnode_union_as_xnnconcatenate_3(), 3),
        U::XNNConcatenate4 => Parts::cat(node.xnode_union_as_xnnconcatenate_4(), 4),
        U::XNNConcatenate5 => Parts::cat(node.xnode_union_as_xnnconcatenate_5(), 5),
        U::XNNConv2d => Parts::convolution(node.xnode_union_as_xnnconv_2d(), Operation::Convolution),
        U::XNNDepthwiseConv2d => {
            Parts::convolution(node.xnode_union_as_xnndepthwise_conv_2d(), Operation::Depthwise)
        }
        U::XNNConvTranspose2d => {
            Parts::convolution(node.xnode_union_as_xnnconv_transpose_2d(), Operation::Transposed)
        }
        U::XNNMaxPooling2d => Parts::pooling(node.xnode_union_as_xnnmax_pooling_2d(), Operation::MaxPool),
        U::XNNAvgPooling2d => Parts::pooling(node.xnode_union_as_xnnavg_pooling_2d(), Operation::AveragePool),
        _ => read_single(node),
    }
}

/// The nodes that have a table of their own.
fn read_single(node: XNode<'_>) -> Result<Parts, String> {
    match node.xnode_union_type() {
        XNodeUnion::XNNLeakyReLU => {
            let table = node.xnode_union_as_xnnleaky_re_lu().ok_or_else(missing)?;
            let operation = Operation::Unary(FLOAT_OR_INT8);
            Ok(Parts::new(&[table.input_id()], table.output_id(), table.flags(), 0, operation))
        }
        XNodeUnion::XNNELU => {
            let table = node.xnode_union_as_xnnelu().ok_or_else(missing)?;
            let operation = Operation::Unary(FLOAT_OR_INT8);
            Ok(Parts::new(&[table.input_id()], table.output_id(), table.flags(), 0, operation))
        }
        XNodeUnion::XNNStaticTranspose => {
            let table = node.xnode_union_as_xnnstatic_transpose().ok_or_else(missing)?;
            let operation = Operation::Transpose(list("perm", table.perm())?);
            Ok(Parts::new(&[table.input_id()], table.output_id(), table.flags(), 0, operation))
        }
        XNodeUnion::XNNStaticReshape => {
            let table = node.xnode_union_as_xnnstatic_reshape().ok_or_else(missing)?;
            let operation = Operation::Reshape(list("new_shape", table.new_shape())?);
            Ok(Parts::new(&[table.input_id()], table.output_id(), table.flags(), 0, operation))
        }
        XNodeUnion::XNNStaticSlice => {
            let table = node.xnode_union_as_xnnstatic_slice().ok_or_else(missing)?;
            let operation = Operation::Slice {
                offsets: list("offsets", table.offsets())?,
                sizes: list("sizes", table.sizes())?,
            };
            Ok(Parts::new(&[table.input_id()], table.output_id(), table.flags(), 0, operation))
        }
        XNodeUnion::XNNStaticConstantPad => {
            let table = node.xnode_union_as_xnnstatic_constant_pad().ok_or_else(missing)?;
            let operation = Operation::Pad {
                before: list("pre_paddings", table.pre_paddings())?,
                after: list("post_paddings", table.post_paddings())?,
            };
            Ok(Parts::new(&[table.input_id()], table.output_id(), table.flags(), 0, operation))
        }
        XNodeUnion::XNNStaticResizeBilinear2D => {
            let table = node.xnode_union_as_xnnstatic_resize_bilinear_2_d().ok_or_else(missing)?;
            let operation = Operation::Resize([table.new_height(), table.new_width()]);
            Ok(Parts::new(&[table.input_id()], table.output_id(), table.flags(), ALIGN_CORNERS, operation))
        }
        XNodeUnion::XNNGlobalAvgPooling2d => {
            let table = node.xnode_union_as_xnnglobal_avg_pooling_2d().ok_or_else(missing)?;
            if table.flags() & KEEP_DIMS == 0 {
                return Err("does not keep the dimensions that it averages over".into());
            }
            let operation = Operation::GlobalAveragePool;
            Ok(Parts::new(&[table.input_id()], table.output_id(), table.flags(), KEEP_DIMS, operation))
        }
        XNodeUnion::XNNArgMaxPooling2d => {
            let table = node.xnode_union_as_xnnarg_max_pooling_2d().ok_or_else(missing)?;
            let operation = Operation::ArgMaxPool(Window::read_arg_max(table)?);
            Ok(Parts {
                inputs: vec![table.input_id()],
                outputs: vec![table.output_value_id(), table.output_index_id()],
                flags: table.flags(),
                allowed: KEEP_DIMS,
                operation,
            })
        }
        XNodeUnion::XNNFullyConnected => {
            let table = node.xnode_union_as_xnnfully_connected().ok_or_else(missing)?;
            let inputs = with_bias(table.input1_id(), table.filter_id(), table.bias_id());
            let transposed = table.flags() & TRANSPOSE_WEIGHTS != 0;
            let operation = Operation::FullyConnected { transposed };
            Ok(Parts::new(&inputs, table.output_id(), table.flags(), TRANSPOSE_WEIGHTS, operation))
        }
        // In the schema, yet ExecuTorch 1.5.1 never wrote the code that runs it.
        _ => Err("can't be run by this build's ExecuTorch".into()),
    }
}

/// The range that the output is clamped to, if there is one.
fn range(node: XNode<'_>) -> Result<Option<(f32, f32)>, String> {
    match node.output_min_max().map(|range| (range.output_min(), range.output_max())) {
        Some((min, max)) if min.is_nan() || max.is_nan() || min > max => {
            Err(format!("clamps its output to {min} to {max}"))
        }
        range => Ok(range.filter(|&range| range != (f32::NEG_INFINITY, f32::INFINITY))),
    }
}

fn with_bias(input: u32, filter: u32, bias: u32) -> Vec<u32> {
    let mut inputs = vec![input, filter];
    inputs.extend((bias != NO_ID).then_some(bias));
    inputs
}

fn list(name: &str, vector: Option<Vector<'_, u32>>) -> Result<Vec<u32>, String> {
    let vector = vector.ok_or_else(|| format!("has no {name}"))?;
    Ok(vector.iter().collect())
}

fn missing() -> String {
    "has no parameters".into()
}
