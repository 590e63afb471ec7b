//! What loading a method takes, computed from its file before anything is taken.

use super::resident::Resident;
use crate::external::ExternalData;
use crate::file::{DataFile, FileTensor, Instruction, MethodFile, ProgramFile};
use crate::kernels::linear_scratch_bytes;
use crate::preflight::{Checked, constants, distinct};
use crate::program::{LoadMode, Program};
use std::collections::BTreeMap;
use std::ops::Range;

/// The memory that loading and running a method takes, bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MemoryNeed {
    /// The planned arenas: activations, and the state that lives on from run to run.
    pub planned_bytes: u64,
    /// What lives on, such as a KV cache: a part of `planned_bytes` and, for buffers without a place, of `output_bytes`.
    pub state_bytes: u64,
    /// Places for outputs and mutable buffers that the exporter left without one.
    pub output_bytes: u64,
    /// Weights that are read into memory instead of being mapped, for as long as the load takes at least.
    pub constant_bytes: u64,
    /// What delegates keep: the weights in a form of their own, and tables. Where a payload does not tell, its length.
    pub delegate_bytes: u64,
    /// What delegates need beside it while they run, at most. XNNPACK's parts share one workspace.
    pub workspace_bytes: u64,
    /// What kernels outside of delegates ask for while they run, at most.
    pub temporary_bytes: u64,
    /// ExecuTorch's own tables: values, tensors, argument lists.
    pub table_bytes: u64,
    /// Ids of delegates whose payloads do not tell what they will take.
    pub unknown_delegates: Vec<String>,
    /// Weights that stay in mapped files, data that delegates ask for by name included: the system can drop their pages
    /// at any time. Not part of the total.
    pub mapped_bytes: u64,
}

/// ExecuTorch 1.5.1 on a 64-bit machine: an `EValue`, and a `TensorImpl` with its strides.
const VALUE_BYTES: u64 = 24;
const TENSOR_BYTES: u64 = 120;
const POINTER_BYTES: u64 = 8;

impl MemoryNeed {
    /// Adds what another method takes.
    pub fn add(&mut self, other: &Self) {
        self.planned_bytes += other.planned_bytes;
        self.state_bytes += other.state_bytes;
        self.output_bytes += other.output_bytes;
        self.constant_bytes += other.constant_bytes;
        self.delegate_bytes += other.delegate_bytes;
        self.workspace_bytes = self.workspace_bytes.max(other.workspace_bytes);
        self.temporary_bytes = self.temporary_bytes.max(other.temporary_bytes);
        self.table_bytes += other.table_bytes;
        self.mapped_bytes = self.mapped_bytes.max(other.mapped_bytes);
        self.unknown_delegates.extend(other.unknown_delegates.iter().cloned());
        self.unknown_delegates.dedup();
    }

    /// Computes it for the files as they were opened, or for files opened in the mode `as_if`.
    pub(crate) fn new(
        program: &Program,
        file: &ProgramFile,
        method: &MethodFile,
        checked: &Checked,
        as_if: Option<LoadMode>,
    ) -> Self {
        let bytes = |at: usize| method.values[at].as_tensor().map_or(0, |tensor| tensor.bytes);
        let outputs = method.unplaced_outputs().into_iter().map(|index| bytes(method.outputs[index]));
        let buffers = method.unplaced_buffers().into_iter().map(bytes);
        let graphs = || checked.graphs.iter().flatten();
        let opaque = || method.delegates.iter().zip(&checked.graphs).filter(|(_, graph)| graph.is_none());
        let mut unknown_delegates: Vec<_> = opaque().map(|(part, _)| part.id.clone()).collect();
        unknown_delegates.dedup();
        let payloads = method.delegates.iter().map(|part| part.payload.end - part.payload.start);
        let mode = as_if.unwrap_or_else(|| program.load_mode());
        let read = match mode {
            LoadMode::Mmap => 0,
            LoadMode::Bytes => file.bytes,
            LoadMode::File => {
                file.constants.as_ref().map_or(0, |range| range.end - range.start)
                    + (file.description.end - file.description.start)
                    + read_for_delegates(file, method, checked)
            }
        };
        // Which part asks for which data only the delegates know.
        let named = file.named_data.iter().filter(|_| !method.delegates.is_empty());
        // An embedding table can be the weight of a delegate's last layer too, stored once.
        let weights = named.map(|data| data.range.clone()).chain(constants(method)).collect();
        let mapped = sum([distinct(weights), sum(payloads)]);
        let data_files = || program.external().into_iter().flat_map(ExternalData::files);
        let is_mapped =
            |data: &&DataFile| as_if.map_or_else(|| data.is_mapped(), |mode| mode == LoadMode::Mmap);
        let data_read = sum(data_files().filter(|data| !is_mapped(data)).map(DataFile::len));
        let data_mapped = sum(data_files().filter(is_mapped).map(DataFile::len));
        Self {
            planned_bytes: sum(method.arena_bytes()),
            state_bytes: state(checked),
            output_bytes: sum(outputs.chain(buffers)),
            constant_bytes: read + data_read,
            delegate_bytes: sum(graphs()
                .map(|graph| graph.packed_bytes)
                .chain(opaque().map(|(part, _)| part.payload.end - part.payload.start))),
            workspace_bytes: graphs().map(|graph| graph.workspace_bytes).max().unwrap_or(0),
            temporary_bytes: temporary(method),
            table_bytes: tables(method),
            unknown_delegates,
            mapped_bytes: sum([data_mapped, if mode == LoadMode::Mmap { mapped } else { 0 }]),
        }
    }

