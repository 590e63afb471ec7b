//! A frame of any bytes, sizes, strides, crop and specification is refused or becomes a tensor of finite values within
//! their range, the same with all vector instructions and from a copy.
#![no_main]

use half::f16;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use nearside_vision::{
    BufferLayout, Channels, ChromaSiting, Element, Filter, Fit, Frame, FrameBuffer, ImageSpec,
    InstructionSet, Layout, Matrix, Plane, Preprocessor, Quantization, Range, Rect, Rotation,
};

/// Rows and columns are below this: more would only take longer.
const MOST_SOURCE: u32 = 200;
const MOST_OUT: u32 = 80;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    layout: u8,
    size: [u8; 2],
    planes: [PlaneInput; 3],
    /// Whether it is the layout's own planes rather than those above.
    packed: Option<[Option<u8>; 2]>,
    crop: Option<[u8; 4]>,
    turns: u8,
    mirror: bool,
    matrix: u8,
    full_range: bool,
    sited_left: bool,
    spec: SpecInput,
    /// The memory: `bytes` again and again.
    memory: u16,
    bytes: &'a [u8],
}

#[derive(Arbitrary, Debug)]
struct PlaneInput {
    start: u16,
    len: u16,
    row_stride: Stride,
    pixel_stride: Stride,
}

/// A stride that fits more often than not.
#[derive(Arbitrary, Debug)]
enum Stride {
    Row(u8),
    Small(u8),
    Any(usize),
}

impl Stride {
    fn of(&self, width: u32) -> usize {
        match *self {
            Self::Row(more) => width as usize * usize::from(more % 5) + usize::from(more / 5),
            Self::Small(stride) => usize::from(stride % 7),
            Self::Any(stride) => stride,
        }
    }
}

#[derive(Arbitrary, Debug)]
struct SpecInput {
    size: [u8; 2],
    fit: FitInput,
    filter: u8,
    mean: [i8; 3],
    std: [i8; 3],
    layout: LayoutInput,
    channels: u8,
    element: u8,
    scale: u8,
    zero_point: i8,
}

#[derive(Arbitrary, Debug)]
enum FitInput {
    Stretch,
    Letterbox([u8; 3]),
    CenterCrop(f32),
}

#[derive(Arbitrary, Debug)]
enum LayoutInput {
    Nchw,
    Nhwc,
    Patches(u8),
}

impl SpecInput {
    fn spec(&self) -> ImageSpec {
        let [width, height] = self.size.map(|side| u32::from(side) % MOST_OUT);
        let fit = match self.fit {
            FitInput::Stretch => Fit::Stretch,
            FitInput::Letterbox(pad) => Fit::Letterbox { pad },
            FitInput::CenterCrop(fraction) => Fit::CenterCrop { fraction },
        };
        let filters = [
            Filter::Nearest,
            Filter::Bilinear,
            Filter::BilinearAntialias,
            Filter::BicubicAntialias,
            Filter::Area,
        ];
        let layout = match self.layout {
            LayoutInput::Nchw => Layout::Nchw,
            LayoutInput::Nhwc => Layout::Nhwc,
            LayoutInput::Patches(side) => Layout::Patches { side: (side % 20).into() },
        };
        let channels = [Channels::Rgb, Channels::Bgr, Channels::Rgba, Channels::Bgra];
        let zero_point = self.zero_point.into();
        let quantization = Quantization { scale: f32::from(self.scale) / 255.0, zero_point };
        let elements = [Element::F32, Element::F16, Element::U8(quantization), Element::I8(quantization)];
        ImageSpec {
            width,
            height,
            fit,
            filter: filters[usize::from(self.filter) % filters.len()],
            mean: self.mean.map(|value| f32::from(value) / 64.0),
            std: self.std.map(|value| f32::from(value) / 64.0),
            layout,
            channels: channels[usize::from(self.channels) % 4],
            element: elements[usize::from(self.element) % 4],
        }
    }
}

