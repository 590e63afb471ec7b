//! Files that are no programs, or only part of one.
#![allow(missing_docs)]

mod common;

use common::path;
use nearside_runtime::file::Instruction;
use nearside_runtime::{Code, Error, LoadMode, Program, TensorRef};
use std::io::Write;

const MODES: [LoadMode; 3] = [LoadMode::Mmap, LoadMode::File, LoadMode::Bytes];

fn open(bytes: &[u8], mode: LoadMode) -> Result<Program, Error> {
    let mut file = tempfile::Builder::new().suffix(".pte").tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Program::open(file.path(), mode)
}

#[test]
fn a_program_cut_anywhere_is_an_error_in_every_mode() {
    for file in ["add.pte", "mlp-xnnpack.pte", "multi.pte"] {
        let whole = std::fs::read(path(file)).unwrap();
        for length in 0..whole.len() {
            // Every length by bytes, some by files, which are slower.
            let error =
                Program::from_bytes(&whole[..length]).expect_err(&format!("{file} cut to {length} bytes"));
            assert!(
                matches!(error, Error::NotAProgram { .. } | Error::Truncated { .. } | Error::Damaged { .. }),
                "{file} cut to {length} bytes: {error}"
            );
            if length % 131 == 0 {
                for mode in MODES {
                    open(&whole[..length], mode)
                        .expect_err(&format!("{file} cut to {length} bytes, {mode:?}"));
                }
            }
        }
    }
}

#[test]
fn what_is_no_program_is_called_that() {
    let text =
        b"This is a text file that somebody named model.pte by mistake, and it is longer than a header.";
    for mode in MODES {
        for bytes in [&text[..], b"", b"abc", &[0; 4096]] {
            let error = open(bytes, mode).unwrap_err();
            assert!(matches!(error, Error::NotAProgram { .. }), "{error}");
        }
    }
}

#[test]
fn a_program_of_another_format_version_is_called_that() {
    let mut bytes = std::fs::read(path("add.pte")).unwrap();
    bytes[6..8].copy_from_slice(b"13");
    let error = Program::from_bytes(bytes).unwrap_err();
    assert!(error.to_string().contains("its format is `ET13`"), "{error}");
}

#[test]
fn a_missing_file_and_a_folder_are_errors() {
    for mode in MODES {
        assert!(matches!(Program::open("no/such/file.pte", mode), Err(Error::Read { .. })));
        let folder = tempfile::tempdir().unwrap();
        assert!(Program::open(folder.path(), mode).is_err());
    }
}

#[test]
fn a_header_that_overflows_is_an_error() {
    let mut bytes = std::fs::read(path("mlp-xnnpack.pte")).unwrap();
    bytes[24..40].fill(0xff);
    assert!(matches!(Program::from_bytes(bytes), Err(Error::NotAProgram { .. })));
}

#[test]
fn a_program_with_any_bit_flipped_is_described_or_refused() {
    let tiny = "tiny-classifier.nearside/xnnpack-fp32.pte";
    for file in ["add.pte", "mlp-xnnpack.pte", "multi.pte", tiny] {
        let whole = std::fs::read(path(file)).unwrap();
        let mut refused = 0;
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            refused += usize::from(Program::from_bytes(bytes).is_err());
        }
        assert!(refused > 100, "{file}: only {refused} were refused");
    }
}

#[test]
fn a_tensor_that_is_larger_than_its_arena_is_an_error() {
    let mut bytes = std::fs::read(path("mlp-xnnpack.pte")).unwrap();
    bytes[1035] = 1;
    let error = Program::from_bytes(bytes).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("method `forward`: value"), "{error}");
}

#[test]
fn a_loop_that_failed_half_way_is_not_run_again() {
    // A failure leaves the counter where it was: the next run would begin in the middle.
    let whole = std::fs::read(path("loop.pte")).unwrap();
    let mut failed = 0;
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let Ok(mut method) = Program::from_bytes(bytes).and_then(|program| program.load_method("forward"))
        else {
            continue;
        };
        let zeros = vec![0u8; 1 << 12];
        let inputs: Vec<_> =
            method.meta().inputs.iter().filter_map(|input| input.as_tensor().cloned()).collect();
        let inputs: Option<Vec<_>> = inputs
            .iter()
            .map(|input| TensorRef::from_bytes(input.dtype, zeros.get(..input.bytes)?, &input.sizes).ok())
            .collect();
        let Some(inputs) = inputs else { continue };
        if let Err(Error::ExecuTorch { action, code, .. }) = method.execute(&inputs)
            && action.starts_with("run ")
            && code != Code::Aborted
        {
            // The change may have made the loop a step forward.
            let file = method.program().file().unwrap();
            let steps = &file.method("forward").unwrap().instructions;
            let loops = steps.iter().enumerate().any(
                |(at, step)| matches!(step, Instruction::JumpFalse { destination, .. } if *destination <= at),
            );
            failed += usize::from(loops);
            let poisoned = matches!(method.execute(&inputs), Err(Error::Poisoned { .. }));
            assert_eq!(poisoned, loops, "bit {bit}");
        }
    }
    assert!(failed > 0, "no change made a run fail");
}

#[test]
fn a_method_that_was_broken_off_is_not_run_again() {
    // A list of numbers that refers to a value without one, which shows when the list is first used.
    let mut bytes = std::fs::read(path("tiny-classifier.nearside/xnnpack-fp32.pte")).unwrap();
    bytes[1504] ^= 4;
    let mut method = Program::from_bytes(bytes).unwrap().load_method("forward").unwrap();
    let pixels = vec![0.0f32; 3 * 32 * 32];
    let input = TensorRef::new(&pixels, &[1, 3, 32, 32]).unwrap();
    let Err(error) = method.execute(&[input]) else { panic!("was run") };
    assert!(matches!(error, Error::ExecuTorch { code: Code::Aborted, .. }), "{error}");
    let Err(error) = method.execute(&[input]) else { panic!("was run again") };
    assert!(matches!(error, Error::Poisoned { .. }), "{error}");
}

#[test]
fn a_program_stays_the_one_that_was_opened() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.pte");
    for mode in MODES {
        std::fs::copy(path("add.pte"), &file).unwrap();
        let program = Program::open(&file, mode).unwrap();
        // As an update does it: another file in the same place, and one that was never checked.
        let other = folder.path().join("other");
        std::fs::write(&other, b"another file").unwrap();
        std::fs::rename(&other, &file).unwrap();
        let mut method = program.load_method("forward").unwrap();
        let ones = vec![1.0f32; 64];
        let inputs: Vec<_> =
            method.meta().inputs.iter().map(|input| input.as_tensor().unwrap().sizes.clone()).collect();
        let inputs = inputs.iter().map(|sizes| {
            let elements = sizes.iter().product::<i32>() as usize;
            TensorRef::new(&ones[..elements], sizes).unwrap()
        });
        method.execute(&inputs.collect::<Vec<_>>()).unwrap();
    }
}
