//! Whatever meets whatever: each value of one setting with each of another, on small frames whose planes end with
//! their last sample. Small enough for Miri, which sees reads and writes out of bounds: `cargo xtask miri`.

mod common;

use common::rect;
use half::f16;
use nearside_vision::{
    BufferLayout, Channels, ChromaSiting, Element, Filter, Fit, Frame, ImageSpec, InstructionSet, Layout,
    Matrix, Preprocessor, Quantization, Range, Rotation,
};

const FILTERS: [Filter; 5] =
    [Filter::Nearest, Filter::Bilinear, Filter::BilinearAntialias, Filter::BicubicAntialias, Filter::Area];
const ROTATIONS: [Rotation; 4] = [Rotation::R0, Rotation::R90, Rotation::R180, Rotation::R270];
const CHANNELS: [Channels; 4] = [Channels::Rgb, Channels::Bgr, Channels::Rgba, Channels::Bgra];
const SIZES: [(u32, u32); 7] = [(1, 1), (5, 4), (2, 7), (1, 6), (9, 1), (19, 3), (4, 2)];
const OUTS: [(u32, u32); 5] = [(4, 2), (2, 6), (8, 4), (2, 2), (18, 2)];

/// How many of the combinations are tried.
const COMBINATIONS: usize = if cfg!(miri) { 65 } else { 20_000 };

/// Takes one setting after another out of a number.
struct Choice(usize);

impl Choice {
    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        let chosen = all[self.0 % all.len()];
        self.0 /= all.len();
        chosen
    }
}

fn spec(choice: &mut Choice) -> ImageSpec {
    let (width, height) = choice.of(&OUTS);
    let pixels = Quantization::PIXELS_U8;
    ImageSpec {
        filter: choice.of(&FILTERS),
        fit: choice.of(&[
            Fit::Stretch,
            Fit::Letterbox { pad: [114, 0, 255] },
            Fit::CenterCrop { fraction: 0.8 },
        ]),
        element: choice.of(&[
            Element::F32,
            Element::F16,
            Element::U8(pixels),
            Element::I8(Quantization::PIXELS_I8),
        ]),
        layout: choice.of(&[Layout::Nchw, Layout::Nhwc, Layout::Patches { side: 2 }]),
        channels: choice.of(&CHANNELS),
        ..ImageSpec::new(width, height)
    }
}

/// The tensor on 0..=1, with the vector instructions of `set`.
fn tensor(spec: ImageSpec, set: InstructionSet, frame: &Frame<'_>) -> Vec<f32> {
    let mut preprocessor = Preprocessor::new(spec).unwrap();
    preprocessor.set_instruction_set(set);
    let len = preprocessor.output_len();
    match spec.element {
        Element::F32 => {
            let mut out = vec![f32::NAN; len];
            preprocessor.run(frame, &mut out).unwrap();
            out
        }
        Element::F16 => {
            let mut out = vec![f16::NAN; len];
            preprocessor.run(frame, &mut out).unwrap();
            out.into_iter().map(f16::to_f32).collect()
        }
        Element::U8(_) => {
            let mut out = vec![0_u8; len];
            preprocessor.run(frame, &mut out).unwrap();
            out.into_iter().map(|value| f32::from(value) / 255.0).collect()
        }
        Element::I8(_) => {
            let mut out = vec![0_i8; len];
            preprocessor.run(frame, &mut out).unwrap();
            out.into_iter().map(|value| (f32::from(value) + 128.0) / 255.0).collect()
        }
    }
}

#[test]
fn every_setting_goes_with_every_other() {
    // A prime far above the number of settings: each pair of them comes up.
    for combination in (0..COMBINATIONS).map(|at| at * 1_000_003) {
        let mut choice = Choice(combination);
        let (layout, (width, height)) = (choice.of(&BufferLayout::ALL), choice.of(&SIZES));
        let spec = spec(&mut choice);
        let bytes: Vec<u8> = (0..layout.frame_bytes(width, height, None, None))
            .map(|at| (at * 73 + combination) as u8)
            .collect();
        let frame = layout.frame(&bytes, width, height, None, None).unwrap();
        let frame = Frame {
            rotation: choice.of(&ROTATIONS),
            mirror: choice.of(&[false, true]),
            crop: choice
                .of(&[None, Some(rect(width / 2, height / 3, width - width / 2, height - height / 3))]),
            matrix: choice.of(&[Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020]),
            range: choice.of(&[Range::Limited, Range::Full]),
            chroma_siting: choice.of(&[ChromaSiting::Center, ChromaSiting::Left]),
            ..frame
        };
        let expected = tensor(spec, InstructionSet::Scalar, &frame);
        assert!(expected.iter().all(|value| (0.0..=1.0).contains(value)), "{spec:?} of {layout:?}");
        for set in InstructionSet::ALL.into_iter().skip(1).filter(|set| set.is_available()) {
            assert_eq!(tensor(spec, set, &frame), expected, "{set:?}: {spec:?} of {layout:?}");
        }
    }
}
