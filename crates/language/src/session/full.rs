//! The context is full: the end, or the oldest turns make room.

use super::answer::Answer;
use super::prompt::{self, Resolved};
use crate::error::Result;
use crate::event::{ContextFull, Dropped, Event};
use crate::request::{Conversation, WhenFull};
use crate::template::Message;

const SYSTEM: &str = "system";
const USER: &str = "user";

impl Answer<'_> {
    /// The prompt as it fits into the context, with room for an answer; `None` if it can't.
    pub(super) fn fitted(&mut self, resolved: Resolved) -> Result<Option<Resolved>> {
        let context = self.model.facts().context_length;
        if resolved.len() <= context {
            return Ok(Some(resolved));
        }
        let tokens = resolved.len();
        let shortened = match (self.request.when_full, self.conversation.take()) {
            (WhenFull::Stop, conversation) => {
                self.conversation = conversation;
                None
            }
            (WhenFull::Shift, Some(conversation)) => self.without_oldest(conversation, 0)?,
            (WhenFull::Shift, None) => Some((self.without_half(&resolved), 0)),
        };
        let dropped = shortened
            .as_ref()
            .map(|(shorter, messages)| Dropped { messages: *messages, tokens: tokens - shorter.len() });
        self.tell(Event::ContextFull(ContextFull { tokens, context_length: context, dropped }));
        Ok(shortened.map(|(shorter, _)| shorter))
    }

    /// Makes room for more of the answer. False if it can't.
    pub(super) fn make_room(&mut self) -> Result<bool> {
        let context = self.model.facts().context_length;
        let tokens = self.state.history.tokens().len();
        let made = match (self.request.when_full, self.conversation.take()) {
            (WhenFull::Stop, conversation) => {
                self.conversation = conversation;
                None
            }
            (WhenFull::Shift, Some(conversation)) => self.drop_turns(conversation)?,
            (WhenFull::Shift, None) => Some(self.drop_half()),
        };
        self.tell(Event::ContextFull(ContextFull { tokens, context_length: context, dropped: made }));
        Ok(made.is_some())
    }

    /// Drops whole turns from the prompt of the answer under way.
    fn drop_turns(&mut self, conversation: Conversation) -> Result<Option<Dropped>> {
        let before = self.state.history.tokens().len();
        let answer = before - self.first_token;
        let Some((shorter, messages)) = self.without_oldest(conversation, answer)? else { return Ok(None) };
        let history = &mut self.state.history;
        let prompt = [&history.tokens()[..shorter.kept], &shorter.more].concat();
        let text = shorter.text.as_deref().unwrap_or_default();
        history.transplant(&prompt, text, self.first_token, self.first_byte);
        self.cut_at(shorter.kept);
        (self.first_token, self.first_byte) = (prompt.len(), text.len());
        Ok(Some(Dropped { messages, tokens: before - self.state.history.tokens().len() }))
    }

    /// Drops the older half of the tokens, but for the one that begins the text.
    fn drop_half(&mut self) -> Dropped {
        let tokens = self.state.history.tokens();
        let kept = self.begins(tokens);
        let first = kept + (tokens.len() - kept) / 2;
        let begin = tokens[..kept].to_vec();
        let dropped = Dropped { messages: 0, tokens: first - kept };
        // What stands before the answer stays without its text, which is not known token by token.
        let from_prompt = tokens.get(first..self.first_token).unwrap_or_default();
        let prompt = [&begin[..], from_prompt].concat();
        let cut = first.max(self.first_token);
        let ends = self.state.history.ends();
        let byte = match ends.iter().rev().find(|end| end.tokens <= cut) {
            Some(end) if cut > self.first_token => end.bytes,
            _ => self.first_byte,
        };
        self.state.history.transplant(&prompt, "", cut, byte);
        self.cut_at(kept);
        (self.first_token, self.first_byte) = (prompt.len(), 0);
        dropped
    }

    /// The cache holds the first `kept` tokens, and then others than the history.
    fn cut_at(&mut self, kept: usize) {
        let sliding = self.model.facts().sliding;
        self.state.cached = self.state.written.usable(kept.min(self.state.cached), sliding);
        self.ahead.clear();
    }

    /// The conversation without its oldest turns, so that its tokens, `more` and the answer that is still to come have room.
    /// Gives its tokens and how many messages were dropped; `None` if even the last turn has no room.
    fn without_oldest(
        &mut self,
        conversation: Conversation,
        more: usize,
    ) -> Result<Option<(Resolved, usize)>> {
        let context = self.model.facts().context_length;
        let wanted = self.left().min(context / 4).max(1);
        let (mut shorter, mut dropped) = (conversation.clone(), 0);
        while let Some(turn) = oldest_turn(&shorter.messages) {
            dropped += turn.len();
            shorter.messages.drain(turn);
            let text = prompt::written(self.model, &shorter)?;
            let resolved = prompt::of_text(self.model, &self.state.history, text)?;
            if resolved.len() + more + wanted <= context + 1 {
                self.conversation = Some(shorter);
                return Ok(Some((resolved, dropped)));
            }
        }
        self.conversation = Some(conversation);
        Ok(None)
    }

    fn without_half(&self, resolved: &Resolved) -> Resolved {
        let context = self.model.facts().context_length;
        let tokens = [&self.state.history.tokens()[..resolved.kept], &resolved.more].concat();
        let kept = self.begins(&tokens);
        let room = (context - kept.min(context)).div_ceil(2);
        let more = [&tokens[..kept], &tokens[tokens.len() - room.min(tokens.len() - kept)..]].concat();
        Resolved { kept: 0, more, text: None }
    }

    /// 1 if the tokens begin with the begin-of-sequence token.
    fn begins(&self, tokens: &[u32]) -> usize {
        let bos = self.model.facts().bos_id;
        usize::from(bos.is_some() && tokens.first().copied() == bos)
    }
}

/// Where the oldest turn is: a message of the user and what follows it up to the next one. Not the last turn, and no system
/// prompt.
fn oldest_turn(messages: &[Message]) -> Option<std::ops::Range<usize>> {
    let first = messages.iter().position(|message| message.role != SYSTEM)?;
    let next = messages[first + 1..].iter().position(|message| message.role == USER)? + first + 1;
    Some(first..next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(roles: &[&str]) -> Vec<Message> {
        roles.iter().map(|role| Message::new(role, "text")).collect()
    }

    #[test]
    fn the_oldest_turn_goes_from_one_message_of_the_user_to_the_next() {
        let long =
            messages(&["system", "user", "assistant", "tool", "assistant", "user", "assistant", "user"]);
        assert_eq!(oldest_turn(&long), Some(1..5));
        assert_eq!(oldest_turn(&messages(&["user", "assistant", "user"])), Some(0..2));
    }

    #[test]
    fn the_last_turn_stays() {
        assert_eq!(oldest_turn(&messages(&["system", "user"])), None);
        assert_eq!(oldest_turn(&messages(&["user", "assistant"])), None);
        assert_eq!(oldest_turn(&messages(&["system"])), None);
        assert_eq!(oldest_turn(&[]), None);
    }
}
