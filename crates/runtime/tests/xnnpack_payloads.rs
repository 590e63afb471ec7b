//! XNNPACK's payloads, damaged: a refusal or an ordinary run, never a crash.
#![allow(missing_docs)]

mod common;

use common::path;
use nearside_runtime::{DType, Error, Program, TensorRef};
use std::ops::Range;

/// A program with the places of its XNNPACK payloads and of their weights.
struct Target {
    file: &'static str,
    bytes: Vec<u8>,
    payloads: Vec<Range<usize>>,
    weights: Vec<Range<usize>>,
}

impl Target {
    fn read(file: &'static str) -> Self {
        let bytes = std::fs::read(path(file)).unwrap();
        let described = Program::from_bytes(bytes.clone()).unwrap().file().unwrap();
        let place = |range: &Range<u64>| range.start as usize..range.end as usize;
        let delegates = described.methods.iter().flat_map(|method| &method.delegates);
        let payloads: Vec<_> = delegates.map(|delegate| place(&delegate.payload)).collect();
        assert!(!payloads.is_empty(), "{file}");
        let weights = described.named_data.iter().map(|data| place(&data.range)).collect();
        Self { file, bytes, payloads, weights }
    }

    fn bits(&self) -> impl Iterator<Item = (usize, u8)> {
        self.payloads.iter().cloned().flatten().flat_map(|at| (0..8).map(move |bit| (at, bit)))
    }
}

/// Numbers that anyone can draw again.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }
}

#[derive(Debug, Default)]
struct Count {
    refused: usize,
    ran: usize,
}

/// Loads and runs every method twice with zeros, the second time with half of what may vary.
fn load_and_run(bytes: Vec<u8>, count: &mut Count) {
    let run = |bytes: Vec<u8>| -> Result<(), Error> {
        let program = Program::from_bytes(bytes)?;
        for name in program.method_names() {
            let mut method = program.load_method(name)?;
            for half in [false, true] {
                let inputs = method.meta().inputs.clone();
                let shape = |sizes: &[i32]| match half {
                    false => sizes.to_vec(),
                    true => sizes.iter().map(|size| (size / 2).max(1)).collect(),
                };
                let shapes: Vec<_> =
                    inputs.iter().map(|input| shape(&input.as_tensor().unwrap().sizes)).collect();
                let zeros = vec![0.0f32; 4096];
                let tensors = shapes.iter().zip(&inputs).map(|(shape, input)| {
                    assert_eq!(input.as_tensor().unwrap().dtype, DType::F32);
                    TensorRef::new(&zeros[..shape.iter().product::<i32>() as usize], shape).unwrap()
                });
                let outputs = method.execute(&tensors.collect::<Vec<_>>());
                // What can't vary refuses half its size.
                if !half {
                    outputs?;
                }
            }
        }
        Ok(())
    };
    match run(bytes) {
        Ok(()) => count.ran += 1,
        Err(_) => count.refused += 1,
    }
}

#[test]
fn every_bit_of_a_payload_can_be_wrong() {
    for file in ["mlp-xnnpack.pte", "dynamic-int8.pte", "eight-da-four-w.pte"] {
        let target = Target::read(file);
        let mut count = Count::default();
        for (at, bit) in target.bits() {
            let mut bytes = target.bytes.clone();
            bytes[at] ^= 1 << bit;
            load_and_run(bytes, &mut count);
        }
        // Where constants are named, what a node is called, how a scale ends: some bits do no harm.
        assert!(count.refused > 4 * count.ran && count.ran > 100, "{file}: {count:?}");
    }
}

#[test]
fn payloads_and_weights_can_be_overwritten_spliced_and_cut() {
    const FILES: [&str; 7] = [
        "images.pte",
        "static-int8.pte",
        "chain-of-nine.pte",
        "dynamic.pte",
        "partly-delegated.pte",
        "inline-delegate.pte",
        "tiny-classifier.nearside/xnnpack-fp32.pte",
    ];
    let mut draw = Draw(20264);
    for target in FILES.map(Target::read) {
        let mut count = Count::default();
        for _ in 0..1500 {
            load_and_run(damaged(&target, &mut draw), &mut count);
        }
        assert!(count.refused > 200, "{}: {count:?}", target.file);
    }
}

/// One to three words of a payload changed in ways that tend to matter, or some weights.
fn damaged(target: &Target, draw: &mut Draw) -> Vec<u8> {
    const WORDS: [u32; 10] =
        [0, 1, 2, 3, 255, 1 << 16, 1 << 31, u32::MAX - 1, u32::MAX, f32::INFINITY.to_bits()];
    let mut bytes = target.bytes.clone();
    let payload = target.payloads[draw.below(target.payloads.len())].clone();
    for _ in 0..=draw.below(3) {
        let word = |draw: &mut Draw| payload.start + draw.below(payload.len() / 4 - 1) * 4;
        let (to, from) = (word(draw), word(draw));
        let old = u32::from_le_bytes(bytes[to..to + 4].try_into().unwrap());
        let new = match draw.below(7) {
            0 => WORDS[draw.below(WORDS.len())],
            1 => draw.below(16) as u32,
            2 => old.wrapping_add(draw.below(9) as u32).wrapping_sub(4),
            3 => old.wrapping_mul(1 << draw.below(20)),
            4 => u32::from_le_bytes(bytes[from..from + 4].try_into().unwrap()),
            5 => {
                let length = (draw.below(12) * 4).min(payload.end - to.max(from));
                bytes.copy_within(from..from + length, to);
                continue;
            }
            _ if target.weights.is_empty() => old ^ 1,
            _ => {
                let weights = target.weights[draw.below(target.weights.len())].clone();
                let value = draw.below(256) as u8;
                let start = weights.start + draw.below(weights.len());
                bytes[start..weights.end].fill(value);
                continue;
            }
        };
        bytes[to..to + 4].copy_from_slice(&new.to_le_bytes());
    }
    bytes
}

#[test]
fn a_chain_that_xnnpack_has_no_room_for_is_refused() {
    let load = |file: &str| Program::from_bytes(std::fs::read(path(file)).unwrap())?.load_method("forward");
    load("chain-of-nine.pte").unwrap();
    let error = load("chain-of-ten.pte").unwrap_err();
    assert!(error.to_string().contains("begins a chain of 10 elementwise steps"), "{error}");
}

#[test]
fn xnnpack_is_not_given_empty_tensors() {
    let program = Program::from_bytes(std::fs::read(path("mlp-xnnpack.pte")).unwrap()).unwrap();
    let mut method = program.load_method("forward").unwrap();
    let Err(error) = method.execute(&[TensorRef::new::<f32>(&[], &[0, 16]).unwrap()]) else {
        panic!("was run")
    };
    assert!(matches!(error, Error::InputShape { .. }), "{error}");
}
