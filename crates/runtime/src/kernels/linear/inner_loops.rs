//! The inner loops of each instruction set.

use super::activations::{MOST_ROWS, Panel};
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::scalar;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernels::instruction_set::InstructionSet;
use crate::kernels::packed::{BLOCK, Scheme, TILE};

/// Multiplies the rows of a panel by a tile; `out` has as many rows. It needs its instruction set.
type Multiply = unsafe fn(tile: &[u8], panel: Panel<'_>, out: &mut [[f32; TILE]]);

/// The inner loops of one instruction set, which is there: [`InnerLoops::available`] makes sure.
pub(super) struct InnerLoops {
    /// For panels of 1 row, 2 and so on.
    four: &'static [Multiply],
    four_with_offsets: &'static [Multiply],
    eight: &'static [Multiply],
    quantise: unsafe fn(&[f32; BLOCK], &mut [i8; BLOCK]) -> (f32, i32),
}

static SCALAR: InnerLoops = InnerLoops {
    four: &[scalar::four::<false>],
    four_with_offsets: &[scalar::four::<true>],
    eight: &[scalar::eight],
    quantise: scalar::quantise,
};

/// The inner loops in a module that has `four::<ROWS, OFFSETS>`, `eight::<ROWS>` and `quantise`; `more` are the functions'
/// other parameters.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! inner_loops {
    ($module:ident, $($rows:literal)* $(, $more:ty)?) => {
        inner_loops!(@ $module, [$($rows)*], ($($more)?))
    };
    (@ $module:ident, [$($rows:literal)*], $more:tt) => {
        InnerLoops {
            four: &[$(inner_loops!(# $module::four, [$rows, false], $more)),*],
            four_with_offsets: &[$(inner_loops!(# $module::four, [$rows, true], $more)),*],
            eight: &[$(inner_loops!(# $module::eight, [$rows], $more)),*],
            quantise: $module::quantise,
        }
    };
    (# $module:ident::$function:ident, [$($number:literal),*], ($($more:ty)?)) => {
        $module::$function::<$($number,)* $($more)?>
    };
}

#[cfg(target_arch = "x86_64")]
static AVX2: InnerLoops = inner_loops!(avx2, 1 2 3 4);
#[cfg(target_arch = "x86_64")]
static AVX512: InnerLoops = inner_loops!(avx512, 1 2 3 4 5 6 7 8);
#[cfg(target_arch = "aarch64")]
static NEON: InnerLoops = inner_loops!(neon, 1 2, neon::Widening);
#[cfg(target_arch = "aarch64")]
static NEON_DOT: InnerLoops = inner_loops!(neon, 1 2 3 4, neon::Dot);

#[cfg(target_arch = "aarch64")]
static NEON_MATRIX: InnerLoops = inner_loops!(neon, 1 2 3 4 5 6 7 8, neon::Matrix);

impl InnerLoops {
    /// Those that this processor has, with their names, from the slowest on.
    pub(super) fn available() -> impl DoubleEndedIterator<Item = (&'static str, &'static Self)> {
        let has = InstructionSet::is_available;
        let all = [
            (true, "scalar", &SCALAR),
            #[cfg(target_arch = "x86_64")]
            (has(InstructionSet::Avx2), "avx2", &AVX2),
            #[cfg(target_arch = "x86_64")]
            (has(InstructionSet::Avx512), "avx512", &AVX512),
            #[cfg(target_arch = "aarch64")]
            (has(InstructionSet::Neon), "neon", &NEON),
            #[cfg(target_arch = "aarch64")]
            (has(InstructionSet::NeonDot), "neondot", &NEON_DOT),
            #[cfg(target_arch = "aarch64")]
            (
                has(InstructionSet::NeonDot) && std::arch::is_aarch64_feature_detected!("i8mm"),
                "neonmatrix",
                &NEON_MATRIX,
            ),
        ];
        all.into_iter().filter(|&(available, ..)| available).map(|(_, name, loops)| (name, loops))
    }

    /// The best that this processor has.
    pub(super) fn best() -> &'static Self {
        Self::available().next_back().map_or(&SCALAR, |(_, loops)| loops)
    }

    /// Rows of the largest panel that [`Self::multiply`] takes.
    pub(super) fn rows(&self) -> usize {
        self.eight.len()
    }

    /// Quantises a block of x: gives its scale and the sum of its values.
    pub(super) fn quantise(&self, x: &[f32; BLOCK], values: &mut [i8; BLOCK]) -> (f32, i32) {
        // SAFETY: the instruction set is there.
        unsafe { (self.quantise)(x, values) }
    }

    /// Multiplies the rows of a panel by a tile: the first rows of `out` are theirs.
    pub(super) fn multiply(
        &self,
        scheme: Scheme,
        tile: &[u8],
        panel: Panel<'_>,
        out: &mut [[f32; TILE]; MOST_ROWS],
    ) {
        let by_rows = match scheme {
            Scheme::Four => self.four,
            Scheme::FourWithOffsets => self.four_with_offsets,
            Scheme::Eight => self.eight,
        };
        let blocks = panel.scales.len();
        assert_eq!(scheme.tile_bytes(blocks / panel.rows * BLOCK), Some(tile.len()));
        assert_eq!([panel.values.len(), panel.sums.len(), panel.corrections.len()], [blocks; 3]);
        // SAFETY: the instruction set is there, the tile has the blocks of the panel's rows, and out these rows.
        unsafe { by_rows[panel.rows - 1](tile, panel, &mut out[..panel.rows]) }
    }
}
