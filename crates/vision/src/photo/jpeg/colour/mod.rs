//! The colours of a JPEG's components, and their way to RGB.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;

use super::frame::Frame;
use super::processor::Processor;
use super::tables::Tables;

/// What the components are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colours {
    Grey,
    Rgb,
    /// BT.601, full range; ITU-T T.871.
    YCbCr,
    /// Inverted, as Adobe's programs write it; Pillow reads all CMYK files so.
    Cmyk,
    /// C, M and Y coded as YCbCr.
    Ycck,
}

impl Colours {
    /// As libjpeg guesses it.
    pub(super) fn of(frame: &Frame, tables: &Tables) -> Self {
        let mut ids = [0; 4];
        ids.iter_mut().zip(&frame.components).for_each(|(id, component)| *id = component.id);
        match (frame.components.len(), tables.adobe_transform) {
            (1, _) => Self::Grey,
            (3, _) if tables.is_jfif => Self::YCbCr,
            (3, Some(0)) => Self::Rgb,
            (3, None) if ids == *b"RGB\0" => Self::Rgb,
            (3, _) => Self::YCbCr,
            (_, None | Some(0)) => Self::Cmyk,
            (_, Some(_)) => Self::Ycck,
        }
    }

    /// Turns a row of samples of each component into RGB.
    #[inline(always)]
    pub(super) fn to_rgb(self, processor: impl Processor, rows: [&[u8]; 4], out: &mut [u8]) {
        let out = out.as_chunks_mut::<3>().0;
        let [first, second, third, fourth] = rows;
        let Some(first) = first.get(..out.len()) else { return };
        if self == Self::Grey {
            out.iter_mut().zip(first).for_each(|(out, &level)| *out = [level; 3]);
            return;
        }
        let (Some(second), Some(third)) = (second.get(..out.len()), third.get(..out.len())) else { return };
        let three = first.iter().zip(second).zip(third);
        match self {
            Self::Rgb => out.iter_mut().zip(three).for_each(|(out, ((&r, &g), &b))| *out = [r, g, b]),
            Self::Grey | Self::YCbCr => {
                let done = processor.rgb_of_ycbcr(first, second, third, out);
                let (out, three) = (out.get_mut(done..).unwrap_or_default(), three.skip(done));
                out.iter_mut().zip(three).for_each(|(out, ((&y, &cb), &cr))| *out = rgb_of_ycbcr(y, cb, cr));
            }
            Self::Cmyk => {
                for ((out, ((&c, &m), &y)), &k) in out.iter_mut().zip(three).zip(fourth) {
                    *out = [c, m, y].map(|ink| over_black(255 - ink, k));
                }
            }
            Self::Ycck => {
                for ((out, ((&y, &cb), &cr)), &k) in out.iter_mut().zip(three).zip(fourth) {
                    // Twice inverted: by YCCK, and by Adobe.
                    *out = rgb_of_ycbcr(y, cb, cr).map(|ink| over_black(ink, k));
                }
            }
        }
    }
}

/// `ycc_rgb_convert` of libjpeg: constants of ITU-T T.871 section 7 with 16 fraction bits.
#[inline(always)]
fn rgb_of_ycbcr(y: u8, cb: u8, cr: u8) -> [u8; 3] {
    const HALF: i32 = 1 << 15;
    let (y, cb, cr) = (i32::from(y), i32::from(cb) - 128, i32::from(cr) - 128);
    let r = y + ((91_881 * cr + HALF) >> 16);
    let g = y + ((-22_554 * cb - 46_802 * cr + HALF) >> 16);
    let b = y + ((116_130 * cb + HALF) >> 16);
    [r, g, b].map(|value| value.clamp(0, 255) as u8)
}

/// `cmyk2rgb` of Pillow: an ink, as much of it as there is, over what black leaves (`white`).
#[inline(always)]
fn over_black(ink: u8, white: u8) -> u8 {
    let product = u32::from(ink) * u32::from(white) + 128;
    white.saturating_sub((((product >> 8) + product) >> 8) as u8)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::processor::{Avx2, Plain};
    use super::*;

    #[test]
    fn vectors_give_the_same_colours_for_all_chroma() {
        let Some(avx2) = Avx2::detect() else { return };
        // An odd end besides.
        let chroma: Vec<u8> = (0..=255).chain([7, 99, 250]).collect();
        for y in [0, 1, 60, 127, 128, 200, 254, 255] {
            for cb in 0..=255 {
                let (y, cb) = (vec![y; chroma.len()], vec![cb; chroma.len()]);
                let [mut plain, mut fast] = [(); 2].map(|()| vec![0; chroma.len() * 3]);
                Colours::YCbCr.to_rgb(Plain, [&y, &cb, &chroma, &[]], &mut plain);
                Colours::YCbCr.to_rgb(avx2, [&y, &cb, &chroma, &[]], &mut fast);
                assert!(plain == fast, "y {}, cb {}", y[0], cb[0]);
            }
        }
    }
}
