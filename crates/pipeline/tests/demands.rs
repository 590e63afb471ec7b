//! What an app demands of a model, and which variant is chosen for it.
#![allow(missing_docs)]

mod common;

use common::{Copy, fixtures, package, variants};
use nearside_pipeline::runtime::Error as RuntimeError;
use nearside_pipeline::{Error, Model, ModelInfo, OpenOptions, Refusal};
use std::path::Path;

fn opened(path: &Path, options: OpenOptions) -> ModelInfo {
    Model::open(path, options).unwrap().info().clone()
}

fn refused(path: &Path, options: OpenOptions) -> Error {
    let error = Model::open(path, options).expect_err("was opened");
    assert!(!error.hint().is_empty());
    error
}

fn named(variant: &str) -> OpenOptions {
    OpenOptions { variant: Some(variant.into()), ..OpenOptions::default() }
}

fn coverage(share: f64) -> OpenOptions {
    OpenOptions { min_coverage: Some(share), ..OpenOptions::default() }
}

fn delegate(id: &str) -> OpenOptions {
    OpenOptions { delegates: Some(vec![id.into()]), ..OpenOptions::default() }
}

fn budget(bytes: u64) -> OpenOptions {
    OpenOptions { memory_budget_bytes: Some(bytes), ..OpenOptions::default() }
}

/// The reasons, by variant; all of them from the runtime.
fn reasons(error: Error) -> Vec<(String, std::sync::Arc<RuntimeError>)> {
    let Error::NoRunnableVariant { reasons } = error else { panic!("{error}") };
    let reason = |Refusal { variant, error }| match error {
        Error::Runtime(error) => (variant, error),
        other => panic!("{other}"),
    };
    reasons.into_iter().map(reason).collect()
}

#[test]
fn the_only_variant_is_refused_with_its_own_error() {
    for (path, variant) in [(package(), None), (variants(), Some("xnnpack-fp32".to_owned()))] {
        let open = |options| refused(&path, OpenOptions { variant: variant.clone(), ..options });
        let error = open(coverage(1.0));
        let Error::Runtime(found) = &error else { panic!("{error}") };
        let RuntimeError::CoverageTooLow { portable, .. } = &**found else { panic!("{error}") };
        assert_eq!(portable, &[("aten::mean.out".to_owned(), 1)]);
        assert!(error.to_string().contains("aten::mean.out"), "{error}");

        let error = open(delegate("QnnBackend"));
        let Error::Runtime(found) = &error else { panic!("{error}") };
        assert!(matches!(&**found, RuntimeError::DelegatesNotAllowed { .. }), "{error}");
        assert!(error.to_string().contains("aten::mean.out"), "{error}");

        let error = open(budget(1024));
        let Error::Runtime(found) = &error else { panic!("{error}") };
        assert!(matches!(&**found, RuntimeError::OverBudget { budget_bytes: 1024, .. }), "{error}");
    }
}

#[test]
fn demands_that_are_met_change_nothing() {
    let free = opened(&package(), OpenOptions::default());
    let met = OpenOptions {
        min_coverage: Some(free.coverage),
        delegates: Some(vec!["QnnBackend".into(), "XnnpackBackend".into()]),
        memory_budget_bytes: Some(free.memory.total_bytes()),
        ..OpenOptions::default()
    };
    let found = opened(&package(), met);
    assert_eq!((found.variant, found.coverage, found.memory), (free.variant, free.coverage, free.memory));
}

#[test]
fn the_first_variant_is_chosen_that_meets_the_demands() {
    let chosen = |options| opened(&variants(), options).variant;
    assert_eq!(chosen(OpenOptions::default()), "xnnpack-fp32");
    assert_eq!(chosen(delegate("XnnpackBackend")), "xnnpack-fp32");
    assert_eq!(chosen(coverage(0.5)), "xnnpack-fp32");
    let total = |variant| opened(&variants(), named(variant)).memory.total_bytes();
    let (xnnpack, portable) = (total("xnnpack-fp32"), total("portable-fp32"));
    assert_ne!(xnnpack, portable);
    let (smaller, name) =
        if xnnpack < portable { (xnnpack, "xnnpack-fp32") } else { (portable, "portable-fp32") };
    assert_eq!(chosen(budget(smaller)), name);
    assert_eq!(chosen(budget(xnnpack.max(portable))), "xnnpack-fp32");
}

