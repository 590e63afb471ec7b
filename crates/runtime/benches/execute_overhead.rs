//! What `Method::execute` costs over ExecuTorch's own C++ calls, doing the same work: bind the inputs, run, read the
//! first output.
//!
//! All contenders run in turn in this one process, so that whatever else the machine does meets them alike, and each
//! round gives one difference; the medians of those are printed. One thread, so that the pool's scheduling stays out.
#![allow(missing_docs)]

use nearside_bare_module::{BareModule, LoadMode as BareLoadMode};
use nearside_runtime::{LoadMode, Method, Program, TensorRef, set_thread_count};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

struct Case {
    name: &'static str,
    file: &'static str,
    inputs: &'static [&'static [i32]],
    /// Runs in a row that one reading of the clock covers.
    batch: u32,
    rounds: usize,
    limit: Limit,
}

/// What `Method::execute` may cost over the thinnest C++.
enum Limit {
    Nanoseconds(f64),
    Share(f64),
}

const CASES: [Case; 2] = [
    Case {
        name: "add (one operator)",
        file: "fixtures/add.pte",
        inputs: &[&[2, 3], &[2, 3]],
        batch: 1000,
        rounds: 301,
        limit: Limit::Nanoseconds(1000.0),
    },
    Case {
        name: "EfficientNet-Lite0 (int8, XNNPACK)",
        file: "efficientnet-lite0.nearside/xnnpack-int8.pte",
        inputs: &[&[1, 3, 224, 224]],
        batch: 1,
        rounds: 301,
        limit: Limit::Share(0.01),
    },
];

fn main() -> ExitCode {
    // `cargo test --benches` runs this too, without `--bench`: then a few rounds show that it works.
    let measuring = std::env::args().any(|arg| arg == "--bench");
    set_thread_count(1).unwrap();
    let mut kept = true;
    for case in &CASES {
        kept &= compare(case, if measuring { case.rounds } else { 3 });
    }
    if kept || !measuring { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints the case's figures and says whether the limit is kept.
fn compare(case: &Case, rounds: usize) -> bool {
    let path = models().join(case.file);
    let data: Vec<Vec<f32>> = case.inputs.iter().map(|sizes| ramp(sizes)).collect();
    let inputs: Vec<_> =
        data.iter().zip(case.inputs).map(|(data, sizes)| TensorRef::new(data, sizes).unwrap()).collect();
    let mut ours = Program::open(&path, LoadMode::Mmap).unwrap().load_method("forward").unwrap();
    let mut bare = BareModule::load(&path, BareLoadMode::Mmap, "forward").unwrap();
    for (data, sizes) in data.iter().zip(case.inputs) {
        bare = bare.input(data, sizes).unwrap();
    }
    let expected = run(&mut ours, &inputs);
    assert_eq!(bare.module_execute().unwrap(), expected);
    assert_eq!(bare.method_execute().unwrap(), expected);

    let mut times = [vec![], vec![], vec![]];
    for round in 0..rounds {
        for turn in 0..times.len() {
            // Forwards and backwards in turn: who runs after whom leaves its mark in the caches.
            let turn = if round % 2 == 0 { turn } else { times.len() - 1 - turn };
            let contender = (round / 2 + turn) % times.len();
            times[contender].push(match contender {
                0 => time(case.batch, || run(&mut ours, &inputs)),
                1 => time(case.batch, || bare.method_execute().unwrap()),
                _ => time(case.batch, || bare.module_execute().unwrap()),
            });
        }
    }
    report(case, &times)
}

fn run(method: &mut Method, inputs: &[TensorRef<'_>]) -> f32 {
    method.execute(inputs).unwrap().tensor(0).unwrap().as_slice::<f32>().unwrap()[0]
}

/// Nanoseconds a run.
fn time(batch: u32, mut run: impl FnMut() -> f32) -> f64 {
    let start = Instant::now();
    for _ in 0..batch {
        std::hint::black_box(run());
    }
    start.elapsed().as_nanos() as f64 / f64::from(batch)
}

fn report(case: &Case, times: &[Vec<f64>; 3]) -> bool {
    let [ours, thinnest, module] = times.each_ref().map(|times| median(times.clone()));
    println!("{}, {} rounds of {}", case.name, times[0].len(), case.batch);
    println!("  Method::execute (ours)            {ours:12.1} ns");
    println!("  Method::execute (C++, thinnest)   {thinnest:12.1} ns");
    println!("  Module::execute (C++)             {module:12.1} ns");
    let over = |peer: usize| {
        let pairs = times[0].iter().zip(&times[peer]);
        median(pairs.map(|(ours, peer)| ours - peer).collect())
    };
    let (over_thinnest, over_module) = (over(1), over(2));
    println!(
        "  ours - thinnest                   {over_thinnest:+12.1} ns   {:+.3} %",
        100.0 * over_thinnest / thinnest
    );
    println!(
        "  ours - Module                     {over_module:+12.1} ns   {:+.3} %",
        100.0 * over_module / module
    );
    let (kept, limit) = match case.limit {
        Limit::Nanoseconds(limit) => (over_thinnest < limit, format!("{limit:.0} ns")),
        Limit::Share(limit) => (over_thinnest < limit * thinnest, format!("{:.0} %", 100.0 * limit)),
    };
    println!("  {} the limit of {limit} over the thinnest", if kept { "within" } else { "ABOVE" });
    kept
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// -1 to 1, all different.
fn ramp(sizes: &[i32]) -> Vec<f32> {
    let elements: i32 = sizes.iter().product();
    (0..elements).map(|i| 2.0 * i as f32 / elements as f32 - 1.0).collect()
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}
