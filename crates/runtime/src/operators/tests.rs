//! Methods that no exporter writes, and what is said of them.

use super::check_method;
use crate::file::{Dynamism, FileTensor, FileValue, Instruction, MethodFile, Storage};
use crate::tensor::DType;

fn tensor(storage: Storage) -> FileValue {
    FileValue::Tensor(FileTensor {
        dtype: DType::F32,
        sizes: vec![4],
        dim_order: vec![0],
        dynamism: Dynamism::Static,
        storage,
        name: None,
        bytes: 16,
    })
}

fn planned(offset: u64) -> FileValue {
    tensor(Storage::Planned { arena: 0, offset, initial: None })
}

fn with(mut value: FileValue, change: impl FnOnce(&mut FileTensor)) -> FileValue {
    if let FileValue::Tensor(tensor) = &mut value {
        change(tensor);
    }
    value
}

/// Calls of kernels, with other steps where the name is not that of one.
fn method(values: Vec<FileValue>, steps: &[(&str, &[usize])]) -> MethodFile {
    let step = |(at, (name, args)): (usize, &(&str, &[usize]))| match (*name, *args) {
        ("move", [from, to]) => Instruction::Move { from: *from, to: *to },
        ("jump", [condition, destination]) => {
            Instruction::JumpFalse { condition: *condition, destination: *destination }
        }
        ("free", [value]) => Instruction::Free { value: *value },
        (_, args) => Instruction::Kernel { operator: at, args: args.to_vec() },
    };
    MethodFile {
        name: "forward".into(),
        device: None,
        values,
        inputs: Vec::new(),
        outputs: Vec::new(),
        operators: steps.iter().map(|(name, _)| (*name).to_owned()).collect(),
        delegates: Vec::new(),
        instructions: steps.iter().enumerate().map(step).collect(),
        planned_bytes: vec![64],
    }
}

#[track_caller]
fn refused(method: &MethodFile, why: &str) {
    let error = check_method(method, &[]).unwrap_err();
    assert!(error.contains(why), "{error}");
}

const ABS: &str = "aten::abs.out";
const VIEW: &str = "executorch_prim::et_view.default";

#[test]
fn a_call_must_pass_what_the_operator_takes() {
    let values = || vec![planned(0), planned(16), FileValue::Int(1)];
    assert_eq!(check_method(&method(values(), &[(ABS, &[0, 1, 1])]), &[]), Ok(()));
    refused(&method(values(), &[(ABS, &[0, 1])]), "passes 2 values, the operator takes 3");
    refused(&method(values(), &[(ABS, &[2, 1, 1])]), "`self` is a Int, not a Tensor");
    refused(&method(values(), &[("aten::sym_numel", &[0, 1])]), "its result is a number");
}

#[test]
fn a_constant_is_not_written_by_any_name() {
    let constant = || tensor(Storage::Constant(0..16));
    refused(&method(vec![planned(0), constant()], &[(ABS, &[0, 1, 1])]), "constant");
    let moved = method(vec![planned(0), constant(), planned(16)], &[("move", &[1, 2]), (ABS, &[0, 2, 2])]);
    refused(&moved, "constant");
    let viewed = vec![planned(0), constant(), planned(16), FileValue::Int(4), FileValue::IntList(vec![3])];
    refused(&method(viewed, &[(VIEW, &[1, 4, 2]), (ABS, &[0, 2, 2])]), "constant");
    let mut given = method(vec![constant()], &[]);
    given.inputs = vec![0];
    refused(&given, "input 0 is a constant");
}

#[test]
fn a_callers_memory_is_not_written() {
    let mut method = method(vec![planned(0), tensor(Storage::Caller)], &[(ABS, &[0, 1, 1])]);
    method.inputs = vec![1];
    refused(&method, "the caller's own memory");
}

#[test]
fn a_buffer_is_placed_only_if_no_other_tensor_has_its_name() {
    let named = |value: FileValue, name: &str| with(value, |tensor| tensor.name = Some(name.into()));
    let used = |other: &str| {
        let values = vec![named(planned(0), other), named(tensor(Storage::Caller), "cache"), planned(16)];
        method(values, &[(ABS, &[1, 2, 2])])
    };
    assert_eq!(check_method(&used("weight"), &[]), Ok(()));
    refused(&used("cache"), "has no memory");
}

#[test]
fn nothing_takes_the_place_of_an_input() {
    let moved = |values: Vec<FileValue>| {
        let mut method = method(values, &[("move", &[1, 0])]);
        method.inputs = vec![0];
        method
    };
    refused(&moved(vec![planned(0), tensor(Storage::Constant(0..16))]), "in place of input 0");
    let mut output = moved(vec![tensor(Storage::Caller), tensor(Storage::Caller)]);
    output.outputs = vec![1];
    refused(&output, "in place of input 0");
}

