//! Why an object stays, in words that name what stands in the way.

use model::{Actor, FolderPath, IssueKind, Location, Refusal, RefusalCode, RefusalScope, RepoPath};

use super::entries::CONFIG_MAPS;
use crate::kustomize::register::Unlistable;

/// Refuses to take away what nothing of the build generates.
pub(super) fn not_generated(kustomization: Option<&RepoPath>) -> Refusal {
    refusal(
        Some(IssueKind::KustomizeRenderRefused),
        kustomization.map(|path| place(path, None, Some(CONFIG_MAPS))),
        Actor::Author,
        "no entry of configMapGenerator makes the object".to_owned(),
        "remove what makes it by hand",
    )
}

/// Refuses to change an entry that stands outside of the folder.
pub(super) fn outside(at: Location, writable: &FolderPath) -> Refusal {
    let field = at.field.clone().unwrap_or_default();
    refusal(
        Some(IssueKind::WriteEscapesScope),
        Some(at),
        Actor::Platform,
        format!("the entry of {field} stands outside of {writable}, which is never written"),
        "take the entry out there, or take the object away by a patch in the folder",
    )
}

/// Refuses to patch a folder without a kustomization.
pub(super) fn not_built(kustomization: RepoPath) -> Refusal {
    refusal(
        Some(IssueKind::KustomizeRenderRefused),
        Some(place(&kustomization, None, None)),
        Actor::Author,
        "the folder has no kustomization".to_owned(),
        "add one there",
    )
}

/// Refuses to patch an object that no patch can name.
pub(super) fn not_nameable(kustomization: &RepoPath) -> Refusal {
    refusal(
        Some(IssueKind::KustomizeRenderRefused),
        Some(place(kustomization, None, Some("patches"))),
        Actor::Author,
        "another object of the build is or was known by the same, so no patch can be for this one alone"
            .to_owned(),
        "give the two objects different names in their bases",
    )
}

/// Refuses to write a file whose name no file system holds.
pub(super) fn too_long(kustomization: &RepoPath) -> Refusal {
    refusal(
        None,
        Some(place(kustomization, None, Some("patches"))),
        Actor::Author,
        "the name of the object is too long for the name of a patch's file".to_owned(),
        "take the object away by a patch of another name",
    )
}

/// Refuses to write over what somebody else wrote (DP-4).
pub(super) fn taken(path: &RepoPath) -> Refusal {
    refusal(
        None,
        Some(place(path, None, None)),
        Actor::Author,
        "the patch that takes the object away belongs here, and something else is here already"
            .to_owned(),
        "move the file away, or take it out",
    )
}

/// Refuses to take out a patch that is not as it was written (DP-4).
pub(super) fn foreign(path: &RepoPath) -> Refusal {
    refusal(
        None,
        Some(place(path, None, None)),
        Actor::Author,
        "the patch takes the object away and is not what GitOps Reverser would have written"
            .to_owned(),
        "take the patch and its entry out by hand",
    )
}

/// Refuses edits that a kustomization does not take.
pub(super) fn not_editable(path: &RepoPath, field: &str, problem: &Unlistable) -> Refusal {
    refusal(
        Some(IssueKind::NonEditableDocument),
        Some(place(path, None, Some(field))),
        Actor::Author,
        problem.to_string(),
        "change the kustomization by hand",
    )
}

/// Refuses to leave a patch without anything to patch.
pub(super) fn orphaned_patch(at: Location, patch: &RepoPath) -> Refusal {
    refusal(
        Some(IssueKind::OrphansBuildEntry),
        Some(at),
        Actor::Author,
        format!(
            "the patch {patch} would have nothing left to patch, and kustomize builds none such"
        ),
        "take the patch and its entry out, and the object goes",
    )
}

/// Refuses to leave a count without a workload where the entry is never written.
pub(super) fn orphaned_count(at: Location, name: &str, writable: &FolderPath) -> Refusal {
    refusal(
        Some(IssueKind::OrphansBuildEntry),
        Some(at),
        Actor::Platform,
        format!(
            "the entry {name:?} of replicas would be for no workload, and stands outside of {writable}, which is never written"
        ),
        "take the entry out there, and the object goes",
    )
}

pub(super) fn place(path: &RepoPath, line: Option<u32>, field: Option<&str>) -> Location {
    Location {
        path: path.clone(),
        line,
        field: field.map(str::to_owned),
    }
}

fn refusal(
    issue: Option<IssueKind>,
    at: Option<Location>,
    actor: Actor,
    message: String,
    remedy: &str,
) -> Refusal {
    Refusal {
        code: RefusalCode::WriteBoundaryRefused,
        issue,
        scope: RefusalScope::Object,
        object: None,
        at,
        actor,
        message,
        remedy: remedy.to_owned(),
    }
}
