//! Methods that keep state between runs: mutable buffers, zero or with an initial value.
#![allow(missing_docs)]

mod common;

use common::values::gives_eagers_outputs;
use common::{Call, default_tolerance, path, sequence};
use nearside_runtime::{LoadMode, Method, Program};

fn run(method: &mut Method, call: &Call) {
    assert!(gives_eagers_outputs(method, call, default_tolerance()));
}

#[test]
fn a_method_carries_its_state_from_run_to_run() {
    for file in ["counter.pte", "counter-xnnpack.pte", "counter-in-place.pte"] {
        for mode in [LoadMode::Mmap, LoadMode::File, LoadMode::Bytes] {
            let program = Program::open(path(file), mode).unwrap();
            let mut method = program.load_method("forward").unwrap();
            sequence(file).calls.iter().for_each(|call| run(&mut method, call));
        }
    }
}

#[test]
fn each_load_of_a_method_has_a_state_of_its_own_that_starts_afresh() {
    let calls = sequence("counter.pte").calls;
    let program = Program::open(path("counter.pte"), LoadMode::Mmap).unwrap();
    let mut first = program.load_method("forward").unwrap();
    calls[..2].iter().for_each(|call| run(&mut first, call));
    let mut second = program.load_method("forward").unwrap();
    calls.iter().for_each(|call| run(&mut second, call));
    calls[2..].iter().for_each(|call| run(&mut first, call));
}
