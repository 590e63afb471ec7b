//! Inputs and outputs of every kind that can be given and read.
#![allow(missing_docs)]

mod common;

use common::values::gives_eagers_outputs;
use common::{fixtures, path};
use nearside_runtime::{LoadMode, Program};
use std::collections::BTreeSet;

#[test]
fn programs_of_all_kinds_give_what_eager_gave() {
    let cases = fixtures().cases;
    let mut files = BTreeSet::new();
    let modes = [LoadMode::Mmap, LoadMode::File, LoadMode::Bytes];
    let alone = cases.iter().filter(|case| case.stands_alone());
    for (case, mode) in alone.flat_map(|case| modes.map(|mode| (case, mode))) {
        let program = Program::open(path(&case.file), mode).unwrap();
        let mut method = program.load_method(&case.call.method).unwrap();
        // Twice: what the first run left behind must not show.
        let mut run = || gives_eagers_outputs(&mut method, &case.call, case.tolerance);
        if run() && run() {
            files.insert(case.file.as_str());
        }
    }
    for file in ["control.pte", "found.pte", "lists.pte", "loop.pte", "metadata.pte", "partly-delegated.pte"]
    {
        assert!(files.contains(file), "{file}: {files:?}");
    }
}

#[test]
fn one_method_takes_every_size_up_to_its_bound_in_any_order() {
    let cases = fixtures().cases;
    let cases: Vec<_> = cases.iter().filter(|case| case.file == "dynamic.pte").collect();
    assert!(cases.len() >= 3);
    let program = Program::open(path("dynamic.pte"), LoadMode::Mmap).unwrap();
    let mut method = program.load_method("forward").unwrap();
    for case in cases.iter().chain(cases.iter().rev()) {
        assert!(gives_eagers_outputs(&mut method, &case.call, case.tolerance));
    }
}
