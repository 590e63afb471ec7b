//! Real programs on the real runtime.
#![allow(missing_docs)]

mod common;

use common::{assert_gives_eagers_outputs, cases, path};
use nearside_runtime::{
    DType, Error, LoadMode, Program, TensorRef, ValueMeta, has_operator, registered_delegates,
    registered_operators,
};

#[test]
fn every_load_mode_gives_what_eager_gave() {
    for case in cases() {
        for mode in [LoadMode::Mmap, LoadMode::File, LoadMode::Bytes] {
            let program = Program::open(path(&case.file), mode).unwrap();
            assert_gives_eagers_outputs(&mut program.load_method(&case.method).unwrap(), &case);
        }
        let bytes = std::fs::read(path(&case.file)).unwrap();
        let program = Program::from_bytes(bytes).unwrap();
        assert_gives_eagers_outputs(&mut program.load_method(&case.method).unwrap(), &case);
    }
}

#[test]
fn a_method_outlives_the_program_it_was_loaded_from() {
    let case = &cases()[0];
    let program = Program::open(path(&case.file), LoadMode::Bytes).unwrap();
    let mut method = program.load_method(&case.method).unwrap();
    drop(program);
    assert_gives_eagers_outputs(&mut method, case);
}

#[test]
fn the_metadata_is_that_of_the_file() {
    let program = Program::open(path("mlp-xnnpack.pte"), LoadMode::Mmap).unwrap();
    assert_eq!(program.method_names(), ["forward"]);
    let meta = program.method_meta("forward").unwrap();
    let ValueMeta::Tensor(input) = &meta.inputs[0] else { panic!("{:?}", meta.inputs[0]) };
    assert_eq!((input.dtype, input.sizes.as_slice(), input.bytes), (DType::F32, &[8, 16][..], 8 * 16 * 4));
    assert_eq!(meta.outputs[0].as_tensor().unwrap().sizes, [8, 4]);
    assert_eq!(meta.delegates, ["XnnpackBackend"]);
    assert!(meta.instructions > 0);

    let program = Program::open(path("multi.pte"), LoadMode::Mmap).unwrap();
    let mut names = program.method_names().to_vec();
    names.sort();
    assert_eq!(names, ["forward", "twice"]);
    assert!(program.method_meta("forward").unwrap().planned_bytes.iter().sum::<u64>() > 0);
}

#[test]
fn kernels_and_xnnpack_are_linked() {
    let delegates = registered_delegates();
    assert!(delegates.iter().any(|id| id == "XnnpackBackend"), "{delegates:?}");
    assert!(registered_operators().len() > 200, "the kernel libraries were dropped by the linker");
    assert!(has_operator("aten::add.out"));
    assert!(has_operator("quantized_decomposed::quantize_per_tensor.out"));
    assert!(!has_operator("no::such.op"));
}

#[test]
fn a_wrong_method_lists_the_right_ones() {
    let program = Program::open(path("add.pte"), LoadMode::Mmap).unwrap();
    let error = program.load_method("foreward").unwrap_err();
    assert!(matches!(&error, Error::NoSuchMethod { available, .. } if available == &["forward"]), "{error}");
    assert_eq!(error.to_string(), "the program has no method `foreward`; it has forward");
}

#[test]
fn wrong_inputs_are_refused_and_the_method_still_runs() {
    let case = &cases()[0];
    let program = Program::open(path(&case.file), LoadMode::Mmap).unwrap();
    let mut method = program.load_method(&case.method).unwrap();
    let good = case.inputs[0].as_ref();

    let refused = |method: &mut nearside_runtime::Method, inputs: &[TensorRef<'_>]| {
        let Err(error) = method.execute(inputs) else { panic!("was not refused") };
        assert!(!error.hint().is_empty());
        error
    };
    assert!(matches!(refused(&mut method, &[good]), Error::InputCount { expected: 2, found: 1, .. }));
    let ints = [0i64; 6];
    let wrong = TensorRef::new(&ints, &[2, 3]).unwrap();
    assert!(matches!(
        refused(&mut method, &[good, wrong]),
        Error::InputType { index: 1, expected: DType::F32, found: DType::I64, .. }
    ));
    let flat = TensorRef::new(&case.inputs[0].values, &[6]).unwrap();
    assert!(matches!(refused(&mut method, &[good, flat]), Error::InputShape { index: 1, .. }));
    let turned = TensorRef::new(&case.inputs[0].values, &[3, 2]).unwrap();
    assert!(matches!(refused(&mut method, &[turned, good]), Error::InputShape { index: 0, .. }));
    // Within the bound, but the shape is static: ExecuTorch itself refuses.
    let small = [0.0f32; 3];
    let small = TensorRef::new(&small, &[1, 3]).unwrap();
    assert!(matches!(refused(&mut method, &[small, good]), Error::ExecuTorch { .. }));

    assert_gives_eagers_outputs(&mut method, case);
}

#[test]
fn a_tensors_data_must_have_the_length_of_its_shape() {
    let data = [0.0f32; 6];
    for sizes in [&[2, 2][..], &[-2, -3], &[i32::MAX, i32::MAX, i32::MAX], &[]] {
        assert!(matches!(TensorRef::new(&data, sizes), Err(Error::TensorLength { .. })), "{sizes:?}");
    }
    assert!(TensorRef::new(&data[..0], &[0, 3]).is_ok());
}

#[test]
fn bytes_are_taken_as_a_tensor_only_if_they_can_be_one() {
    let words = [0u64; 2];
    // SAFETY: a number has no padding; the slice is as long as the words.
    let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), size_of_val(&words)) };
    assert!(TensorRef::from_bytes(DType::F16, bytes, &[2, 4]).is_ok());
    assert!(TensorRef::from_bytes(DType::Bool, &[0, 1, 1], &[3]).is_ok());
    let of = |dtype, bytes, sizes| TensorRef::from_bytes(dtype, bytes, sizes).unwrap_err();
    assert!(matches!(of(DType::F16, bytes, &[2, 3]), Error::TensorLength { needed: 12, found: 16, .. }));
    assert!(matches!(of(DType::I64, &bytes[4..12], &[1]), Error::TensorBytes { .. }));
    assert!(matches!(of(DType::Bool, &[0, 2], &[2]), Error::TensorBytes { .. }));
    assert!(matches!(of(DType::Other(99), bytes, &[2]), Error::TensorLength { .. }));
}

#[test]
fn outputs_are_read_as_what_they_are() {
    let case = &cases()[0];
    let program = Program::open(path(&case.file), LoadMode::Mmap).unwrap();
    let mut method = program.load_method(&case.method).unwrap();
    let inputs: Vec<_> = case.inputs.iter().map(common::Tensor::as_ref).collect();
    let outputs = method.execute(&inputs).unwrap();
    assert!(matches!(outputs.tensor(1), Err(Error::NoSuchOutput { index: 1, count: 1, .. })));
    assert!(matches!(outputs.tensor(0).unwrap().as_slice::<i32>(), Err(Error::OutputType { .. })));
}

#[test]
fn methods_run_on_many_threads_at_once_with_exact_results() {
    let cases = cases();
    std::thread::scope(|scope| {
        for case in &cases {
            scope.spawn(move || {
                let program = Program::open(path(&case.file), LoadMode::Mmap).unwrap();
                let mut method = program.load_method(&case.method).unwrap();
                for _ in 0..200 {
                    assert_gives_eagers_outputs(&mut method, case);
                }
            });
        }
    });
}
