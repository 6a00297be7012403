//! What is counted about sources and their watches.
//!
//! Each event is counted once, by what became of it. Labels are closed enums, so a family cannot grow by
//! what a cluster says; the name of a mirrored object is never a label.

use std::collections::BTreeMap;
use std::time::Duration;

use board::metrics::{Family, FamilySpec, RegisterError, Registrar};
use board::{DirectoryReader, StreamState};
use model::{KubeProviderKey, ServedType, TargetKey};
use prometheus::{Histogram, IntCounter, IntGauge};

/// Declares a closed vocabulary of one label.
macro_rules! label {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$variant_doc])* $variant),+
        }

        impl $name {
            /// Returns the value of the label.
            pub(crate) fn as_label(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
    };
}

label!(
    /// What became of one event of a stream. Initial events become one snapshot and are not counted here.
    EventOutcome {
        /// It was handed over.
        Routed = "routed",
        /// The mirror has it already.
        Unchanged = "unchanged",
        /// Its object cannot be named.
        NotObject = "not_object",
        /// Only the resourceVersion moved.
        Bookmark = "bookmark",
        /// The watch was stopped while it waited to hand over.
        Shutdown = "shutdown",
        /// The stream broke.
        StreamError = "stream_error",
        /// The branch was gone.
        RouteFailed = "route_failed",
        /// The cluster or a tool generates the object for itself.
        ClusterGenerated = "cluster_generated",
        /// A controller derives the object.
        ControllerOwned = "controller_owned",
    }
);

label!(
    /// Why one connection ended.
    SessionEnd {
        /// The history that it had to go on from is gone.
        Expired = "expired",
        /// It broke.
        Error = "error",
        /// It was stopped from our side.
        Stopped = "stopped",
        /// The server ended it, as it does every few minutes.
        Closed = "closed",
    }
);

label!(
    /// How a connection begins.
    Recovery {
        /// From where the last one was.
        CursorResume = "cursor_resume",
        /// Anew, because the target asked for it.
        TypeReconcile = "type_reconcile",
        /// Anew.
        Replay = "replay",
        /// Anew, from a list.
        ListFallback = "list_fallback",
    }
);

label!(
    /// How a round of discovery ended.
    RefreshOutcome {
        /// The types are others than before.
        Changed = "changed",
        /// The types are the same.
        Unchanged = "unchanged",
        /// There was no answer.
        Error = "error",
    }
);

const EVENTS: FamilySpec<6> = FamilySpec {
    name: "watch_events_total",
    labels: [
        "gittarget_namespace",
        "gittarget_name",
        "group",
        "version",
        "resource",
        "outcome",
    ],
    meaning: "Live events of watches, by what became of each; initial events become a snapshot and are not counted here.",
    act: "stream_error or route_failed grow steadily: read the StreamsRunning condition of the target.",
};
const HANDLING: FamilySpec<3> = FamilySpec {
    name: "watch_event_handling_seconds",
    labels: ["group", "version", "resource"],
    meaning: "Seconds that a watch was busy with one event, handing over included.",
    act: "The upper end grows: the branch takes changes in too slowly.",
};
const SESSIONS_ENDED: FamilySpec<6> = FamilySpec {
    name: "watch_sessions_ended_total",
    labels: [
        "gittarget_namespace",
        "gittarget_name",
        "group",
        "version",
        "resource",
        "reason",
    ],
    meaning: "Connections of watches that ended, by reason; closed is the ordinary end after some minutes.",
    act: "error grows: the way to the source cluster is unstable.",
};
const REPLAY: FamilySpec<5> = FamilySpec {
    name: "watch_replay_duration_seconds",
    labels: [
        "gittarget_namespace",
        "gittarget_name",
        "group",
        "version",
        "resource",
    ],
    meaning: "Seconds from opening a replay to the acceptance of its snapshot.",
    act: "Minutes: the collection is very large or the branch is slow to take it.",
};
const RECOVERY: FamilySpec<5> = FamilySpec {
    name: "watch_recovery_total",
    labels: [
        "gittarget_namespace",
        "gittarget_name",
        "group",
        "resource",
        "mode",
    ],
    meaning: "How connections of watches began: from a cursor, or anew.",
    act: "replay grows without a cause that you know: history expires before watches come back.",
};
const CATALOG_RESOURCES: FamilySpec<2> = FamilySpec {
    name: "api_catalog_resources",
    labels: ["source_cluster", "state"],
    meaning: "Types of a source by whether they can be followed: allowed or excluded.",
    act: "Never by itself.",
};
const CATALOG_GROUP_VERSIONS: FamilySpec<2> = FamilySpec {
    name: "api_catalog_group_versions",
    labels: ["source_cluster", "state"],
    meaning: "Group versions of a source by whether they answer: trusted or degraded.",
    act: "degraded is not 0: an APIService of the source cluster is down.",
};
const CATALOG_REFRESH: FamilySpec<2> = FamilySpec {
    name: "api_catalog_refresh_total",
    labels: ["source_cluster", "outcome"],
    meaning: "Rounds of discovery by outcome: changed, unchanged or error.",
    act: "error grows: the source cluster does not answer.",
};
const CATALOG_REFRESH_SECONDS: FamilySpec<2> = FamilySpec {
    name: "api_catalog_refresh_duration_seconds",
    labels: ["source_cluster", "outcome"],
    meaning: "Seconds that a round of discovery took.",
    act: "It grows: the source cluster's API server is slow.",
};
const CATALOG_GENERATION: FamilySpec<1> = FamilySpec {
    name: "api_catalog_generation",
    labels: ["source_cluster"],
    meaning: "How often the types of a source have changed since the start.",
    act: "Never by itself.",
};
const TYPES: FamilySpec<4> = FamilySpec {
    name: "watch_types",
    labels: [
        "source_cluster",
        "gittarget_namespace",
        "gittarget_name",
        "state",
    ],
    meaning: "Watched collections of a target by the state of their stream, read at the scrape.",
    act: "blocked is not 0 for minutes: read the StreamsRunning condition of the target.",
};
const STREAMS_OPEN: FamilySpec<3> = FamilySpec {
    name: "watch_streams_open",
    labels: ["source_cluster", "gittarget_namespace", "gittarget_name"],
    meaning: "Streams of a target that deliver live events, read at the scrape.",
    act: "It is below the number of collections for minutes.",
};

