//! What the instructions of a method do to its values: which are computed, which share memory, which have memory when
//! they are read and which may be written.

use super::call::{flatten, may_stand_for};
use super::signature::{self, Access, ResultSlot, Signature};
use crate::file::{Dynamism, FileValue, Instruction, MethodFile, Storage};
use std::collections::{BTreeMap, BTreeSet};

/// The kernel that makes a tensor a view of another: it copies nothing.
const VIEW: &str = "executorch_prim::et_view.default";

/// What is known of the values of a method.
#[derive(Debug)]
pub(super) struct Flow {
    computed: Vec<bool>,
    memory: Vec<BTreeSet<usize>>,
}

impl Flow {
    /// Whether the value is a number that an instruction computes.
    pub(super) fn is_computed(&self, value: usize) -> bool {
        self.computed[value]
    }

    /// The values whose memory the tensor may use: itself, or what it may be a view of.
    pub(super) fn memory_of(&self, value: usize) -> &BTreeSet<usize> {
        &self.memory[value]
    }
}

/// Checks what the instructions do to the values.
pub(super) fn analyse(method: &MethodFile, delegate_writes: &[Vec<bool>]) -> Result<Flow, String> {
    let steps = Steps::read(method, delegate_writes)?;
    check_inputs_stay(method, &steps)?;
    let memory = steps.memory(method)?;
    let views = steps.closure(method, &steps.moved, |value| steps.viewed.contains(&value))?;
    for &input in &method.inputs {
        if method.values[input].as_tensor().is_some_and(|t| is_read_only(&t.storage)) {
            return Err(format!(
                "input {input} is a constant of the file, into which nothing can be written"
            ));
        }
    }
    for write in &steps.writes {
        check_write(method, write, &memory, &views)
            .map_err(|reason| format!("instruction {}: {reason}", write.at))?;
    }
    check_ready(method, &steps)?;
    Ok(Flow { computed: steps.computed, memory })
}

/// A tensor that becomes another shares its entry with it: binding the next run's input would change both, and copy what
/// the caller gives into the other's memory.
fn check_inputs_stay(method: &MethodFile, steps: &Steps) -> Result<(), String> {
    let inputs: BTreeSet<usize> = method.inputs.iter().copied().collect();
    for (at, provided) in steps.provides.iter().enumerate() {
        if let Some(value) = provided.filter(|value| inputs.contains(value)) {
            return Err(format!("instruction {at} puts another tensor in place of input {value}"));
        }
    }
    Ok(())
}

/// Ways through the views and moves that are looked at: what the exporter makes takes two or three.
const MAX_PASSES: usize = 16;

/// Places that all tensors together may use: most have one, what two branches end in has two.
const MAX_PLACES: usize = 4_000_000;

/// Values that all jumps together may have to be followed for.
const MAX_FOLLOWED: usize = 4_000_000;

/// Buffers that the exporter may leave without a place: ExecuTorch looks for each by name among all values.
const MAX_BUFFERS: usize = 2048;

const TOO_MANY: &str = "its moves, views and jumps are too many to be followed";

fn is_read_only(storage: &Storage) -> bool {
    matches!(storage, Storage::Constant(_) | Storage::External { .. })
}

/// A tensor that an instruction writes.
struct Write {
    at: usize,
    value: usize,
    /// Whether the tensor keeps its size, as in `copy_`.
    in_place: bool,
}

/// What the instructions do, one by one.
#[derive(Default)]
struct Steps {
    computed: Vec<bool>,
    writes: Vec<Write>,
    /// Values that become views.
    viewed: BTreeSet<usize>,
    /// Tensors that become other tensors: to, from.
    moved: Vec<(usize, usize)>,
    /// Tensors that come to use another's memory: to, from.
    shared: Vec<(usize, usize)>,
    /// By instruction: what must have memory before, and what has it after.
    reads: Vec<Vec<usize>>,
    provides: Vec<Option<usize>>,
}

