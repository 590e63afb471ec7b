//! A model that is refused was not brought into memory first.
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
fn nothing_large_is_allocated_for_a_model_that_is_refused() {
    let path = fixtures().join("../efficientnet-lite0.nearside");
    let largest = |load_mode, memory_budget_bytes| {
        LARGEST.store(0, Ordering::SeqCst);
        let options = OpenOptions { load_mode, memory_budget_bytes, ..OpenOptions::default() };
        let opened = Model::open(&path, options);
        (opened, LARGEST.load(Ordering::SeqCst))
    };
    for load_mode in [LoadMode::Mmap, LoadMode::File, LoadMode::Bytes] {
        let (refused, small) = largest(load_mode, Some(1 << 20));
        let error = refused.expect_err("was opened");
        let over =
            matches!(&error, Error::Runtime(error) if matches!(**error, RuntimeError::OverBudget { .. }));
        assert!(over, "{error}");
        let (opened, large) = largest(load_mode, None);
        // Either the arena or the program itself.
        let memory = opened.unwrap().info().memory.clone();
        assert!(large as u64 >= memory.planned_bytes, "{large} {memory:?}");
        assert!(small < large / 4, "{load_mode:?}: {small} to refuse, {large} to open");
    }
}
