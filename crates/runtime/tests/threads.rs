//! The thread pool, alone in its process.
#![allow(missing_docs)]

mod common;

use common::path;
use nearside_runtime::{Error, LoadMode, Program, set_thread_count, thread_count};

#[test]
fn the_number_of_threads_changes_only_while_no_method_is_loaded() {
    for threads in [1, 3, 2] {
        set_thread_count(threads).unwrap();
        assert_eq!(thread_count(), threads);
    }
    for threads in [0, 257, usize::MAX] {
        assert!(matches!(set_thread_count(threads), Err(Error::ThreadCount { .. })));
    }
    let program = Program::open(path("mlp-xnnpack.pte"), LoadMode::Mmap).unwrap();
    let method = program.load_method("forward").unwrap();
    assert!(matches!(set_thread_count(1), Err(Error::ThreadsInUse { methods: 1, current: 2, .. })));
    set_thread_count(2).unwrap();
    drop(method);
    set_thread_count(1).unwrap();
    assert_eq!(thread_count(), 1);
}
