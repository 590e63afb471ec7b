//! Tokens to text, as they come.

use super::stop::{START, StopStrings};
use crate::tokenizer::Tokenizer;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What of the text is shown, and what ends it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StreamOptions {
    /// Strings that end the text; they are not part of it.
    pub stop: Vec<String>,
    /// Whether special tokens, such as `<|im_end|>`, are part of the text.
    pub show_special: bool,
    /// Single special tokens that are part of the text all the same, such as those that begin a tool call.
    pub show: Vec<u32>,
}

/// What a token added to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Whole characters; often none, as what may become a stop string or a character is held back.
    pub text: &'a str,
    /// The stop string that ended the text, by its place in [`StreamOptions::stop`].
    pub stopped: Option<usize>,
}

/// Turns tokens into text that can be shown at once.
///
/// - A character whose bytes are spread over tokens comes when it is whole. Bytes that are none become U+FFFD, as with
///   [`String::from_utf8_lossy`] on the bytes of all tokens; an unfinished character at the end does too.
/// - A stop string ends the text: the first one to be completed, and of several that are completed by the same byte the
///   longest. How the text was split into tokens makes no difference. No part of it is delivered; what is held back is
///   the longest end of the text that begins a stop string.
/// - Special tokens are hidden unless asked for, and hidden ones in the midst of a stop string don't save the text from
///   it. A stop string with the whole text of a special token in it is also looked for with hidden tokens in their
///   places: `<|im_end|>` stops where that token comes, though nobody would have seen it, and of `word<|im_end|>` no part
///   is delivered.
/// - Tokenizers of the SentencePiece kind put a space in front of a text. That one is dropped.
///
/// All together is what [`Tokenizer::decode`] gives for all tokens, up to the stop string. Once warm, nothing is
/// allocated. A clone goes on by itself: for forks.
#[derive(Debug, Clone)]
pub struct TextStream {
    tokenizer: Tokenizer,
    show_special: bool,
    show: Arc<[u32]>,
    stops: Arc<StopStrings>,
    /// Bytes of a character that is not whole yet, and of the token in hand.
    bytes: Vec<u8>,
    /// Text that may become part of a stop string.
    held: String,
    /// What was delivered last.
    text: String,
    /// Bytes of text so far, delivered or held.
    length: u64,
    visible: u32,
    hidden: Option<WithHidden>,
    begun: bool,
    stopped: Option<usize>,
}

/// The search through the text with its hidden tokens.
#[derive(Debug, Clone)]
struct WithHidden {
    stops: Arc<StopStrings>,
    /// Which of the stream's stop strings each of these is.
    places: Arc<[usize]>,
    state: u32,
    position: usize,
    /// How long the visible text was before each of the last bytes; a ring.
    lengths: Vec<u64>,
}

impl TextStream {
    /// For the tokens of `tokenizer`.
    ///
    /// # Errors
    /// [`Error::Options`] if a stop string is empty, or all together have more than 1 MiB.
    pub fn new(tokenizer: &Tokenizer, options: StreamOptions) -> Result<Self> {
        let StreamOptions { stop, show_special, show } = options;
        let stops = StopStrings::new(&stop)?;
        let hidden = if show_special { None } else { WithHidden::new(tokenizer, &stop)? };
        Ok(Self {
            tokenizer: tokenizer.clone(),
            show_special,
            show: show.into(),
            stops: Arc::new(stops),
            bytes: Vec::with_capacity(256),
            held: String::with_capacity(256),
            text: String::with_capacity(256),
            length: 0,
            visible: START,
            hidden,
            begun: false,
            stopped: None,
        })
    }

