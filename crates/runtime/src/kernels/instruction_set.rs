//! Which vector instructions the kernels use.

/// Vector instructions. The best that the processor has is taken; choosing one is for tests and measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum InstructionSet {
    /// None: portable loops, which say what the others compute.
    Scalar,
    /// x86-64 with AVX2, FMA and F16C.
    Avx2,
    /// x86-64 with AVX-512 F, BW, VL and VNNI, beside what [`Self::Avx2`] has.
    Avx512,
    /// AArch64, where it is always there.
    Neon,
    /// AArch64 with dot products of bytes (FEAT_DotProd).
    NeonDot,
}

impl InstructionSet {
    /// All of them, from the slowest on.
    pub(super) const ALL: [Self; 5] = [Self::Scalar, Self::Avx2, Self::Avx512, Self::Neon, Self::NeonDot];

    /// Whether this processor has it.
    pub(super) fn is_available(self) -> bool {
        if cfg!(miri) {
            return self == Self::Scalar;
        }
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("fma")
                    && std::arch::is_x86_feature_detected!("f16c")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("avx512vl")
                    && std::arch::is_x86_feature_detected!("avx512vnni")
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => true,
            #[cfg(target_arch = "aarch64")]
            Self::NeonDot => std::arch::is_aarch64_feature_detected!("dotprod"),
            _ => false,
        }
    }

    /// The best that this processor has.
    pub(super) fn best() -> Self {
        Self::ALL.into_iter().rev().find(|set| set.is_available()).unwrap_or(Self::Scalar)
    }
}
