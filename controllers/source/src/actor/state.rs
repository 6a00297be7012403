//! What a source knows: types, targets with their plans, and the streams that run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use board::{ApiHealth, RuleResolution, StreamState, StreamView};
use model::{Collection, Millis, ServedType, TargetKey};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::catalog::{Catalog, Policy, Registry, Scan};
use crate::declaration::TargetDeclaration;
use crate::fault::{Fault, FaultKind};
use crate::metrics::CatalogState;
use crate::plan::{self, PlanDiff, WatchPlan};
use crate::settings::Settings;
use crate::sink::Sink;
use crate::watch::run::WatchEnd;

/// One watch: a collection for a target.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StreamKey {
    pub(super) target: TargetKey,
    pub(super) collection: Collection,
}

/// A watch that runs, or that was told to stop and has not yet.
pub(super) struct Stream {
    pub(super) served: ServedType,
    pub(super) sink: Arc<dyn Sink>,
    pub(super) view: watch::Receiver<StreamView>,
    pub(super) resync: Arc<Notify>,
    pub(super) cancel: CancellationToken,
    pub(super) stopping: bool,
}

/// A target as declared, and what follows from it.
pub(super) struct Target {
    pub(super) declaration: TargetDeclaration,
    /// Absent until the types are known.
    pub(super) plan: Option<WatchPlan>,
    /// Whether its branch is gone. Only another branch brings the watches back.
    branch_gone: bool,
    /// Watches that ended unexpectedly and wait for the next round of discovery.
    pub(super) broken: BTreeMap<Collection, Millis>,
}

/// Everything that the actor knows. It starts and cancels nothing by itself, except that stopping a stream
/// cancels it.
pub(super) struct State {
    policy: Policy,
    removal_grace: Duration,
    refresh_interval: Duration,
    first_retry: Duration,
    registry: Registry,
    catalog: Option<Catalog>,
    generation: u64,
    failures: u32,
    pub(super) api: ApiHealth,
    pub(super) targets: BTreeMap<TargetKey, Target>,
    pub(super) streams: BTreeMap<StreamKey, Stream>,
}

