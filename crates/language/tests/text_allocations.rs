//! Once warm, choosing a token and turning it into text allocate nothing.
#![allow(missing_docs)]

mod common;
mod counting;

use common::{Numbers, byte_level};
use nearside_language::{Sampler, SamplingOptions, StreamOptions, TextStream, TokenMask};

fn allocations(mut work: impl FnMut()) -> usize {
    let before = counting::allocations();
    work();
    counting::allocations() - before
}

#[test]
fn a_warm_sampler_allocates_nothing_with_any_of_its_steps() {
    let vocabulary = 50_000;
    let mut numbers = Numbers(5);
    let logits: Vec<f32> = (0..vocabulary).map(|_| numbers.uniform() * 20.0).collect();
    let flat = vec![0.5; vocabulary];
    let mask: TokenMask = (0..vocabulary as u32).filter(|token| token % 3 > 0).collect();
    let base = SamplingOptions { seed: Some(3), ..Default::default() };
    let cases = [
        SamplingOptions::greedy(),
        base.clone(),
        SamplingOptions { top_k: 40, top_p: 0.95, temperature: 0.8, ..base.clone() },
        SamplingOptions { top_p: 0.9, ..base.clone() },
        SamplingOptions { min_p: 0.05, ..base.clone() },
        SamplingOptions { repetition_penalty: 1.1, penalty_window: Some(64), ..base.clone() },
        SamplingOptions {
            repetition_penalty: 1.1,
            presence_penalty: 0.5,
            frequency_penalty: 0.5,
            logit_bias: vec![(5, 1.0)],
            ..base
        },
    ];
    for options in cases {
        let mut sampler = Sampler::new(&options, vocabulary).unwrap();
        sampler.accept_prompt(&[1, 2, 3]);
        let mut scratch = logits.clone();
        let mut run = |logits: &[f32], mask| {
            scratch.copy_from_slice(logits);
            let token = sampler.sample(&mut scratch, mask).unwrap();
            sampler.accept(token);
        };
        // All candidates at once is the most room that it can need.
        run(&flat, None);
        run(&logits, Some(&mask));
        let count = allocations(|| {
            for _ in 0..200 {
                run(&logits, None);
                run(&logits, Some(&mask));
            }
        });
        assert_eq!(count, 0, "{options:?}");
    }
}

#[test]
fn a_warm_stream_allocates_nothing() {
    let tokenizer = byte_level();
    let options = StreamOptions {
        stop: vec!["never said🙂".into(), "abc<|im_end|>abd".into()],
        ..Default::default()
    };
    let mut stream = TextStream::new(&tokenizer, options).unwrap();
    let mut numbers = Numbers(9);
    let ids: Vec<u32> = (0..5000).map(|_| numbers.below(tokenizer.vocab_size()) as u32).collect();
    let count = allocations(|| {
        for &id in &ids {
            assert_eq!(stream.push(id).unwrap().stopped, None);
        }
    });
    assert_eq!(count, 0);
}
