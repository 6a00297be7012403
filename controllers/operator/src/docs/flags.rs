//! The page about flags.

use clap::Arg;

use super::cell;
use crate::environment::VARIABLES;
use crate::flags::{command, not_built};

const HEAD: &str = "# Flags

Printed by `gitops-reverser docs flags`; change the flag's own description instead of this page.

The flags follow the customs of Go programs: `-flag` and `--flag` are the same, a boolean is true without a
value and takes one only as `--flag=false`, the last of several wins, and durations are written like `90s`
or `1h30m`. Every problem of a command line is reported in one run, each on its own line, and nothing is
started (exit code 2).

A listening address is `:PORT` (every interface), `HOST:PORT`, or `0` or nothing for \"off\". Port 0 takes a
free one. The addresses that were taken are logged.

A flag that is *not built yet* is read and validated, and says so in the log when it is set to more than its
default. What happens instead stands at the end of this page.
";

/// Prints every flag by subject, the environment, and what is not built.
pub fn flags() -> String {
    let mut lines = vec![HEAD.to_owned()];
    let mut heading = None;
    for argument in command().get_arguments() {
        let (Some(name), Some(subject)) = (argument.get_long(), argument.get_help_heading()) else {
            continue;
        };
        if heading.as_deref() != Some(subject) {
            let gap = if heading.is_some() { "\n" } else { "" };
            let columns = "| Flag | Default | Meaning |\n| --- | --- | --- |";
            lines.push(format!("{gap}## {subject}\n\n{columns}"));
            heading = Some(subject.to_owned());
        }
        lines.push(row(name, argument));
    }
    lines.push("\n## Environment\n\n| Variable | Meaning |\n| --- | --- |".to_owned());
    for (name, meaning) in VARIABLES {
        lines.push(format!("| `{name}` | {} |", cell(meaning)));
    }
    lines.push("\n## Not built yet\n\n| Flag | What happens instead |\n| --- | --- |".to_owned());
    for missing in not_built::all() {
        lines.push(format!(
            "| `{}` | {} |",
            missing.flag,
            cell(missing.instead)
        ));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn row(name: &str, argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let values: Vec<_> = values.iter().map(|value| value.as_str()).collect();
    let flag = format!("`--{name}={}`", values.join(" "));
    format!(
        "| {} | {} | {}. |",
        cell(&flag),
        default(argument),
        cell(&meaning(name, argument))
    )
}

fn default(argument: &Arg) -> String {
    let values = argument.get_default_values().iter();
    let text: String = values.map(|value| value.to_string_lossy()).collect();
    if text.is_empty() {
        "none".to_owned()
    } else {
        format!("`{}`", cell(&text))
    }
}

fn meaning(name: &str, argument: &Arg) -> String {
    let mut meaning = argument
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let possible = argument.get_possible_values();
    if !possible.is_empty() {
        let names: Vec<_> = possible
            .iter()
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        meaning.push_str(&format!(". One of {}", names.join(", ")));
    }
    let flag = format!("--{name}");
    if not_built::all().iter().any(|missing| missing.flag == flag) {
        meaning.push_str(". *Not built yet*");
    }
    meaning
}
