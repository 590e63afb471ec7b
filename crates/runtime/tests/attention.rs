//! Our attention operator in a program: a KV cache that is updated in place, saved and put back.
#![allow(missing_docs)]

mod common;

use common::values::gives_eagers_outputs;
use common::{Call, default_tolerance, path, sequence};
use nearside_runtime::{Code, Error, LoadMode, LoadOptions, Method, Program, TensorRef, own_operators};

const FILE: &str = "attention.pte";
const METHODS: [&str; 3] = ["forward", "windowed", "visible"];
const WIDTH: usize = 16;

fn program() -> Program {
    Program::open(path(FILE), LoadMode::Mmap).unwrap()
}

fn calls(method: &str) -> Vec<Call> {
    sequence(FILE).calls.into_iter().filter(|call| call.method == method).collect()
}

fn run(method: &mut Method, calls: &[Call]) {
    assert!(!calls.is_empty());
    calls.iter().for_each(|call| assert!(gives_eagers_outputs(method, call, default_tolerance())));
}

/// The output's bits for rows of some numbers at `positions`.
fn rows(method: &mut Method, positions: &[i64]) -> nearside_runtime::Result<Vec<u8>> {
    let x: Vec<f32> = (0..positions.len() * WIDTH).map(|at| (at % 7) as f32 - 3.0).collect();
    let count = positions.len() as i32;
    let (shape, length) = ([1, count, WIDTH as i32], [count]);
    let outputs = method.execute(&[TensorRef::new(&x, &shape)?, TensorRef::new(positions, &length)?])?;
    Ok(outputs.tensor(0)?.bytes().to_vec())
}

#[test]
fn a_prompt_single_rows_and_a_chunk_give_what_eager_gave() {
    for name in METHODS {
        run(&mut program().load_method(name).unwrap(), &calls(name));
    }
}

#[test]
fn one_call_a_layer_stands_for_its_attention() {
    let program = program();
    for name in METHODS {
        let report = program.report(name).unwrap();
        let attention = report.portable.iter().filter(|(operator, _)| own_operators().contains(operator));
        assert_eq!(attention.map(|(_, calls)| calls).sum::<usize>(), 1, "{:?}", report.portable);
        // Nothing copies a cache.
        let others = ["nearside::attention.out", "executorch_prim::et_view.default", "aten::sym_size.int"];
        assert!(report.portable.keys().all(|operator| others.contains(&operator.as_str())));
        // The two caches, f32 [2, 16, 4].
        let bytes: Vec<_> = report.state.iter().map(|state| state.range.end - state.range.start).collect();
        assert_eq!(bytes, [2 * 16 * 4 * 4; 2], "{name}");
        assert!(report.problems.is_empty(), "{:?}", report.problems);
    }
}

#[test]
fn the_cache_can_be_saved_rewound_and_reset() {
    let calls = calls("forward");
    let mut method = program().load_method("forward").unwrap();
    run(&mut method, &calls[..1]);
    let prompt = method.snapshot_state().unwrap();
    assert_eq!(prompt.bytes(), 2 * 2 * 16 * 4 * 4);
    run(&mut method, &calls[1..]);
    method.restore(&prompt).unwrap();
    run(&mut method, &calls[1..]);
    // Going back without a snapshot: slots past the position are not seen, and written again.
    run(&mut method, &calls[2..]);
    method.reset().unwrap();
    run(&mut method, &calls);
    let mut another = program().load_method("forward").unwrap();
    another.restore(&prompt).unwrap();
    run(&mut another, &calls[1..]);
}

#[test]
fn positions_outside_of_the_cache_are_an_error_that_changes_nothing() {
    let mut method = program().load_method("forward").unwrap();
    rows(&mut method, &[0, 1, 2]).unwrap();
    let before = method.snapshot_state().unwrap();
    let expected = rows(&mut method, &[3]).unwrap();
    method.restore(&before).unwrap();
    for wrong in [&[3, 16][..], &[-1], &[3, i64::MAX], &[i64::MIN]] {
        let Err(Error::ExecuTorch { code: Code::InvalidArgument, detail, .. }) = rows(&mut method, wrong)
        else {
            panic!("{wrong:?} was taken")
        };
        assert!(detail.contains("nearside::attention.out: cache_position["), "{detail}");
    }
    assert_eq!(rows(&mut method, &[3]).unwrap(), expected);
}

#[test]
fn with_a_window_positions_go_round_the_cache() {
    let mut method = program().load_method("windowed").unwrap();
    let mut chunk = |first: i64| {
        let bytes = rows(&mut method, &(first..first + 8).collect::<Vec<_>>()).unwrap();
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect::<Vec<_>>()
    };
    // The layer knows no positions: what follows on the same rows as before is the same.
    let (first, second) = (chunk(0), chunk(8));
    assert_ne!(first, second);
    for start in (16..200).step_by(8) {
        let later = chunk(start);
        assert!(later.iter().zip(&second).all(|(a, b)| (a - b).abs() < 1e-6), "from {start} on");
    }
    let Err(Error::ExecuTorch { code: Code::InvalidArgument, detail, .. }) = rows(&mut method, &[200, 213])
    else {
        panic!("a row was written over what another one sees")
    };
    assert!(detail.contains("the positions 197 to 213, more than the cache's 16 slots"), "{detail}");
}

#[test]
fn rows_that_see_less_than_themselves_are_an_error() {
    let mut method = program().load_method("visible").unwrap();
    let x = [0.5f32; 2 * WIDTH];
    let mut see = |until: &[i64]| {
        let inputs = [
            TensorRef::new(&x, &[1, 2, WIDTH as i32]).unwrap(),
            TensorRef::new(&[4i64, 5], &[2]).unwrap(),
            TensorRef::new(until, &[2]).unwrap(),
        ];
        method.execute(&inputs).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(see(&[5, 5]), Ok(()));
    for wrong in [[3, 5], [5, 4], [5, 16], [-1, 5]] {
        assert!(see(&wrong).unwrap_err().contains("visible_until["), "{wrong:?}");
    }
    assert_eq!(see(&[15, 15]), Ok(()));
}

#[test]
fn a_profile_tells_its_time() {
    let options = LoadOptions { profiling: true, ..LoadOptions::default() };
    let mut method = program().load_method_with("forward", &options).unwrap();
    let x = [0.5f32; WIDTH];
    let inputs = [TensorRef::new(&x, &[1, 1, WIDTH as i32]).unwrap(), TensorRef::new(&[4i64], &[1]).unwrap()];
    let profile = method.profile(&inputs, 5.try_into().unwrap()).unwrap();
    let call = profile.operators.iter().find(|call| call.name == "nearside::attention.out").unwrap();
    assert!(call.share > 0.0);
}
