//! Where the time of a run goes: per operator, per delegate and between them.

mod plan;
mod record;
mod summary;

pub(crate) use plan::Plan;
pub(crate) use record::Tracing;

use crate::error::{Error, Result};
use crate::method::Method;
use crate::tensor::TensorRef;
use std::num::NonZeroUsize;

/// What [`Method::profile`] measured.
///
/// Times are nanoseconds. Those of calls are means over the runs, so that all of them and the overhead add up to the
/// mean of the whole. Recording an event takes some 50 ns, which is part of what is measured: look at the shares of large
/// calls, not at the last digit of small ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The method's name.
    pub method: String,
    /// ExecuTorch's `Method::execute`, without binding inputs and reading outputs.
    pub total: Total,
    /// Operators that no delegate took, slowest first. Moves, jumps and frees are among them as `(move)`, `(jump)` and
    /// `(free)`.
    pub operators: Vec<CallTime>,
    /// The delegates, slowest first.
    pub delegates: Vec<DelegateTime>,
    /// Between the calls: the total without all operators and delegates.
    pub overhead_ns: f64,
    /// The part of the total that is overhead, 0 to 1.
    pub overhead_share: f64,
    /// Loading the method, nanoseconds: initialising the delegates and all else.
    pub load_ns: u64,
    /// What each run told, in order.
    pub runs: Vec<Vec<Event>>,
    /// What the load told.
    pub load: Vec<Event>,
}

/// The time of whole runs, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Total {
    /// The median.
    pub p50_ns: u64,
    /// The mean.
    pub mean_ns: f64,
    /// The shortest.
    pub min_ns: u64,
}

/// The calls of one operator in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct CallTime {
    /// Its name: ExecuTorch's, such as `aten::add.out`, or inside a delegate the delegate's.
    pub name: String,
    /// Calls in a run. A fraction only if the runs took different ways.
    pub calls: f64,
    /// Nanoseconds in a run.
    pub time_ns: f64,
    /// The part of the total, 0 to 1.
    pub share: f64,
}

/// The calls of one delegate in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct DelegateTime {
    /// Its id, such as `XnnpackBackend`.
    pub id: String,
    /// Calls in a run.
    pub calls: f64,
    /// Nanoseconds in a run.
    pub time_ns: f64,
    /// The part of the total, 0 to 1.
    pub share: f64,
    /// The parts of the graph that it has, in the file's order.
    pub parts: Vec<PartTime>,
    /// What it tells of its own operators, by kind, slowest first; empty if it tells nothing. XNNPACK tells whole
    /// microseconds, rounded down, so that these may sum to less than the delegate's time.
    pub operators: Vec<CallTime>,
}

/// One part of the graph that a delegate has.
#[derive(Debug, Clone, PartialEq)]
pub struct PartTime {
    /// Its number among the method's delegates (`nearside inspect` and [`crate::file::MethodFile`] list them).
    pub index: usize,
    /// Calls in a run.
    pub calls: f64,
    /// Nanoseconds in a run.
    pub time_ns: f64,
    /// The part of the total, 0 to 1.
    pub share: f64,
    /// What it took to initialise, nanoseconds, its payload read: until the delegate freed the payload, or else until the
    /// next began. `None` if the payload is inside the program's description, where its use can't be seen.
    pub init_ns: Option<u64>,
}

/// Something that took time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What it is.
    pub kind: EventKind,
    /// Its name.
    pub name: String,
    /// The thread that told of it: numbers of this process, in the order in which threads first told of something.
    pub thread: u32,
    /// When it began: nanoseconds of a clock that all events of a process share.
    pub start_ns: u64,
    /// How long it took, nanoseconds.
    pub duration_ns: u64,
    /// The instruction that it belongs to.
    pub instruction: Option<usize>,
    /// The delegated part that it belongs to, among the method's delegates.
    pub delegate: Option<usize>,
    /// The delegate's own number for it.
    pub delegate_debug_id: Option<i64>,
}

/// What an [`Event`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// A whole run, or a step of the load.
    Method,
    /// An operator that no delegate took.
    Operator,
    /// A delegate's call.
    Delegate,
    /// Inside a delegate's call, as the delegate tells it.
    DelegateOperator,
    /// A move, a jump or a free.
    Control,
    /// A delegate's initialisation.
    DelegateInit,
    /// Something that a kernel tells.
    Other,
}

impl Method {
    /// Runs the method `runs` times on `inputs`, after one run to warm up, and tells where the time went.
    ///
    /// State that the method keeps between runs moves on as with [`Method::execute`]. Events are kept in memory that is
    /// there before a run begins. A delegate may allocate to tell of its own: XNNPACK
    /// does, after each call.
    ///
    /// # Errors
    /// [`Error::NotProfiling`] if the method was not loaded with `LoadOptions::profiling`; those of
    /// [`Method::execute`].
    pub fn profile(&mut self, inputs: &[TensorRef<'_>], runs: NonZeroUsize) -> Result<Profile> {
        if self.tracing.is_none() {
            return Err(Error::NotProfiling { method: self.meta().name.clone() });
        }
        let mut recorded = Vec::new();
        self.record(inputs)?;
        while recorded.len() < runs.get() {
            // A run that told more than there was room for is done again: there is room then.
            recorded.extend(self.record(inputs)?);
        }
        let tracing = self.tracing.as_ref().expect("seen above");
        Ok(summary::summarise(&self.meta().name, tracing, recorded))
    }

    /// One run, and what it told. `None` if there was not room for all.
    fn record(&mut self, inputs: &[TensorRef<'_>]) -> Result<Option<Vec<Event>>> {
        self.method.pin_mut().start_trace();
        let ran = self.execute(inputs).map(|_| ());
        let complete = self.method.pin_mut().stop_trace();
        ran?;
        let tracing = self.tracing.as_ref().filter(|_| complete);
        Ok(tracing.map(|tracing| tracing.events(&self.method)))
    }
}