impl Steps {
    fn read(method: &MethodFile, delegate_writes: &[Vec<bool>]) -> Result<Self, String> {
        let mut steps = Self { computed: vec![false; method.values.len()], ..Self::default() };
        let mut followed = 0;
        for (at, instruction) in method.instructions.iter().enumerate() {
            steps.reads.push(Vec::new());
            steps.provides.push(None);
            match instruction {
                Instruction::Kernel { operator, args } => {
                    steps.kernel(method, at, &method.operators[*operator], args);
                }
                Instruction::Delegate { delegate, args } => {
                    let writes = delegate_writes.get(*delegate).map_or(&[][..], Vec::as_slice);
                    for (place, &arg) in args.iter().enumerate() {
                        let tensors = flatten(arg, &method.values);
                        steps.reads[at].extend(&tensors);
                        if writes.get(place).copied().unwrap_or(false) {
                            let write = |value| Write { at, value, in_place: false };
                            steps.writes.extend(tensors.into_iter().map(write));
                            // It may write numbers too.
                            steps.computed[arg] |= is_number(&method.values[arg]);
                        }
                    }
                }
                Instruction::Move { from, to } => {
                    steps
                        .assign(method, at, *from, *to)
                        .map_err(|reason| format!("instruction {at}, a move: {reason}"))?;
                }
                Instruction::JumpFalse { condition, .. } => {
                    steps.reads[at].extend(flatten(*condition, &method.values))
                }
                Instruction::Free { .. } => {
                    return Err(format!(
                        "instruction {at} frees a tensor, which only programs with shapes without bound do"
                    ));
                }
            }
            followed += steps.reads[at].len();
            if followed > MAX_FOLLOWED {
                return Err("the lists of tensors that its instructions use are too long".into());
            }
        }
        Ok(steps)
    }

    fn kernel(&mut self, method: &MethodFile, at: usize, operator: &str, args: &[usize]) {
        let all = || args.iter().flat_map(|&arg| flatten(arg, &method.values));
        let Some(signature) = signature::of(operator).filter(|signature| signature.values() == args.len())
        else {
            // The host's own operator, or a call that is refused later.
            self.reads[at].extend(all());
            return;
        };
        if operator == VIEW {
            let (from, to) = (args[0], args[2]);
            self.reads[at].push(from);
            self.viewed.insert(to);
            self.shared.push((to, from));
            self.provides[at] = Some(to);
            return;
        }
        for (arg, &value) in signature.args.iter().zip(args) {
            let tensors = flatten(value, &method.values);
            self.reads[at].extend(&tensors);
            if arg.access.writes() {
                let in_place = arg.access == Access::InPlace && signature.result == ResultSlot::Tensor;
                self.writes.extend(tensors.into_iter().map(|value| Write { at, value, in_place }));
            }
        }
        self.result(method, at, signature, args);
    }

    fn result(&mut self, method: &MethodFile, at: usize, signature: &Signature, args: &[usize]) {
        let Some(&result) = args.get(signature.args.len()) else { return };
        match signature.result {
            ResultSlot::Absent | ResultSlot::Unused => {}
            ResultSlot::Number => self.computed[result] = true,
            ResultSlot::Tensor if method.values[result].as_tensor().is_some() && result != args[0] => {
                self.become_other(at, args[0], result);
            }
            ResultSlot::Tensor => {}
        }
    }

    fn assign(&mut self, method: &MethodFile, at: usize, from: usize, to: usize) -> Result<(), String> {
        match (&method.values[from], &method.values[to]) {
            (FileValue::Tensor(source), FileValue::Tensor(target)) => {
                may_stand_for(source, target)?;
                self.reads[at].push(from);
                if from != to {
                    self.become_other(at, from, to);
                }
            }
            (FileValue::None, FileValue::None) => {}
            (source, target) if is_number(source) && is_number(target) => self.computed[to] = true,
            (source, target) => {
                return Err(format!("a {} can't be put in place of a {}", source.kind(), target.kind()));
            }
        }
        Ok(())
    }

    fn become_other(&mut self, at: usize, from: usize, to: usize) {
        self.moved.push((to, from));
        self.shared.push((to, from));
        self.provides[at] = Some(to);
    }

    /// The values for which `holds`, and those that may become them.
    fn closure(
        &self,
        method: &MethodFile,
        edges: &[(usize, usize)],
        holds: impl Fn(usize) -> bool,
    ) -> Result<Vec<bool>, String> {
        let mut result: Vec<bool> = (0..method.values.len()).map(holds).collect();
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            for &(to, from) in edges {
                changed |= result[from] && !result[to];
                result[to] |= result[from];
            }
            if !changed {
                return Ok(result);
            }
        }
        Err(TOO_MANY.into())
    }

    fn memory(&self, method: &MethodFile) -> Result<Vec<BTreeSet<usize>>, String> {
        let inputs: BTreeSet<usize> = method.inputs.iter().copied().collect();
        let own = |(at, value): (usize, &FileValue)| match value {
            FileValue::Tensor(tensor) if tensor.storage != Storage::Caller || inputs.contains(&at) => {
                BTreeSet::from([at])
            }
            _ => BTreeSet::new(),
        };
        let mut memory: Vec<BTreeSet<usize>> = method.values.iter().enumerate().map(own).collect();
        let mut places = memory.len();
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            for &(to, from) in &self.shared {
                let more: Vec<usize> = memory[from].difference(&memory[to]).copied().collect();
                changed |= !more.is_empty();
                places += more.len();
                if places > MAX_PLACES {
                    return Err(TOO_MANY.into());
                }
                memory[to].extend(more);
            }
            if !changed {
                return Ok(memory);
            }
        }
        Err(TOO_MANY.into())
    }
}

