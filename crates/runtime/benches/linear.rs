//! The linear kernel at SmolLM2-135M's shapes: how fast weights come by for one row, next to what the memory gives, and how
//! many products a second there are for more.
//!
//! Arguments: instruction sets (`avx2`), bits (`4`), rows of x (`S=128`), threads (`threads=1`); without, all of a kind.
//! Weights are as many copies as are beyond the caches, as in a model, whose layers come by in turn. The fastest round
//! counts: another program can only take time.
#![allow(missing_docs)]

use nearside_runtime::measured::Linear;
use nearside_runtime::set_thread_count;
use std::hint::black_box;
use std::time::Instant;

/// Name, rows, columns.
const SHAPES: [(&str, usize, usize); 5] = [
    ("query, key, value", 960, 576),
    ("attention's output", 576, 576),
    ("gate and up", 3072, 576),
    ("down", 576, 1536),
    ("head", 49152, 576),
];

/// Layers, each with all shapes but the head.
const LAYERS: usize = 30;

/// Beyond the caches of today's machines.
const BEYOND_CACHES: usize = 128 << 20;

struct Choice {
    sets: Vec<String>,
    bits: Vec<i64>,
    rows: Vec<usize>,
    threads: Vec<usize>,
    measuring: bool,
}

impl Choice {
    fn from_arguments() -> Self {
        let mut choice = Self { sets: vec![], bits: vec![], rows: vec![], threads: vec![], measuring: false };
        for argument in std::env::args().skip(1) {
            if argument == "--bench" {
                choice.measuring = true;
            } else if let Some(rows) = argument.strip_prefix("S=") {
                choice.rows.push(rows.parse().expect("S is a number"));
            } else if let Some(threads) = argument.strip_prefix("threads=") {
                choice.threads.push(threads.parse().expect("threads is a number"));
            } else if let Ok(bits) = argument.parse() {
                choice.bits.push(bits);
            } else if !argument.starts_with('-') {
                choice.sets.push(argument);
            }
        }
        fn or<T: Clone>(chosen: &mut Vec<T>, all: &[T]) {
            if chosen.is_empty() {
                chosen.extend_from_slice(all);
            }
        }
        or(&mut choice.bits, &[4, 8]);
        // `cargo test --benches` runs this too, without `--bench`: then a little shows that it works.
        or(&mut choice.rows, if choice.measuring { &[1, 128, 512] } else { &[1, 9] });
        or(&mut choice.threads, &[1, 2]);
        choice
    }
}

fn main() {
    let choice = Choice::from_arguments();
    if choice.measuring {
        println!("memory, one core: {:.1} GB/s", read_bandwidth() / 1e9);
    }
    for &threads in &choice.threads {
        set_thread_count(threads).unwrap();
        for &bits in &choice.bits {
            for &rows in &choice.rows {
                measure(&choice, threads, bits, rows);
            }
        }
    }
}

/// Prints a line for each shape, and for one of each layer's and the head.
fn measure(choice: &Choice, threads: usize, bits: i64, x_rows: usize) {
    println!("{bits} bits, S = {x_rows}, threads = {threads}");
    let shapes = if choice.measuring { &SHAPES[..] } else { &SHAPES[..2] };
    let mut whole = vec![];
    for &(name, rows, columns) in shapes {
        let one = Linear::new(rows, columns, bits);
        let copies = if !choice.measuring {
            1
        } else if x_rows == 1 {
            BEYOND_CACHES.div_ceil(one.bytes())
        } else {
            (8_usize << 20).div_ceil(one.bytes())
        };
        let mut linears: Vec<_> = (0..copies).map(|_| Linear::new(rows, columns, bits)).collect();
        print(name, choice, &linears.iter().collect::<Vec<_>>(), x_rows);
        linears.truncate(if rows == 49152 { 1 } else { LAYERS });
        whole.push(linears);
    }
    if choice.measuring && x_rows == 1 {
        let mut model = vec![];
        (0..LAYERS).for_each(|layer| model.extend(whole[..4].iter().map(|shape| &shape[layer])));
        model.push(&whole[4][0]);
        print("all of a token", choice, &model, 1);
    }
}

fn print(name: &str, choice: &Choice, linears: &[&Linear], x_rows: usize) {
    let mut line = format!("  {name:20}");
    let sets = choice.sets.iter().map(|set| Some(set.as_str()));
    let sets: Vec<_> = if choice.sets.is_empty() { vec![None] } else { sets.collect() };
    let most = |which: usize| linears.iter().map(|linear| linear.sizes()[which]).max().unwrap_or(0) * x_rows;
    let x: Vec<f32> = (0..most(0)).map(|at| (at as f32 * 0.7).sin()).collect();
    let mut out = vec![1.0; most(1)];
    let mut best = vec![f64::INFINITY; sets.len()];
    for _ in 0..if choice.measuring { 7 } else { 1 } {
        for (set, best) in sets.iter().zip(&mut best) {
            *best = best.min(round(linears, &x, &mut out, x_rows, *set));
        }
    }
    for (set, seconds) in sets.iter().zip(best) {
        let bytes: usize = linears.iter().map(|linear| linear.bytes()).sum();
        let products: usize = linears.iter().map(|linear| linear.sizes().iter().product::<usize>()).sum();
        let figure = if x_rows == 1 {
            format!("{:8.1} GB/s", bytes as f64 / seconds / 1e9)
        } else {
            format!("{:8.1} GMAC/s", (products * x_rows) as f64 / seconds / 1e9)
        };
        let each = seconds / linears.len() as f64 * 1e6;
        line += &format!("  {:>8} {figure} {each:9.1} us", set.unwrap_or("best"));
    }
    println!("{line}");
}

/// Seconds that all take, one after the other.
fn round(linears: &[&Linear], x: &[f32], out: &mut [f32], x_rows: usize, set: Option<&str>) -> f64 {
    let start = Instant::now();
    for linear in linears {
        let [columns, rows] = linear.sizes();
        linear.run(&x[..x_rows * columns], &mut out[..x_rows * rows], set).unwrap();
    }
    let seconds = start.elapsed().as_secs_f64();
    black_box(out);
    seconds
}

/// Bytes a second that one core reads, in a plain sum over more than the caches hold.
fn read_bandwidth() -> f64 {
    let numbers = vec![1_u64; BEYOND_CACHES / size_of::<u64>()];
    let seconds = (0..9).map(|_| {
        let start = Instant::now();
        black_box(black_box(&numbers).iter().fold(0_u64, |sum, number| sum.wrapping_add(*number)));
        start.elapsed().as_secs_f64()
    });
    BEYOND_CACHES as f64 / seconds.fold(f64::INFINITY, f64::min)
}
