//! The graph in a payload: what XNNPACK and ExecuTorch's compiler for it take on trust is checked here.
//!
//! Written against ExecuTorch 1.5.1 (`backends/xnnpack/runtime/XNNCompiler.cpp`, `XNNExecutor.cpp`) and the XNNPACK that it pins,
//! commit 92a7ad501b95 (`src/subgraph/`, `src/operators/`).

mod arguments;
mod constants;
mod datatype;
mod fusion;
mod memory;
mod nodes;
mod payload;
mod run;
mod shape;
mod structure;
mod values;

use crate::delegate::DelegateGraph;
use crate::file::FileValue;
use constants::Constants;
use payload::Payload;
use structure::Graph;
use values::Place;

/// Data that payloads refer to by name.
pub(crate) trait NamedData {
    /// Bytes of the data called `key`; more than any graph needs if there is none, so that the graph can be told without it.
    fn bytes(&self, key: &str) -> u64;

    /// The first `bytes` of it, fewer if it can't be read. `None` if there is no such data.
    fn read(&self, key: &str, bytes: u64) -> Option<Vec<u8>>;
}

/// How a program calls a delegate.
pub(crate) struct Calls<'a> {
    /// For each `DelegateCall`: its arguments, in order.
    pub(crate) args: Vec<Vec<&'a FileValue>>,
}

/// Checks a payload and says what its graph holds. `named` is the data of the program and its data files.
///
/// After this, neither loading nor running can make XNNPACK read or write where it must not.
///
/// # Errors
/// One sentence that says what is wrong.
pub(crate) fn check(
    payload: &[u8],
    calls: &Calls<'_>,
    named: &dyn NamedData,
) -> Result<DelegateGraph, String> {
    let payload = Payload::read(payload)?;
    let graph = Graph::read(&payload, &Constants::new(&payload, named))?;
    fusion::check(&graph)?;
    let mut result = graph.summary();
    // Without a call the delegate is only loaded, for the shapes in the file.
    let runs = match calls.args.as_slice() {
        [] => vec![graph.run(None)?],
        calls => calls.iter().map(|call| graph.run(Some(call))).collect::<Result<Vec<_>, _>>()?,
    };
    for run in runs {
        result.workspace_bytes = result.workspace_bytes.max(run.workspace_bytes);
        result.packed_bytes = result.packed_bytes.max(run.kept_bytes);
    }
    result.written = vec![false; calls.args.iter().map(Vec::len).max().unwrap_or(0)];
    for value in &graph.values {
        if let Place::Output(position) = value.place
            && let Some(written) = result.written.get_mut(position)
        {
            *written = true;
        }
    }
    Ok(result)
}
