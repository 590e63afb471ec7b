//! Peak memory of loading and running a program once: ours in its default mode beside ExecuTorch's own C++ `Module`.
//!
//! Each figure is that of a fresh process of this same binary, so all have the same libraries and the same base.
//! Another program than the committed one: `cargo bench -p nearside-runtime --bench peak_rss -- FILE.pte 1x3x224x224`,
//! whose `forward` takes one float32 input.
#![allow(missing_docs)]

use nearside_bare_module::{BareModule, LoadMode as BareLoadMode};
use nearside_runtime::{LoadMode, Program, TensorRef, set_thread_count};
use std::path::Path;
use std::process::{Command, ExitCode};

const CONTENDERS: [&str; 3] = ["ours", "Module, File", "Module, Mmap"];
const EFFICIENTNET: &str = "../../models/efficientnet-lite0.nearside/xnnpack-int8.pte";
/// What ours may take of `Module`'s peak in its default mode, which is File.
const LIMIT: f64 = 1.05;
/// Tells a process that it is one of the measured ones.
const CHILD: &str = "--measured";

fn main() -> ExitCode {
    if !Path::new("/proc/self/status").exists() {
        println!("peak_rss reads /proc/self/status, which is Linux's");
        return ExitCode::SUCCESS;
    }
    let args: Vec<_> = std::env::args().skip(1).collect();
    if let [flag, contender, file, shape] = args.as_slice()
        && flag == CHILD
    {
        println!("{}", measure(contender, Path::new(file), &parse(shape)));
        return ExitCode::SUCCESS;
    }
    let measuring = args.iter().any(|arg| arg == "--bench");
    let given: Vec<_> = args.iter().filter(|arg| !arg.starts_with("--")).collect();
    let (file, shape) = match given.as_slice() {
        [file, shape] => (file.to_string(), shape.to_string()),
        _ => (format!("{}/{EFFICIENTNET}", env!("CARGO_MANIFEST_DIR")), "1x3x224x224".to_owned()),
    };
    if compare(&file, &shape, if measuring { 11 } else { 1 }) || !measuring {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Prints the medians and says whether ours is within the limit.
fn compare(file: &str, shape: &str, rounds: usize) -> bool {
    println!("{file}, {shape}, peak RSS of {rounds} processes each");
    let mut peaks = CONTENDERS.map(|_| Vec::new());
    for _ in 0..rounds {
        for (contender, peaks) in CONTENDERS.iter().zip(&mut peaks) {
            peaks.push(in_child(contender, file, shape));
        }
    }
    let medians = peaks.map(|mut peaks| {
        peaks.sort_unstable();
        peaks[peaks.len() / 2]
    });
    for (contender, median) in CONTENDERS.iter().zip(medians) {
        println!("  {contender:12}  {median:8} kB  {:6.1} %", 100.0 * median as f64 / medians[1] as f64);
    }
    let kept = medians[0] as f64 <= LIMIT * medians[1] as f64;
    println!("  ours is {} 105 % of Module's default mode", if kept { "within" } else { "ABOVE" });
    kept
}

fn in_child(contender: &str, file: &str, shape: &str) -> u64 {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([CHILD, contender, file, shape])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// Loads and runs once, then gives the process's peak in kB.
fn measure(contender: &str, file: &Path, shape: &[i32]) -> u64 {
    set_thread_count(1).unwrap();
    let elements: i32 = shape.iter().product();
    let data = vec![0.5f32; elements as usize];
    let first = match contender {
        "ours" => {
            let mut method =
                Program::open(file, LoadMode::default()).unwrap().load_method("forward").unwrap();
            let outputs = method.execute(&[TensorRef::new(&data, shape).unwrap()]).unwrap();
            outputs.tensor(0).unwrap().as_slice::<f32>().unwrap()[0]
        }
        bare => {
            let mode = if bare.ends_with("Mmap") { BareLoadMode::Mmap } else { BareLoadMode::File };
            let module = BareModule::load(file, mode, "forward").unwrap();
            module.input(&data, shape).unwrap().module_execute().unwrap()
        }
    };
    assert!(first.is_finite());
    peak_kb()
}

fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn parse(shape: &str) -> Vec<i32> {
    shape.split('x').map(|size| size.parse().unwrap()).collect()
}
