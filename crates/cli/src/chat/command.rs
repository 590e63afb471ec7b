//! Lines that begin with `/`.

use std::path::PathBuf;

pub(super) const HELP: &str = "\
/save FILE    write this conversation to a file
/load FILE    go on with a conversation from a file
/system TEXT  change the system prompt; without a text, there is none
/stats        what the last answer took
/reset        forget everything
/quit         leave; so do Ctrl-D, and Ctrl-C twice
A line that ends with \\ goes on in the next one; // begins a message with /.";

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    Save(PathBuf),
    Load(PathBuf),
    Stats,
    Reset,
    System(String),
    Help,
    Quit,
    /// What is wrong with it.
    Wrong(String),
}

impl Command {
    /// `None` for a message.
    pub(super) fn read(line: &str) -> Option<Self> {
        let command = line.trim().strip_prefix('/').filter(|rest| !rest.starts_with('/'))?;
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        let file = |command: fn(PathBuf) -> Self| match rest {
            "" => Self::Wrong(format!("/{name} needs a file")),
            path => command(path.into()),
        };
        let alone = |command: Self| match rest {
            "" => command,
            _ => Self::Wrong(format!("/{name} takes nothing else")),
        };
        Some(match name {
            "save" => file(Self::Save),
            "load" => file(Self::Load),
            "stats" => alone(Self::Stats),
            "reset" => alone(Self::Reset),
            "help" | "?" => alone(Self::Help),
            "quit" | "exit" | "bye" => alone(Self::Quit),
            "system" => Self::System(rest.to_owned()),
            _ => Self::Wrong(format!("there is no /{name}; /help shows what there is")),
        })
    }
}

/// A message without the `/` that keeps it from being a command.
pub(super) fn message(line: &str) -> &str {
    match line.strip_prefix("//") {
        Some(_) => &line[1..],
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_messages() {
        assert_eq!(Command::read("/save a b.session"), Some(Command::Save("a b.session".into())));
        assert_eq!(Command::read("  /stats "), Some(Command::Stats));
        assert_eq!(Command::read("/system Be short."), Some(Command::System("Be short.".into())));
        assert_eq!(Command::read("What is 1/2?"), None);
        assert_eq!(Command::read("//comment"), None);
        assert_eq!(message("//comment"), "/comment");
        assert_eq!(message("plain"), "plain");
    }

    #[test]
    fn what_is_wrong_with_a_command_is_said() {
        for (line, said) in [
            ("/load", "needs a file"),
            ("/reset now", "takes nothing else"),
            ("/dance", "there is no /dance"),
        ] {
            let Some(Command::Wrong(reason)) = Command::read(line) else { panic!("{line}") };
            assert!(reason.contains(said), "{reason}");
        }
    }
}
