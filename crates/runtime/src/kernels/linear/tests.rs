//! Calls as C++ hands them over, compared with the sums of products in f64, and instruction sets with each other.

use super::arguments::Arguments;
use super::inner_loops::InnerLoops;
use super::{multiply, run};
use crate::bridge::ffi;
use crate::kernels::packed::Scheme;
use crate::kernels::testing::{Matrix, Owned, Random, absent};
use crate::tensor::DType;

const SCHEMES: [Scheme; 3] = [Scheme::Four, Scheme::FourWithOffsets, Scheme::Eight];

/// The arguments of a call.
#[derive(Clone)]
struct Call {
    x: Owned<f32>,
    weight: Owned<u8>,
    bias: Option<Owned<f32>>,
    rows: i64,
    bits: i64,
    out: Owned<f32>,
}

impl Call {
    fn new(matrix: &Matrix, x_rows: usize, random: &mut Random) -> Self {
        Self {
            x: random.floats(&[1, x_rows, matrix.columns]),
            weight: matrix.pack(),
            bias: Some(random.floats(&[matrix.rows])),
            rows: matrix.rows as i64,
            bits: matrix.bits(),
            out: random.floats(&[1, x_rows, matrix.rows]),
        }
    }

    fn raw(&mut self) -> ffi::LinearCall {
        ffi::LinearCall {
            x: self.x.raw(),
            weight: self.weight.raw(),
            bias: self.bias.as_mut().map_or_else(absent, Owned::raw),
            rows: self.rows,
            bits: self.bits,
            out: self.out.raw(),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        // SAFETY: all tensors are owned and none is used meanwhile.
        unsafe { run(&self.raw()) }
    }

    /// The result with these inner loops.
    fn with(&self, loops: &InnerLoops) -> Vec<u32> {
        let mut call = self.clone();
        call.out.data.fill(f32::NAN);
        let raw = call.raw();
        // SAFETY: as above.
        let mut arguments = unsafe { Arguments::of(&raw) }.unwrap();
        multiply(&mut arguments, loops).unwrap();
        call.out.data.iter().map(|out| out.to_bits()).collect()
    }

    /// The same call for some of its rows only.
    fn part(&self, first: usize, count: usize) -> Self {
        let of = |tensor: &Owned<f32>| {
            let row = tensor.sizes[2] as usize;
            Owned::new(&[1, count, row], tensor.data[first * row..(first + count) * row].to_vec())
        };
        Self { x: of(&self.x), out: of(&self.out), ..self.clone() }
    }

    #[track_caller]
    fn check(mut self, matrix: &Matrix) {
        self.run().unwrap();
        for row in 0..matrix.rows {
            let weights = matrix.row(row);
            let bias = self.bias.as_ref().map_or(0.0, |bias| f64::from(bias.data[row]));
            let outs = self.out.data.iter().skip(row).step_by(matrix.rows).map(|&out| f64::from(out));
            for (x, out) in self.x.data.chunks_exact(matrix.columns).zip(outs) {
                let quantised = x.chunks_exact(32).flat_map(quantised);
                let (mut expected, mut exact, mut size) = (bias, bias, bias.abs());
                for ((weight, quantised), &x) in weights.iter().zip(quantised).zip(x) {
                    expected += weight * quantised;
                    exact += weight * f64::from(x);
                    size += (weight * quantised).abs();
                }
                assert!((out - expected).abs() <= 2e-6 * size, "row {row}: {out}, not {expected}");
                // What quantising may do: half a step a column.
                let step = f64::from(x.iter().fold(0_f32, |largest, x| largest.max(x.abs())) / 127.0);
                let most = weights.iter().map(|weight| weight.abs() * step * 0.51).sum::<f64>();
                assert!((out - exact).abs() <= most + 2e-6 * size, "row {row}: {out}, not {exact}");
            }
        }
    }

    #[track_caller]
    fn refused(mut self, why: &str) {
        let before = self.out.data.clone();
        let problem = self.run().unwrap_err();
        assert!(problem.contains(why), "{problem}");
        assert_eq!(self.out.data, before, "{why}: it wrote all the same");
    }
}

/// A block of x, quantised.
fn quantised(x: &[f32]) -> Vec<f64> {
    let scale = x.iter().fold(0_f32, |largest, x| largest.max(x.abs())) / 127.0;
    let value = |x: &f32| if scale == 0.0 { 0.0 } else { (x / scale).round_ties_even() };
    x.iter().map(|x| f64::from(value(x)) * f64::from(scale)).collect()
}

/// Those that say what the others must give.
fn scalar() -> &'static InnerLoops {
    InnerLoops::available().next().unwrap().1
}

