//! What the branch writer counts. Each stage counts once, with a closed set of outcomes.

use std::time::Duration;

use board::metrics::{Family, FamilySpec, RegisterError, Registrar};
use board::{BranchView, DirectoryReader, IntakeState, ProvedBy, Publication};
use model::{GitBranchKey, GitProviderKey, ResourceId, TargetKey};
use prometheus::{Histogram, IntCounter};

use crate::cycle::{CycleOutcome, DraftResult, Verdict};
use crate::state::WriteSource;

const COMMITS: FamilySpec<6> = FamilySpec {
    name: "git_commits_total",
    labels: [
        "gitbranch_namespace",
        "gitbranch_name",
        "provider_namespace",
        "provider_name",
        "author_kind",
        "message_source",
    ],
    meaning: "Commits that were made, by who they are by and where their message comes from.",
    act: "Never by itself; unresolved authors that grow point at the audit delivery.",
};
const PUSHES: FamilySpec<5> = FamilySpec {
    name: "git_pushes_total",
    labels: [
        "gitbranch_namespace",
        "gitbranch_name",
        "provider_namespace",
        "provider_name",
        "outcome",
    ],
    meaning: "Cycles that reached the remote or failed to: pushed or failed.",
    act: "Failures go on for minutes: read the Ready condition of the GitBranch.",
};
const PUSH_RETRIES: FamilySpec<5> = FamilySpec {
    name: "git_push_retries_total",
    labels: [
        "gitbranch_namespace",
        "gitbranch_name",
        "provider_namespace",
        "provider_name",
        "reason",
    ],
    meaning: "Times that somebody else's commit was found on the branch: remote_moved.",
    act: "Many an hour: two writers share the branch; give one of them a branch of its own.",
};
const CYCLE_SECONDS: FamilySpec<4> = FamilySpec {
    name: "git_push_duration_seconds",
    labels: [
        "gitbranch_namespace",
        "gitbranch_name",
        "provider_namespace",
        "provider_name",
    ],
    meaning: "Seconds that a cycle took which was allowed to push: look, plan, commit and push together.",
    act: "The upper end grows: the Git server or the way to it is slow.",
};
const DOCUMENTS: FamilySpec<5> = FamilySpec {
    name: "git_documents_total",
    labels: [
        "gittarget_namespace",
        "gittarget_name",
        "group",
        "resource",
        "outcome",
    ],
    meaning: "Documents that were decided: written, refused or retained.",
    act: "Refused ones grow: kubectl describe the GitTarget says why and what to do.",
};
const ENCRYPTIONS: FamilySpec<3> = FamilySpec {
    name: "secret_encryptions_total",
    labels: ["gittarget_namespace", "gittarget_name", "reason"],
    meaning: "Documents that were encrypted, by reason: new, changed, replaced (it was plain text) or unproven \
              (nothing told whether it still held the object).",
    act: "Unproven ones keep growing: give the target a private key, or find out who rewrites the files.",
};
const ANNOUNCEMENTS_DROPPED: FamilySpec<4> = FamilySpec {
    name: "git_announcements_dropped_total",
    labels: [
        "gitbranch_namespace",
        "gitbranch_name",
        "provider_namespace",
        "provider_name",
    ],
    meaning: "Events about commits and refusals that were dropped because too many waited.",
    act: "It grows: the API server takes Events too slowly; commits are not affected.",
};
const RETAINED_WRITES: FamilySpec<2> = FamilySpec {
    name: "git_retained_writes",
    labels: ["gitbranch_namespace", "gitbranch_name"],
    meaning: "Writes that are decided or closed and not on the remote, read at the scrape.",
    act: "It grows for minutes: the branch cannot publish.",
};
const RETAINED_BYTES: FamilySpec<2> = FamilySpec {
    name: "git_retained_bytes",
    labels: ["gitbranch_namespace", "gitbranch_name"],
    meaning: "Bytes that count against the branch buffer, read at the scrape.",
    act: "It nears --branch-buffer-max-size: intake is about to pause.",
};
const RETAINED_SINCE: FamilySpec<2> = FamilySpec {
    name: "git_retained_oldest_timestamp_seconds",
    labels: ["gitbranch_namespace", "gitbranch_name"],
    meaning: "When the oldest unpublished write was closed; absent when there is none.",
    act: "time() minus it is more than a few minutes: the branch cannot publish.",
};
const INTAKE_PAUSED: FamilySpec<2> = FamilySpec {
    name: "git_intake_paused",
    labels: ["gitbranch_namespace", "gitbranch_name"],
    meaning: "1 while the branch takes nothing in because its buffer is full, else 0.",
    act: "It is 1: repair the way to the remote; watches wait and lose nothing.",
};
const NEXT_RETRY: FamilySpec<2> = FamilySpec {
    name: "git_next_retry_timestamp_seconds",
    labels: ["gitbranch_namespace", "gitbranch_name"],
    meaning: "When the next attempt is made after a failure; absent while publishing works.",
    act: "Never by itself; it says how long a repair takes to show.",
};
const TARGETS: FamilySpec<4> = FamilySpec {
    name: "git_branch_targets",
    labels: [
        "gitbranch_namespace",
        "gitbranch_name",
        "gittarget_namespace",
        "gittarget_name",
    ],
    meaning: "Always 1; joins the targets to the branch that writes for them.",
    act: "Never; join it to other series.",
};

