//! Methods of one program over the same state.
#![allow(missing_docs)]

mod common;

use common::values::{OwnedTensor, assert_close};
use common::{Call, default_tolerance, path, sequence};
use nearside_runtime::{Error, LoadMode, LoadOptions, MethodGroup, Program, Snapshot};

const FILE: &str = "counter-shared.pte";
const NAMES: [&str; 2] = ["forward", "read"];

fn program() -> Program {
    Program::open(path(FILE), LoadMode::Mmap).unwrap()
}

fn group() -> MethodGroup {
    program().load_group(&NAMES, &LoadOptions::default()).unwrap()
}

/// Calls of `forward`, each followed by one of `read`.
fn calls() -> Vec<Call> {
    sequence(FILE).calls
}

fn run(group: &mut MethodGroup, calls: &[Call]) {
    for call in calls {
        let inputs: Vec<_> = call.inputs.iter().map(|input| OwnedTensor::of(input).unwrap()).collect();
        let inputs: Vec<_> = inputs.iter().map(OwnedTensor::as_ref).collect();
        let outputs = group.execute(&call.method, &inputs).unwrap();
        assert_eq!(outputs.len(), call.outputs.len());
        for (index, expected) in call.outputs.iter().enumerate() {
            assert_close(&outputs.get(index).unwrap(), expected, default_tolerance());
        }
    }
}

#[test]
fn each_method_goes_on_from_what_the_others_left() {
    for mode in [LoadMode::Mmap, LoadMode::File, LoadMode::Bytes] {
        for names in [["forward", "read"], ["read", "forward"]] {
            let program = Program::open(path(FILE), mode).unwrap();
            let mut group = program.load_group(&names, &LoadOptions::default()).unwrap();
            run(&mut group, &calls());
        }
    }
}

#[test]
fn the_shared_state_counts_once() {
    let group = group();
    let names: Vec<_> = group.methods().iter().map(|method| method.meta().name.as_str()).collect();
    assert_eq!(names, NAMES);
    let state: Vec<_> = group.state().iter().map(|buffer| (buffer.name.as_deref(), buffer.arena)).collect();
    assert_eq!(state, [(Some("cache"), 0), (Some("average"), 0)]);
    assert_eq!(group.snapshot_state().unwrap().bytes(), (8 * 4 + 4) * 4);
}

#[test]
fn a_group_can_be_saved_rewound_and_reset() {
    let calls = calls();
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("state.snapshot");
    let mut group = group();
    run(&mut group, &calls[..2]);
    let (state, all) = (group.snapshot_state().unwrap(), group.snapshot().unwrap());
    state.save(&saved).unwrap();
    for snapshot in [state, all, Snapshot::open(&saved).unwrap()] {
        run(&mut group, &calls[2..]);
        group.restore(&snapshot).unwrap();
        run(&mut group, &calls[2..]);
        group.restore(&snapshot).unwrap();
    }
    group.reset().unwrap();
    run(&mut group, &calls);
}

#[test]
fn a_snapshot_fits_a_group_of_the_same_methods_only() {
    let snapshot = group().snapshot_state().unwrap();
    assert_eq!(snapshot.method(), "forward+read");
    let turned = program().load_group(&["read", "forward"], &LoadOptions::default());
    assert!(matches!(turned.unwrap().restore(&snapshot), Err(Error::SnapshotMismatch { .. })));
    let mut method = program().load_method("forward").unwrap();
    assert!(matches!(method.restore(&snapshot), Err(Error::SnapshotMismatch { .. })));
    let of_method = method.snapshot_state().unwrap();
    assert!(matches!(group().restore(&of_method), Err(Error::SnapshotMismatch { .. })));
}

#[test]
fn methods_loaded_by_themselves_and_other_groups_have_their_own_state() {
    let calls = calls();
    let (mut first, mut second) = (group(), group());
    run(&mut first, &calls[..4]);
    run(&mut second, &calls);
    run(&mut first, &calls[4..]);
    drop(first);
    second.reset().unwrap();
    run(&mut second, &calls);
}

#[test]
fn what_shares_nothing_is_no_group() {
    let refused = |file: &str, names: &[&str], why: &str| {
        let program = Program::open(path(file), LoadMode::Mmap).unwrap();
        let error = program.load_group(names, &LoadOptions::default()).unwrap_err();
        assert!(error.to_string().contains(why) && !error.hint().is_empty(), "{error}");
    };
    refused("multi.pte", &["forward", "twice"], "none of them has a buffer in memory id 2");
    refused("attention.pte", &["forward", "windowed"], "none of them has a buffer in memory id 2");
    refused(FILE, &[], "none of them");
    refused(FILE, &["forward", "forward"], "`forward` is named twice");
    refused(FILE, &["forward", "write"], "no method `write`");
    let Err(Error::NoSuchMethod { available, .. }) = group().execute("write", &[]).map(|_| ()) else {
        panic!("it ran")
    };
    assert_eq!(available, NAMES);
}

#[test]
fn a_budget_is_for_all_methods_together() {
    let program = program();
    let load = |budget| {
        let options = LoadOptions { memory_budget_bytes: Some(budget), ..LoadOptions::default() };
        program.load_group(&NAMES, &options)
    };
    let group = load(1 << 20).unwrap();
    let each: Vec<_> = group.methods().iter().map(|method| method.memory().need.total_bytes()).collect();
    let shared = group.methods()[0].memory().arena_bytes[1];
    let all = each.iter().sum::<u64>() - shared;
    assert!(load(all).is_ok());
    assert!(matches!(load(all - 1), Err(Error::OverBudget { method, .. }) if method == "read"));
    assert!(matches!(load(each[0] - 1), Err(Error::OverBudget { method, .. }) if method == "forward"));
}

#[test]
fn any_change_to_a_program_ends_in_an_error_or_a_run() {
    let whole = std::fs::read(path(FILE)).unwrap();
    let calls = calls();
    let inputs: Vec<_> = calls[0].inputs.iter().map(|input| OwnedTensor::of(input).unwrap()).collect();
    let inputs: Vec<_> = inputs.iter().map(OwnedTensor::as_ref).collect();
    let (mut refused, mut run) = (0, 0);
    for (at, &byte) in whole.iter().enumerate() {
        for changed in [byte ^ 0x10, byte.wrapping_add(1)] {
            let mut bytes = whole.clone();
            bytes[at] = changed;
            let group = Program::from_bytes(bytes)
                .and_then(|program| program.load_group(&NAMES, &LoadOptions::default()));
            let ends = group.and_then(|mut group| {
                group.execute("forward", &inputs)?;
                group.execute("read", &[])?;
                let snapshot = group.snapshot_state()?;
                group.restore(&snapshot)?;
                group.reset()
            });
            if ends.is_err() { refused += 1 } else { run += 1 }
        }
    }
    assert!(refused > 0 && run > 0, "{refused} refused, {run} run");
}
