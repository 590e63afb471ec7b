//! A camera without a core to spare, alone in its process: the number of threads is the process's.
#![allow(missing_docs)]

mod common;

use common::{GREEN, RED, frame, package, picture};
use nearside_pipeline::vision::{Frame, Plane};
use nearside_pipeline::{Camera, CameraConfig, CameraEvent, Model, OpenOptions, Policy};

#[test]
fn decoding_and_classifying_in_turns_loses_no_frame() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let options = OpenOptions { threads: Some(cores), ..OpenOptions::default() };
    let model = Model::open(package(), options).unwrap();
    assert_eq!(model.info().threads, cores);
    for policy in [Policy::BlockProducer, Policy::KeepOnlyLatest] {
        let camera = Camera::open(&model, CameraConfig { policy, ..CameraConfig::default() }).unwrap();
        let (red, green) = (picture(RED), picture(GREEN));
        let bad = Frame {
            planes: [Plane { bytes: &red[..9], ..frame(&red, 0).planes[0] }, Plane::EMPTY, Plane::EMPTY],
            ..frame(&red, 0)
        };
        let delivered = std::thread::scope(|scope| {
            scope.spawn(|| {
                for index in 0..600 {
                    match index % 3 {
                        0 => drop(camera.offer(&bad).unwrap_err()),
                        1 => drop(camera.offer(&frame(&red, 0)).unwrap()),
                        _ => drop(camera.offer(&frame(&green, 0)).unwrap()),
                    }
                }
                camera.finish();
            });
            let mut delivered = 0;
            while let Some(event) = camera.next() {
                let CameraEvent::Classified(found) = event else { panic!("{event:?}") };
                assert_eq!(&*found.labels[0].name, if found.frame % 3 == 1 { "red" } else { "green" });
                delivered += 1;
            }
            delivered
        });
        let stats = camera.close();
        assert_eq!((stats.offered, stats.delivered, stats.failed), (600, delivered, 200));
        assert_eq!(stats.delivered + stats.replaced, 400);
        if policy == Policy::BlockProducer {
            assert_eq!(stats.replaced, 0);
        }
    }
}