#[test]
fn moves_and_jumps_that_grow_with_their_square_are_refused() {
    const MANY: usize = 20_000;
    let chain = |order: &mut dyn Iterator<Item = usize>| {
        let mut method = method(vec![planned(0); MANY + 1], &[]);
        method.instructions = order.map(|from| Instruction::Move { from, to: from + 1 }).collect();
        method
    };
    refused(&chain(&mut (0..MANY)), "too many to be followed");
    refused(&chain(&mut (0..MANY).rev()), "too many to be followed");
    let mut jumps = method([vec![FileValue::Bool(true)], vec![planned(0); MANY + 1]].concat(), &[]);
    let pair = |to| {
        [Instruction::JumpFalse { condition: 0, destination: 2 * MANY }, Instruction::Move { from: 1, to }]
    };
    jumps.instructions = (2..MANY + 2).flat_map(pair).collect();
    refused(&jumps, "too many to be followed");
}

#[test]
fn a_tensor_has_memory_before_it_is_used() {
    refused(&method(vec![tensor(Storage::Caller), planned(0)], &[(ABS, &[0, 1, 1])]), "has no memory");
    let values = vec![
        planned(0),
        planned(16),
        tensor(Storage::Caller),
        FileValue::Int(4),
        FileValue::IntList(vec![3]),
        FileValue::Bool(false),
    ];
    let view: (&str, &[usize]) = (VIEW, &[0, 4, 2]);
    let used: (&str, &[usize]) = (ABS, &[2, 1, 1]);
    assert_eq!(check_method(&method(values.clone(), &[view, used]), &[]), Ok(()));
    refused(&method(values.clone(), &[used, view]), "has no memory");
    // On one of two ways only.
    refused(&method(values.clone(), &[("jump", &[5, 2]), view, used]), "has no memory");
    let mut output = method(values, &[("jump", &[5, 2]), view]);
    output.outputs = vec![2];
    refused(&output, "is an output");
}

#[test]
fn a_view_is_not_resized() {
    let bounded = with(tensor(Storage::Caller), |tensor| {
        tensor.dynamism = Dynamism::Bounded;
        tensor.sizes = vec![400];
        tensor.bytes = 1600;
    });
    let values = vec![planned(0), bounded, FileValue::Int(4), FileValue::IntList(vec![2])];
    refused(&method(values, &[(VIEW, &[0, 3, 1]), (ABS, &[0, 1, 1])]), "a view");
}

#[test]
fn a_value_does_not_become_one_of_another_kind() {
    refused(&method(vec![FileValue::Int(1), planned(0)], &[("move", &[0, 1])]), "can't be put in place");
    let wide = with(planned(0), |tensor| tensor.dtype = DType::F64);
    refused(&method(vec![wide, planned(32)], &[("move", &[0, 1])]), "f64");
    refused(&method(vec![planned(0)], &[("free", &[0])]), "frees");
}

#[test]
fn indices_are_not_overwritten_while_they_are_used() {
    let index = |offset| with(planned(offset), |tensor| (tensor.dtype, tensor.bytes) = (DType::I64, 32));
    let call = |out, index| {
        let values = vec![planned(0), FileValue::Int(0), index, FileValue::Bool(false), out];
        method(values, &[("aten::gather.out", &[0, 1, 2, 3, 4, 4])])
    };
    assert_eq!(check_method(&call(planned(16), index(32)), &[]), Ok(()));
    refused(&call(planned(40), index(32)), "overlaps");
}

/// A tensor in the arena, `at` tensors from its start.
fn sized(dtype: DType, sizes: &[i32], at: u64) -> FileValue {
    let bytes = sizes.iter().product::<i32>() as u64 * dtype.element_bytes().unwrap() as u64;
    with(planned(4096 * at), |tensor| {
        (tensor.dtype, tensor.sizes, tensor.bytes) = (dtype, sizes.to_vec(), bytes);
        tensor.dim_order = (0..sizes.len() as u8).collect();
    })
}

#[test]
fn an_attention_whose_heads_or_caches_never_fit_is_refused() {
    let values = || {
        let (query, key, cache) = ([1, 2, 4, 8], [1, 2, 2, 8], [2, 16, 8]);
        let shapes = [&query[..], &key, &key, &cache, &cache];
        let tensors = shapes.iter().zip(0..).map(|(sizes, at)| sized(DType::F32, sizes, at));
        let mut values: Vec<_> = tensors.collect();
        values.push(sized(DType::I64, &[2], 5));
        values.extend([FileValue::None, FileValue::Double(0.5), FileValue::Int(0)]);
        values.push(sized(DType::F32, &query, 6));
        values
    };
    let steps: [(&str, &[usize]); 1] = [("nearside::attention.out", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9])];
    assert_eq!(check_method(&method(values(), &steps), &[]), Ok(()));
    let changed = |at: usize, value: FileValue| {
        let mut values = values();
        values[at] = value;
        method(values, &steps)
    };
    let f32s = |at: usize, sizes: &[i32]| changed(at, sized(DType::F32, sizes, at as u64));
    refused(&changed(0, sized(DType::F16, &[1, 2, 4, 8], 0)), "`query` is of f16 with 4 dimensions");
    refused(&f32s(1, &[2, 2, 8]), "`key` is of f32 with 3 dimensions, not of f32 with 4");
    refused(&changed(5, sized(DType::I32, &[2], 5)), "`cache_position` is of i32");
    refused(&changed(6, sized(DType::I64, &[2, 1], 7)), "`visible_until` is of i64 with 2 dimensions");
    refused(&f32s(0, &[2, 1, 4, 8]), "its batch is 2");
    refused(&f32s(0, &[1, 2, 3, 8]), "3 query heads can't share 2 key heads");
    refused(&f32s(3, &[0, 16, 8]), "4 query heads can't share 0 key heads");
    refused(&f32s(2, &[1, 2, 2, 4]), "`value` has rows of [2, 4], not of [2, 8]");
    refused(&f32s(3, &[2, 16, 16]), "`key_cache` has shape [2, 16, 16], not [2, 16, 8]");
    refused(&f32s(4, &[2, 8, 8]), "`value_cache` has shape [2, 8, 8], not [2, 16, 8]");
    refused(&changed(9, sized(DType::F32, &[1, 2, 4, 8], 0)), "overlaps");
    let no_scale = changed(7, FileValue::String("much".into()));
    refused(&no_scale, "`scale` is a String");
}

