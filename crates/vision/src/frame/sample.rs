//! How one stored sample becomes a number on 0..=255.

/// What lies at each offset of a [`Source`](super::Source).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    /// One byte.
    U8,
    /// A u16, little endian, at any alignment: the value is in its high 10 bits, the low 6 are ignored.
    P010,
    /// A u16, little endian, at any alignment, that holds all three channels: see [`rgb565`].
    Rgb565,
}

impl Sample {
    /// Bytes that are read for one sample.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::P010 | Self::Rgb565 => 2,
        }
    }

    /// Bits of the values.
    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::U8 | Self::Rgb565 => 8,
            Self::P010 => 10,
        }
    }
}

/// The code value of a P010 sample, 0..=1023.
pub(crate) fn p010(bytes: [u8; 2]) -> u16 {
    u16::from_le_bytes(bytes) >> 6
}

/// Red, green and blue of an RGB565 pixel: red in the high 5 bits, green in the middle 6, blue in the low 5.
///
/// Each is widened to 8 bits by repeating its high bits, so that the largest becomes 255, as Skia and libyuv do it.
pub(crate) fn rgb565(bytes: [u8; 2]) -> [u8; 3] {
    let pixel = u16::from_le_bytes(bytes);
    let [red, green, blue] = [pixel >> 11, pixel >> 5 & 0x3f, pixel & 0x1f];
    [red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2].map(|channel| channel as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p010_values_are_the_high_ten_bits() {
        assert_eq!(
            [[0, 0], [0x3f, 0], [0x40, 0], [0xc0, 0xff], [0xff, 0xff]].map(p010),
            [0, 0, 1, 1023, 1023]
        );
    }

    #[test]
    fn rgb565_widens_to_the_whole_range() {
        assert_eq!(rgb565([0xff, 0xff]), [255, 255, 255]);
        assert_eq!(rgb565([0, 0]), [0, 0, 0]);
        assert_eq!(rgb565(0xf800_u16.to_le_bytes()), [255, 0, 0]);
        assert_eq!(rgb565(0x07e0_u16.to_le_bytes()), [0, 255, 0]);
        assert_eq!(rgb565(0x001f_u16.to_le_bytes()), [0, 0, 255]);
        // 16 of 31, 33 of 63 and 1 of 31.
        assert_eq!(rgb565((16_u16 << 11 | 33 << 5 | 1).to_le_bytes()), [132, 134, 8]);
    }
}