/// Upper bounds of the buckets, in seconds.
const SECONDS: &[f64] = &[
    0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0, 300.0,
];

/// The families of all branch writers, registered once.
#[derive(Clone)]
pub struct Metrics {
    commits: Family<IntCounter, 6>,
    pushes: Family<IntCounter, 5>,
    push_retries: Family<IntCounter, 5>,
    cycle_seconds: Family<Histogram, 4>,
    documents: Family<IntCounter, 5>,
    encryptions: Family<IntCounter, 3>,
    announcements_dropped: Family<IntCounter, 4>,
}

/// The families as one branch writer uses them.
#[derive(Clone)]
pub struct BranchMetrics {
    families: Metrics,
    branch: GitBranchKey,
    provider: GitProviderKey,
}

impl Metrics {
    /// Registers the families. Gauges about a writer are read from the directory when somebody asks.
    ///
    /// # Errors
    /// Returns the family whose name is taken or not legal.
    pub fn register(
        registrar: &mut Registrar,
        directory: &DirectoryReader,
    ) -> Result<Self, RegisterError> {
        gauges(registrar, directory)?;
        Ok(Self {
            commits: registrar.counter(COMMITS)?,
            pushes: registrar.counter(PUSHES)?,
            push_retries: registrar.counter(PUSH_RETRIES)?,
            cycle_seconds: registrar.histogram(CYCLE_SECONDS, SECONDS)?,
            documents: registrar.counter(DOCUMENTS)?,
            encryptions: registrar.counter(ENCRYPTIONS)?,
            announcements_dropped: registrar.counter(ANNOUNCEMENTS_DROPPED)?,
        })
    }

    /// Returns the families for one branch writer.
    pub fn of(&self, branch: &GitBranchKey, provider: &GitProviderKey) -> BranchMetrics {
        BranchMetrics {
            families: self.clone(),
            branch: branch.clone(),
            provider: provider.clone(),
        }
    }
}

fn gauges(registrar: &mut Registrar, directory: &DirectoryReader) -> Result<(), RegisterError> {
    let mut gauge = |spec: FamilySpec<2>, read: fn(&BranchView) -> Option<f64>| {
        let directory = directory.clone();
        registrar.observe(spec, move |observations| {
            for (key, entry) in &directory.now().branches {
                if let Some(value) = read(&entry.view.now()) {
                    observations.add([key.namespace.as_str(), key.name.as_str()], value);
                }
            }
        })
    };
    gauge(RETAINED_WRITES, |view| Some(count(view.pending.len())))?;
    gauge(RETAINED_BYTES, |view| Some(count(view.buffered_bytes)))?;
    gauge(RETAINED_SINCE, |view| {
        view.pending
            .iter()
            .map(|write| write.since)
            .min()
            .map(seconds)
    })?;
    gauge(INTAKE_PAUSED, |view| {
        Some(if view.intake == IntakeState::Paused {
            1.0
        } else {
            0.0
        })
    })?;
    gauge(NEXT_RETRY, |view| match view.publication {
        Publication::Healthy => None,
        Publication::Failing { retry_at, .. } => Some(seconds(retry_at)),
    })?;
    let directory = directory.clone();
    registrar.observe(TARGETS, move |observations| {
        for (key, entry) in &directory.now().branches {
            for target in entry.view.now().targets.keys() {
                let labels = [
                    key.namespace.as_str(),
                    key.name.as_str(),
                    target.namespace.as_str(),
                    target.name.as_str(),
                ];
                observations.add(labels, 1.0);
            }
        }
    })
}

