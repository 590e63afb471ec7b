//! Running a loaded method allocates nothing natively either: not in the shim, nor more in ExecuTorch than it does when
//! called from bare C++.
//!
//! The test runs itself again with `native_allocations/count.c` preloaded, which counts all allocations of the process:
//! Rust's, C++'s and those of ExecuTorch's ready-made libraries, on every thread.
#![allow(missing_docs)]

mod common;

/// The counter is between the program and glibc.
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod counted {
    use crate::common::{Case, Tensor, cases, path};
    use nearside_bare_module::{BareModule, LoadMode as BareLoadMode};
    use nearside_runtime::{LoadMode, Method, Program, TensorRef};
    use std::ffi::{OsString, c_ulonglong};
    use std::path::Path;
    use std::process::{Command, Stdio};

    /// Set in the child.
    const CHILD: &str = "NEARSIDE_COUNTS_ALLOCATIONS";
    const RUNS: u64 = 20;
    /// What is allocated at first use, in us, ExecuTorch and XNNPACK, is there after these.
    const WARM_UP: u64 = 5;

    /// Classifiers, of images.
    const PACKAGES: [&str; 2] =
        ["tiny-classifier.nearside/xnnpack-fp32.pte", "../efficientnet-lite0.nearside/xnnpack-int8.pte"];

    #[test]
    fn a_warm_run_allocates_no_more_than_executorch_itself() {
        if std::env::var_os(CHILD).is_some() {
            return count_all();
        }
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("count.so");
        compile(&library);
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "counted::a_warm_run_allocates_no_more_than_executorch_itself"])
            // One thread: the harness is on no other that might allocate.
            .args(["--nocapture", "--test-threads=1"])
            .env(CHILD, "1")
            .env("LD_PRELOAD", &library)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let (said, error) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        println!("{said}");
        assert!(output.status.success(), "{}\n{said}\n{error}", output.status);
        assert!(said.contains("1 passed"), "{said}");
    }

    /// With the compiler that compiled the bridge.
    fn compile(library: &Path) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native_allocations/count.c");
        let compiler = std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc"));
        let mut command = Command::new(&compiler);
        // The compiler must not take `malloc` for the function that it knows and leave calls out.
        command
            .args(["-std=gnu11", "-Wall", "-Werror", "-O1", "-fno-builtin", "-fPIC", "-shared", "-o"])
            .arg(library)
            .arg(&source);
        let output = command.output().unwrap_or_else(|error| panic!("cannot start {compiler:?}: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn count_all() {
        let counter = Counter::find();
        let before = counter.read();
        let loaded = BareModule::load(&path("add.pte"), BareLoadMode::Mmap, "forward").unwrap();
        assert!(counter.read() > before, "C++'s allocations are not counted");
        drop(loaded);
        let before = counter.read();
        drop(std::hint::black_box(Box::new([0u8; 100])));
        assert_eq!(counter.read(), before + 1, "Rust's allocations are not counted");

        for case in cases().into_iter().chain(PACKAGES.map(on_zeros)) {
            compare(&counter, &case);
        }
    }

    /// A call of `forward` on zeros, to which the right answer is not known.
    fn on_zeros(file: &str) -> Case {
        let program = Program::open(path(file), LoadMode::Mmap).unwrap();
        let inputs = program.method_meta("forward").unwrap().inputs.iter().map(|input| {
            let sizes = &input.as_tensor().unwrap().sizes;
            Tensor { shape: sizes.clone(), values: vec![0.0; sizes.iter().product::<i32>() as usize] }
        });
        let (file, method, inputs) = (file.to_owned(), "forward".to_owned(), inputs.collect());
        Case { file, method, tolerance: 0.0, inputs, outputs: Vec::new() }
    }

    fn compare(counter: &Counter, case: &Case) {
        let file = path(&case.file);
        let program = Program::open(&file, LoadMode::Mmap).unwrap();
        let delegated = !program.file().unwrap().method(&case.method).unwrap().delegates.is_empty();
        let mut ours = program.load_method(&case.method).unwrap();
        let inputs: Vec<_> = case.inputs.iter().map(Tensor::as_ref).collect();
        let mut bare = BareModule::load(&file, BareLoadMode::Mmap, &case.method).unwrap();
        for input in &case.inputs {
            bare = bare.input(&input.values, &input.shape).unwrap();
        }
        let ours = counter.of(|| read_all(&mut ours, &inputs));
        let bare = counter.of(|| bare.method_execute().unwrap());
        println!("{}: {ours} allocations in {RUNS} runs, {bare} by ExecuTorch alone", case.file);
        assert!(ours <= bare, "{}: {ours} allocations in {RUNS} runs, {bare} by ExecuTorch alone", case.file);
        assert!(delegated || ours == 0, "{}: {ours} allocations in {RUNS} runs", case.file);
    }

    /// Runs the method and reads every output, giving the sum of their elements.
    fn read_all(method: &mut Method, inputs: &[TensorRef<'_>]) -> f32 {
        let outputs = method.execute(inputs).unwrap();
        let sum = |index| outputs.tensor(index).unwrap().as_slice::<f32>().unwrap().iter().sum::<f32>();
        (0..outputs.len()).map(sum).sum()
    }

    struct Counter(extern "C" fn() -> c_ulonglong);

    impl Counter {
        fn find() -> Self {
            let process = libloading::os::unix::Library::this();
            // SAFETY: `count.c` defines it so, and stays loaded as long as the process lives.
            let read = unsafe { process.get::<extern "C" fn() -> c_ulonglong>(b"nearside_allocations\0") };
            Self(*read.unwrap())
        }

        fn read(&self) -> u64 {
            (self.0)()
        }

        /// The allocations of `RUNS` runs once warm.
        fn of(&self, mut run: impl FnMut() -> f32) -> u64 {
            for _ in 0..WARM_UP {
                std::hint::black_box(run());
            }
            let before = self.read();
            for _ in 0..RUNS {
                std::hint::black_box(run());
            }
            self.read() - before
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
#[test]
#[ignore = "allocations are counted between the program and glibc, which this system does not have"]
fn a_warm_run_allocates_no_more_than_executorch_itself() {}
