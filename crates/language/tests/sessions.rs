//! Answers of tiny models: counts, prefixes, forks, files, rings, a context that is full.
#![allow(missing_docs)]

mod models;

use models::{
    ALL, CHUNK, CONTEXT, GEMMA3, LLAMA, QWEN3, answer, greedy, model, prompt, request, tokenizer, try_answer,
};
use nearside_language::{
    Cancellation, Conversation, Decoder, DecoderFacts, Error, Event, LanguageModel, Message, Prompt,
    PromptLookup, Reason, Request, SamplingOptions, Session, Speculation, WhenFull,
};
use nearside_runtime::LoadOptions;

fn tokens(prompt: &Prompt) -> Vec<u32> {
    let Prompt::Tokens(tokens) = prompt else { panic!() };
    tokens.clone()
}

#[test]
fn answers_have_exactly_as_many_tokens_as_were_asked_for_and_all_counts_are_right() {
    for name in ALL {
        let mut model = model(name);
        for (length, most) in [(1, 1), (1, 0), (CHUNK, 3), (CHUNK + 1, 5), (50, 40)] {
            let (told, finished) = answer(&mut model, &mut Session::new(), &request(prompt(length), most));
            let statistics = &finished.statistics;
            assert_eq!(finished.reason, Reason::MaxTokens, "{name}");
            assert_eq!(told.ids.len(), most, "{name}");
            assert_eq!(statistics.generated_tokens, most);
            assert_eq!(
                (statistics.prompt_tokens, statistics.reused_tokens + statistics.prefilled_tokens),
                (length, length)
            );
            // The last token of an answer is not computed any more.
            let prefills = statistics.prefilled_tokens.div_ceil(CHUNK);
            assert_eq!(statistics.model_calls as usize, prefills + most.saturating_sub(1), "{name}");
            assert_eq!(statistics.time_to_first_token.is_some(), most > 0);
            assert_eq!(statistics.between_tokens.is_some(), most > 1);
            assert!(statistics.resident.is_none_or(|resident| resident.current_bytes <= resident.peak_bytes));
            assert_eq!(statistics.thermal, None);
        }
    }
}

#[test]
fn a_prompt_of_any_length_up_to_the_context_is_computed_in_chunks() {
    for name in ALL {
        let mut model = model(name);
        for length in [1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5, CONTEXT] {
            let (told, finished) = answer(&mut model, &mut Session::new(), &request(prompt(length), 1));
            assert_eq!(told.ids.len(), 1, "{name} {length}");
            assert_eq!(finished.statistics.prompt_tokens, length);
        }
        let (told, finished) = answer(&mut model, &mut Session::new(), &request(prompt(CONTEXT + 1), 1));
        assert_eq!((finished.reason, told.ids.len()), (Reason::ContextFull, 0), "{name}");
        assert_eq!(told.full.len(), 1);
        assert_eq!(
            (told.full[0].tokens, told.full[0].context_length, told.full[0].dropped),
            (CONTEXT + 1, CONTEXT, None)
        );
    }
}

#[test]
fn an_answer_ends_where_the_context_does() {
    let mut model = model(LLAMA);
    let endless = Request { max_new_tokens: None, ..request(prompt(90), 0) };
    let (told, finished) = answer(&mut model, &mut Session::new(), &endless);
    // The token after the last position is known, and computed no more.
    assert_eq!((finished.reason, told.ids.len()), (Reason::ContextFull, CONTEXT - 90 + 1));
    assert_eq!(told.full.len(), 1);
}

#[test]
fn with_shift_a_text_goes_on_beyond_the_context_without_its_older_half() {
    for name in [LLAMA, GEMMA3] {
        let mut model = model(name);
        let mut begin = tokens(&prompt(60));
        begin.insert(0, model.facts().bos_id.unwrap());
        let wanted = Request { when_full: WhenFull::Shift, ..request(Prompt::Tokens(begin.clone()), 150) };
        let mut session = Session::new();
        let (told, finished) = answer(&mut model, &mut session, &wanted);
        assert_eq!((finished.reason, told.ids.len()), (Reason::MaxTokens, 150), "{name}");
        assert!(told.full.len() >= 2 && told.full.iter().all(|full| full.dropped.unwrap().tokens > 0));
        assert!(finished.statistics.recomputed_tokens > 0);
        let kept = session.tokens();
        assert_eq!(kept[0], begin[0]);
        assert!(told.ids.ends_with(&kept[kept.len() - 20..]));
        assert!(kept.len() <= CONTEXT + 1);
        // A prompt that is too long begins with its newer part.
        let long = Request { when_full: WhenFull::Shift, ..request(prompt(300), 3) };
        let (told, finished) = answer(&mut model, &mut Session::new(), &long);
        assert_eq!((finished.reason, told.ids.len(), told.full.len()), (Reason::MaxTokens, 3, 1));
    }
}

