//! Text models: events on another thread, cancelling, several sessions on one model.
#![allow(missing_docs)]

use nearside_pipeline::language::{Prompt, Reason, Request};
use nearside_pipeline::{Error, Generation, OpenOptions, TextEvent, TextModel};
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/fixtures").join(name)
}

fn model() -> TextModel {
    TextModel::open(fixture("tiny-llama.nearside"), OpenOptions::default()).unwrap()
}

fn request(tokens: usize) -> Request {
    let prompt = Prompt::Tokens((10..50).collect());
    Request { max_new_tokens: Some(tokens), ignore_end: true, ..Request::new(prompt) }
}

fn ids(generation: Generation) -> Vec<u32> {
    let id = |event: TextEvent| match event {
        TextEvent::Token { id, .. } => id,
        _ => None,
    };
    generation.filter_map(|event| id(event.unwrap())).collect()
}

#[test]
fn an_answer_comes_as_events_and_ends_with_its_statistics() {
    let model = model();
    let events: Vec<TextEvent> = model.generate(request(5)).unwrap().map(Result::unwrap).collect();
    let text: String = events
        .iter()
        .filter_map(
            |event| if let TextEvent::Token { text, .. } = event { Some(text.as_str()) } else { None },
        )
        .collect();
    let Some(TextEvent::Finished(finished)) = events.last() else { panic!("{events:?}") };
    assert_eq!((finished.reason, &finished.text), (Reason::MaxTokens, &text));
    assert_eq!(finished.statistics.generated_tokens, 5);
    assert_eq!(finished.statistics.load, model.info().load);
    assert_eq!((model.info().context_length, model.info().max_prefill_tokens), (96, 16));
    assert!(model.info().has_chat_template && !model.info().can_speculate);
    assert_eq!(model.info().end_ids, [1, 4]);
}

#[test]
fn sessions_take_turns_and_each_goes_on_by_itself() {
    let model = model();
    let straight = ids(model.generate(request(8)).unwrap());
    let (one, two) = (model.session(), model.session());
    let go_on = |tokens| Request { prompt: Prompt::Continue, ..request(tokens) };
    let mut first = ids(one.generate(request(3)).unwrap());
    let mut second = ids(two.generate(request(2)).unwrap());
    first.extend(ids(one.generate(go_on(5)).unwrap()));
    let fork = two.fork().unwrap();
    second.extend(ids(two.generate(go_on(6)).unwrap()));
    assert_eq!((&first, &second), (&straight, &straight));
    assert_eq!(ids(fork.generate(go_on(6)).unwrap()), straight[2..]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session");
    one.save(&path).unwrap();
    let loaded = model.open_session(&path).unwrap();
    assert_eq!(loaded.tokens().unwrap(), one.tokens().unwrap());
    one.reset().unwrap();
    assert!(one.tokens().unwrap().is_empty());
}

#[test]
fn who_takes_no_events_can_still_cancel_and_lose_nothing_but_the_rest() {
    let model = model();
    let endless = Request {
        when_full: nearside_pipeline::language::WhenFull::Shift,
        max_new_tokens: None,
        ..request(0)
    };
    let generation = model.generate(endless.clone()).unwrap();
    // More than the queue holds: the model waits.
    std::thread::sleep(Duration::from_millis(300));
    let since = Instant::now();
    generation.canceller().cancel();
    let finished = generation.wait().unwrap();
    assert_eq!(finished.reason, Reason::Cancelled);
    assert!(since.elapsed() < Duration::from_secs(5));
    // Dropping does the same, and the model is free for others.
    drop(model.generate(endless).unwrap());
    assert_eq!(ids(model.generate(request(2)).unwrap()).len(), 2);
}

#[test]
fn what_is_wrong_with_a_request_is_told_by_its_generation() {
    let model = model();
    let nothing = Request::new(Prompt::Tokens(Vec::new()));
    let mut generation = model.generate(nothing).unwrap();
    let error = generation.next().unwrap().unwrap_err();
    assert!(matches!(error, Error::Language(_)), "{error}");
    assert!(generation.next().is_none());
    assert!(matches!(generation.next_within(Duration::ZERO), Err(Error::Closed(_))));
}

#[test]
fn a_package_of_another_task_is_not_opened_as_a_text_model() {
    let error = TextModel::open(fixture("tiny-classifier.nearside"), OpenOptions::default()).unwrap_err();
    assert!(matches!(error, Error::WrongTask { .. }), "{error}");
}
