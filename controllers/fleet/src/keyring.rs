//! For whom each target's sensitive objects are encrypted, and what commits are signed with, for the branch writers.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use branch::SigningKey;
use branch::cycle::Keyring;
use manifests::Encryption;
use model::{GitBranchKey, TargetKey};

use crate::order::{BranchSigning, SigningSource};

/// A target on the branch that it writes: one that moves to another branch has keys on both for a while.
pub(crate) type Place = (GitBranchKey, TargetKey);

/// The keys of every target, as they were last ordered.
#[derive(Clone, Default)]
pub(crate) struct Keys {
    held: Arc<ArcSwap<BTreeMap<Place, Held>>>,
    signing: Arc<ArcSwap<BTreeMap<GitBranchKey, SigningSource>>>,
}

/// The keys of one target.
#[derive(Clone)]
struct Held {
    encryption: Arc<Encryption>,
    /// Whether it was mirrored no more when the keys were last taken.
    left: bool,
}

/// The keys of the targets on one branch.
pub(crate) struct BranchKeys {
    branch: GitBranchKey,
    keys: Keys,
}

impl Keys {
    /// Takes the keys of every target that is mirrored. Those of a target that has left are kept at first, because
    /// its last changes may still be on their way to the branch writer, and then while the branch has something to
    /// publish: what was decided may have to be sealed again on another commit.
    pub(crate) fn set(
        &self,
        orders: impl Iterator<Item = (Place, Option<Arc<Encryption>>)>,
        publishes: impl Fn(&GitBranchKey) -> bool,
    ) {
        let mut held = BTreeMap::clone(&self.held.load());
        held.retain(|(branch, _), kept| !kept.left || publishes(branch));
        held.values_mut().for_each(|kept| kept.left = true);
        for (place, encryption) in orders {
            match encryption {
                Some(encryption) => {
                    let left = false;
                    held.insert(place, Held { encryption, left });
                }
                None => drop(held.remove(&place)),
            }
        }
        self.held.store(Arc::new(held));
    }

    /// Takes what the commits of a branch are signed with.
    pub(crate) fn sign(&self, branch: &GitBranchKey, signing: Option<&BranchSigning>) {
        let mut all = BTreeMap::clone(&self.signing.load());
        match signing {
            Some(signing) => drop(all.insert(branch.clone(), Arc::clone(&signing.source))),
            None => drop(all.remove(branch)),
        }
        self.signing.store(Arc::new(all));
    }

    /// Returns the view of one branch.
    pub(crate) fn on(&self, branch: &GitBranchKey) -> BranchKeys {
        BranchKeys {
            branch: branch.clone(),
            keys: self.clone(),
        }
    }
}

impl Keyring for BranchKeys {
    fn encryption(&self, target: &TargetKey) -> Option<Arc<Encryption>> {
        let held = self.keys.held.load();
        let found = held.get(&(self.branch.clone(), target.clone()));
        found.map(|held| Arc::clone(&held.encryption))
    }

    fn signing(&self) -> Result<Option<Arc<SigningKey>>, String> {
        let all = self.keys.signing.load_full();
        all.get(&self.branch).map(|source| source()).transpose()
    }
}

#[cfg(test)]
mod tests {
    use model::{Namespace, ObjectName};

    use super::*;

    fn branch(name: &str) -> GitBranchKey {
        let namespace = Namespace::new("team-a").unwrap();
        GitBranchKey::new(namespace, ObjectName::new(name).unwrap())
    }

    fn target() -> TargetKey {
        let namespace = Namespace::new("team-a").unwrap();
        TargetKey::new(namespace, ObjectName::new("apps").unwrap())
    }

    fn ordered(on: &str, is_encrypted: bool) -> (Place, Option<Arc<Encryption>>) {
        let encryption = is_encrypted.then(Arc::default);
        ((branch(on), target()), encryption)
    }

    #[test]
    fn keys_outlive_their_target_until_its_branch_has_nothing_to_publish() {
        let keys = Keys::default();
        let has = |on: &str| keys.on(&branch(on)).encryption(&target()).is_some();
        keys.set([ordered("main", true)].into_iter(), |_| false);
        assert!(has("main") && !has("other"));
        keys.set(std::iter::empty(), |_| false);
        assert!(has("main"), "its last changes may be on their way");
        keys.set(std::iter::empty(), |_| true);
        assert!(has("main"), "the target is gone and its writes are not");
        keys.set(std::iter::empty(), |_| false);
        assert!(!has("main"));
        keys.set([ordered("main", true)].into_iter(), |_| true);
        keys.set([ordered("main", false)].into_iter(), |_| true);
        assert!(!has("main"), "encryption was turned off");
    }

    #[test]
    fn a_branch_is_asked_for_its_own_key_each_time() {
        let keys = Keys::default();
        let signing = BranchSigning {
            stamp: "somewhere".to_owned(),
            source: Arc::new(|| Err("the Secret is gone".to_owned())),
        };
        keys.sign(&branch("main"), Some(&signing));
        let of = |on: &str| keys.on(&branch(on)).signing().map(|key| key.is_some());
        assert_eq!(of("main"), Err("the Secret is gone".to_owned()));
        assert_eq!(of("other"), Ok(false));
        keys.sign(&branch("main"), None);
        assert_eq!(of("main"), Ok(false));
    }

    #[test]
    fn a_target_that_moves_leaves_its_keys_for_what_it_wrote_before() {
        let keys = Keys::default();
        let has = |on: &str| keys.on(&branch(on)).encryption(&target()).is_some();
        keys.set([ordered("main", true)].into_iter(), |_| true);
        keys.set([ordered("other", false)].into_iter(), |_| true);
        assert!(has("main") && !has("other"));
    }
}