fn conversation(turns: usize) -> Vec<Message> {
    let mut messages = vec![Message::system("Be.")];
    for turn in 0..turns {
        messages.push(Message::user(&format!("q{turn}")));
        messages.push(Message::assistant(&format!("a{turn}")));
    }
    messages.push(Message::user("end"));
    messages
}

#[test]
fn with_shift_a_conversation_loses_its_oldest_turns_and_keeps_its_system_prompt() {
    let mut model = model(QWEN3);
    let messages = conversation(8);
    let whole = Prompt::Conversation(Conversation { messages: messages.clone(), ..Conversation::default() });
    let stop = request(whole.clone(), 5);
    let (told, finished) = answer(&mut model, &mut Session::new(), &stop);
    assert_eq!((finished.reason, told.ids.len()), (Reason::ContextFull, 0));
    let mut session = Session::new();
    let shift = Request { when_full: WhenFull::Shift, ..request(whole, 5) };
    let (told, finished) = answer(&mut model, &mut session, &shift);
    assert_eq!((finished.reason, told.ids.len()), (Reason::MaxTokens, 5));
    let dropped = told.full[0].dropped.unwrap();
    assert!(dropped.messages >= 2 && dropped.messages % 2 == 0, "{dropped:?}");
    let kept = session.messages();
    assert_eq!(kept[0], messages[0]);
    assert_eq!(kept[1..kept.len() - 1], messages[1 + dropped.messages..]);
    // And it answers as if the older turns had never been.
    let shorter = Conversation { messages: kept[..kept.len() - 1].to_vec(), ..Conversation::default() };
    let fresh = answer(&mut model, &mut Session::new(), &request(Prompt::Conversation(shorter), 5));
    assert_eq!(fresh.0.ids, told.ids);
}

#[test]
fn a_turn_that_has_no_room_by_itself_ends_with_the_context() {
    let mut model = model(QWEN3);
    let messages = vec![Message::user(&"long ".repeat(40))];
    let prompt = Prompt::Conversation(Conversation { messages, ..Conversation::default() });
    let shift = Request { when_full: WhenFull::Shift, ..request(prompt, 5) };
    let (told, finished) = answer(&mut model, &mut Session::new(), &shift);
    assert_eq!((finished.reason, told.full.len(), told.full[0].dropped), (Reason::ContextFull, 1, None));
}

#[test]
fn a_turn_computes_only_what_is_new() {
    // The tiny Gemma's template writes answers under another name than it prompts for them with.
    for name in [LLAMA, QWEN3, models::ROWS] {
        let mut model = model(name);
        let mut session = Session::new();
        let first = request(Prompt::Turn(vec![Message::user("hi")]), 6);
        let (_, finished) = answer(&mut model, &mut session, &first);
        let before = finished.statistics.prompt_tokens + 6;
        let next = request(Prompt::Turn(vec![Message::user("so")]), 2);
        let (_, finished) = answer(&mut model, &mut session, &next);
        let statistics = finished.statistics;
        // All but the last token of the answer, which nothing followed.
        if statistics.reused_tokens != before - 1 {
            // Noise may be no text: then the conversation is read again from where it is.
            assert!(
                session.messages()[1].content.as_ref().unwrap().as_str().unwrap().contains('\u{fffd}'),
                "{name} {statistics:?} {before}"
            );
        }
        assert_eq!(statistics.prompt_tokens, statistics.reused_tokens + statistics.prefilled_tokens);
        assert_eq!(session.messages().len(), 4);
    }
}

#[test]
fn the_same_prompt_again_computes_one_token() {
    for name in [LLAMA, QWEN3] {
        let mut model = model(name);
        let mut session = Session::new();
        let (first, _) = answer(&mut model, &mut session, &request(prompt(30), 4));
        let (again, finished) = answer(&mut model, &mut session, &request(prompt(30), 4));
        assert_eq!(
            (finished.statistics.reused_tokens, finished.statistics.prefilled_tokens),
            (29, 1),
            "{name}"
        );
        assert_eq!(first.ids, again.ids);
        // Another session with the same beginning has it too.
        let (other, finished) = answer(&mut model, &mut Session::new(), &request(prompt(30), 4));
        assert_eq!((finished.statistics.reused_tokens, other.ids), (29, first.ids), "{name}");
    }
}

