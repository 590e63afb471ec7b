//! Single images through a real model.
#![allow(missing_docs)]

mod common;

use common::{BLUE, GREEN, RED, SIDE, frame, model, picture};
use nearside_pipeline::{Error, Image, Model};
use std::sync::mpsc;

fn best(model: &Model, colour: [u8; 3]) -> String {
    let result = model.classify_frame(&frame(&picture(colour), 0), 2).unwrap();
    assert_eq!(result.labels.len(), 2);
    assert!(result.labels[0].score > result.labels[1].score);
    result.labels[0].name.to_string()
}

fn png(colour: [u8; 3]) -> Vec<u8> {
    let image = image::RgbImage::from_raw(SIDE, SIDE, picture(colour)).unwrap();
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[test]
fn frames_get_the_label_of_their_colour() {
    let model = model();
    assert_eq!(best(&model, RED), "red");
    assert_eq!(best(&model, GREEN), "green");
    assert_eq!(best(&model, BLUE), "blue");
}

#[test]
fn a_photo_gives_the_same_scores_by_path_by_bytes_and_as_a_frame() {
    let model = model();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("green.png");
    std::fs::write(&path, png(GREEN)).unwrap();
    let by_path = model.classify(Image::Path(path), 4).unwrap().labels;
    let by_bytes = model.classify(Image::Encoded(png(GREEN)), 4).unwrap().labels;
    let as_frame = model.classify_frame(&frame(&picture(GREEN), 0), 4).unwrap().labels;
    assert_eq!(by_path, by_bytes);
    assert_eq!(by_path, as_frame);
    let sum: f32 = by_path.iter().map(|label| label.score).sum();
    assert!((sum - 1.0).abs() < 1e-5, "{sum}");
}

#[test]
fn what_can_not_be_classified_is_an_error_and_the_model_goes_on() {
    let model = model();
    let mut cut = png(RED);
    cut.truncate(40);
    for bytes in [cut, b"no picture".to_vec(), Vec::new()] {
        assert!(matches!(model.classify(Image::Encoded(bytes), 1), Err(Error::Vision(_))));
    }
    assert!(matches!(model.classify(Image::Path("no/such.jpg".into()), 1), Err(Error::Vision(_))));
    assert!(matches!(model.classify(Image::Encoded(png(RED)), 0), Err(Error::InvalidArgument(_))));
    assert_eq!(best(&model, RED), "red");
}

#[test]
fn many_threads_share_a_model_and_get_their_own_answers() {
    let model = model();
    std::thread::scope(|scope| {
        for (colour, name) in [(RED, "red"), (GREEN, "green"), (BLUE, "blue")] {
            let model = &model;
            scope.spawn(move || (0..50).for_each(|_| assert_eq!(best(model, colour), name)));
        }
    });
}

#[test]
fn a_dropped_task_is_cancelled_and_says_so() {
    let model = model();
    let (done, wait) = mpsc::channel();
    // While the first one is being done, the others wait and can be cancelled.
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let done = done.clone();
            model.submit(Image::Encoded(png(RED)), 1, move |result| done.send(result).unwrap()).unwrap()
        })
        .collect();
    drop(tasks);
    drop(done);
    let results: Vec<_> = wait.iter().collect();
    assert_eq!(results.len(), 20, "each task has exactly one result");
    assert!(results.iter().any(|result| matches!(result, Err(Error::Cancelled))));
}

#[test]
fn what_waits_when_the_model_goes_is_answered_as_closed() {
    let model = model();
    let (done, wait) = mpsc::channel();
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let done = done.clone();
            model.submit(Image::Encoded(png(RED)), 1, move |result| done.send(result).unwrap()).unwrap()
        })
        .collect();
    drop(model);
    drop(done);
    let results: Vec<_> = wait.iter().collect();
    assert_eq!(results.len(), tasks.len(), "each task has exactly one result");
    let closed = results.iter().filter(|result| matches!(result, Err(Error::Closed("model")))).count();
    let answered = results.iter().filter(|result| result.is_ok()).count();
    assert!(closed > 0);
    assert_eq!(closed + answered, results.len());
}

#[test]
fn a_model_can_be_dropped_from_its_own_callback() {
    let model = model();
    let (done, wait) = mpsc::channel();
    let last = model.clone();
    let task = model
        .submit(Image::Encoded(png(RED)), 1, move |result| {
            drop(last);
            done.send(result).unwrap();
        })
        .unwrap();
    drop(model);
    assert_eq!(&*wait.recv().unwrap().unwrap().labels[0].name, "red");
    drop(task);
}
