//! Tokens to text: whole characters, stop strings, special tokens.
#![allow(missing_docs)]

mod common;

use common::{SPECIALS, byte_level, sentence_piece};
use nearside_language::{Error, StreamOptions, TextStream, Tokenizer};
use proptest::prelude::*;

/// The text, piece by piece, and the stop string that ended it.
fn stream(tokenizer: &Tokenizer, ids: &[u32], options: &StreamOptions) -> (Vec<String>, Option<usize>) {
    let mut stream = TextStream::new(tokenizer, options.clone()).unwrap();
    let mut pieces = Vec::new();
    for &id in ids {
        let piece = stream.push(id).unwrap();
        pieces.push(piece.text.to_owned());
        if piece.stopped.is_some() {
            return (pieces, piece.stopped);
        }
    }
    let rest = stream.finish();
    pieces.push(rest.text.to_owned());
    (pieces, rest.stopped)
}

fn text(tokenizer: &Tokenizer, ids: &[u32], options: &StreamOptions) -> String {
    stream(tokenizer, ids, options).0.concat()
}

fn bytes(tokenizer: &Tokenizer, ids: &[u32], show_special: bool) -> Vec<u8> {
    let shown = ids.iter().filter(|&&id| show_special || !tokenizer.is_special(id));
    shown.flat_map(|&id| tokenizer.token_bytes(id).unwrap()).copied().collect()
}

fn stop(stop: &[&str]) -> StreamOptions {
    StreamOptions { stop: stop.iter().map(|&stop| stop.to_owned()).collect(), ..Default::default() }
}

/// One token a byte, special tokens whole.
fn spelled(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    let single = |byte: u8| {
        (0..tokenizer.vocab_size() as u32).find(|&id| tokenizer.token_bytes(id) == Some(&[byte])).unwrap()
    };
    let mut ids = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(special) = SPECIALS[..3].iter().find(|special| rest.starts_with(**special)) {
            ids.push(tokenizer.id_of(special).unwrap());
            rest = &rest[special.len()..];
        } else {
            ids.push(single(rest.as_bytes()[0]));
            let end = (1..=4).find(|&end| rest.is_char_boundary(end)).unwrap();
            ids.extend(rest.as_bytes()[1..end].iter().map(|&byte| single(byte)));
            rest = &rest[end..];
        }
    }
    ids
}

fn ids() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    proptest::collection::vec(any::<prop::sample::Index>(), 0..40)
}

