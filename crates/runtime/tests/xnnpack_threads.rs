//! XNNPACK from many threads: every way of sharing its memory gives, bit for bit, what one thread alone gives.
#![allow(missing_docs)]

mod common;

use common::path;
use nearside_runtime::delegate::{WorkspaceSharing, XnnpackOptions};
use nearside_runtime::{LoadMode, LoadOptions, Method, Program, TensorRef};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};

const SHARINGS: [WorkspaceSharing; 3] =
    [WorkspaceSharing::Disabled, WorkspaceSharing::PerModel, WorkspaceSharing::Global];

/// A model with several inputs and what one thread alone computes for each.
struct Model {
    file: PathBuf,
    shape: [i32; 2],
    inputs: Vec<Vec<f32>>,
    expected: Vec<Vec<u32>>,
}

impl Model {
    fn new(file: &str, shape: [i32; 2]) -> Self {
        let count = (shape[0] * shape[1]) as usize;
        let input = |seed: usize| (0..count).map(|i| ((i * 7 + seed * 13) % 29) as f32 / 9.0 - 1.5).collect();
        let mut model =
            Self { file: path(file), shape, inputs: (0..4).map(input).collect(), expected: Vec::new() };
        let mut method = model.load(&LoadOptions::default());
        model.expected = (0..model.inputs.len()).map(|input| model.run(&mut method, input)).collect();
        assert!(model.expected.windows(2).all(|pair| pair[0] != pair[1]), "inputs that make no difference");
        model
    }

    fn load(&self, options: &LoadOptions) -> Method {
        Program::open(&self.file, LoadMode::Mmap).unwrap().load_method_with("forward", options).unwrap()
    }

    /// The bits of the output.
    fn run(&self, method: &mut Method, input: usize) -> Vec<u32> {
        let outputs = method.execute(&[TensorRef::new(&self.inputs[input], &self.shape).unwrap()]).unwrap();
        let output = outputs.tensor(0).unwrap();
        output.as_slice::<f32>().unwrap().iter().map(|value| value.to_bits()).collect()
    }

    fn runs_exactly(&self, method: &mut Method, runs: usize) {
        for run in 0..runs {
            let input = run % self.inputs.len();
            assert_eq!(self.run(method, input), self.expected[input], "run {run} of {}", self.file.display());
        }
    }
}

fn models() -> [Model; 2] {
    [Model::new("mlp-xnnpack.pte", [8, 16]), Model::new("scaled-once.pte", [4, 16])]
}

fn options(sharing: WorkspaceSharing, weight_cache: bool) -> LoadOptions {
    let xnnpack = XnnpackOptions {
        workspace_sharing: Some(sharing),
        weight_cache: Some(weight_cache),
        ..XnnpackOptions::default()
    };
    LoadOptions { delegate_options: xnnpack.try_into().unwrap(), ..LoadOptions::default() }
}

#[test]
fn two_models_on_two_threads_do_not_disturb_each_other() {
    let models = models();
    for sharing in SHARINGS {
        let start = Barrier::new(models.len());
        std::thread::scope(|scope| {
            for model in &models {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    // Loading and dropping while the other runs, too: both touch what is shared.
                    for _ in 0..10 {
                        model.runs_exactly(&mut model.load(&options(sharing, false)), 25);
                    }
                });
            }
        });
    }
}

#[test]
fn a_weight_cache_shared_by_two_threads_gives_each_its_results() {
    let [model, _] = models();
    for sharing in SHARINGS {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let model = &model;
                scope.spawn(move || {
                    for _ in 0..10 {
                        model.runs_exactly(&mut model.load(&options(sharing, true)), 25);
                    }
                });
            }
        });
    }
}

#[test]
fn one_model_serves_many_threads_through_its_owner() {
    let [model, _] = models();
    let owner = Mutex::new(model.load(&LoadOptions::default()));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let (model, owner) = (&model, &owner);
            scope.spawn(move || {
                for _ in 0..50 {
                    model.runs_exactly(&mut owner.lock().unwrap(), 4);
                }
            });
        }
    });
}

#[test]
fn a_thousand_runs_at_once_are_exact() {
    let models = models();
    for sharing in SHARINGS {
        let done = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (model, done) = (&models[thread % 2], &done);
                scope.spawn(move || {
                    let mut method = model.load(&options(sharing, false));
                    for _ in 0..125 {
                        model.runs_exactly(&mut method, 1);
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 1000);
    }
}