/// Upper bounds of the buckets, in seconds.
const SECONDS: &[f64] = &[
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
];

/// The families of every source of the process.
#[derive(Clone)]
pub struct Metrics {
    events: Family<IntCounter, 6>,
    handling: Family<Histogram, 3>,
    sessions_ended: Family<IntCounter, 6>,
    replay: Family<Histogram, 5>,
    recovery: Family<IntCounter, 5>,
    catalog_resources: Family<IntGauge, 2>,
    catalog_group_versions: Family<IntGauge, 2>,
    catalog_refresh: Family<IntCounter, 2>,
    catalog_refresh_seconds: Family<Histogram, 2>,
    catalog_generation: Family<IntGauge, 1>,
}

impl Metrics {
    /// Registers the families. Gauges about streams are read from the directory when somebody asks, so they
    /// cannot go stale.
    ///
    /// # Errors
    /// Returns the family whose name is taken or not legal.
    pub fn register(
        registrar: &mut Registrar,
        directory: &DirectoryReader,
    ) -> Result<Self, RegisterError> {
        gauges(registrar, directory)?;
        Ok(Self {
            events: registrar.counter(EVENTS)?,
            handling: registrar.histogram(HANDLING, SECONDS)?,
            sessions_ended: registrar.counter(SESSIONS_ENDED)?,
            replay: registrar.histogram(REPLAY, SECONDS)?,
            recovery: registrar.counter(RECOVERY)?,
            catalog_resources: registrar.gauge(CATALOG_RESOURCES)?,
            catalog_group_versions: registrar.gauge(CATALOG_GROUP_VERSIONS)?,
            catalog_refresh: registrar.counter(CATALOG_REFRESH)?,
            catalog_refresh_seconds: registrar.histogram(CATALOG_REFRESH_SECONDS, SECONDS)?,
            catalog_generation: registrar.gauge(CATALOG_GENERATION)?,
        })
    }

    /// Returns the counters of one watch.
    pub(crate) fn watch(&self, target: &TargetKey, served: &ServedType) -> WatchMetrics {
        WatchMetrics {
            metrics: self.clone(),
            target: [target.namespace.to_string(), target.name.to_string()],
            served: [
                served.type_id.group.to_string(),
                served.version.clone(),
                served.type_id.resource.to_string(),
            ],
        }
    }

    /// Counts a round of discovery.
    pub(crate) fn refreshed(
        &self,
        source: &KubeProviderKey,
        outcome: RefreshOutcome,
        took: Duration,
    ) {
        let source = source.to_string();
        let labels = [source.as_str(), outcome.as_label()];
        self.catalog_refresh.with(labels).inc();
        self.catalog_refresh_seconds
            .with(labels)
            .observe(took.as_secs_f64());
    }

    /// Sets what is known about the types of a source.
    pub(crate) fn catalog(&self, source: &KubeProviderKey, state: CatalogState) {
        let source = source.to_string();
        let set = |gauge: &Family<IntGauge, 2>, state: &str, value: usize| {
            gauge
                .with([source.as_str(), state])
                .set(i64::try_from(value).unwrap_or(i64::MAX));
        };
        set(&self.catalog_resources, "allowed", state.allowed);
        set(&self.catalog_resources, "excluded", state.excluded);
        set(&self.catalog_group_versions, "trusted", state.trusted);
        set(&self.catalog_group_versions, "degraded", state.degraded);
        self.catalog_generation
            .with([source.as_str()])
            .set(i64::try_from(state.generation).unwrap_or(i64::MAX));
    }

    /// Drops the gauges of a source that ended.
    pub(crate) fn forget(&self, source: &KubeProviderKey) {
        let source = source.to_string();
        for state in ["allowed", "excluded"] {
            self.catalog_resources.forget([source.as_str(), state]);
        }
        for state in ["trusted", "degraded"] {
            self.catalog_group_versions.forget([source.as_str(), state]);
        }
        self.catalog_generation.forget([source.as_str()]);
    }
}

