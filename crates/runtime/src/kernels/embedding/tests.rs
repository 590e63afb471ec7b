//! Calls as C++ hands them over, compared with the table's numbers.

use super::run;
use crate::bridge::ffi;
use crate::kernels::packed::Scheme;
use crate::kernels::testing::{Matrix, Owned, Random};

const SCHEMES: [Scheme; 3] = [Scheme::Four, Scheme::FourWithOffsets, Scheme::Eight];

/// The arguments of a call.
#[derive(Clone)]
struct Call {
    tokens: Owned<i64>,
    weight: Owned<u8>,
    columns: i64,
    bits: i64,
    scale: f64,
    out: Owned<f32>,
}

impl Call {
    fn new(table: &Matrix, tokens: &[i64], random: &mut Random) -> Self {
        Self {
            tokens: Owned::new(&[1, tokens.len()], tokens.to_vec()),
            weight: table.pack(),
            columns: table.columns as i64,
            bits: table.bits(),
            scale: 1.0,
            out: random.floats(&[1, tokens.len(), table.columns]),
        }
    }

    fn raw(&mut self) -> ffi::EmbeddingCall {
        ffi::EmbeddingCall {
            tokens: self.tokens.raw(),
            weight: self.weight.raw(),
            columns: self.columns,
            bits: self.bits,
            scale: self.scale,
            out: self.out.raw(),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        // SAFETY: all tensors are owned and none is used meanwhile.
        unsafe { run(&self.raw()) }
    }

    #[track_caller]
    fn refused(mut self, why: &str) {
        let before = self.out.data.clone();
        let problem = self.run().unwrap_err();
        assert!(problem.contains(why), "{problem}");
        assert_eq!(self.out.data, before, "{why}: it wrote all the same");
    }
}

#[test]
fn each_token_has_its_row_of_the_table() {
    let mut random = Random::new();
    for scheme in SCHEMES {
        for (rows, columns) in [(16, 32), (50, 576), (33, 64)] {
            let table = Matrix::random(scheme, rows, columns, &mut random);
            let tokens = [0, 1, rows as i64 - 1, 7, 7, rows as i64 / 2];
            for scale in [1.0, 24.0] {
                let mut call = Call { scale, ..Call::new(&table, &tokens, &mut random) };
                call.run().unwrap();
                for (&token, out) in tokens.iter().zip(call.out.data.chunks_exact(columns)) {
                    for (column, &found) in out.iter().enumerate() {
                        let expected = scale * table.at(token as usize, column);
                        assert!(
                            (f64::from(found) - expected).abs() <= 1e-6 * scale,
                            "{found} is not {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn tokens_outside_of_the_table_are_refused() {
    let mut random = Random::new();
    let table = Matrix::random(Scheme::Four, 48, 64, &mut random);
    for wrong in [-1, 48, i64::MIN, i64::MAX, 1 << 32] {
        let call = Call::new(&table, &[3, wrong, 5], &mut random);
        call.refused(&format!("tokens[1] is {wrong}, the table has 48 rows"));
    }
}

#[test]
fn no_tokens_and_no_columns_are_nothing_to_do() {
    let mut random = Random::new();
    for scheme in SCHEMES {
        let table = Matrix::random(scheme, 16, 32, &mut random);
        Call::new(&table, &[], &mut random).run().unwrap();
        let empty = Matrix::random(scheme, 16, 0, &mut random);
        Call::new(&empty, &[0, 15], &mut random).run().unwrap();
        let none = Matrix::random(scheme, 0, 32, &mut random);
        Call::new(&none, &[0], &mut random).refused("tokens[0] is 0, the table has 0 rows");
    }
}

#[test]
fn shapes_and_numbers_that_do_not_fit_are_refused() {
    type Change = fn(&mut Call);
    let changes: [(Change, &str); 8] = [
        (|call| call.tokens.sizes = vec![2, 1], "the batch is 2"),
        (|call| call.tokens.sizes = vec![2], "tokens has 1 dimensions, not 2"),
        (|call| call.columns = -64, "there are -64 columns"),
        (|call| call.columns = 32, "out has shape [1, 2, 64], not [1, 2, 32]"),
        (
            |call| (call.columns, call.out) = (32, Owned::new(&[1, 2, 32], vec![0.0; 64])),
            "which no 32 columns",
        ),
        (|call| call.bits = 8, "which no 64 columns of 8 bits have"),
        (|call| call.bits = 0, "weights of 0 bits are not known"),
        (|call| call.weight.sizes = vec![1, 1728], "tiles of 1728 bytes"),
    ];
    let mut random = Random::new();
    let table = Matrix::random(Scheme::Four, 48, 64, &mut random);
    for (change, why) in changes {
        let mut call = Call::new(&table, &[1, 2], &mut random);
        change(&mut call);
        call.refused(why);
    }
    let mut call = Call::new(&table, &[1, 2], &mut random);
    let mut raw = call.raw();
    raw.out.data = raw.weight.data;
    // SAFETY: all tensors are owned and none is used meanwhile.
    let problem = unsafe { run(&raw) }.unwrap_err();
    assert_eq!(problem, "out is written, and shares memory with weight");
}