#[test]
fn it_gives_the_products_of_quantised_rows_with_weights() {
    let mut random = Random::new();
    for scheme in SCHEMES {
        for (rows, columns) in [(1, 32), (16, 32), (17, 64), (40, 96), (64, 576), (33, 1536)] {
            let matrix = Matrix::random(scheme, rows, columns, &mut random);
            for x_rows in [1, 2, 3, 8, 9, 21] {
                let call = Call::new(&matrix, x_rows, &mut random);
                Call { bias: None, ..call.clone() }.check(&matrix);
                call.check(&matrix);
            }
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let mut random = Random::new();
    for scheme in SCHEMES {
        for (rows, columns) in [(16, 32), (35, 160), (160, 576)] {
            let matrix = Matrix::random(scheme, rows, columns, &mut random);
            for x_rows in (1..=18).chain([67]) {
                let call = Call::new(&matrix, x_rows, &mut random);
                let expected = call.with(scalar());
                for (set, loops) in InnerLoops::available() {
                    assert_eq!(call.with(loops), expected, "{set}, {scheme:?}, {x_rows} rows");
                }
            }
        }
    }
}

#[test]
fn a_row_gives_the_same_bits_whatever_rows_are_beside_it() {
    let mut random = Random::new();
    for scheme in SCHEMES {
        let matrix = Matrix::random(scheme, 50, 320, &mut random);
        let whole = Call::new(&matrix, 37, &mut random);
        for (set, loops) in InnerLoops::available() {
            let at_once = whole.with(loops);
            for count in [1, 2, 5, 8, 13] {
                for first in (0..37 - count).step_by(count) {
                    let part = whole.part(first, count).with(loops);
                    assert_eq!(part, at_once[first * 50..(first + count) * 50], "{set}, {first} to {count}");
                }
            }
        }
    }
}

#[test]
fn the_largest_sums_do_not_overflow() {
    let mut random = Random::new();
    for (scheme, ints) in
        [(Scheme::Four, [-8, 7]), (Scheme::FourWithOffsets, [-8, 7]), (Scheme::Eight, [-128, 127])]
    {
        for int in ints {
            let matrix = Matrix::random(scheme, 16, 64, &mut random).filled(int);
            for x in [1.0, -1.0] {
                let mut call = Call::new(&matrix, 9, &mut random);
                call.x.data.fill(x);
                call.clone().check(&matrix);
                let expected = call.with(scalar());
                InnerLoops::available().for_each(|(set, loops)| {
                    assert_eq!(call.with(loops), expected, "{set}, {scheme:?}, {int} {x}")
                });
            }
        }
    }
}

#[test]
fn numbers_at_the_ends_of_f32_are_quantised_alike() {
    let mut random = Random::new();
    let matrix = Matrix::random(Scheme::FourWithOffsets, 16, 32, &mut random);
    let tiny = f32::from_bits(1);
    for (largest, other) in [
        (0.0, -0.0),
        (tiny, -tiny),
        (f32::from_bits(190), -f32::from_bits(190)),
        (f32::from_bits(100), tiny),
        (f32::MIN_POSITIVE, tiny),
        (f32::MAX, -f32::MAX),
        (127.0, 0.5),
        (127.0, -1.5),
        (127.0, 2.5),
    ] {
        let mut call = Call::new(&matrix, 1, &mut random);
        call.x.data.fill(other);
        call.x.data[13] = largest;
        let expected = call.with(scalar());
        InnerLoops::available()
            .for_each(|(set, loops)| assert_eq!(call.with(loops), expected, "{set}: {largest} {other}"));
        if largest < 1e38 {
            call.check(&matrix);
        }
    }
}

#[test]
fn what_is_no_number_does_not_come_out_as_one() {
    let mut random = Random::new();
    for scheme in SCHEMES {
        let matrix = Matrix::random(scheme, 20, 64, &mut random);
        for wrong in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for at in [0, 37, 63] {
                let mut call = Call::new(&matrix, 3, &mut random);
                let whole = call.clone();
                call.x.data[64 + at] = wrong;
                for (set, loops) in InnerLoops::available() {
                    let out: Vec<f32> = call.with(loops).into_iter().map(f32::from_bits).collect();
                    assert!(out[20..40].iter().all(|out| out.is_nan()), "{set}: {out:?}");
                    let expected = whole.with(loops);
                    for row in [0..20, 40..60] {
                        assert!(
                            out[row.clone()]
                                .iter()
                                .map(|out| out.to_bits())
                                .eq(expected[row].iter().copied())
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn no_rows_and_no_columns_are_nothing_to_multiply() {
    let mut random = Random::new();
    for scheme in SCHEMES {
        for ([rows, columns], x_rows) in [([0, 32], 3), ([5, 32], 0), ([5, 0], 3), ([0, 0], 0)] {
            let matrix = Matrix::random(scheme, rows, columns, &mut random);
            let mut call = Call::new(&matrix, x_rows, &mut random);
            call.run().unwrap();
            if let Some(bias) = &call.bias {
                assert!(call.out.data.chunks_exact(rows.max(1)).all(|out| out == bias.data), "{scheme:?}");
            }
        }
    }
}

#[test]
fn shapes_and_numbers_that_do_not_fit_are_refused() {
    type Change = fn(&mut Call);
    let changes: [(Change, &str); 14] = [
        (|call| call.x.sizes = vec![3, 64], "x has 2 dimensions, not 3"),
        (|call| call.x.sizes = vec![3, 1, 64], "the batch is 3"),
        (|call| call.x.sizes = vec![1, 6, 32], "out has shape [1, 3, 20], not [1, 6, 20]"),
        (|call| call.x = Owned::new(&[1, 3, 33], vec![0.0; 99]), "33 columns are not whole blocks"),
        (|call| call.x = Owned::new(&[1, 3, 96], vec![0.0; 288]), "which no 96 columns of 4 bits have"),
        (|call| call.bits = 8, "which no 64 columns of 8 bits have"),
        (|call| call.bits = 3, "weights of 3 bits are not known"),
        (|call| call.rows = -1, "there are -1 rows"),
        (|call| call.rows = i64::MAX, "bias has shape [20]"),
        (
            |call| (call.rows, call.out.sizes, call.bias) = (15, vec![1, 4, 15], None),
            "out has shape [1, 4, 15]",
        ),
        (
            |call| (call.rows, call.out, call.bias) = (33, Owned::new(&[1, 3, 33], vec![0.0; 99]), None),
            "weight has 2 tiles of 16 rows, for 33 rows",
        ),
        (|call| call.weight.sizes = vec![1, 1280], "tiles of 1280 bytes"),
        (|call| call.weight.sizes = vec![1280], "weight has 1 dimensions, not 2"),
        (|call| call.bias.as_mut().unwrap().sizes = vec![4, 5], "bias has 2 dimensions, not 1"),
    ];
    let mut random = Random::new();
    let matrix = Matrix::random(Scheme::FourWithOffsets, 20, 64, &mut random);
    for (change, why) in changes {
        let mut call = Call::new(&matrix, 3, &mut random);
        change(&mut call);
        call.refused(why);
    }
    let mut call = Call::new(&matrix, 3, &mut random);
    let problem = |raw: &ffi::LinearCall| {
        // SAFETY: all tensors are owned and none is used meanwhile.
        unsafe { run(raw) }.unwrap_err()
    };
    let mut raw = call.raw();
    raw.weight.dtype = DType::I8.to_raw();
    assert_eq!(problem(&raw), "weight is of i8, not of u8");
    let mut raw = call.raw();
    raw.x = absent();
    assert_eq!(problem(&raw), "x is missing");
}

#[test]
fn out_shares_memory_with_nothing() {
    let mut random = Random::new();
    let matrix = Matrix::random(Scheme::Four, 64, 64, &mut random);
    let mut call = Call::new(&matrix, 3, &mut random);
    let mut raw = call.raw();
    raw.out.data = raw.x.data;
    // SAFETY: all tensors are owned and none is used meanwhile.
    let problem = unsafe { run(&raw) }.unwrap_err();
    assert_eq!(problem, "out is written, and shares memory with x");
}
