//! Time to choose a token, over the vocabularies of SmolLM2 (49 152) and Gemma 3 (262 144).
//!
//! Logits are random with the spread of a language model's. Each measurement copies them first, as sampling uses them as
//! room for its work; `copy` is what that takes.

use divan::{Bencher, counter::ItemsCount};
use nearside_language::{Sampler, SamplingOptions, TokenMask};

const VOCABULARIES: [usize; 2] = [49_152, 262_144];

fn main() {
    divan::main();
}

/// Sums of uniform numbers, nearly normal with a deviation of 3; a few tokens stand out, as with a model that is sure.
fn logits(vocabulary: usize) -> Vec<f32> {
    let mut state = 1_u32;
    let mut uniform = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    let mut logits: Vec<f32> =
        (0..vocabulary).map(|_| (0..12).map(|_| uniform() - 0.5).sum::<f32>() * 3.0).collect();
    for (at, logit) in (0..10).zip([20.0, 19.0, 19.0, 18.0, 17.0, 17.0, 16.0, 15.0, 15.0, 14.0]) {
        logits[vocabulary / 11 * at + 7] = logit;
    }
    logits
}

fn measure(bencher: Bencher<'_, '_>, vocabulary: usize, options: SamplingOptions, mask: Option<&TokenMask>) {
    let logits = logits(vocabulary);
    let mut scratch = logits.clone();
    let mut sampler = Sampler::new(&SamplingOptions { seed: Some(1), ..options }, vocabulary).unwrap();
    for token in 0..500 {
        sampler.accept(token * 7 % 1000);
    }
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| {
        scratch.copy_from_slice(&logits);
        sampler.sample(&mut scratch, mask).unwrap()
    });
}

#[divan::bench(args = VOCABULARIES)]
fn copy(bencher: Bencher<'_, '_>, vocabulary: usize) {
    let logits = logits(vocabulary);
    let mut scratch = logits.clone();
    bencher.bench_local(|| {
        scratch.copy_from_slice(divan::black_box(&logits));
        divan::black_box(&mut scratch)[0]
    });
}

#[divan::bench(args = VOCABULARIES)]
fn greedy(bencher: Bencher<'_, '_>, vocabulary: usize) {
    measure(bencher, vocabulary, SamplingOptions::greedy(), None);
}

#[divan::bench(args = VOCABULARIES)]
fn greedy_masked(bencher: Bencher<'_, '_>, vocabulary: usize) {
    let mask: TokenMask =
        (0..vocabulary as u32).filter(|token| token.wrapping_mul(2_654_435_761) >> 31 == 1).collect();
    measure(bencher, vocabulary, SamplingOptions::greedy(), Some(&mask));
}

#[divan::bench(args = VOCABULARIES)]
fn top_k_40_top_p_temperature(bencher: Bencher<'_, '_>, vocabulary: usize) {
    let options = SamplingOptions { temperature: 0.8, top_k: 40, top_p: 0.95, ..Default::default() };
    measure(bencher, vocabulary, options, None);
}

#[divan::bench(args = VOCABULARIES)]
fn top_p(bencher: Bencher<'_, '_>, vocabulary: usize) {
    measure(bencher, vocabulary, SamplingOptions { top_p: 0.95, ..Default::default() }, None);
}

/// The worst there is: thousands of tokens make up the 95 %.
#[divan::bench(args = VOCABULARIES)]
fn top_p_of_a_flat_distribution(bencher: Bencher<'_, '_>, vocabulary: usize) {
    measure(
        bencher,
        vocabulary,
        SamplingOptions { top_p: 0.95, temperature: 3.0, ..Default::default() },
        None,
    );
}

#[divan::bench(args = VOCABULARIES)]
fn min_p(bencher: Bencher<'_, '_>, vocabulary: usize) {
    measure(bencher, vocabulary, SamplingOptions { min_p: 0.05, ..Default::default() }, None);
}

#[divan::bench(args = VOCABULARIES)]
fn temperature_alone(bencher: Bencher<'_, '_>, vocabulary: usize) {
    measure(bencher, vocabulary, SamplingOptions { temperature: 0.8, ..Default::default() }, None);
}

#[divan::bench(args = VOCABULARIES)]
fn everything(bencher: Bencher<'_, '_>, vocabulary: usize) {
    let options = SamplingOptions {
        temperature: 0.8,
        top_k: 40,
        top_p: 0.95,
        min_p: 0.05,
        repetition_penalty: 1.1,
        presence_penalty: 0.5,
        frequency_penalty: 0.5,
        ..Default::default()
    };
    measure(bencher, vocabulary, options, None);
}
