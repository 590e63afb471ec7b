//! Inputs and outputs of any type.

use super::{AnyValue, Call};
use nearside_runtime::{Method, TensorRef, Value};

/// A tensor's elements, owned, so that a `TensorRef` can borrow them.
pub enum Elements {
    U8(Vec<u8>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

pub struct OwnedTensor {
    shape: Vec<i32>,
    elements: Elements,
}

impl OwnedTensor {
    /// `None` for anything but a tensor of a type that `TensorRef` takes.
    pub fn of(value: &AnyValue) -> Option<Self> {
        let AnyValue::Tensor { dtype, shape, values } = value else { return None };
        macro_rules! cast {
            ($variant:ident, $rust:ty) => {
                Elements::$variant(values.iter().map(|&value| value as $rust).collect())
            };
        }
        let elements = match dtype.as_str() {
            "u8" => cast!(U8, u8),
            "i8" => cast!(I8, i8),
            "i16" => cast!(I16, i16),
            "i32" => cast!(I32, i32),
            "i64" => cast!(I64, i64),
            "f32" => cast!(F32, f32),
            "f64" => cast!(F64, f64),
            _ => return None,
        };
        Some(Self { shape: shape.clone(), elements })
    }

    pub fn as_ref(&self) -> TensorRef<'_> {
        match &self.elements {
            Elements::U8(elements) => TensorRef::new(elements, &self.shape),
            Elements::I8(elements) => TensorRef::new(elements, &self.shape),
            Elements::I16(elements) => TensorRef::new(elements, &self.shape),
            Elements::I32(elements) => TensorRef::new(elements, &self.shape),
            Elements::I64(elements) => TensorRef::new(elements, &self.shape),
            Elements::F32(elements) => TensorRef::new(elements, &self.shape),
            Elements::F64(elements) => TensorRef::new(elements, &self.shape),
        }
        .unwrap()
    }
}

/// Runs `method` and compares; whether the call has only inputs that can be given.
pub fn gives_eagers_outputs(method: &mut Method, call: &Call, tolerance: f64) -> bool {
    let Some(inputs) = call.inputs.iter().map(OwnedTensor::of).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let inputs: Vec<_> = inputs.iter().map(OwnedTensor::as_ref).collect();
    let outputs = method.execute(&inputs).unwrap();
    assert_eq!(outputs.len(), call.outputs.len());
    for (index, expected) in call.outputs.iter().enumerate() {
        assert_close(&outputs.get(index).unwrap(), expected, tolerance);
    }
    true
}

/// Same kind, type and shape; numbers within `tolerance`.
pub fn assert_close(found: &Value<'_>, expected: &AnyValue, tolerance: f64) {
    match (found, expected) {
        (Value::Tensor(found), AnyValue::Tensor { dtype, shape, values }) => {
            assert_eq!((found.dtype().to_string(), found.sizes()), (dtype.clone(), shape.as_slice()));
            let found: Vec<f64> = match dtype.as_str() {
                "f32" => found.as_slice::<f32>().unwrap().iter().map(|&v| f64::from(v)).collect(),
                "f64" => found.as_slice::<f64>().unwrap().to_vec(),
                "i64" => found.as_slice::<i64>().unwrap().iter().map(|&v| v as f64).collect(),
                "i32" => found.as_slice::<i32>().unwrap().iter().map(|&v| f64::from(v)).collect(),
                "u8" | "bool" => found.bytes().iter().map(|&v| f64::from(v)).collect(),
                other => panic!("no tensors of {other} here"),
            };
            assert_eq!(found.len(), values.len());
            for (found, expected) in found.iter().zip(values) {
                assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
            }
        }
        (Value::Int(found), AnyValue::Int { int }) => assert_eq!(found, int),
        (Value::Double(found), AnyValue::Double { double }) => assert!((found - double).abs() <= 1e-9),
        (Value::Bool(found), AnyValue::Bool { bool }) => assert_eq!(found, bool),
        // Not read by this crate.
        (Value::Other(found), AnyValue::Text { .. }) => assert_eq!(*found, "String"),
        (found, _) => panic!("of another kind: {found:?}"),
    }
}
