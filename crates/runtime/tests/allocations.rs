//! Running a loaded method allocates nothing on the Rust side.
#![allow(missing_docs)]

mod common;

use common::{cases, path};
use nearside_runtime::{LoadMode, Program, TensorRef};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_warm_run_allocates_nothing() {
    for case in cases() {
        let program = Program::open(path(&case.file), LoadMode::Mmap).unwrap();
        let mut method = program.load_method(&case.method).unwrap();
        let inputs: Vec<_> = case.inputs.iter().map(common::Tensor::as_ref).collect();
        let sum = |method: &mut nearside_runtime::Method, inputs: &[TensorRef<'_>]| -> f32 {
            let outputs = method.execute(inputs).unwrap();
            outputs.tensor(0).unwrap().as_slice::<f32>().unwrap().iter().sum()
        };
        let first = sum(&mut method, &inputs);
        let before = ALLOCATIONS.get();
        for _ in 0..10 {
            assert_eq!(sum(&mut method, &inputs), first);
        }
        assert_eq!(ALLOCATIONS.get() - before, 0, "{}", case.file);
    }
}

#[test]
fn neither_does_a_call_of_our_attention() {
    let program = Program::open(path("attention.pte"), LoadMode::Mmap).unwrap();
    let mut method = program.load_method("forward").unwrap();
    let x = [0.25f32; 3 * 16];
    let inputs = [TensorRef::new(&x, &[1, 3, 16]).unwrap(), TensorRef::new(&[2i64, 3, 4], &[3]).unwrap()];
    let mut run = || method.execute(&inputs).unwrap().tensor(0).unwrap().as_slice::<f32>().unwrap()[0];
    let first = run();
    let before = ALLOCATIONS.get();
    for _ in 0..10 {
        assert_eq!(run(), first);
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
}
