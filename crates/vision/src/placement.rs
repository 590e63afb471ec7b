//! Where the picture lands in the tensor: the geometry of each fit, in upright coordinates.

use std::ops::Range;

use crate::Fit;

/// One axis: the picture is resized from `source_len` to `scaled_len`, of which `len` pixels from `window` on are kept
/// and written at `dest` in the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AxisPlacement {
    pub(crate) source_len: u32,
    pub(crate) scaled_len: u64,
    pub(crate) window: u64,
    pub(crate) dest: u32,
    pub(crate) len: u32,
}

impl AxisPlacement {
    /// The whole axis, scaled to `len` pixels, in the middle of `out_len`.
    fn whole(source_len: u32, len: u32, out_len: u32) -> Self {
        Self { source_len, scaled_len: len.into(), window: 0, dest: (out_len - len) / 2, len }
    }

    /// The middle `len` pixels of the axis scaled to `scaled_len`.
    fn middle(source_len: u32, scaled_len: u64, len: u32) -> Self {
        let scaled_len = scaled_len.max(len.into());
        // Half to even, as Python's round in torchvision's center_crop.
        let window = ((scaled_len - u64::from(len)) as f64 / 2.0).round_ties_even() as u64;
        Self { source_len, scaled_len, window, dest: 0, len }
    }
}

impl AxisPlacement {
    /// What of it lies within `part` of the tensor, as seen from its start. It may be nothing.
    pub(crate) fn part(self, part: Range<u32>) -> Self {
        let start = self.dest.clamp(part.start, part.end);
        let end = (self.dest + self.len).clamp(start, part.end);
        let window = self.window + u64::from(start.saturating_sub(self.dest));
        Self { window, dest: start - part.start, len: end - start, ..self }
    }
}

/// Both axes of the upright picture: x, then y.
pub(crate) fn place(fit: Fit, source: [u32; 2], out: [u32; 2]) -> [AxisPlacement; 2] {
    match fit {
        Fit::Stretch => [0, 1].map(|axis| AxisPlacement::whole(source[axis], out[axis], out[axis])),
        Fit::Letterbox { .. } => {
            let ratio = |axis: usize| f64::from(out[axis]) / f64::from(source[axis]);
            let scale = ratio(0).min(ratio(1));
            [0, 1].map(|axis| {
                let scaled = (f64::from(source[axis]) * scale).round_ties_even() as u32;
                AxisPlacement::whole(source[axis], scaled.clamp(1, out[axis]), out[axis])
            })
        }
        Fit::CenterCrop { fraction } => {
            let scaled = center_crop_scale(fraction, source, out);
            [0, 1].map(|axis| AxisPlacement::middle(source[axis], scaled[axis], out[axis]))
        }
    }
}

/// The size to which the whole picture is resized before its centre is cut out: timm's `transforms_imagenet_eval`.
fn center_crop_scale(fraction: f32, source: [u32; 2], out: [u32; 2]) -> [u64; 2] {
    // The fraction is an f32 of a decimal such as 0.8 and may lie just above it; do not lose a pixel to that.
    let target = out.map(|len| (f64::from(len) / f64::from(fraction) * (1.0 + 1e-6)).floor());
    if out[0] == out[1] {
        // torchvision's Resize(n): the shorter side becomes n, the longer is cut down to whole pixels.
        let shorter = u64::from(source[0].min(source[1]));
        source.map(|len| (target[0] as u64).saturating_mul(len.into()) / shorter)
    } else {
        // timm's ResizeKeepRatio.
        let ratio = (f64::from(source[0]) / target[0]).min(f64::from(source[1]) / target[1]);
        source.map(|len| (f64::from(len) / ratio).round_ties_even() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lens(fit: Fit, source: [u32; 2], out: [u32; 2]) -> [(u64, u64, u32, u32); 2] {
        place(fit, source, out).map(|axis| (axis.scaled_len, axis.window, axis.dest, axis.len))
    }

    #[test]
    fn letterbox_keeps_the_shape_and_centres_it() {
        let fit = Fit::Letterbox { pad: [0; 3] };
        assert_eq!(lens(fit, [1280, 720], [640, 640]), [(640, 0, 0, 640), (360, 0, 140, 360)]);
        assert_eq!(lens(fit, [720, 1280], [640, 640]), [(360, 0, 140, 360), (640, 0, 0, 640)]);
    }

    #[test]
    fn an_odd_bar_is_wider_at_the_bottom() {
        let fit = Fit::Letterbox { pad: [0; 3] };
        assert_eq!(lens(fit, [100, 51], [100, 100])[1], (51, 0, 24, 51));
    }

    #[test]
    fn a_letterboxed_line_keeps_one_pixel() {
        let fit = Fit::Letterbox { pad: [0; 3] };
        assert_eq!(lens(fit, [100_000, 1], [10, 10]), [(10, 0, 0, 10), (1, 0, 4, 1)]);
    }

    #[test]
    fn center_crop_is_resize_256_then_crop_224_as_in_torchvision() {
        let fit = Fit::CenterCrop { fraction: 0.875 };
        // 600x400: Resize(256) gives 384x256, CenterCrop(224) starts at 80 and 16.
        assert_eq!(lens(fit, [600, 400], [224, 224]), [(384, 80, 0, 224), (256, 16, 0, 224)]);
        // 451x300: the longer side is int(256 * 451 / 300) = 384, and 256 * 453 / 300 = 386.56 becomes 386.
        assert_eq!(lens(fit, [451, 300], [224, 224])[0], (384, 80, 0, 224));
        assert_eq!(lens(fit, [453, 300], [224, 224])[0], (386, 81, 0, 224));
    }

    #[test]
    fn a_fraction_that_divides_evenly_loses_no_pixel_to_its_binary_form() {
        for (fraction, scaled) in [(0.8, 280), (0.7, 320), (0.875, 256), (0.9, 248), (0.95, 235), (1.0, 224)]
        {
            assert_eq!(center_crop_scale(fraction, [100, 100], [224, 224]), [scaled; 2], "{fraction}");
        }
    }

    #[test]
    fn a_tiny_fraction_of_a_line_does_not_overflow() {
        for fraction in [f32::MIN_POSITIVE, 1e-20, 1e-6] {
            for out in [[224, 224], [224, 100]] {
                for axis in place(Fit::CenterCrop { fraction }, [u32::MAX, 1], out) {
                    assert!(
                        axis.window.saturating_add(axis.len.into()) <= axis.scaled_len.max(axis.len.into())
                    );
                }
            }
        }
    }
}
