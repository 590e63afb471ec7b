//! One function an instruction set, of one that is generic over it.

/// Defines a function that takes an [`InstructionSet`](crate::kernels::instruction_set::InstructionSet), which must be
/// there, and calls the generic function with it, compiled for it. The generic function and all that it calls must be
/// `#[inline(always)]`, and no closure may have vectors: it would be compiled without them.
macro_rules! dispatch {
    ($(#[$doc:meta])* $visibility:vis unsafe fn $name:ident($($argument:ident: $type:ty),* $(,)?) = $generic:ident) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        $visibility unsafe fn $name(set: $crate::kernels::instruction_set::InstructionSet, $($argument: $type),*) {
            use $crate::kernels::lanes;

            #[cfg(target_arch = "x86_64")]
            $crate::kernels::lanes::compiled!(avx2, Avx2, "avx2,fma,f16c", $generic($($argument: $type),*));
            #[cfg(target_arch = "x86_64")]
            $crate::kernels::lanes::compiled!(
                avx512, Avx512, "avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512vnni", $generic($($argument: $type),*)
            );
            #[cfg(target_arch = "aarch64")]
            $crate::kernels::lanes::compiled!(neon, Neon, "neon", $generic($($argument: $type),*));
            #[cfg(target_arch = "aarch64")]
            $crate::kernels::lanes::compiled!(neon_dot, NeonDot, "neon,dotprod", $generic($($argument: $type),*));

            // SAFETY: the caller's promise.
            unsafe {
                match set {
                    #[cfg(target_arch = "x86_64")]
                    $crate::kernels::instruction_set::InstructionSet::Avx2 => avx2($($argument),*),
                    #[cfg(target_arch = "x86_64")]
                    $crate::kernels::instruction_set::InstructionSet::Avx512 => avx512($($argument),*),
                    #[cfg(target_arch = "aarch64")]
                    $crate::kernels::instruction_set::InstructionSet::Neon => neon($($argument),*),
                    #[cfg(target_arch = "aarch64")]
                    $crate::kernels::instruction_set::InstructionSet::NeonDot => neon_dot($($argument),*),
                    _ => $generic::<lanes::Scalar>($($argument),*),
                }
            }
        }
    };
}

/// The generic function for one instruction set.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! compiled {
    ($name:ident, $lanes:ident, $features:literal, $generic:ident($($argument:ident: $type:ty),*)) => {
        #[allow(clippy::too_many_arguments)]
        #[target_feature(enable = $features)]
        unsafe fn $name($($argument: $type),*) {
            // SAFETY: the caller's promise.
            unsafe { $generic::<lanes::$lanes>($($argument),*) }
        }
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(in crate::kernels) use compiled;
pub(in crate::kernels) use dispatch;
