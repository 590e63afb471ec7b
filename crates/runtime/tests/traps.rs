//! Kernel calls that ExecuTorch would crash on are errors that say what is wrong.
#![allow(missing_docs)]

mod common;

use common::path;
use nearside_runtime::{Code, Error, LoadMode, Program};

#[test]
fn a_call_that_a_kernel_would_crash_on_is_an_error() {
    let program = Program::open(path("traps.pte"), LoadMode::Mmap).unwrap();
    let names = program.method_names();
    assert!(names.len() >= 17, "{names:?}");
    for name in names {
        let mut method = program.load_method(name).unwrap();
        let Err(error) = method.execute(&[]) else { panic!("`{name}` ran") };
        let Error::ExecuTorch { code: Code::InvalidArgument, detail, .. } = &error else {
            panic!("`{name}`: {error}");
        };
        // The operator and what is wrong with its call, which ExecuTorch's own checks don't begin with.
        let first = detail.lines().next().unwrap();
        let (operator, problem) = first.split_once(": ").unwrap();
        assert!(operator.contains("::") && problem.len() > 10, "`{name}`: {detail}");
    }
}
