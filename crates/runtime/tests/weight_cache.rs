//! XNNPACK's weight cache, alone in its process: there is one in memory.
#![allow(missing_docs)]

mod common;

use common::path;
use nearside_runtime::delegate::XnnpackOptions;
use nearside_runtime::{Error, LoadMode, LoadOptions, Program, TensorRef};

#[test]
fn programs_do_not_share_a_weight_cache() {
    // Their weights are the same integers, with other scales: ExecuTorch would take them for the same.
    let folder = tempfile::tempdir().unwrap();
    let load = |name: &str, options: &XnnpackOptions| {
        let delegate_options = options.clone().try_into().unwrap();
        let load = LoadOptions { delegate_options, ..LoadOptions::default() };
        Program::open(path(name), LoadMode::Mmap)?.load_method_with("forward", &load)
    };
    let in_memory = XnnpackOptions { weight_cache: Some(true), ..XnnpackOptions::default() };
    let in_file =
        XnnpackOptions { packed_cache_path: Some(folder.path().join("packed")), ..XnnpackOptions::default() };
    for options in [in_memory, in_file] {
        let first = load("scaled-once.pte", &options).unwrap();
        let again = load("scaled-once.pte", &options).unwrap();
        let error = load("scaled-twice.pte", &options).unwrap_err();
        assert!(matches!(error, Error::DelegateOptionRefused { .. }), "{error}");
        drop((first, again));
    }
    let options = XnnpackOptions { weight_cache: Some(true), ..XnnpackOptions::default() };
    let input = [0.5f32; 64];
    let mut sums = Vec::new();
    for name in ["scaled-once.pte", "scaled-twice.pte"] {
        let mut method = load(name, &options).unwrap();
        let outputs = method.execute(&[TensorRef::new(&input, &[4, 16]).unwrap()]).unwrap();
        sums.push(outputs.tensor(0).unwrap().as_slice::<f32>().unwrap().iter().sum::<f32>());
    }
    assert!((sums[1] - 2.0 * sums[0]).abs() < 1e-3 * sums[0].abs(), "{sums:?}");
}
