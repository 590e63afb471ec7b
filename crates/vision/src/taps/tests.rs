//! Tap tables against what each filter's definition gives.

use super::{Axis, FIXED_BITS, Kernel, PILLOW_BITS, PILLOW_LOW_BITS, Precision, Taps};
use crate::ChromaSiting;

const ONE: i32 = 1 << FIXED_BITS;
const KERNELS: [Kernel; 6] =
    [Kernel::Nearest, Kernel::Linear, Kernel::Triangle, Kernel::Cubic, Kernel::Area, Kernel::AreaEnlarging];
/// A plane of full resolution, and both kinds of half.
const HALVED: [Option<ChromaSiting>; 3] = [None, Some(ChromaSiting::Center), Some(ChromaSiting::Left)];

fn axis(source_len: u32, scaled_len: u32) -> Axis {
    Axis {
        frame_len: source_len,
        origin: 0,
        source_len,
        scaled_len: scaled_len.into(),
        window: 0,
        len: scaled_len,
        mirrored: false,
        backwards: false,
    }
}

fn table(kernel: Kernel, axis: &Axis, halved: Option<ChromaSiting>, precision: Precision) -> Taps {
    let mut taps = Taps::default();
    taps.rebuild(kernel, axis, halved, precision);
    taps
}

/// First sample and weights of each output, in fixed point.
fn fixed(kernel: Kernel, axis: &Axis, halved: Option<ChromaSiting>) -> Vec<(usize, Vec<i32>)> {
    let taps = table(kernel, axis, halved, Precision::Fixed);
    (0..taps.len())
        .map(|index| {
            let (start, weights) = taps.get(index);
            (taps.span().start + start, weights.iter().map(|&weight| weight.into()).collect())
        })
        .collect()
}

/// Such weights from shares of 1.
fn shares<const N: usize>(shares: [f64; N]) -> Vec<i32> {
    shares.map(|share| (share * f64::from(ONE)).round() as i32).to_vec()
}

/// Axes of many lengths, crops, windows and directions.
fn axes() -> impl Iterator<Item = Axis> {
    let crops = [(1_u32, 0, 1), (2, 1, 1), (7, 2, 5), (64, 1, 63), (97, 0, 97), (1280, 131, 1001)];
    let lens = [1_u32, 2, 3, 40, 97, 224, 1281];
    let directions = [(false, false), (true, false), (true, true)];
    let mut axes = Vec::new();
    for (frame_len, origin, source_len) in crops {
        for scaled_len in lens {
            for (mirrored, backwards) in directions {
                let (window, len) = (u64::from(scaled_len / 3), scaled_len - scaled_len / 3);
                let scaled_len = u64::from(scaled_len);
                axes.push(Axis {
                    frame_len,
                    origin,
                    source_len,
                    scaled_len,
                    window,
                    len,
                    mirrored,
                    backwards,
                });
            }
        }
    }
    axes.into_iter()
}

/// Whether the kernel is ever used along this axis.
fn suits(kernel: Kernel, axis: &Axis) -> bool {
    kernel != Kernel::Area || axis.shrinks()
}

#[test]
fn a_table_of_the_same_size_copies() {
    for kernel in KERNELS {
        for (at, (start, weights)) in fixed(kernel, &axis(5, 5), None).into_iter().enumerate() {
            // A filter may look at neighbours and give them nothing.
            let nonzero: Vec<_> = weights
                .iter()
                .enumerate()
                .filter(|(_, weight)| **weight != 0)
                .map(|(tap, &w)| (start + tap, w))
                .collect();
            assert_eq!(nonzero, [(at, ONE)], "{kernel:?}");
        }
    }
}

#[test]
fn halving_takes_two_samples_or_a_triangle_of_four_or_a_cubic_of_eight() {
    assert_eq!(fixed(Kernel::Nearest, &axis(8, 4), None)[1], (3, shares([1.0])));
    assert_eq!(fixed(Kernel::Linear, &axis(8, 4), None)[1], (2, shares([0.5, 0.5])));
    assert_eq!(fixed(Kernel::Area, &axis(8, 4), None)[1], (2, shares([0.5, 0.5])));
    assert_eq!(fixed(Kernel::Triangle, &axis(8, 4), None)[1], (1, shares([0.125, 0.375, 0.375, 0.125])));
    // Keys' cubic with a = -1/2 at distances of 1/4, 3/4, 5/4 and 7/4, which sum to a half.
    let (start, weights) = &fixed(Kernel::Cubic, &axis(32, 16), None)[8];
    let side = [0.867_187_5, 0.226_562_5, -0.070_312_5, -0.023_437_5].map(|weight: f64| weight / 2.0);
    let expected = shares([side[3], side[2], side[1], side[0], side[0], side[1], side[2], side[3]]);
    assert_eq!(*start, 13);
    assert!(
        weights.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() <= 1),
        "{weights:?}"
    );
}

