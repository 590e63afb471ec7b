//! What the tests share: the reference files, and frames in many layouts of the same picture.

// Each test file uses its own part of this.
#![allow(dead_code)]

pub(crate) mod picture;

use std::path::PathBuf;

use nearside_vision::{Filter, Fit, Frame, ImageSpec, Layout, PixelFormat, Plane, Preprocessor, Rect};
use proptest::test_runner::Config as ProptestConfig;

/// A property's configuration: so many cases, or as many as `PROPTEST_CASES` says where that are fewer, as under an
/// emulator or Miri.
pub(crate) fn cases(most: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let config = ProptestConfig::with_cases(asked.map_or(most, |asked: u32| asked.min(most)));
    // Miri isolates from the file system, where failures would be kept.
    if cfg!(miri) { ProptestConfig { failure_persistence: None, ..config } } else { config }
}

/// The path of a file that `reference/generate.py` wrote.
pub(crate) fn reference(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name)
}

/// The bytes of such a file.
pub(crate) fn read(name: &str) -> Vec<u8> {
    let path = reference(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A specification whose tensor is the picture itself: values on 0..=255, row by row, RGB.
pub(crate) fn raw_spec(width: u32, height: u32, fit: Fit, filter: Filter) -> ImageSpec {
    let unscaled = [1.0 / 255.0; 3];
    ImageSpec { fit, filter, std: unscaled, layout: Layout::Nhwc, ..ImageSpec::new(width, height) }
}

/// The tensor of `frame`.
pub(crate) fn run(spec: ImageSpec, frame: &Frame<'_>) -> Vec<f32> {
    let mut preprocessor = Preprocessor::new(spec).expect("a valid specification");
    let mut out = vec![f32::NAN; preprocessor.output_len()];
    preprocessor.run(frame, &mut out).expect("a valid frame");
    out
}

/// The greatest and the mean absolute difference.
pub(crate) fn difference(left: &[f32], right: &[f32]) -> (f32, f32) {
    assert_eq!(left.len(), right.len());
    let differences = left.iter().zip(right).map(|(left, right)| (left - right).abs());
    // A NaN must not pass for a small difference.
    let max =
        differences.clone().fold(0.0, |max: f32, next| if next > max || next.is_nan() { next } else { max });
    (max, differences.sum::<f32>() / left.len() as f32)
}

/// Up and down between 0 and `height`, as in `reference/generate.py`.
pub(crate) fn triangle_wave(at: u32, height: u32) -> u8 {
    (at % (2 * height)).abs_diff(height) as u8
}

/// `wave_rgb` of `reference/generate.py`.
pub(crate) fn wave_rgb(width: u32, height: u32) -> Vec<u8> {
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    pixels.flat_map(|(x, y)| [x + 2 * y, 3 * x + y, 2 * x + 3 * y].map(|at| triangle_wave(at, 255))).collect()
}

/// `noise_rgb` of `reference/generate.py`.
pub(crate) fn noise_rgb(width: u32, height: u32) -> Vec<u8> {
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    pixels
        .flat_map(|(x, y)| {
            [0_u32, 1, 2].map(|channel| {
                let sum = x.wrapping_mul(7919).wrapping_add(y.wrapping_mul(104_729));
                let mixed = sum.wrapping_add(channel.wrapping_mul(1_299_709)).wrapping_mul(2_654_435_761);
                ((mixed ^ (mixed >> 15)).wrapping_mul(2_246_822_519) >> 24) as u8
            })
        })
        .collect()
}

/// Planes Y, U and V without padding.
#[derive(Clone, Debug)]
pub(crate) struct Yuv {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) planes: [Vec<u8>; 3],
}

impl Yuv {
    /// `wave_yuv` of `reference/generate.py`.
    pub(crate) fn wave(width: u32, height: u32) -> Self {
        let grid = |width: u32, height: u32| (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)));
        let (half_width, half_height) = (width.div_ceil(2), height.div_ceil(2));
        let planes = [
            grid(width, height).map(|(x, y)| 80 + triangle_wave(x + 2 * y, 80)).collect(),
            grid(half_width, half_height).map(|(x, y)| 108 + triangle_wave(2 * x + y, 40)).collect(),
            grid(half_width, half_height).map(|(x, y)| 108 + triangle_wave(x + 2 * y, 40)).collect(),
        ];
        Self { width, height, planes }
    }

    /// From the bytes of an I420 file.
    pub(crate) fn from_i420(bytes: &[u8], width: u32, height: u32) -> Self {
        let luma = (width * height) as usize;
        let chroma = (width.div_ceil(2) * height.div_ceil(2)) as usize;
        let planes = [&bytes[..luma], &bytes[luma..luma + chroma], &bytes[luma + chroma..]];
        assert_eq!(planes[2].len(), chroma);
        Self { width, height, planes: planes.map(<[u8]>::to_vec) }
    }

    /// The cat of the reference files, 97x61.
    pub(crate) fn cat() -> Self {
        Self::from_i420(&read("cat-bt601-limited.i420"), 97, 61)
    }

    pub(crate) fn chroma_size(&self) -> (usize, usize) {
        (self.width.div_ceil(2) as usize, self.height.div_ceil(2) as usize)
    }

    /// All planes in one buffer.
    pub(crate) fn i420(&self) -> Vec<u8> {
        self.planes.concat()
    }

    /// Y, then the chroma planes interleaved: U first (NV12), or V first (NV21).
    pub(crate) fn semi_planar(&self, v_first: bool) -> Vec<u8> {
        let (first, second) = if v_first { (2, 1) } else { (1, 2) };
        let pairs =
            self.planes[first].iter().zip(&self.planes[second]).flat_map(|(&first, &second)| [first, second]);
        self.planes[0].iter().copied().chain(pairs).collect()
    }
}

/// A plane of `columns` samples spread out with strides, `junk` between them, ending with its last sample.
pub(crate) fn spread(
    samples: &[u8],
    columns: usize,
    row_stride: usize,
    pixel_stride: usize,
    junk: u8,
) -> Vec<u8> {
    let rows = samples.len() / columns;
    let mut plane = vec![junk; (rows - 1) * row_stride + (columns - 1) * pixel_stride + 1];
    for (row, samples) in samples.chunks(columns).enumerate() {
        for (column, &sample) in samples.iter().enumerate() {
            plane[row * row_stride + column * pixel_stride] = sample;
        }
    }
    plane
}

/// The frame of three planes.
pub(crate) fn yuv420<'a>(width: u32, height: u32, planes: [(&'a [u8], usize, usize); 3]) -> Frame<'a> {
    let planes = planes.map(|(bytes, row_stride, pixel_stride)| Plane { bytes, row_stride, pixel_stride });
    Frame::yuv420(planes, width, height).expect("valid planes")
}

/// A frame with nothing but a size and its first plane, not validated.
pub(crate) fn unchecked(format: PixelFormat, width: u32, height: u32, plane: Plane<'_>) -> Frame<'_> {
    let one_pixel = Frame::rgb(&[0; 3], 1, 1, None).expect("a valid frame");
    Frame { format, width, height, planes: [plane, Plane::EMPTY, Plane::EMPTY], ..one_pixel }
}

/// A rectangle.
pub(crate) fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
    Rect { x, y, width, height }
}
