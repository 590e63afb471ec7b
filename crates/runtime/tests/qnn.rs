//! The check of Qualcomm's libraries: without any, and, where `NEARSIDE_TEST_QNN` names the folder of real ones of another
//! version, with those. The loader reads its search path when a process starts, so each test runs one.
#![allow(missing_docs)]

mod common;

use common::path;
use libtest_mimic::{Arguments, Failed, Trial};
use nearside_runtime::Program;
use nearside_runtime::delegate::availability;
use std::process::{Command, ExitCode};

const ID: &str = "QnnBackend";
const FOLDER: &str = "NEARSIDE_TEST_QNN";

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("process") {
        process();
        return ExitCode::SUCCESS;
    }
    let mut tests = vec![Trial::test("without_qualcomms_libraries_a_program_is_refused_in_words", || {
        let said = run("/no/such/folder");
        let words = "needs the delegate QnnBackend, which can't run here: libQnnHtp.so can't be opened";
        check(said.contains(words), said)
    })];
    let with_libraries = [
        Trial::test("libraries_of_another_version_are_refused_with_both_versions", || {
            let folder = std::env::var(FOLDER)?;
            let said = run(&folder);
            let words = "can't run here: libQnnHtp.so (HTP_QTI_AISW) is of QNN API 2.36.0, and ExecuTorch's delegate was \
                         built for 2.27.0";
            check(said.contains(words), said)
        }),
        Trial::test("a_folder_with_only_one_of_the_libraries_is_refused_in_words", || {
            let folder = std::env::var(FOLDER)?;
            let alone = tempfile::tempdir()?;
            // Beside the folder with what it links, as its run path says.
            let place = alone.path().join("onnxruntime_qnn");
            std::fs::create_dir(&place)?;
            let whole = std::path::Path::new(&folder);
            std::os::unix::fs::symlink(whole.join("libQnnHtp.so"), place.join("libQnnHtp.so"))?;
            std::os::unix::fs::symlink(
                whole.with_file_name("onnxruntime_qnn.libs"),
                alone.path().join("onnxruntime_qnn.libs"),
            )?;
            let said = run(&place.to_string_lossy());
            check(said.contains("can't run here: libQnnSystem.so can't be opened"), said)
        }),
    ];
    match std::env::var_os(FOLDER) {
        Some(_) => tests.extend(with_libraries),
        None => println!("{FOLDER} is not set: `cargo xtask test --only delegates` runs the rest"),
    }
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// What a process with this search path says of a program that needs QNN.
fn run(search_path: &str) -> String {
    let own = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let output = Command::new(std::env::current_exe().unwrap())
        .arg("process")
        .env("LD_LIBRARY_PATH", format!("{search_path}:{own}"))
        .output()
        .unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn check(holds: bool, otherwise: String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

fn process() {
    println!("{:?}", availability(ID));
    let program = Program::from_bytes(program_for_qnn()).unwrap();
    println!("{}", program.load_method("forward").unwrap_err());
}

/// A program for a delegate that nobody has, made one for QNN: the names are strings of flatbuffers, which begin with
/// their length and end with a zero.
fn program_for_qnn() -> Vec<u8> {
    let mut bytes = std::fs::read(path("unknown-delegate.pte")).unwrap();
    let name = b"NoSuchBackend";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[at - 4..at].copy_from_slice(&(ID.len() as u32).to_le_bytes());
    bytes[at..at + name.len()].fill(0);
    bytes[at..at + ID.len()].copy_from_slice(ID.as_bytes());
    bytes
}