proptest! {
    #[test]
    fn streamed_text_is_the_decoded_text(picks in ids(), show_special in any::<bool>()) {
        let tokenizers = [byte_level(), sentence_piece(true), sentence_piece(false)];
        for (kind, tokenizer) in tokenizers.iter().enumerate() {
            let ids: Vec<u32> = picks.iter().map(|pick| pick.index(tokenizer.vocab_size()) as u32).collect();
            let options = StreamOptions { show_special, ..Default::default() };
            let streamed = text(tokenizer, &ids, &options);
            let all = bytes(tokenizer, &ids, show_special);
            let lossy = String::from_utf8_lossy(&all);
            let expected = if kind == 1 { lossy.strip_prefix(' ').unwrap_or(&lossy) } else { &lossy };
            prop_assert_eq!(&streamed, expected);
            // For bytes that are no characters, SentencePiece's decoder has its own count of U+FFFD.
            if kind == 0 || std::str::from_utf8(&all).is_ok() {
                prop_assert_eq!(&streamed, &tokenizer.decode(&ids, !show_special).unwrap());
            }
        }
    }

    #[test]
    fn stop_strings_end_the_text_at_the_same_place_however_it_is_split(
        picks in ids(),
        stops in proptest::collection::vec("[abcdst \"{é日🙂]{1,4}", 0..4),
        hidden in proptest::collection::vec(any::<prop::sample::Index>(), 0..3),
    ) {
        let tokenizer = byte_level();
        let specials: Vec<u32> = SPECIALS[..3].iter().map(|special| tokenizer.id_of(special).unwrap()).collect();
        let mut ids: Vec<u32> = picks.iter().map(|pick| pick.index(tokenizer.vocab_size()) as u32).collect();
        for (at, pick) in hidden.iter().enumerate() {
            ids.insert(pick.index(ids.len() + 1), specials[at]);
        }
        let options = StreamOptions { stop: stops.clone(), ..Default::default() };
        let shown = bytes(&tokenizer, &ids, false);
        let whole = String::from_utf8_lossy(&shown);
        // The first to be completed; of those the longest, which begins first.
        let first = stops
            .iter()
            .filter_map(|stop| whole.find(stop.as_str()).map(|start| (start + stop.len(), start)))
            .min();
        let (pieces, stopped) = stream(&tokenizer, &ids, &options);
        let expected = first.map_or(&*whole, |(_, start)| &whole[..start]);
        prop_assert_eq!(pieces.concat(), expected);
        prop_assert_eq!(stopped.is_some(), first.is_some());
        if let (Some(stopped), Some((end, start))) = (stopped, first) {
            prop_assert_eq!(&stops[stopped], &whole[start..end]);
        }
    }

    #[test]
    fn no_more_is_held_back_than_may_become_a_stop_string(
        picks in ids(),
        stops in proptest::collection::vec("[abcdst \"{é]{1,5}", 1..4),
    ) {
        let tokenizer = byte_level();
        let options = StreamOptions { stop: stops.clone(), ..Default::default() };
        let mut stream = TextStream::new(&tokenizer, options).unwrap();
        let (mut given, mut delivered) = (Vec::new(), String::new());
        for pick in picks {
            let id = pick.index(tokenizer.vocab_size()) as u32;
            let piece = stream.push(id).unwrap();
            delivered.push_str(piece.text);
            if piece.stopped.is_some() {
                break;
            }
            given.extend(bytes(&tokenizer, &[id], false));
            let whole = match std::str::from_utf8(&given) {
                Err(error) if error.error_len().is_none() => String::from_utf8_lossy(&given[..error.valid_up_to()]),
                Err(_) => break,
                Ok(text) => text.into(),
            };
            let held = whole.char_indices().map(|(at, _)| &whole[at..]).find(|end| {
                stops.iter().any(|stop| stop.starts_with(end))
            });
            prop_assert_eq!(&delivered, &whole[..whole.len() - held.map_or(0, str::len)]);
        }
    }
}

#[test]
fn a_character_split_over_tokens_comes_when_it_is_whole_and_half_of_one_is_not_lost() {
    let tokenizer = byte_level();
    let ids = spelled(&tokenizer, "a🙂é");
    let pieces = stream(&tokenizer, &ids, &StreamOptions::default()).0;
    assert_eq!(pieces, ["a", "", "", "", "🙂", "", "é", ""]);
    let pieces = stream(&tokenizer, &ids[..4], &StreamOptions::default()).0;
    assert_eq!(pieces, ["a", "", "", "", "\u{fffd}"]);
}

#[test]
fn special_tokens_are_hidden_by_default_and_shown_on_demand() {
    let tokenizer = byte_level();
    let ids = spelled(&tokenizer, "<|im_start|>hi<|im_end|>");
    assert_eq!(text(&tokenizer, &ids, &StreamOptions::default()), "hi");
    let shown = StreamOptions { show_special: true, ..Default::default() };
    assert_eq!(text(&tokenizer, &ids, &shown), "<|im_start|>hi<|im_end|>");
    let one = StreamOptions { show: vec![tokenizer.id_of("<|im_end|>").unwrap()], ..Default::default() };
    assert_eq!(text(&tokenizer, &ids, &one), "hi<|im_end|>");
}

#[test]
fn a_special_token_in_the_midst_of_a_character_or_a_stop_string_changes_nothing() {
    let tokenizer = byte_level();
    let mut ids = spelled(&tokenizer, "xé");
    ids.insert(2, tokenizer.id_of("<|im_end|>").unwrap());
    assert_eq!(text(&tokenizer, &ids, &StreamOptions::default()), "xé");
    let ids = spelled(&tokenizer, "one ST<|im_end|>OP two");
    assert_eq!(text(&tokenizer, &ids, &stop(&["STOP"])), "one ");
}

