//! Saving the memory of a method and putting it back.
#![allow(missing_docs)]

mod common;

use common::values::OwnedTensor;
use common::{Call, path, sequence};
use nearside_runtime::{Error, LoadMode, Method, Program, Snapshot, Value};

const FILES: [&str; 3] = ["counter.pte", "counter-xnnpack.pte", "counter-in-place.pte"];

fn load(file: &str) -> Method {
    Program::open(path(file), LoadMode::Mmap).unwrap().load_method("forward").unwrap()
}

/// The bits of all outputs.
fn run(method: &mut Method, calls: &[Call]) -> Vec<Vec<u8>> {
    let bits = |call: &Call| {
        let inputs = call.inputs.iter().map(OwnedTensor::of).collect::<Option<Vec<_>>>().unwrap();
        let inputs: Vec<_> = inputs.iter().map(OwnedTensor::as_ref).collect();
        let outputs = method.execute(&inputs).unwrap();
        let bytes = |index| match outputs.get(index).unwrap() {
            Value::Tensor(tensor) => tensor.bytes().to_vec(),
            other => format!("{other:?}").into_bytes(),
        };
        (0..outputs.len()).flat_map(bytes).collect()
    };
    calls.iter().map(bits).collect()
}

#[test]
fn runs_after_a_restore_repeat_those_after_the_snapshot_bit_for_bit() {
    for file in FILES {
        let calls = sequence(file).calls;
        let mut method = load(file);
        run(&mut method, &calls[..2]);
        let whole = method.snapshot().unwrap();
        let state = method.snapshot_state().unwrap();
        assert!(state.bytes() > 0 && state.bytes() < whole.bytes(), "{file}: {state:?} of {whole:?}");
        let first = run(&mut method, &calls[2..]);
        // Without a restore they differ: the program has state.
        assert_ne!(run(&mut method, &calls[2..]), first, "{file}");
        for snapshot in [&whole, &state] {
            method.restore(snapshot).unwrap();
            assert_eq!(run(&mut method, &calls[2..]), first, "{file}");
            let mut another = load(file);
            another.restore(snapshot).unwrap();
            assert_eq!(run(&mut another, &calls[2..]), first, "{file}");
        }
    }
}

#[test]
fn a_reset_method_starts_afresh() {
    for file in FILES {
        let calls = sequence(file).calls;
        let mut method = load(file);
        let first = run(&mut method, &calls);
        method.reset().unwrap();
        assert_eq!(run(&mut method, &calls), first, "{file}");
    }
}

#[test]
fn a_snapshot_goes_through_a_file() {
    let calls = sequence(FILES[0]).calls;
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("state.snapshot");
    let mut method = load(FILES[0]);
    run(&mut method, &calls[..2]);
    let snapshot = method.snapshot_state().unwrap();
    snapshot.save(&saved).unwrap();
    let first = run(&mut method, &calls[2..]);
    let opened = Snapshot::open(&saved).unwrap();
    assert_eq!((opened.bytes(), opened.method()), (snapshot.bytes(), "forward"));
    let mut another = load(FILES[0]);
    another.restore(&opened).unwrap();
    assert_eq!(run(&mut another, &calls[2..]), first);
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "something was left behind: {names:?}");
    assert!(matches!(snapshot.save(folder.path().join("no/folder")), Err(Error::Write { .. })));
}

#[test]
fn what_is_no_file_is_not_replaced_by_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let saved = load(FILES[0]).snapshot().unwrap().save(&socket);
    assert!(matches!(saved, Err(Error::Write { .. })));
    assert!(!std::fs::metadata(&socket).unwrap().is_file());
}

#[test]
fn a_snapshot_of_something_else_is_refused() {
    let snapshot = load(FILES[0]).snapshot().unwrap();
    for file in &FILES[1..] {
        let mut other = load(file);
        assert!(matches!(other.restore(&snapshot), Err(Error::SnapshotMismatch { .. })), "{file}");
    }
    // The same graph with one weight changed.
    let mut bytes = std::fs::read(path(FILES[0])).unwrap();
    let last = bytes.iter().rposition(|&byte| byte != 0).unwrap();
    bytes[last] ^= 1;
    let mut changed = Program::from_bytes(bytes).unwrap().load_method("forward").unwrap();
    assert!(matches!(changed.restore(&snapshot), Err(Error::SnapshotMismatch { .. })));
    let program = Program::open(path("counter-shared.pte"), LoadMode::Mmap).unwrap();
    let forward = program.load_method("forward").unwrap().snapshot().unwrap();
    let error = program.load_method("read").unwrap().restore(&forward).unwrap_err();
    assert!(error.to_string().contains("it is of method `forward`, not `read`"), "{error}");
}

#[test]
fn a_changed_or_cut_snapshot_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("state.snapshot");
    load(FILES[0]).snapshot().unwrap().save(&saved).unwrap();
    let whole = std::fs::read(&saved).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&saved, bytes).unwrap();
        let error = Snapshot::open(&saved).unwrap_err();
        assert!(matches!(error, Error::SnapshotDamaged { .. }), "{error}");
    };
    (0..whole.len()).for_each(|length| refused(&whole[..length]));
    for bit in (0..whole.len() * 8).step_by(11) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        refused(&bytes);
    }
    assert!(matches!(Snapshot::open(folder.path().join("none")), Err(Error::Read { .. })));
}
