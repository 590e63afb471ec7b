//! What preprocessing costs: `cargo bench -p nearside-vision`, or with a part of a name after `--`.
//!
//! Beside OpenCV, libyuv and other crates: `cargo xtask bench vision`.

use std::fmt;

use divan::Bencher;
use divan::counter::BytesCount;
use half::f16;
use nearside_vision::{
    BufferLayout, Channels, Element, Filter, Fit, Frame, FrameBuffer, ImageSpec, InstructionSet, Layout,
    Preprocessor, Quantization, Rotation, TensorMut, Work,
};

const FILTERS: [Filter; 4] =
    [Filter::Bilinear, Filter::BilinearAntialias, Filter::BicubicAntialias, Filter::Area];

const VGA: (u32, u32) = (640, 480);
const HD: (u32, u32) = (1920, 1080);
const UHD: (u32, u32) = (3840, 2160);

fn main() {
    divan::main();
}

/// A tensor as image networks take it.
fn normalised(width: u32, height: u32, filter: Filter) -> ImageSpec {
    let (mean, std) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
    ImageSpec { filter, mean, std, ..ImageSpec::new(width, height) }
}

/// Bytes of a frame: no two neighbours alike, and nothing that branches could learn.
fn pixels(layout: BufferLayout, (width, height): (u32, u32)) -> Vec<u8> {
    let len = layout.frame_bytes(width, height, None, None) as u32;
    (0..len).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Runs a preprocessor again and again on one frame.
fn run(
    bencher: Bencher<'_, '_>,
    spec: ImageSpec,
    layout: BufferLayout,
    (width, height): (u32, u32),
    change: impl Fn(&mut Frame<'_>, &mut Preprocessor),
) {
    let bytes = pixels(layout, (width, height));
    let mut frame = layout.frame(&bytes, width, height, None, None).expect("a whole frame");
    let mut preprocessor = Preprocessor::new(spec).expect("a valid specification");
    change(&mut frame, &mut preprocessor);
    let len = preprocessor.output_len();
    let mut memory = Memory::new(spec.element, len);
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench_local(|| preprocessor.run(&frame, memory.tensor()).expect("a valid frame"));
}

/// Memory of the type that a tensor has.
enum Memory {
    F32(Vec<f32>),
    F16(Vec<f16>),
    U8(Vec<u8>),
    I8(Vec<i8>),
}

impl Memory {
    fn new(element: Element, len: usize) -> Self {
        match element {
            Element::F32 => Self::F32(vec![0.0; len]),
            Element::F16 => Self::F16(vec![f16::ZERO; len]),
            Element::U8(_) => Self::U8(vec![0; len]),
            Element::I8(_) => Self::I8(vec![0; len]),
        }
    }

    fn tensor(&mut self) -> TensorMut<'_> {
        match self {
            Self::F32(out) => out.into(),
            Self::F16(out) => out.into(),
            Self::U8(out) => out.into(),
            Self::I8(out) => out.into(),
        }
    }
}

/// The least that anything which reads the whole frame could take.
#[divan::bench(args = [VGA, HD, UHD])]
fn copy_nv12(bencher: Bencher<'_, '_>, (width, height): (u32, u32)) {
    let bytes = pixels(BufferLayout::Nv12, (width, height));
    let mut out = vec![0; bytes.len()];
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench_local(|| divan::black_box(&mut out).copy_from_slice(divan::black_box(&bytes)));
}

#[divan::bench]
fn hd_nv12_to_frame_buffer(bencher: Bencher<'_, '_>) {
    let bytes = pixels(BufferLayout::Nv12, HD);
    let frame = Frame::nv12(&bytes, HD.0, HD.1, None).expect("a whole frame");
    let mut buffer = FrameBuffer::new();
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench_local(|| buffer.copy_from(&frame).expect("a valid frame"));
}

#[divan::bench(args = FILTERS)]
fn hd_nv12_to_224(bencher: Bencher<'_, '_>, filter: Filter) {
    run(bencher, normalised(224, 224, filter), BufferLayout::Nv12, HD, |_, _| {});
}

#[divan::bench(args = FILTERS)]
fn hd_rgba_to_224(bencher: Bencher<'_, '_>, filter: Filter) {
    run(bencher, normalised(224, 224, filter), BufferLayout::Rgba, HD, |_, _| {});
}

/// A filter with some vector instructions.
#[derive(Clone, Copy)]
struct Way(Filter, InstructionSet);

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {:?}", self.0, self.1)
    }
}

fn ways() -> impl Iterator<Item = Way> {
    let sets = || InstructionSet::ALL.into_iter().filter(|set| set.is_available());
    FILTERS.into_iter().flat_map(move |filter| sets().map(move |set| Way(filter, set)))
}

