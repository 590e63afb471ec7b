//! A kernel call: its arguments, of the kinds that the operator's signature asks for.

use super::flow::Flow;
use super::signature::{Kind, ResultSlot, Signature};
use crate::file::{FileTensor, FileValue};

/// More tensors than any kernel takes. ExecuTorch builds a name out of them in a buffer of fixed size, and calls whatever
/// it finds in memory if that fails (`resolve_operator` and `make_kernel_key_string`).
const MAX_UNKNOWN_TENSORS: usize = 16;

/// A kernel call whose number and kinds of arguments are right.
pub(super) struct Call<'a> {
    signature: &'static Signature,
    args: &'a [usize],
    values: &'a [FileValue],
    flow: &'a Flow,
}

impl<'a> Call<'a> {
    pub(super) fn new(
        signature: &'static Signature,
        args: &'a [usize],
        values: &'a [FileValue],
        flow: &'a Flow,
    ) -> Result<Self, String> {
        if args.len() != signature.values() {
            return Err(format!(
                "it passes {} values, the operator takes {}",
                args.len(),
                signature.values()
            ));
        }
        let call = Self { signature, args, values, flow };
        for (at, arg) in signature.args.iter().enumerate() {
            if !call.fits(args[at], arg.kind, arg.optional) {
                let wanted = format!("{:?}{}", arg.kind, if arg.optional { " or None" } else { "" });
                return Err(format!("`{}` is a {}, not a {wanted}", arg.name, values[args[at]].kind()));
            }
        }
        call.check_result()?;
        Ok(call)
    }

    fn fits(&self, value: usize, kind: Kind, optional: bool) -> bool {
        let number = |value: &FileValue| {
            matches!(value, FileValue::Int(_) | FileValue::Double(_) | FileValue::Bool(_))
        };
        let found = &self.values[value];
        if optional && *found == FileValue::None {
            return true;
        }
        // The exporter gives a number that is computed whatever kind it likes; its kernel sets the right one.
        if self.flow.is_computed(value) && number(found) {
            return matches!(kind, Kind::Int | Kind::Float | Kind::Bool | Kind::Scalar);
        }
        match kind {
            Kind::Tensor => matches!(found, FileValue::Tensor(_)),
            Kind::Int => matches!(found, FileValue::Int(_)),
            Kind::Float => matches!(found, FileValue::Double(_)),
            Kind::Bool => matches!(found, FileValue::Bool(_)),
            Kind::Scalar => number(found),
            Kind::String => matches!(found, FileValue::String(_)),
            Kind::IntList => matches!(found, FileValue::IntList(_)),
            Kind::FloatList => matches!(found, FileValue::DoubleList(_)),
            Kind::BoolList => matches!(found, FileValue::BoolList(_)),
            Kind::TensorList => matches!(found, FileValue::TensorList(_)),
            Kind::OptionalTensorList => matches!(found, FileValue::OptionalTensorList(_)),
        }
    }

    fn check_result(&self) -> Result<(), String> {
        let Some(&result) = self.args.get(self.signature.args.len()) else { return Ok(()) };
        let result = &self.values[result];
        match self.signature.result {
            ResultSlot::Absent | ResultSlot::Unused => Ok(()),
            ResultSlot::Number => match result {
                FileValue::Int(_) | FileValue::Double(_) | FileValue::Bool(_) | FileValue::None => Ok(()),
                other => Err(format!("its result is a number, but is put in place of a {}", other.kind())),
            },
            ResultSlot::Tensor => match (result, &self.values[self.args[0]]) {
                (FileValue::Tensor(to), FileValue::Tensor(from)) => may_stand_for(from, to),
                (other, _) => {
                    Err(format!("its result is a tensor, but is put in place of a {}", other.kind()))
                }
            },
        }
    }

    /// The tensors that the operator reads; lists flattened.
    pub(super) fn read_values(&self) -> Vec<usize> {
        self.tensor_values(false)
    }

    /// The tensors that the operator writes; lists flattened.
    pub(super) fn written_values(&self) -> Vec<usize> {
        self.tensor_values(true)
    }

    fn tensor_values(&self, written: bool) -> Vec<usize> {
        let args =
            self.signature.args.iter().zip(self.args).filter(|(arg, _)| arg.access.writes() == written);
        args.flat_map(|(_, &value)| flatten(value, self.values)).collect()
    }

    pub(super) fn flow(&self) -> &'a Flow {
        self.flow
    }

    /// The argument of that name, if it is a tensor.
    pub(super) fn tensor(&self, name: &str) -> Option<&'a FileTensor> {
        let at = self.signature.args.iter().position(|arg| arg.name == name)?;
        self.values[self.args[at]].as_tensor()
    }

    pub(super) fn value(&self, value: usize) -> &'a FileValue {
        &self.values[value]
    }
}

/// The tensors in a value: itself, or those of the list that it is.
pub(super) fn flatten(value: usize, values: &[FileValue]) -> Vec<usize> {
    match &values[value] {
        FileValue::Tensor(_) => vec![value],
        FileValue::TensorList(items) => items.clone(),
        FileValue::OptionalTensorList(items) => items.iter().flatten().copied().collect(),
        _ => Vec::new(),
    }
}

/// Whether a value that the file describes as `to` may become the tensor `from`.
pub(super) fn may_stand_for(from: &FileTensor, to: &FileTensor) -> Result<(), String> {
    if from.dtype == to.dtype && from.sizes.len() == to.sizes.len() {
        return Ok(());
    }
    Err(format!(
        "a tensor of {} and {} dimensions is put in place of one of {} and {}",
        from.dtype,
        from.sizes.len(),
        to.dtype,
        to.sizes.len()
    ))
}

/// What must hold for the arguments of any operator.
pub(super) fn check_unknown(args: &[usize], values: &[FileValue]) -> Result<(), String> {
    let tensors = args.iter().filter(|&&arg| values[arg].as_tensor().is_some()).count();
    if tensors > MAX_UNKNOWN_TENSORS {
        return Err(format!("it passes {tensors} tensors, at most {MAX_UNKNOWN_TENSORS} are possible"));
    }
    Ok(())
}
