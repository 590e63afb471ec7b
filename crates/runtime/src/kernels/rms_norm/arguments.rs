//! A call's tensors and numbers, checked.

use crate::bridge::ffi;
use crate::kernels::tensor::{MAX_DIMS, Tensor};

/// A call whose shapes fit together and whose written tensors share no memory with any other.
pub(super) struct Arguments<'a> {
    pub(super) x: &'a [f32],
    pub(super) sum: Option<Sum<'a>>,
    /// `[D]`: it has elements if x has some.
    pub(super) weight: &'a [f32],
    pub(super) eps: f32,
    pub(super) out: &'a mut [f32],
}

/// What is added to x, and where the sum goes.
pub(super) struct Sum<'a> {
    pub(super) delta: &'a [f32],
    pub(super) out: &'a mut [f32],
}

impl<'a> Arguments<'a> {
    /// # Errors
    /// What is wrong with the call, in words.
    ///
    /// # Safety
    /// Every tensor's data must hold its bytes, and nothing else may use them for `'a`.
    pub(super) unsafe fn of(call: &ffi::RmsNormCall) -> Result<Self, String> {
        let (mut x, mut weight, mut out) = ([0; MAX_DIMS], [0; 1], [0; MAX_DIMS]);
        // SAFETY: C++ gives as many sizes as there are dimensions.
        let (x, weight, out) = unsafe {
            (
                Tensor::of_rows::<f32>("x", &call.x, &mut x)?,
                Tensor::new::<f32>("weight", &call.weight, &mut weight)?,
                Tensor::of_rows::<f32>("out", &call.out, &mut out)?,
            )
        };
        check(&x, &weight, &[&x, &weight], &[&out])?;
        // SAFETY: the caller's promise; what is written shares memory with nothing else.
        Ok(unsafe {
            Self {
                x: x.elements(),
                sum: None,
                weight: weight.elements(),
                eps: call.eps as f32,
                out: out.elements_mut(),
            }
        })
    }

    /// # Errors
    /// What is wrong with the call, in words.
    ///
    /// # Safety
    /// As for [`Arguments::of`].
    pub(super) unsafe fn with_sum(call: &ffi::AddRmsNormCall) -> Result<Self, String> {
        let (mut x, mut delta, mut weight) = ([0; MAX_DIMS], [0; MAX_DIMS], [0; 1]);
        let (mut sum, mut normed) = ([0; MAX_DIMS], [0; MAX_DIMS]);
        // SAFETY: C++ gives as many sizes as there are dimensions.
        let (x, delta, weight, sum, normed) = unsafe {
            (
                Tensor::of_rows::<f32>("x", &call.x, &mut x)?,
                Tensor::of_rows::<f32>("delta", &call.delta, &mut delta)?,
                Tensor::new::<f32>("weight", &call.weight, &mut weight)?,
                Tensor::of_rows::<f32>("sum", &call.sum, &mut sum)?,
                Tensor::of_rows::<f32>("normed", &call.normed, &mut normed)?,
            )
        };
        delta.must_be(x.sizes())?;
        check(&x, &weight, &[&x, &delta, &weight], &[&sum, &normed])?;
        // SAFETY: the caller's promise; what is written shares memory with nothing else.
        Ok(unsafe {
            Self {
                x: x.elements(),
                sum: Some(Sum { delta: delta.elements(), out: sum.elements_mut() }),
                weight: weight.elements(),
                eps: call.eps as f32,
                out: normed.elements_mut(),
            }
        })
    }
}

fn check(
    x: &Tensor<'_>,
    weight: &Tensor<'_>,
    read: &[&Tensor<'_>],
    outs: &[&Tensor<'_>],
) -> Result<(), String> {
    weight.must_be(&x.sizes()[x.sizes().len() - 1..])?;
    for (at, out) in outs.iter().enumerate() {
        out.must_be(x.sizes())?;
        read.iter().chain(&outs[at + 1..]).try_for_each(|other| out.must_be_apart_from(other))?;
    }
    Ok(())
}
