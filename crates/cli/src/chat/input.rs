//! Lines from a terminal, with editing and history, or from a pipe.

use crate::error::{Error, Result};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::io::{BufRead, IsTerminal};

/// Where lines come from.
pub(super) enum Input {
    Terminal(Box<DefaultEditor>),
    Pipe,
}

/// What came.
pub(super) enum Line {
    Text(String),
    /// Ctrl-C, for the first time.
    Interrupted,
    End,
}

impl Input {
    pub(super) fn open(json: bool) -> Result<Self> {
        if json || !std::io::stdin().is_terminal() {
            return Ok(Self::Pipe);
        }
        Ok(Self::Terminal(Box::new(DefaultEditor::new().map_err(failed)?)))
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// A line, or several that are joined by `\` at their ends.
    pub(super) fn read(&mut self) -> Result<Line> {
        let mut text = String::new();
        loop {
            let line = match self.line(text.is_empty())? {
                Line::Text(line) => line,
                Line::End if !text.is_empty() => return Ok(Line::Text(text)),
                other => return Ok(other),
            };
            let (line, goes_on) = line.strip_suffix('\\').map_or((&*line, false), |line| (line, true));
            text += line;
            if !goes_on {
                return Ok(Line::Text(text));
            }
            text.push('\n');
        }
    }

    fn line(&mut self, first: bool) -> Result<Line> {
        let Self::Terminal(editor) = self else { return piped() };
        let prompt = if first { "> " } else { ". " };
        match editor.readline(prompt) {
            Ok(line) => {
                let _ = editor.add_history_entry(&line);
                Ok(Line::Text(line))
            }
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(error) => Err(failed(error)),
        }
    }
}

fn piped() -> Result<Line> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    if read.map_err(|source| Error::Read { path: "stdin".into(), source })? == 0 {
        return Ok(Line::End);
    }
    Ok(Line::Text(line.trim_end_matches(['\n', '\r']).to_owned()))
}

fn failed(error: ReadlineError) -> Error {
    Error::Read { path: "the terminal".into(), source: std::io::Error::other(error) }
}
