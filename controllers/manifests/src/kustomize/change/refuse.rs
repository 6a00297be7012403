//! Why an object stays as it is, in words that name what stands in the way.

use model::{Actor, FolderPath, IssueKind, Location, Refusal, RefusalCode, RefusalScope, RepoPath};

/// Refuses an object that no build makes.
pub(super) fn not_rendered(kustomization: &RepoPath) -> Refusal {
    refusal(
        IssueKind::KustomizeRenderRefused,
        Location {
            path: kustomization.clone(),
            line: None,
            field: None,
        },
        Actor::Author,
        "the build does not make the object, or makes it in another namespace".to_owned(),
        "list its file in resources, or take the file out of the folder",
    )
}

/// Refuses a value that stands outside of the folder.
pub(super) fn read_only(at: Location, writable: &FolderPath) -> Refusal {
    let field = at.field.clone().unwrap_or_default();
    refusal(
        IssueKind::WriteEscapesScope,
        at,
        Actor::Platform,
        format!("{field} is supplied by a file outside of {writable}, which is never written"),
        "change that file, or patch the field in the folder",
    )
}

/// Refuses a value that something supplies which is never edited.
pub(super) fn supplied(at: Location, by: &str) -> Refusal {
    let field = at.field.clone().unwrap_or_default();
    refusal(
        IssueKind::KustomizeRenderRefused,
        at,
        Actor::Author,
        format!("{field} is supplied by {by}, which no live change edits"),
        "make the change there by hand",
    )
}

/// Refuses a value that the input which supplies it cannot say.
pub(super) fn not_sayable(at: Location, by: &str) -> Refusal {
    let field = at.field.clone().unwrap_or_default();
    refusal(
        IssueKind::KustomizeRenderRefused,
        at,
        Actor::Author,
        format!("{field} is supplied by {by}, which cannot say the new value"),
        "change the input by hand",
    )
}

/// Refuses a new key that no single input of a generator would get.
pub(super) fn no_input(at: Location) -> Refusal {
    refusal(
        IssueKind::UnplaceableEdit,
        at,
        Actor::Author,
        "the generator has no single input that takes a new key".to_owned(),
        "add the key to one of its inputs by hand",
    )
}

/// Refuses a value of which nobody can tell where it is written.
pub(super) fn unplaceable(at: Location) -> Refusal {
    let field = at.field.clone().unwrap_or_default();
    refusal(
        IssueKind::UnplaceableEdit,
        at,
        Actor::Nobody,
        format!("it is not clear where {field} is written"),
        "write the object as a document of its own, without aliases",
    )
}

/// Refuses an input that is asked to say two things.
pub(super) fn disagreement(at: Location) -> Refusal {
    refusal(
        IssueKind::WriteFanIn,
        at,
        Actor::Nobody,
        "one input supplies several values, and they shall differ".to_owned(),
        "make the values agree, or give each its own input",
    )
}

/// Refuses an object whose document is encrypted, which is edited with its keys only.
pub(super) fn encrypted(at: Location) -> Refusal {
    refusal(
        IssueKind::PlaintextSensitive,
        at,
        Actor::Nobody,
        "the document is encrypted, and the build knows its ciphertext only".to_owned(),
        "change the document with sops",
    )
}

/// Refuses edits that a text does not take.
pub(super) fn not_editable(at: Location, problem: &str) -> Refusal {
    refusal(
        IssueKind::NonEditableDocument,
        at,
        Actor::Author,
        problem.to_owned(),
        "change the file by hand",
    )
}

/// Refuses edits after which the build is not as it shall be.
pub(super) fn not_verified(at: Location, problem: String) -> Refusal {
    refusal(
        IssueKind::KustomizeRenderRefused,
        at,
        Actor::Nobody,
        problem,
        "change the files by hand",
    )
}

fn refusal(issue: IssueKind, at: Location, actor: Actor, message: String, remedy: &str) -> Refusal {
    Refusal {
        code: RefusalCode::WriteBoundaryRefused,
        issue: Some(issue),
        scope: RefusalScope::Object,
        object: None,
        at: Some(at),
        actor,
        message,
        remedy: remedy.to_owned(),
    }
}