#[test]
fn a_ring_goes_back_by_its_slots_without_its_window_and_no_further() {
    let mut model = model(GEMMA3);
    let mut session = Session::new();
    let long = tokens(&prompt(64));
    answer(&mut model, &mut session, &request(Prompt::Tokens(long.clone()), 1));
    // 64 positions are written; slots 24, window 8: back to 48 at the lowest.
    let mut near = long[..50].to_vec();
    near.push(9);
    let (_, finished) = answer(&mut model, &mut session, &request(Prompt::Tokens(near.clone()), 8));
    assert_eq!(finished.statistics.reused_tokens, 50);
    let mut far = long[..40].to_vec();
    far.push(9);
    let (told, finished) = answer(&mut model, &mut session, &request(Prompt::Tokens(far.clone()), 8));
    assert_eq!(finished.statistics.reused_tokens, 0);
    let mut other = self::model(GEMMA3);
    assert_eq!(told.ids, greedy(&mut other, Prompt::Tokens(far), 8));
}

#[test]
fn forks_and_sessions_that_take_turns_answer_as_if_each_were_alone() {
    for name in ALL {
        let mut model = model(name);
        let mut session = Session::new();
        answer(&mut model, &mut session, &request(prompt(20), 5));
        let mut fork = session.fork(&model).unwrap();
        let mut second = fork.fork(&model).unwrap();
        let go_on = request(Prompt::Continue, 4);
        let own = answer(&mut model, &mut session, &go_on);
        let (forked, finished) = answer(&mut model, &mut fork, &go_on);
        assert_eq!((&own.0.ids, finished.statistics.prefilled_tokens), (&forked.ids, 1), "{name}");
        let another = answer(&mut model, &mut Session::new(), &request(Prompt::Tokens(vec![9, 8, 7]), 3));
        let later = answer(&mut model, &mut second, &go_on);
        assert_eq!((later.0.ids, later.1.statistics.prefilled_tokens), (own.0.ids.clone(), 1), "{name}");
        let own_again = answer(&mut model, &mut session, &go_on);
        assert_eq!(own_again.1.statistics.prefilled_tokens, 1);
        let mut alone = self::model(name);
        assert_eq!(greedy(&mut alone, Prompt::Tokens(vec![9, 8, 7]), 3), another.0.ids, "{name}");
        let mut straight = Session::new();
        answer(&mut alone, &mut straight, &request(prompt(20), 5));
        answer(&mut alone, &mut straight, &go_on);
        assert_eq!(answer(&mut alone, &mut straight, &go_on).0.ids, own_again.0.ids, "{name}");
    }
}

#[test]
fn continuing_is_the_same_as_one_longer_answer() {
    for name in ALL {
        let mut model = model(name);
        let sampling = SamplingOptions {
            temperature: 0.9,
            seed: Some(5),
            repetition_penalty: 1.1,
            ..SamplingOptions::default()
        };
        let drawn =
            |prompt: Prompt, tokens: usize| Request { sampling: sampling.clone(), ..request(prompt, tokens) };
        let whole = answer(&mut model, &mut Session::new(), &drawn(prompt(20), 12)).0.ids;
        let mut session = Session::new();
        let mut parts = answer(&mut model, &mut session, &drawn(prompt(20), 5)).0.ids;
        parts.extend(answer(&mut model, &mut session, &drawn(Prompt::Continue, 7)).0.ids);
        assert_eq!(parts, whole, "{name}");
    }
}

