//! How keys and values are read out of literals, lines and files.

use std::ops::Range;

use thiserror::Error;

use super::{GeneratorEntry, GeneratorError, GeneratorProblem};
use crate::kustomize::node::{FileId, Site, Supplier};
use crate::kustomize::scalar::resolve;
use crate::yaml::Meaning;

/// Kustomize stops reading a file, and says nothing, at a line that is longer.
const LONGEST_LINE: usize = 65_535;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// What is wrong with an input.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SourceProblem {
    /// A literal is not a key, an equals sign and a value.
    #[error("the literal `{0}` is no `key=value`")]
    Literal(String),
    /// A `files:` item with an equals sign has nothing before it, nothing behind it, or another one.
    #[error("`{0}` is neither a path nor a `key=path`")]
    File(String),
    /// A line of an `envs:` file is not UTF-8.
    #[error("line {0} is no text in UTF-8")]
    LineBytes(usize),
    /// A line of an `envs:` file is too long.
    #[error(
        "line {0} is longer than {LONGEST_LINE} bytes, where kustomize stops reading; put the value into a file of its own"
    )]
    LineLength(usize),
    /// A value has several lines and begins with a tab.
    #[error(
        "the value of `{0}` has several lines and begins with a tab, which kustomize cannot build; begin it with something else"
    )]
    TabFirst(String),
    /// A literal holds a character that kustomize does not get through its own text.
    #[error(
        "the literal `{0}` holds a control character that kustomize loses or stops at; put the value into a file"
    )]
    Character(String),
    /// A key that no ConfigMap can have, or that kustomize takes for something else than text.
    #[error("`{0}` cannot be a key of a ConfigMap")]
    Key(String),
}

/// Whether kustomize fails at a text: it writes it into a block without saying how far that is indented.
///
/// A few characters in the text would save it, which nobody should rely on.
pub(super) fn is_unbuildable(value: &str) -> bool {
    value.starts_with('\t') && value.contains('\n')
}

/// Whether kustomize loses a character of a literal, or stops at it.
fn is_lost(char: char) -> bool {
    matches!(char, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether kustomize takes a literal over as it is.
pub(super) fn is_literal(text: &str) -> bool {
    !text.contains(is_lost)
}

/// Whether the API server accepts a key, and kustomize reads it as text when it stands without quotes.
pub(super) fn is_key(key: &str) -> bool {
    let is_allowed = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    let is_name = (1..=253).contains(&key.len()) && key.chars().all(is_allowed);
    is_name && !key.starts_with("..") && key != "." && resolve(key) == Meaning::Text
}

/// A key and its value, and where they come from.
pub(super) struct Given<'e> {
    pub(super) key: String,
    pub(super) value: &'e [u8],
    pub(super) supplier: Supplier,
    pub(super) site: Site,
}

/// Reads every key and value of an entry.
pub(super) fn pairs<'e>(entry: &'e GeneratorEntry<'_>) -> Result<Vec<Given<'e>>, GeneratorError> {
    let mut pairs = Vec::new();
    for input in &entry.envs {
        let lines = lines(input.bytes).map_err(|(at, problem)| {
            let site = site(input.file, at);
            let problem = GeneratorProblem::Source(problem);
            GeneratorError { site, problem }
        })?;
        pairs.extend(lines.into_iter().map(|line| {
            let site = site(input.file, line.start);
            Given {
                key: line.key.to_owned(),
                value: line.value.as_bytes(),
                supplier: Supplier::EnvLine(site),
                site,
            }
        }));
    }
    for text in &entry.literals {
        let fail = |problem: fn(String) -> SourceProblem| GeneratorError {
            site: text.site,
            problem: GeneratorProblem::Source(problem(text.value.clone())),
        };
        let (key, value) = literal(&text.value).ok_or_else(|| fail(SourceProblem::Literal))?;
        if !is_literal(&text.value) {
            return Err(fail(SourceProblem::Character));
        }
        pairs.push(Given {
            key: key.to_owned(),
            value: value.as_bytes(),
            supplier: Supplier::Literal(text.site),
            site: text.site,
        });
    }
    for input in &entry.files {
        let site = input.spec.site;
        let (key, _) = file_source(&input.spec.value).map_err(|problem| GeneratorError {
            site,
            problem: GeneratorProblem::Source(problem),
        })?;
        pairs.push(Given {
            key: key.to_owned(),
            value: input.bytes,
            supplier: Supplier::Content(input.file),
            site,
        });
    }
    Ok(pairs)
}

fn site(file: FileId, at: usize) -> Site {
    // A file that is larger is never read.
    let at = u32::try_from(at).unwrap_or(u32::MAX);
    Site { file, at }
}

/// Takes an item of `files:` apart into its key and its path.
///
/// # Errors
/// Returns an item that kustomize does not understand.
pub fn file_source(spec: &str) -> Result<(&str, &str), SourceProblem> {
    match spec.split_once('=') {
        None => Ok((base_name(spec), spec)),
        Some((key, path)) if key.is_empty() || path.is_empty() || path.contains('=') => {
            Err(SourceProblem::File(spec.to_owned()))
        }
        Some(parts) => Ok(parts),
    }
}

fn base_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

/// Takes a literal apart into its key and its value.
pub(super) fn literal(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once('=')?;
    (!key.is_empty()).then(|| (key, without_quotes(value).unwrap_or(value)))
}

/// Returns what a pair of quotes surrounds, where there is one.
pub(super) fn without_quotes(value: &str) -> Option<&str> {
    let between = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    between('"').or_else(|| between('\''))
}

/// A line of an `envs:` file that gives a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'b> {
    pub(super) key: &'b str,
    pub(super) value: &'b str,
    /// Where the line starts.
    pub(super) start: usize,
    /// Where the key stands in the file.
    pub(super) key_range: Range<usize>,
    /// Where the value ends, which is before the line break.
    pub(super) end: usize,
}

/// Reads the lines that give a value; the others are empty, comments, or lack a key.
///
/// # Errors
/// Returns where a line starts that kustomize cannot read, and why.
pub(super) fn lines(content: &[u8]) -> Result<Vec<Line<'_>>, (usize, SourceProblem)> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (index, raw) in content.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let line = raw.strip_suffix(b"\n").unwrap_or(raw);
        if line.len() > LONGEST_LINE {
            return Err((start, SourceProblem::LineLength(index + 1)));
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Ok(line) = str::from_utf8(line) else {
            return Err((start, SourceProblem::LineBytes(index + 1)));
        };
        let end = start + line.len();
        let text = match index {
            0 => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
            _ => line,
        };
        let text = text.trim_start();
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        if !key.is_empty() && !key.starts_with('#') {
            let key_start = end - text.len();
            lines.push(Line {
                key,
                value,
                start,
                key_range: key_start..key_start + key.len(),
                end,
            });
        }
        start += raw.len();
    }
    Ok(lines)
}
