//! The best chain of public Rust crates: `yuv` converts, `fast_image_resize` resizes, a loop normalises.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use serde::Deserialize;
use yuv::{
    YuvBiPlanarImage, YuvConversionMode, YuvRange, YuvStandardMatrix, yuv_nv12_to_rgb, yuv_nv12_to_rgba,
};

use crate::task::{Contender, Error, FrameJson, Result, SpecJson, at_least, elements};

const BY: &str = "yuv + fast_image_resize";

/// Which way of chaining them.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Convert to RGB, resize.
    Rgb,
    /// Convert to RGBA, resize: four channels suit SIMD better.
    Rgba,
    /// Resize Y and UV, convert what is kept. Chroma then has half the resolution of the result, so the result is not
    /// that of the other two.
    PlanesFirst,
}

impl Order {
    fn channels(self) -> usize {
        if self == Self::Rgba { 4 } else { 3 }
    }
}

pub(crate) struct Chain {
    order: Order,
    size: [u32; 2],
    out: [u32; 2],
    resizer: Resizer,
    options: ResizeOptions,
    /// The whole frame, converted; not with [`Order::PlanesFirst`].
    converted: Vec<u8>,
    /// Y and UV as small as the result; only with [`Order::PlanesFirst`].
    planes: [Vec<u8>; 2],
    small: Vec<u8>,
    /// Per channel, for bytes.
    scale: [f32; 3],
    bias: [f32; 3],
}

impl Chain {
    pub(crate) fn new(frame: &FrameJson, spec: &SpecJson, order: Order) -> Result<Self> {
        let only = |what, value: &str, expected: &str| {
            let error = || Error::Unsupported { by: BY, what, value: value.to_owned() };
            if value == expected { Ok(()) } else { Err(error()) }
        };
        only("frame layout", &frame.layout, "nv12")?;
        only("matrix", &frame.matrix, "bt601")?;
        only("range", &frame.range, "limited")?;
        only("fit", &spec.fit, "stretch")?;
        only("layout", &spec.layout, "nchw")?;
        only("element", &spec.element, "f32")?;
        let algorithm = match spec.filter.as_str() {
            "bilinear" => ResizeAlg::Interpolation(FilterType::Bilinear),
            "antialias" => ResizeAlg::Convolution(FilterType::Bilinear),
            "bicubic" => ResizeAlg::Convolution(FilterType::CatmullRom),
            "area" => ResizeAlg::Convolution(FilterType::Box),
            other => return Err(Error::Unsupported { by: BY, what: "filter", value: other.to_owned() }),
        };
        let (size, out) = ([frame.width, frame.height], [spec.width, spec.height]);
        let pixels = |[width, height]: [u32; 2]| width as usize * height as usize;
        let planes_first = order == Order::PlanesFirst;
        let small_planes = if planes_first { [pixels(out), pixels(halved(out)) * 2] } else { [0; 2] };
        Ok(Self {
            order,
            size,
            out,
            resizer: Resizer::new(),
            // Alpha is opaque.
            options: ResizeOptions::new().resize_alg(algorithm).use_alpha(false),
            converted: vec![0; if planes_first { 0 } else { pixels(size) * order.channels() }],
            planes: small_planes.map(|len| vec![0; len]),
            small: vec![0; pixels(out) * order.channels()],
            scale: [0, 1, 2].map(|at| 1.0 / (255.0 * spec.std[at])),
            bias: [0, 1, 2].map(|at| -spec.mean[at] / spec.std[at]),
        })
    }

    fn convert_then_resize(&mut self, frame: &[u8]) -> Result<()> {
        convert(frame, self.size, &mut self.converted, self.order)?;
        let pixel = if self.order == Order::Rgba { PixelType::U8x4 } else { PixelType::U8x3 };
        let Self { resizer, options, converted, small, size, out, .. } = self;
        resize(resizer, options, (converted, *size), (small, *out), pixel)
    }