#[test]
fn what_no_variant_meets_is_refused_with_a_reason_for_each() {
    let error = refused(&variants(), coverage(1.0));
    assert!(error.to_string().contains("variant `portable-fp32`"), "{error}");
    for operator in ["aten::mean.out", "aten::convolution.out"] {
        assert!(error.to_string().contains(operator), "{error}");
    }
    let found = reasons(error);
    let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["xnnpack-fp32", "portable-fp32"]);
    assert!(found.iter().all(|(_, error)| matches!(**error, RuntimeError::CoverageTooLow { .. })));

    let found = reasons(refused(&variants(), budget(1024)));
    assert!(found.iter().all(|(_, error)| matches!(**error, RuntimeError::OverBudget { .. })));
    assert_eq!(found.len(), 2);
}

/// The package with a first variant that runs in a delegate which nobody has.
fn with_an_unknown_delegate() -> Copy {
    let copy = Copy::of(variants());
    copy.exchange("xnnpack-fp32.pte", &std::fs::read(fixtures().join("unknown-delegate.pte")).unwrap());
    copy.edit_manifest("\"XnnpackBackend\"", "\"NoSuchBackend\"");
    copy
}

#[test]
fn a_variant_whose_delegate_is_not_here_is_passed_over() {
    let copy = with_an_unknown_delegate();
    assert_eq!(opened(copy.path(), OpenOptions::default()).variant, "portable-fp32");
    let found = reasons(refused(copy.path(), budget(1024)));
    assert!(
        matches!(&*found[0].1, RuntimeError::DelegateMissing { delegate, .. } if delegate == "NoSuchBackend")
    );
    assert!(matches!(&*found[1].1, RuntimeError::OverBudget { .. }));
    let error = refused(copy.path(), named("xnnpack-fp32"));
    assert!(
        matches!(&error, Error::Runtime(error) if matches!(**error, RuntimeError::DelegateMissing { .. })),
        "{error}"
    );
}

#[test]
fn a_damaged_variant_is_an_error_and_not_a_reason_to_take_the_next() {
    for damage in [false, true] {
        let copy = Copy::of(variants());
        let mut bytes = std::fs::read(copy.program()).unwrap();
        if damage {
            // In the description.
            bytes[200] ^= 0x55;
        } else {
            *bytes.last_mut().unwrap() ^= 1;
        }
        std::fs::write(copy.program(), bytes).unwrap();
        assert!(matches!(copy.error(), Error::FileHash { .. }));
    }
}

#[test]
fn a_variant_that_is_refused_is_not_read_whole() {
    let copy = with_an_unknown_delegate();
    // Nobody finds the difference who does not read the data to its end.
    let data = copy.path().join("xnnpack-fp32.ptd");
    let mut bytes = std::fs::read(&data).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(data, bytes).unwrap();
    assert_eq!(opened(copy.path(), OpenOptions::default()).variant, "portable-fp32");
}

#[test]
fn demands_out_of_range_are_invalid_arguments() {
    let none = OpenOptions { delegates: Some(Vec::new()), ..OpenOptions::default() };
    let all = [f64::NAN, -0.1, 1.1, f64::INFINITY].map(coverage).into_iter().chain([none, budget(0)]);
    for options in all {
        let error = refused(&package(), options.clone());
        assert!(matches!(error, Error::InvalidArgument(_)), "{options:?}: {error}");
    }
    for share in [0.0, 0.1] {
        assert_eq!(opened(&package(), coverage(share)).variant, "xnnpack-fp32");
    }
}
