//! What kernels don't check themselves, or only when they are called, by family.

mod attention;
mod overlap;
mod packed;
mod types;

use super::call::Call;

/// A family's check: every rule that it has for the operator.
type Family = fn(&str, &Call<'_>) -> Result<(), String>;

const FAMILIES: [Family; 3] = [attention::check, overlap::check, packed::check];

pub(super) fn check(operator: &str, call: &Call<'_>) -> Result<(), String> {
    FAMILIES.iter().try_for_each(|check| check(operator, call))
}