fn is_number(value: &FileValue) -> bool {
    matches!(value, FileValue::Int(_) | FileValue::Double(_) | FileValue::Bool(_))
}

fn check_write(
    method: &MethodFile,
    write: &Write,
    memory: &[BTreeSet<usize>],
    views: &[bool],
) -> Result<(), String> {
    let value = write.value;
    for &owner in &memory[value] {
        let Some(tensor) = method.values[owner].as_tensor() else { continue };
        if tensor.bytes == 0 {
            continue;
        }
        if is_read_only(&tensor.storage) {
            return Err(format!("it writes value {value}, which is a constant of the file"));
        }
        if tensor.storage == Storage::Caller {
            return Err(format!("it writes value {value}, which is the caller's own memory for an input"));
        }
    }
    // A view's limit is its own, not that of the memory that it was given.
    let dynamic = method.values[value].as_tensor().is_some_and(|tensor| tensor.dynamism != Dynamism::Static);
    if views[value] && dynamic && !write.in_place {
        return Err(format!("it resizes value {value}, which is a view of another tensor"));
    }
    Ok(())
}

/// Checks that every tensor has memory whenever it is used, on every way through the instructions.
///
/// What ExecuTorch plans or maps has it from the start. Views, and what others are moved to, have it from then on: before,
/// they have none or still that of an earlier run.
fn check_ready(method: &MethodFile, steps: &Steps) -> Result<(), String> {
    // What the runtime places when it loads the method.
    let outputs = method.unplaced_outputs().into_iter().map(|index| method.outputs[index]);
    let buffers = method.unplaced_buffers();
    if buffers.len() > MAX_BUFFERS {
        return Err(format!(
            "it leaves {} buffers to be placed, at most {MAX_BUFFERS} are possible",
            buffers.len()
        ));
    }
    let placed: BTreeSet<usize> = outputs.chain(buffers).collect();
    let inputs: BTreeSet<usize> = method.inputs.iter().copied().collect();
    let moved: BTreeSet<usize> = steps.moved.iter().map(|&(to, _)| to).collect();
    let late: BTreeSet<usize> = (0..method.values.len())
        .filter(|&value| {
            let Some(tensor) = method.values[value].as_tensor() else { return false };
            let given =
                tensor.storage == Storage::Caller && !inputs.contains(&value) && !placed.contains(&value);
            (given || steps.viewed.contains(&value) || moved.contains(&value)) && tensor.bytes > 0
        })
        .collect();
    // The state on arrival by a jump, refined until nothing changes. What was not reached yet limits nothing.
    let mut arrivals: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut followed = 0;
    loop {
        let before = arrivals.clone();
        let mut ready = BTreeSet::new();
        for (at, instruction) in method.instructions.iter().enumerate() {
            meet(&mut ready, arrivals.get(&at));
            if let Some(&value) =
                steps.reads[at].iter().find(|&value| late.contains(value) && !ready.contains(value))
            {
                return Err(format!("instruction {at} uses value {value}, which has no memory by then"));
            }
            ready.extend(steps.provides[at]);
            if let Instruction::JumpFalse { destination, .. } = instruction {
                followed += 1 + ready.len();
                if followed > MAX_FOLLOWED {
                    return Err(TOO_MANY.into());
                }
                let arrival = arrivals.entry(*destination).or_insert_with(|| ready.clone());
                arrival.retain(|value| ready.contains(value));
            }
        }
        meet(&mut ready, arrivals.get(&method.instructions.len()));
        let outputs = method.outputs.iter().flat_map(|&output| flatten(output, &method.values));
        if let Some(value) = outputs.into_iter().find(|value| late.contains(value) && !ready.contains(value))
        {
            return Err(format!("value {value} is an output, but has no memory in the end"));
        }
        if arrivals == before {
            return Ok(());
        }
    }
}

fn meet(ready: &mut BTreeSet<usize>, arrival: Option<&BTreeSet<usize>>) {
    if let Some(arrival) = arrival {
        ready.retain(|value| arrival.contains(value));
    }
}
