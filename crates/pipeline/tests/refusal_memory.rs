//! A model that is refused is not brought into memory first.
#![allow(missing_docs)]

mod common;

use common::fixtures;
use nearside_pipeline::runtime::{Error as RuntimeError, LoadMode};
use nearside_pipeline::{Error, Model, OpenOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Knows the largest piece of memory that was asked for.
struct Largest;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Largest {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Largest = Largest;

#[test]
fn a_program_that_is_to_be_read_whole_is_not_read_to_be_refused() {
    let path = fixtures().join("../efficientnet-lite0.nearside");
    let largest = |memory_budget_bytes| {
        LARGEST.store(0, Ordering::SeqCst);
        let options =
            OpenOptions { load_mode: LoadMode::Bytes, memory_budget_bytes, ..OpenOptions::default() };
        let opened = Model::open(&path, options);
        (opened, LARGEST.load(Ordering::SeqCst) as u64)
    };
    let (opened, large) = largest(None);
    let info = opened.unwrap().info().clone();
    assert!(large >= info.program_bytes, "{large} {info:?}");
    // Without the program's own bytes it would fit.
    let budget = info.memory.total_bytes() - 1;
    assert!(budget > info.memory.total_bytes() - info.program_bytes);
    let (refused, small) = largest(Some(budget));
    let error = refused.expect_err("was opened");
    let over = matches!(&error, Error::Runtime(error) if matches!(**error, RuntimeError::OverBudget { .. }));
    assert!(over, "{error}");
    assert!(small < large / 4, "{small} to refuse, {large} to open");
}
