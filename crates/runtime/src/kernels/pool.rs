//! Work divided among the threads of ExecuTorch's pool, which XNNPACK uses too.

use crate::bridge::ffi;
use std::any::Any;
use std::marker::PhantomData;
use std::ops::Range;
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

/// A slice whose parts tasks write at the same time.
pub(super) struct Parts<'a, T> {
    data: *mut T,
    length: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: as for the slice, whose parts go to other threads as `&mut [T]`.
unsafe impl<T: Send> Sync for Parts<'_, T> {}

impl<'a, T> Parts<'a, T> {
    pub(super) fn new(slice: &'a mut [T]) -> Self {
        Self { data: slice.as_mut_ptr(), length: slice.len(), slice: PhantomData }
    }

    /// A part.
    ///
    /// # Panics
    /// If the slice has no such part.
    ///
    /// # Safety
    /// Of parts that have elements in common only one may be there at a time.
    #[expect(clippy::mut_from_ref, reason = "the caller makes sure that each part is there once")]
    pub(super) unsafe fn part(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.length, "no part {range:?} of {}", self.length);
        // SAFETY: it is within the slice, which is borrowed for `'a`, and this part of it only once.
        unsafe { std::slice::from_raw_parts_mut(self.data.add(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Parts, run};
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
    fn tasks_write_parts_of_a_slice() {
        let mut numbers = [0; 10];
        let parts = Parts::new(&mut numbers);
        run(5, |task| {
            // SAFETY: each task has its own two.
            let part = unsafe { parts.part(2 * task..2 * task + 2) };
            part.fill(task);
        })
        .unwrap();
        assert_eq!(numbers, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
        let parts = Parts::new(&mut numbers);
        // SAFETY: no other part is there.
        let problem = run(1, |_| unsafe { parts.part(8..11) }.fill(0)).unwrap_err();
        assert!(problem.contains("panicked"), "{problem}");
    }

    #[test]
    fn a_task_that_panics_is_an_error_and_the_pool_goes_on() {
        let problem = run(10, |task| assert_ne!(task, 7)).unwrap_err();
        assert!(problem.contains("panicked"), "{problem}");
        run(10, |_| ()).unwrap();
    }
}
