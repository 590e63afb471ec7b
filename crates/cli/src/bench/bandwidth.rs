//! How fast the machine reads memory: what bounds a decoder, which reads all of its weights for each token.

use std::hint::black_box;
use std::time::Instant;

/// Passes of which the best one counts.
const PASSES: usize = 10;

/// Bytes a second that `threads` read of `bytes` that they go through together, again and again.
pub(super) fn of(bytes: usize, threads: usize) -> f64 {
    let words: Vec<u64> = (0..(bytes / 8).max(1) as u64).collect();
    let part = words.len().div_ceil(threads.max(1));
    let pass = || {
        let begin = Instant::now();
        std::thread::scope(|scope| {
            for words in words.chunks(part) {
                scope.spawn(move || black_box(sum(words)));
            }
        });
        begin.elapsed().as_secs_f64()
    };
    let best = (0..PASSES).map(|_| pass()).fold(f64::INFINITY, f64::min);
    (words.len() * 8) as f64 / best
}

/// Several sums side by side, so that vectors of any width can hold them and loads don't wait for one another.
fn sum(words: &[u64]) -> u64 {
    const LANES: usize = 64;
    let mut sums = [0_u64; LANES];
    for words in words.chunks_exact(LANES) {
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum = sum.wrapping_add(*word);
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}