impl State {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            policy: Policy {
                sensitivity: settings.sensitivity.clone(),
                excluded_groups: settings.excluded_groups.clone(),
            },
            removal_grace: settings.removal_grace,
            refresh_interval: settings.refresh_interval,
            first_retry: settings.reconnect_delay,
            registry: Registry::default(),
            catalog: None,
            generation: 0,
            failures: 0,
            api: ApiHealth::default(),
            targets: BTreeMap::new(),
            streams: BTreeMap::new(),
        }
    }

    pub(super) fn catalog(&self) -> Option<&Catalog> {
        self.catalog.as_ref()
    }

    /// Takes in a declaration. Returns whether it names something that the cluster did not serve when it was
    /// last asked, so that it is worth asking again at once.
    pub(super) fn declare(&mut self, declaration: TargetDeclaration) -> bool {
        let before = self.targets.remove(&declaration.target);
        let same_branch = before
            .as_ref()
            .is_some_and(|before| Arc::ptr_eq(&before.declaration.sink, &declaration.sink));
        let news = before
            .as_ref()
            .is_none_or(|before| before.declaration.generation != declaration.generation);
        let catalog = self.catalog.as_ref();
        let plan = catalog.map(|catalog| plan::resolve(&declaration.rules, catalog));
        let incomplete = plan.as_ref().is_some_and(has_unresolved);
        let (branch_gone, broken) = match before {
            Some(before) if same_branch => (before.branch_gone, before.broken),
            _ => (false, BTreeMap::new()),
        };
        let target = Target {
            plan,
            branch_gone,
            broken,
            declaration,
        };
        let key = target.declaration.target.clone();
        self.targets.insert(key, target);
        news && incomplete
    }

    pub(super) fn withdraw(&mut self, target: &TargetKey) {
        self.targets.remove(target);
    }

    pub(super) fn resync(&mut self, target: &TargetKey, collection: Option<&Collection>) {
        for (key, stream) in &self.streams {
            let asked = collection.is_none_or(|collection| *collection == key.collection);
            if key.target == *target && asked {
                stream.resync.notify_one();
            }
        }
    }

    /// Takes in an answer of discovery. Returns whether the types are others than before.
    pub(super) fn absorb(&mut self, scan: Scan, now: Millis) -> bool {
        self.failures = 0;
        self.registry.absorb(scan, now, self.removal_grace);
        let catalog = self.registry.catalog(&self.policy);
        self.api = ApiHealth::Reachable {
            followable_types: catalog.followable(),
        };
        for target in self.targets.values_mut() {
            target.broken.clear();
        }
        if self.catalog.as_ref() == Some(&catalog) {
            return false;
        }
        self.generation += 1;
        for target in self.targets.values_mut() {
            target.plan = Some(plan::resolve(&target.declaration.rules, &catalog));
        }
        self.catalog = Some(catalog);
        true
    }

    /// Takes in a failure of discovery, which changes no type. Returns when to ask again at the latest.
    pub(super) fn discovery_failed(&mut self, fault: &Fault, now: Millis) -> Duration {
        let message = fault.message.clone();
        self.api = match (fault.kind, &self.api) {
            (FaultKind::Unauthenticated, _) => ApiHealth::AuthenticationFailed { message },
            (FaultKind::Forbidden, _) => ApiHealth::AccessDenied { message },
            (_, ApiHealth::Unreachable { since, .. }) => ApiHealth::Unreachable {
                since: *since,
                message,
            },
            _ => ApiHealth::Unreachable {
                since: now,
                message,
            },
        };
        let doubled = self.first_retry * 2_u32.saturating_pow(self.failures.min(10));
        self.failures += 1;
        doubled.min(self.refresh_interval)
    }

    pub(super) fn catalog_numbers(&self) -> Option<CatalogState> {
        let catalog = self.catalog.as_ref()?;
        let (trusted, degraded) = self.registry.trusted_and_degraded();
        Some(CatalogState {
            allowed: catalog.followable(),
            excluded: catalog.excluded(),
            trusted,
            degraded,
            generation: self.generation,
        })
    }

    /// Says for each target what has to start and stop.
    pub(super) fn differences(&self) -> Vec<(TargetKey, PlanDiff)> {
        let mut targets: BTreeSet<&TargetKey> = self.targets.keys().collect();
        targets.extend(self.streams.keys().map(|key| &key.target));
        targets
            .into_iter()
            .map(|target| (target.clone(), self.difference(target)))
            .collect()
    }

    fn difference(&self, key: &TargetKey) -> PlanDiff {
        let target = self.targets.get(key);
        let mut running = BTreeMap::new();
        let mut stopping = BTreeSet::new();
        let mut misdirected = BTreeSet::new();
        for (stream_key, stream) in self
            .streams
            .iter()
            .filter(|(other, _)| other.target == *key)
        {
            let collection = stream_key.collection.clone();
            let directed =
                target.is_some_and(|target| Arc::ptr_eq(&target.declaration.sink, &stream.sink));
            if stream.stopping {
                stopping.insert(collection);
            } else if directed {
                running.insert(collection, stream.served.clone());
            } else {
                misdirected.insert(collection);
            }
        }
        stopping.extend(misdirected.iter().cloned());
        let mut diff = wanted(target).diff(&running, &stopping);
        diff.stop.extend(misdirected);
        diff
    }

    pub(super) fn sink(&self, target: &TargetKey) -> Option<Arc<dyn Sink>> {
        let target = self.targets.get(target)?;
        Some(Arc::clone(&target.declaration.sink))
    }

    pub(super) fn started(&mut self, key: StreamKey, stream: Stream) {
        self.streams.insert(key, stream);
    }

    pub(super) fn stop(&mut self, key: &StreamKey) {
        if let Some(stream) = self.streams.get_mut(key) {
            stream.stopping = true;
            stream.cancel.cancel();
        }
    }

    /// Says whom to tell that a collection is no longer followed, now that its watch has stopped: the branch of
    /// the target, unless the target has left it or follows the collection again.
    pub(super) fn let_go_by(&self, key: &StreamKey) -> Option<Arc<dyn Sink>> {
        let target = self.targets.get(&key.target)?;
        let stream = self.streams.get(key)?;
        let same_branch = Arc::ptr_eq(&stream.sink, &target.declaration.sink);
        let followed = target
            .plan
            .as_ref()
            .is_none_or(|plan| plan.collections.contains_key(&key.collection));
        (same_branch && !followed).then(|| Arc::clone(&stream.sink))
    }

    /// Takes in the end of a watch.
    pub(super) fn ended(&mut self, key: &StreamKey, end: WatchEnd) {
        let stream = self.streams.remove(key);
        let target = self.targets.get_mut(&key.target);
        if let (WatchEnd::BranchGone, Some(stream), Some(target)) = (end, stream, target)
            && Arc::ptr_eq(&stream.sink, &target.declaration.sink)
        {
            target.branch_gone = true;
        }
    }

    /// Takes in the unexpected end of a watch.
    pub(super) fn broke(&mut self, key: &StreamKey, now: Millis) {
        self.streams.remove(key);
        if let Some(target) = self.targets.get_mut(&key.target) {
            target.broken.insert(key.collection.clone(), now);
        }
    }

    /// Returns how the stream of a planned collection is doing.
    pub(super) fn stream_view(&self, key: &StreamKey, target: &Target) -> StreamView {
        let idle = |state| StreamView {
            state,
            left_out: BTreeMap::new(),
        };
        match (self.streams.get(key), target.broken.get(&key.collection)) {
            (Some(stream), _) if !stream.stopping => stream.view.borrow().clone(),
            (_, Some(since)) => idle(StreamState::Blocked {
                reason: "WatchError".to_owned(),
                message: "the watch ended unexpectedly and starts again soon".to_owned(),
                since: *since,
            }),
            (_, None) => idle(StreamState::Pending),
        }
    }
}

/// Returns what should run for a target.
fn wanted(target: Option<&Target>) -> WatchPlan {
    let Some(target) = target.filter(|target| !target.branch_gone) else {
        return WatchPlan::default();
    };
    let mut plan = target.plan.clone().unwrap_or_default();
    plan.collections
        .retain(|collection, _| !target.broken.contains_key(collection));
    plan
}

fn has_unresolved(plan: &WatchPlan) -> bool {
    plan.rules.values().any(|rule| match rule {
        RuleResolution::Resolved { unresolved, .. } => !unresolved.is_empty(),
        RuleResolution::Overlaps { .. } => false,
    })
}
