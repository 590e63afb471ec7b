//! The camera pipeline with a real model.
#![allow(missing_docs)]

mod common;

use common::{BLUE, GREEN, RED, SIDE, frame, model, picture};
use nearside_pipeline::vision::{Frame, Plane};
use nearside_pipeline::{Camera, CameraConfig, CameraEvent, CameraStats, Error, Next, Policy};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn config(policy: Policy) -> CameraConfig {
    CameraConfig { policy, top: 2, ..CameraConfig::default() }
}

fn assert_accounted(stats: &CameraStats) {
    assert_eq!(stats.offered, stats.delivered + stats.replaced + stats.failed, "{stats:?}");
}

#[test]
fn a_blocking_camera_classifies_every_frame_in_order() {
    let camera = Camera::open(&model(), config(Policy::BlockProducer)).unwrap();
    let colours = [(RED, "red"), (GREEN, "green"), (BLUE, "blue")];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for index in 0..90 {
                let number =
                    camera.offer(&frame(&picture(colours[index % 3].0), index as i64 * 1000)).unwrap();
                assert_eq!(number, index as u64);
            }
            camera.finish();
        });
        let mut expected = 0;
        while let Some(event) = camera.next() {
            let CameraEvent::Classified(found) = event else { panic!("{event:?}") };
            assert_eq!((found.frame, found.timestamp_ns), (expected, expected as i64 * 1000));
            assert_eq!(&*found.labels[0].name, colours[expected as usize % 3].1);
            expected += 1;
        }
        assert_eq!(expected, 90);
    });
    let stats = camera.close();
    assert_eq!((stats.offered, stats.delivered, stats.replaced, stats.failed), (90, 90, 0, 0));
    let latency = stats.latency.unwrap();
    assert!(latency.end_to_end.p50 >= latency.inference.p50);
}

#[test]
fn offering_faster_than_inference_keeps_the_latest_and_accounts_for_all() {
    let camera = Camera::open(&model(), config(Policy::KeepOnlyLatest)).unwrap();
    let bytes = picture(RED);
    let mut last = None;
    std::thread::scope(|scope| {
        let taker = scope.spawn(|| {
            let mut numbers = Vec::new();
            while let Some(CameraEvent::Classified(found)) = camera.next() {
                numbers.push(found.frame);
            }
            numbers
        });
        for _ in 0..3000 {
            last = Some(camera.offer(&frame(&bytes, 0)).unwrap());
        }
        camera.finish();
        let numbers = taker.join().unwrap();
        assert!(numbers.is_sorted(), "frames came out of order");
        assert_eq!(numbers.last().copied(), last, "the latest frame was not kept");
    });
    let stats = camera.close();
    assert_eq!(stats.offered, 3000);
    assert!(stats.replaced > 0, "{stats:?}");
    assert_accounted(&stats);
}

