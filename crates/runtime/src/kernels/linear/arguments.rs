//! A call's tensors and numbers, checked.

use crate::bridge::ffi;
use crate::kernels::packed::Packed;
use crate::kernels::tensor::Tensor;

/// A call whose shapes fit together and whose out shares no memory with any other tensor.
pub(super) struct Arguments<'a> {
    /// S
    pub(super) rows: usize,
    /// `[S, K]`
    pub(super) x: &'a [f32],
    pub(super) weight: Packed<'a>,
    pub(super) bias: Option<&'a [f32]>,
    /// `[S, rows]`
    pub(super) out: &'a mut [f32],
}

impl<'a> Arguments<'a> {
    /// # Errors
    /// What is wrong with the call, in words.
    ///
    /// # Safety
    /// Every tensor's data must hold its bytes, and nothing else may use them for `'a`.
    pub(super) unsafe fn of(call: &ffi::LinearCall) -> Result<Self, String> {
        let (mut x, mut weight, mut bias, mut out) = ([0; 3], [0; 2], [0], [0; 3]);
        // SAFETY: C++ gives as many sizes as there are dimensions.
        let (x, weight, bias, out) = unsafe {
            (
                Tensor::new::<f32>("x", &call.x, &mut x)?,
                Tensor::new::<u8>("weight", &call.weight, &mut weight)?,
                Tensor::optional::<f32>("bias", &call.bias, &mut bias)?,
                Tensor::new::<f32>("out", &call.out, &mut out)?,
            )
        };
        let &[batch, x_rows, columns] = x.sizes() else { return Err("x has no rows".into()) };
        let &[tiles, tile_bytes] = weight.sizes() else { return Err("weight has no tiles".into()) };
        let rows = usize::try_from(call.rows).map_err(|_| format!("there are {} rows", call.rows))?;
        if batch != 1 {
            return Err(format!("the batch is {batch}, not 1"));
        }
        bias.map_or(Ok(()), |bias| bias.must_be(&[rows]))?;
        out.must_be(&[1, x_rows, rows])?;
        [&x, &weight].into_iter().chain(&bias).try_for_each(|read| out.must_be_apart_from(read))?;
        // SAFETY: the caller's promise; what is written shares memory with nothing else.
        unsafe {
            Ok(Self {
                rows: x_rows,
                x: x.elements(),
                weight: Packed::new(weight.elements(), [tiles, tile_bytes], [rows, columns], call.bits)?,
                bias: bias.map(|bias| bias.elements()),
                out: out.elements_mut(),
            })
        }
    }
}
