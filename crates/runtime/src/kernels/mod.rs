//! Kernels of ours, one file or folder an operator. `cpp/kernels` hands their calls over from ExecuTorch.
//!
//! The operators are defined in `export/src/nearside_export/ops`. Every method is loaded with these kernels beside
//! ExecuTorch's own ones: they stand in no registry of the process, so that no linker can drop them and no other copy of
//! this library is in their way.

mod attention;
mod embedding;
mod gated;
mod instruction_set;
mod lanes;
pub(crate) mod linear;
pub mod measured;
mod packed;
pub(crate) mod pool;
mod rms_norm;
mod rope_table;
mod rotary_attention;
mod scratch;
mod tensor;
#[cfg(test)]
mod testing;

pub(crate) use linear::scratch_bytes as linear_scratch_bytes;

use crate::bridge::ffi;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// For C++: runs `nearside::attention`, and gives what is wrong with the call, or nothing.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(crate) unsafe fn run_attention(call: &ffi::AttentionCall) -> String {
    // SAFETY: the caller's promise.
    problem(|| unsafe { attention::run(call) })
}

/// For C++: runs `nearside::linear`, and gives what is wrong with the call, or nothing.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(crate) unsafe fn run_linear(call: &ffi::LinearCall) -> String {
    // SAFETY: the caller's promise.
    problem(|| unsafe { linear::run(call) })
}

/// For C++: runs `nearside::embedding`, and gives what is wrong with the call, or nothing.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(crate) unsafe fn run_embedding(call: &ffi::EmbeddingCall) -> String {
    // SAFETY: the caller's promise.
    problem(|| unsafe { embedding::run(call) })
}

/// For C++: runs `nearside::rms_norm`, and gives what is wrong with the call, or nothing.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(crate) unsafe fn run_rms_norm(call: &ffi::RmsNormCall) -> String {
    // SAFETY: the caller's promise.
    problem(|| unsafe { rms_norm::run(call) })
}

/// For C++: runs `nearside::add_rms_norm`, and gives what is wrong with the call, or nothing.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(crate) unsafe fn run_add_rms_norm(call: &ffi::AddRmsNormCall) -> String {
    // SAFETY: the caller's promise.
    problem(|| unsafe { rms_norm::run_with_sum(call) })
}

/// For C++: runs `nearside::gated`, and gives what is wrong with the call, or nothing.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(crate) unsafe fn run_gated(call: &ffi::GatedCall) -> String {
    // SAFETY: the caller's promise.
    problem(|| unsafe { gated::run(call) })
}

/// For C++: runs `nearside::rope_table`, and gives what is wrong with the call, or nothing.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(crate) unsafe fn run_rope_table(call: &ffi::RopeTableCall) -> String {
    // SAFETY: the caller's promise.
    problem(|| unsafe { rope_table::run(call) })
}

/// For C++: runs `nearside::rotary_attention`, and gives what is wrong with the call, or nothing.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(crate) unsafe fn run_rotary_attention(call: &ffi::RotaryAttentionCall) -> String {
    // SAFETY: the caller's promise.
    problem(|| unsafe { rotary_attention::run(call) })
}

/// A panic would end the process: C++ is not to be unwound through.
fn problem(run: impl FnOnce() -> Result<(), String>) -> String {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => String::new(),
        Ok(Err(problem)) => problem,
        Err(_) => "the kernel panicked; this is a fault of Nearside".into(),
    }
}
