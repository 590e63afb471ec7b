//! A warm camera pipeline allocates nothing per frame, on any of its threads.
#![allow(missing_docs)]

mod common;

use common::{RED, frame, model, picture};
use nearside_pipeline::{Camera, CameraConfig, CameraEvent, Policy};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
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
fn a_warm_camera_allocates_nothing_per_frame() {
    let model = model();
    let bytes = picture(RED);
    for policy in [Policy::BlockProducer, Policy::KeepOnlyLatest] {
        let camera = Camera::open(&model, CameraConfig { policy, ..CameraConfig::default() }).unwrap();
        let run = |frames: usize| {
            for _ in 0..frames {
                camera.offer(&frame(&bytes, 0)).unwrap();
                let Some(CameraEvent::Classified(found)) = camera.next() else { panic!("no event") };
                assert_eq!(&*found.labels[0].name, "red");
                camera.recycle(found.labels);
            }
        };
        // A thread allocates once when it first has to block, and a channel when its list of waiting threads first grows;
        // that may happen in any round. What happens per frame happens in every round.
        let rounds: Vec<usize> = (0..10)
            .map(|_| {
                let before = ALLOCATIONS.load(Ordering::SeqCst);
                run(200);
                ALLOCATIONS.load(Ordering::SeqCst) - before
            })
            .collect();
        assert!(rounds.contains(&0), "{policy:?}: allocations in rounds of 200 frames: {rounds:?}");
    }
}
