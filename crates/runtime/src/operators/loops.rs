//! Jumps backward: only loops that end.
//!
//! ExecuTorch stops a method after ten million instructions, which may be hours of kernels. Its exporter makes loops of one
//! form (`_emit_map` and `_emit_scan` of exir/emit/_emitter.py): a counter goes up by one until it is a tensor's size.

use super::signature::{self, ResultSlot};
use crate::file::{FileValue, Instruction, MethodFile};

/// More turns than a loop has that counts to a number in the file.
const MAX_TURNS: i64 = 1_000_000;

/// More loops than a method has: each is looked for in all instructions.
const MAX_LOOPS: usize = 100;

pub(super) fn check(method: &MethodFile) -> Result<(), String> {
    let mut loops = 0;
    for (at, instruction) in method.instructions.iter().enumerate() {
        let Instruction::JumpFalse { condition, destination } = *instruction else { continue };
        if destination > at {
            continue;
        }
        loops += 1;
        if loops > MAX_LOOPS {
            return Err(format!("it has more than {MAX_LOOPS} loops"));
        }
        if !ends(method, destination, at, condition) {
            return Err(format!("instruction {at} jumps back to {destination} in a loop that may not end"));
        }
    }
    Ok(())
}

fn ends(method: &MethodFile, first: usize, last: usize, condition: usize) -> bool {
    let Some(("executorch_prim::eq.Scalar", &[counter, end, _])) =
        the_one_that_sets(method, first, last, condition)
    else {
        return false;
    };
    let Some(("executorch_prim::add.Scalar", &[before, step, _])) =
        the_one_that_sets(method, first, last, counter)
    else {
        return false;
    };
    let is_never_set = |value| set_by(method, 0, method.instructions.len() - 1, value).next().is_none();
    // Set back for the next time at once: `counter - end` is 0 then. Nothing else sets it, but for the step.
    // The step, the comparison, the jump and that follow one another, so that no run breaks off or jumps between them.
    let setters = set_by(method, 0, method.instructions.len() - 1, counter).count();
    let is_set_back = matches!(
        method.instructions.get(last + 1),
        Some(Instruction::Kernel { operator, args })
            if method.operators[*operator] == "executorch_prim::sub.Scalar" && args[..] == [counter, end, counter]
    );
    let starts_at_zero = method.values[counter] == FileValue::Int(0) && is_set_back && setters == 2;
    let counts = before == counter && is_never_set(step) && method.values[step] == FileValue::Int(1);
    let ends = match the_one_that_sets(method, 0, method.instructions.len() - 1, end) {
        Some(("aten::sym_size.int", _)) => set_by(method, first, last, end).next().is_none(),
        Some(_) => false,
        None => is_never_set(end) && matches!(method.values[end], FileValue::Int(1..=MAX_TURNS)),
    };
    starts_at_zero && counts && ends && no_jump_passes(method, first, last, [counter, condition])
}

/// Whether every turn takes the step and every way out sets the counter back: no other jump enters or leaves the loop, or
/// goes over the step.
fn no_jump_passes(method: &MethodFile, first: usize, last: usize, set: [usize; 2]) -> bool {
    let body = method.instructions.get(first..last).unwrap_or_default();
    let step = match body {
        [.., Instruction::Kernel { args: step, .. }, Instruction::Kernel { args: compared, .. }]
            if [step.last(), compared.last()] == set.each_ref().map(Some) =>
        {
            last - 2
        }
        _ => return false,
    };
    method.instructions.iter().enumerate().all(|(at, instruction)| {
        let Instruction::JumpFalse { destination, .. } = *instruction else { return true };
        let inside = (first..=last).contains(&at);
        match at {
            _ if at == last => true,
            _ if inside => (first..=step).contains(&destination),
            _ => destination <= first || destination > last + 1,
        }
    })
}

/// The kernel call in `first..=last` that sets the value, if it is the only instruction there that does.
fn the_one_that_sets(
    method: &MethodFile,
    first: usize,
    last: usize,
    value: usize,
) -> Option<(&str, &[usize])> {
    let mut setters = set_by(method, first, last, value);
    match (setters.next(), setters.next()) {
        (Some(Instruction::Kernel { operator, args }), None) => Some((&method.operators[*operator], args)),
        _ => None,
    }
}

/// The instructions in `first..=last` that may assign a number to the value.
fn set_by(
    method: &MethodFile,
    first: usize,
    last: usize,
    value: usize,
) -> impl Iterator<Item = &Instruction> {
    let sets = move |instruction: &&Instruction| match instruction {
        Instruction::Kernel { operator, args } => {
            args.last() == Some(&value)
                && signature::of(&method.operators[*operator]).is_none_or(|s| s.result == ResultSlot::Number)
        }
        Instruction::Delegate { args, .. } => args.contains(&value),
        Instruction::Move { to, .. } => *to == value,
        Instruction::JumpFalse { .. } | Instruction::Free { .. } => false,
    };
    method.instructions.get(first..=last).unwrap_or_default().iter().filter(sets)
}
