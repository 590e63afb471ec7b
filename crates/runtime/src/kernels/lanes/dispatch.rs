//! One function an instruction set, of one that is generic over it.

/// Defines a function that takes an [`crate::kernels::instruction_set::InstructionSet`] and calls the generic function with it, compiled for it.
/// The generic function and all that it calls must be `#[inline(always)]`.
macro_rules! dispatch {
    ($(#[$doc:meta])* $visibility:vis unsafe fn $name:ident($($argument:ident: $type:ty),* $(,)?) = $generic:ident) => {
        $(#[$doc])*
        $visibility unsafe fn $name(set: $crate::kernels::instruction_set::InstructionSet, $($argument: $type),*) {
            use $crate::kernels::lanes;
            match set {
                // SAFETY: the caller's promise.
                _ => unsafe { $generic::<lanes::Scalar>($($argument),*) },
            }
        }
    };
}
pub(in crate::kernels) use dispatch;
