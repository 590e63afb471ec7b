//! Constant methods of a program, read from its file: nothing is loaded or run for them.

use crate::error::Result;
use nearside_runtime::Program;
use nearside_runtime::file::{FileValue, MethodFile};
use std::collections::BTreeMap;

/// Whole numbers by the name of the method that gives them.
pub(super) type Constants = BTreeMap<String, Vec<i64>>;

pub(super) fn constants(program: &Program) -> Result<Constants> {
    let file = program.file()?;
    let constant = |method: &MethodFile| -> Option<(String, Vec<i64>)> {
        if !method.inputs.is_empty() || !method.instructions.is_empty() {
            return None;
        }
        let mut numbers = Vec::new();
        for &output in &method.outputs {
            whole_numbers(method, output, &mut numbers)?;
        }
        Some((method.name.clone(), numbers))
    };
    Ok(file.methods.iter().filter_map(constant).collect())
}

/// Adds the numbers of a value; `None` if it is of another kind.
fn whole_numbers(method: &MethodFile, value: usize, numbers: &mut Vec<i64>) -> Option<()> {
    match method.values.get(value)? {
        FileValue::Int(number) => numbers.push(*number),
        FileValue::Bool(truth) => numbers.push(i64::from(*truth)),
        FileValue::IntList(values) => {
            for &inner in values {
                match method.values.get(inner)? {
                    FileValue::Int(number) => numbers.push(*number),
                    _ => return None,
                }
            }
        }
        _ => return None,
    }
    Some(())
}
