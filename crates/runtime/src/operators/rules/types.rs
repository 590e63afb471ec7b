//! Types and dimensions of the tensors that operators of ours take.

use crate::operators::call::Call;
use crate::tensor::DType;

/// An argument's name, with the type and the number of dimensions that it must have.
pub(super) type Argument = (&'static str, DType, usize);

/// # Errors
/// The first argument that is another.
pub(super) fn check(arguments: &[Argument], call: &Call<'_>) -> Result<(), String> {
    for &(name, dtype, dims) in arguments {
        let Some(tensor) = call.tensor(name) else { continue };
        if (tensor.dtype, tensor.sizes.len()) != (dtype, dims) {
            return Err(format!(
                "`{name}` is of {} with {} dimensions, not of {dtype} with {dims}",
                tensor.dtype,
                tensor.sizes.len()
            ));
        }
    }
    Ok(())
}