#[test]
fn areas_are_the_shares_of_each_sample_in_the_cell() {
    let assert_shares = |(source_len, scaled_len), expected: [(usize, [f64; 3]); 2]| {
        let found = fixed(Kernel::Area, &axis(source_len, scaled_len), None);
        for ((start, weights), (from, shares)) in found.iter().zip(expected) {
            assert_eq!(*start, from);
            let shares: Vec<f64> = shares.into_iter().filter(|share| *share > 0.0).collect();
            assert_eq!(weights.len(), shares.len());
            let near =
                |(weight, share): (&i32, f64)| (f64::from(*weight) - share * f64::from(ONE)).abs() <= 1.0;
            assert!(weights.iter().zip(shares).all(near), "{source_len}, {scaled_len}: {weights:?}");
        }
    };
    let third = 1.0 / 3.0;
    assert_shares((6, 2), [(0, [third; 3]), (3, [third; 3])]);
    // Cells of one and a half samples.
    assert_shares((3, 2), [(0, [2.0 * third, third, 0.0]), (1, [third, 2.0 * third, 0.0])]);
    // Of two and a half.
    assert_shares((5, 2), [(0, [0.4, 0.4, 0.2]), (2, [0.2, 0.4, 0.4])]);
}

#[test]
fn enlarging_by_area_gives_flat_steps_with_a_slope_only_where_a_cell_lies_in_two_samples() {
    // Every cell lies in one sample.
    for (_, weights) in fixed(Kernel::AreaEnlarging, &axis(4, 8), None) {
        assert_eq!(weights.iter().filter(|weight| **weight != 0).count(), 1);
    }
    // Two samples to three: the middle one is half of each.
    let all = fixed(Kernel::AreaEnlarging, &axis(2, 3), None);
    assert_eq!(all[1], (0, shares([0.5, 0.5])));
    assert_eq!((all[0].1[0], &all[2]), (ONE, &(1, shares([1.0]))));
}

#[test]
fn linear_taps_beyond_the_edge_are_those_of_the_edge() {
    assert_eq!(
        fixed(Kernel::Linear, &axis(2, 4), None),
        [(0, shares([1.0])), (0, shares([0.75, 0.25])), (0, shares([0.25, 0.75])), (1, shares([1.0]))]
    );
}

#[test]
fn chroma_sited_in_the_centre_is_upsampled_by_quarters() {
    assert_eq!(
        fixed(Kernel::Linear, &axis(5, 5), Some(ChromaSiting::Center))
            .into_iter()
            .map(|(start, weights)| trimmed(start, &weights))
            .collect::<Vec<_>>(),
        [
            (0, shares([1.0])),
            (0, shares([0.75, 0.25])),
            (0, shares([0.25, 0.75])),
            (1, shares([0.75, 0.25])),
            (1, shares([0.25, 0.75]))
        ]
    );
}

#[test]
fn chroma_sited_left_is_upsampled_by_halves() {
    assert_eq!(
        fixed(Kernel::Linear, &axis(6, 6), Some(ChromaSiting::Left))
            .into_iter()
            .map(|(start, weights)| trimmed(start, &weights))
            .collect::<Vec<_>>(),
        [
            (0, shares([1.0])),
            (0, shares([0.5, 0.5])),
            (1, shares([1.0])),
            (1, shares([0.5, 0.5])),
            (2, shares([1.0])),
            (2, shares([1.0])),
        ]
    );
}

/// Without zeros at the ends.
fn trimmed(start: usize, weights: &[i32]) -> (usize, Vec<i32>) {
    let first = weights.iter().position(|weight| *weight != 0).unwrap();
    let end = weights.len() - weights.iter().rev().position(|weight| *weight != 0).unwrap();
    (start + first, weights[first..end].to_vec())
}

