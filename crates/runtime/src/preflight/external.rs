//! Data that a method wants by name: whether it is there, and is what it should be.

use crate::error::{Error, Result};
use crate::file::{FileTensor, Initial, MethodFile, ProgramFile, Storage, TensorLayout};
use crate::program::Program;
use std::collections::BTreeSet;

/// Checks that the tensors that `method` keeps outside the program are in the data files given, with their shapes.
pub(super) fn check(program: &Program, file: &ProgramFile, method: &MethodFile) -> Result<()> {
    let mut missing = BTreeSet::new();
    for (tensor, key) in wanted(method) {
        let Some(found) = program.external().and_then(|data| data.find(key)) else {
            // ExecuTorch looks in the program itself too, which has no shapes: such a tensor can't be used.
            let reason = "is in the program itself, which holds no shape for it";
            if file.named_data.iter().any(|data| data.key == key) {
                return Err(mismatch(method, key, reason));
            }
            missing.insert(key.to_owned());
            continue;
        };
        match &found.layout {
            None => return Err(mismatch(method, key, "is not a tensor")),
            Some(layout) if !fits(tensor, layout) => {
                let TensorLayout { dtype, sizes, .. } = layout;
                let reason = format!("is {dtype} {sizes:?}, wanted is {} {:?}", tensor.dtype, tensor.sizes);
                return Err(mismatch(method, key, &reason));
            }
            Some(_) => {}
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::ExternalDataMissing { method: method.name.clone(), keys: missing.into_iter().collect() })
}

/// The tensors of `method` that are in other files, or begin with what is there, with their keys.
pub(super) fn wanted(method: &MethodFile) -> impl Iterator<Item = (&FileTensor, &str)> {
    method.values.iter().filter_map(|value| {
        let tensor = value.as_tensor()?;
        match &tensor.storage {
            Storage::External { key } | Storage::Planned { initial: Some(Initial::External(key)), .. } => {
                Some((tensor, key.as_str()))
            }
            _ => None,
        }
    })
}

fn fits(tensor: &FileTensor, layout: &TensorLayout) -> bool {
    tensor.dtype == layout.dtype && tensor.sizes == layout.sizes && tensor.dim_order == layout.dim_order
}

fn mismatch(method: &MethodFile, key: &str, reason: &str) -> Error {
    Error::ExternalDataMismatch {
        method: method.name.clone(),
        key: key.to_owned(),
        reason: reason.to_owned(),
    }
}
