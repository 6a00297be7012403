//! Reads the command line and collects every problem in it.
//!
//! clap stops at the first problem. Here the offending words are taken out and the rest is read again, so
//! that a person who made three mistakes is told three times in one run.

use std::collections::BTreeSet;

use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;

use super::value::byte_size;
use super::{CommandLine, NotBuilt, ValidationError, check, command, not_built};
use crate::environment::Environment;

/// What the command line asks for.
#[derive(Debug, Clone)]
pub enum Parsed {
    /// Run, or do what the subcommand says. What is asked for but not built stands beside it.
    Act(Box<CommandLine>, Vec<NotBuilt>),
    /// Print this text, which is the help or the version, and stop.
    Print(String),
    /// Say all of this and stop.
    Refuse(Vec<ValidationError>),
}

/// Reads the words after the program's name, with the environment for what may also come from there.
pub fn parse(words: impl IntoIterator<Item = String>, environment: &Environment) -> Parsed {
    let mut words: Vec<String> = words.into_iter().map(with_two_dashes).collect();
    let mut problems: Vec<ValidationError> = Vec::new();
    let matches = loop {
        let line = std::iter::once("gitops-reverser").chain(words.iter().map(String::as_str));
        match command().try_get_matches_from(line) {
            Ok(matches) => break matches,
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
                ) =>
            {
                return Parsed::Print(error.render().to_string());
            }
            Err(error) => {
                let problem = problem_of(&error);
                let removed = remove(&mut words, &problem);
                problems.push(problem);
                if !removed {
                    return Parsed::Refuse(problems);
                }
            }
        }
    };
    let mut line = match CommandLine::from_arg_matches(&matches) {
        Ok(line) => line,
        Err(error) => {
            problems.push(problem_of(&error));
            return Parsed::Refuse(problems);
        }
    };
    let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    if !given("branch_buffer_max_size") {
        problems.extend(take_buffer_size(&mut line, environment));
    }
    // A rule over several flags says nothing true when one of them could not be read.
    let unread: BTreeSet<String> = problems
        .iter()
        .map(|problem| problem.field.clone())
        .collect();
    if line.command.is_none() {
        let joint = check::problems(&line.flags, environment, &given);
        problems.extend(joint.into_iter().filter_map(|(fields, problem)| {
            (!fields.iter().any(|field| unread.contains(*field))).then_some(problem)
        }));
    }
    if problems.is_empty() {
        let notices = not_built::asked_for(&matches);
        Parsed::Act(Box::new(line), notices)
    } else {
        Parsed::Refuse(problems)
    }
}

/// Turns `-flag` into `--flag`, which Go's flag package takes for the same.
fn with_two_dashes(word: String) -> String {
    let mut chars = word.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('-'), Some(letter), Some(_)) if letter.is_ascii_alphabetic() => format!("-{word}"),
        _ => word,
    }
}

fn take_buffer_size(line: &mut CommandLine, environment: &Environment) -> Option<ValidationError> {
    let text = environment.branch_buffer_max_size.as_deref()?;
    match byte_size(text) {
        Ok(size) => {
            line.flags.git.branch_buffer_max_size = size;
            None
        }
        Err(disallowed) => Some(ValidationError {
            field: "BRANCH_BUFFER_MAX_SIZE".to_owned(),
            value: Some(text.to_owned()),
            allowed: disallowed.allowed,
        }),
    }
}

/// Says in our words what clap found.
fn problem_of(error: &clap::Error) -> ValidationError {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let argument = text(ContextKind::InvalidArg).or_else(|| text(ContextKind::InvalidSubcommand));
    let field = argument
        .as_deref()
        .map_or("command line", flag_name)
        .to_owned();
    let suggestion =
        text(ContextKind::SuggestedArg).or_else(|| text(ContextKind::SuggestedSubcommand));
    match error.kind() {
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand => ValidationError {
            field,
            value: None,
            allowed: suggestion.map_or_else(
                || "one of the names that --help lists".to_owned(),
                |name| format!("one of the names that --help lists, such as {name}"),
            ),
        },
        ErrorKind::ValueValidation => ValidationError {
            value: text(ContextKind::InvalidValue).filter(|_| field != "--redis-addr"),
            field,
            allowed: std::error::Error::source(error)
                .map_or_else(|| "another value".to_owned(), ToString::to_string),
        },
        ErrorKind::InvalidValue => ValidationError {
            value: text(ContextKind::InvalidValue),
            field,
            allowed: text(ContextKind::ValidValue)
                .filter(|values| !values.is_empty())
                .unwrap_or_else(|| "a value, as in --flag=VALUE".to_owned()),
        },
        kind => ValidationError {
            field,
            value: None,
            allowed: kind.to_string(),
        },
    }
}

/// Returns the flag alone from a form such as `--redis-db <NUMBER>`.
fn flag_name(argument: &str) -> &str {
    argument.split([' ', '=', '[']).next().unwrap_or(argument)
}

/// Takes the words of the problem out. Returns `false` when they are not found.
fn remove(words: &mut Vec<String>, problem: &ValidationError) -> bool {
    let name = problem.field.as_str();
    let names_it = |word: &String| {
        word == name
            || word
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('='))
    };
    let holds_value = |index: usize| {
        let Some(value) = problem.value.as_deref() else {
            return true;
        };
        let inline = words[index].split_once('=').map(|(_, value)| value);
        inline.or(words.get(index + 1).map(String::as_str)) == Some(value)
    };
    let found = |wanted: &dyn Fn(usize) -> bool| {
        (0..words.len()).find(|index| names_it(&words[*index]) && wanted(*index))
    };
    let Some(index) = found(&holds_value).or_else(|| found(&|_| true)) else {
        return false;
    };
    let word = words.remove(index);
    // The value of a flag may be the next word. It goes too, also because it might be a secret that must
    // not be reported as a word that nobody understands.
    let value_follows = word.starts_with('-') && !word.contains('=');
    if value_follows && words.get(index).is_some_and(|next| !next.starts_with('-')) {
        words.remove(index);
    }
    true
}

#[cfg(test)]
mod tests;
