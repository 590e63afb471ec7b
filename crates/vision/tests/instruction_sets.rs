//! Every instruction set, and two threads, give the result of the scalar code on one, to the last bit.

mod common;

use common::cases;
use half::f16;
use nearside_vision::{
    BufferLayout, Channels, ChromaSiting, Element, Filter, Fit, Frame, ImageSpec, InstructionSet, Layout,
    Matrix, Preprocessor, Quantization, Range, Rect, Rotation, TensorMut, Work,
};
use proptest::prelude::*;

const LAYOUTS: [&str; 13] =
    ["i420", "yv12", "nv12", "nv21", "p010", "yuyv", "bgra", "rgba", "argb", "rgb", "bgr", "gray8", "rgb565"];

/// The tensor as bytes.
fn tensor(spec: ImageSpec, frame: &Frame<'_>, set: InstructionSet, halves: bool) -> Vec<u8> {
    let mut preprocessor = Preprocessor::new(spec).unwrap();
    preprocessor.set_instruction_set(set);
    assert_eq!(preprocessor.instruction_set(), set);
    let len = preprocessor.output_len();
    let mut run = |out: TensorMut<'_>| {
        if !halves {
            return preprocessor.run(frame, out).unwrap();
        }
        let join = |top: &mut Work<'_>, bottom: &mut Work<'_>| {
            std::thread::scope(|scope| {
                scope.spawn(top);
                bottom();
            });
        };
        preprocessor.run_halves(frame, out, join).unwrap();
    };
    match spec.element {
        Element::F32 => {
            let mut out = vec![f32::NAN; len];
            run((&mut out).into());
            out.into_iter().flat_map(f32::to_le_bytes).collect()
        }
        Element::F16 => {
            let mut out = vec![f16::NAN; len];
            run((&mut out).into());
            out.into_iter().flat_map(f16::to_le_bytes).collect()
        }
        Element::U8(_) => {
            let mut out = vec![77; len];
            run((&mut out).into());
            out
        }
        Element::I8(_) => {
            let mut out = vec![77_i8; len];
            run((&mut out).into());
            out.into_iter().map(i8::cast_unsigned).collect()
        }
    }
}

fn spec() -> impl Strategy<Value = ImageSpec> {
    let fit = prop_oneof![
        Just(Fit::Stretch),
        any::<[u8; 3]>().prop_map(|pad| Fit::Letterbox { pad }),
        (0.1_f32..=1.0).prop_map(|fraction| Fit::CenterCrop { fraction }),
    ];
    let filter = prop::sample::select(vec![
        Filter::Nearest,
        Filter::Bilinear,
        Filter::BilinearAntialias,
        Filter::BicubicAntialias,
        Filter::Area,
    ]);
    let layout = prop::sample::select(vec![Layout::Nchw, Layout::Nhwc, Layout::Patches { side: 4 }]);
    let channels = prop::sample::select(vec![Channels::Rgb, Channels::Bgr, Channels::Rgba, Channels::Bgra]);
    let element = prop::sample::select(vec![
        Element::F32,
        Element::F16,
        Element::U8(Quantization::PIXELS_U8),
        Element::U8(Quantization { scale: 0.02, zero_point: 114 }),
        Element::I8(Quantization::PIXELS_I8),
    ]);
    (1_u32..30, 1_u32..30, fit, filter, layout, channels, element).prop_map(
        |(width, height, fit, filter, layout, channels, element)| ImageSpec {
            fit,
            filter,
            layout,
            channels,
            element,
            mean: [0.1, 0.2, 0.3],
            std: [1.1, 0.9, 0.7],
            ..ImageSpec::new(4 * width, 4 * height)
        },
    )
}

fn bytes(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Long runs of the extremes show what saturates.
        match state >> 60 {
            0..4 => 0,
            4..8 => 255,
            _ => (state >> 40) as u8,
        }
    };
    (0..len).map(|_| byte()).collect()
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn all_instruction_sets_equal_the_scalar_code(
        spec in spec(), seed: u64, (width, height) in (1_u32..200, 1_u32..120), layout in 0..LAYOUTS.len(),
        turns in 0_i64..4, mirror: bool, full: bool, left: bool, crop in any::<Option<[u16; 4]>>(),
    ) {
        let layout: BufferLayout = LAYOUTS[layout].parse().unwrap();
        let bytes = bytes(layout.frame_bytes(width, height, None, None), seed);
        let mut frame = layout.frame(&bytes, width, height, None, None).unwrap();
        frame.rotation = Rotation::from_degrees(90 * turns).unwrap();
        frame.mirror = mirror;
        frame.range = if full { Range::Full } else { Range::Limited };
        frame.matrix = [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020][seed as usize % 3];
        frame.chroma_siting = if left { ChromaSiting::Left } else { ChromaSiting::Center };
        frame.crop = crop.map(|[x, y, w, h]| {
            let (x, y) = (u32::from(x) % width, u32::from(y) % height);
            Rect { x, y, width: 1 + u32::from(w) % (width - x), height: 1 + u32::from(h) % (height - y) }
        });
        let expected = tensor(spec, &frame, InstructionSet::Scalar, false);
        for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
            for halves in [false, true] {
                prop_assert!(tensor(spec, &frame, set, halves) == expected, "{set:?}, in halves: {halves}");
            }
        }
    }
}

#[test]
fn one_that_is_missing_falls_back_to_the_scalar_code() {
    let mut preprocessor = Preprocessor::new(ImageSpec::new(4, 4)).unwrap();
    for set in InstructionSet::ALL {
        preprocessor.set_instruction_set(set);
        let expected = if set.is_available() { set } else { InstructionSet::Scalar };
        assert_eq!(preprocessor.instruction_set(), expected);
    }
}