    /// All that is taken, bytes. Mapped files are not.
    pub fn total_bytes(&self) -> u64 {
        sum([
            self.planned_bytes,
            self.output_bytes,
            self.constant_bytes,
            self.delegate_bytes,
            self.workspace_bytes,
            self.temporary_bytes,
            self.table_bytes,
        ])
    }
}

/// What is in memory at once of all that delegates read: the payload and the named data of one part after the other, or of
/// all of them if they are read on.
fn read_for_delegates(file: &ProgramFile, method: &MethodFile, checked: &Checked) -> u64 {
    let named = distinct(file.named_data.iter().map(|data| data.range.clone()).collect());
    let parts = method.delegates.iter().zip(&checked.graphs).map(|(part, graph)| {
        let weights = graph.as_ref().map_or(named, |graph| graph.constant_bytes.min(named));
        part.payload.end - part.payload.start + weights
    });
    if checked.reads_in_place() { sum(parts) } else { parts.max().unwrap_or(0) }
}

/// A file may claim sizes that no memory holds: their sum must not come out small.
fn sum(bytes: impl IntoIterator<Item = u64>) -> u64 {
    bytes.into_iter().fold(0, u64::saturating_add)
}

/// Buffers can lie in one another: a view of a part of one, for one.
fn state(checked: &Checked) -> u64 {
    let mut arenas: BTreeMap<usize, Vec<Range<u64>>> = BTreeMap::new();
    for buffer in &checked.state {
        arenas.entry(buffer.arena).or_default().push(buffer.range.clone());
    }
    sum(arenas.into_values().map(distinct))
}

/// Of ExecuTorch 1.5.1's kernels only `topk` asks for memory: a queue of value and index for each element of a row. Our
/// linear keeps the rows that it quantised last.
fn temporary(method: &MethodFile) -> u64 {
    const ENTRY_BYTES: u64 = 16;
    let most = |name: &str, bytes: fn(u64) -> u64| {
        let of_step = |step: &Instruction| match step {
            Instruction::Kernel { operator, args } if method.operators[*operator].starts_with(name) => {
                let input = args.first().and_then(|&at| method.values[at].as_tensor());
                input.map(|tensor| bytes(elements(tensor)))
            }
            _ => None,
        };
        method.instructions.iter().filter_map(of_step).max().unwrap_or(0)
    };
    let queue = most("aten::topk", |elements| elements.saturating_mul(ENTRY_BYTES));
    sum([queue, most("nearside::linear", linear_scratch_bytes)])
}

fn elements(tensor: &FileTensor) -> u64 {
    tensor.dtype.element_bytes().map_or(0, |bytes| tensor.bytes / bytes as u64)
}

fn tables(method: &MethodFile) -> u64 {
    let tensors = method.values.iter().filter(|value| value.as_tensor().is_some()).count() as u64;
    let args = |step: &Instruction| match step {
        Instruction::Kernel { args, .. } | Instruction::Delegate { args, .. } => args.len() as u64,
        _ => 0,
    };
    let args: u64 = method.instructions.iter().map(args).sum();
    method.values.len() as u64 * VALUE_BYTES + tensors * TENSOR_BYTES + args * POINTER_BYTES
}

/// The memory of a loaded method.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryReport {
    /// What was computed before it was loaded.
    pub need: MemoryNeed,
    /// Bytes of each planned arena, as allocated.
    pub arena_bytes: Vec<u64>,
    /// Of the whole process now; `None` where the system does not tell.
    pub resident: Option<Resident>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{Dynamism, FileValue, Storage};
    use crate::tensor::DType;

    /// A method that calls an operator on a tensor of u8.
    fn method(operator: &str, bytes: u64) -> MethodFile {
        let tensor = FileTensor {
            dtype: DType::U8,
            sizes: vec![i32::MAX, i32::MAX],
            dim_order: vec![0, 1],
            dynamism: Dynamism::Static,
            storage: Storage::Planned { arena: 0, offset: 0, initial: None },
            name: None,
            bytes,
        };
        MethodFile {
            name: "forward".into(),
            values: vec![FileValue::Tensor(tensor)],
            inputs: vec![],
            outputs: vec![],
            operators: vec![operator.into()],
            delegates: vec![],
            instructions: vec![Instruction::Kernel { operator: 0, args: vec![0] }],
            planned_bytes: vec![bytes],
            device: None,
        }
    }

    #[test]
    fn sizes_that_no_memory_holds_do_not_add_up_to_small_ones() {
        let bytes = i64::MAX as u64;
        let method = method("aten::topk.values", bytes);
        let temporary_bytes = temporary(&method);
        assert_eq!(temporary_bytes, u64::MAX);
        let need = MemoryNeed {
            planned_bytes: bytes,
            output_bytes: bytes,
            temporary_bytes,
            ..MemoryNeed::default()
        };
        assert_eq!(need.total_bytes(), u64::MAX);
    }

    #[test]
    fn the_longest_rows_that_a_linear_quantises_count() {
        // 32 bytes and three numbers for 32 elements.
        assert_eq!(temporary(&method("nearside::linear.out", 64)), 88);
        assert_eq!(temporary(&method("nearside::embedding.out", 64)), 0);
    }
}
