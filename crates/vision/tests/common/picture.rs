//! A picture whose pixels are known by definition, in every layout.

use nearside_vision::{BufferLayout, ChromaSiting, Matrix, PixelFormat, Range, Rotation};

/// Code values of Y, U and V, with U and V at half the resolution.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Bits of a code value.
    pub(crate) bits: u32,
    pub(crate) planes: [Vec<u16>; 3],
}

/// How Y, U and V are to be seen.
pub(crate) type Colour = (Matrix, Range, ChromaSiting);

impl Picture {
    /// Every code value may occur, colours that RGB cannot show among them.
    pub(crate) fn noise(width: usize, height: usize, bits: u32) -> Self {
        Self::new(width, height, bits, |_, hash| (hash % (1 << bits)) as u16)
    }

    /// Only colours that RGB can show, in every matrix and range.
    pub(crate) fn mild_noise(width: usize, height: usize, bits: u32) -> Self {
        let unit = 1 << (bits - 8);
        Self::new(width, height, bits, move |plane, hash| {
            let (from, levels) = if plane == 0 { (80, 80) } else { (108, 40) };
            (from * unit + hash % (levels * unit)) as u16
        })
    }

    fn new(width: usize, height: usize, bits: u32, value: impl Fn(usize, u32) -> u16) -> Self {
        let halved = width.div_ceil(2) * height.div_ceil(2);
        let mut state = 0x9e37_79b9_u32 ^ (width * 31 + height) as u32;
        let planes = [width * height, halved, halved].map(|len| len);
        let planes = [0, 1, 2].map(|plane| {
            (0..planes[plane])
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    value(plane, state >> 12)
                })
                .collect()
        });
        Self { width, height, bits, planes }
    }

    /// The noise that a layout can hold.
    pub(crate) fn of(layout: BufferLayout, width: usize, height: usize) -> Self {
        Self::noise(width, height, bits(layout))
    }

    pub(crate) fn chroma_columns(&self) -> usize {
        self.width.div_ceil(2)
    }

    /// The picture in one buffer, without padding. Layouts that are not YUV get its RGB in BT.601, limited range.
    pub(crate) fn pack(&self, layout: BufferLayout) -> Vec<u8> {
        if layout.format().is_yuv() {
            return self.pack_yuv(layout);
        }
        let colour = (Matrix::Bt601, Range::Limited, ChromaSiting::Center);
        let rgb: Vec<u8> = self.rgb(colour, false).iter().map(|value| value.round() as u8).collect();
        rgb.chunks(3).flat_map(|pixel| pack_pixel(layout, [pixel[0], pixel[1], pixel[2]])).collect()
    }

    fn pack_yuv(&self, layout: BufferLayout) -> Vec<u8> {
        let [y, u, v] = &self.planes;
        let pairs = |first: &[u16], second: &[u16]| -> Vec<u16> {
            first.iter().zip(second).flat_map(|(&first, &second)| [first, second]).collect()
        };
        let bytes =
            |planes: &[&[u16]]| -> Vec<u8> { planes.concat().iter().map(|&code| code as u8).collect() };
        match layout {
            BufferLayout::I420 => bytes(&[y, u, v]),
            BufferLayout::Yv12 => bytes(&[y, v, u]),
            BufferLayout::Nv12 => bytes(&[y, &pairs(u, v)]),
            BufferLayout::Nv21 => bytes(&[y, &pairs(v, u)]),
            BufferLayout::P010 => p010_bytes(&[&y[..], &pairs(u, v)].concat()),
            BufferLayout::Yuyv => {
                let columns = self.chroma_columns();
                let mut packed = Vec::new();
                for (row, luma) in y.chunks(self.width).enumerate() {
                    for (column, pair) in luma.chunks(2).enumerate() {
                        let at = row / 2 * columns + column;
                        // The second of an odd last pair is not seen.
                        packed.extend(
                            [pair[0], u[at], *pair.get(1).unwrap_or(&255), v[at]].map(|code| code as u8),
                        );
                    }
                }
                packed
            }
            _ => unreachable!("not a YUV layout"),
        }
    }

    /// The RGB of every pixel of the packed picture, by definition, on 0..=255.
    pub(crate) fn shown(&self, layout: BufferLayout, colour: Colour) -> Vec<f64> {
        if layout.format().is_yuv() {
            return self.rgb(colour, layout == BufferLayout::Yuyv);
        }
        let packed = self.pack(layout);
        let unpack = |pixel: &[u8]| match layout {
            BufferLayout::Rgb | BufferLayout::Rgba => [pixel[0], pixel[1], pixel[2]],
            BufferLayout::Bgr | BufferLayout::Bgra => [pixel[2], pixel[1], pixel[0]],
            BufferLayout::Argb => [pixel[1], pixel[2], pixel[3]],
            BufferLayout::Gray8 => [pixel[0]; 3],
            BufferLayout::Rgb565 => {
                let pixel = u32::from(pixel[0]) | u32::from(pixel[1]) << 8;
                let [red, green, blue] = [pixel >> 11, pixel >> 5 & 63, pixel & 31];
                [red * 8 + red / 4, green * 4 + green / 16, blue * 8 + blue / 4].map(|value| value as u8)
            }
            _ => unreachable!("a YUV layout"),
        };
        let size = packed.len() / (self.width * self.height);
        packed.chunks(size).flat_map(unpack).map(f64::from).collect()
    }

    /// Upsamples U and V bilinearly, converts by the recommendation and clamps. YUYV has chroma of its own in every
    /// row.
    fn rgb(&self, (matrix, range, siting): Colour, chroma_in_every_row: bool) -> Vec<f64> {
        let (kr, kb) = match matrix {
            Matrix::Bt601 => (0.299, 0.114),
            Matrix::Bt709 => (0.2126, 0.0722),
            Matrix::Bt2020 => (0.2627, 0.0593),
        };
        let unit = f64::from(1_u32 << (self.bits - 8));
        let largest = f64::from((1_u32 << self.bits) - 1);
        let (black, luma_range, chroma_range) = match range {
            Range::Limited => (16.0 * unit, 219.0 * unit, 224.0 * unit),
            Range::Full => (0.0, largest, largest),
        };
        let mut rgb = Vec::new();
        for y in 0..self.height {
            for x in 0..self.width {
                let luma = (f64::from(self.planes[0][y * self.width + x]) - black) / luma_range;
                let column = match siting {
                    ChromaSiting::Center => (x as f64 - 0.5) / 2.0,
                    ChromaSiting::Left => x as f64 / 2.0,
                };
                let row = if chroma_in_every_row { (y / 2) as f64 } else { (y as f64 - 0.5) / 2.0 };
                let [cb, cr] =
                    [1, 2].map(|plane| (self.chroma(plane, column, row) - 128.0 * unit) / chroma_range);
                let red = luma + 2.0 * (1.0 - kr) * cr;
                let blue = luma + 2.0 * (1.0 - kb) * cb;
                let green = (luma - kr * red - kb * blue) / (1.0 - kr - kb);
                rgb.extend([red, green, blue].map(|value| (255.0 * value).clamp(0.0, 255.0)));
            }
        }
        rgb
    }

    /// The value between the samples of a chroma plane, which go on beyond its edge as they are there.
    fn chroma(&self, plane: usize, column: f64, row: f64) -> f64 {
        let columns = self.chroma_columns();
        let rows = self.planes[plane].len() / columns;
        let (x, y) = (column.clamp(0.0, (columns - 1) as f64), row.clamp(0.0, (rows - 1) as f64));
        let at = |x: f64, y: f64| f64::from(self.planes[plane][y as usize * columns + x as usize]);
        let along = |y: f64| at(x.floor(), y) * (1.0 - x.fract()) + at(x.ceil(), y) * x.fract();
        along(y.floor()) * (1.0 - y.fract()) + along(y.ceil()) * y.fract()
    }
}

