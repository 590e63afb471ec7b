//! A method of a program: its values and the instructions that work on them.

use super::program::Tables;
use super::tensor;
use super::value::{FileValue, Storage};
use crate::schema::program::executorch_flatbuffer as fb;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A method. Every index in it is within its list.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodFile {
    /// Its name.
    pub name: String,
    /// What instructions read and write.
    pub values: Vec<FileValue>,
    /// The inputs, as indices of values.
    pub inputs: Vec<usize>,
    /// The outputs, as indices of values.
    pub outputs: Vec<usize>,
    /// The operators called, such as `aten::add.out`.
    pub operators: Vec<String>,
    /// The delegates called: one entry for each delegated part of the graph.
    pub delegates: Vec<FileDelegate>,
    /// What is done, in order.
    pub instructions: Vec<Instruction>,
    /// Bytes of each planned arena; the first is ExecuTorch's memory id 1.
    pub planned_bytes: Vec<u64>,
    /// The device other than the CPU on which some of its memory is, such as `CUDA`.
    pub device: Option<String>,
}

/// A part of the graph that a delegate runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDelegate {
    /// The delegate's id, such as `XnnpackBackend`.
    pub id: String,
    /// Where in the file its payload is.
    pub payload: Range<u64>,
    /// Options that were fixed at export.
    pub specs: Vec<CompileSpec>,
}

/// An option that was fixed at export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileSpec {
    /// Its name.
    pub key: String,
    /// Its value, in the delegate's own form.
    pub value: Vec<u8>,
}

/// One step of a method. Numbers are indices into the method's lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instruction {
    /// Calls an operator's kernel.
    Kernel {
        /// The operator.
        operator: usize,
        /// The values passed, outputs included.
        args: Vec<usize>,
    },
    /// Calls a delegate.
    Delegate {
        /// The delegated part.
        delegate: usize,
        /// The values passed, outputs included.
        args: Vec<usize>,
    },
    /// Copies a value.
    Move {
        /// From here.
        from: usize,
        /// To here.
        to: usize,
    },
    /// Goes on elsewhere if a value is false.
    JumpFalse {
        /// The value.
        condition: usize,
        /// The instruction to go on with; the number of instructions for the end.
        destination: usize,
    },
    /// Frees a tensor's memory.
    Free {
        /// The tensor.
        value: usize,
    },
}

type Checked<T> = Result<T, String>;

/// The longest operator name that ExecuTorch 1.5.1 resolves, with the dot (runtime/executor/method.cpp).
const MAX_OPERATOR_NAME: usize = 99;

impl MethodFile {
    /// Bytes of each planned arena up to the end of its last tensor: what has to be there. The file may announce more.
    pub fn arena_bytes(&self) -> Vec<u64> {
        let mut ends = vec![0; self.planned_bytes.len()];
        for tensor in self.values.iter().filter_map(FileValue::as_tensor) {
            if let Storage::Planned { arena, offset, .. } = &tensor.storage {
                ends[*arena] = ends[*arena].max(offset + tensor.bytes);
            }
        }
        ends
    }

    /// Mutable buffers that the exporter left to the host to place, as indices of values: named, neither planned nor
    /// constant, neither input nor output.
    pub fn unplaced_buffers(&self) -> Vec<usize> {
        let ends: BTreeSet<usize> = self.inputs.iter().chain(&self.outputs).copied().collect();
        let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, value) in self.values.iter().enumerate() {
            if let Some(name) = value.as_tensor().and_then(|tensor| tensor.name.as_deref()) {
                named.entry(name).or_default().push(at);
            }
        }
        let is_unplaced = |at: usize| {
            let storage = self.values[at].as_tensor().map(|tensor| &tensor.storage);
            storage == Some(&Storage::Caller) && !ends.contains(&at)
        };
        // ExecuTorch finds them by name: of two tensors with the same one, wherever they are, it would find the first.
        let once = named.into_values().filter_map(|all| <[usize; 1]>::try_from(all).ok());
        let mut unplaced: Vec<usize> = once.map(|[at]| at).filter(|&at| is_unplaced(at)).collect();
        unplaced.sort_unstable();
        unplaced
    }

    /// Outputs that the exporter left to the host to place, as indices of outputs. One that is an input too shares its
    /// memory.
    pub fn unplaced_outputs(&self) -> Vec<usize> {
        let inputs: BTreeSet<usize> = self.inputs.iter().copied().collect();
        let unplaced = |index: &usize| {
            let at = self.outputs[*index];
            let tensor = self.values[at].as_tensor();
            tensor.is_some_and(|tensor| tensor.storage == Storage::Caller) && !inputs.contains(&at)
        };
        (0..self.outputs.len()).filter(unplaced).collect()
    }

    pub(super) fn read(tables: &Tables<'_>, plan: fb::ExecutionPlan<'_>) -> Checked<Self> {
        let name = plan.name().filter(|name| !name.is_empty()).ok_or("a method has no name")?;
        Self::read_named(tables, plan, name).map_err(|reason| format!("method `{name}`: {reason}"))
    }

    fn read_named(tables: &Tables<'_>, plan: fb::ExecutionPlan<'_>, name: &str) -> Checked<Self> {
        let planned_bytes = planned_bytes(plan)?;
        let values = plan.values().ok_or("it has no values")?;
        let count = values.len();
        let mut read: Vec<FileValue> = Vec::with_capacity(count);
        for (index, value) in values.iter().enumerate() {
            let value = self::value(tables, value, &read, count, &planned_bytes);
            read.push(value.map_err(|reason| format!("value {index}: {reason}"))?);
        }
        check_int_lists(&read)?;
        let operators = plan.operators().into_iter().flatten().map(operator).collect::<Checked<Vec<_>>>()?;
        let delegates = plan
            .delegates()
            .into_iter()
            .flatten()
            .map(|d| delegate(tables, d))
            .collect::<Checked<Vec<_>>>()?;
        let instructions = instructions(plan, count, operators.len(), delegates.len())?;
        Ok(Self {
            name: name.to_owned(),
            inputs: indices(plan.inputs(), count, "input")?,
            outputs: indices(plan.outputs(), count, "output")?,
            values: read,
            operators,
            delegates,
            instructions,
            planned_bytes,
            device: device(plan),
        })
    }
}

