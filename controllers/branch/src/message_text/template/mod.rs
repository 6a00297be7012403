//! The part of Go's `text/template` that commit messages may use: the same text as Go, or no text at all.
//!
//! What is taken: fields, methods with an argument, variables, pipelines, parentheses, `if`, `with` and `range` with
//! `else`, comments, trim markers, texts and whole numbers, and the functions of [`functions`]. Everything else is
//! refused by name when the template is read. A template never reads or changes anything outside the value that it
//! is given, and ends: its steps and its output are bounded.
//!
//! Reading order: [`lex`] takes the text apart, [`tree`] is what [`parse`] makes of it, [`value`] is what a template
//! can see, [`run`] executes, [`functions`] and [`mod@format`] are what it can call.

mod format;
mod functions;
mod lex;
mod parse;
mod run;
mod tree;
mod value;

use std::fmt;

pub use value::{Object, Value};

/// The longest template, in bytes.
const LONGEST: usize = 64 * 1024;

/// A template that was read.
#[derive(Clone)]
pub struct Template {
    source: String,
    nodes: Vec<tree::Node>,
}

/// What is wrong with a template, or with what it was given, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct TemplateError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub problem: String,
}

/// What is wrong at a byte of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    at: usize,
    problem: String,
}

impl Fault {
    fn new(at: usize, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        Self { at, problem }
    }

    /// Says where in the source it is.
    fn within(self, source: &str) -> TemplateError {
        let before = source.get(..self.at).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        TemplateError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem: self.problem,
        }
    }
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// Names the first construct that is wrong or not supported, and where it is.
    pub fn read(source: &str) -> Result<Self, TemplateError> {
        if source.len() > LONGEST {
            let problem = format!("the template is longer than {LONGEST} bytes");
            return Err(Fault::new(0, problem).within(source));
        }
        let nodes = lex::tokens(source).and_then(parse::parse);
        Ok(Self {
            source: source.to_owned(),
            nodes: nodes.map_err(|fault| fault.within(source))?,
        })
    }

    /// Returns the text that was read.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Executes the template on a value.
    ///
    /// # Errors
    /// Says what the template does that the value does not allow, and where.
    pub fn run(&self, root: Value) -> Result<String, TemplateError> {
        run::run(&self.nodes, root).map_err(|fault| fault.within(&self.source))
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Template").field(&self.source).finish()
    }
}
