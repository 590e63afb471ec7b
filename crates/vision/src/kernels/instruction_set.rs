//! Which vector instructions are used.

/// Vector instructions for the inner loops. Results are the same with each; the best that the processor has is taken by
/// itself, and choosing one is for tests and measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum InstructionSet {
    /// None: portable loops.
    Scalar,
    /// x86-64 with SSE4.1.
    Sse41,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX-512 F, BW, VL, VNNI and VBMI.
    Avx512,
    /// AArch64, where it is always there.
    Neon,
    /// AArch64 with dot products of bytes (FEAT_DotProd).
    NeonDot,
}

impl InstructionSet {
    /// All of them, from the slowest on.
    pub const ALL: [Self; 6] =
        [Self::Scalar, Self::Sse41, Self::Avx2, Self::Avx512, Self::Neon, Self::NeonDot];

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        if cfg!(miri) {
            return self == Self::Scalar;
        }
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Sse41 => std::arch::is_x86_feature_detected!("sse4.1"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("avx512vl")
                    && std::arch::is_x86_feature_detected!("avx512vnni")
                    && std::arch::is_x86_feature_detected!("avx512vbmi")
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => true,
            #[cfg(target_arch = "aarch64")]
            Self::NeonDot => std::arch::is_aarch64_feature_detected!("dotprod"),
            _ => false,
        }
    }

    /// The best that this processor has.
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|set| set.is_available()).unwrap_or(Self::Scalar)
    }
}
