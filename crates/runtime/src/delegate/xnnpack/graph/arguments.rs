//! The arguments that a program passes to the delegate.

use super::shape::Shape;
use super::values::{Place, Value};
use crate::file::{Dynamism, FileTensor, FileValue, Storage};

/// An argument as XNNPACK sees it.
#[derive(Debug)]
pub(super) struct Argument {
    /// The dimensions in the order of memory, at the upper bound.
    pub(super) shape: Shape,
    /// Whether its shape can't change.
    pub(super) fixed: bool,
}

/// The argument that `value` is, `None` for values that never leave the graph.
///
/// # Errors
/// One sentence that begins with the value.
pub(super) fn argument(value: &Value, call: &[&FileValue]) -> Result<Option<Argument>, String> {
    let (position, output) = match value.place {
        Place::Input(position) => (position, false),
        Place::Output(position) => (position, true),
        Place::Constant(_) | Place::Between => return Ok(None),
    };
    find(value, position, output, call)
        .map(Some)
        .map_err(|what| format!("argument {position}, which is the value of id {}, {what}", value.id))
}

fn find(value: &Value, position: usize, output: bool, call: &[&FileValue]) -> Result<Argument, String> {
    let argument = call.get(position).ok_or_else(|| format!("is not among the {} given", call.len()))?;
    let tensor = match argument {
        FileValue::Tensor(tensor) => tensor,
        other => return Err(format!("is a {}, not a tensor", other.kind())),
    };
    if !value.datatype.fits(tensor.dtype, output) {
        return Err(format!("is of type {}, the graph has {}", tensor.dtype, value.datatype));
    }
    if output && matches!(tensor.storage, Storage::Constant(_) | Storage::External { .. }) {
        return Err("would be written, yet is constant".into());
    }
    let fixed = tensor.dynamism == Dynamism::Static;
    Ok(Argument { shape: in_memory(tensor)?, fixed })
}

/// The sizes in the order in which the dimensions lie in memory.
fn in_memory(tensor: &FileTensor) -> Result<Shape, String> {
    let size = |dim: &u8| tensor.sizes.get(*dim as usize).and_then(|&size| u64::try_from(size).ok());
    let dims = tensor.dim_order.iter().map(size).collect::<Option<Vec<_>>>();
    let dims = dims.filter(|dims| dims.len() == tensor.sizes.len());
    Shape::new(dims.ok_or("has dimensions out of order")?)
}
