//! A variant that is loaded and ready: what the inference thread owns.

use crate::classification::{Label, rank};
use crate::error::Result;
use crate::package::Package;
use crate::package::manifest::Output;
use nearside_runtime::memory::MemoryNeed;
use nearside_runtime::preflight::Coverage;
use nearside_runtime::{LoadMode, LoadOptions, Method, TensorRef};
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
    /// Loads `wanted`, or the first variant of the classifier's package that can run here and meets the demands.
    pub(crate) fn open(
        package: &Package,
        wanted: Option<&str>,
        demands: &LoadOptions,
        mode: LoadMode,
    ) -> Result<Self> {
        let started = Instant::now();
        let classifier = package.classifier()?;
        let (variant, method) = package.load_method(wanted, demands, mode)?;
        let input_sizes = classifier.input_sizes;
        let mut loaded = Self {
            facts: Facts::new(std::slice::from_ref(&method))?,
            method,
            input_sizes,
            names: Arc::clone(&classifier.labels),
            output: classifier.output,
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
    /// Of methods of one program, all together; what they share counts for each.
    pub(crate) fn new(methods: &[Method]) -> Result<Self> {
        let mut facts = Self {
            delegates: Vec::new(),
            operators: Vec::new(),
            coverage: None,
            memory: MemoryNeed::default(),
        };
        let mut coverage = Coverage { delegated: Some(0), portable: 0 };
        for method in methods {
            let meta = method.meta();
            let report = method.program().report(&meta.name)?;
            facts.delegates.extend(meta.delegates.iter().cloned());
            facts.operators.extend(report.portable.into_keys());
            coverage.portable += report.coverage.portable;
            coverage.delegated =
                coverage.delegated.zip(report.coverage.delegated).map(|(sum, more)| sum + more);
            facts.memory.add(&report.memory);
        }
        for names in [&mut facts.delegates, &mut facts.operators] {
            names.sort_unstable();
            names.dedup();
        }
        facts.coverage = coverage.share();
        Ok(facts)
    }
}
