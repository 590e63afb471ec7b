//! The exporter's fixtures: small programs with inputs and the outputs that eager PyTorch gave.
#![allow(dead_code, missing_docs, unreachable_pub)] // each test binary uses a part

use nearside_runtime::{Method, TensorRef};
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Deserialize)]
pub struct Fixtures {
    pub cases: Vec<Case>,
}

#[derive(Deserialize)]
pub struct Case {
    pub file: String,
    pub method: String,
    pub inputs: Vec<Tensor>,
    pub outputs: Vec<Tensor>,
}

#[derive(Deserialize)]
pub struct Tensor {
    pub shape: Vec<i32>,
    pub values: Vec<f32>,
}

impl Tensor {
    pub fn as_ref(&self) -> TensorRef<'_> {
        TensorRef::new(&self.values, &self.shape).unwrap()
    }
}

pub fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/fixtures").join(file)
}

pub fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(path("fixtures.json")).unwrap();
    let fixtures: Fixtures = serde_json::from_str(&text).unwrap();
    assert!(fixtures.cases.len() >= 3);
    fixtures.cases
}

pub fn assert_gives_eagers_outputs(method: &mut Method, case: &Case) {
    let inputs: Vec<_> = case.inputs.iter().map(Tensor::as_ref).collect();
    let outputs = method.execute(&inputs).unwrap();
    assert_eq!(outputs.len(), case.outputs.len());
    for (index, expected) in case.outputs.iter().enumerate() {
        let found = outputs.tensor(index).unwrap();
        assert_eq!(found.sizes(), expected.shape, "{}", case.file);
        for (found, expected) in found.as_slice::<f32>().unwrap().iter().zip(&expected.values) {
            assert!((found - expected).abs() <= 1e-5, "{}: {found} is not {expected}", case.file);
        }
    }
}
