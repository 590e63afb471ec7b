//! `nearside chat`: talk with a language model.

mod command;
mod input;
mod interrupt;

use crate::answer::{self, Output};
use crate::error::{Error, Result};
use crate::text_args::ChatArgs;
use crate::{generate, stdout};
use command::Command;
use input::{Input, Line};
use interrupt::Interrupts;
use nearside_pipeline::language::{Conversation, Finished, Message, Prompt, Request, WhenFull};
use nearside_pipeline::{TextModel, TextSession};
use serde_json::json;
use std::path::Path;

pub(crate) fn chat(args: &ChatArgs) -> Result<()> {
    let model = generate::open(&args.model)?;
    if !model.info().has_chat_template {
        return Err(Error::Usage(
            "the model has no chat template, so it can't be talked with: use `nearside generate`".into(),
        ));
    }
    let request = args.model.request(model.defaults(), WhenFull::Shift)?;
    let session = match &args.load {
        Some(path) => model.open_session(path)?,
        None => model.session(),
    };
    let mut chat = Chat {
        model,
        session,
        request,
        system: args.model.system.clone(),
        system_is_new: args.load.is_some() && args.model.system.is_some(),
        last: None,
        output: Output { json: args.model.json },
        interrupts: Interrupts::listen()?,
    };
    chat.run(Input::open(args.model.json)?)
}

struct Chat {
    model: TextModel,
    session: TextSession,
    /// Without its prompt.
    request: Request,
    system: Option<String>,
    /// Whether the system prompt was changed since the last answer.
    system_is_new: bool,
    last: Option<Finished>,
    output: Output,
    interrupts: Interrupts,
}

impl Chat {
    fn run(&mut self, mut input: Input) -> Result<()> {
        if input.is_terminal() {
            self.say(&format!(
                "{} ({}). Ctrl-C stops an answer, /help shows what else there is, /quit leaves.",
                self.model.info().name,
                self.model.info().variant
            ));
        }
        let mut interrupted = false;
        loop {
            let line = input.read()?;
            let twice = std::mem::replace(&mut interrupted, matches!(line, Line::Interrupted)) && interrupted;
            match line {
                Line::End => return Ok(()),
                Line::Interrupted if twice => return Ok(()),
                Line::Interrupted => self.say("Ctrl-C once more, Ctrl-D or /quit leaves."),
                Line::Text(text) if text.trim().is_empty() => {}
                Line::Text(text) => match Command::read(&text) {
                    Some(Command::Quit) => return Ok(()),
                    Some(command) => self.survive(|chat| chat.carry_out(&command))?,
                    None => self.survive(|chat| chat.answer(command::message(&text)))?,
                },
            }
        }
    }

    /// What fails is told, and the chat goes on, unless nobody reads any more.
    fn survive(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        match work(self) {
            Err(error @ Error::Write(_)) => Err(error),
            Err(error) if self.output.json => {
                stdout::line(&json!({"event": "error", "message": error.to_string(), "hint": error.hint()}))
            }
            Err(error) => {
                error.print();
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn answer(&mut self, text: &str) -> Result<()> {
        let request = Request { prompt: self.prompt(text)?, ..self.request.clone() };
        let generation = self.session.generate(request)?;
        self.interrupts.stop(Some(generation.canceller()));
        let shown = answer::show(generation, self.output);
        self.interrupts.stop(None);
        self.last = Some(shown?);
        self.system_is_new = false;
        Ok(())
    }

    fn prompt(&self, text: &str) -> Result<Prompt> {
        let messages = self.session.messages()?;
        let system = self.system.iter().map(|text| Message::system(text));
        if messages.is_empty() {
            return Ok(Prompt::Turn(system.chain([Message::user(text)]).collect()));
        }
        if !self.system_is_new {
            return Ok(Prompt::Turn(vec![Message::user(text)]));
        }
        let others = messages.into_iter().filter(|message| message.role != "system");
        let messages = system.chain(others).chain([Message::user(text)]).collect();
        Ok(Prompt::Conversation(Conversation { messages, ..Conversation::default() }))
    }

    fn carry_out(&mut self, command: &Command) -> Result<()> {
        match command {
            Command::Save(path) => self.save(path),
            Command::Load(path) => self.load(path),
            Command::Stats => self.stats(),
            Command::Reset => {
                self.session.reset()?;
                self.last = None;
                self.done("reset", "Everything is forgotten.")
            }
            Command::System(text) => {
                self.system = (!text.is_empty()).then(|| text.clone());
                self.system_is_new = true;
                self.done(
                    "system",
                    if text.is_empty() { "No system prompt." } else { "The system prompt is set." },
                )
            }
            Command::Help => self.done("help", command::HELP),
            Command::Wrong(reason) => Err(Error::Usage(reason.clone())),
            Command::Quit => Ok(()),
        }
    }

    fn save(&self, path: &Path) -> Result<()> {
        self.session.save(path)?;
        self.done("saved", &format!("Saved to {}.", path.display()))
    }

    fn load(&mut self, path: &Path) -> Result<()> {
        self.session = self.model.open_session(path)?;
        self.last = None;
        let messages = self.session.messages()?;
        self.done("loaded", &format!("{} messages from {}.", messages.len(), path.display()))
    }

    fn stats(&self) -> Result<()> {
        let Some(last) = &self.last else { return self.done("stats", "There was no answer yet.") };
        if self.output.json {
            return stdout::line(&json!({"event": "stats", "statistics": answer::numbers(&last.statistics)}));
        }
        self.say(answer::text(last).trim_end());
        Ok(())
    }

    fn done(&self, event: &str, said: &str) -> Result<()> {
        if self.output.json {
            return stdout::line(&json!({"event": event, "message": said}));
        }
        self.say(said);
        Ok(())
    }

    /// Says something that is no part of an answer.
    fn say(&self, text: &str) {
        if !self.output.json {
            eprintln!("{text}");
        }
    }
}
