//! The types of a tensor's elements.

use crate::{Error, Result};

/// The type of a tensor's elements, and how numbers become values of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Element {
    /// 32-bit floats, normalised by mean and std.
    #[default]
    F32,
    /// 16-bit floats, normalised by mean and std, rounded half to even.
    F16,
    /// Unsigned bytes: the normalised number, quantised.
    U8(Quantization),
    /// Signed bytes: the normalised number, quantised.
    I8(Quantization),
}

/// Affine quantisation: the number is `(q - zero_point) * scale`. Values are rounded half to even, as
/// `torch.quantize_per_tensor` does, and saturate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantization {
    /// What one step is worth.
    pub scale: f32,
    /// The value that stands for 0.
    pub zero_point: i32,
}

impl Quantization {
    /// The pixels themselves, 0..=255, where mean is 0 and std is 1.
    pub const PIXELS_U8: Self = Self { scale: 1.0 / 255.0, zero_point: 0 };
    /// The pixels less 128, where mean is 0 and std is 1.
    pub const PIXELS_I8: Self = Self { scale: 1.0 / 255.0, zero_point: -128 };
}

impl Element {
    /// The name as in ExecuTorch: `float32`, `float16`, `uint8` or `int8`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::F16 => "float16",
            Self::U8(_) => "uint8",
            Self::I8(_) => "int8",
        }
    }

    /// Whether the factors for normalising, and the values in half precision, are finite numbers, so that nothing becomes
    /// NaN. Single precision may overflow, bytes saturate.
    pub(super) fn holds(self, mean: f32, std: f32) -> bool {
        let (mean, std) = (f64::from(mean), f64::from(std));
        match self {
            Self::F32 => [1.0 / (255.0 * std), -mean / std].iter().all(|factor| (*factor as f32).is_finite()),
            Self::F16 => {
                [-mean / std, (1.0 - mean) / std].iter().all(|&value| half::f16::from_f64(value).is_finite())
            }
            Self::U8(_) | Self::I8(_) => true,
        }
    }

    pub(super) fn validate(self) -> Result<()> {
        let (quantization, range, expected) = match self {
            Self::F32 | Self::F16 => return Ok(()),
            Self::U8(quantization) => (quantization, 0..=255, "between 0 and 255"),
            Self::I8(quantization) => (quantization, -128..=127, "between -128 and 127"),
        };
        let refuse = |field, value, expected| Err(Error::InvalidSpec { field, value, expected });
        let Quantization { scale, zero_point } = quantization;
        if !(scale.is_finite() && scale > 0.0) {
            return refuse("quantization scale", scale.to_string(), "finite and above 0");
        }
        if !range.contains(&zero_point) {
            return refuse("zero point", zero_point.to_string(), expected);
        }
        Ok(())
    }
}
