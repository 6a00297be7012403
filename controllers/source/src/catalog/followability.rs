//! Whether a type can be followed: the checks that it must pass, in order.
//!
//! Served, trusted and stable are answered by the registry: it forgets what is not served and not in its
//! grace, and says whether the group's server answered. The rest is judged here: identity, scope, verbs and
//! policy. Where a type comes from, whether it is sensitive and whether it can be scaled never stand in the
//! way.

use std::collections::BTreeSet;
use std::fmt;

use model::{Sensitivity, TypeId};

use super::exclusion;
use super::scan::ServedResource;

/// What must be possible with a type to see all of its state.
const NEEDED_VERBS: &[&str] = &["get", "list", "watch"];
/// One of these must be possible, else nobody could have meant what the type's objects say. Deleting counts:
/// it is all that is left of a custom type whose definition is being deleted, and those deletions are seen.
const WRITE_VERBS: &[&str] = &["create", "update", "patch", "delete"];

/// Whether a type can be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Followability {
    /// It can.
    Followable,
    /// It could when it was last seen, and nothing proves that it is gone: it stays watched.
    Retained,
    /// It cannot, for these reasons.
    Refused(Vec<Obstacle>),
}

/// Why a type cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// Discovery names no kind, or several.
    KindUnclear,
    /// Another resource of the same group version has the same kind.
    KindShared,
    /// Discovery does not say where its objects live.
    ScopeUnknown,
    /// It cannot be read as a collection.
    MissingVerbs(Vec<&'static str>),
    /// Nobody can write it.
    ReadOnly,
    /// It is never mirrored.
    Excluded,
}

/// What the installer decided about types.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Which types are encrypted.
    pub sensitivity: Sensitivity,
    /// Groups of which nothing is mirrored.
    pub excluded_groups: Vec<String>,
}

impl Followability {
    /// Judges one resource. `kind_shared` says whether another resource of its group version has its kind,
    /// `trusted` whether the last answer about its group version is up to date and names it.
    pub fn judge(
        type_id: &TypeId,
        resource: &ServedResource,
        kind_shared: bool,
        trusted: bool,
        policy: &Policy,
    ) -> Self {
        let mut obstacles = Vec::new();
        if resource.kinds.len() != 1 {
            obstacles.push(Obstacle::KindUnclear);
        }
        if kind_shared {
            obstacles.push(Obstacle::KindShared);
        }
        if resource.scope.is_none() {
            obstacles.push(Obstacle::ScopeUnknown);
        }
        obstacles.extend(missing_verbs(&resource.verbs));
        if exclusion::is_excluded(type_id, &policy.excluded_groups) {
            obstacles.push(Obstacle::Excluded);
        }
        match (obstacles.is_empty(), trusted) {
            (false, _) => Self::Refused(obstacles),
            (true, true) => Self::Followable,
            (true, false) => Self::Retained,
        }
    }

    /// Says whether a rule that selects the type gets a watch.
    pub fn is_watched(&self) -> bool {
        match self {
            Self::Followable | Self::Retained => true,
            Self::Refused(_) => false,
        }
    }
}

fn missing_verbs(verbs: &BTreeSet<String>) -> Option<Obstacle> {
    let missing: Vec<_> = NEEDED_VERBS
        .iter()
        .copied()
        .filter(|verb| !verbs.contains(*verb))
        .collect();
    if !missing.is_empty() {
        return Some(Obstacle::MissingVerbs(missing));
    }
    let writable = WRITE_VERBS.iter().any(|verb| verbs.contains(*verb));
    (!writable).then_some(Obstacle::ReadOnly)
}

impl fmt::Display for Obstacle {
    /// Completes a sentence that starts with the name of the type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KindUnclear => f.write_str("has no single kind in discovery"),
            Self::KindShared => f.write_str("shares its kind with another resource"),
            Self::ScopeUnknown => f.write_str("has no known scope in discovery"),
            Self::MissingVerbs(verbs) => write!(f, "does not offer {}", verbs.join(", ")),
            Self::ReadOnly => f.write_str("cannot be written, so nobody means its objects"),
            Self::Excluded => f.write_str("is never mirrored"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::ResourceScope;

    const ALL: &[&str] = &["get", "list", "watch", "create"];

    fn judge(resource: &str, kinds: &[&str], verbs: &[&str], trusted: bool) -> Followability {
        let facts = ServedResource {
            kinds: kinds.iter().map(ToString::to_string).collect(),
            scope: Some(ResourceScope::Namespaced),
            verbs: verbs.iter().map(ToString::to_string).collect(),
        };
        let type_id = TypeId::new("", resource);
        Followability::judge(&type_id, &facts, false, trusted, &Policy::default())
    }

    #[test]
    fn each_check_refuses_by_name() {
        let refused = |obstacle| Followability::Refused(vec![obstacle]);
        let cases = [
            (
                judge("widgets", &["Widget"], ALL, true),
                Followability::Followable,
            ),
            (
                judge("widgets", &["Widget"], ALL, false),
                Followability::Retained,
            ),
            (
                judge("widgets", &[], ALL, true),
                refused(Obstacle::KindUnclear),
            ),
            (
                judge("widgets", &["A", "B"], ALL, true),
                refused(Obstacle::KindUnclear),
            ),
            (
                judge("tokenreviews", &["TokenReview"], &["create"], true),
                refused(Obstacle::MissingVerbs(vec!["get", "list", "watch"])),
            ),
            (
                judge("things", &["Thing"], &["get", "list", "watch"], true),
                refused(Obstacle::ReadOnly),
            ),
            (
                judge(
                    "dying",
                    &["Dying"],
                    &["get", "list", "watch", "delete"],
                    true,
                ),
                Followability::Followable,
            ),
            (
                judge("pods", &["Pod"], ALL, true),
                refused(Obstacle::Excluded),
            ),
            (
                judge("pods", &["Pod"], ALL, false),
                refused(Obstacle::Excluded),
            ),
        ];
        for (index, (judged, expected)) in cases.into_iter().enumerate() {
            assert_eq!(judged, expected, "case {index}");
        }
    }

    #[test]
    fn a_shared_kind_and_an_unknown_scope_refuse() {
        let facts = ServedResource {
            kinds: BTreeSet::from(["Widget".to_owned()]),
            scope: None,
            verbs: ALL.iter().map(ToString::to_string).collect(),
        };
        let type_id = TypeId::new("example.com", "widgets");
        let judged = Followability::judge(&type_id, &facts, true, true, &Policy::default());
        let both = vec![Obstacle::KindShared, Obstacle::ScopeUnknown];
        assert_eq!(judged, Followability::Refused(both));
    }
}
