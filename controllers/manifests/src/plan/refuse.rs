//! The reasons for which one object is not written.

use std::collections::BTreeSet;

use model::{
    Actor, DesiredObject, FolderPath, IssueKind, Location, Namespace, Refusal, RefusalCode,
    RefusalScope, RepoPath, ResourceId,
};

use crate::fidelity::Divergence;
use crate::folder::{Document, Shadow};
use crate::kustomize::register::{RESOURCES, Unlistable};
use crate::yaml::{EditError, FieldPath};

/// The object must be encrypted, and nothing can encrypt it.
pub(crate) fn sensitive(id: &ResourceId, document: Option<&Document>) -> Refusal {
    Refusal {
        code: RefusalCode::EncryptionNotConfigured,
        issue: Some(IssueKind::PlaintextSensitive),
        scope: RefusalScope::Object,
        object: Some(id.clone()),
        at: document.map(at_document),
        actor: Actor::Platform,
        message: format!("{id} is sensitive and no encryption is configured, so it is not written"),
        remedy: "configure encryption for the target, or take the type out of its rules".to_owned(),
    }
}

/// The object cannot be encrypted as things are.
pub(crate) fn unsealed(
    id: &ResourceId,
    at: Option<Location>,
    message: String,
    remedy: &str,
) -> Refusal {
    Refusal {
        code: RefusalCode::EncryptionNotConfigured,
        issue: Some(IssueKind::PlaintextSensitive),
        scope: RefusalScope::Object,
        object: Some(id.clone()),
        at,
        actor: Actor::Platform,
        message,
        remedy: remedy.to_owned(),
    }
}

/// The document holds something that makes an edit unsafe (D25).
pub(crate) fn not_editable(
    id: &ResourceId,
    document: &Document,
    (line, field): (u32, Option<FieldPath>),
    problem: &str,
) -> Refusal {
    Refusal {
        at: Some(Location {
            path: document.path.clone(),
            line: Some(line),
            field: field.map(|field| field.to_string()),
        }),
        message: format!("the document of {id} cannot be edited safely: {problem}"),
        remedy: "rewrite that part of the document by hand".to_owned(),
        ..edit_refusal(id, at_document(document))
    }
}

/// The document holds a token that somebody fills in when the folder is applied (RT-1, D56).
pub(crate) fn token(
    id: &ResourceId,
    document: &Document,
    line: Option<u32>,
    divergence: &Divergence<'_>,
) -> Refusal {
    let at = Location {
        path: document.path.clone(),
        line,
        field: Some(divergence.field.to_string()),
    };
    token_at(id, at, divergence)
}

/// What supplies a value of a build holds such a token.
pub(crate) fn token_at(id: &ResourceId, at: Location, divergence: &Divergence<'_>) -> Refusal {
    let field = &divergence.field;
    Refusal {
        code: RefusalCode::RenderDoesNotMatchLive,
        issue: Some(IssueKind::RenderDoesNotMatchLive),
        actor: Actor::Platform,
        message: format!(
            "{field} of {id} holds a substitution token, and the live value is another one"
        ),
        remedy:
            "mirror a folder that is applied without substitution, or write the value out in Git"
                .to_owned(),
        ..edit_refusal(id, at)
    }
}

/// The configuration of SOPS that counts for a new document tells nobody for whom it is encrypted.
pub(crate) fn unreadable_config(id: &ResourceId, config: &RepoPath) -> Refusal {
    let at = Location {
        path: config.clone(),
        line: None,
        field: None,
    };
    let message =
        format!("{id} cannot be encrypted: {config} is no text, or larger than files may be");
    unsealed(id, Some(at), message, "repair the file")
}

/// The document is encrypted although the type of its object is not a sensitive one.
pub(crate) fn encrypted(id: &ResourceId, document: &Document) -> Refusal {
    Refusal {
        code: RefusalCode::EncryptionNotConfigured,
        actor: Actor::Platform,
        message: format!(
            "the document of {id} is encrypted, and its type is not declared sensitive"
        ),
        remedy: "declare the type with --additional-sensitive-resources, or decrypt the document"
            .to_owned(),
        ..edit_refusal(id, at_document(document))
    }
}

/// The document shares its file with another kind of document, sealed with plain: sops reads such a file as one,
/// so whatever is changed in it breaks the seal.
pub(crate) fn mixed_file(id: &ResourceId, document: &Document) -> Refusal {
    Refusal {
        message: format!(
            "the document of {id} stands in a file that holds encrypted and plain documents, which sops cannot open"
        ),
        remedy: "give each document a file of its own".to_owned(),
        ..edit_refusal(id, at_document(document))
    }
}