fuzz_target!(|input: Input<'_>| {
    let Ok(preprocessor) = Preprocessor::new(input.spec.spec()) else { return };
    let repeated =
        input.bytes.iter().cycle().take(if input.bytes.is_empty() { 0 } else { input.memory.into() });
    let memory: Vec<u8> = repeated.copied().collect();
    let Some(frame) = frame(&input, &memory) else { return };
    let expected = tensor(&preprocessor, InstructionSet::Scalar, &frame);
    assert_eq!(expected.is_some(), frame.validate().is_ok());
    let Some(expected) = expected else { return };
    for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        assert_eq!(tensor(&preprocessor, set, &frame).as_ref(), Some(&expected), "{set:?}");
    }
    let mut buffer = FrameBuffer::new();
    buffer.copy_from(&frame).unwrap();
    assert_eq!(tensor(&preprocessor, InstructionSet::best(), &buffer.frame()), Some(expected));
});

fn frame<'a>(input: &Input<'_>, memory: &'a [u8]) -> Option<Frame<'a>> {
    let layout = BufferLayout::ALL[usize::from(input.layout) % BufferLayout::ALL.len()];
    let [width, height] = input.size.map(|side| u32::from(side) % MOST_SOURCE);
    let frame = if let Some([row_stride, pixel_stride]) = input.packed {
        let row_stride = row_stride.map(|more| (width as usize + usize::from(more)) * 2);
        layout.frame(memory, width, height, row_stride, pixel_stride.map(usize::from)).ok()?
    } else {
        let planes = [0, 1, 2].map(|at| {
            let PlaneInput { start, len, row_stride, pixel_stride } = &input.planes[at];
            let bytes = memory.get(usize::from(*start)..).unwrap_or(&[]);
            Plane {
                bytes: bytes.get(..usize::from(*len)).unwrap_or(bytes),
                row_stride: row_stride.of(width),
                pixel_stride: pixel_stride.of(width),
            }
        });
        // Any frame that is valid, then made what is asked for, valid or not.
        let pixel = Frame::rgb(&[0; 3], 1, 1, None).unwrap();
        Frame { format: layout.format(), width, height, planes, ..pixel }
    };
    let crop =
        input.crop.map(|crop| crop.map(u32::from)).map(|[x, y, width, height]| Rect { x, y, width, height });
    Some(Frame {
        crop,
        rotation: [Rotation::R0, Rotation::R90, Rotation::R180, Rotation::R270][usize::from(input.turns) % 4],
        mirror: input.mirror,
        matrix: [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020][usize::from(input.matrix) % 3],
        range: if input.full_range { Range::Full } else { Range::Limited },
        chroma_siting: if input.sited_left { ChromaSiting::Left } else { ChromaSiting::Center },
        ..frame
    })
}

/// The tensor, as bits, if the frame is valid. Its values are checked.
fn tensor(preprocessor: &Preprocessor, set: InstructionSet, frame: &Frame<'_>) -> Option<Vec<u32>> {
    let spec = *preprocessor.spec();
    let mut preprocessor = Preprocessor::new(spec).unwrap();
    preprocessor.set_instruction_set(set);
    let len = preprocessor.output_len();
    match spec.element {
        Element::F32 => {
            let mut out = vec![f32::NAN; len];
            preprocessor.run(frame, &mut out).ok()?;
            out.iter().for_each(|&value| check(&spec, value, 1e-4));
            Some(out.into_iter().map(f32::to_bits).collect())
        }
        Element::F16 => {
            let mut out = vec![f16::NAN; len];
            preprocessor.run(frame, &mut out).ok()?;
            out.iter().for_each(|value| check(&spec, value.to_f32(), 1e-2));
            Some(out.into_iter().map(|value| value.to_bits().into()).collect())
        }
        Element::U8(_) => {
            let mut out = vec![0_u8; len];
            preprocessor.run(frame, &mut out).ok()?;
            Some(out.into_iter().map(u32::from).collect())
        }
        Element::I8(_) => {
            let mut out = vec![0_i8; len];
            preprocessor.run(frame, &mut out).ok()?;
            Some(out.into_iter().map(|value| value as u32).collect())
        }
    }
}

/// Values lie between those of black and white in some channel; alpha is 1.
fn check(spec: &ImageSpec, value: f32, tolerance: f32) {
    let ends = (0..3).flat_map(|at| [0.0, 1.0].map(|end| (end - spec.mean[at]) / spec.std[at]));
    let (low, high) = ends.fold((1.0_f32, 1.0_f32), |(low, high), end| (low.min(end), high.max(end)));
    let slack = tolerance * low.abs().max(high.abs());
    assert!((low - slack..=high + slack).contains(&value), "{value} is not between {low} and {high}");
}
