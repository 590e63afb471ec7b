//! A profile says where the time of runs went, and adds up.
#![allow(missing_docs)]

mod common;

use common::path;
use nearside_runtime::profile::{Event, EventKind, Profile};
use nearside_runtime::{Error, LoadMode, LoadOptions, Method, Program, TensorRef};
use std::num::NonZeroUsize;

const RUNS: usize = 20;

fn traced(file: &str, mode: LoadMode) -> Method {
    let program = Program::open(path(file), mode).unwrap();
    program.load_method_with("forward", &LoadOptions { profiling: true, ..LoadOptions::default() }).unwrap()
}

fn profile(file: &str, mode: LoadMode, sizes: &[&[i32]]) -> Profile {
    let data: Vec<_> =
        sizes.iter().map(|sizes| vec![0.5f32; sizes.iter().product::<i32>() as usize]).collect();
    let inputs: Vec<_> =
        data.iter().zip(sizes).map(|(data, sizes)| TensorRef::new(data, sizes).unwrap()).collect();
    traced(file, mode).profile(&inputs, NonZeroUsize::new(RUNS).unwrap()).unwrap()
}

const EFFICIENTNET: &str = "../efficientnet-lite0.nearside/xnnpack-int8.pte";

fn adds_up(profile: &Profile) {
    let shares = profile.operators.iter().map(|call| call.share).sum::<f64>()
        + profile.delegates.iter().map(|delegate| delegate.share).sum::<f64>()
        + profile.overhead_share;
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    assert!(profile.overhead_ns >= 0.0, "calls are inside the run: {}", profile.overhead_ns);
    assert!(profile.total.min_ns <= profile.total.p50_ns && profile.total.min_ns > 0);
    assert_eq!(profile.runs.len(), RUNS);
}

fn inside(inner: &Event, outer: &Event) -> bool {
    outer.start_ns <= inner.start_ns
        && inner.start_ns + inner.duration_ns <= outer.start_ns + outer.duration_ns
}

#[test]
fn portable_operators_are_named_as_in_the_file() {
    let profile = profile("add.pte", LoadMode::Mmap, &[&[2, 3], &[2, 3]]);
    adds_up(&profile);
    let [add] = profile.operators.as_slice() else { panic!("{:?}", profile.operators) };
    assert_eq!((add.name.as_str(), add.calls), ("aten::add.out", 1.0));
    assert!(add.time_ns > 0.0);
    assert!(profile.delegates.is_empty());
    for events in &profile.runs {
        let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [EventKind::Method, EventKind::Operator]);
        assert!(inside(&events[1], &events[0]));
        assert_eq!(events[1].instruction, Some(0));
    }
}

#[test]
fn xnnpack_tells_of_its_operators() {
    for mode in [LoadMode::Mmap, LoadMode::File, LoadMode::Bytes] {
        let profile = profile(EFFICIENTNET, mode, &[&[1, 3, 224, 224]]);
        adds_up(&profile);
        let [xnnpack] = profile.delegates.as_slice() else { panic!("{:?}", profile.delegates) };
        assert_eq!(xnnpack.id, "XnnpackBackend");
        assert!(xnnpack.share > 0.9, "{}", xnnpack.share);
        let inner: f64 = xnnpack.operators.iter().map(|call| call.time_ns).sum();
        assert!(inner > 0.5 * xnnpack.time_ns && inner <= xnnpack.time_ns, "{inner} of {}", xnnpack.time_ns);
        // EfficientNet-Lite0's own numbers: a stem; 16 blocks with a depthwise and a pointwise convolution, all but the
        // first with one more; a head. The stem and the first block are float. XNNPACK runs pointwise ones as matrix
        // products.
        let calls =
            |name: &str| xnnpack.operators.iter().find(|call| call.name == name).map(|call| call.calls);
        assert_eq!(calls("Convolution (NHWC, F32) IGEMM"), Some(1.0));
        assert_eq!(calls("Convolution (NHWC, F32) DWConv"), Some(1.0));
        assert_eq!(calls("Fully Connected (NC, F32) GEMM"), Some(1.0));
        assert_eq!(calls("Convolution (NHWC, QC8) DWConv"), Some(15.0));
        assert_eq!(calls("Fully Connected (NC, QS8, QC8W) GEMM"), Some(15.0 + 15.0 + 1.0));
        let init: u64 = xnnpack.parts.iter().map(|part| part.init_ns.unwrap()).sum();
        assert!(init > 0 && init <= profile.load_ns, "{init} of {}", profile.load_ns);
    }
}

#[test]
fn a_profiled_method_gives_the_same_outputs() {
    for case in common::cases() {
        let program = Program::open(path(&case.file), LoadMode::Mmap).unwrap();
        let options = LoadOptions { profiling: true, ..LoadOptions::default() };
        let mut method = program.load_method_with(&case.method, &options).unwrap();
        let inputs: Vec<_> = case.inputs.iter().map(common::Tensor::as_ref).collect();
        common::assert_gives_eagers_outputs(&mut method, &case);
        method.profile(&inputs, NonZeroUsize::MIN).unwrap();
        common::assert_gives_eagers_outputs(&mut method, &case);
    }
}

#[test]
fn a_method_that_was_not_loaded_for_it_is_refused() {
    let program = Program::open(path("add.pte"), LoadMode::Mmap).unwrap();
    let mut method = program.load_method("forward").unwrap();
    let data = [0.0f32; 6];
    let input = TensorRef::new(&data, &[2, 3]).unwrap();
    let error = method.profile(&[input, input], NonZeroUsize::MIN).unwrap_err();
    assert!(matches!(error, Error::NotProfiling { .. }), "{error}");
    assert!(error.hint().contains("profiling"), "{}", error.hint());
}

#[test]
fn wrong_inputs_are_refused_and_leave_the_method_usable() {
    let mut method = traced("add.pte", LoadMode::Mmap);
    let data = [0.0f32; 6];
    let input = TensorRef::new(&data, &[2, 3]).unwrap();
    let error = method.profile(&[input], NonZeroUsize::MIN).unwrap_err();
    assert!(matches!(error, Error::InputCount { .. }), "{error}");
    assert_eq!(method.profile(&[input, input], NonZeroUsize::MIN).unwrap().runs.len(), 1);
}