/// The document is of another version of the type than the object was read in (D58).
pub(crate) fn other_version(
    id: &ResourceId,
    document: &Document,
    line: Option<u32>,
    desired: &DesiredObject,
) -> Refusal {
    let at = Location {
        path: document.path.clone(),
        line,
        field: Some("apiVersion".to_owned()),
    };
    other_version_at(id, at, &document.api_version, desired)
}

/// What an object is built from is of another version of the type than the object was read in (D58).
pub(crate) fn other_version_at(
    id: &ResourceId,
    at: Location,
    written: &str,
    desired: &DesiredObject,
) -> Refusal {
    let read = desired.served().api_version();
    Refusal {
        actor: Actor::Nobody,
        message: format!(
            "the document of {id} is written as {written} and the object was read as {read}, so an edit would mix two versions"
        ),
        remedy: format!("write the document as {read}"),
        ..edit_refusal(id, at)
    }
}

/// No change of the text reads back as wanted.
pub(crate) fn not_expressible(id: &ResourceId, document: &Document, error: &EditError) -> Refusal {
    match error {
        EditError::NotEditable { line, problem } => {
            not_editable(id, document, (*line, None), problem)
        }
        EditError::Syntax(_) | EditError::NoDocument(_) | EditError::NotExpressible => Refusal {
            message: format!("no edit of the document of {id} reads back as the live object"),
            remedy: "write the document in a plainer form, or remove it so that it is written anew"
                .to_owned(),
            ..edit_refusal(id, at_document(document))
        },
    }
}

/// The ignore rules hide the file that would be written, so the next scan would not see it.
pub(crate) fn shadowed(id: &ResourceId, path: &RepoPath, hidden: &Shadow) -> Refusal {
    Refusal {
        code: RefusalCode::IgnoreShadowsManagedPath,
        issue: Some(IssueKind::IgnoreShadowsManaged),
        scope: RefusalScope::Object,
        object: Some(id.clone()),
        at: Some(Location {
            path: path.clone(),
            line: None,
            field: None,
        }),
        actor: Actor::Author,
        message: format!(
            "{id} would be written to {path}, which the pattern {:?} in line {} of {} hides",
            hidden.pattern, hidden.line, hidden.rules
        ),
        remedy: "take the pattern out, or let the object go to another path".to_owned(),
    }
}

/// The folder holds documents without a namespace and is fed from several; `None` stands for every namespace.
pub(crate) fn several_namespaces(
    id: &ResourceId,
    namespaces: &BTreeSet<Option<Namespace>>,
) -> Refusal {
    /// How many are named; a person needs two to see the contradiction.
    const NAMED: usize = 5;
    let mut names: Vec<&str> = namespaces
        .iter()
        .take(NAMED)
        .map(|one| one.as_ref().map_or("every namespace", Namespace::as_str))
        .collect();
    let more = format!("{} more", namespaces.len().saturating_sub(NAMED));
    if namespaces.len() > NAMED {
        names.push(&more);
    }
    Refusal {
        code: RefusalCode::MultipleSourceNamespaces,
        issue: None,
        scope: RefusalScope::Target,
        object: Some(id.clone()),
        at: None,
        actor: Actor::Platform,
        message: format!(
            "documents without a namespace can come from one namespace only, and the folder is fed from {}",
            names.join(", ")
        ),
        remedy: "unset spec.serializeNamespace, or use one target for each namespace".to_owned(),
    }
}

/// The folder is not accepted, so the object is not written.
pub(crate) fn folder(id: &ResourceId, issues: &[Refusal]) -> Refusal {
    let first = issues.first();
    let others = match issues.len() {
        0 | 1 => String::new(),
        many => format!(" (and {} more)", many - 1),
    };
    let cause = first.map_or_else(String::new, |issue| format!(": {issue}{others}"));
    Refusal {
        code: first.map_or(RefusalCode::UnsupportedContent, |issue| issue.code),
        issue: first.and_then(|issue| issue.issue),
        scope: RefusalScope::Folder,
        object: Some(id.clone()),
        at: first.and_then(|issue| issue.at.clone()),
        actor: first.map_or(Actor::Author, |issue| issue.actor),
        message: format!("the folder is not accepted{cause}"),
        remedy: "resolve the issues of the folder".to_owned(),
    }
}

/// Names the object that is refused, also in words.
pub(crate) fn of_object(id: &ResourceId, mut refusal: Refusal) -> Refusal {
    let name = id.to_string();
    if !refusal.message.contains(&name) {
        refusal.message = format!("{name}: {}", refusal.message);
    }
    refusal.object = Some(id.clone());
    refusal
}

