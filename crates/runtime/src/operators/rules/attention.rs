//! Our attention: heads and caches that can never fit together are told before the program is loaded. What depends on the
//! number of rows and on positions its kernel checks when it is called.

use super::types::{self, Argument};
use crate::file::FileTensor;
use crate::operators::call::Call;
use crate::tensor::DType;

const OPERATOR: &str = "nearside::attention.out";

const ARGUMENTS: [Argument; 8] = [
    ("query", DType::F32, 4),
    ("key", DType::F32, 4),
    ("value", DType::F32, 4),
    ("key_cache", DType::F32, 3),
    ("value_cache", DType::F32, 3),
    ("cache_position", DType::I64, 1),
    ("visible_until", DType::I64, 1),
    ("out", DType::F32, 4),
];

pub(super) fn check(operator: &str, call: &Call<'_>) -> Result<(), String> {
    if operator != OPERATOR {
        return Ok(());
    }
    types::check(&ARGUMENTS, call)?;
    let sizes = |name| call.tensor(name).map_or(&[][..], |tensor: &FileTensor| tensor.sizes.as_slice());
    let (&[batch, _, heads, dim], &[key_heads, _, _]) = (sizes("query"), sizes("key_cache")) else {
        return Ok(());
    };
    if batch != 1 {
        return Err(format!("its batch is {batch}, not 1"));
    }
    if key_heads < 1 || heads % key_heads != 0 {
        return Err(format!("{heads} query heads can't share {key_heads} key heads"));
    }
    for name in ["key", "value"] {
        if sizes(name)[2..] != [key_heads, dim] {
            return Err(format!(
                "`{name}` has rows of {:?}, not of {:?}",
                &sizes(name)[2..],
                [key_heads, dim]
            ));
        }
    }
    let slots = sizes("key_cache")[1];
    for name in ["key_cache", "value_cache"] {
        if sizes(name) != [key_heads, slots, dim] {
            return Err(format!("`{name}` has shape {:?}, not {:?}", sizes(name), [key_heads, slots, dim]));
        }
    }
    Ok(())
}
