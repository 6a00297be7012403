//! Who is woken by what. The kinds say it in their `watches`; here their answers are put together.

use std::time::Duration;

use crds::{GitBranch, GitProvider, GitTarget, KubeProvider, WatchRule};
use k8s_openapi::api::core::v1::Namespace;
use kube::ResourceExt;
use tokio::sync::mpsc;

use crate::context::Stores;
use crate::follow::Change;
use crate::kind::{self, WakeUp};
use crate::place::Place;
use crate::{git_branch, git_provider, git_target, kube_provider, watch_rule};

/// One object that should be looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wake {
    GitProvider(Place),
    GitBranch(Place),
    KubeProvider(Place),
    GitTarget(Place),
    WatchRule(Place),
}

/// The inboxes of all kinds, to be written. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Wakes {
    git_provider: mpsc::Sender<WakeUp>,
    git_branch: mpsc::Sender<WakeUp>,
    kube_provider: mpsc::Sender<WakeUp>,
    git_target: mpsc::Sender<WakeUp>,
    watch_rule: mpsc::Sender<WakeUp>,
}

/// The inboxes of all kinds, to be read.
#[derive(Debug)]
pub(crate) struct Inboxes {
    pub(crate) git_provider: mpsc::Receiver<WakeUp>,
    pub(crate) git_branch: mpsc::Receiver<WakeUp>,
    pub(crate) kube_provider: mpsc::Receiver<WakeUp>,
    pub(crate) git_target: mpsc::Receiver<WakeUp>,
    pub(crate) watch_rule: mpsc::Receiver<WakeUp>,
}

impl Wakes {
    /// Creates the two ends of every inbox.
    pub(crate) fn channels() -> (Self, Inboxes) {
        let (git_provider, git_provider_inbox) = kind::inbox();
        let (git_branch, git_branch_inbox) = kind::inbox();
        let (kube_provider, kube_provider_inbox) = kind::inbox();
        let (git_target, git_target_inbox) = kind::inbox();
        let (watch_rule, watch_rule_inbox) = kind::inbox();
        let wakes = Self {
            git_provider,
            git_branch,
            kube_provider,
            git_target,
            watch_rule,
        };
        let inboxes = Inboxes {
            git_provider: git_provider_inbox,
            git_branch: git_branch_inbox,
            kube_provider: kube_provider_inbox,
            git_target: git_target_inbox,
            watch_rule: watch_rule_inbox,
        };
        (wakes, inboxes)
    }

    /// Asks for a look at an object, which may wait this long for other wake-ups of the same object.
    pub(crate) async fn send(&self, wake: Wake, within: Duration) {
        let (inbox, place) = match wake {
            Wake::GitProvider(place) => (&self.git_provider, place),
            Wake::GitBranch(place) => (&self.git_branch, place),
            Wake::KubeProvider(place) => (&self.kube_provider, place),
            Wake::GitTarget(place) => (&self.git_target, place),
            Wake::WatchRule(place) => (&self.watch_rule, place),
        };
        // A loop that has ended looks at nothing any more.
        let _ended = inbox.send(WakeUp { place, within }).await;
    }
}

/// Says whether something changed that the owner of an object wrote: its spec, a request for a fresh look, or
/// its deletion. Status updates are our own and wake nobody.
pub(crate) fn owner_changed<K: ResourceExt>(change: &Change<K>) -> bool {
    change.differs(|object| {
        (
            object.uid(),
            object.meta().generation,
            object.annotations().get(crds::REQUESTED_AT).cloned(),
            object.meta().deletion_timestamp.is_some(),
        )
    })
}

/// Returns whom a change of a GitProvider wakes.
pub(crate) fn git_provider(change: &Change<GitProvider>, stores: &Stores) -> Vec<Wake> {
    let own = git_provider::watches::on_self(change)
        .into_iter()
        .map(Wake::GitProvider);
    let branches = git_branch::watches::on_git_provider(change, stores).into_iter();
    own.chain(branches.map(Wake::GitBranch)).collect()
}