#[test]
fn without_a_taker_the_latest_result_waits_and_the_rest_are_replaced() {
    let camera = Camera::open(&model(), config(Policy::KeepOnlyLatest)).unwrap();
    let bytes = picture(RED);
    for _ in 0..20 {
        camera.offer(&frame(&bytes, 0)).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    camera.finish();
    let Some(CameraEvent::Classified(found)) = camera.next() else { panic!("no event") };
    assert_eq!(found.frame, 19);
    assert!(camera.next().is_none());
    let stats = camera.close();
    assert_eq!((stats.delivered, stats.replaced), (1, 19));
}

#[test]
fn closing_discards_what_nobody_took_and_counts_it() {
    for policy in [Policy::KeepOnlyLatest, Policy::BlockProducer] {
        let camera = Camera::open(&model(), config(policy)).unwrap();
        let bytes = picture(RED);
        for _ in 0..3 {
            camera.offer(&frame(&bytes, 0)).unwrap();
        }
        let stats = camera.close();
        assert_eq!((stats.offered, stats.delivered), (3, 0));
        assert_accounted(&stats);
        assert_eq!(camera.close(), stats, "closing twice changes nothing");
        assert!(matches!(camera.offer(&frame(&bytes, 0)), Err(Error::Closed("camera"))));
        assert!(matches!(camera.try_next(), Next::Ended));
        assert!(matches!(camera.next_timeout(Duration::from_secs(5)), Next::Ended));
        assert_eq!(camera.stats(), stats);
    }
}

#[test]
fn a_bad_frame_fails_alone() {
    let camera = Camera::open(&model(), config(Policy::BlockProducer)).unwrap();
    let bytes = picture(GREEN);
    let short = &bytes[..bytes.len() / 2];
    let bad = Frame {
        planes: [
            Plane { bytes: short, row_stride: SIDE as usize * 3, pixel_stride: 3 },
            Plane::EMPTY,
            Plane::EMPTY,
        ],
        ..frame(&bytes, 0)
    };
    for _ in 0..20 {
        assert!(matches!(camera.offer(&bad), Err(Error::Vision(_))));
        camera.offer(&frame(&bytes, 0)).unwrap();
        let Some(CameraEvent::Classified(found)) = camera.next() else { panic!("no event") };
        assert_eq!(&*found.labels[0].name, "green");
    }
    let stats = camera.close();
    assert_eq!((stats.offered, stats.delivered, stats.failed), (40, 20, 20));
}

#[test]
fn closing_wakes_whoever_waits_to_offer_or_to_take() {
    let camera = Camera::open(&model(), config(Policy::BlockProducer)).unwrap();
    let bytes = picture(RED);
    std::thread::scope(|scope| {
        let offering = scope.spawn(|| {
            loop {
                if let Err(error) = camera.offer(&frame(&bytes, 0)) {
                    break error;
                }
            }
        });
        std::thread::sleep(Duration::from_millis(50));
        assert_accounted(&camera.close());
        assert!(matches!(offering.join().unwrap(), Error::Closed("camera")));
    });
    let idle = Camera::open(&model(), config(Policy::KeepOnlyLatest)).unwrap();
    std::thread::scope(|scope| {
        let taking = scope.spawn(|| idle.next());
        std::thread::sleep(Duration::from_millis(20));
        idle.close();
        assert!(taking.join().unwrap().is_none());
    });
}

#[test]
fn a_model_serves_photos_and_two_cameras_at_once() {
    let model = model();
    let cameras =
        [RED, BLUE].map(|colour| (Camera::open(&model, config(Policy::KeepOnlyLatest)).unwrap(), colour));
    std::thread::scope(|scope| {
        for (camera, colour) in &cameras {
            let bytes = picture(*colour);
            scope.spawn(move || {
                for _ in 0..500 {
                    camera.offer(&frame(&bytes, 0)).unwrap();
                }
                camera.finish();
            });
            scope.spawn(move || {
                while let Some(CameraEvent::Classified(found)) = camera.next() {
                    assert_eq!(&*found.labels[0].name, if *colour == RED { "red" } else { "blue" });
                }
            });
        }
        for _ in 0..50 {
            let labels = model.classify_frame(&frame(&picture(GREEN), 0), 1).unwrap().labels;
            assert_eq!(&*labels[0].name, "green");
        }
    });
    for (camera, _) in &cameras {
        let stats = camera.close();
        assert!(stats.delivered > 0);
        assert_accounted(&stats);
    }
}

#[test]
fn a_camera_outlives_the_callers_model_and_tells_when_something_is_ready() {
    let told = Arc::new(AtomicUsize::new(0));
    let on_ready = {
        let told = Arc::clone(&told);
        Arc::new(move || {
            told.fetch_add(1, Ordering::SeqCst);
        })
    };
    let camera =
        Camera::open(&model(), CameraConfig { on_ready: Some(on_ready), ..config(Policy::BlockProducer) })
            .unwrap();
    camera.offer(&frame(&picture(RED), 0)).unwrap();
    assert!(camera.next().is_some());
    camera.close();
    assert_eq!(told.load(Ordering::SeqCst), 2, "once for the event, once for the end");
}

#[test]
fn frames_of_changing_size_go_through_one_camera() {
    let camera = Camera::open(&model(), config(Policy::BlockProducer)).unwrap();
    for side in [1u32, 2, 7, 200, 33, 640] {
        let bytes = BLUE.repeat((side * side) as usize);
        camera.offer(&Frame::rgb(&bytes, side, side, None).unwrap()).unwrap();
        let Some(CameraEvent::Classified(found)) = camera.next() else { panic!("no event") };
        assert_eq!(&*found.labels[0].name, "blue", "side {side}");
    }
}
