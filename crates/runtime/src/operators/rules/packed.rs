//! Our operators on packed weights: a weight whose rows are of another length than what it is multiplied with is told before
//! the program is loaded. Whether it is as long as its numbers say, its kernel checks when it is called, and so it does the
//! tokens.

use super::types::{self, Argument};
use crate::operators::call::Call;
use crate::tensor::DType;

const LINEAR: [Argument; 4] =
    [("x", DType::F32, 3), ("weight", DType::U8, 2), ("bias", DType::F32, 1), ("out", DType::F32, 3)];

const EMBEDDING: [Argument; 3] =
    [("tokens", DType::I64, 2), ("weight", DType::U8, 2), ("out", DType::F32, 3)];

/// Bytes of a tile of 32 columns: of 4 bits, without offsets and with them, and of 8 bits, which has a tail besides.
const BLOCKS: [i64; 3] = [288, 320, 512];
const TAIL: i64 = 64;

pub(super) fn check(operator: &str, call: &Call<'_>) -> Result<(), String> {
    let (of, rows) = match operator {
        "nearside::linear.out" => (&LINEAR[..], "x"),
        "nearside::embedding.out" => (&EMBEDDING[..], "out"),
        _ => return Ok(()),
    };
    types::check(of, call)?;
    let sizes = |name| call.tensor(name).map_or(&[][..], |tensor| tensor.sizes.as_slice());
    let (&[batch, _, columns], &[_, tile_bytes]) = (sizes(rows), sizes("weight")) else { return Ok(()) };
    if batch != 1 {
        return Err(format!("its batch is {batch}, not 1"));
    }
    let blocks = i64::from(columns) / 32;
    let fits =
        |block: i64| blocks * block + if block == BLOCKS[2] { TAIL } else { 0 } == i64::from(tile_bytes);
    if columns % 32 != 0 || !BLOCKS.into_iter().any(fits) {
        return Err(format!(
            "`weight` has tiles of {tile_bytes} bytes, which no rows of {columns} columns have"
        ));
    }
    Ok(())
}
