//! What loading was computed to take, beside what the process then holds. The only test of its process.
#![allow(missing_docs)]
#![cfg(target_os = "linux")]

mod common;

use common::path;
use nearside_runtime::{LoadMode, Method, Program, TensorRef, ValueMeta, set_thread_count};

/// Allocators and page tables leave so much in doubt.
const DOUBT_BYTES: u64 = 1 << 20;

/// Bytes of this process that no file is behind.
fn anonymous() -> u64 {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}

fn run_on_zeros(method: &mut Method) {
    let inputs = method.meta().inputs.iter().filter_map(ValueMeta::as_tensor).cloned();
    let zeros: Vec<_> = inputs.map(|tensor| (vec![0u8; tensor.bytes], tensor)).collect();
    let tensors: Vec<_> = zeros
        .iter()
        .map(|(zeros, tensor)| TensorRef::from_bytes(tensor.dtype, zeros, &tensor.sizes).unwrap())
        .collect();
    method.execute(&tensors).unwrap();
}

fn load_and_run(file: &str, mode: LoadMode) -> Method {
    let mut method = Program::open(path(file), mode).unwrap().load_method("forward").unwrap();
    run_on_zeros(&mut method);
    method
}

#[test]
fn a_loaded_method_takes_what_was_computed_within_a_tenth() {
    set_thread_count(1).unwrap();
    // What the first method of a process brings with it does not count.
    drop(load_and_run("mlp-xnnpack.pte", LoadMode::Mmap));
    for mode in [LoadMode::Mmap, LoadMode::Bytes] {
        let before = anonymous();
        let method = load_and_run("../efficientnet-lite0.nearside/xnnpack-int8.pte", mode);
        let taken = anonymous() - before;
        let need = method.memory().need.total_bytes();
        let tenth = need / 10 + DOUBT_BYTES;
        assert!(taken.abs_diff(need) < tenth, "{mode:?}: {need} bytes were computed, {taken} are taken");
    }
}
