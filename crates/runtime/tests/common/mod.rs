//! The exporter's fixtures: small programs with inputs and the outputs that eager PyTorch gave.
#![allow(dead_code, missing_docs, unreachable_pub)] // each test binary uses a part

pub mod values;

use nearside_runtime::{Method, TensorRef};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// `fixtures.json`: see `nearside_export.fixtures.expected`.
#[derive(Deserialize)]
pub struct Fixtures {
    pub cases: Vec<AnyCase>,
    pub sequences: Vec<Sequence>,
    pub delegation: Vec<Delegation>,
}

/// One call that depends on nothing before it.
#[derive(Deserialize)]
pub struct AnyCase {
    pub file: String,
    /// `.ptd` files that the program's weights are in.
    #[serde(default)]
    pub data: Vec<String>,
    /// Operators that the host must register.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The largest difference to allow.
    #[serde(default = "default_tolerance")]
    pub tolerance: f64,
    #[serde(flatten)]
    pub call: Call,
}

impl AnyCase {
    /// Whether its program is all that it takes to run it.
    pub fn stands_alone(&self) -> bool {
        self.data.is_empty() && self.needs.is_empty()
    }
}

pub fn default_tolerance() -> f64 {
    1e-5
}

/// Calls that build on the state that those before left behind.
#[derive(Deserialize)]
pub struct Sequence {
    pub file: String,
    pub calls: Vec<Call>,
}

#[derive(Deserialize)]
pub struct Call {
    pub method: String,
    pub inputs: Vec<AnyValue>,
    pub outputs: Vec<AnyValue>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum AnyValue {
    /// `values` are in row-major order; a bool element is 0 or 1.
    Tensor {
        dtype: String,
        shape: Vec<i32>,
        values: Vec<f64>,
    },
    Int {
        int: i64,
    },
    Double {
        double: f64,
    },
    Bool {
        bool: bool,
    },
    Text {
        string: String,
    },
}

/// What the exporter itself says of the share that delegates took, in graph nodes.
#[derive(Deserialize)]
pub struct Delegation {
    pub file: String,
    pub method: String,
    pub delegates: usize,
    pub delegated: usize,
    pub portable: usize,
    /// By the name that the exporter gives a node, as in `aten_linear_default`.
    pub operators: BTreeMap<String, Shares>,
}

#[derive(Deserialize)]
pub struct Shares {
    pub delegated: usize,
    pub portable: usize,
}

/// A case whose inputs and outputs are f32 tensors and whose program is one file.
pub struct Case {
    pub file: String,
    pub method: String,
    pub tolerance: f64,
    pub inputs: Vec<Tensor>,
    pub outputs: Vec<Tensor>,
}

pub struct Tensor {
    pub shape: Vec<i32>,
    pub values: Vec<f32>,
}

impl Tensor {
    pub fn as_ref(&self) -> TensorRef<'_> {
        TensorRef::new(&self.values, &self.shape).unwrap()
    }

    /// `None` for anything but an f32 tensor.
    fn of(value: &AnyValue) -> Option<Self> {
        match value {
            AnyValue::Tensor { dtype, shape, values } if dtype == "f32" => Some(Self {
                shape: shape.clone(),
                values: values.iter().map(|&value| value as f32).collect(),
            }),
            _ => None,
        }
    }
}

pub fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/fixtures").join(file)
}

pub fn fixtures() -> Fixtures {
    read(&path("fixtures.json"))
}

fn read(file: &Path) -> Fixtures {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

pub fn cases() -> Vec<Case> {
    let cases = cases_of(&path("fixtures.json"));
    assert!(cases.len() >= 3);
    cases
}

/// The cases in another file like `fixtures.json`.
pub fn cases_of(file: &Path) -> Vec<Case> {
    let tensors = |values: &[AnyValue]| values.iter().map(Tensor::of).collect::<Option<Vec<_>>>();
    read(file)
        .cases
        .into_iter()
        .filter(AnyCase::stands_alone)
        .filter_map(|AnyCase { file, tolerance, call, .. }| {
            let (inputs, outputs) = (tensors(&call.inputs)?, tensors(&call.outputs)?);
            Some(Case { file, method: call.method, tolerance, inputs, outputs })
        })
        .collect()
}

pub fn sequence(file: &str) -> Sequence {
    let mut sequences = fixtures().sequences.into_iter();
    sequences.find(|sequence| sequence.file == file).unwrap()
}

pub fn assert_gives_eagers_outputs(method: &mut Method, case: &Case) {
    let inputs: Vec<_> = case.inputs.iter().map(Tensor::as_ref).collect();
    let outputs = method.execute(&inputs).unwrap();
    assert_eq!(outputs.len(), case.outputs.len());
    for (index, expected) in case.outputs.iter().enumerate() {
        let found = outputs.tensor(index).unwrap();
        assert_eq!(found.sizes(), expected.shape, "{}", case.file);
        for (found, expected) in found.as_slice::<f32>().unwrap().iter().zip(&expected.values) {
            let difference = f64::from((found - expected).abs());
            assert!(difference <= case.tolerance, "{}: {found} is not {expected}", case.file);
        }
    }
}