#[test]
fn a_saved_session_goes_on_in_another_process_bit_for_bit() {
    const SAVED: &str = "NEARSIDE_TEST_SESSION";
    let go_on = request(Prompt::Continue, 12);
    if let Ok(path) = std::env::var(SAVED) {
        let (name, path) = path.split_once(':').unwrap();
        let mut model = model(name);
        let mut session = Session::open(&mut model, path).unwrap();
        let (told, finished) = answer(&mut model, &mut session, &go_on);
        println!("child: {:?} {}", told.ids, finished.statistics.prefilled_tokens);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ALL {
        let mut model = model(name);
        let mut session = Session::new();
        answer(&mut model, &mut session, &request(prompt(40), 6));
        let path = folder.path().join(name);
        session.save(&model, &path).unwrap();
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_saved_session_goes_on_in_another_process_bit_for_bit", "--nocapture"])
            .env(SAVED, format!("{name}:{}", path.display()))
            .output()
            .unwrap();
        let said = String::from_utf8(child.stdout).unwrap();
        let own = answer(&mut model, &mut session, &go_on).0.ids;
        assert!(said.contains(&format!("child: {own:?} 1\n")), "{name}: {said} is not {own:?}");
    }
}

#[test]
fn a_sessions_file_that_is_damaged_or_of_another_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session");
    let mut llama = model(LLAMA);
    let mut session = Session::new();
    answer(&mut llama, &mut session, &request(prompt(20), 2));
    session.save(&llama, &path).unwrap();
    let error = Session::open(&mut model(models::ROWS), &path).unwrap_err();
    assert!(matches!(error, Error::SessionMismatch { .. }), "{error}");
    let whole = std::fs::read(&path).unwrap();
    let header = u32::from_le_bytes(whole[8..12].try_into().unwrap()) as usize;
    for at in [0, 9, 20, 12 + header, 16 + header, whole.len() - 1] {
        let mut changed = whole.clone();
        changed[at] ^= 4;
        std::fs::write(&path, &changed).unwrap();
        let error = Session::open(&mut llama, &path).unwrap_err();
        assert!(matches!(error, Error::SessionDamaged { .. }), "{at}: {error}");
    }
    for length in [0, 5, 12, 40, 16 + header, 20 + header, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let error = Session::open(&mut llama, &path).unwrap_err();
        assert!(matches!(error, Error::SessionDamaged { .. }), "{length}: {error}");
    }
    let error = Session::open(&mut llama, folder.path().join("none")).unwrap_err();
    assert!(matches!(error, Error::Read { .. }), "{error}");
    let error = session.save(&llama, folder.path().join("no/folder")).unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error}");
}

#[test]
fn guessing_changes_no_answer_and_is_counted() {
    let mut rows = model(models::ROWS);
    let lookup = Speculation::PromptLookup(PromptLookup { longest: 3, most: 5 });
    let mut accepted = 0;
    for length in [5, 17, 40] {
        let repeated: Vec<u32> = (0..length as u32).map(|at| 20 + at % 4).collect();
        let plain = answer(&mut rows, &mut Session::new(), &request(Prompt::Tokens(repeated.clone()), 30));
        let guessing = Request { speculation: lookup, ..request(Prompt::Tokens(repeated), 30) };
        let (told, finished) = answer(&mut rows, &mut Session::new(), &guessing);
        assert_eq!(told.ids, plain.0.ids);
        let statistics = finished.statistics;
        assert!(statistics.guessed_tokens >= statistics.accepted_tokens);
        assert_eq!(statistics.generated_tokens, 30);
        accepted += statistics.accepted_tokens;
    }
    assert!(accepted > 0);
    let mut last_only = model(LLAMA);
    let guessing = Request { speculation: lookup, ..request(prompt(5), 5) };
    let error = try_answer(&mut last_only, &mut Session::new(), &guessing, &Cancellation::new()).unwrap_err();
    assert!(matches!(error, Error::OneRow { .. }), "{error}");
}

#[test]
fn a_draft_model_that_is_the_model_itself_is_always_right() {
    let plain = greedy(&mut model(models::ROWS), prompt(20), 40);
    let mut drafted =
        model(models::ROWS).with_draft(models::decoder(models::ROWS), &tokenizer(models::ROWS)).unwrap();
    let guessing = Request { speculation: Speculation::Draft(4), ..request(prompt(20), 40) };
    let (told, finished) = answer(&mut drafted, &mut Session::new(), &guessing);
    assert_eq!(told.ids, plain);
    assert_eq!(finished.statistics.accepted_tokens, finished.statistics.guessed_tokens);
    assert!(finished.statistics.guessed_tokens >= 30);
    // And one with other weights is right now and then, or never, and changes nothing.
    let mut other = model(models::ROWS).with_draft(models::decoder(LLAMA), &tokenizer(LLAMA)).unwrap();
    let (told, _) = answer(&mut other, &mut Session::new(), &guessing);
    assert_eq!(told.ids, plain);
    let error = model(models::ROWS).with_draft(models::decoder(QWEN3), &tokenizer(QWEN3)).unwrap_err();
    assert!(matches!(error, Error::Draft { .. }), "{error}");
}

#[test]
fn a_program_tells_by_itself_what_it_is() {
    let told = DecoderFacts::of_program(&models::program(LLAMA)).unwrap();
    assert_eq!((told.context_length, told.max_prefill_tokens, told.vocab_size), (CONTEXT, CHUNK, 320));
    assert_eq!((told.bos_id, told.eos_ids.as_slice()), (Some(0), &[1, 4][..]));
    // The set is the union with what the host knows.
    let facts = DecoderFacts { eos_ids: vec![7], ..told };
    let decoder = Decoder::load(&models::program(LLAMA), facts, &LoadOptions::default()).unwrap();
    assert_eq!(decoder.facts().eos_ids, [1, 4, 7]);
}

