//! STUB
use super::DelegateGraph;
use crate::file::FileValue;
pub(crate) const ID: &str = "XnnpackBackend";
pub(crate) struct Calls<'a> {
    pub args: Vec<Vec<&'a FileValue>>,
}
pub(crate) fn check(
    _: &[u8],
    calls: &Calls<'_>,
    _: &dyn Fn(&str) -> Option<u64>,
) -> Result<DelegateGraph, String> {
    Ok(DelegateGraph {
        operators: Default::default(),
        constant_bytes: 0,
        packed_bytes: 0,
        workspace_bytes: 0,
        written: vec![false; calls.args.first().map_or(0, Vec::len)],
    })
}
