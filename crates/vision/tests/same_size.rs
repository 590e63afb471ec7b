//! Frames that are not resized take a faster way, with the same result.

mod common;

use common::{Yuv, cases, rect, spread, yuv420};
use nearside_vision::{
    Channels, Filter, Frame, ImageSpec, InstructionSet, Matrix, Preprocessor, Range, Rect, Rotation,
};
use proptest::prelude::*;

fn pixels(frame: &Frame<'_>, filter: Filter, channels: Channels, set: InstructionSet) -> Vec<u8> {
    let Rect { width, height, .. } = frame.crop.unwrap_or(rect(0, 0, frame.width, frame.height));
    let (width, height) = if frame.rotation.swaps_axes() { (height, width) } else { (width, height) };
    let mut preprocessor =
        Preprocessor::new(ImageSpec { filter, ..ImageSpec::pixels(width, height, channels) }).unwrap();
    preprocessor.set_instruction_set(set);
    let mut out = vec![0_u8; preprocessor.output_len()];
    preprocessor.run(frame, &mut out).unwrap();
    out
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn frames_of_their_own_size_equal_those_with_strides_that_take_the_general_way(
        (width, height) in (1_u32..300, 1_u32..40), seed in any::<[u8; 16]>(), full: bool, bt709: bool,
        crop in any::<Option<[u16; 4]>>(), turns in 0_i64..4, mirror: bool, v_first: bool, nearest: bool,
    ) {
        let chroma = (width.div_ceil(2) * height.div_ceil(2)) as usize;
        let len = (width * height) as usize + 2 * chroma;
        let bytes: Vec<u8> = (0..len).map(|at| seed[at % 16].wrapping_mul((at / 7) as u8 | 1)).collect();
        let yuv = Yuv::from_i420(&bytes, width, height);
        let view = |frame: Frame<'_>| {
            let crop = crop.map(|[x, y, w, h]| {
                let (x, y) = (u32::from(x) % width, u32::from(y) % height);
                rect(x, y, 1 + u32::from(w) % (width - x), 1 + u32::from(h) % (height - y))
            });
            let matrix = if bt709 { Matrix::Bt709 } else { Matrix::Bt601 };
            let range = if full { Range::Full } else { Range::Limited };
            let filter = if nearest { Filter::Nearest } else { Filter::Bilinear };
            let rotation = Rotation::from_degrees(90 * turns).unwrap();
            [Channels::Rgb, Channels::Bgra].map(|channels| {
                InstructionSet::ALL.into_iter().filter(|set| set.is_available()).map(|set| {
                    pixels(&Frame { crop, matrix, range, rotation, mirror, ..frame }, filter, channels, set)
                }).collect::<Vec<_>>()
            })
        };

        let (columns, _) = yuv.chroma_size();
        let [u, v] = [1, 2].map(|at| spread(&yuv.planes[at], columns, 3 * columns, 3, 9));
        let expected = view(yuv420(width, height, [
            (&yuv.planes[0], width as usize, 1), (&u, 3 * columns, 3), (&v, 3 * columns, 3),
        ]));
        let i420 = yuv.i420();
        prop_assert!(view(Frame::i420(&i420, width, height, None).unwrap()) == expected);
        let pairs = yuv.semi_planar(v_first);
        let frame = if v_first { Frame::nv21 } else { Frame::nv12 };
        prop_assert!(view(frame(&pairs, width, height, None).unwrap()) == expected);
    }
}