/// Returns whom a change of a GitBranch wakes.
pub(crate) fn git_branch(change: &Change<GitBranch>, stores: &Stores) -> Vec<Wake> {
    let own = git_branch::watches::on_self(change)
        .into_iter()
        .map(Wake::GitBranch);
    let targets = git_target::watches::on_git_branch(change, stores).into_iter();
    own.chain(targets.map(Wake::GitTarget)).collect()
}

/// Returns whom a change of a KubeProvider wakes.
pub(crate) fn kube_provider(change: &Change<KubeProvider>, stores: &Stores) -> Vec<Wake> {
    let own = kube_provider::watches::on_kube_provider(change, stores).into_iter();
    let targets = git_target::watches::on_kube_provider(change, stores).into_iter();
    let rules = watch_rule::watches::on_kube_provider(change, stores).into_iter();
    own.map(Wake::KubeProvider)
        .chain(targets.map(Wake::GitTarget))
        .chain(rules.map(Wake::WatchRule))
        .collect()
}

/// Returns whom a change of a GitTarget wakes.
pub(crate) fn git_target(change: &Change<GitTarget>, stores: &Stores) -> Vec<Wake> {
    let targets = git_target::watches::on_git_target(change, stores).into_iter();
    let branches = git_branch::watches::on_git_target(change).into_iter();
    let rules = watch_rule::watches::on_git_target(change, stores).into_iter();
    targets
        .map(Wake::GitTarget)
        .chain(branches.map(Wake::GitBranch))
        .chain(rules.map(Wake::WatchRule))
        .collect()
}

/// Returns whom a change of a WatchRule wakes.
pub(crate) fn watch_rule(change: &Change<WatchRule>) -> Vec<Wake> {
    let own = watch_rule::watches::on_self(change)
        .into_iter()
        .map(Wake::WatchRule);
    let targets = git_target::watches::on_watch_rule(change).into_iter();
    own.chain(targets.map(Wake::GitTarget)).collect()
}

