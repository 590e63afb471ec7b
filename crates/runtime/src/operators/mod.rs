//! What kernels are called with, checked before ExecuTorch runs them.
//!
//! ExecuTorch's kernels trust much of what a program says. The checks here make sure that a method only does to its
//! values what their entries in the file allow: every argument is of the kind that the operator takes ([`signature`]),
//! what the kernels themselves don't check holds ([`rules`]), and no value is read before it has memory or written where
//! it must not be ([`flow`]).

mod call;
mod flow;
mod loops;
mod rules;
mod signature;
#[cfg(test)]
mod tests;

use crate::file::{FileValue, Instruction, MethodFile};
use call::Call;
use signature::Access;

/// Checks every kernel call of a method, and what its instructions do to its values.
///
/// `delegate_writes` tells for each delegate which of its arguments it writes; empty where that is not known.
///
/// # Errors
/// One sentence that names the instruction and what is wrong with it.
pub(crate) fn check_method(method: &MethodFile, delegate_writes: &[Vec<bool>]) -> Result<(), String> {
    let flow = flow::analyse(method, delegate_writes)?;
    for (at, instruction) in method.instructions.iter().enumerate() {
        let Instruction::Kernel { operator, args } = instruction else { continue };
        let operator = &method.operators[*operator];
        check_call(operator, args, &method.values, &flow)
            .map_err(|reason| format!("instruction {at}, a call of {operator}: {reason}"))?;
    }
    loops::check(method)
}

fn check_call(operator: &str, args: &[usize], values: &[FileValue], flow: &flow::Flow) -> Result<(), String> {
    let Some(signature) = signature::of(operator) else {
        // The host's own operator: whether it is registered is checked elsewhere, its arguments are its own to check.
        return call::check_unknown(args, values);
    };
    let call = Call::new(signature, args, values, flow)?;
    rules::check(operator, &call)
}

/// Which of the values that a call passes the operator overwrites whatever they hold, by position: its outs and the value
/// after the arguments, which the exporter lets stand for the outs once more. What it changes in place is not among them:
/// it reads that too. `None` for an operator that ExecuTorch's libraries don't have.
pub(crate) fn written(operator: &str) -> Option<Vec<usize>> {
    let signature = signature::of(operator)?;
    let outs =
        signature.args.iter().enumerate().filter(|(_, arg)| arg.access == Access::Out).map(|(at, _)| at);
    Some(outs.chain(signature.args.len()..signature.values()).collect())
}
