//! What clap finds wrong, in our one line.

use super::command::Command;
use super::value::BadValue;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use memgauge_model::Refusal;
use std::error::Error as _;

/// The line for a call that can't be read.
pub fn refusal(error: &Error) -> Refusal {
    let flag = told(error, ContextKind::InvalidArg);
    // clap names the value's placeholder too: `--buffer <SIZE>`.
    let flag = flag.split(" <").next().unwrap_or_default();
    let value = told(error, ContextKind::InvalidValue);
    let refuse = |problem: &str, remedy: &str| Refusal::new(flag, value.clone(), problem, remedy);
    match error.kind() {
        ErrorKind::ValueValidation => match error.source().and_then(|source| source.downcast_ref::<BadValue>()) {
            Some(bad) => refuse(&bad.problem, &bad.remedy),
            None => refuse("not a value that this flag takes", "see memgauge --help"),
        },
        ErrorKind::InvalidValue if value.is_empty() => refuse("needs a value", "write one after it"),
        ErrorKind::InvalidValue => {
            let valid = told(error, ContextKind::ValidValue);
            // A command's argument is named by its choices, which the remedy says anyway.
            let subject = if flag.starts_with("--") { flag } else { whose(flag).0 };
            Refusal::new(subject, value.clone(), "no such choice", format!("use {valid}"))
        }
        ErrorKind::UnknownArgument => unknown(error, flag),
        ErrorKind::InvalidSubcommand => {
            let name = told(error, ContextKind::InvalidSubcommand);
            let near = told(error, ContextKind::SuggestedSubcommand);
            let remedy = match near.split(", ").next().filter(|near| !near.is_empty()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("use {}, or none for the default run", commands()),
            };
            Refusal::new("", name, "no such command", remedy)
        }
        ErrorKind::TooManyValues => refuse("takes no value", "write the flag alone"),
        ErrorKind::ArgumentConflict => {
            let other = told(error, ContextKind::PriorArg);
            let other = other.split(" <").next().unwrap_or_default();
            match other == flag || other.is_empty() {
                true => refuse("stands there twice", "write it once"),
                false => refuse(&format!("can't stand beside {other}"), "leave one of them out"),
            }
        }
        ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand => {
            let (command, choices) = whose(flag);
            Refusal::new(command, "", "which one?", format!("write {}", choices.join(" or ")))
        }
        ErrorKind::InvalidUtf8 => refuse("an argument is no UTF-8 text", "write flags and values in UTF-8"),
        _ => refuse("can't be read", "see memgauge --help"),
    }
}

/// The command that takes one of these choices (`<latency|bandwidth>`), and what can be written.
fn whose(choices: &str) -> (&'static str, Vec<String>) {
    let takes = |command: &Command| command.words().1.is_some_and(|second| choices.contains(second));
    let written = Command::all().filter(takes).map(|command| format!("memgauge {}", command.name()));
    (Command::all().find(takes).map_or("", |command| command.words().0), written.collect())
}

/// The first words of all commands: `a, b or c`.
fn commands() -> String {
    let mut words = Command::all().map(|command| command.words().0).collect::<Vec<_>>();
    words.dedup();
    let last = words.pop().unwrap_or_default();
    format!("{} or {last}", words.join(", "))
}

fn unknown(error: &Error, typed: &str) -> Refusal {
    let near = told(error, ContextKind::SuggestedArg);
    let near = near.split(" <").next().unwrap_or_default().to_owned();
    let (problem, remedy) = match (typed.starts_with('-'), near.is_empty()) {
        (true, false) => ("no such flag", format!("did you mean {near}?")),
        (true, true) => ("no such flag", "memgauge --help lists them".to_owned()),
        (false, _) => ("one word too many", "leave it out; values stand after their flag".to_owned()),
    };
    Refusal::new(typed, "", problem, remedy)
}

/// What clap knows of the error, as text.
fn told(error: &Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        Some(ContextValue::StyledStr(text)) => text.to_string(),
        _ => String::new(),
    }
}