/// Bits of a code value of the layout.
pub(crate) fn bits(layout: BufferLayout) -> u32 {
    if layout.format() == PixelFormat::P010 { 10 } else { 8 }
}

/// Codes of 10 bits as P010 stores them.
pub(crate) fn p010_bytes(codes: &[u16]) -> Vec<u8> {
    codes.iter().flat_map(|code| (code << 6).to_le_bytes()).collect()
}

fn pack_pixel(layout: BufferLayout, [red, green, blue]: [u8; 3]) -> Vec<u8> {
    match layout {
        BufferLayout::Rgb => vec![red, green, blue],
        BufferLayout::Bgr => vec![blue, green, red],
        BufferLayout::Rgba => vec![red, green, blue, red ^ 0x55],
        BufferLayout::Bgra => vec![blue, green, red, red ^ 0x55],
        BufferLayout::Argb => vec![red ^ 0x55, red, green, blue],
        BufferLayout::Gray8 => vec![green],
        BufferLayout::Rgb565 => {
            let [red, green, blue] = [red, green, blue].map(u16::from);
            (red >> 3 << 11 | green >> 2 << 5 | blue >> 3).to_le_bytes().to_vec()
        }
        _ => unreachable!("a YUV layout"),
    }
}

/// Pixels of three values each, cut out, turned clockwise and mirrored by index alone.
pub(crate) fn viewed(
    rgb: &[f64],
    width: usize,
    [left, top, columns, rows]: [usize; 4],
    rotation: Rotation,
    mirror: bool,
) -> Vec<f64> {
    let (out_columns, out_rows) = if rotation.swaps_axes() { (rows, columns) } else { (columns, rows) };
    let mut out = Vec::new();
    for y in 0..out_rows {
        for x in 0..out_columns {
            let x = if mirror { out_columns - 1 - x } else { x };
            let (column, row) = match rotation {
                Rotation::R0 => (x, y),
                Rotation::R90 => (y, rows - 1 - x),
                Rotation::R180 => (columns - 1 - x, rows - 1 - y),
                Rotation::R270 => (columns - 1 - y, x),
            };
            let at = 3 * ((top + row) * width + left + column);
            out.extend(&rgb[at..at + 3]);
        }
    }
    out
}
