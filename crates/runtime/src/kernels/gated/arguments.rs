//! A call's tensors, checked.

use super::activation::Activation;
use crate::bridge::ffi;
use crate::kernels::tensor::{Tensor, text};

/// A call whose shapes fit together and whose out shares no memory with x.
pub(super) struct Arguments<'a> {
    /// `[S, 2 * width]`
    pub(super) x: &'a [f32],
    pub(super) width: usize,
    pub(super) activation: Activation,
    /// `[S, width]`
    pub(super) out: &'a mut [f32],
}

impl<'a> Arguments<'a> {
    /// # Errors
    /// What is wrong with the call, in words.
    ///
    /// # Safety
    /// Every tensor's data must hold its bytes, and nothing else may use them for `'a`.
    pub(super) unsafe fn of(call: &ffi::GatedCall) -> Result<Self, String> {
        let [mut x, mut out] = [[0; 3]; 2];
        // SAFETY: C++ gives as many sizes as there are dimensions, and a text's bytes.
        let (x, out, activation) = unsafe {
            (
                Tensor::new::<f32>("x", &call.x, &mut x)?,
                Tensor::new::<f32>("out", &call.out, &mut out)?,
                Activation::named(text("activation", &call.activation)?)?,
            )
        };
        let &[batch, rows, columns] = x.sizes() else { return Err("x has no rows".into()) };
        if batch != 1 {
            return Err(format!("the batch is {batch}, not 1"));
        }
        if !columns.is_multiple_of(2) {
            return Err(format!("x has {columns} columns, which are no two halves"));
        }
        out.must_be(&[1, rows, columns / 2])?;
        out.must_be_apart_from(&x)?;
        // SAFETY: the caller's promise; out shares memory with nothing else.
        Ok(unsafe { Self { x: x.elements(), width: columns / 2, activation, out: out.elements_mut() } })
    }
}
