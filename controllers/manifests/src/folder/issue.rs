//! The reasons for which a folder is not written, each with its place and its remedy.

use model::{Actor, IssueKind, Location, Refusal, RefusalCode, RefusalScope, RepoPath};

use crate::ignore;

/// Makes a refusal of the whole folder.
pub(crate) fn folder_issue(
    issue: IssueKind,
    path: &RepoPath,
    line: Option<u32>,
    actor: Actor,
    message: impl Into<String>,
    remedy: impl Into<String>,
) -> Refusal {
    Refusal {
        code: RefusalCode::UnsupportedContent,
        issue: Some(issue),
        scope: RefusalScope::Folder,
        object: None,
        at: Some(Location {
            path: path.clone(),
            line,
            field: None,
        }),
        actor,
        message: message.into(),
        remedy: remedy.into(),
    }
}

/// Reports a pattern that makes the ignore rules useless (SC-16).
pub(crate) fn invalid_rules(path: &RepoPath, problem: ignore::Problem) -> Refusal {
    Refusal {
        code: RefusalCode::IgnoreShadowsManagedPath,
        ..folder_issue(
            IssueKind::IgnoreShadowsManaged,
            path,
            Some(problem.line),
            Actor::Author,
            format!("the pattern {:?} {}", problem.pattern, problem.message),
            "name only what is to be left alone",
        )
    }
}

/// Names the field that an issue is about.
pub(crate) fn with_field(mut refusal: Refusal, field: &str) -> Refusal {
    if let Some(at) = &mut refusal.at {
        at.field = Some(field.to_owned());
    }
    refusal
}

/// Sorts issues by path, line and kind, so that the same folder always reports the same list.
pub(crate) fn sort(issues: &mut Vec<Refusal>) {
    issues.sort_by(|a, b| (&a.at, a.issue, &a.message).cmp(&(&b.at, b.issue, &b.message)));
    issues.dedup();
}