/// Returns whom a change of a Namespace wakes: only its labels count.
pub(crate) fn namespace(change: &Change<Namespace>, stores: &Stores) -> Vec<Wake> {
    if !change.differs(|namespace| namespace.labels().clone()) {
        return Vec::new();
    }
    let Some(name) = change.object().map(|namespace| namespace.name_any()) else {
        return Vec::new();
    };
    let branches = git_branch::watches::on_namespace(&name, stores).into_iter();
    let targets = git_target::watches::on_namespace(&name, stores).into_iter();
    let rules = watch_rule::watches::on_namespace(&name, stores).into_iter();
    branches
        .map(Wake::GitBranch)
        .chain(targets.map(Wake::GitTarget))
        .chain(rules.map(Wake::WatchRule))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kube::runtime::reflector;
    use kube::runtime::watcher::Event;
    use serde_json::{Value, json};

    use super::*;
    use crate::fixtures::{object, place, ready};

    fn git_branch_live(more: Value) -> GitBranch {
        let spec =
            json!({"gitProviderRef": {"name": "repo", "namespace": "platform"}, "branch": "main"});
        object("GitBranch", "team-a/live", spec, more)
    }

    fn apps(more: Value) -> GitTarget {
        let spec = json!({
            "gitBranchRef": {"name": "live"}, "path": "apps",
            "kubeProviderRef": {"name": "local", "namespace": "platform"},
        });
        object("GitTarget", "team-a/apps", spec, more)
    }

    fn local(route: &str, at: &str) -> KubeProvider {
        object(
            "KubeProvider",
            at,
            json!({"inCluster": {}, "attribution": {"auditRoute": route}}),
            json!({}),
        )
    }

    /// One GitBranch, one GitTarget on it and one WatchRule for that, all in `team-a`.
    fn stores() -> Stores {
        let (git_providers, _) = reflector::store();
        let (git_branches, mut branches) = reflector::store();
        let (kube_providers, mut providers) = reflector::store();
        let (git_targets, mut targets) = reflector::store();
        let (watch_rules, mut rules) = reflector::store();
        let (namespaces, _) = reflector::store();
        let rule =
            json!({"gitTargetRef": {"name": "apps"}, "rules": [{"resources": ["configmaps"]}]});
        branches.apply_watcher_event(&Event::Apply(git_branch_live(json!({}))));
        targets.apply_watcher_event(&Event::Apply(apps(json!({}))));
        providers.apply_watcher_event(&Event::Apply(local("shared", "platform/local")));
        rules.apply_watcher_event(&Event::Apply(object(
            "WatchRule",
            "team-a/all",
            rule,
            json!({}),
        )));
        Stores {
            git_providers,
            git_branches,
            kube_providers,
            git_targets,
            watch_rules,
            namespaces,
        }
    }

    fn change<K>(before: K, after: K) -> Change<K> {
        Change {
            before: Some(Arc::new(before)),
            after: Some(Arc::new(after)),
        }
    }

    fn labelled(value: &str) -> Namespace {
        serde_json::from_value(json!({"metadata": {"name": "team-a", "labels": {"tenant": value}}}))
            .unwrap()
    }

    #[test]
    fn only_the_labels_of_a_namespace_count() {
        let stores = stores();
        assert!(namespace(&change(labelled("true"), labelled("true")), &stores).is_empty());
        let expected = [
            Wake::GitBranch(place("team-a/live")),
            Wake::GitTarget(place("team-a/apps")),
            Wake::WatchRule(place("team-a/all")),
        ];
        assert_eq!(
            namespace(&change(labelled("true"), labelled("false")), &stores),
            expected
        );
    }

    #[test]
    fn a_status_wakes_dependants_when_ready_moves_and_nobody_else() {
        let stores = stores();
        let branch = |status: &str, reason: &str| git_branch_live(ready(status, reason));
        let moved = change(branch("False", "Progressing"), branch("True", "Succeeded"));
        assert_eq!(
            git_branch(&moved, &stores),
            [Wake::GitTarget(place("team-a/apps"))]
        );
        let heartbeat = change(branch("True", "Succeeded"), branch("True", "Succeeded"));
        assert!(git_branch(&heartbeat, &stores).is_empty());
        let target = change(
            apps(ready("False", "Progressing")),
            apps(ready("True", "Succeeded")),
        );
        assert_eq!(
            git_target(&target, &stores),
            [Wake::WatchRule(place("team-a/all"))]
        );
    }

    #[test]
    fn a_target_that_comes_or_goes_concerns_its_branch_and_its_siblings() {
        let stores = stores();
        let gone = Change {
            before: Some(Arc::new(apps(json!({})))),
            after: None,
        };
        let expected = [
            Wake::GitTarget(place("team-a/apps")),
            Wake::GitBranch(place("team-a/live")),
            Wake::WatchRule(place("team-a/all")),
        ];
        assert_eq!(git_target(&gone, &stores), expected);
    }

    #[test]
    fn a_provider_that_leaves_a_route_wakes_those_who_stay_on_it() {
        let stores = stores();
        let mut elsewhere = local("own", "other/p");
        elsewhere.metadata.generation = Some(2);
        let moved = change(local("shared", "other/p"), elsewhere);
        let woken = kube_provider(&moved, &stores);
        assert!(
            woken.contains(&Wake::KubeProvider(place("platform/local"))),
            "{woken:?}"
        );
        assert!(
            woken.contains(&Wake::KubeProvider(place("other/p"))),
            "{woken:?}"
        );
    }

    #[test]
    fn a_request_for_a_fresh_look_counts_as_the_owners_change() {
        let asked = json!({"metadata": {"annotations": {crds::REQUESTED_AT: "now"}}});
        assert!(owner_changed(&change(apps(json!({})), apps(asked.clone()))));
        assert!(!owner_changed(&change(apps(asked.clone()), apps(asked))));
    }
}
