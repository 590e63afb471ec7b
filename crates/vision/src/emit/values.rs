//! What each byte of the picture becomes in the tensor.

use half::f16;

use super::Band;
use crate::kernels::Kernels;
use crate::{Element, ImageSpec, Quantization};

/// The values of all bytes, by colour.
#[derive(Debug)]
pub(super) enum Values {
    /// `byte * scale + bias`, which is faster than looking it up.
    F32([[f32; 2]; 3]),
    F16(Box<Table<f16>>),
    U8(Box<Table<u8>>),
    I8(Box<Table<i8>>),
    /// The bytes themselves.
    Bytes,
}

/// A value for each byte of each colour, and that of an alpha of 1.
#[derive(Debug)]
pub(super) struct Table<T> {
    by_colour: [[T; 256]; 3],
    opaque: T,
}

impl Values {
    pub(super) fn new(spec: &ImageSpec) -> Self {
        let [red, green, blue] = [0, 1, 2].map(|colour| {
            let (mean, std) = (f64::from(spec.mean[colour]), f64::from(spec.std[colour]));
            move |byte: f64| (byte / 255.0 - mean) / std
        });
        let table = |colour: usize, byte: f64| [red(byte), green(byte), blue(byte)][colour];
        match spec.element {
            Element::F32 => Self::F32([0, 1, 2].map(|colour| {
                let (mean, std) = (f64::from(spec.mean[colour]), f64::from(spec.std[colour]));
                [(1.0 / (255.0 * std)) as f32, (-mean / std) as f32]
            })),
            Element::F16 => Self::F16(Table::new(table, f16::from_f64)),
            Element::U8(by) => {
                let values = Table::new(table, |value| quantise(value, by).clamp(0.0, 255.0) as u8);
                let same = |table: &[u8; 256]| table.iter().zip(0..=255).all(|(value, byte)| *value == byte);
                if values.by_colour.iter().all(same) && values.opaque == 255 {
                    return Self::Bytes;
                }
                Self::U8(values)
            }
            Element::I8(by) => {
                Self::I8(Table::new(table, |value| quantise(value, by).clamp(-128.0, 127.0) as i8))
            }
        }
    }

    pub(super) fn are_bytes(&self) -> bool {
        matches!(self, Self::Bytes)
    }

    /// Writes bytes of one colour side by side to channel `channel`, from element `first` on.
    pub(super) fn write_line(
        &self,
        kernels: &Kernels,
        colour: usize,
        line: &[u8],
        channel: usize,
        first: usize,
        out: &mut Band<'_>,
    ) {
        let end = first + line.len();
        match (self, out) {
            (Self::F32(by), Band::F32(out)) => {
                kernels.floats(line, by[colour], &mut out[channel][first..end])
            }
            (Self::F16(table), Band::F16(out)) => {
                table.write_line(colour, line, &mut out[channel][first..end])
            }
            (Self::U8(table), Band::U8(out)) => table.write_line(colour, line, &mut out[channel][first..end]),
            (Self::I8(table), Band::I8(out)) => table.write_line(colour, line, &mut out[channel][first..end]),
            (Self::Bytes, Band::U8(out)) => out[channel][first..end].copy_from_slice(line),
            // Never: the type was compared before.
            _ => {}
        }
    }

    /// Writes `len` times an alpha of 1 to channel `channel`.
    pub(super) fn write_opaque(&self, channel: usize, first: usize, len: usize, out: &mut Band<'_>) {
        let end = first + len;
        match (self, out) {
            (Self::F32(_), Band::F32(out)) => out[channel][first..end].fill(1.0),
            (Self::F16(table), Band::F16(out)) => out[channel][first..end].fill(table.opaque),
            (Self::U8(table), Band::U8(out)) => out[channel][first..end].fill(table.opaque),
            (Self::I8(table), Band::I8(out)) => out[channel][first..end].fill(table.opaque),
            (Self::Bytes, Band::U8(out)) => out[channel][first..end].fill(255),
            _ => {}
        }
    }

    /// Writes pixels, whose lines are in the order of the channels, with or without an alpha of 1.
    pub(super) fn write_pixels(
        &self,
        kernels: &Kernels,
        colours: [usize; 3],
        lines: [&[u8]; 3],
        alpha: bool,
        first: usize,
        out: &mut Band<'_>,
    ) {
        let range = first..first + lines[0].len() * (3 + usize::from(alpha));
        match (self, out) {
            (Self::F32(by), Band::F32(out)) if alpha => {
                let float = |byte: u8, colour: usize| f32::from(byte) * by[colour][0] + by[colour][1];
                interleave(lines, colours, Some(1.0), float, &mut out[0][range]);
            }
            (Self::F32(by), Band::F32(out)) => {
                kernels.interleave_floats(lines, colours.map(|colour| by[colour]), &mut out[0][range]);
            }
            (Self::F16(table), Band::F16(out)) => {
                table.write_pixels(colours, lines, alpha, &mut out[0][range])
            }
            (Self::U8(table), Band::U8(out)) => table.write_pixels(colours, lines, alpha, &mut out[0][range]),
            (Self::I8(table), Band::I8(out)) => table.write_pixels(colours, lines, alpha, &mut out[0][range]),
            (Self::Bytes, Band::U8(out)) if alpha => kernels.interleave4(lines, 255, &mut out[0][range]),
            (Self::Bytes, Band::U8(out)) => kernels.interleave3(lines, &mut out[0][range]),
            _ => {}
        }
    }
}

impl<T: Copy> Table<T> {
    fn new(value: impl Fn(usize, f64) -> f64, convert: impl Fn(f64) -> T) -> Box<Self> {
        let by_colour =
            std::array::from_fn(|colour| std::array::from_fn(|byte| convert(value(colour, byte as f64))));
        Box::new(Self { by_colour, opaque: convert(1.0) })
    }

    fn write_line(&self, colour: usize, line: &[u8], out: &mut [T]) {
        let table = &self.by_colour[colour];
        out.iter_mut().zip(line).for_each(|(out, &byte)| *out = table[usize::from(byte)]);
    }

    fn write_pixels(&self, colours: [usize; 3], lines: [&[u8]; 3], alpha: bool, out: &mut [T]) {
        let value = |byte: u8, colour: usize| self.by_colour[colour][usize::from(byte)];
        interleave(lines, colours, alpha.then_some(self.opaque), value, out);
    }
}

/// Pixels of three values, or four with an alpha.
fn interleave<T: Copy>(
    [a, b, c]: [&[u8]; 3],
    colours: [usize; 3],
    alpha: Option<T>,
    value: impl Fn(u8, usize) -> T,
    out: &mut [T],
) {
    let pixels = a
        .iter()
        .zip(b)
        .zip(c)
        .map(|((&a, &b), &c)| [value(a, colours[0]), value(b, colours[1]), value(c, colours[2])]);
    match alpha {
        None => out.as_chunks_mut().0.iter_mut().zip(pixels).for_each(|(out, pixel)| *out = pixel),
        Some(alpha) => {
            for (out, [a, b, c]) in out.as_chunks_mut().0.iter_mut().zip(pixels) {
                *out = [a, b, c, alpha];
            }
        }
    }
}

/// The number of steps from zero, half to even.
fn quantise(value: f64, by: Quantization) -> f64 {
    (value / f64::from(by.scale)).round_ties_even() + f64::from(by.zero_point)
}