/// Converts a moment to the seconds that Prometheus counts in.
fn seconds(at: model::Millis) -> f64 {
    Duration::from_millis(at).as_secs_f64()
}

/// Converts a count; beyond 2^32 it is a full buffer anyway.
fn count(value: usize) -> f64 {
    f64::from(u32::try_from(value).unwrap_or(u32::MAX))
}

impl BranchMetrics {
    pub(crate) fn note_cycle(&self, outcome: &CycleOutcome, may_push: bool, took: Duration) {
        let [branch_namespace, branch, provider_namespace, provider] = self.worker();
        if may_push {
            let family = &self.families.cycle_seconds;
            family
                .with([branch_namespace, branch, provider_namespace, provider])
                .observe(took.as_secs_f64());
        }
        let result = match (&outcome.published, &outcome.fault) {
            (Some(published), _) if published.by == ProvedBy::Push => Some("pushed"),
            (_, Some(_)) => Some("failed"),
            _ => None,
        };
        if let Some(result) = result {
            self.families
                .pushes
                .with([
                    branch_namespace,
                    branch,
                    provider_namespace,
                    provider,
                    result,
                ])
                .inc();
        }
        if outcome.foreign {
            let family = &self.families.push_retries;
            family
                .with([
                    branch_namespace,
                    branch,
                    provider_namespace,
                    provider,
                    "remote_moved",
                ])
                .inc();
        }
    }

    pub(crate) fn note_draft(&self, target: &TargetKey, result: &DraftResult) {
        let DraftResult::Judged(verdict) = result else {
            return;
        };
        self.note_verdict(target, verdict);
        if let Some(write) = &verdict.write {
            let source = match write.source {
                WriteSource::Live => "live",
                WriteSource::Resync => "reconcile",
            };
            let [branch_namespace, branch, provider_namespace, provider] = self.worker();
            let author = write.author.kind();
            let labels = [
                branch_namespace,
                branch,
                provider_namespace,
                provider,
                author,
                source,
            ];
            self.families.commits.with(labels).inc();
        }
    }

    fn note_verdict(&self, target: &TargetKey, verdict: &Verdict) {
        let count = |id: &ResourceId, outcome: &str| {
            let (group, resource) = (&*id.type_id.group, &*id.type_id.resource);
            let labels = [
                target.namespace.as_str(),
                target.name.as_str(),
                group,
                resource,
                outcome,
            ];
            self.families.documents.with(labels).inc();
        };
        verdict.refused.keys().for_each(|id| count(id, "refused"));
        verdict
            .write
            .iter()
            .flat_map(|write| &write.objects)
            .for_each(|id| count(id, "written"));
        verdict.retained.iter().for_each(|id| count(id, "retained"));
        for reason in &verdict.sealed {
            let labels = [
                target.namespace.as_str(),
                target.name.as_str(),
                reason.as_str(),
            ];
            self.families.encryptions.with(labels).inc();
        }
    }

    pub(crate) fn note_dropped_announcement(&self) {
        self.families
            .announcements_dropped
            .with(self.worker())
            .inc();
    }

    fn worker(&self) -> [&str; 4] {
        [
            self.branch.namespace.as_str(),
            self.branch.name.as_str(),
            self.provider.namespace.as_str(),
            self.provider.name.as_str(),
        ]
    }
}