#[test]
fn stop_strings_with_a_hidden_token_in_them_stop_there() {
    let tokenizer = byte_level();
    for (text_of_model, stops, expected) in [
        ("hello<|im_end|>more", vec!["<|im_end|>"], "hello"),
        ("hello wo<|im_end|>more", vec!["wo<|im_end|>"], "hello "),
        ("hello<|im_end|>", vec!["lo<|im_end|>x"], "hello"),
        ("ab<|im_end|>\nuser: x", vec!["b<|im_end|>\nuser"], "a"),
        ("a<|im_start|>b<|im_end|>c", vec!["a<|im_start|>b<|im_end|>"], ""),
        // Written out in plain tokens, it is visible text.
        ("hello<tool_call>more", vec!["<tool_call>"], "hello"),
        // The first of a special token's characters are no text that was said.
        ("x<|im_end|>y", vec!["x<"], "xy"),
    ] {
        let ids = spelled(&tokenizer, text_of_model);
        assert_eq!(text(&tokenizer, &ids, &stop(&stops)), expected, "{text_of_model}");
    }
}

#[test]
fn of_overlapping_stop_strings_the_first_to_be_completed_counts() {
    let tokenizer = byte_level();
    let ids = spelled(&tokenizer, "xabcdy");
    for (stops, expected, which) in [
        (vec!["abcd", "bc"], "xa", 1),
        (vec!["bcd", "abcd"], "x", 1),
        (vec!["cd", "d", "bcd"], "xa", 2),
        (vec!["abce", "cdy", "zz"], "xab", 1),
        (vec!["y", "y"], "xabcd", 0),
    ] {
        let (pieces, stopped) = stream(&tokenizer, &ids, &stop(&stops));
        assert_eq!((pieces.concat().as_str(), stopped), (expected, Some(which)), "{stops:?}");
    }
}

#[test]
fn what_only_began_as_a_stop_string_is_delivered_in_the_end() {
    let tokenizer = byte_level();
    let ids = spelled(&tokenizer, "abcabca");
    let pieces = stream(&tokenizer, &ids, &stop(&["abcabd"])).0;
    assert_eq!(pieces, ["", "", "", "", "", "abc", "", "abca"]);
}

#[test]
fn after_the_end_the_stream_is_as_new_and_after_a_stop_nothing_comes() {
    let tokenizer = sentence_piece(true);
    let hello = tokenizer.id_of("▁hello").unwrap();
    let mut stream = TextStream::new(&tokenizer, stop(&["oh"])).unwrap();
    for _ in 0..2 {
        let mut said = stream.push(hello).unwrap().text.to_owned();
        let piece = stream.push(tokenizer.id_of("hello").unwrap()).unwrap();
        assert_eq!(piece.stopped, Some(0));
        said.push_str(piece.text);
        assert_eq!(said, "hell");
        assert_eq!(stream.push(hello).unwrap().text, "");
        let end = stream.finish();
        assert_eq!((end.text, end.stopped), ("", Some(0)));
    }
}

#[test]
fn only_the_first_space_of_a_text_is_dropped() {
    let tokenizer = sentence_piece(true);
    let space = tokenizer.id_of("▁").unwrap();
    assert_eq!(text(&tokenizer, &[space, space, space], &StreamOptions::default()), "  ");
    assert_eq!(
        text(&tokenizer, &[tokenizer.id_of("<0x20>").unwrap(), space], &StreamOptions::default()),
        " "
    );
}

#[test]
fn a_replacement_character_at_the_end_may_complete_a_stop_string() {
    let tokenizer = byte_level();
    let ids = &spelled(&tokenizer, "aé")[..2];
    let (pieces, stopped) = stream(&tokenizer, ids, &stop(&["a\u{fffd}"]));
    assert_eq!((pieces.concat().as_str(), stopped), ("", Some(0)));
}

#[test]
fn unknown_tokens_and_empty_stop_strings_are_errors() {
    let tokenizer = byte_level();
    let mut stream = TextStream::new(&tokenizer, StreamOptions::default()).unwrap();
    assert!(matches!(stream.push(1_000_000), Err(Error::NoSuchToken { token: 1_000_000, .. })));
    assert!(TextStream::new(&tokenizer, stop(&["a", ""])).is_err());
    assert!(TextStream::new(&tokenizer, stop(&["x".repeat(2 << 20).as_str()])).is_err());
}
