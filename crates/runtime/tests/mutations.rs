//! Real programs, changed at random: each ends in a typed error or runs. None crashes, hangs or takes memory that it did
//! not announce.
//!
//! The work is done in child processes, so that a crash names the change that caused it.
#![allow(missing_docs)]

mod common;

use common::path;
use nearside_runtime::file::DataFile;
use nearside_runtime::{LoadMode, MethodMeta, Program, Result, TensorMeta, TensorRef, ValueMeta, memory};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Set in a child: the program and the range of changes to try.
const WORK: &str = "NEARSIDE_MUTATIONS";

/// Programs of every kind, with the number of changes tried on each.
const PROGRAMS: [(&str, u64); 15] = [
    ("add.pte", 500),
    ("multi.pte", 500),
    ("found.pte", 500),
    ("counter-in-place.pte", 1000),
    ("attention.pte", 2000),
    ("static-int8.pte", 2000),
    ("eight-da-four-w.pte", 2000),
    ("tiny-classifier.nearside/xnnpack-fp32.pte", 2000),
    ("counter.pte", 2000),
    ("control.pte", 1000),
    ("loop.pte", 1000),
    ("dynamic.pte", 1000),
    ("types.pte", 1000),
    ("lists.pte", 1000),
    ("tied-xnnpack.pte", 1000),
];

const LONGEST: Duration = Duration::from_secs(5);

/// More than any of the programs, unchanged, makes the process grow; far less than a size gone wild.
const MOST_GROWTH: u64 = 256 << 20;

#[test]
fn any_change_to_a_program_ends_in_an_error_or_a_run() {
    if let Ok(work) = std::env::var(WORK) {
        return child(&work);
    }
    for (file, changes) in PROGRAMS {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "any_change_to_a_program_ends_in_an_error_or_a_run", "--nocapture"])
            .env(WORK, format!("{file} {changes}"))
            .stdout(Stdio::piped())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let last = said.lines().rfind(|line| line.starts_with("change ")).unwrap_or("none");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{file}: {} at {last}\n{error}", output.status);
        let tally = said.lines().find(|line| line.starts_with("tally ")).unwrap();
        let counts: Vec<u64> = tally.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [refused, run] = counts[..] else { panic!("{tally}") };
        assert_eq!(refused + run, changes, "{file}");
        assert!(refused > 0 && run > 0, "{file}: {tally}: the changes prove nothing");
    }
}

#[test]
fn any_change_to_a_data_file_ends_in_an_error_or_is_read() {
    let program = Program::open(path("external.pte"), LoadMode::Mmap).unwrap();
    let whole = std::fs::read(path("external.ptd")).unwrap();
    let (mut refused, mut run) = (0, 0);
    for seed in 0..3000 {
        let loaded = DataFile::from_bytes(changed(&whole, seed))
            .and_then(|data| program.clone().with_data(&[data]))
            .and_then(|program| run_all(&program));
        if loaded.is_err() { refused += 1 } else { run += 1 }
    }
    assert!(refused > 0 && run > 0, "{refused} refused, {run} run");
}

fn child(work: &str) {
    let (file, changes) = work.split_once(' ').unwrap();
    let whole = std::fs::read(path(file)).unwrap();
    let (mut refused, mut run) = (0, 0);
    let before = memory::resident().unwrap().peak_bytes;
    for seed in 0..changes.parse().unwrap() {
        // Seen by the parent if this is the last.
        println!("change {seed}");
        std::io::stdout().flush().unwrap();
        let started = Instant::now();
        let result = Program::from_bytes(changed(&whole, seed)).and_then(|program| run_all(&program));
        assert!(started.elapsed() < LONGEST, "change {seed} of {file} took {:?}", started.elapsed());
        if result.is_err() { refused += 1 } else { run += 1 }
    }
    let grown = memory::resident().unwrap().peak_bytes - before;
    assert!(grown < MOST_GROWTH, "the process grew by {grown} bytes");
    println!("tally {refused} {run}");
}

/// Loads each method and runs it twice on zeros.
fn run_all(program: &Program) -> Result<()> {
    for name in program.method_names() {
        let mut method = program.load_method(name)?;
        let Some(inputs) = Inputs::new(method.meta()) else { continue };
        for _ in 0..2 {
            let inputs = inputs.tensors()?;
            let outputs = method.execute(&inputs)?;
            for index in 0..outputs.len() {
                std::hint::black_box(outputs.get(index)?);
            }
        }
    }
    Ok(())
}

/// Zeros for each input, in memory that kernels may read a little past.
struct Inputs(Vec<(TensorMeta, Vec<u8>)>);

impl Inputs {
    /// `None` if the file now asks for more than anybody would give.
    fn new(meta: &MethodMeta) -> Option<Self> {
        const SLACK: usize = 64;
        const MOST: usize = 1 << 24;
        let zeros = |tensor: &TensorMeta| {
            (tensor.bytes <= MOST).then(|| (tensor.clone(), vec![0; tensor.bytes + SLACK]))
        };
        meta.inputs.iter().filter_map(ValueMeta::as_tensor).map(zeros).collect::<Option<_>>().map(Self)
    }

    fn tensors(&self) -> Result<Vec<TensorRef<'_>>> {
        let inputs = self.0.iter();
        inputs
            .map(|(meta, zeros)| TensorRef::from_bytes(meta.dtype, &zeros[..meta.bytes], &meta.sizes))
            .collect()
    }
}

/// `whole` with one to four changes that depend only on `seed`.
fn changed(whole: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut bytes = whole.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let word = at / 4 * 4;
        match random.below(9) {
            0..3 => bytes[at] ^= 1 << random.below(8),
            3 => bytes[at] = random.next() as u8,
            4 | 5 => {
                // Most places hold text or offsets, a change of which is refused at once: half the time, look for a number.
                let is_small = |at: &usize| bytes[*at..].iter().take(4).skip(1).all(|&byte| byte == 0);
                let number = (word..bytes.len()).step_by(4).find(is_small).filter(|_| random.below(2) == 0);
                let value = TELLING[random.below(TELLING.len())];
                put(&mut bytes, number.unwrap_or(word), &value.to_le_bytes());
            }
            6 => {
                // Another of its own words: an offset or index that means something elsewhere.
                let from = random.below(bytes.len()) / 4 * 4;
                let other: Vec<u8> = bytes[from..].iter().copied().take(4).collect();
                put(&mut bytes, word, &other);
            }
            7 => {
                let add = random.below(17) as u8;
                bytes[at] = bytes[at].wrapping_add(add).wrapping_sub(8);
            }
            _ => {
                let from = random.below(bytes.len());
                let block: Vec<u8> = bytes[from..].iter().copied().take(1 + random.below(32)).collect();
                put(&mut bytes, at, &block);
            }
        }
    }
    if random.below(40) == 0 {
        bytes.truncate(random.below(bytes.len()));
    }
    bytes
}

/// Numbers that mean something in a program: small sizes, indices and types, and the ends of ranges.
const TELLING: [u32; 16] =
    [0, 1, 2, 3, 4, 6, 7, 11, 16, 0x7f, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    let end = bytes.len().min(at + value.len());
    bytes[at..end].copy_from_slice(&value[..end - at]);
}

/// xorshift64*, Marsaglia and Vigna: good enough to choose places.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}