#[test]
fn what_is_no_decoder_is_refused_by_what_it_lacks() {
    let fixture = |file: &str| {
        let path = models::package(LLAMA).join("..").join(file);
        nearside_runtime::Program::open(path, nearside_runtime::LoadMode::Mmap).unwrap()
    };
    for (file, said) in
        [("add.pte", "tokens"), ("counter.pte", "tokens"), ("mlp-xnnpack.pte", "takes 1 inputs")]
    {
        let error = Decoder::load(&fixture(file), models::facts(LLAMA), &LoadOptions::default()).unwrap_err();
        assert!(matches!(&error, Error::NotADecoder { reason, .. } if reason.contains(said)), "{error}");
    }
}

#[test]
fn calls_beyond_what_a_decoder_takes_are_errors() {
    let mut decoder = models::decoder(LLAMA);
    for (tokens, position) in [(0, 0), (CHUNK + 1, 0), (2, CONTEXT - 1), (1, CONTEXT), (1, usize::MAX)] {
        let error = decoder.run(&vec![5; tokens], position).unwrap_err();
        assert!(matches!(error, Error::Call { .. }), "{error}");
    }
    let error = decoder.run(&[320], 0).unwrap_err();
    assert!(matches!(error, Error::NoSuchToken { token: 320, vocabulary: 320 }), "{error}");
    assert_eq!(decoder.run(&[5], 0).unwrap().len(), 320);
}

#[test]
fn prompts_of_nothing_are_errors() {
    let mut model = model(QWEN3);
    for nothing in [Prompt::Tokens(vec![]), Prompt::Text(String::new()), Prompt::Continue] {
        let none = Cancellation::new();
        let error = try_answer(&mut model, &mut Session::new(), &request(nothing, 3), &none).unwrap_err();
        assert!(matches!(error, Error::EmptyPrompt), "{error}");
    }
}

fn cancelled_after(
    model: &mut LanguageModel,
    session: &mut Session,
    request: &Request,
    events: usize,
) -> Vec<u32> {
    let (cancellation, mut ids) = (Cancellation::new(), Vec::new());
    if events == 0 {
        cancellation.cancel();
    }
    let finished = session
        .generate(model, request, &cancellation, &mut |event| {
            if let Event::Token { id: Some(id), .. } = event {
                ids.push(id);
                if ids.len() == events {
                    cancellation.cancel();
                }
            }
        })
        .unwrap();
    assert_eq!((finished.reason, ids.len()), (Reason::Cancelled, events));
    ids
}

#[test]
fn a_cancelled_answer_goes_on_as_if_it_had_not_been() {
    for name in ALL {
        let mut model = model(name);
        let whole = greedy(&mut model, prompt(40), 20);
        for events in [0, 1, 2, 7, 19] {
            let mut session = Session::new();
            let mut ids = cancelled_after(&mut model, &mut session, &request(prompt(40), 20), events);
            let rest = if events == 0 { prompt(40) } else { Prompt::Continue };
            ids.extend(answer(&mut model, &mut session, &request(rest, 20 - events)).0.ids);
            assert_eq!(ids, whole, "{name} after {events}");
        }
    }
}

#[test]
fn a_prefill_is_cancelled_between_its_chunks_and_what_was_computed_stays() {
    let whole = greedy(&mut model(LLAMA), prompt(80), 6);
    let mut partly = 0;
    for round in 0..60 {
        let mut model = model(LLAMA);
        let mut session = Session::new();
        let cancellation = Cancellation::new();
        let other = cancellation.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_micros(round * 30));
            other.cancel();
        });
        let (_, finished) =
            try_answer(&mut model, &mut session, &request(prompt(80), 6), &cancellation).unwrap();
        thread.join().unwrap();
        let done = finished.statistics.prefilled_tokens;
        assert!(done % CHUNK == 0 || done == 80, "{done}");
        partly += usize::from(done > 0 && done < 80);
        if finished.statistics.generated_tokens == 0 {
            let (told, finished) = answer(&mut model, &mut session, &request(prompt(80), 6));
            assert_eq!(told.ids, whole);
            assert_eq!(finished.statistics.reused_tokens, done.min(79));
        }
    }
    println!("{partly} of 60 were cancelled in the middle of the prefill");
}
