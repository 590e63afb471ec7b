//! Packages that are whole, and packages that are not.
#![allow(missing_docs)]

mod common;

use common::{BLUE, Copy, GREEN, RED, fixtures, frame, package, picture};
use nearside_pipeline::vision::{Channels, Filter};
use nearside_pipeline::{Error, Model, OpenOptions, Package};
use std::path::Path;

#[test]
fn a_whole_package_opens_with_its_facts() {
    let model = common::model();
    let info = model.info();
    assert_eq!(
        (info.name.as_str(), info.variant.as_str(), info.classes),
        ("tiny-classifier", "xnnpack-fp32", 4)
    );
    assert_eq!((info.input_width, info.input_height), (32, 32));
    assert_eq!(info.delegates, ["XnnpackBackend"]);
    assert_eq!(info.operators, ["aten::mean.out"]);
    assert!(info.coverage > 0.5 && info.coverage < 1.0, "{}", info.coverage);
    let cores = std::thread::available_parallelism().unwrap().get();
    assert!((1..cores.max(2)).contains(&info.threads), "{} of {cores} cores", info.threads);
}

#[test]
fn a_program_with_another_hash_is_refused() {
    let copy = Copy::of(package());
    let mut bytes = std::fs::read(copy.program()).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(copy.program(), bytes).unwrap();
    assert!(matches!(copy.error(), Error::FileHash { .. }));
}

#[test]
fn a_manifest_with_a_wrong_hash_is_refused() {
    let copy = Copy::of(package());
    let manifest = Package::open(copy.path()).unwrap().manifest().clone();
    copy.edit_manifest(&manifest.variants[0].program.sha256, &"0".repeat(64));
    assert!(matches!(copy.error(), Error::FileHash { .. }));
}

#[test]
fn a_truncated_program_is_refused_by_its_size() {
    let copy = Copy::of(package());
    let bytes = std::fs::read(copy.program()).unwrap();
    std::fs::write(copy.program(), &bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(copy.error(), Error::FileSize { .. }));
}

#[test]
fn missing_files_are_named() {
    for file in ["labels.txt", "xnnpack-fp32.pte"] {
        let copy = Copy::of(package());
        std::fs::remove_file(copy.path().join(file)).unwrap();
        let error = copy.error();
        assert!(matches!(&error, Error::Read { path, .. } if path.ends_with(file)), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_never_ends_is_refused_at_once() {
    for file in ["labels.txt", "xnnpack-fp32.pte", "manifest.json"] {
        let copy = Copy::of(package());
        std::fs::remove_file(copy.path().join(file)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", copy.path().join(file)).unwrap();
        assert!(matches!(copy.error(), Error::Read { .. } | Error::NotAPackage { .. }), "{file}");
    }
}

#[test]
fn what_is_no_package_is_called_that() {
    let copy = Copy::of(package());
    std::fs::remove_file(copy.path().join("manifest.json")).unwrap();
    assert!(matches!(copy.error(), Error::NotAPackage { .. }));
    let open = |path: &Path| Model::open(path, OpenOptions::default()).unwrap_err();
    assert!(matches!(open(&copy.program()), Error::NotAPackage { .. }));
    assert!(matches!(open(Path::new("no/such.nearside")), Error::Read { .. }));
}

#[test]
fn a_path_that_leaves_the_package_is_refused() {
    for path in ["../labels.txt", "/etc/passwd", "a/../../labels.txt", ""] {
        let copy = Copy::of(package());
        copy.edit_manifest("\"labels.txt\"", &format!("\"{path}\""));
        let error = copy.error();
        assert!(
            matches!(&error, Error::Manifest { reason, .. } if reason.contains("leaves the package")),
            "{error}"
        );
    }
}

#[test]
fn manifests_that_do_not_follow_the_schema_are_refused_with_the_place() {
    for (from, to, said) in [
        ("\"schema_version\": 1", "\"schema_version\": 2", "schema version 2"),
        ("\"nchw\"", "\"chwn\"", "unknown variant `chwn`"),
        ("\"layout\"", "\"channels\": \"rgba\", \"layout\"", "unknown variant `rgba`"),
        ("\"bilinear_antialias\"", "\"lanczos\"", "unknown variant `lanczos`"),
        ("\"licence\"", "\"license\"", "unknown field `license`"),
        ("\"width\": 32", "\"width\": 0", "width"),
        ("\"width\": 32", "\"width\": -32", "line"),
        ("\"task\": \"classify\"", "\"task\": \"paint\"", "unknown variant `paint`"),
        ("{", "", "line 2"),
    ] {
        let copy = Copy::of(package());
        copy.edit_manifest(from, to);
        let error = copy.error();
        assert!(matches!(&error, Error::Manifest { reason, .. } if reason.contains(said)), "{to}: {error}");
    }
}

#[test]
fn a_manifest_of_another_model_is_refused() {
    for (from, to) in [
        ("\"width\": 32", "\"width\": 64"),
        ("\"layout\": \"nchw\"", "\"layout\": \"nhwc\""),
        ("\"XnnpackBackend\"", "\"QnnBackend\""),
    ] {
        let copy = Copy::of(package());
        copy.edit_manifest(from, to);
        assert!(matches!(copy.error(), Error::Mismatch { .. }), "{to}");
    }
}

#[test]
fn a_program_that_does_not_take_one_f32_tensor_is_refused_by_what_it_takes() {
    let copy = Copy::of(package());
    copy.exchange("xnnpack-fp32.pte", &std::fs::read(fixtures().join("types.pte")).unwrap());
    copy.edit_manifest("\"XnnpackBackend\"", "");
    let error = copy.error();
    assert!(
        matches!(&error, Error::WrongTensor { variant, method, found, .. }
            if (variant.as_str(), method.as_str()) == ("xnnpack-fp32", "forward") && found.contains("values")),
        "{error}"
    );
    assert!(error.hint().contains("f32"), "{error}");
}

#[test]
fn filters_and_the_order_of_colours_come_from_the_manifest() {
    let copy = Copy::of(package());
    copy.edit_manifest("\"bilinear_antialias\"", "\"bicubic_antialias\"");
    copy.edit_manifest("\"layout\"", "\"channels\": \"bgr\", \"layout\"");
    let spec = *Package::open(copy.path()).unwrap().classifier().unwrap().image_spec();
    assert_eq!((spec.filter, spec.channels), (Filter::BicubicAntialias, Channels::Bgr));
    // Trained for RGB, it now takes red for blue.
    let model = Model::open(copy.path(), OpenOptions::default()).unwrap();
    let label = |colour| {
        let labels = model.classify_frame(&frame(&picture(colour), 0), 1).unwrap().labels;
        labels[0].name.to_string()
    };
    assert_eq!((label(RED), label(GREEN), label(BLUE)), ("blue".into(), "green".into(), "red".into()));
}

#[test]
fn an_unknown_variant_lists_the_known_ones() {
    let options = OpenOptions { variant: Some("int4".into()), ..OpenOptions::default() };
    let error = Model::open(package(), options).unwrap_err();
    assert!(error.to_string().contains("it has xnnpack-fp32"), "{error}");
}
