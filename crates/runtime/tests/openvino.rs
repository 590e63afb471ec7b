//! OpenVINO: without its library, and, where `NEARSIDE_TEST_OPENVINO` names the file of it, with. What it was told holds
//! for a process, so each test runs a process of its own, which starts with one thread.
#![allow(missing_docs)]

mod common;

use common::{Case, cases_of};
use libtest_mimic::{Arguments, Failed, Trial};
use nearside_runtime::delegate::{Availability, DelegateOptions, OpenVinoOptions, availability};
use nearside_runtime::{LoadMode, LoadOptions, Program, Result};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const ID: &str = "OpenvinoBackend";
const LIBRARY: &str = "NEARSIDE_TEST_OPENVINO";
/// What f32 arithmetic in another order leaves, and bf16 does not: its 8 bits are about 48 dB.
const F32_DB: f64 = 90.0;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some("process") {
        return process(&args.collect::<Vec<_>>());
    }
    let test = |name, run: fn() -> std::result::Result<(), Failed>| Trial::test(name, run);
    let mut tests = vec![
        test("a_missing_library_is_refused_in_words", a_missing_library_is_refused_in_words),
        test("a_folder_in_place_of_the_library_is_refused_in_words", a_folder_is_refused_in_words),
        test("a_library_that_is_not_openvino_is_refused_in_words", another_library_is_refused_in_words),
    ];
    let with_openvino = [
        test("openvino_and_xnnpack_give_what_eager_gave", openvino_and_xnnpack_give_what_eager_gave),
        test("forbidding_reduced_precision_is_honoured", forbidding_reduced_precision_is_honoured),
        test("the_environment_can_forbid_it_too", the_environment_can_forbid_it_too),
        test("it_can_t_be_forbidden_after_openvino_was_used", it_can_t_be_forbidden_after_openvino_was_used),
        test("with_other_threads_it_is_forbidden_or_refused", with_other_threads_it_is_forbidden_or_refused),
        test("what_is_forbidden_can_t_be_allowed_again", what_is_forbidden_can_t_be_allowed_again),
        test(
            "asking_whether_it_is_available_settles_nothing",
            asking_whether_it_is_available_settles_nothing,
        ),
        test("another_library_is_refused_after_the_first", another_library_is_refused_after_the_first),
        test("a_check_knows_the_library_of_the_options", a_check_knows_the_library_of_the_options),
    ];
    match std::env::var_os(LIBRARY) {
        Some(_) => tests.extend(with_openvino),
        None => println!("{LIBRARY} is not set: `cargo xtask test --only delegates` runs the rest"),
    }
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

fn openvino_and_xnnpack_give_what_eager_gave() -> std::result::Result<(), Failed> {
    for steps in [&["f32", "run"][..], &["xnnpack"]] {
        let decibels = decibels(&run(steps, &[]))?;
        check(decibels[0] >= F32_DB, format!("{steps:?} is {:.1} dB from eager", decibels[0]))?;
    }
    Ok(())
}

fn forbidding_reduced_precision_is_honoured() -> std::result::Result<(), Failed> {
    let (default, f32) = (decibels(&run(&["run"], &[]))?[0], decibels(&run(&["f32", "run"], &[]))?[0]);
    let allowed = decibels(&run(&["reduced", "run"], &[]))?[0];
    println!("from eager: {default:.1} dB by default, {allowed:.1} dB allowed, {f32:.1} dB with f32 only");
    check(f32 >= F32_DB, format!("with reduced precision forbidden it is {f32:.1} dB from eager"))?;
    if has_bf16() {
        let seen = default < F32_DB && allowed < F32_DB;
        return check(seen, "the CPU has bf16 and OpenVINO did not use it: nothing was shown".into());
    }
    println!(
        "this CPU has no bf16: OpenVINO computes in f32 whatever it is told, so that nothing more is shown"
    );
    check(default >= F32_DB, format!("without bf16 it is {default:.1} dB from eager"))
}

fn the_environment_can_forbid_it_too() -> std::result::Result<(), Failed> {
    let set = [("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_VNNI"), ("OPENVINO_LIB_PATH", &library())];
    for steps in [&["thread", "no-library", "f32", "run"][..], &["thread", "no-library", "run"]] {
        let decibels = decibels(&run(steps, &set))?[0];
        check(decibels >= F32_DB, format!("{steps:?} is {decibels:.1} dB from eager"))?;
    }
    Ok(())
}

fn it_can_t_be_forbidden_after_openvino_was_used() -> std::result::Result<(), Failed> {
    let said = run(&["run", "f32", "run"], &[]);
    check(said.contains("OpenVINO has been used in this process"), said.clone())?;
    // Setting the variable late does not help, and is seen through.
    let said = run(&["run", "set-late", "f32", "run"], &[]);
    check(said.contains("OpenVINO has been used in this process"), said.clone())
}

fn with_other_threads_it_is_forbidden_or_refused() -> std::result::Result<(), Failed> {
    let said = run(&["thread", "f32", "run"], &[("OPENVINO_LIB_PATH", &library())]);
    let refused = said.contains("set ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI before the process starts");
    check(refused || decibels(&said)?[0] >= F32_DB, said)
}

fn what_is_forbidden_can_t_be_allowed_again() -> std::result::Result<(), Failed> {
    let said = run(&["f32", "run", "reduced", "run"], &[]);
    check(decibels(&said)?.len() == 1 && said.contains("it was forbidden for this process"), said)
}