/// The first device other than the CPU that an arena or a tensor is on.
fn device(plan: fb::ExecutionPlan<'_>) -> Option<String> {
    let arenas = plan.non_const_buffer_device().into_iter().flatten().map(|arena| arena.device_type());
    let values = plan.values().into_iter().flatten();
    let tensors = values.filter_map(|value| Some(value.val_as_tensor()?.extra_tensor_info()?.device_type()));
    let other = arenas.chain(tensors).find(|&device| device != fb::DeviceType::CPU)?;
    Some(other.variant_name().map_or_else(|| format!("device {}", other.0), str::to_owned))
}

fn planned_bytes(plan: fb::ExecutionPlan<'_>) -> Checked<Vec<u64>> {
    // The first stands for constants and is not used.
    let sizes = plan.non_const_buffer_sizes().ok_or("it has no memory plan")?;
    let positive = |size: i64| u64::try_from(size).map_err(|_| format!("an arena has {size} bytes"));
    sizes.iter().skip(1).map(positive).collect()
}

fn value(
    tables: &Tables<'_>,
    value: fb::EValue<'_>,
    earlier: &[FileValue],
    count: usize,
    planned_bytes: &[u64],
) -> Checked<FileValue> {
    let tensor_before = |index: i32| -> Checked<usize> {
        // ExecuTorch copies the tensor while it reads the list, so that it must have been read.
        let at =
            usize::try_from(index).ok().filter(|&at| matches!(earlier.get(at), Some(FileValue::Tensor(_))));
        at.ok_or_else(|| format!("a list refers to value {index}, which is no tensor before it"))
    };
    let missing = || "it is empty".to_owned();
    Ok(match value.val_type() {
        fb::KernelTypes::Null => FileValue::None,
        fb::KernelTypes::Int => FileValue::Int(value.val_as_int().ok_or_else(missing)?.int_val()),
        fb::KernelTypes::Bool => FileValue::Bool(value.val_as_bool().ok_or_else(missing)?.bool_val()),
        fb::KernelTypes::Double => FileValue::Double(value.val_as_double().ok_or_else(missing)?.double_val()),
        fb::KernelTypes::String => {
            let text = value.val_as_string().and_then(|text| text.string_val()).ok_or_else(missing)?;
            FileValue::String(text.to_owned())
        }
        fb::KernelTypes::Tensor => FileValue::Tensor(tensor::read(
            tables,
            value.val_as_tensor().ok_or_else(missing)?,
            planned_bytes,
        )?),
        fb::KernelTypes::IntList => {
            let items = value.val_as_int_list().and_then(|list| list.items()).ok_or_else(missing)?;
            let within = |index: i64| usize::try_from(index).ok().filter(|&index| index < count);
            let items = items.iter().map(|index| {
                within(index).ok_or_else(|| format!("a list refers to value {index}, there are {count}"))
            });
            FileValue::IntList(items.collect::<Checked<_>>()?)
        }
        fb::KernelTypes::DoubleList => {
            let items = value.val_as_double_list().and_then(|list| list.items()).ok_or_else(missing)?;
            FileValue::DoubleList(items.iter().collect())
        }
        fb::KernelTypes::BoolList => {
            let items = value.val_as_bool_list().and_then(|list| list.items()).ok_or_else(missing)?;
            if items.bytes().iter().any(|&byte| byte > 1) {
                return Err("a truth value is neither 0 nor 1".into());
            }
            FileValue::BoolList(items.iter().collect())
        }
        fb::KernelTypes::TensorList => {
            let items = value.val_as_tensor_list().and_then(|list| list.items()).ok_or_else(missing)?;
            FileValue::TensorList(items.iter().map(tensor_before).collect::<Checked<_>>()?)
        }
        fb::KernelTypes::OptionalTensorList => {
            let items =
                value.val_as_optional_tensor_list().and_then(|list| list.items()).ok_or_else(missing)?;
            let tensor_or_none =
                |index: i32| if index == -1 { Ok(None) } else { tensor_before(index).map(Some) };
            FileValue::OptionalTensorList(items.iter().map(tensor_or_none).collect::<Checked<_>>()?)
        }
        other => return Err(format!("its kind, {}, is not known", other.0)),
    })
}