    fn resize_then_convert(&mut self, frame: &[u8]) -> Result<()> {
        let Self { resizer, options, planes: [y, uv], small, size, out, .. } = self;
        let (luma, chroma) = frame.split_at(size[0] as usize * size[1] as usize);
        resize(resizer, options, (luma, *size), (y, *out), PixelType::U8)?;
        resize(resizer, options, (chroma, halved(*size)), (uv, halved(*out)), PixelType::U8x2)?;
        convert_planes((y, uv), *out, small, Order::Rgb)
    }
}

impl Contender for Chain {
    fn output_bytes(&self) -> usize {
        self.small.len() / self.order.channels() * 3 * size_of::<f32>()
    }

    fn run(&mut self, frame: &[u8], out: &mut [u8]) -> Result<()> {
        let [width, height] = self.size.map(|side| side as usize);
        at_least("frame", frame, width * height + 2 * width.div_ceil(2) * height.div_ceil(2))?;
        match self.order {
            Order::PlanesFirst => self.resize_then_convert(frame)?,
            Order::Rgb | Order::Rgba => self.convert_then_resize(frame)?,
        }
        let plane = (self.out[0] * self.out[1]) as usize;
        let out = elements::<f32>(out, 3 * plane)?;
        match self.order.channels() {
            4 => normalise::<4>(&self.small, out, plane, self.scale, self.bias),
            _ => normalise::<3>(&self.small, out, plane, self.scale, self.bias),
        }
        Ok(())
    }
}

/// Width and height of chroma.
fn halved(size: [u32; 2]) -> [u32; 2] {
    size.map(|side| side.div_ceil(2))
}

fn convert(nv12: &[u8], size: [u32; 2], out: &mut [u8], order: Order) -> Result<()> {
    convert_planes(nv12.split_at(size[0] as usize * size[1] as usize), size, out, order)
}

fn convert_planes((y, uv): (&[u8], &[u8]), size: [u32; 2], out: &mut [u8], order: Order) -> Result<()> {
    let [width, height] = size;
    let image = YuvBiPlanarImage {
        y_plane: y,
        y_stride: width,
        uv_plane: uv,
        uv_stride: width.div_ceil(2) * 2,
        width,
        height,
    };
    let (range, matrix, mode) = (YuvRange::Limited, YuvStandardMatrix::Bt601, YuvConversionMode::Fast);
    let stride = width * order.channels() as u32;
    let to_rgb = if order == Order::Rgba { yuv_nv12_to_rgba } else { yuv_nv12_to_rgb };
    to_rgb(&image, out, stride, range, matrix, mode).map_err(|error| Error::Refused(error.to_string()))
}

fn resize(
    resizer: &mut Resizer,
    options: &ResizeOptions,
    (source, from): (&[u8], [u32; 2]),
    (target, to): (&mut [u8], [u32; 2]),
    pixel: PixelType,
) -> Result<()> {
    let refused = |error: &dyn std::fmt::Display| Error::Refused(error.to_string());
    let source = ImageRef::new(from[0], from[1], source, pixel).map_err(|error| refused(&error))?;
    let mut target = Image::from_slice_u8(to[0], to[1], target, pixel).map_err(|error| refused(&error))?;
    resizer.resize(&source, &mut target, options).map_err(|error| refused(&error))
}

/// Bytes of pixels to planes of floats. A shape that the compiler turns into SIMD.
fn normalise<const N: usize>(pixels: &[u8], out: &mut [f32], plane: usize, scale: [f32; 3], bias: [f32; 3]) {
    let (pixels, _) = pixels.as_chunks::<N>();
    let (red, rest) = out.split_at_mut(plane);
    let (green, blue) = rest.split_at_mut(plane);
    for (((pixel, red), green), blue) in pixels.iter().zip(red).zip(green).zip(blue) {
        *red = f32::from(pixel[0]) * scale[0] + bias[0];
        *green = f32::from(pixel[1]) * scale[1] + bias[1];
        *blue = f32::from(pixel[2]) * scale[2] + bias[2];
    }
}
