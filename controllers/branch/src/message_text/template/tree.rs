//! What a template consists of.

use super::functions::Function;

/// One piece that is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// Text that is printed as it stands.
    Text(String),
    /// A pipeline whose value is printed, or kept in a variable.
    Action(Pipeline),
    /// A pipeline that decides what is executed.
    Control(Control, Box<Branch>),
}

/// What a pipeline decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    /// Whether.
    If,
    /// Whether, and on what.
    With,
    /// How often, and on what.
    Range,
}

/// The two ways that a control can go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Branch {
    pub(super) pipeline: Pipeline,
    pub(super) then: Vec<Node>,
    pub(super) otherwise: Vec<Node>,
}

/// Commands, each of which is given the value of the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pipeline {
    pub(super) at: usize,
    pub(super) target: Target,
    pub(super) commands: Vec<Command>,
}

/// Where the value of a pipeline goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// It is printed or decides.
    Value,
    /// It is kept in new variables; two of them in a `range`.
    Declare(Vec<String>),
    /// It is kept in a variable that exists.
    Assign(String),
}

/// An operand with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) at: usize,
    pub(super) first: Operand,
    pub(super) arguments: Vec<(Operand, usize)>,
}

/// Something that has a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand {
    /// `.`
    Dot,
    /// `.A.B`
    Field(Vec<String>),
    /// `$x.A.B`
    Variable(String, Vec<String>),
    /// The name of a function.
    Function(Function),
    /// A text.
    Text(String),
    /// A number.
    Integer(i64),
    /// `true` or `false`
    Truth(bool),
    /// `(…).A.B`
    Nested(Box<Pipeline>, Vec<String>),
}
