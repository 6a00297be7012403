//! What is said to which input.

use model::RepoPath;
use serde_json::Value;

use super::delta::Steps;

/// One input that says something else.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Edit {
    /// The input.
    pub(super) target: Target,
    /// What it shall say.
    pub(super) says: Says,
}

/// An input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Target {
    /// The file.
    pub(super) file: RepoPath,
    /// Where in the file.
    pub(super) place: Place,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// A value of YAML.
    Value(Written),
    /// The value in the line of an `envs:` file that starts at a byte.
    Line(u32),
    /// A line at the end of an `envs:` file that is not there yet, by its key.
    NewLine(String),
    /// All of the file.
    Content,
}

/// A value of YAML, written or to be written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Written {
    /// The document, counted from 0.
    pub(super) document: usize,
    /// The way to the value.
    pub(super) way: Steps,
    /// Which part of the value.
    pub(super) part: Part,
}

/// A part of a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The name in an image reference.
    Name,
    /// The tag in an image reference.
    Tag,
    /// The digest in an image reference.
    Digest,
    /// Which items a list has.
    Items,
    /// All of it.
    Whole,
    /// An entry of a list that is not there yet, by its name.
    Entry(String),
}

/// What an input shall say.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Says {
    /// This.
    Value(Value),
    /// Nothing any more.
    Nothing,
    /// These items.
    Items(Vec<Placed>),
}

/// An item of a list as it shall be.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Placed {
    /// The item that stands here.
    Kept(usize),
    /// This one.
    New(Value),
}