#[test]
fn weights_whose_rows_never_fit_are_refused() {
    let linear = |x: &[i32], weight: &[i32], dtype: DType| {
        let values = vec![
            sized(DType::F32, x, 0),
            sized(dtype, weight, 4),
            FileValue::None,
            FileValue::Int(20),
            FileValue::Int(4),
            sized(DType::F32, &[1, 2, 20], 8),
        ];
        method(values, &[("nearside::linear.out", &[0, 1, 2, 3, 4, 5, 5])])
    };
    for tile_bytes in [576, 640, 1088] {
        assert_eq!(check_method(&linear(&[1, 2, 64], &[2, tile_bytes], DType::U8), &[]), Ok(()));
    }
    refused(&linear(&[1, 2, 64], &[2, 1024], DType::U8), "tiles of 1024 bytes, which no rows of 64 columns");
    refused(&linear(&[1, 2, 65], &[2, 640], DType::U8), "which no rows of 65 columns have");
    refused(&linear(&[2, 1, 64], &[2, 640], DType::U8), "its batch is 2");
    refused(&linear(&[2, 64], &[2, 640], DType::U8), "`x` is of f32 with 2 dimensions");
    refused(&linear(&[1, 2, 64], &[2, 640], DType::I8), "`weight` is of i8 with 2 dimensions, not of u8");
    let embedding = |tokens: DType, weight: &[i32], out: u64| {
        let values = vec![
            sized(tokens, &[1, 2], 0),
            sized(DType::U8, weight, 4),
            FileValue::Int(64),
            FileValue::Int(4),
            FileValue::Double(1.0),
            sized(DType::F32, &[1, 2, 64], out),
        ];
        method(values, &[("nearside::embedding.out", &[0, 1, 2, 3, 4, 5, 5])])
    };
    assert_eq!(check_method(&embedding(DType::I64, &[2, 640], 8), &[]), Ok(()));
    refused(&embedding(DType::I32, &[2, 640], 8), "`tokens` is of i32");
    refused(&embedding(DType::I64, &[2, 641], 8), "tiles of 641 bytes");
    refused(&embedding(DType::I64, &[2, 640], 0), "overlaps");
}

#[test]
fn a_loop_counts_to_a_size() {
    let values = || {
        vec![
            planned(0),
            FileValue::Int(0),
            FileValue::Int(1),
            FileValue::Int(0),
            FileValue::Bool(false),
            FileValue::Int(0),
        ]
    };
    let size: (&str, &[usize]) = ("aten::sym_size.int", &[0, 5, 3]);
    let count: (&str, &[usize]) = ("executorch_prim::add.Scalar", &[1, 2, 1]);
    let done: (&str, &[usize]) = ("executorch_prim::eq.Scalar", &[1, 3, 4]);
    let back: (&str, &[usize]) = ("jump", &[4, 1]);
    let reset: (&str, &[usize]) = ("executorch_prim::sub.Scalar", &[1, 3, 1]);
    assert_eq!(check_method(&method(values(), &[size, count, done, back, reset]), &[]), Ok(()));
    refused(&method(values(), &[size, count, done, back]), "may not end");
    refused(&method(values(), &[size, done, back, reset]), "may not end");
    // It begins past its end, or a jump goes over the step.
    let ahead: (&str, &[usize]) = ("executorch_prim::add.Scalar", &[2, 2, 1]);
    refused(&method(values(), &[ahead, count, done, ("jump", &[4, 1]), reset]), "may not end");
    let over: (&str, &[usize]) = ("jump", &[4, 3]);
    refused(&method(values(), &[size, over, count, done, back, reset]), "may not end");
    refused(&method(values(), &[("jump", &[4, 0])]), "may not end");
    let mut still = values();
    still[2] = FileValue::Int(0);
    refused(&method(still, &[size, count, done, back, reset]), "may not end");
}
