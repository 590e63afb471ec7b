//! STUB
use crate::file::MethodFile;
pub(crate) fn check_method(_: &MethodFile, _: &[Vec<bool>]) -> Result<(), String> {
    Ok(())
}
pub(crate) fn written(_: &str) -> Option<Vec<usize>> {
    None
}
