//! The decode loop.

use super::clock::Clock;
use super::prompt::{self, Resolved};
use super::residency;
use super::{Resident, State};
use crate::cancellation::Cancellation;
use crate::constraint::Constraint;
use crate::error::{Error, Result};
use crate::event::{Event, Finished, Reason};
use crate::model::LanguageModel;
use crate::request::{Conversation, Prompt, Request, Speculation};
use crate::sampling::Sampler;
use crate::speculative;
use crate::statistics::Statistics;
use crate::stream::{StreamOptions, TextStream};
use crate::tools::{ToolEvent, ToolParser};
use nearside_runtime::memory;
use std::time::Duration;

/// An answer under way.
pub(super) struct Answer<'a> {
    pub(super) model: &'a mut LanguageModel,
    pub(super) state: &'a mut State,
    own: &'a Resident,
    pub(super) conversation: Option<Conversation>,
    pub(super) request: &'a Request,
    pub(super) cancellation: &'a Cancellation,
    on_event: &'a mut dyn FnMut(Event<'_>),
    sampler: Sampler,
    constraint: Option<Constraint>,
    stream: TextStream,
    tools: Option<ToolParser>,
    clock: Clock,
    pub(super) count: Count,
    /// Guessed tokens that are in the cache behind those of the history, and not yet verified.
    pub(super) ahead: Ahead,
    /// Where the answer begins in the history.
    pub(super) first_token: usize,
    pub(super) first_byte: usize,
    text: String,
    /// When the first and the newest token came.
    tokens_at: Option<(Duration, Duration)>,
    /// Calls and time of the model before this answer.
    work_before: (u64, Duration),
}

#[derive(Debug, Default)]
pub(super) struct Count {
    pub(super) prompt: usize,
    pub(super) reused: usize,
    pub(super) prefilled: usize,
    pub(super) recomputed: usize,
    pub(super) generated: usize,
    pub(super) guessed: usize,
    pub(super) accepted: usize,
    pub(super) prefill: Duration,
}

/// Guesses in the order of their rows of logits: row 0 follows the history's last token, row n the nth guess.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// The row that is sampled from next.
    row: usize,
    rows: usize,
}

impl Ahead {
    pub(super) fn clear(&mut self) {
        *self = Self { row: 0, rows: 1 };
    }
}