fn asking_whether_it_is_available_settles_nothing() -> std::result::Result<(), Failed> {
    let said = run(&["no-library", "ask", "f32", "run"], &[("OPENVINO_LIB_PATH", &library())]);
    check(said.contains("Available") && decibels(&said)?[0] >= F32_DB, said)
}

fn another_library_is_refused_after_the_first() -> std::result::Result<(), Failed> {
    let said = run(&["run", "other-library", "run"], &[]);
    check(decibels(&said)?.len() == 1 && said.contains("is in use already"), said)
}

fn a_check_knows_the_library_of_the_options() -> std::result::Result<(), Failed> {
    let said = run(&["check", "other-library", "check"], &[]);
    check(said.starts_with("checked\n") && said.contains("can't run here"), said)
}

fn a_missing_library_is_refused_in_words() -> std::result::Result<(), Failed> {
    let said = run(&["no-library", "run"], &[("OPENVINO_LIB_PATH", "/no/such/libopenvino_c.so")]);
    let words = "can't run here: /no/such/libopenvino_c.so can't be opened";
    check(said.contains(words) && said.contains("install OpenVINO"), said)
}

fn a_folder_is_refused_in_words() -> std::result::Result<(), Failed> {
    let said = run(&["no-library", "run"], &[("OPENVINO_LIB_PATH", "/tmp")]);
    check(said.contains("OPENVINO_LIB_PATH is /tmp, a folder"), said)
}

fn another_library_is_refused_in_words() -> std::result::Result<(), Failed> {
    let other = "libexecutorch.so";
    let said = run(&["no-library", "run"], &[("OPENVINO_LIB_PATH", other)]);
    check(said.contains("is not OpenVINO's C library"), said)
}

/// Does `steps` in a process of its own and gives what it printed.
fn run(steps: &[&str], environment: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .arg("process")
        .args(steps)
        .env_remove("ONEDNN_MAX_CPU_ISA")
        .env_remove("OPENVINO_LIB_PATH")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn check(holds: bool, otherwise: String) -> std::result::Result<(), Failed> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

/// The distances from eager that a process printed.
fn decibels(said: &str) -> std::result::Result<Vec<f64>, Failed> {
    let found: Vec<f64> = said.lines().filter_map(|line| line.strip_prefix("dB ")?.parse().ok()).collect();
    if found.is_empty() { Err(format!("nothing was run: {said}").into()) } else { Ok(found) }
}

fn library() -> String {
    std::env::var(LIBRARY).unwrap_or_default()
}

fn has_bf16() -> bool {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    ["avx512_bf16", "amx_bf16"].iter().any(|flag| cpu.split_whitespace().any(|word| word == *flag))
}

/// The process's side: takes one step after another.
fn process(steps: &[String]) -> ExitCode {
    let mut options = OpenVinoOptions { library: Some(library().into()), ..OpenVinoOptions::default() };
    for step in steps {
        match step.as_str() {
            "no-library" => options.library = None,
            "other-library" => options.library = std::env::current_exe().ok(),
            "f32" => options.allow_reduced_precision = Some(false),
            "reduced" => options.allow_reduced_precision = Some(true),
            "thread" => drop(std::thread::spawn(std::thread::park)),
            "ask" => println!("{:?}", availability(ID)),
            // SAFETY: this process has one thread, but for OpenVINO's, which rest.
            "set-late" => unsafe { std::env::set_var("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_VNNI") },
            "run" => report(distance("separable-openvino.pte", &options)),
            "check" => match checked("separable-openvino.pte", &options) {
                Ok(()) => println!("checked"),
                Err(error) => println!("{error}"),
            },
            "xnnpack" => report(distance("separable-xnnpack.pte", &options)),
            other => panic!("no such step: {other}"),
        }
    }
    assert!(matches!(availability("XnnpackBackend"), Availability::Available));
    ExitCode::SUCCESS
}

fn report(distance: Result<f64>) {
    match distance {
        Ok(decibels) => println!("dB {decibels}"),
        Err(error) => println!("{error}"),
    }
}

/// Whether the program could be loaded.
fn checked(file: &str, options: &OpenVinoOptions) -> Result<()> {
    open(file)?.check_method("forward", &load_options(options)?, LoadMode::Mmap)
}

fn open(file: &str) -> Result<Program> {
    Program::open(models().join(file), LoadMode::Mmap)
}

fn models() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/openvino")
}

fn load_options(options: &OpenVinoOptions) -> Result<LoadOptions> {
    let delegate_options = DelegateOptions::try_from(options.clone())?;
    Ok(LoadOptions { delegate_options, ..LoadOptions::default() })
}

/// How far what the program computes is from eager, as signal over noise.
fn distance(file: &str, options: &OpenVinoOptions) -> Result<f64> {
    let mut method = open(file)?.load_method_with("forward", &load_options(options)?)?;
    let (mut signal, mut noise) = (0.0, 0.0);
    for Case { inputs, outputs, .. } in cases_of(&models().join("separable.json")) {
        let found = method.execute(&[inputs[0].as_ref()])?;
        for (found, eager) in found.tensor(0)?.as_slice::<f32>()?.iter().zip(&outputs[0].values) {
            signal += f64::from(*eager).powi(2);
            noise += f64::from(found - eager).powi(2);
        }
    }
    assert!(signal > 0.0);
    Ok(10.0 * (signal / noise.max(f64::MIN_POSITIVE)).log10())
}