/// A build that worked does not any more with the changes before it.
pub(crate) fn not_built(kustomization: &RepoPath) -> Refusal {
    let problem = "it does not build with the other changes of the batch".to_owned();
    not_verified(kustomization, problem)
}

/// An object is built from a file of the folder that is not read as manifests: it is hidden, or not YAML by its name.
pub(crate) fn not_read(path: &RepoPath) -> Refusal {
    of_build(
        IssueKind::NonEditableDocument,
        path,
        "the object is built from a file that is hidden, or that is no YAML by its name".to_owned(),
        "change the file by hand, or give it a name that ends with .yaml and show it",
    )
}

/// A sensitive object comes from a base outside of the folder, which is never written.
pub(crate) fn sensitive_base(path: &RepoPath) -> Refusal {
    of_build(
        IssueKind::WriteEscapesScope,
        path,
        format!("it is supplied by {path}, a file outside of the folder, which is never written"),
        "change that file with sops",
    )
}

/// The build would not work any more.
pub(crate) fn broken(kustomization: &RepoPath, problem: &str) -> Refusal {
    not_verified(
        kustomization,
        format!("the folder would not build any more: {problem}"),
    )
}

/// The build would not make what it shall.
pub(crate) fn not_verified(kustomization: &RepoPath, problem: String) -> Refusal {
    of_build(
        IssueKind::KustomizeRenderRefused,
        kustomization,
        problem,
        "change the files by hand",
    )
}

/// Another build would change with the edit (A4.3).
pub(crate) fn fan_in(kustomization: &RepoPath) -> Refusal {
    of_build(
        IssueKind::WriteFanIn,
        kustomization,
        format!("another build, {kustomization}, reads the same file and would change too"),
        "give each build a file of its own for what shall differ",
    )
}

/// A file cannot be listed, so nobody would build it (RG-5).
pub(crate) fn unlistable(kustomization: &RepoPath, problem: &Unlistable) -> Refusal {
    let mut refusal = of_build(
        IssueKind::NonEditableDocument,
        kustomization,
        format!("the list of files cannot be changed: {problem}"),
        "change resources by hand",
    );
    if let Some(at) = &mut refusal.at {
        at.field = Some(RESOURCES.to_owned());
    }
    refusal
}

fn of_build(issue: IssueKind, kustomization: &RepoPath, message: String, remedy: &str) -> Refusal {
    Refusal {
        code: RefusalCode::WriteBoundaryRefused,
        issue: Some(issue),
        scope: RefusalScope::Object,
        object: None,
        at: Some(Location {
            path: kustomization.clone(),
            line: None,
            field: None,
        }),
        actor: Actor::Author,
        message,
        remedy: remedy.to_owned(),
    }
}

/// The folder has several builds, and nothing says which of them gets a new object.
pub(crate) fn ambiguous(id: &ResourceId, roots: &[&FolderPath]) -> Refusal {
    let names: Vec<&str> = roots.iter().map(|root| root.as_str()).collect();
    Refusal {
        code: RefusalCode::AmbiguousLayout,
        issue: None,
        scope: RefusalScope::Placement,
        object: Some(id.clone()),
        at: None,
        actor: Actor::Platform,
        message: format!(
            "{id} has no place: the folder covers several builds, {}",
            names.join(", ")
        ),
        remedy: "point spec.path at one of them, and give each of the others a target of its own"
            .to_owned(),
    }
}

/// A folder that is to be built would get a file that nothing builds (RG-7).
pub(crate) fn unrendered(id: &ResourceId, path: &RepoPath, root: &FolderPath) -> Refusal {
    Refusal {
        code: RefusalCode::UnrenderedPlacement,
        issue: None,
        scope: RefusalScope::Placement,
        object: Some(id.clone()),
        at: Some(Location {
            path: path.clone(),
            line: None,
            field: None,
        }),
        actor: Actor::Platform,
        message: format!(
            "{id} would be written to {path}, which the kustomization of {} does not govern",
            root.as_str()
        ),
        remedy: "keep the template inside of that folder, or point spec.path at it".to_owned(),
    }
}

fn edit_refusal(id: &ResourceId, at: Location) -> Refusal {
    Refusal {
        code: RefusalCode::WriteBoundaryRefused,
        issue: Some(IssueKind::NonEditableDocument),
        scope: RefusalScope::Object,
        object: Some(id.clone()),
        at: Some(at),
        actor: Actor::Author,
        message: String::new(),
        remedy: String::new(),
    }
}

pub(crate) fn at_document(document: &Document) -> Location {
    Location {
        path: document.path.clone(),
        line: Some(document.line),
        field: None,
    }
}
