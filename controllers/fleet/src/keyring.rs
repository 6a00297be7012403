//! For whom each target's sensitive objects are encrypted, for the branch writers.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use branch::cycle::Keyring;
use manifests::Encryption;
use model::{GitBranchKey, TargetKey};

/// Finds the keys of a target in what was last ordered for it.
#[derive(Clone, Default)]
pub(crate) struct KeysByTarget {
    held: Arc<ArcSwap<BTreeMap<TargetKey, Held>>>,
}

/// The keys of one target and where they are used.
#[derive(Clone)]
struct Held {
    branch: GitBranchKey,
    encryption: Arc<Encryption>,
}

impl KeysByTarget {
    /// Takes the keys of every target that is mirrored. Those of a target that no longer is are kept while its
    /// branch writer runs: what was decided for it may have to be sealed again on another commit.
    pub(crate) fn set<'a>(
        &self,
        orders: impl Iterator<Item = (&'a TargetKey, &'a GitBranchKey, Option<Arc<Encryption>>)>,
        runs: impl Fn(&GitBranchKey) -> bool,
    ) {
        let mut held = BTreeMap::clone(&self.held.load());
        held.retain(|_, kept| runs(&kept.branch));
        for (target, branch, encryption) in orders {
            match encryption {
                Some(encryption) => {
                    let branch = branch.clone();
                    held.insert(target.clone(), Held { branch, encryption });
                }
                None => drop(held.remove(target)),
            }
        }
        self.held.store(Arc::new(held));
    }
}

impl Keyring for KeysByTarget {
    fn encryption(&self, target: &TargetKey) -> Option<Arc<Encryption>> {
        let held = self.held.load();
        held.get(target).map(|held| Arc::clone(&held.encryption))
    }
}

#[cfg(test)]
mod tests {
    use model::{Namespace, ObjectName};

    use super::*;

    #[test]
    fn keys_outlive_their_target_until_its_branch_writer_ends() {
        let namespace = Namespace::new("team-a").unwrap();
        let name = |name: &str| ObjectName::new(name).unwrap();
        let target = TargetKey::new(namespace.clone(), name("apps"));
        let branch = GitBranchKey::new(namespace, name("main"));
        let keys = || Some(Arc::new(Encryption::default()));
        let keyring = KeysByTarget::default();
        let has = || keyring.encryption(&target).is_some();
        keyring.set([(&target, &branch, keys())].into_iter(), |_| true);
        assert!(has());
        keyring.set(std::iter::empty(), |_| true);
        assert!(has(), "the target is gone and its writes may not be");
        keyring.set(std::iter::empty(), |_| false);
        assert!(!has());
        keyring.set([(&target, &branch, keys())].into_iter(), |_| false);
        assert!(has(), "a target may be known before its branch writer runs");
        keyring.set([(&target, &branch, None)].into_iter(), |_| true);
        assert!(!has(), "encryption was turned off");
    }
}
