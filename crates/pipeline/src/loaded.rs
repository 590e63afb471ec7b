//! A variant that is loaded and ready: what the inference thread owns.

use crate::classification::{Label, rank};
use crate::error::{Error, Result};
use crate::package::manifest::Output;
use crate::package::{Package, manifest};
use nearside_runtime::{DType, LoadMode, Method, Program, TensorMeta, TensorRef};
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
    pub(crate) load: Duration,
}

impl Loaded {
    /// Loads `wanted`, or the first variant of the package that can run here.
    pub(crate) fn open(package: &Package, wanted: Option<&str>, mode: LoadMode) -> Result<Self> {
        let started = Instant::now();
        let variant = package.choose(wanted)?;
        let program = Program::open(package.program(variant)?, mode)?;
        let method = program.load_method(&variant.method)?;
        let manifest = package.manifest();
        let input_sizes = package.input_sizes();
        check_method(&method, variant, &input_sizes, package.labels().len())?;
        let mut loaded = Self {
            method,
            input_sizes,
            names: Arc::clone(package.labels()),
            output: manifest.output,
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

    pub(crate) fn planned_bytes(&self) -> u64 {
        self.method.meta().planned_bytes.iter().sum()
    }
}

/// Compares what the program takes and gives with what the manifest promises.
fn check_method(
    method: &Method,
    variant: &manifest::Variant,
    input_sizes: &[i32],
    classes: usize,
) -> Result<()> {
    let differs = |reason: String| Err(Error::Mismatch { variant: variant.name.clone(), reason });
    let meta = method.meta();
    let one_f32 = |values: &[nearside_runtime::ValueMeta]| match values {
        [value] => value.as_tensor().filter(|tensor| tensor.dtype == DType::F32).cloned(),
        _ => None,
    };
    let Some(input) = one_f32(&meta.inputs) else {
        return differs(format!("method `{}` does not take one f32 tensor", meta.name));
    };
    if input.sizes != input_sizes {
        return differs(format!(
            "the program takes {:?}, the manifest's image is {input_sizes:?}",
            input.sizes
        ));
    }
    let Some(output) = one_f32(&meta.outputs) else {
        return differs(format!("method `{}` does not give one f32 tensor", meta.name));
    };
    let found = elements(&output);
    if found != Some(classes) {
        return differs(format!("the program gives {:?}, there are {classes} labels", output.sizes));
    }
    Ok(())
}

fn elements(tensor: &TensorMeta) -> Option<usize> {
    tensor.sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(usize::try_from(size).ok()?))
}