impl<'a> Answer<'a> {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn new(
        model: &'a mut LanguageModel,
        own: &'a Resident,
        state: &'a mut State,
        conversation: Option<Conversation>,
        sampler: Option<Sampler>,
        request: &'a Request,
        cancellation: &'a Cancellation,
        on_event: &'a mut dyn FnMut(Event<'_>),
    ) -> Result<Self> {
        let clock = Clock::start();
        match request.speculation {
            Speculation::None => {}
            _ if !model.can_speculate() => {
                return Err(Error::OneRow { program: model.decoder.name().to_owned() });
            }
            Speculation::Draft(_) if model.draft.is_none() => {
                return Err(Error::Draft { reason: "there is none".into() });
            }
            Speculation::Draft(_) | Speculation::PromptLookup(_) => {}
        }
        let sampler = match sampler {
            Some(sampler) => sampler,
            None => Sampler::new(&request.sampling, model.tokenizer.vocab_size())?,
        };
        let constraint = match &request.grammar {
            Some(grammar) => Some(model.grammars()?.compile(grammar)?),
            None => None,
        };
        let tools = model.tool_parser(conversation.as_ref())?;
        let options = StreamOptions {
            stop: request.stop.clone(),
            show_special: request.show_special,
            show: tools.as_ref().map_or_else(Vec::new, |(_, shown)| shown.clone()),
        };
        let stream = TextStream::new(&model.tokenizer, options)?;
        model.scratch.intervals.clear();
        let work_before = model.work();
        Ok(Self {
            model,
            state,
            own,
            conversation,
            request,
            cancellation,
            on_event,
            sampler,
            constraint,
            stream,
            tools: tools.map(|(parser, _)| parser),
            clock,
            count: Count::default(),
            ahead: Ahead::default(),
            first_token: 0,
            first_byte: 0,
            text: String::new(),
            tokens_at: None,
            work_before,
        })
    }

    /// Runs to the end, which has not been told yet.
    pub(super) fn run(mut self) -> Result<(Finished, Sampler, Option<Conversation>)> {
        let reason = match self.begin()? {
            Some(reason) => reason,
            None => self.tokens()?,
        };
        self.end(reason)
    }

    /// The prompt. Gives the reason if nothing can follow it.
    fn begin(&mut self) -> Result<Option<Reason>> {
        if self.cancellation.is_cancelled() {
            return Ok(Some(Reason::Cancelled));
        }
        let Request { prompt, .. } = self.request;
        let resolved = prompt::resolve(self.model, &self.state.history, prompt, self.conversation.as_ref())?;
        let Some(resolved) = self.fitted(resolved)? else { return Ok(Some(Reason::ContextFull)) };
        let continued = matches!(prompt, Prompt::Continue);
        if !continued {
            self.seen_by_sampler(&resolved);
        }
        self.place(&resolved)?;
        self.count.prompt = resolved.len();
        self.count.reused = self.state.cached;
        self.text.reserve(self.room() * 8);
        self.state.history.reserve(self.room());
        self.sampler.reserve(self.room());
        let started = self.clock.now();
        let whole = self.prefill()?;
        self.count.prefill = self.clock.now() - started;
        Ok((!whole).then_some(Reason::Cancelled))
    }

    /// Lets the prompt be the history, and the cache be the session's.
    pub(super) fn place(&mut self, resolved: &Resolved) -> Result<()> {
        let wanted = [&self.state.history.tokens()[..resolved.kept], &resolved.more].concat();
        let usable = residency::take_over(self.model, self.own, self.state, &wanted).inspect_err(|_| {
            self.state.cached = 0;
        })?;
        resolved.become_history(&mut self.state.history);
        self.state.cached = usable;
        self.first_token = self.state.history.tokens().len();
        self.first_byte = self.state.history.text().len();
        Ok(())
    }

    /// Tokens that the answer can have from here on.
    pub(super) fn room(&self) -> usize {
        let context = self.model.facts().context_length.saturating_sub(self.state.history.tokens().len()) + 1;
        context.min(self.left())
    }

    /// Tokens that the answer may still have.
    pub(super) fn left(&self) -> usize {
        self.request.max_new_tokens.map_or(usize::MAX, |most| most.saturating_sub(self.count.generated))
    }

    /// Token by token, until one is the last.
    fn tokens(&mut self) -> Result<Reason> {
        loop {
            if self.left() == 0 {
                return Ok(Reason::MaxTokens);
            }
            let token = self.sample()?;
            if !self.request.ignore_end && self.model.ends.binary_search(&token).is_ok() {
                return Ok(Reason::EndOfSequence(token));
            }
            if let Some(reason) = self.take(token)? {
                return Ok(reason);
            }
            if self.left() == 0 {
                return Ok(Reason::MaxTokens);
            }
            if self.cancellation.is_cancelled() {
                return Ok(Reason::Cancelled);
            }
            if self.ahead.row + 1 < self.ahead.rows && self.model.scratch.guesses[self.ahead.row] == token {
                self.ahead.row += 1;
                self.state.cached += 1;
                self.count.accepted += 1;
                continue;
            }
            if self.state.history.tokens().len() > self.model.facts().context_length && !self.make_room()? {
                return Ok(Reason::ContextFull);
            }
            if !self.step()? {
                return Ok(Reason::Cancelled);
            }
        }
    }

    fn sample(&mut self) -> Result<u32> {
        let vocabulary = self.model.facts().vocab_size;
        let start = self.ahead.row * vocabulary;
        // Logits beyond the tokenizer's tokens are padding.
        let logits = &mut self.model.scratch.rows[start..start + self.model.tokenizer.vocab_size()];
        let mask = self.constraint.as_mut().map(Constraint::mask).transpose()?;
        self.sampler.sample(logits, mask)
    }

    /// Takes a token into the answer and tells of it. Gives the reason if it is the last.
    fn take(&mut self, token: u32) -> Result<Option<Reason>> {
        self.sampler.accept(token);
        let mut reason = None;
        if let Some(constraint) = &mut self.constraint {
            constraint.accept(token)?;
            reason = constraint.is_complete().then_some(Reason::GrammarEnd);
        }
        self.state.history.push(token, self.model.tokenizer.token_bytes(token).unwrap_or_default());
        self.count.generated += 1;
        let now = self.clock.now();
        match &mut self.tokens_at {
            None => self.tokens_at = Some((now, now)),
            Some((_, newest)) => {
                self.model.scratch.intervals.record(now - *newest);
                *newest = now;
            }
        }
        let piece = self.stream.push(token)?;
        self.text.push_str(piece.text);
        if let Some(index) = piece.stopped {
            reason = Some(Reason::StopString(index));
        }
        let (on_event, text) = (&mut *self.on_event, piece.text);
        self.clock.waiting(|| on_event(Event::Token { id: Some(token), text }));
        Ok(reason)
    }

    /// Computes the newest token, and guesses behind it if there are some. False if it was cancelled.
    fn step(&mut self) -> Result<bool> {
        let position = self.state.history.tokens().len() - 1;
        if self.state.cached < position {
            return self.prefill_again();
        }
        // Guesses that were wrong are written over.
        self.state.cached = position;
        let token = self.state.history.tokens()[position];
        self.guess(position)?;
        let LanguageModel { decoder, scratch, .. } = &mut *self.model;
        let guesses = scratch.guesses.len();
        self.state.written.note(position, position + 1 + guesses);
        let logits = if guesses == 0 {
            decoder.run(&[token], position)?
        } else {
            scratch.call.clear();
            scratch.call.push(token);
            scratch.call.extend_from_slice(&scratch.guesses);
            decoder.run_rows(&scratch.call, position)?
        };
        scratch.rows.clear();
        scratch.rows.extend_from_slice(logits);
        self.state.cached = position + 1;
        self.ahead = Ahead { row: 0, rows: 1 + guesses };
        self.count.guessed += guesses;
        Ok(true)
    }

    /// After the conversation was shortened: the whole history that the cache lacks.
    fn prefill_again(&mut self) -> Result<bool> {
        let before = self.count.prefilled;
        let whole = self.prefill();
        self.count.recomputed += self.count.prefilled - before;
        self.count.prefilled = before;
        whole
    }

    fn guess(&mut self, position: usize) -> Result<()> {
        self.model.scratch.guesses.clear();
        if self.request.speculation == Speculation::None {
            return Ok(());
        }
        let facts = self.model.decoder.facts();
        // What is guessed wrong is taken back, which a ring allows for so many positions.
        let ring = facts.sliding.and_then(|sliding| Some(sliding.slots?.saturating_sub(sliding.window)));
        let most = self.model.decoder.most_rows().unwrap_or(1) - 1;
        let most = most
            .min(facts.context_length - position - 1)
            .min(self.left().saturating_sub(1))
            .min(ring.unwrap_or(usize::MAX));
        let LanguageModel { draft, scratch, .. } = &mut *self.model;
        let tokens = self.state.history.tokens();
        speculative::guess(self.request.speculation, draft.as_mut(), tokens, most, &mut scratch.guesses)
    }

    pub(super) fn tell(&mut self, event: Event<'_>) {
        let on_event = &mut *self.on_event;
        self.clock.waiting(|| on_event(event));
    }

    /// What is left to tell, but for the end itself.
    fn end(mut self, reason: Reason) -> Result<(Finished, Sampler, Option<Conversation>)> {
        if !matches!(reason, Reason::StopString(_)) {
            let rest = self.stream.finish().text;
            if !rest.is_empty() {
                self.text.push_str(rest);
                let on_event = &mut *self.on_event;
                self.clock.waiting(|| on_event(Event::Token { id: None, text: rest }));
            }
        } else {
            // The tokens of the stop string are no part of the conversation.
            self.state.history.take_back(self.first_token, self.first_byte + self.text.len());
        }
        self.state.cached = self.state.cached.min(self.state.history.tokens().len());
        self.tell_tool_calls();
        let statistics = self.statistics();
        Ok((Finished { reason, text: self.text, statistics }, self.sampler, self.conversation))
    }

    fn tell_tool_calls(&mut self) {
        let Some(mut tools) = self.tools.take() else { return };
        let mut events = tools.push(&self.text);
        events.extend(tools.finish());
        for event in events {
            if let ToolEvent::Call(call) = event {
                self.tell(Event::ToolCall(&call));
            }
        }
    }

    fn statistics(&self) -> Statistics {
        let (calls, busy) = self.model.work();
        let busy = busy.saturating_sub(self.work_before.1);
        let (first, last) = self.tokens_at.unzip();
        Statistics {
            load: self.model.load,
            time_to_first_token: first,
            prompt_tokens: self.count.prompt,
            reused_tokens: self.count.reused,
            prefilled_tokens: self.count.prefilled,
            prefill: self.count.prefill,
            generated_tokens: self.count.generated,
            decode: last.zip(first).map_or(Duration::ZERO, |(last, first)| last - first),
            between_tokens: self.model.scratch.intervals.percentiles(),
            guessed_tokens: self.count.guessed,
            accepted_tokens: self.count.accepted,
            recomputed_tokens: self.count.recomputed,
            model_calls: calls - self.work_before.0,
            model: busy,
            own: self.clock.now().saturating_sub(busy),
            waited: self.clock.waited(),
            resident: memory::resident(),
            thermal: self.model.thermal,
        }
    }

    /// The tokens before the answer count for the sampler's penalties.
    fn seen_by_sampler(&mut self, resolved: &Resolved) {
        self.sampler.accept_prompt(&self.state.history.tokens()[..resolved.kept]);
        self.sampler.accept_prompt(&resolved.more);
    }
}
