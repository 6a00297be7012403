//! Which GitTarget owns a folder, and which rule owns a collection. The older one keeps what it has.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use model::{Collection, FolderPath, GitBranchKey, Millis, Scope, TargetKey, Uid};

/// A GitTarget that its GitBranch and its KubeProvider admit. Nobody else holds a path, so a target created
/// first cannot block a folder on somebody else's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathClaim {
    /// Which target.
    pub target: TargetKey,
    /// Its incarnation, which decides between two of the same age.
    pub uid: Uid,
    /// When it was created.
    pub created_at: Millis,
    /// The branch that it writes.
    pub branch: GitBranchKey,
    /// The folder that it writes.
    pub path: FolderPath,
}

/// Returns the targets that lose, each with the claim that it collides with.
///
/// The oldest claims first. A target that loses holds nothing, so it keeps no third one out.
pub fn path_conflicts(claims: &[PathClaim]) -> BTreeMap<TargetKey, PathClaim> {
    let mut in_line: Vec<&PathClaim> = claims.iter().collect();
    in_line.sort_by_key(|claim| (claim.created_at, &claim.uid));
    let mut holders: Vec<&PathClaim> = Vec::new();
    let mut losers = BTreeMap::new();
    for claim in in_line {
        let collides = |holder: &&&PathClaim| {
            holder.branch == claim.branch && holder.path.overlaps(&claim.path)
        };
        match holders.iter().find(collides) {
            Some(holder) => {
                losers.insert(claim.target.clone(), (*holder).clone());
            }
            None => holders.push(claim),
        }
    }
    losers
}

/// The collections that one rule asks for on one GitTarget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleCollections<K> {
    /// The rule; two rules of the same age are decided by its order.
    pub rule: K,
    /// When it was created.
    pub created_at: Millis,
    /// What its items select, each with the place of the item in `spec.rules`.
    pub collections: Vec<(usize, Collection)>,
}

/// Why a rule is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CollectionConflict<K> {
    /// Two of its own items overlap.
    WithItself {
        /// The rule.
        rule: K,
        /// The earlier item.
        first: (usize, Collection),
        /// The later item.
        second: (usize, Collection),
    },
    /// An older rule has a collection that overlaps.
    WithOlder {
        /// The rule that is refused.
        rule: K,
        /// Its collection.
        collection: Collection,
        /// The rule that keeps what it has.
        older: K,
        /// That rule's collection.
        kept: Collection,
    },
}

impl<K: Display> Display for CollectionConflict<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WithItself {
                rule,
                first,
                second,
            } => write!(
                f,
                "rule {rule} overlaps with itself: spec.rules[{}] selects {}, spec.rules[{}] selects {}; \
                 keep the wider item, or send one of them to a GitTarget of its own",
                first.0, first.1, second.0, second.1
            ),
            Self::WithOlder {
                rule,
                collection,
                older,
                kept,
            } => write!(
                f,
                "rule {rule} selects {collection}, which overlaps with {kept} of the older rule {older} on \
                 the same GitTarget; keep the wider rule, or send one of them to a GitTarget of its own"
            ),
        }
    }
}

/// Returns the rules of one GitTarget that are refused, each with the first overlap.
///
/// The older rule, then the one that sorts first, keeps its collections; a refused rule holds none. An exact
/// duplicate is no overlap: it shares one stream.
pub fn collection_conflicts<K: Ord + Clone>(
    rules: &[RuleCollections<K>],
) -> BTreeMap<K, CollectionConflict<K>> {
    let mut in_line: Vec<&RuleCollections<K>> = rules.iter().collect();
    in_line.sort_by(|a, b| (a.created_at, &a.rule).cmp(&(b.created_at, &b.rule)));
    let mut kept: Vec<&RuleCollections<K>> = Vec::new();
    let mut refused = BTreeMap::new();
    for rule in in_line {
        let conflict = own_conflict(rule).or_else(|| conflict_with_kept(rule, &kept));
        match conflict {
            Some(conflict) => {
                refused.insert(rule.rule.clone(), conflict);
            }
            None => kept.push(rule),
        }
    }
    refused
}

fn own_conflict<K: Clone>(rule: &RuleCollections<K>) -> Option<CollectionConflict<K>> {
    for (at, first) in rule.collections.iter().enumerate() {
        let second = rule.collections[at + 1..]
            .iter()
            .find(|second| overlaps(&first.1, &second.1));
        if let Some(second) = second {
            return Some(CollectionConflict::WithItself {
                rule: rule.rule.clone(),
                first: first.clone(),
                second: second.clone(),
            });
        }
    }
    None
}

fn conflict_with_kept<K: Clone>(
    rule: &RuleCollections<K>,
    kept: &[&RuleCollections<K>],
) -> Option<CollectionConflict<K>> {
    for (_, collection) in &rule.collections {
        for older in kept {
            let hit = older
                .collections
                .iter()
                .find(|(_, held)| overlaps(collection, held));
            if let Some((_, held)) = hit {
                return Some(CollectionConflict::WithOlder {
                    rule: rule.rule.clone(),
                    collection: collection.clone(),
                    older: older.rule.clone(),
                    kept: held.clone(),
                });
            }
        }
    }
    None
}

/// Says whether two collections could see one object without being the same collection.
pub fn overlaps(a: &Collection, b: &Collection) -> bool {
    let scopes_meet = match (&a.scope, &b.scope) {
        (Scope::Cluster, Scope::Cluster) => true,
        (Scope::AllNamespaces, Scope::AllNamespaces | Scope::Namespace(_))
        | (Scope::Namespace(_), Scope::AllNamespaces) => true,
        (Scope::Namespace(a), Scope::Namespace(b)) => a == b,
        (Scope::Cluster, Scope::AllNamespaces | Scope::Namespace(_))
        | (Scope::AllNamespaces | Scope::Namespace(_), Scope::Cluster) => false,
    };
    a.type_id == b.type_id && scopes_meet && a != b
}

#[cfg(test)]
mod tests;