#[divan::bench(args = ways())]
fn instructions_hd_nv12_to_224(bencher: Bencher<'_, '_>, Way(filter, set): Way) {
    let spec = normalised(224, 224, filter);
    run(bencher, spec, BufferLayout::Nv12, HD, |_, preprocessor| preprocessor.set_instruction_set(set));
}

#[divan::bench(args = ways())]
fn instructions_hd_rgb_to_224(bencher: Bencher<'_, '_>, Way(filter, set): Way) {
    let spec = normalised(224, 224, filter);
    run(bencher, spec, BufferLayout::Rgb, HD, |_, preprocessor| preprocessor.set_instruction_set(set));
}

#[divan::bench(args = [Filter::Bilinear, Filter::BilinearAntialias])]
fn uhd_nv12_to_896_letterbox(bencher: Bencher<'_, '_>, filter: Filter) {
    let spec = ImageSpec { fit: Fit::Letterbox { pad: [114; 3] }, ..normalised(896, 896, filter) };
    run(bencher, spec, BufferLayout::Nv12, UHD, |_, _| {});
}

/// What a second thread brings: the same in two halves.
#[divan::bench(args = [HD, UHD])]
fn nv12_to_896_letterbox_halves(bencher: Bencher<'_, '_>, (width, height): (u32, u32)) {
    let bytes = pixels(BufferLayout::Nv12, (width, height));
    let frame = Frame::nv12(&bytes, width, height, None).expect("a whole frame");
    let fit = Fit::Letterbox { pad: [114; 3] };
    let spec = ImageSpec { fit, ..normalised(896, 896, Filter::BilinearAntialias) };
    let mut preprocessor = Preprocessor::new(spec).expect("a valid specification");
    let mut out = vec![0.0_f32; preprocessor.output_len()];
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| {
        let join = |top: &mut Work<'_>, bottom: &mut Work<'_>| {
            std::thread::scope(|scope| {
                scope.spawn(top);
                bottom();
            });
        };
        preprocessor.run_halves(&frame, &mut out, join).expect("a valid frame");
    });
}

#[divan::bench(args = [Rotation::R0, Rotation::R90, Rotation::R180, Rotation::R270], consts = [false, true])]
fn vga_i420_to_224_mirrored<const MIRROR: bool>(bencher: Bencher<'_, '_>, rotation: Rotation) {
    let spec = normalised(224, 224, Filter::Bilinear);
    run(bencher, spec, BufferLayout::I420, VGA, |frame, _| {
        (frame.rotation, frame.mirror) = (rotation, MIRROR);
    });
}

#[divan::bench(args = BufferLayout::ALL)]
fn vga_to_224_antialiased(bencher: Bencher<'_, '_>, layout: BufferLayout) {
    run(bencher, normalised(224, 224, Filter::BilinearAntialias), layout, VGA, |_, _| {});
}

#[divan::bench(args = [Channels::Rgb, Channels::Rgba, Channels::Bgra])]
fn hd_nv12_at_full_size(bencher: Bencher<'_, '_>, channels: Channels) {
    run(bencher, ImageSpec::pixels(HD.0, HD.1, channels), BufferLayout::Nv12, HD, |_, _| {});
}

#[divan::bench(args = [Channels::Rgb, Channels::Rgba, Channels::Bgra])]
fn hd_nv12_at_full_size_chroma_repeated(bencher: Bencher<'_, '_>, channels: Channels) {
    let spec = ImageSpec { filter: Filter::Nearest, ..ImageSpec::pixels(HD.0, HD.1, channels) };
    run(bencher, spec, BufferLayout::Nv12, HD, |_, _| {});
}

#[divan::bench(args = [Layout::Nchw, Layout::Nhwc, Layout::Patches { side: 16 }])]
fn hd_nv12_to_224_layout(bencher: Bencher<'_, '_>, layout: Layout) {
    let spec = ImageSpec { layout, ..normalised(224, 224, Filter::Bilinear) };
    run(bencher, spec, BufferLayout::Nv12, HD, |_, _| {});
}

#[divan::bench(args = [
    Element::F32,
    Element::F16,
    Element::U8(Quantization::PIXELS_U8),
    Element::I8(Quantization { scale: 0.018_658, zero_point: -14 }),
])]
fn hd_nv12_to_224_element(bencher: Bencher<'_, '_>, element: Element) {
    let spec = ImageSpec { element, ..normalised(224, 224, Filter::Bilinear) };
    run(bencher, spec, BufferLayout::Nv12, HD, |_, _| {});
}
