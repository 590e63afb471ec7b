//! Packages whose weights are in data files.
#![allow(missing_docs)]

mod common;

use common::{BLUE, Copy, GREEN, RED, frame, model, picture, variants};
use nearside_pipeline::runtime::{Error as RuntimeError, LoadMode};
use nearside_pipeline::{Error, Model, OpenOptions};
use std::sync::Arc;

const NAMES: [&str; 2] = ["xnnpack-fp32", "portable-fp32"];

/// Without its data, this one's tensors are missing.
const PORTABLE: &str = NAMES[1];

fn named(variant: &str) -> OpenOptions {
    OpenOptions { variant: Some(variant.into()), ..OpenOptions::default() }
}

fn error(copy: &Copy, variant: &str) -> Error {
    Model::open(copy.path(), named(variant)).expect_err("was opened")
}

fn runtime_error(copy: &Copy, variant: &str) -> Arc<RuntimeError> {
    match error(copy, variant) {
        Error::Runtime(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn weights_in_data_files_give_what_weights_in_the_program_give() {
    let expected = model();
    for variant in NAMES {
        for load_mode in [LoadMode::Mmap, LoadMode::File, LoadMode::Bytes] {
            let found = Model::open(variants(), OpenOptions { load_mode, ..named(variant) }).unwrap();
            assert_eq!(found.info().variant, variant);
            for colour in [RED, GREEN, BLUE] {
                let picture = picture(colour);
                let labels = |model: &Model| model.classify_frame(&frame(&picture, 0), 4).unwrap().labels;
                for (found, expected) in labels(&found).iter().zip(labels(&expected)) {
                    assert_eq!(found.name, expected.name);
                    assert!((found.score - expected.score).abs() < 1e-5, "{variant} {load_mode:?}");
                }
            }
        }
    }
}

#[test]
fn data_that_is_read_counts_as_memory_and_data_that_is_mapped_does_not() {
    let memory = |load_mode| {
        let options = OpenOptions { load_mode, ..named(PORTABLE) };
        Model::open(variants(), options).unwrap().info().memory.clone()
    };
    let bytes = |file: &str| std::fs::metadata(variants().join(file)).unwrap().len();
    let (program, data) = (bytes("portable-fp32.pte"), bytes("portable-fp32.ptd"));
    let mapped = memory(LoadMode::Mmap);
    assert_eq!(mapped.constant_bytes, 0);
    assert!((data..data + program).contains(&mapped.mapped_bytes), "{mapped:?}");
    let read = memory(LoadMode::Bytes);
    assert_eq!((read.constant_bytes, read.mapped_bytes), (program + data, 0));
    assert_eq!(read.total_bytes(), mapped.total_bytes() + program + data);
}

#[test]
fn data_files_are_compared_with_the_manifest() {
    for variant in NAMES {
        let file = format!("{variant}.ptd");
        let copy = Copy::of(variants());
        let path = copy.path().join(&file);
        let bytes = std::fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        *changed.last_mut().unwrap() ^= 1;
        std::fs::write(&path, changed).unwrap();
        let found = error(&copy, variant);
        assert!(matches!(&found, Error::FileHash { path, .. } if path.ends_with(&file)), "{found}");
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let found = error(&copy, variant);
        assert!(matches!(&found, Error::FileSize { path, .. } if path.ends_with(&file)), "{found}");
        std::fs::remove_file(&path).unwrap();
        let found = error(&copy, variant);
        assert!(matches!(&found, Error::Read { path, .. } if path.ends_with(&file)), "{found}");
    }
}

#[test]
fn the_data_of_another_program_is_refused_by_what_is_missing() {
    for (variant, other) in [(NAMES[0], NAMES[1]), (NAMES[1], NAMES[0])] {
        let copy = Copy::of(variants());
        let data = std::fs::read(copy.path().join(format!("{other}.ptd"))).unwrap();
        copy.exchange(&format!("{variant}.ptd"), &data);
        let found = runtime_error(&copy, variant);
        let RuntimeError::ExternalDataMissing { keys, .. } = &*found else { panic!("{found}") };
        // XNNPACK's data is named by its hash.
        let is_hash = |key: &String| key.len() == 64;
        assert!(if variant == PORTABLE {
            keys.contains(&"head.bias".into())
        } else {
            keys.iter().all(is_hash)
        });
    }
}

#[test]
fn a_program_in_place_of_a_data_file_is_refused() {
    let copy = Copy::of(variants());
    let program = std::fs::read(copy.path().join("portable-fp32.pte")).unwrap();
    copy.exchange("portable-fp32.ptd", &program);
    let found = runtime_error(&copy, PORTABLE);
    assert!(matches!(&*found, RuntimeError::NotDataFile { .. }), "{found}");
}
