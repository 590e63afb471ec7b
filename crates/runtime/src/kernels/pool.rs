//! Work divided among the threads of ExecuTorch's pool, which XNNPACK uses too.

use crate::bridge::ffi;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// Threads that work on a call of [`run`], the calling one included.
pub(super) fn threads() -> usize {
    ffi::thread_count()
}

/// Runs `task` for each of `0..tasks`, in any order, on the pool's threads, and returns when all are done. With one thread
/// or task it is a plain loop.
///
/// Threads take the next task when they are done with one: make a few a thread, as cores differ in speed. A task must not
/// call this itself.
///
/// # Errors
/// If a task panicked: then some may not have run.
pub(super) fn run(tasks: usize, task: impl Fn(usize) + Sync) -> Result<(), String> {
    let work = Work { task: &task, panicked: AtomicBool::new(false) };
    if tasks <= 1 || threads() <= 1 {
        (0..tasks).for_each(|at| do_task(&work, at));
    } else {
        ffi::run_on_pool(&work, tasks);
    }
    if work.panicked.into_inner() {
        return Err("a task of the kernel panicked; this is a fault of Nearside".into());
    }
    Ok(())
}

/// The tasks of a call, as C++ passes them from thread to thread.
pub(crate) struct Work<'a> {
    task: &'a (dyn Fn(usize) + Sync),
    panicked: AtomicBool,
}

/// For C++: does one task. Nothing unwinds out of it.
pub(crate) fn do_task(work: &Work<'_>, task: usize) {
    if work.panicked.load(Ordering::Relaxed) {
        return;
    }
    let done: Result<(), Box<dyn Any + Send>> = catch_unwind(AssertUnwindSafe(|| (work.task)(task)));
    if done.is_err() {
        work.panicked.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_task_runs_once() {
        for tasks in [0, 1, 2, 3, 100] {
            let counts: Vec<_> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
            let count = |task: usize| {
                counts[task].fetch_add(1, Ordering::Relaxed);
            };
            run(tasks, count).unwrap();
            assert!(counts.into_iter().all(|count| count.into_inner() == 1), "{tasks} tasks");
        }
    }

    #[test]
    fn a_task_that_panics_is_an_error_and_the_pool_goes_on() {
        let problem = run(10, |task| assert_ne!(task, 7)).unwrap_err();
        assert!(problem.contains("panicked"), "{problem}");
        run(10, |_| ()).unwrap();
    }
}
