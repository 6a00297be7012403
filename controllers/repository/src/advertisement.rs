//! What a remote says about itself: every conclusion about a remote is drawn from one of these.

use std::collections::BTreeMap;

use model::{BranchName, CommitId};

/// The hash that a repository names its objects by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectFormat {
    /// 40 hex digits.
    Sha1,
    /// 64 hex digits.
    Sha256,
}

impl ObjectFormat {
    /// Returns the name that Git's protocol and configuration use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }

    /// Returns the number of hex digits of an id.
    pub fn hex_len(self) -> usize {
        match self {
            Self::Sha1 => 40,
            Self::Sha256 => 64,
        }
    }
}

/// What `HEAD` of the remote is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// It names a branch, which may not exist (yet).
    Branch(BranchName),
    /// It is a commit: detached, or the server does not say which branch it means.
    Detached(CommitId),
}

/// The refs of a remote at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advertisement {
    /// Every branch and the commit that it is at.
    pub branches: BTreeMap<BranchName, CommitId>,
    /// How many refs the server listed that are no branch. When it was asked for branches only and has
    /// some, this is not the full number.
    pub other_refs: usize,
    /// What `HEAD` is. `None` when the server did not say, as in every push session.
    pub head: Option<Head>,
    /// The repository's hash.
    pub object_format: ObjectFormat,
}

/// The branch that a new branch starts from when no parent is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultBranch {
    /// The default branch, and the commit that it is at.
    Found {
        /// The branch.
        branch: BranchName,
        /// Its commit.
        tip: CommitId,
    },
    /// The repository has no refs at all, so a first commit starts its history.
    Unborn {
        /// The branch that `HEAD` names.
        branch: Option<BranchName>,
    },
    /// The repository has refs, but `HEAD` names no branch that it carries.
    Missing {
        /// The branch that `HEAD` names.
        branch: Option<BranchName>,
    },
}

impl Advertisement {
    /// Returns the commit that a branch is at.
    pub fn branch(&self, branch: &BranchName) -> Option<&CommitId> {
        self.branches.get(branch)
    }

    /// Says whether the repository has no refs at all, tags included.
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty() && self.other_refs == 0
    }

    /// Returns the default branch. A commit without a name resolves to `master` when that is at the same
    /// commit, otherwise to the alphabetically first branch that is.
    pub fn default_branch(&self) -> DefaultBranch {
        let named = match &self.head {
            Some(Head::Branch(branch)) => Some(branch.clone()),
            Some(Head::Detached(id)) => self.branch_at(id),
            None => None,
        };
        let found = named
            .as_ref()
            .and_then(|branch| self.branches.get_key_value(branch));
        match found {
            Some((branch, tip)) => DefaultBranch::Found {
                branch: branch.clone(),
                tip: tip.clone(),
            },
            None if self.is_empty() => DefaultBranch::Unborn { branch: named },
            None => DefaultBranch::Missing { branch: named },
        }
    }

    /// Returns the existing branch whose name forbids this one: Git keeps no `a` beside `a/b`.
    pub fn name_conflict(&self, wanted: &BranchName) -> Option<&BranchName> {
        let below = |folder: &str, name: &str| {
            name.strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        self.branches.keys().find(|existing| {
            below(existing.as_str(), wanted.as_str()) || below(wanted.as_str(), existing.as_str())
        })
    }

    fn branch_at(&self, id: &CommitId) -> Option<BranchName> {
        let at_head = |(branch, tip): (&BranchName, &CommitId)| (tip == id).then(|| branch.clone());
        let mut candidates = self.branches.iter().filter_map(at_head);
        let first = candidates.next()?;
        if first.as_str() == "master" {
            return Some(first);
        }
        Some(
            candidates
                .find(|branch| branch.as_str() == "master")
                .unwrap_or(first),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> CommitId {
        CommitId::new(digit.to_string().repeat(40)).unwrap()
    }

    fn branch(name: &str) -> BranchName {
        BranchName::new(name).unwrap()
    }

    fn advertised(branches: &[(&str, char)], head: Option<Head>) -> Advertisement {
        Advertisement {
            branches: branches
                .iter()
                .map(|(name, digit)| (branch(name), id(*digit)))
                .collect(),
            other_refs: 0,
            head,
            object_format: ObjectFormat::Sha1,
        }
    }

    #[test]
    fn the_default_branch_follows_head() {
        let found = |name: &str, digit| DefaultBranch::Found {
            branch: branch(name),
            tip: id(digit),
        };
        let main = || Some(Head::Branch(branch("main")));
        let at = |digit| Some(Head::Detached(id(digit)));
        let cases = [
            (advertised(&[("main", 'a')], main()), found("main", 'a')),
            (
                advertised(&[("b", 'a'), ("master", 'a'), ("a", 'a')], at('a')),
                found("master", 'a'),
            ),
            (
                advertised(&[("b", 'a'), ("master", 'c'), ("a", 'a')], at('a')),
                found("a", 'a'),
            ),
            (
                advertised(&[("b", 'a')], at('c')),
                DefaultBranch::Missing { branch: None },
            ),
            (
                advertised(&[("b", 'a')], main()),
                DefaultBranch::Missing {
                    branch: Some(branch("main")),
                },
            ),
            (
                advertised(&[], main()),
                DefaultBranch::Unborn {
                    branch: Some(branch("main")),
                },
            ),
            (
                advertised(&[], None),
                DefaultBranch::Unborn { branch: None },
            ),
        ];
        for (given, expected) in cases {
            assert_eq!(given.default_branch(), expected, "{given:?}");
        }
    }

    #[test]
    fn a_repository_with_only_tags_is_not_empty() {
        let mut tags = advertised(&[], Some(Head::Branch(branch("main"))));
        tags.other_refs = 2;
        assert!(!tags.is_empty());
        assert!(matches!(
            tags.default_branch(),
            DefaultBranch::Missing { .. }
        ));
    }

    #[test]
    fn a_name_conflict_is_seen_in_both_directions() {
        let refs = advertised(&[("teams/a", 'a'), ("main", 'b')], None);
        let conflict = |name: &str| {
            refs.name_conflict(&branch(name))
                .map(|found| found.as_str().to_owned())
        };
        assert_eq!(conflict("teams/a/live").as_deref(), Some("teams/a"));
        assert_eq!(conflict("teams").as_deref(), Some("teams/a"));
        assert_eq!(conflict("teams/ab"), None);
        assert_eq!(conflict("teams/a"), None);
    }
}
