//! A token costs no allocation once the model is warm.
#![allow(missing_docs)]

mod counting;
mod models;

use models::{LLAMA, QWEN3, model, prompt, request};
use nearside_language::{Cancellation, Event, Request, SamplingOptions, Session};

#[test]
fn a_token_allocates_nothing_once_warm() {
    let drawn = SamplingOptions {
        temperature: 0.8,
        top_k: 40,
        top_p: 0.9,
        repetition_penalty: 1.1,
        seed: Some(3),
        ..SamplingOptions::default()
    };
    for name in [LLAMA, QWEN3] {
        for sampling in [SamplingOptions::greedy(), drawn.clone()] {
            let mut model = model(name);
            let request =
                Request { sampling, stop: vec!["never to be seen".into()], ..request(prompt(20), 60) };
            for round in 0..2 {
                let (mut tokens, mut at_second, mut at_last) = (0, 0, 0);
                let mut session = Session::new();
                session
                    .generate(&mut model, &request, &Cancellation::new(), &mut |event| {
                        if let Event::Token { id: Some(_), .. } = event {
                            tokens += 1;
                            at_last = counting::allocations();
                            if tokens == 2 {
                                at_second = at_last;
                            }
                        }
                    })
                    .unwrap();
                assert_eq!(tokens, 60);
                assert!(round == 0 || at_last == at_second, "{name}: {} allocations", at_last - at_second);
            }
        }
    }
}
