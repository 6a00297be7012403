//! Whom a change is credited to.

use model::{Author, Change};

/// Answers who made a change.
///
/// Nobody can be asked yet, so there is one answer. Whoever adds another one has to keep the order of the
/// events of one object and may let other objects go on meanwhile (D30); a cursor must not pass an event
/// that still waits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum AuthorResolver {
    /// Every change is the operator's own.
    #[default]
    Operator,
}

impl AuthorResolver {
    /// Names the author of one change.
    pub(crate) fn author(self, _change: &Change) -> Author {
        match self {
            Self::Operator => Author::Operator,
        }
    }
}