#[test]
fn nearest_chroma_is_the_sample_of_the_nearest_luma() {
    for siting in [ChromaSiting::Center, ChromaSiting::Left] {
        for axis in axes() {
            let luma = fixed(Kernel::Nearest, &axis, None);
            let expected: Vec<_> = luma.into_iter().map(|(start, weights)| (start / 2, weights)).collect();
            assert_eq!(fixed(Kernel::Nearest, &axis, Some(siting)), expected);
        }
    }
}

#[test]
fn fixed_weights_sum_to_exactly_one_and_read_only_the_plane() {
    for axis in axes() {
        for halved in HALVED {
            for kernel in KERNELS.into_iter().filter(|kernel| suits(*kernel, &axis)) {
                let samples = if halved.is_some() { axis.frame_len.div_ceil(2) } else { axis.frame_len };
                let taps = table(kernel, &axis, halved, Precision::Fixed);
                assert_eq!(taps.len(), axis.len as usize);
                let (mut first, mut end, mut most) = (usize::MAX, 0, 0);
                for index in 0..taps.len() {
                    let (start, weights) = taps.get(index);
                    let sum: i32 = weights.iter().map(|&weight| i32::from(weight)).sum();
                    assert_eq!(sum, ONE, "{kernel:?}, {halved:?}, {axis:?}, output {index}");
                    first = first.min(start);
                    end = end.max(start + weights.len());
                    most = most.max(weights.len());
                    assert_eq!(taps.padded(index)[..weights.len()], *weights);
                    assert!(taps.padded(index)[weights.len()..].iter().all(|&weight| weight == 0));
                    assert_eq!(taps.starts()[index] as usize, start);
                }
                assert_eq!((first, end), (0, taps.span().len()));
                assert!(taps.span().end <= samples as usize, "{kernel:?}, {halved:?}, {axis:?}");
                assert_eq!((taps.most(), taps.stride()), (most, most.next_multiple_of(8)));
                // Luma comes from the crop only.
                let crop = axis.origin as usize..(axis.origin + axis.source_len) as usize;
                let span = taps.span();
                assert!(halved.is_some() || (crop.start <= span.start && span.end <= crop.end));
            }
        }
    }
}

#[test]
fn fixed_weights_are_within_a_step_of_the_exact_ones() {
    for axis in axes().filter(|axis| !axis.mirrored) {
        for kernel in KERNELS.into_iter().filter(|kernel| suits(*kernel, &axis)) {
            let taps = table(kernel, &axis, None, Precision::Fixed);
            let mut row = Vec::new();
            for index in 0..axis.len {
                let start = kernel.taps(&axis, axis.position(index), &mut None, &mut row);
                let (found, weights) = taps.get(index as usize);
                assert_eq!(taps.span().start + found, start + axis.origin as usize);
                assert_eq!(weights.len(), row.len());
                for (&weight, exact) in weights.iter().zip(&row) {
                    assert!((f64::from(weight) - exact * f64::from(ONE)).abs() <= 1.0 + 1e-9);
                }
            }
        }
    }
}

#[test]
fn weights_of_22_bits_are_those_of_pillow_in_two_parts() {
    for axis in axes() {
        for kernel in [Kernel::Triangle, Kernel::Cubic] {
            let taps = table(kernel, &axis, None, Precision::Pillow);
            let mut row = Vec::new();
            for index in 0..axis.len {
                kernel.taps(&axis, axis.position(index), &mut None, &mut row);
                if axis.mirrored {
                    row.reverse();
                }
                let at = index as usize;
                let (high, low) = (taps.padded(at), taps.padded_low(at));
                for (tap, exact) in row.iter().enumerate() {
                    // Pillow's normalize_coeffs_8bpc: half away from zero.
                    let expected = (exact * f64::from(1 << PILLOW_BITS)).round() as i32;
                    let whole = (i32::from(high[tap]) << PILLOW_LOW_BITS) + i32::from(low[tap]);
                    assert_eq!(whole, expected);
                    assert!((0..1 << PILLOW_LOW_BITS).contains(&low[tap]));
                }
                assert!(high[row.len()..].iter().chain(&low[row.len()..]).all(|&weight| weight == 0));
            }
        }
    }
}

