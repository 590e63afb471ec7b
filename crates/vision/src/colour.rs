//! YUV to RGB: matrices, ranges and where the colour samples sit.

/// The YUV to RGB matrix, by the ITU-R recommendation that defines it.
///
/// It is the only thing that is taken from the recommendation: primaries and transfer function stay as they are, so
/// that HDR (PQ, HLG) is not tone-mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Matrix {
    /// BT.601 (section 2.5.1): JPEG, most Android cameras, standard-definition video. Android's `STANDARD_BT601_625`
    /// and `_525`, `MediaFormat.COLOR_STANDARD_BT601_PAL` and `_NTSC`, Apple's
    /// `kCVImageBufferYCbCrMatrix_ITU_R_601_4`.
    #[default]
    Bt601,
    /// BT.709 (section 3.2): high-definition video, most iOS video. `MediaFormat.COLOR_STANDARD_BT709`,
    /// `kCVImageBufferYCbCrMatrix_ITU_R_709_2`.
    Bt709,
    /// BT.2020 (table 4), non-constant luminance: HDR video, mostly of 10 bits. `MediaFormat.COLOR_STANDARD_BT2020`,
    /// `kCVImageBufferYCbCrMatrix_ITU_R_2020`.
    Bt2020,
}

/// Which of the code values are used. Those of 10 bits are four times as large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Range {
    /// Y 16..=235, U and V 16..=240: video. Android's `COLOR_RANGE_LIMITED`, Apple's `…VideoRange`.
    #[default]
    Limited,
    /// Y, U and V 0..=255 (10 bits: 0..=1023): JPEG (JFIF), most Android cameras. Android's `COLOR_RANGE_FULL`, Apple's
    /// `…FullRange`.
    Full,
}

/// Where the halved U and V samples sit among the columns of Y. Between its rows they sit in the middle.
///
/// The wrong one shifts colours by half a pixel of the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChromaSiting {
    /// In the middle of two columns: JPEG (JFIF), MPEG-1, most cameras. Apple's `kCVImageBufferChromaLocation_Center`,
    /// FFmpeg's `center`.
    #[default]
    Center,
    /// On the even columns: MPEG-2, H.264 and HEVC video unless they say otherwise. Apple's
    /// `kCVImageBufferChromaLocation_Left`, FFmpeg's `left`.
    Left,
}

/// Coefficients for `luma = luma_scale * Y + luma_bias` and the chroma sums, all on 0..=255, for Y, U and V on the
/// scale of 8 bits: of 10 bits, a quarter of the code value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct YuvToRgb {
    pub(crate) luma_scale: f64,
    pub(crate) luma_bias: f64,
    pub(crate) v_to_red: f64,
    pub(crate) u_to_green: f64,
    pub(crate) v_to_green: f64,
    pub(crate) u_to_blue: f64,
}

impl YuvToRgb {
    /// The coefficients for code values of `bits` bits, 8 or more.
    pub(crate) fn new(matrix: Matrix, range: Range, bits: u32) -> Self {
        // Kr and Kb: ITU-R BT.601-7 section 2.5.1, BT.709-6 section 3.2, BT.2020-2 table 4.
        let (kr, kb) = match matrix {
            Matrix::Bt601 => (0.299, 0.114),
            Matrix::Bt709 => (0.2126, 0.0722),
            Matrix::Bt2020 => (0.2627, 0.0593),
        };
        // ITU-T H.273 section 8.3: a limited range grows by a power of two with the bits, a full one up to the largest
        // code value, which is 255.75 quarters of 10 bits.
        let largest = 256.0 - f64::from(8 - bits.cast_signed()).exp2();
        let (luma_scale, luma_offset, chroma_scale) = match range {
            Range::Limited => (255.0 / 219.0, 16.0, 255.0 / 224.0),
            Range::Full => (255.0 / largest, 0.0, 255.0 / largest),
        };
        let kg = 1.0 - kr - kb;
        Self {
            luma_scale,
            luma_bias: -luma_offset * luma_scale,
            v_to_red: 2.0 * (1.0 - kr) * chroma_scale,
            u_to_green: -2.0 * kb * (1.0 - kb) / kg * chroma_scale,
            v_to_green: -2.0 * kr * (1.0 - kr) / kg * chroma_scale,
            u_to_blue: 2.0 * (1.0 - kb) * chroma_scale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATRICES: [Matrix; 3] = [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020];

    fn rgb(c: &YuvToRgb, [y, u, v]: [f64; 3]) -> [f64; 3] {
        let luma = c.luma_scale * y + c.luma_bias;
        let (u, v) = (u - 128.0, v - 128.0);
        [luma + c.v_to_red * v, luma + c.u_to_green * u + c.v_to_green * v, luma + c.u_to_blue * u]
    }

    fn assert_near(left: [f64; 3], right: [f64; 3]) {
        let near = left.iter().zip(right).all(|(left, right)| (left - right).abs() < 1e-9);
        assert!(near, "{left:?} {right:?}");
    }

    #[test]
    fn black_and_white_are_the_ends_of_every_range() {
        for matrix in MATRICES {
            for (range, bits, black, white) in [
                (Range::Limited, 8, 16.0, 235.0),
                (Range::Limited, 10, 64.0 / 4.0, 940.0 / 4.0),
                (Range::Full, 8, 0.0, 255.0),
                (Range::Full, 10, 0.0, 1023.0 / 4.0),
            ] {
                let coefficients = YuvToRgb::new(matrix, range, bits);
                assert_near(rgb(&coefficients, [black, 128.0, 128.0]), [0.0; 3]);
                assert_near(rgb(&coefficients, [white, 128.0, 128.0]), [255.0; 3]);
            }
        }
    }

    /// Encoding by the definition (`Y = Kr R + Kg G + Kb B`, `Cb = (B - Y) / 2 (1 - Kb)`, `Cr` alike) and decoding
    /// gives every primary back.
    #[test]
    fn primaries_survive_encoding_by_the_recommendation() {
        for (matrix, kr, kb) in
            [(Matrix::Bt601, 0.299, 0.114), (Matrix::Bt709, 0.2126, 0.0722), (Matrix::Bt2020, 0.2627, 0.0593)]
        {
            for [r, g, b] in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.2, 0.7, 0.4]] {
                let y = kr * r + (1.0 - kr - kb) * g + kb * b;
                let (cb, cr) = ((b - y) / (2.0 * (1.0 - kb)), (r - y) / (2.0 * (1.0 - kr)));
                let expected = [r, g, b].map(|value: f64| 255.0 * value);
                let limited = [219.0 * y + 16.0, 224.0 * cb + 128.0, 224.0 * cr + 128.0];
                assert_near(rgb(&YuvToRgb::new(matrix, Range::Limited, 8), limited), expected);
                assert_near(rgb(&YuvToRgb::new(matrix, Range::Limited, 10), limited), expected);
                let full = [255.0 * y, 255.0 * cb + 128.0, 255.0 * cr + 128.0];
                assert_near(rgb(&YuvToRgb::new(matrix, Range::Full, 8), full), expected);
                let full = [1023.0 * y, 1023.0 * cb + 512.0, 1023.0 * cr + 512.0].map(|code| code / 4.0);
                assert_near(rgb(&YuvToRgb::new(matrix, Range::Full, 10), full), expected);
            }
        }
    }
}
