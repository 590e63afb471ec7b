//! YUV to RGB: matrices and ranges.

/// The YUV to RGB matrix, by the ITU-R recommendation that defines it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Matrix {
    /// BT.601: JPEG, most Android cameras, standard-definition video.
    #[default]
    Bt601,
    /// BT.709: high-definition video, most iOS video.
    Bt709,
}

/// Which of the 256 code values are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Range {
    /// Y 16..=235, U and V 16..=240: video.
    #[default]
    Limited,
    /// Y, U and V 0..=255: JPEG (JFIF), most Android cameras.
    Full,
}

/// Coefficients for `y = luma_scale * Y + luma_bias` and the chroma sums, all on 0..=255.
#[derive(Clone, Copy, Debug)]
pub(crate) struct YuvToRgb {
    pub(crate) luma_scale: f32,
    pub(crate) luma_bias: f32,
    pub(crate) v_to_red: f32,
    pub(crate) u_to_green: f32,
    pub(crate) v_to_green: f32,
    pub(crate) u_to_blue: f32,
}

impl YuvToRgb {
    pub(crate) fn new(matrix: Matrix, range: Range) -> Self {
        // Kr and Kb: ITU-R BT.601-7 section 2.5.1 and BT.709-6 section 3.2.
        let (kr, kb) = match matrix {
            Matrix::Bt601 => (0.299_f64, 0.114_f64),
            Matrix::Bt709 => (0.2126, 0.0722),
        };
        let (luma_scale, luma_offset, chroma_scale) = match range {
            Range::Limited => (255.0 / 219.0, 16.0, 255.0 / 224.0),
            Range::Full => (1.0, 0.0, 1.0),
        };
        let kg = 1.0 - kr - kb;
        Self {
            luma_scale: luma_scale as f32,
            luma_bias: (-luma_offset * luma_scale) as f32,
            v_to_red: (2.0 * (1.0 - kr) * chroma_scale) as f32,
            u_to_green: (-2.0 * kb * (1.0 - kb) / kg * chroma_scale) as f32,
            v_to_green: (-2.0 * kr * (1.0 - kr) / kg * chroma_scale) as f32,
            u_to_blue: (2.0 * (1.0 - kb) * chroma_scale) as f32,
        }
    }
}
