//! What is known of a method before it is loaded, and what refuses it.
#![allow(missing_docs)]

mod common;

use common::{fixtures, path};
use nearside_runtime::file::DataFile;
use nearside_runtime::{Error, LoadMode, LoadOptions, Program};

const MODES: [LoadMode; 3] = [LoadMode::Mmap, LoadMode::File, LoadMode::Bytes];

fn open(file: &str) -> Program {
    Program::open(path(file), LoadMode::Mmap).unwrap()
}

fn refused(file: &str, options: &LoadOptions) -> Error {
    let error = open(file).load_method_with("forward", options).unwrap_err();
    assert!(!error.hint().is_empty());
    error
}

#[test]
fn coverage_is_what_the_exporter_counted() {
    let delegation = fixtures().delegation;
    assert!(delegation.len() >= 2);
    for counted in delegation {
        let report = open(&counted.file).report(&counted.method).unwrap();
        assert_eq!(report.coverage.delegated, Some(counted.delegated), "{}", counted.file);
        // The exporter counts taking an output of an operator with several as a call.
        let taken = counted.operators.get("getitem").map_or(0, |calls| calls.portable);
        assert_eq!(report.coverage.portable, counted.portable - taken, "{}", counted.file);
        assert_eq!(report.delegated.len(), counted.delegates);
        let share = report.coverage.share().unwrap();
        assert!((share - 6.0 / 9.0).abs() < 1e-9, "{share}");
    }
}

#[test]
fn operators_are_named_with_their_calls() {
    let report = open("partly-delegated.pte").report("forward").unwrap();
    let portable: Vec<_> = report.portable.iter().map(|(name, calls)| (name.as_str(), *calls)).collect();
    assert_eq!(portable, [("aten::argmax.out", 1), ("aten::cumsum.out", 1), ("aten::topk.values", 1)]);
    let inside: Vec<_> = report.delegated.iter().flat_map(|part| part.operators.clone().unwrap()).collect();
    for wanted in ["FullyConnected", "Add", "Multiply", "Sigmoid", "Clamp (fused)"] {
        assert!(inside.iter().any(|(name, _)| name == wanted), "{wanted}: {inside:?}");
    }
    assert!(report.problems.is_empty());
}

#[test]
fn a_delegate_that_does_not_tell_leaves_coverage_unknown_only_if_something_is_outside() {
    let report = open("unknown-delegate.pte").report("forward").unwrap();
    assert_eq!(report.coverage.delegated, None);
    let expected = (report.coverage.portable == 0).then_some(1.0);
    assert_eq!(report.coverage.share(), expected);
    assert!(
        matches!(&report.problems[..], [Error::DelegateMissing { delegate, .. }] if delegate == "NoSuchBackend")
    );
}

#[test]
fn an_operator_or_delegate_that_this_build_lacks_is_named() {
    let error = refused("unknown-operator.pte", &LoadOptions::default());
    assert!(
        matches!(&error, Error::OperatorsMissing { operators, .. } if operators == &["nearside_test::twist.out"]),
        "{error}"
    );
    let error = refused("unknown-delegate.pte", &LoadOptions::default());
    assert!(
        matches!(&error, Error::DelegateMissing { delegate, .. } if delegate == "NoSuchBackend"),
        "{error}"
    );
}

#[test]
fn data_in_other_files_is_asked_for_by_name_and_then_used() {
    for (file, data) in [("external.pte", "external.ptd"), ("external-xnnpack.pte", "external-xnnpack.ptd")] {
        for mode in MODES {
            let program = Program::open(path(file), mode).unwrap();
            let error = program.load_method("forward").unwrap_err();
            let Error::ExternalDataMissing { keys, .. } = &error else { panic!("{file}: {error}") };
            let data = DataFile::open(path(data), mode).unwrap();
            for key in keys {
                assert!(data.entries().iter().any(|entry| entry.key == *key), "{file}: {key}");
            }
            program.with_data(&[data]).unwrap().load_method("forward").unwrap();
        }
    }
    let split = ["external-split-first.ptd", "external-split-second.ptd"];
    let split = split.map(|file| DataFile::open(path(file), LoadMode::Mmap).unwrap());
    let half = open("external-split.pte").with_data(&split[..1]).unwrap().load_method("forward");
    assert!(matches!(half, Err(Error::ExternalDataMissing { .. })));
    open("external-split.pte").with_data(&split).unwrap().load_method("forward").unwrap();
    let twice = open("external-split.pte").with_data(&[split[0].clone(), split[0].clone()]);
    assert!(matches!(twice, Err(Error::DuplicateData { .. })));
}