/// What is known about the types of a source, in numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CatalogState {
    pub(crate) allowed: usize,
    pub(crate) excluded: usize,
    pub(crate) trusted: usize,
    pub(crate) degraded: usize,
    pub(crate) generation: u64,
}

/// The counters of one watch.
#[derive(Clone)]
pub(crate) struct WatchMetrics {
    metrics: Metrics,
    target: [String; 2],
    served: [String; 3],
}

impl WatchMetrics {
    pub(crate) fn event(&self, outcome: EventOutcome) {
        self.metrics
            .events
            .with(self.labels(outcome.as_label()))
            .inc();
    }

    pub(crate) fn handled(&self, took: Duration) {
        let served = self.served.each_ref().map(String::as_str);
        self.metrics
            .handling
            .with(served)
            .observe(took.as_secs_f64());
    }

    pub(crate) fn session_ended(&self, reason: SessionEnd) {
        self.metrics
            .sessions_ended
            .with(self.labels(reason.as_label()))
            .inc();
    }

    pub(crate) fn replayed(&self, took: Duration) {
        let [namespace, name, group, version, resource, _] = self.labels("");
        let labels = [namespace, name, group, version, resource];
        self.metrics.replay.with(labels).observe(took.as_secs_f64());
    }

    pub(crate) fn recovered(&self, mode: Recovery) {
        let [namespace, name, group, _, resource, mode] = self.labels(mode.as_label());
        self.metrics
            .recovery
            .with([namespace, name, group, resource, mode])
            .inc();
    }

    fn labels<'a>(&'a self, last: &'a str) -> [&'a str; 6] {
        let [namespace, name] = self.target.each_ref().map(String::as_str);
        let [group, version, resource] = self.served.each_ref().map(String::as_str);
        [namespace, name, group, version, resource, last]
    }
}

fn gauges(registrar: &mut Registrar, directory: &DirectoryReader) -> Result<(), RegisterError> {
    let read = directory.clone();
    registrar.observe(TYPES, move |observations| {
        for (source, entry) in &read.now().sources {
            let source = source.to_string();
            for (target, streams) in &entry.view.now().targets {
                let mut by_state = BTreeMap::new();
                for stream in streams.streams.values() {
                    *by_state.entry(state_label(&stream.state)).or_insert(0_u32) += 1;
                }
                let (namespace, name) = (target.namespace.as_str(), target.name.as_str());
                for (state, count) in by_state {
                    observations.add([source.as_str(), namespace, name, state], f64::from(count));
                }
            }
        }
    })?;
    let read = directory.clone();
    registrar.observe(STREAMS_OPEN, move |observations| {
        for (source, entry) in &read.now().sources {
            let source = source.to_string();
            for (target, streams) in &entry.view.now().targets {
                let open = u32::try_from(streams.streaming()).unwrap_or(u32::MAX);
                let (namespace, name) = (target.namespace.as_str(), target.name.as_str());
                observations.add([source.as_str(), namespace, name], f64::from(open));
            }
        }
    })
}

fn state_label(state: &StreamState) -> &'static str {
    match state {
        StreamState::Pending => "pending",
        StreamState::Replaying { .. } => "replaying",
        StreamState::Streaming => "streaming",
        StreamState::Blocked { .. } => "blocked",
    }
}

#[cfg(test)]
mod tests {
    use model::{Namespace, ObjectName, TypeId};

    use super::*;

    #[test]
    fn every_family_can_be_used_and_registered_once() {
        let directory = board::DirectoryWriter::new().reader();
        let mut registrar = Registrar::new("test");
        let metrics = Metrics::register(&mut registrar, &directory).unwrap();
        assert!(Metrics::register(&mut registrar, &directory).is_err());
        let (registry, _) = registrar.finish();
        let namespace = Namespace::new("team-a").unwrap();
        let target = TargetKey::new(namespace.clone(), ObjectName::new("apps").unwrap());
        let source = KubeProviderKey::new(namespace, ObjectName::new("local").unwrap());
        let served = ServedType {
            type_id: TypeId::new("", "configmaps"),
            version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespaced: true,
            sensitive: false,
        };
        let watch = metrics.watch(&target, &served);
        watch.event(EventOutcome::Routed);
        watch.handled(Duration::ZERO);
        watch.session_ended(SessionEnd::Closed);
        watch.replayed(Duration::ZERO);
        watch.recovered(Recovery::Replay);
        metrics.refreshed(&source, RefreshOutcome::Changed, Duration::ZERO);
        metrics.catalog(&source, CatalogState::default());
        let mut names: Vec<_> = registry
            .gather()
            .iter()
            .map(|family| family.name().to_owned())
            .collect();
        names.sort();
        assert_eq!(names.len(), 10, "{names:?}");
        metrics.forget(&source);
        assert_eq!(
            registry.gather().len(),
            7,
            "gauges of a source that ended are gone"
        );
    }
}