    /// Adds a token. After a stop string nothing is added any more.
    ///
    /// # Errors
    /// [`Error::NoSuchToken`] if the tokenizer has no such token; the stream stays as it was.
    pub fn push(&mut self, token: u32) -> Result<Piece<'_>> {
        self.text.clear();
        let tokenizer = self.tokenizer.clone();
        let Some(added) = tokenizer.token_bytes(token) else {
            return Err(Error::NoSuchToken { token, vocabulary: tokenizer.vocab_size() });
        };
        if self.stopped.is_none() {
            if tokenizer.is_special(token) && !self.show_special && !self.show.contains(&token) {
                self.hide(added);
            } else {
                self.bytes.extend_from_slice(added);
                self.decode();
            }
        }
        self.release();
        Ok(Piece { text: &self.text, stopped: self.stopped })
    }

    /// The rest, held back until now: an unfinished character as U+FFFD, the beginning of a stop string. Then the stream
    /// is as new, for another text.
    pub fn finish(&mut self) -> Piece<'_> {
        self.text.clear();
        let unfinished = !self.bytes.is_empty();
        self.bytes.clear();
        if unfinished && self.stopped.is_none() {
            self.add("\u{fffd}");
        }
        self.text.push_str(&self.held);
        self.held.clear();
        self.length = 0;
        self.visible = START;
        self.begun = false;
        if let Some(hidden) = &mut self.hidden {
            hidden.state = START;
            hidden.position = 0;
        }
        Piece { text: &self.text, stopped: self.stopped.take() }
    }

    /// Adds what is whole of the bytes in hand.
    fn decode(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        let mut done = 0;
        while done < bytes.len() && self.stopped.is_none() {
            match std::str::from_utf8(&bytes[done..]) {
                Ok(text) => {
                    self.add(text);
                    done = bytes.len();
                }
                Err(error) => {
                    let valid = error.valid_up_to();
                    self.add(std::str::from_utf8(&bytes[done..done + valid]).unwrap_or_default());
                    done += valid;
                    let Some(invalid) = error.error_len() else { break };
                    self.add("\u{fffd}");
                    done += invalid;
                }
            }
        }
        bytes.drain(..done);
        self.bytes = bytes;
    }

    /// Adds visible text, up to a stop string.
    fn add(&mut self, text: &str) {
        let first = !self.begun && self.tokenizer.strips_leading_space();
        self.begun |= !text.is_empty();
        let text = text.strip_prefix(' ').filter(|_| first).unwrap_or(text);
        for (at, byte) in text.bytes().enumerate() {
            if self.stopped.is_some() {
                return;
            }
            self.visible = self.stops.step(self.visible, byte);
            let in_visible = self
                .stops
                .found(self.visible)
                .map(|stop| (self.length + 1 - self.stops.length(stop) as u64, stop));
            let in_all = self.hidden.as_mut().and_then(|hidden| hidden.step(byte, self.length));
            self.length += 1;
            if let Some((start, stop)) = in_visible.into_iter().chain(in_all).min() {
                self.held.push_str(&text[..=at]);
                self.stop_at(start, stop);
                return;
            }
        }
        self.held.push_str(text);
    }

    /// Follows a hidden token.
    fn hide(&mut self, special: &[u8]) {
        let Some(hidden) = &mut self.hidden else { return };
        for &byte in special {
            if let Some((start, stop)) = hidden.step(byte, self.length) {
                self.stop_at(start, stop);
                return;
            }
        }
    }

    /// Ends the text where it had `length` bytes; all of them are delivered or held.
    fn stop_at(&mut self, length: u64, stop: usize) {
        let first_held = self.length - self.held.len() as u64;
        self.held.truncate((length - first_held) as usize);
        self.length = length;
        self.stopped = Some(stop);
    }

    /// Delivers what can't be part of a stop string.
    fn release(&mut self) {
        let kept = match self.stopped {
            Some(_) => 0,
            None => {
                let visible = self.stops.held(self.visible);
                let all = self.hidden.as_ref().map_or(0, |hidden| hidden.held(self.length));
                visible.max(all)
            }
        };
        let released = self.held.len() - kept;
        self.text.push_str(&self.held[..released]);
        self.held.drain(..released);
    }
}

impl WithHidden {
    /// For those of `stop` that have a special token's text in them; `None` if there is none.
    fn new(tokenizer: &Tokenizer, stop: &[String]) -> Result<Option<Self>> {
        if stop.is_empty() {
            return Ok(None);
        }
        let specials: Vec<&[u8]> = (0..tokenizer.vocab_size() as u32)
            .filter(|&id| tokenizer.is_special(id))
            .filter_map(|id| tokenizer.token_bytes(id))
            .filter(|text| !text.is_empty())
            .collect();
        let names_special = |stop: &String| {
            let mut specials = specials.iter();
            specials.any(|special| stop.as_bytes().windows(special.len()).any(|window| window == *special))
        };
        let (places, stop): (Vec<usize>, Vec<String>) =
            stop.iter().cloned().enumerate().filter(|(_, stop)| names_special(stop)).unzip();
        if stop.is_empty() {
            return Ok(None);
        }
        let stops = StopStrings::new(&stop)?;
        let lengths = vec![0; stops.longest()];
        Ok(Some(Self { stops: Arc::new(stops), places: places.into(), state: START, position: 0, lengths }))
    }

    /// Takes a byte, before which the visible text had `length` bytes. Gives how long it was where a stop string that is
    /// now complete began, and which that is.
    fn step(&mut self, byte: u8, length: u64) -> Option<(u64, usize)> {
        let slots = self.lengths.len();
        self.lengths[self.position % slots] = length;
        self.position += 1;
        self.state = self.stops.step(self.state, byte);
        let found = self.stops.found(self.state)?;
        Some((self.length_before(self.stops.length(found)), self.places[found]))
    }

    /// Length of the visible text before the last `bytes`.
    fn length_before(&self, bytes: usize) -> u64 {
        self.lengths[(self.position - bytes) % self.lengths.len()]
    }

    /// Visible bytes that belong to what may yet become a stop string.
    fn held(&self, length: u64) -> usize {
        match self.stops.held(self.state) {
            0 => 0,
            bytes => (length - self.length_before(bytes)) as usize,
        }
    }
}