/// A list's numbers may stand after it, so they are checked last.
fn check_int_lists(values: &[FileValue]) -> Checked<()> {
    for (index, value) in values.iter().enumerate() {
        let FileValue::IntList(items) = value else { continue };
        // `None` becomes a number when an instruction computes it.
        if let Some(item) =
            items.iter().find(|&&item| !matches!(values[item], FileValue::Int(_) | FileValue::None))
        {
            return Err(format!(
                "value {index}: a list of numbers refers to value {item}, a {}",
                values[*item].kind()
            ));
        }
    }
    Ok(())
}

fn operator(operator: fb::Operator<'_>) -> Checked<String> {
    let name = operator.name().filter(|name| !name.is_empty()).ok_or("an operator has no name")?;
    // Empty for most operators, but there: ExecuTorch logs it when a call fails.
    let overload = operator.overload().ok_or_else(|| format!("operator {name} has no overload"))?;
    let full = if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") };
    if full.len() > MAX_OPERATOR_NAME || full.contains('\0') {
        return Err(format!("an operator is called `{}`", full.escape_debug()));
    }
    Ok(full)
}

fn delegate(tables: &Tables<'_>, delegate: fb::BackendDelegate<'_>) -> Checked<FileDelegate> {
    let id = delegate.id().filter(|id| !id.is_empty()).ok_or("a delegate has no id")?;
    let what = format!("delegate {id}");
    let reference = delegate.processed().ok_or_else(|| format!("{what} has no payload"))?;
    let mut specs = Vec::new();
    for spec in delegate.compile_specs().into_iter().flatten() {
        let (Some(key), Some(value)) = (spec.key(), spec.value()) else {
            return Err(format!("{what} has an option without a name or value"));
        };
        specs.push(CompileSpec { key: key.to_owned(), value: value.bytes().to_vec() });
    }
    Ok(FileDelegate { id: id.to_owned(), payload: tables.payload(reference, &what)?, specs })
}

fn instructions(
    plan: fb::ExecutionPlan<'_>,
    values: usize,
    operators: usize,
    delegates: usize,
) -> Checked<Vec<Instruction>> {
    let chains = plan.chains().ok_or("it has no instructions")?;
    if chains.len() != 1 {
        return Err(format!("it has {} chains of instructions, this build runs one", chains.len()));
    }
    let Some(list) = chains.get(0).instructions() else { return Err("it has no instructions".into()) };
    let count = list.len();
    let read = |(at, step): (usize, fb::Instruction<'_>)| {
        instruction(step, values, operators, delegates, count)
            .map_err(|reason| format!("instruction {at}: {reason}"))
    };
    list.iter().enumerate().map(read).collect()
}

fn instruction(
    step: fb::Instruction<'_>,
    values: usize,
    operators: usize,
    delegates: usize,
    count: usize,
) -> Checked<Instruction> {
    let missing = || "it is empty".to_owned();
    let value = |at: i32| index(at, values, "value");
    Ok(match step.instr_args_type() {
        fb::InstructionArguments::KernelCall => {
            let call = step.instr_args_as_kernel_call().ok_or_else(missing)?;
            Instruction::Kernel {
                operator: index(call.op_index(), operators, "operator")?,
                args: indices(call.args(), values, "value")?,
            }
        }
        fb::InstructionArguments::DelegateCall => {
            let call = step.instr_args_as_delegate_call().ok_or_else(missing)?;
            Instruction::Delegate {
                delegate: index(call.delegate_index(), delegates, "delegate")?,
                args: indices(call.args(), values, "value")?,
            }
        }
        fb::InstructionArguments::MoveCall => {
            let call = step.instr_args_as_move_call().ok_or_else(missing)?;
            Instruction::Move { from: value(call.move_from())?, to: value(call.move_to())? }
        }
        fb::InstructionArguments::JumpFalseCall => {
            let call = step.instr_args_as_jump_false_call().ok_or_else(missing)?;
            Instruction::JumpFalse {
                condition: value(call.cond_value_index())?,
                destination: index(call.destination_instruction(), count + 1, "instruction")?,
            }
        }
        fb::InstructionArguments::FreeCall => {
            let call = step.instr_args_as_free_call().ok_or_else(missing)?;
            Instruction::Free { value: value(call.value_index())? }
        }
        other => return Err(format!("its kind, {}, is not known", other.0)),
    })
}

fn index(index: i32, count: usize, what: &str) -> Checked<usize> {
    let within = usize::try_from(index).ok().filter(|&index| index < count);
    within.ok_or_else(|| format!("it refers to {what} {index}, there are {count}"))
}

fn indices(list: Option<flatbuffers::Vector<'_, i32>>, count: usize, what: &str) -> Checked<Vec<usize>> {
    list.ok_or_else(|| format!("the list of {what}s is missing"))?
        .iter()
        .map(|i| index(i, count, what))
        .collect()
}
