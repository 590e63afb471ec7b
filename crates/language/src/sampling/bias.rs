//! Logit bias: wishes and bans for single tokens.

/// Adds to the logits of `bias`. A ban holds whatever the logit is.
pub(super) fn apply(logits: &mut [f32], bias: &[(u32, f32)]) {
    for &(token, bias) in bias {
        let Some(logit) = logits.get_mut(token as usize) else { continue };
        *logit = if bias == f32::NEG_INFINITY { bias } else { *logit + bias };
    }
}
