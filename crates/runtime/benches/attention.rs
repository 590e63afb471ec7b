//! The layers of a decoder between their projections: `nearside::rotary_attention` of all of them, decoding at several
//! contexts and with a prompt, and the small operators.
//!
//! Arguments: instruction sets (`avx2`), models (`SmolLM2`), cache types (`u8`), threads (`threads=1`); without, all of a
//! kind, with the best instruction set; `decode`, `prefill` or `small` for one kind of work. The fastest round counts:
//! another program can only take time.
#![allow(missing_docs)]

use nearside_runtime::measured_operators::{Layer, Rows, activate, normalise};
use nearside_runtime::{DType, set_thread_count};
use std::hint::black_box;
use std::time::Instant;

/// Name, layers, `[H, KV, D]`.
const MODELS: [(&str, usize, [usize; 3]); 3] =
    [("SmolLM2", 30, [9, 3, 64]), ("Gemma3", 26, [4, 1, 256]), ("Qwen3", 28, [16, 8, 128])];

const DTYPES: [DType; 3] = [DType::U8, DType::F16, DType::F32];

const SLOTS: usize = 2048;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` runs this too, without `--bench`: then one round shows that it works.
    let rounds = if arguments.iter().any(|argument| argument == "--bench") { 15 } else { 1 };
    let chosen = |name: &str, all: &[&str]| {
        let named = |name: &str| arguments.iter().any(|argument| argument.eq_ignore_ascii_case(name));
        named(name) || !all.iter().any(|other| named(other))
    };
    let sets: Vec<Option<&str>> = ["scalar", "avx2", "avx512", "neon", "neondot"]
        .into_iter()
        .filter(|set| arguments.iter().any(|it| it == set))
        .map(Some)
        .collect();
    let sets = if sets.is_empty() { vec![None] } else { sets };
    let works = ["decode", "prefill", "small"];
    let [decode, prefill, small_too] = works.map(|work| chosen(work, &works));
    for threads in [1, 2] {
        if !chosen(&format!("threads={threads}"), &["threads=1", "threads=2"]) {
            continue;
        }
        set_thread_count(threads).unwrap();
        for (model, layers, sizes) in MODELS {
            if !chosen(model, &MODELS.map(|(name, ..)| name)) {
                continue;
            }
            for dtype in DTYPES {
                if chosen(&dtype.to_string(), &["u8", "f16", "f32"]) {
                    for &set in &sets {
                        attention(
                            (model, layers, sizes),
                            dtype,
                            threads,
                            set,
                            if decode { rounds } else { 0 },
                            if prefill { rounds } else { 0 },
                        );
                    }
                }
            }
        }
        if small_too {
            small(threads, rounds);
        }
    }
}

fn attention(
    (model, count, [heads, key_heads, dim]): (&str, usize, [usize; 3]),
    dtype: DType,
    threads: usize,
    set: Option<&str>,
    decodes: usize,
    prefills: usize,
) {
    let mut layers: Vec<_> = (0..count).map(|_| Layer::new([heads, key_heads, dim, SLOTS], dtype)).collect();
    let mut rows = Rows::default();
    print!("{model}, {dtype}, {}, threads={threads}, {count} layers:", set.unwrap_or("best"));
    for &context in if decodes > 0 { &[100, 1000, 2000][..] } else { &[] } {
        let best = fastest(decodes, || {
            layers.iter_mut().for_each(|layer| layer.run(&mut rows, 1, context - 1, set).unwrap())
        });
        let bytes: usize = layers.iter().map(|layer| layer.bytes(context)).sum();
        print!("  at {context} {:.3} ms ({:.1} GB/s)", best * 1e3, bytes as f64 / best / 1e9);
    }
    if prefills > 1 {
        let best = fastest(prefills.div_ceil(3), || {
            layers.iter_mut().for_each(|layer| layer.run(&mut rows, 512, 0, set).unwrap())
        });
        let products = (512 * 513 / 2 * heads * dim * 2 * count) as f64;
        print!("  512 rows {:.1} ms ({:.1} GMAC/s)", best * 1e3, products / best / 1e9);
    }
    println!();
}

/// Operators on a row of SmolLM2's sizes, a thousand calls a round.
fn small(threads: usize, rounds: usize) {
    let (mut x, mut weight, mut out) = (vec![0.5; 576], vec![1.5; 576], vec![0.0; 576]);
    let norm = fastest(rounds, || (0..1000).for_each(|_| normalise(&mut x, &mut weight, &mut out).unwrap()));
    let (mut x, mut out) = (vec![0.5; 2 * 1536], vec![0.0; 1536]);
    let [silu, gelu] = ["silu", "gelu_tanh"].map(|name| {
        fastest(rounds, || (0..1000).for_each(|_| activate(&mut x, 1536, name, &mut out).unwrap()))
    });
    black_box(&out);
    println!(
        "threads={threads}: rms_norm of 576 {:.0} ns, gated of 1536 by silu {:.0} ns, by gelu_tanh {:.0} ns",
        norm * 1e6,
        silu * 1e6,
        gelu * 1e6
    );
}

/// Seconds of the fastest round, after one to warm up.
fn fastest(rounds: usize, mut work: impl FnMut()) -> f64 {
    work();
    let seconds = (0..rounds).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    });
    seconds.fold(f64::INFINITY, f64::min)
}
