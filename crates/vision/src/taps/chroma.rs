//! Taps on chroma planes of half the resolution.

use crate::ChromaSiting;

/// Rewrites taps on a full-resolution axis as taps on the half-resolution one from which it is upsampled.
///
/// In the centre (JPEG, MPEG-1), chroma sample `k` lies midway between luma samples `2k` and `2k + 1`, so that each
/// luma sample takes three quarters of its own chroma sample and one quarter of the next nearest. To the left
/// (MPEG-2, H.264), it lies on luma sample `2k`, and sample `2k + 1` takes half of two. Composing both steps gives
/// what upsampling the plane and resampling it then would.
pub(super) fn through_upsampling(
    siting: ChromaSiting,
    start: usize,
    row: &[f64],
    frame_len: u32,
    halved: &mut Vec<f64>,
) -> usize {
    let last = frame_len.div_ceil(2) as usize - 1;
    let two = |luma: usize| {
        let near = luma / 2;
        let after = (near + 1).min(last);
        match (siting, luma.is_multiple_of(2)) {
            (ChromaSiting::Center, true) => [(near, 0.75), (near.saturating_sub(1), 0.25)],
            (ChromaSiting::Center, false) => [(near, 0.75), (after, 0.25)],
            (ChromaSiting::Left, true) => [(near, 1.0), (near, 0.0)],
            (ChromaSiting::Left, false) => [(near, 0.5), (after, 0.5)],
        }
    };
    let reach = |luma: usize| two(luma).map(|(at, _)| at);
    let first = reach(start).into_iter().min().unwrap_or(0);
    let end = reach(start + row.len() - 1).into_iter().max().unwrap_or(0);
    halved.clear();
    halved.resize(end - first + 1, 0.0);
    for (offset, weight) in row.iter().enumerate() {
        for (at, share) in two(start + offset) {
            halved[at - first] += weight * share;
        }
    }
    first
}
