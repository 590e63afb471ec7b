//! `nearside generate`: continue a text, or answer a question.

use crate::answer::{self, Output};
use crate::error::{Error, Result};
use crate::text_args::{GenerateArgs, read_text};
use nearside_pipeline::TextModel;
use nearside_pipeline::language::{Conversation, Message, Prompt, Request, WhenFull};
use std::io::Read;

pub(crate) fn generate(args: &GenerateArgs) -> Result<()> {
    let model = open(&args.model)?;
    let request =
        Request { prompt: prompt(args, &model)?, ..args.model.request(model.defaults(), WhenFull::Stop)? };
    let output = Output { json: args.model.json };
    let finished = answer::show(model.generate(request)?, output)?;
    if args.stats && !args.model.json {
        answer::statistics(&finished);
    }
    Ok(())
}

/// Opens the model that a command line names.
pub(crate) fn open(args: &crate::text_args::TextModelArgs) -> Result<TextModel> {
    let options = args.options()?;
    Ok(match &args.draft {
        Some(draft) => TextModel::open_with_draft(&args.package, draft, options)?,
        None => TextModel::open(&args.package, options)?,
    })
}

fn prompt(args: &GenerateArgs, model: &TextModel) -> Result<Prompt> {
    let text = text(args)?;
    if args.raw || !model.info().has_chat_template {
        if args.model.system.is_some() {
            return Err(Error::Usage("the model has no chat template: --system can't be given".into()));
        }
        return Ok(Prompt::Text(text));
    }
    let system = args.model.system.iter().map(|text| Message::system(text));
    let messages = system.chain([Message::user(&text)]).collect();
    Ok(Prompt::Conversation(Conversation { messages, ..Conversation::default() }))
}

fn text(args: &GenerateArgs) -> Result<String> {
    if let Some(path) = &args.file {
        return read_text(path);
    }
    if !args.prompt.is_empty() && args.prompt != ["-"] {
        return Ok(args.prompt.join(" "));
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().read_to_string(&mut text);
    read.map_err(|source| Error::Read { path: "stdin".into(), source })?;
    Ok(text)
}
