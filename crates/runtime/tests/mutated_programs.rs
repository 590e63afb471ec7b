//! Programs whose kernel calls, values and jumps were tampered with: each is refused, fails with an error or runs.
#![allow(missing_docs)]

mod common;

use common::path;
use nearside_runtime::{DType, LoadOptions, MethodMeta, Program, TensorRef, ValueMeta};

/// Small programs without a delegate, that call many kinds of kernels, jump, loop and change state.
const FILES: [&str; 8] = [
    "add.pte",
    "control.pte",
    "counter-in-place.pte",
    "dynamic.pte",
    "found.pte",
    "lists.pte",
    "loop.pte",
    "multi.pte",
];

const MUTATIONS: usize = 1500;

/// What the programs need is far below. Arenas that a mutation made larger are refused, not filled.
const BUDGET_BYTES: u64 = 16 << 20;

/// Numbers that mean something in a program: small sizes, indices and types, and the ends of ranges.
const WORDS: [u32; 16] =
    [0, 1, 2, 3, 4, 6, 7, 11, 16, 24, 255, 1 << 16, i32::MAX as u32, 1 << 31, u32::MAX - 1, u32::MAX];

/// Marsaglia's xorshift: the same mutations on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Changes one to three places of the description, which is what comes before the segments.
fn mutate(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let description = if &whole[8..12] == b"eh00" { word(whole, 16) as usize } else { whole.len() } / 4 * 4;
    for _ in 0..=random.below(3) {
        let at = random.below(description / 4) * 4;
        match random.below(4) {
            0 => bytes[at + random.below(4)] ^= 1 << random.below(8),
            1 => {
                // Most places hold text or offsets, a change of which is refused at once: look for a number.
                let at = (at..description).step_by(4).find(|&at| word(&bytes, at) < 64).unwrap_or(at);
                bytes[at..at + 4].copy_from_slice(&WORDS[random.below(WORDS.len())].to_le_bytes());
            }
            2 => {
                let at = (at..description).step_by(4).find(|&at| word(&bytes, at) < 64).unwrap_or(at);
                let next = word(&bytes, at).wrapping_add(if random.below(2) == 0 { 1 } else { u32::MAX });
                bytes[at..at + 4].copy_from_slice(&next.to_le_bytes());
            }
            _ => {
                let other = random.below(description / 4) * 4;
                for byte in 0..4 {
                    bytes.swap(at + byte, other + byte);
                }
            }
        }
    }
    bytes
}

enum Zeros {
    F32(Vec<f32>),
    I64(Vec<i64>),
}

/// Inputs as the program describes them; `None` if some are of other types or very large.
fn inputs(meta: &MethodMeta) -> Option<Vec<(Zeros, Vec<i32>)>> {
    let input = |value: &ValueMeta| {
        let ValueMeta::Tensor(tensor) = value else { return None };
        let elements =
            tensor.sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size as usize))?;
        let zeros = match tensor.dtype {
            _ if elements > 1 << 20 => return None,
            DType::F32 => Zeros::F32(vec![0.0; elements]),
            DType::I64 => Zeros::I64(vec![0; elements]),
            _ => return None,
        };
        Some((zeros, tensor.sizes.clone()))
    };
    meta.inputs.iter().map(input).collect()
}

/// Loads and runs every method twice; whether any ran.
fn runs(bytes: Vec<u8>) -> bool {
    let Ok(program) = Program::from_bytes(bytes) else { return false };
    let options = LoadOptions { memory_budget_bytes: Some(BUDGET_BYTES), ..LoadOptions::default() };
    let mut any = false;
    for name in program.method_names() {
        let meta = program.method_meta(name).unwrap();
        let Some(inputs) = inputs(meta) else { continue };
        let inputs: Vec<_> = inputs
            .iter()
            .map(|(zeros, sizes)| match zeros {
                Zeros::F32(zeros) => TensorRef::new(zeros, sizes).unwrap(),
                Zeros::I64(zeros) => TensorRef::new(zeros, sizes).unwrap(),
            })
            .collect();
        let Ok(mut method) = program.load_method_with(name, &options) else { continue };
        for _ in 0..2 {
            any |= method.execute(&inputs).is_ok();
        }
    }
    any
}

#[test]
fn a_program_that_was_tampered_with_is_refused_or_fails_or_runs() {
    for file in FILES {
        let whole = std::fs::read(path(file)).unwrap();
        assert!(runs(whole.clone()), "{file}");
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let ran = (0..MUTATIONS).filter(|_| runs(mutate(&whole, &mut random))).count();
        // Neither all nor none: the mutations reach what the checks are about.
        assert!((MUTATIONS / 50..MUTATIONS).contains(&ran), "{file}: {ran} of {MUTATIONS} ran");
    }
}