#[test]
fn a_mirrored_table_is_that_of_the_mirrored_picture() {
    for kernel in KERNELS.into_iter().filter(|kernel| *kernel != Kernel::AreaEnlarging) {
        for (source_len, scaled_len) in [(97_u32, 20_u32), (97, 97), (64, 63)] {
            let forward = fixed(kernel, &axis(source_len, scaled_len), None);
            let mirrored = Axis { mirrored: true, ..axis(source_len, scaled_len) };
            for ((start, weights), (from, expected)) in
                fixed(kernel, &mirrored, None).into_iter().zip(forward)
            {
                assert_eq!(start + weights.len(), source_len as usize - from);
                let backwards: Vec<i32> = weights.into_iter().rev().collect();
                // Rounding the running sum from the other end may differ by a step.
                assert!(
                    backwards.iter().zip(&expected).all(|(left, right)| (left - right).abs() <= 1),
                    "{kernel:?}: {backwards:?}, {expected:?}"
                );
            }
        }
    }
}

#[test]
fn a_backwards_table_is_the_same_table_from_its_end() {
    for kernel in KERNELS {
        for halved in HALVED {
            for mirrored in [false, true] {
                let axis = Axis { mirrored, window: 3, len: 15, ..axis(97, 20) };
                let mut backwards = fixed(kernel, &Axis { backwards: true, ..axis }, halved);
                backwards.reverse();
                assert_eq!(backwards, fixed(kernel, &axis, halved));
            }
        }
    }
}

#[test]
fn a_table_is_the_same_whatever_was_in_it_before() {
    let mut reused = Taps::default();
    for axis in axes() {
        for (kernel, precision) in [
            (Kernel::Cubic, Precision::Pillow),
            (Kernel::Linear, Precision::Fixed),
            (Kernel::Triangle, Precision::Fixed),
        ] {
            reused.rebuild(kernel, &axis, None, precision);
            reused.pack(4);
            let mut fresh = table(kernel, &axis, None, precision);
            fresh.pack(4);
            assert_eq!(reused.weights(), fresh.weights());
            assert_eq!(reused.low_weights(), fresh.low_weights());
            assert_eq!((reused.starts(), reused.span()), (fresh.starts(), fresh.span()));
            assert_eq!(reused.packed(), fresh.packed());
        }
    }
}

/// Of each block, the first output.
fn blocks(outputs: usize, lanes: usize) -> Vec<usize> {
    (0..outputs).step_by(4 * lanes).map(|first| first.min(outputs - 4 * lanes)).collect()
}

#[test]
fn packed_weights_of_many_taps_lie_eight_taps_a_lane_four_vectors_a_block() {
    for lanes in [1, 2, 4] {
        // Sixteen taps at most, and a last block that begins within the one before.
        let mut taps = table(Kernel::Triangle, &axis(280, 35), None, Precision::Fixed);
        assert_eq!((taps.most(), taps.stride()), (16, 16));
        taps.pack(lanes);
        let mut packed = taps.packed().chunks_exact(8);
        for first in blocks(35, lanes) {
            for group in [0, 8] {
                for vector in 0..4 {
                    for lane in 0..lanes {
                        let output = first + vector + 4 * lane;
                        assert_eq!(packed.next().unwrap(), &taps.padded(output)[group..group + 8]);
                    }
                }
            }
        }
        assert_eq!(packed.next(), None);
    }
}

#[test]
fn packed_weights_of_up_to_four_taps_lie_two_outputs_a_lane() {
    for lanes in [1, 2, 4] {
        let mut taps = table(Kernel::Triangle, &axis(70, 35), None, Precision::Fixed);
        assert_eq!(taps.most(), 4);
        taps.pack(lanes);
        let mut packed = taps.packed().chunks_exact(4);
        for first in blocks(35, lanes) {
            for half in [0, 2] {
                for lane in 0..lanes {
                    for output in [0, 1].map(|next| first + 4 * lane + half + next) {
                        assert_eq!(packed.next().unwrap(), &taps.padded(output)[..4]);
                    }
                }
            }
        }
        assert_eq!(packed.next(), None);
    }
}

#[test]
fn too_few_outputs_for_a_block_are_not_packed() {
    let mut taps = table(Kernel::Linear, &axis(70, 15), None, Precision::Fixed);
    taps.pack(4);
    assert_eq!(taps.packed(), []);
    taps.pack(0);
    assert_eq!(taps.packed(), []);
}
