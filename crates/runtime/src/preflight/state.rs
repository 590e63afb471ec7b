//! Values that live on from run to run: a KV cache, a running mean.
//!
//! ExecuTorch 1.5.1 marks them in its files only if they begin with data or if the exporter was asked for their names.
//! The others show by being read before anything wrote them.

use crate::delegate::DelegateGraph;
use crate::file::{FileTensor, FileValue, Initial, Instruction, MethodFile, Storage};
use crate::operators;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A mutable buffer of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateBuffer {
    /// Its name in the exported model, if the file has one.
    pub name: Option<String>,
    /// The planned arena that it is in. Past those, each buffer that the exporter left to the host to place has one of
    /// its own.
    pub arena: usize,
    /// Where in the arena.
    pub range: Range<u64>,
    /// What it begins with; zeros if not set.
    pub initial: Option<Initial>,
}

/// The mutable buffers of `method`, in order of their place. Where the file leaves it open whether a value is one, it
/// counts: a snapshot then holds more than it needs to, never less.
pub(super) fn buffers(method: &MethodFile, graphs: &[Option<DelegateGraph>]) -> Vec<StateBuffer> {
    let read_first = read_before_written(method, graphs);
    let inputs: BTreeSet<usize> = method.inputs.iter().copied().collect();
    let mut buffers: Vec<StateBuffer> = method
        .values
        .iter()
        .enumerate()
        .filter_map(|(at, value)| {
            let tensor = value.as_tensor()?;
            let (arena, range) = place(tensor)?;
            let Storage::Planned { initial, .. } = &tensor.storage else { return None };
            let marked = initial.is_some() || tensor.name.is_some();
            if range.is_empty() || !(marked || read_first[at]) || inputs.contains(&at) {
                return None;
            }
            Some(StateBuffer { name: tensor.name.clone(), arena, range, initial: initial.clone() })
        })
        .collect();
    // Of values in the same place, one stands for all: the one that is marked.
    buffers.sort_by_key(|buffer| {
        let marks = u8::from(buffer.initial.is_some()) + u8::from(buffer.name.is_some());
        (buffer.arena, buffer.range.start, buffer.range.end, 2 - marks)
    });
    buffers.dedup_by(|later, earlier| later.arena == earlier.arena && later.range == earlier.range);
    for (index, at) in method.unplaced_buffers().into_iter().enumerate() {
        let Some(tensor) = method.values[at].as_tensor() else { continue };
        let (name, arena) = (tensor.name.clone(), method.planned_bytes.len() + index);
        buffers.push(StateBuffer { name, arena, range: 0..tensor.bytes, initial: None });
    }
    buffers
}

fn place(tensor: &FileTensor) -> Option<(usize, Range<u64>)> {
    match tensor.storage {
        Storage::Planned { arena, offset, .. } => Some((arena, offset..offset + tensor.bytes)),
        _ => None,
    }
}

/// For each value, whether an instruction may read some of its bytes before any has surely written them. By place and
/// not by value: a view is another value in the place of what it views.
fn read_before_written(method: &MethodFile, graphs: &[Option<DelegateGraph>]) -> Vec<bool> {
    let places: Vec<_> = method.values.iter().map(|value| value.as_tensor().and_then(place)).collect();
    let mut written = Written(vec![BTreeMap::new(); method.planned_bytes.len()]);
    let mut read_first = vec![false; method.values.len()];
    let given = method.inputs.iter().filter_map(|&at| places[at].clone());
    given.for_each(|(arena, range)| written.add(arena, range));
    // Until here, an instruction may have been jumped over.
    let mut skippable = 0;
    for (at, step) in method.instructions.iter().enumerate() {
        let mut run = |args: &[usize], writes: &dyn Fn(usize) -> Option<bool>| {
            for (position, &arg) in args.iter().enumerate() {
                let reads = writes(position) != Some(true);
                for value in with_items(method, arg) {
                    if let Some((arena, range)) = places[value].as_ref().filter(|_| reads) {
                        read_first[value] |= !written.covers(*arena, range);
                    }
                }
            }
            for (position, &arg) in args.iter().enumerate() {
                if at < skippable || writes(position) == Some(false) {
                    continue;
                }
                for (arena, range) in with_items(method, arg).filter_map(|value| places[value].clone()) {
                    written.add(arena, range);
                }
            }
        };
        match step {
            Instruction::Kernel { operator, args } => {
                let known = operators::written(&method.operators[*operator]);
                run(args, &|position| known.as_ref().map(|known| known.contains(&position)));
            }
            Instruction::Delegate { delegate, args } => {
                let graph = graphs[*delegate].as_ref();
                run(args, &|position| graph.and_then(|graph| graph.written.get(position).copied()));
            }
            Instruction::Move { from, to } => run(&[*from, *to], &|position| Some(position == 1)),
            Instruction::JumpFalse { condition, destination } => {
                run(&[*condition], &|_| Some(false));
                skippable = skippable.max(*destination);
            }
            Instruction::Free { .. } => {}
        }
    }
    read_first
}

/// A value, and the values in it if it is a list.
fn with_items(method: &MethodFile, value: usize) -> impl Iterator<Item = usize> {
    let items: Vec<usize> = match &method.values[value] {
        FileValue::TensorList(items) => items.clone(),
        FileValue::OptionalTensorList(items) => items.iter().copied().flatten().collect(),
        _ => Vec::new(),
    };
    std::iter::once(value).chain(items)
}

/// The bytes of each arena that were written: ranges in order that do not touch.
struct Written(Vec<BTreeMap<u64, u64>>);

impl Written {
    fn add(&mut self, arena: usize, range: Range<u64>) {
        let ranges = &mut self.0[arena];
        let Range { mut start, mut end } = range;
        // Each that touches is taken in, and is gone then.
        while let Some((&known, &known_end)) =
            ranges.range(..=end).next_back().filter(|known| *known.1 >= start)
        {
            ranges.remove(&known);
            (start, end) = (start.min(known), end.max(known_end));
        }
        ranges.insert(start, end);
    }

    fn covers(&self, arena: usize, range: &Range<u64>) -> bool {
        let known = self.0[arena].range(..=range.start).next_back();
        range.is_empty() || known.is_some_and(|(_, &end)| range.end <= end)
    }
}

#[cfg(test)]
mod tests {
    use super::Written;
    use std::collections::BTreeMap;

    #[test]
    fn written_bytes_are_kept_as_ranges_that_do_not_touch() {
        let mut written = Written(vec![BTreeMap::new()]);
        for range in [8..12, 20..24, 0..4, 4..8, 13..14, 30..30] {
            written.add(0, range);
        }
        let ranges =
            |written: &Written| written.0[0].iter().map(|(&start, &end)| start..end).collect::<Vec<_>>();
        assert_eq!(ranges(&written), [0..12, 13..14, 20..24, 30..30]);
        assert!(written.covers(0, &(0..12)) && written.covers(0, &(21..23)) && written.covers(0, &(50..50)));
        assert!(
            !written.covers(0, &(11..14)) && !written.covers(0, &(19..24)) && !written.covers(0, &(40..41))
        );
        written.add(0, 11..25);
        assert_eq!(ranges(&written), [0..25, 30..30]);
    }
}
