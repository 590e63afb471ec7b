//! Chat templates: a conversation as the text that a model was trained on.

mod date;
mod functions;
mod json;
mod message;
mod methods;
mod python;
mod source;

pub use message::{Message, Tool};

use crate::error::{Error, Result};
use crate::tokenizer::{EncodeOptions, Tokenizer};
use chrono::NaiveDateTime;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, ErrorKind, Value};
use std::fmt;
use std::sync::Arc;

/// Real templates have a few thousand bytes, the longest some 20 000.
const MOST_SOURCE_BYTES: usize = 1 << 20;

/// What carrying out a template may cost beside what its messages give reason for: an instruction or 64 bytes each.
const FUEL: u64 = 1 << 18;

/// Nesting of blocks and macros while a template is carried out; a macro counts about 10.
const DEEPEST_CALLS: usize = 150;

/// Reserved, not used: only a hostile template needs it.
const STACK_BYTES: usize = 256 << 20;

/// The name of the template in errors.
const NAME: &str = "chat_template";

/// A chat template in Jinja's language, as model folders and GGUF files have it. Cheap to clone.
///
/// It renders what `transformers.apply_chat_template(…, tokenize=False)` does. A template comes with a model from
/// anywhere: one that never ends or fills the memory is stopped with an error.
///
/// ```
/// # use nearside_language::{ChatTemplate, Message, RenderOptions, SpecialTokens};
/// let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}{% endfor %}";
/// let template = ChatTemplate::new(source, SpecialTokens { eos: Some("</s>".into()), ..Default::default() })?;
/// let text = template.render(&[Message::user("Hello")], &[], &RenderOptions::default())?;
/// assert_eq!(text, "<|user|>Hello</s>");
/// # Ok::<(), nearside_language::Error>(())
/// ```
#[derive(Clone)]
pub struct ChatTemplate {
    source: Arc<str>,
    specials: Arc<SpecialTokens>,
}

/// The special tokens that templates know by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpecialTokens {
    /// `bos_token`, with which a text begins.
    pub bos: Option<String>,
    /// `eos_token`, with which it ends.
    pub eos: Option<String>,
    /// Others, such as `pad_token`, with their names.
    pub other: Vec<(String, String)>,
}

/// How messages are rendered.
#[derive(Debug, Clone, Default)]
pub struct RenderOptions {
    /// Whether the text ends with what the assistant's turn begins with, so that the model goes on as it.
    pub add_generation_prompt: bool,
    /// The date that the template is told; the clock's by default.
    pub now: Option<NaiveDateTime>,
    /// Variables of the template, such as `enable_thinking` of Qwen3 and `date_string` of Llama 3.
    pub variables: serde_json::Map<String, serde_json::Value>,
}

