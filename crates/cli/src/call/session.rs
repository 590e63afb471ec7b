//! The methods of a program, loaded when they are first called, with what their calls took.

use crate::error::Result;
use crate::subject::Subject;
use nearside_pipeline::runtime::memory::{reset_peak, resident};
use nearside_pipeline::runtime::{LoadOptions, Method, MethodGroup, Outputs, Value};
use std::collections::BTreeMap;
use std::time::Instant;

use super::message::Request;

/// A loaded method and its times.
pub(super) struct Called {
    /// `None` for one of the group.
    method: Option<Method>,
    /// For one of the group, what loading all of it took.
    pub(super) load_ms: f64,
    pub(super) calls_ms: Vec<f64>,
    /// Type and shape of each output of the latest call; the kind where it is no tensor.
    pub(super) outputs: Vec<(String, Option<Vec<i32>>)>,
}

/// The process's memory, bytes; `None` where the system does not tell.
#[derive(Clone, Copy)]
pub(super) struct Peaks {
    /// Before the first method was loaded.
    pub(super) start: Option<u64>,
    /// Since the process started.
    pub(super) all: Option<u64>,
    /// Since the latest load; `None` too where that can't be had.
    pub(super) calls: Option<u64>,
}

impl Called {
    fn new(method: Option<Method>, load_ms: f64) -> Self {
        Self { method, load_ms, calls_ms: Vec::new(), outputs: Vec::new() }
    }
}

pub(super) struct Session {
    pub(super) subject: Subject,
    options: LoadOptions,
    /// Methods that share their state.
    share: Vec<String>,
    /// Loaded when the first of them is called.
    group: Option<MethodGroup>,
    pub(super) methods: BTreeMap<String, Called>,
    start: Option<u64>,
    /// The largest peak that was reset.
    earlier: u64,
    is_reset: bool,
}

impl Session {
    pub(super) fn new(subject: Subject, options: LoadOptions, share: Vec<String>) -> Self {
        let start = resident().map(|resident| resident.current_bytes);
        Self {
            subject,
            options,
            share,
            group: None,
            methods: BTreeMap::new(),
            start,
            earlier: 0,
            is_reset: false,
        }
    }

    /// The method that a document asks for.
    pub(super) fn method_of(&self, request: &Request) -> String {
        request.facts.get("method").unwrap_or(&self.subject.method).clone()
    }

    /// Loads it, if it is not yet.
    fn load(&mut self, name: &str) -> Result<()> {
        if self.methods.contains_key(name) {
            return Ok(());
        }
        let begin = Instant::now();
        if self.share.iter().any(|shared| shared == name) {
            let names: Vec<_> = self.share.iter().map(String::as_str).collect();
            self.group = Some(self.subject.program.load_group(&names, &self.options)?);
            let load_ms = ms_since(begin);
            self.methods.extend(self.share.iter().map(|name| (name.clone(), Called::new(None, load_ms))));
        } else {
            let method = self.subject.program.load_method_with(name, &self.options)?;
            self.methods.insert(name.to_owned(), Called::new(Some(method), ms_since(begin)));
        }
        if let Some(resident) = resident() {
            self.earlier = self.earlier.max(resident.peak_bytes);
            self.is_reset = reset_peak();
        }
        Ok(())
    }

    /// Runs the method `name` and gives its outputs and how long the run took, ms.
    pub(super) fn run<'a>(&'a mut self, name: &str, request: &'a Request) -> Result<(Outputs<'a>, f64)> {
        self.load(name)?;
        let inputs = request.inputs.iter().map(|input| input.tensor()).collect::<Result<Vec<_>>>()?;
        let Some(called) = self.methods.get_mut(name) else { unreachable!("it was loaded just now") };
        let begin = Instant::now();
        let outputs = match (&mut called.method, &mut self.group) {
            (Some(method), _) => method.execute(&inputs)?,
            (None, Some(group)) => group.execute(name, &inputs)?,
            (None, None) => unreachable!("methods without a group are loaded by themselves"),
        };
        let ms = ms_since(begin);
        called.calls_ms.push(ms);
        called.outputs = (0..outputs.len())
            .map(|index| outputs.get(index).map(described))
            .collect::<std::result::Result<_, _>>()?;
        Ok((outputs, ms))
    }

    /// Brings the state of a method, with that of those that share it, or of all that are loaded back to its beginning.
    pub(super) fn reset(&mut self, name: Option<&str>) -> Result<()> {
        if let Some(name) = name {
            self.load(name)?;
        }
        let meant = |method: &str| name.is_none_or(|name| name == method);
        for (_, called) in self.methods.iter_mut().filter(|(name, _)| meant(name)) {
            called.method.as_mut().map_or(Ok(()), Method::reset)?;
        }
        match &mut self.group {
            Some(group) if self.share.iter().any(|name| meant(name)) => Ok(group.reset()?),
            _ => Ok(()),
        }
    }

    pub(super) fn peaks(&self) -> Peaks {
        let now = resident().map(|resident| resident.peak_bytes);
        Peaks {
            start: self.start,
            all: now.map(|now| now.max(self.earlier)),
            calls: now.filter(|_| self.is_reset),
        }
    }
}

fn described(value: Value<'_>) -> (String, Option<Vec<i32>>) {
    match value {
        Value::Tensor(tensor) => (tensor.dtype().to_string(), Some(tensor.sizes().to_vec())),
        Value::Int(_) => ("Int".into(), None),
        Value::Double(_) => ("Double".into(), None),
        Value::Bool(_) => ("Bool".into(), None),
        Value::Other(kind) => (kind.into(), None),
    }
}

fn ms_since(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1000.0
}
