//! The inner loops, for each instruction set, and which of them to use.
//!
//! All arithmetic is in whole numbers or rounds in the same places, so that every instruction set gives the same result
//! to the last bit.

mod chroma;
mod colour;
mod horizontal;
mod instruction_set;
mod interleave;
mod lanes;
mod linear;
mod pillow;
mod rows;
mod transpose;
mod vertical;
mod wide;

pub(crate) use colour::FixedYuvToRgb;
pub use instruction_set::InstructionSet;
pub(crate) use linear::LinearTap;
pub(crate) use rows::Rows;

use crate::taps::Taps;

/// Fraction bits of the 16-bit numbers between the passes: bytes, and what filters overshoot, fit.
pub(crate) const SAMPLE_BITS: u32 = 6;

fn round_shift(value: i32, bits: u32) -> i32 {
    (value + (1 << (bits - 1))) >> bits
}

fn saturate(value: i32) -> i16 {
    value.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

/// All kernels: name, arguments, the function in its module, and whether that has a twin in `wide` or is a plain loop
/// that the compiler turns into vectors by itself.
macro_rules! all_kernels {
    ($with:ident $($more:tt)*) => {
        $with! { [$($more)*]
            /// Mixes rows of bytes into one of samples. Weights are padded to an even number.
            mix_rows(rows: &Rows<'_>, weights: &[i16], out: &mut [i16]) = vertical::mix, wide;
            /// As [`Self::mix_rows`], of two channels that lie interleaved, each to a line of its own.
            mix_row_pairs(rows: &Rows<'_>, weights: &[i16], out: [&mut [i16]; 2]) = vertical::mix_pairs, wide;
            /// Mixes rows of P010 samples, every `step` bytes from `offset` on, into one of samples by way of `sums`.
            mix_p010(
                rows: &Rows<'_>, weights: &[i16], step: usize, offset: usize, sums: &mut [i32], out: &mut [i16]
            ) = vertical::mix_p010, plain;
            /// Mixes samples along a row. There must be as many beyond the span as weights are padded.
            mix_along(samples: &[i16], taps: &Taps, out: &mut [i16]) = horizontal::mix, wide;
            /// As [`Self::mix_along`], of two channels that lie interleaved, where [`Taps::packed_pairs`] is there.
            mix_pairs_along(samples: &[i16], taps: &Taps, out: [&mut [i16]; 2]) = horizontal::mix_pairs, wide;
            /// Converts Y, U and V samples to bytes of red, green and blue.
            yuv_to_rgb(lines: [&[i16]; 3], by: &FixedYuvToRgb, out: [&mut [u8]; 3]) = colour::yuv_to_rgb, wide;
            /// Mixes two rows of chroma bytes for [`Self::same_size`].
            mix_chroma(near: &[u8], far: &[u8], out: &mut [i16]) = chroma::mix, plain;
            /// As [`Self::mix_chroma`], of two channels that lie interleaved.
            mix_chroma_pairs(near: &[u8], far: &[u8], out: [&mut [i16]; 2]) = chroma::mix_pairs, wide;
            /// Widens a row of chroma bytes for [`Self::same_size`] without interpolation.
            widen_chroma(row: &[u8], out: &mut [i16]) = chroma::widen, plain;
            /// As [`Self::widen_chroma`], of two channels that lie interleaved.
            widen_chroma_pairs(row: &[u8], out: [&mut [i16]; 2]) = chroma::widen_pairs, plain;
            /// Converts a row of 4:2:0 at its own size. Chroma was mixed for it, or widened if `nearest`.
            same_size(
                y: &[u8], chroma: [&[i16]; 2], nearest: bool, by: &FixedYuvToRgb, out: [&mut [u8]; 3]
            ) = colour::same_size, wide;
            /// As [`Self::same_size`], to pixels of four bytes: red, green, blue, the other way around if `blue_first`,
            /// and 255.
            same_size_four(
                y: &[u8],
                chroma: [&[i16]; 2],
                nearest: bool,
                by: &FixedYuvToRgb,
                blue_first: bool,
                out: &mut [u8]
            ) = colour::same_size_four, wide;
            /// Rounds samples to bytes, halves up, or to the even byte.
            round(samples: &[i16], half_to_even: bool, out: &mut [u8]) = colour::round, plain;
            /// Pillow's vertical pass. Weights are padded to an even number.
            pillow_down(rows: &Rows<'_>, high: &[i16], low: &[i16], out: &mut [u8]) = pillow::vertical, wide;
            /// Pillow's horizontal pass.
            pillow_along(
                row: &[u8], pixel_stride: usize, channels: usize, taps: &Taps, out: &mut [u8]
            ) = pillow::horizontal, wide;
            /// OpenCV's first pass, along the row.
            linear_first_along(
                row: &[u8], pixel_stride: usize, channels: usize, taps: &[LinearTap], out: &mut [i16]
            ) = linear::first_along, plain;
            /// OpenCV's first pass, down the columns.
            linear_first_down(
                first: &[u8], second: &[u8], weights: [i16; 2], out: &mut [i16]
            ) = linear::first_down, plain;
            /// OpenCV's second pass, down the columns.
            linear_second_down(
                first: &[i16], second: &[i16], weights: [i16; 2], out: &mut [u8]
            ) = linear::second_down, plain;
            /// OpenCV's second pass, along the row.
            linear_second_along(
                row: &[i16], pixel_stride: usize, channels: usize, taps: &[LinearTap], out: &mut [u8]
            ) = linear::second_along, plain;
            /// Every `stride`th sample from `offset` on.
            pick16(values: &[i16], stride: usize, offset: usize, out: &mut [i16]) = lanes::pick16, plain;
            /// Every `stride`th byte from `offset` on.
            pick8(bytes: &[u8], stride: usize, offset: usize, out: &mut [u8]) = lanes::pick8, plain;
            /// Three lines of bytes as pixels of three.
            interleave3(lines: [&[u8]; 3], out: &mut [u8]) = lanes::interleave3, plain;
            /// Three lines of bytes as pixels of four, the last the same in all.
            interleave4(lines: [&[u8]; 3], fourth: u8, out: &mut [u8]) = interleave::four, wide;
            /// Bytes as floats, by scale and bias.
            floats(bytes: &[u8], by: [f32; 2], out: &mut [f32]) = lanes::floats, plain;
            /// Three lines of bytes as pixels of three floats.
            interleave_floats(
                lines: [&[u8]; 3], by: [[f32; 2]; 3], out: &mut [f32]
            ) = lanes::interleave_floats, plain;
            /// Turns 16 rows on their side.
            transpose16(rows: &[u8], columns: usize, out: &mut [u8]) = transpose::sixteen, wide;
            /// Columns of 16 bytes as rows of floats, `stride` apart.
            float_columns(
                columns: &[u8], rows: usize, by: [f32; 2], stride: usize, out: &mut [f32]
            ) = lanes::float_columns, plain;
        }
    };
}

macro_rules! declare {
    ([] $($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) = $module:ident::$function:ident, $kind:ident;)*) => {
        /// The kernels of one instruction set, which is there: [`Kernels::of`] makes sure.
        #[derive(Debug)]
        pub(crate) struct Kernels {
            $($name: unsafe fn($($type),*),)*
            /// Lanes of the vectors that [`Self::mix_along`] uses, for which [`Taps::pack`] is called.
            pub(crate) lanes: usize,
        }

        impl Kernels {
            $(
                $(#[$doc])*
                pub(crate) fn $name(&self, $($argument: $type),*) {
                    // SAFETY: the instruction set is there.
                    unsafe { (self.$name)($($argument),*) }
                }
            )*
        }

        static SCALAR: Kernels = Kernels { $($name: $module::$function,)* lanes: 0 };
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! implement {
    ([$wide:ident $features:literal $table:ident] $($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) = $module:ident::$function:ident, $kind:ident;)*) => {
        static $table: Kernels = {
            $(
                #[target_feature(enable = $features)]
                fn $name($($argument: $type),*) {
                    implement!(@call $kind $wide $module $function ($($argument),*))
                }
            )*
            Kernels { $($name,)* lanes: <wide::$wide as wide::Wide>::LANES }
        };
    };
    (@call plain $wide:ident $module:ident $function:ident ($($argument:ident),*)) => {
        $module::$function($($argument),*)
    };
    (@call wide $wide:ident $module:ident $function:ident ($($argument:ident),*)) => {
        // SAFETY: this function needs the same instruction set.
        unsafe { $module::wide::$function::<wide::$wide>($($argument),*) }
    };
}

all_kernels!(declare);
#[cfg(target_arch = "x86_64")]
all_kernels!(implement Sse41 "sse4.1" SSE41);
#[cfg(target_arch = "x86_64")]
all_kernels!(implement Avx2 "avx2" AVX2);
#[cfg(target_arch = "x86_64")]
all_kernels!(implement Avx512 "avx512f,avx512bw,avx512vl,avx512vnni,avx512vbmi" AVX512);
#[cfg(target_arch = "aarch64")]
all_kernels!(implement Neon "neon" NEON);
#[cfg(target_arch = "aarch64")]
all_kernels!(implement NeonDot "neon,dotprod" NEON_DOT);

impl Kernels {
    /// The kernels for `set`, or the scalar ones where it is not there.
    pub(crate) fn of(set: InstructionSet) -> &'static Self {
        if !set.is_available() {
            return &SCALAR;
        }
        match set {
            InstructionSet::Scalar => &SCALAR,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Sse41 => &SSE41,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => &AVX2,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => &AVX512,
            #[cfg(target_arch = "aarch64")]
            InstructionSet::Neon => &NEON,
            #[cfg(target_arch = "aarch64")]
            InstructionSet::NeonDot => &NEON_DOT,
            _ => &SCALAR,
        }
    }
}
