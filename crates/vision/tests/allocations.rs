//! Nothing is allocated per frame once warm. The only test of its process, so that every allocation is its own.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Yuv, rect, wave_rgb};
use nearside_vision::{Filter, Fit, Frame, FrameBuffer, ImageSpec, Preprocessor, Rotation};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_warm_preprocessor_and_a_warm_frame_buffer_allocate_nothing() {
    let wave = Yuv::wave(320, 240);
    let (nv12, i420, rgb) = (wave.semi_planar(false), wave.i420(), wave_rgb(97, 61));
    let nv12 = Frame::nv12(&nv12, 320, 240, None).unwrap();
    let frames = [
        nv12,
        Frame { rotation: Rotation::R90, mirror: true, ..nv12 },
        Frame { crop: Some(rect(31, 7, 101, 55)), ..Frame::i420(&i420, 320, 240, None).unwrap() },
        Frame::rgb(&rgb, 97, 61, None).unwrap(),
    ];
    for fit in [Fit::Stretch, Fit::Letterbox { pad: [114; 3] }, Fit::CenterCrop { fraction: 0.875 }] {
        for filter in [Filter::Bilinear, Filter::BilinearAntialias] {
            let mut preprocessor =
                Preprocessor::new(ImageSpec { fit, filter, ..ImageSpec::new(64, 64) }).unwrap();
            let mut out = vec![0.0; preprocessor.output_len()];
            let mut buffer = FrameBuffer::new();
            let mut pass = || {
                for frame in &frames {
                    buffer.copy_from(frame).unwrap();
                    preprocessor.run(&buffer.frame(), &mut out).unwrap();
                }
            };
            pass();
            // The frames differ in geometry, so that the second pass rebuilds every table in place.
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            pass();
            assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0, "{fit:?}, {filter:?}");
        }
    }
    assert!(ALLOCATIONS.load(Ordering::Relaxed) > 0, "the counter counts");
}
