//! A variant that is loaded and ready: what the inference thread owns.

use crate::classification::{Label, rank};
use crate::error::{Error, Result};
use crate::package::Package;
use crate::package::manifest::{Output, Variant};
use nearside_runtime::memory::MemoryNeed;
use nearside_runtime::{DType, LoadMode, LoadOptions, Method, MethodMeta, TensorMeta, TensorRef, ValueMeta};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A classifier's method with what it takes to read its output.
#[derive(Debug)]
pub(crate) struct Loaded {
    method: Method,
    input_sizes: [i32; 4],
    names: Arc<[Arc<str>]>,
    output: Output,
    pub(crate) variant: String,
    pub(crate) facts: Facts,
    pub(crate) load: Duration,
}

/// What the program says of the method.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) delegates: Vec<String>,
    /// Operators on portable kernels, sorted.
    pub(crate) operators: Vec<String>,
    /// `None` if a delegate does not tell what is in it.
    pub(crate) coverage: Option<f64>,
    pub(crate) memory: MemoryNeed,
}

impl Loaded {
    /// Loads `wanted`, or the first variant of the package that can run here and meets the demands.
    pub(crate) fn open(
        package: &Package,
        wanted: Option<&str>,
        demands: &LoadOptions,
        mode: LoadMode,
    ) -> Result<Self> {
        let started = Instant::now();
        let (variant, method) = package.load_method(wanted, demands, mode)?;
        let input_sizes = package.input_sizes();
        let mut loaded = Self {
            facts: Facts::new(&method)?,
            method,
            input_sizes,
            names: Arc::clone(package.labels()),
            output: package.manifest().output,
            variant: variant.name.clone(),
            load: Duration::ZERO,
        };
        // The first run touches weights and grows the delegate's workspace: it is part of loading, not of the first frame.
        let zeros = vec![0.0; input_sizes.iter().map(|&size| size as usize).product()];
        loaded.classify(&zeros, 1, &mut Vec::new())?;
        loaded.load = started.elapsed();
        Ok(loaded)
    }

    /// Runs the model on `tensor`, f32 in the shape of the image entry, and ranks what it gives. Gives the time that the
    /// method took.
    pub(crate) fn classify(
        &mut self,
        tensor: &[f32],
        top: usize,
        labels: &mut Vec<Label>,
    ) -> Result<Duration> {
        let started = Instant::now();
        let outputs = self.method.execute(&[TensorRef::new(tensor, &self.input_sizes)?])?;
        let took = started.elapsed();
        rank(outputs.tensor(0)?.as_slice()?, &self.names, self.output, top, labels)?;
        Ok(took)
    }
}

impl Facts {
    fn new(method: &Method) -> Result<Self> {
        let meta = method.meta();
        let report = method.program().report(&meta.name)?;
        Ok(Self {
            delegates: meta.delegates.clone(),
            coverage: report.coverage.share(),
            operators: report.portable.into_keys().collect(),
            memory: report.memory,
        })
    }
}

/// Compares what the program takes, gives and needs with what the manifest promises.
pub(crate) fn check_method(meta: &MethodMeta, variant: &Variant, package: &Package) -> Result<()> {
    let input_sizes = package.input_sizes();
    let classes = package.labels().len();
    let differs = |reason: String| Err(Error::Mismatch { variant: variant.name.clone(), reason });
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let (found, promised) = (sorted(meta.delegates.clone()), sorted(variant.delegates.clone()));
    if found != promised {
        return differs(format!("the program runs in {found:?}, the manifest says {promised:?}"));
    }
    let not_f32 = |found| Error::NotF32 { variant: variant.name.clone(), method: meta.name.clone(), found };
    let input = one_f32(&meta.inputs).map_err(|found| not_f32(format!("takes {found}")))?;
    if input.sizes != input_sizes {
        return differs(format!(
            "the program takes {:?}, the manifest's image is {input_sizes:?}",
            input.sizes
        ));
    }
    let output = one_f32(&meta.outputs).map_err(|found| not_f32(format!("gives {found}")))?;
    let found = elements(output);
    if found != Some(classes) {
        return differs(format!("the program gives {:?}, there are {classes} labels", output.sizes));
    }
    Ok(())
}

/// The only value, if it is a tensor of f32, else what there is.
fn one_f32(values: &[ValueMeta]) -> std::result::Result<&TensorMeta, String> {
    let [value] = values else { return Err(format!("{} values", values.len())) };
    match value {
        ValueMeta::Tensor(tensor) if tensor.dtype == DType::F32 => Ok(tensor),
        ValueMeta::Tensor(tensor) => Err(format!("a tensor of {}", tensor.dtype)),
        ValueMeta::Other(kind) => Err(format!("a value of kind {kind}")),
    }
}

fn elements(tensor: &TensorMeta) -> Option<usize> {
    tensor.sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(usize::try_from(size).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dtype: DType) -> ValueMeta {
        ValueMeta::Tensor(TensorMeta {
            name: String::new(),
            dtype,
            sizes: vec![1, 3, 8, 8],
            dynamic: false,
            dim_order: vec![0, 1, 2, 3],
            bytes: 768,
            memory_planned: false,
        })
    }

    #[test]
    fn what_is_not_one_tensor_of_f32_is_named() {
        assert!(one_f32(&[tensor(DType::F32)]).is_ok());
        for (values, expected) in [
            (vec![tensor(DType::U8)], "a tensor of u8"),
            (vec![tensor(DType::I8)], "a tensor of i8"),
            (vec![tensor(DType::F16)], "a tensor of f16"),
            (vec![ValueMeta::Other("Int")], "a value of kind Int"),
            (vec![], "0 values"),
            (vec![tensor(DType::F32), tensor(DType::F32)], "2 values"),
        ] {
            assert_eq!(one_f32(&values).unwrap_err(), expected);
        }
    }
}