impl ChatTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// [`Error::Template`] with the line if it is not one.
    pub fn new(source: &str, specials: SpecialTokens) -> Result<Self> {
        if source.len() > MOST_SOURCE_BYTES {
            let reason = format!("it has {} bytes, of {MOST_SOURCE_BYTES} at most", source.len());
            return Err(Error::Template { reason });
        }
        let source = source::prepared(source);
        environment(0, None).template_from_named_str(NAME, &source).map_err(|error| failed(&error))?;
        Ok(Self { source: source.into(), specials: Arc::new(specials) })
    }

    /// Its source in Jinja, as it is carried out.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The text of `messages`, which may call `tools`.
    ///
    /// # Errors
    /// [`Error::TemplateRefuses`] if the template does not take such messages and says so; [`Error::Template`] if it
    /// fails, needs a field that they lack, or does not end.
    pub fn render(&self, messages: &[Message], tools: &[Tool], options: &RenderOptions) -> Result<String> {
        let prepared: Vec<_> = messages.iter().map(Message::prepared).collect();
        let bytes = size(&prepared) + size(tools) + size(&options.variables);
        let fuel = FUEL + 4096 * messages.len() as u64 + 8 * bytes as u64;
        let tools = if tools.is_empty() { Value::from(()) } else { Value::from(Serde(tools)) };
        let specials = &self.specials;
        let named = [("bos_token", &specials.bos), ("eos_token", &specials.eos)];
        let named = named.into_iter().filter_map(|(name, token)| Some((name.to_owned(), token.clone()?)));
        // Later ones replace earlier ones.
        let context = named
            .chain(specials.other.iter().cloned())
            .map(|(name, token)| (name, Value::from(token)))
            .chain(options.variables.iter().map(|(name, value)| (name.clone(), Value::from(Serde(value)))))
            .chain([
                ("messages".to_owned(), Value::from(Serde(&prepared))),
                ("tools".to_owned(), tools),
                ("documents".to_owned(), Value::from(())),
                ("add_generation_prompt".to_owned(), Value::from(options.add_generation_prompt)),
            ]);
        let context: Vec<(String, Value)> = context.collect();
        // A template can nest a list as deep as its fuel lasts, and dropping it takes stack for every level.
        std::thread::scope(|scope| {
            let carry_out = || {
                let environment = environment(fuel, options.now);
                let template = environment.template_from_named_str(NAME, &self.source)?;
                template.render(Value::from_pairs(context))
            };
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, carry_out);
            let thread =
                thread.map_err(|error| Error::Template { reason: format!("no thread for it: {error}") })?;
            let rendered =
                thread.join().map_err(|_| Error::Template { reason: "it broke off".to_owned() })?;
            rendered.map_err(|error| failed(&error))
        })
    }

    /// The tokens with which the template ends an assistant's turn: generation stops there. Empty if it ends with
    /// none.
    pub fn end_of_turn(&self, tokenizer: &Tokenizer) -> Vec<u32> {
        // Not a text that a template would change or a model have in its vocabulary.
        const ANSWER: &str = "nearside answer";
        let plain = [Message::user("a"), Message::assistant(ANSWER)];
        let arguments = serde_json::json!({ANSWER: ANSWER});
        let calls = [Message::user("a"), Message::assistant("").calling("f", &arguments)];
        let mut ids = Vec::new();
        for messages in [plain.as_slice(), calls.as_slice()] {
            let Ok(text) = self.render(messages, &[], &RenderOptions::default()) else { continue };
            let Some((_, after)) = text.rsplit_once(ANSWER) else { continue };
            let parsed = EncodeOptions { add_special: false, parse_special: true };
            let tokens = tokenizer.encode(after, parsed).unwrap_or_default();
            let end = tokens.into_iter().find(|&id| tokenizer.is_special(id));
            ids.extend(end.filter(|end| !ids.contains(end)));
        }
        ids
    }
}

impl fmt::Debug for ChatTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatTemplate").field("specials", &self.specials).finish_non_exhaustive()
    }
}

/// Where a template is carried out.
fn environment(fuel: u64, now: Option<NaiveDateTime>) -> Environment<'static> {
    let mut environment = Environment::new();
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        environment.set_syntax(syntax);
    }
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_debug(false);
    environment.set_fuel(Some(fuel));
    environment.set_recursion_limit(DEEPEST_CALLS);
    functions::add(&mut environment);
    environment.add_function("strftime_now", move |format: &str| {
        date::strftime(now.unwrap_or_else(|| chrono::Local::now().naive_local()), format)
    });
    environment
}

fn size(value: &(impl serde::Serialize + ?Sized)) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

fn failed(error: &minijinja::Error) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(one) = cause {
        if let Some(raised) = one.downcast_ref::<functions::Raised>() {
            return Error::TemplateRefuses { message: raised.0.clone() };
        }
        cause = one.source();
    }
    if error.kind() == ErrorKind::OutOfFuel {
        let line = error.line().map_or(String::new(), |line| format!(" (in line {line})"));
        return Error::Template { reason: format!("it does too much work for these messages{line}") };
    }
    Error::Template { reason: error.to_string() }
}
