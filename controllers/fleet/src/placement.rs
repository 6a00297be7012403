//! Which target is mirrored from where to where, and whether that has been brought about.

use std::collections::BTreeMap;

use model::{GitBranchKey, KubeProviderKey, TargetKey};

use crate::order::MirrorOrder;

/// Numbers the starts of actors, so that a new one is never taken for the one before.
pub(crate) type Incarnation = u64;

/// What was asked for one target, and which actors were told.
#[derive(Debug, Clone)]
pub(crate) struct Placement {
    pub(crate) order: MirrorOrder,
    /// The branch writer that knows the target.
    pub(crate) on_branch: Option<Incarnation>,
    /// The branch writer and the source between which it is declared.
    pub(crate) declared: Option<(Incarnation, Incarnation)>,
}

/// All placements. Pure: it says what has to be told, and is told when that is done.
#[derive(Debug, Default)]
pub(crate) struct Placements {
    all: BTreeMap<TargetKey, Placement>,
}

/// What has to be told for one target.
#[derive(Debug, PartialEq)]
pub(crate) struct Due {
    pub(crate) target: TargetKey,
    /// Tell the branch writer, with its incarnation.
    pub(crate) configure: Option<Incarnation>,
    /// Declare it at the source, with both incarnations.
    pub(crate) declare: Option<(Incarnation, Incarnation)>,
}

impl Placements {
    /// Takes an order and returns the one that it replaces, if that was for other actors.
    pub(crate) fn set(&mut self, order: MirrorOrder) -> Option<MirrorOrder> {
        let key = order.config.key.clone();
        let before = self.all.get(&key);
        if before.is_some_and(|placement| placement.order == order) {
            return None;
        }
        let moved = before
            .filter(|before| {
                before.order.branch != order.branch || before.order.source != order.source
            })
            .map(|before| before.order.clone());
        self.all.insert(
            key,
            Placement {
                order,
                on_branch: None,
                declared: None,
            },
        );
        moved
    }

    pub(crate) fn remove(&mut self, target: &TargetKey) -> Option<MirrorOrder> {
        self.all.remove(target).map(|placement| placement.order)
    }

    pub(crate) fn get(&self, target: &TargetKey) -> Option<&Placement> {
        self.all.get(target)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&TargetKey, &Placement)> {
        self.all.iter()
    }

    /// Says what has to be told, given who runs.
    pub(crate) fn due(
        &self,
        branches: &BTreeMap<GitBranchKey, Incarnation>,
        sources: &BTreeMap<KubeProviderKey, Incarnation>,
    ) -> Vec<Due> {
        let mut due = Vec::new();
        for (target, placement) in &self.all {
            let Some(branch) = branches.get(&placement.order.branch).copied() else {
                continue;
            };
            let source = sources.get(&placement.order.source).copied();
            let configure = (placement.on_branch != Some(branch)).then_some(branch);
            let declare = source
                .map(|source| (branch, source))
                .filter(|pair| placement.declared != Some(*pair));
            if configure.is_some() || declare.is_some() {
                due.push(Due {
                    target: target.clone(),
                    configure,
                    declare,
                });
            }
        }
        due
    }

    pub(crate) fn done(&mut self, due: &Due) {
        if let Some(placement) = self.all.get_mut(&due.target) {
            placement.on_branch = due.configure.or(placement.on_branch);
            placement.declared = due.declare.or(placement.declared);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use branch::{CommitWindow, TargetConfig};
    use model::{FolderPath, Namespace, ObjectName};

    fn order(branch: &str, generation: u64) -> MirrorOrder {
        let namespace = Namespace::new("team-a").unwrap();
        let name = |name: &str| ObjectName::new(name).unwrap();
        MirrorOrder {
            branch: GitBranchKey::new(namespace.clone(), name(branch)),
            source: KubeProviderKey::new(namespace.clone(), name("local")),
            config: TargetConfig {
                key: TargetKey::new(namespace, name("apps")),
                folder: FolderPath::root(),
                window: CommitWindow {
                    idle: 1,
                    longest: 1,
                },
                prune: manifests::PruneMode::OnEvent,
                serialize_namespace: None,
                placement: manifests::Placement::default(),
                wording: branch::message_text::Wording::default(),
                encryption: None,
                suspended: false,
            },
            encryption: None,
            rules: Vec::new(),
            generation,
        }
    }

    #[test]
    fn a_target_is_told_once_to_each_actor_and_again_after_a_restart() {
        let mut placements = Placements::default();
        let one = order("live", 1);
        let (branch, source) = (one.branch.clone(), one.source.clone());
        assert_eq!(placements.set(one.clone()), None);
        let nobody = BTreeMap::new();
        assert!(placements.due(&nobody, &BTreeMap::new()).is_empty());
        let branches = BTreeMap::from([(branch.clone(), 1)]);
        let only_branch = placements.due(&branches, &BTreeMap::new());
        assert_eq!(
            (only_branch[0].configure, only_branch[0].declare),
            (Some(1), None)
        );
        placements.done(&only_branch[0]);
        let sources = BTreeMap::from([(source, 2)]);
        let both = placements.due(&branches, &sources);
        assert_eq!((both[0].configure, both[0].declare), (None, Some((1, 2))));
        placements.done(&both[0]);
        assert!(placements.due(&branches, &sources).is_empty());
        assert_eq!(placements.set(one), None);
        assert!(
            placements.due(&branches, &sources).is_empty(),
            "an equal order changes nothing"
        );
        let again = placements.due(&BTreeMap::from([(branch, 3)]), &sources);
        assert_eq!(
            (again[0].configure, again[0].declare),
            (Some(3), Some((3, 2)))
        );
    }

    #[test]
    fn a_changed_order_is_told_again_and_a_moved_one_names_where_it_was() {
        let mut placements = Placements::default();
        placements.set(order("live", 1));
        assert_eq!(placements.set(order("live", 2)), None);
        assert_eq!(placements.set(order("other", 2)), Some(order("live", 2)));
    }
}