#[test]
fn data_of_another_shape_is_refused() {
    let whole = std::fs::read(path("external.ptd")).unwrap();
    let program = open("external.pte");
    let entry = DataFile::from_bytes(whole.clone()).unwrap().entries()[0].clone();
    // As a flatbuffer has them: their number, then each.
    let sizes = entry.layout.unwrap().sizes;
    let vector = std::iter::once(sizes.len() as i32).chain(sizes);
    let vector: Vec<u8> = vector.flat_map(i32::to_le_bytes).collect();
    let at = whole.windows(vector.len()).position(|window| window == vector).unwrap();
    let mut changed = whole;
    changed[at + 4] -= 1;
    let data = DataFile::from_bytes(changed).unwrap();
    let error = program.with_data(&[data]).unwrap().load_method("forward").unwrap_err();
    assert!(matches!(error, Error::ExternalDataMismatch { .. }), "{error}");
}

#[test]
fn a_demand_for_coverage_is_met_or_answered_with_what_stayed_portable() {
    let demand = |share| LoadOptions { min_coverage: Some(share), ..LoadOptions::default() };
    open("partly-delegated.pte").load_method_with("forward", &demand(0.6)).unwrap();
    open("mlp-xnnpack.pte").load_method_with("forward", &demand(1.0)).unwrap();
    let error = refused("partly-delegated.pte", &demand(0.7));
    let Error::CoverageTooLow { portable, .. } = &error else { panic!("{error}") };
    assert_eq!(portable.len(), 3);
    assert_eq!(
        error.to_string(),
        "66.7 % of the operator calls of method `forward` are in delegates, 70.0 % were demanded; portable: \
         aten::argmax.out (1), aten::cumsum.out (1), aten::topk.values (1)"
    );
    assert!(matches!(refused("add.pte", &demand(0.1)), Error::CoverageTooLow { .. }));
    // Of a delegate that does not tell nothing is promised.
    assert!(matches!(refused("unknown-delegate.pte", &demand(0.0)), Error::DelegateMissing { .. }));
}

#[test]
fn a_demand_for_delegates_is_met_or_refused() {
    let demand = |id: &str| LoadOptions { delegates: Some(vec![id.to_owned()]), ..LoadOptions::default() };
    open("mlp-xnnpack.pte").load_method_with("forward", &demand("XnnpackBackend")).unwrap();
    for (file, id) in [("mlp-xnnpack.pte", "QnnBackend"), ("add.pte", "XnnpackBackend")] {
        let error = refused(file, &demand(id));
        assert!(matches!(&error, Error::DelegatesNotAllowed { .. }), "{error}");
    }
}

#[test]
fn a_budget_is_kept_before_anything_is_taken() {
    let budget = |bytes| LoadOptions { memory_budget_bytes: Some(bytes), ..LoadOptions::default() };
    for file in ["add.pte", "counter.pte", "static-int8.pte"] {
        let need = open(file).report("forward").unwrap().memory;
        let total = need.total_bytes();
        let error = refused(file, &budget(total - 1));
        assert!(matches!(&error, Error::OverBudget { need: found, .. } if **found == need), "{error}");
        let method = open(file).load_method_with("forward", &budget(total)).unwrap();
        let memory = method.memory();
        assert_eq!(memory.need, need);
        assert_eq!(memory.arena_bytes.iter().sum::<u64>(), need.planned_bytes);
        assert!(memory.resident.unwrap().current_bytes > 0);
    }
}

#[test]
fn state_is_found_where_the_file_does_not_mark_it() {
    for (file, expected) in [("counter.pte", 128 + 16), ("multi.pte", 0), ("mlp-xnnpack.pte", 0)] {
        let method = open(file).load_method("forward").unwrap();
        let found: u64 = method.state().iter().map(|buffer| buffer.range.end - buffer.range.start).sum();
        assert_eq!(found, expected, "{file}: {:?}", method.state());
        assert_eq!(method.memory().need.state_bytes, expected);
    }
}

#[test]
fn weights_stored_once_for_two_are_counted_once() {
    const TABLE_BYTES: u64 = 64 * 16 * 4;
    let file = "tied-xnnpack.pte";
    let bytes = std::fs::metadata(path(file)).unwrap().len();
    assert!(bytes < 2 * TABLE_BYTES);
    let mapped = open(file).report("forward").unwrap().memory.mapped_bytes;
    assert!(mapped > TABLE_BYTES && mapped < bytes, "{mapped} of {bytes} bytes are mapped");
}
