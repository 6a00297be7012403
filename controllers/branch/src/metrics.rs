//! What the branch writer counts. Each stage counts once, with a closed set of outcomes.

use std::time::Duration;

use board::metrics::{Family, FamilySpec, RegisterError, Registrar};
use board::{BranchView, DirectoryReader, IntakeState, JournalState, ProvedBy, Publication};
use model::{GitBranchKey, GitProviderKey, TargetKey, TypeId};
use prometheus::{Histogram, IntCounter};

use crate::cycle::tally::placement_refusal;
use crate::cycle::{CycleOutcome, DraftResult, Verdict};
use crate::state::{Draft, DraftKind, WriteSource};

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
    meaning: "Commits that were made, by who they are by and where their message comes from: live or reconcile, with _fallback \
              where a template failed and the built-in wording was used.",
    act: "Fallbacks grow: the log names what the template does. Unresolved authors that grow point at the audit delivery.",
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
    meaning: "Pushes that were made again because the branch had moved: remote_moved.",
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
    meaning: "Documents that were decided: written, deleted_live (the object was seen to go), deleted_sweep (a \
              snapshot lacks it), unchanged, refused or retained.",
    act: "Refused ones grow: kubectl describe the GitTarget says why and what to do.",
};
const PLACEMENTS: FamilySpec<5> = FamilySpec {
    name: "placements_total",
    labels: [
        "gittarget_namespace",
        "gittarget_name",
        "group",
        "resource",
        "source",
    ],
    meaning: "New documents by what chose their place: by_type, default, kustomize_root or builtin.",
    act: "builtin grows where you have a layout of your own: declare it in spec.placement.",
};
const PLACEMENT_REFUSALS: FamilySpec<5> = FamilySpec {
    name: "placement_refusals_total",
    labels: [
        "gittarget_namespace",
        "gittarget_name",
        "group",
        "resource",
        "reason",
    ],
    meaning: "Objects that were not written because no place is right for them, by reason.",
    act: "When it grows: kubectl describe the GitTarget says which object and what to change.",
};
const LISTINGS: FamilySpec<3> = FamilySpec {
    name: "placement_kustomization_entries_total",
    labels: ["gittarget_namespace", "gittarget_name", "outcome"],
    meaning: "New files of kustomize folders by what became of their entry in resources: added, no_change (listed \
              already) or failed (the list could not be changed, and the file was not written).",
    act: "failed grows: kubectl describe the GitTarget names the kustomization; change its list by hand.",
};
const COMMIT_FAILURES: FamilySpec<6> = FamilySpec {
    name: "git_commit_failures_total",
    labels: [
        "gitbranch_namespace",
        "gitbranch_name",
        "provider_namespace",
        "provider_name",
        "kind",
        "reason",
    ],
    meaning: "Commit windows and snapshots (kind window or resync) of which nothing could be written (reason \
              refused).",
    act: "When it grows: kubectl describe the GitTarget says why and what to do.",
};
const RESYNC_FAILURES: FamilySpec<2> = FamilySpec {
    name: "git_resync_failures_total",
    labels: ["gittarget_namespace", "gittarget_name"],
    meaning: "Snapshots of a collection of which nothing could be written.",
    act: "When it grows: the folder does not follow the cluster; kubectl describe the GitTarget says why and what to do.",
};
const FETCHES: FamilySpec<5> = FamilySpec {
    name: "git_fetches_total",
    labels: [
        "gitbranch_namespace",
        "gitbranch_name",
        "provider_namespace",
        "provider_name",
        "reason",
    ],
    meaning: "Fetches by reason: initial, refresh (a look found new commits), moved (a push lost its race) or \
              renewal (the local store had grown).",
    act: "initial grows without a restart: the local store is lost or damaged again and again; look at the disk.",
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
const JOURNALLED: FamilySpec<3> = FamilySpec {
    name: "journal_writes_total",
    labels: ["gitbranch_namespace", "gitbranch_name", "outcome"],
    meaning: "Changes that were accepted: kept in the journal, or unprotected because the disk failed or there is no key \
              for a sensitive one.",
    act: "Unprotected ones grow: after a crash their authors would be lost; the JournalWritten condition says why.",
};
const JOURNAL_RECOVERED: FamilySpec<3> = FamilySpec {
    name: "journal_recovered_total",
    labels: ["gitbranch_namespace", "gitbranch_name", "outcome"],
    meaning: "What a start found in the journal: writes that were not settled, and records that are lost.",
    act: "Lost ones: the log names each; the disk may be failing.",
};
const JOURNAL_FAILING: FamilySpec<2> = FamilySpec {
    name: "journal_failing",
    labels: ["gitbranch_namespace", "gitbranch_name"],
    meaning: "1 while the journal of the branch cannot be written, else 0, read at the scrape.",
    act: "It is 1: free space under --data-dir or repair the disk; changes are mirrored meanwhile.",
};
const QUEUE_DEPTH: FamilySpec<2> = FamilySpec {
    name: "git_queue_depth",
    labels: ["gitbranch_namespace", "gitbranch_name"],
    meaning: "Objects whose window is closed and that wait to be decided, read at the scrape.",
    act: "It stays above 0 for minutes: the branch's Git job does not end; read the Ready condition of the GitBranch.",
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
    placements: Family<IntCounter, 5>,
    placement_refusals: Family<IntCounter, 5>,
    listings: Family<IntCounter, 3>,
    commit_failures: Family<IntCounter, 6>,
    resync_failures: Family<IntCounter, 2>,
    fetches: Family<IntCounter, 5>,
    encryptions: Family<IntCounter, 3>,
    announcements_dropped: Family<IntCounter, 4>,
    journalled: Family<IntCounter, 3>,
    journal_recovered: Family<IntCounter, 3>,
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
            placements: registrar.counter(PLACEMENTS)?,
            placement_refusals: registrar.counter(PLACEMENT_REFUSALS)?,
            listings: registrar.counter(LISTINGS)?,
            commit_failures: registrar.counter(COMMIT_FAILURES)?,
            resync_failures: registrar.counter(RESYNC_FAILURES)?,
            fetches: registrar.counter(FETCHES)?,
            encryptions: registrar.counter(ENCRYPTIONS)?,
            announcements_dropped: registrar.counter(ANNOUNCEMENTS_DROPPED)?,
            journalled: registrar.counter(JOURNALLED)?,
            journal_recovered: registrar.counter(JOURNAL_RECOVERED)?,
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
    gauge(QUEUE_DEPTH, |view| Some(count(view.queued)))?;
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
    gauge(JOURNAL_FAILING, |view| match view.journal {
        JournalState::Off | JournalState::Healthy => Some(0.0),
        JournalState::Unread { .. } | JournalState::Failing { .. } => Some(1.0),
    })?;
    gauge(NEXT_RETRY, |view| match view.publication {
        Publication::Healthy | Publication::Waiting { .. } => None,
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
    /// Counts what one cycle came to.
    pub fn note_cycle(&self, outcome: &CycleOutcome, may_push: bool, took: Duration) {
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
        for reason in &outcome.fetches {
            let labels = [
                branch_namespace,
                branch,
                provider_namespace,
                provider,
                reason.as_str(),
            ];
            self.families.fetches.with(labels).inc();
        }
        let labels = [
            branch_namespace,
            branch,
            provider_namespace,
            provider,
            "remote_moved",
        ];
        let retries = self.families.push_retries.with(labels);
        retries.inc_by(u64::from(outcome.lost_races));
    }

    /// Counts what one draft came to.
    pub fn note_draft(&self, draft: &Draft, result: &DraftResult) {
        let nothing_landed = match result {
            DraftResult::FolderRefused(_) => true,
            DraftResult::Suspended => false,
            DraftResult::Judged(verdict) => verdict.write.is_none() && !verdict.refused.is_empty(),
        };
        if nothing_landed {
            let kind = match draft.kind {
                DraftKind::Window { .. } => "window",
                DraftKind::Resync(_) => "resync",
            };
            let [branch_namespace, branch, provider_namespace, provider] = self.worker();
            let labels = [
                branch_namespace,
                branch,
                provider_namespace,
                provider,
                kind,
                "refused",
            ];
            self.families.commit_failures.with(labels).inc();
            if matches!(draft.kind, DraftKind::Resync(_)) {
                let target = draft.target_key();
                let labels = [target.namespace.as_str(), target.name.as_str()];
                self.families.resync_failures.with(labels).inc();
            }
        }
        let DraftResult::Judged(verdict) = result else {
            return;
        };
        self.note_verdict(draft.target_key(), verdict);
        if let Some(write) = &verdict.write {
            let source = match (write.source, write.message_fell_back) {
                (WriteSource::Live, false) => "live",
                (WriteSource::Live, true) => "live_fallback",
                (WriteSource::Resync, false) => "reconcile",
                (WriteSource::Resync, true) => "reconcile_fallback",
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
        let of_type = |family: &Family<IntCounter, 5>, of: &TypeId, label: &str, count: u64| {
            let labels = [
                target.namespace.as_str(),
                target.name.as_str(),
                &*of.group,
                &*of.resource,
                label,
            ];
            family.with(labels).inc_by(count);
        };
        let of_target = |family: &Family<IntCounter, 3>, label: &str, count: u64| {
            let labels = [target.namespace.as_str(), target.name.as_str(), label];
            family.with(labels).inc_by(count);
        };
        let Metrics {
            documents,
            placements,
            placement_refusals,
            listings,
            encryptions,
            ..
        } = &self.families;
        for (id, refusal) in &verdict.refused {
            of_type(documents, &id.type_id, "refused", 1);
            if let Some(reason) = placement_refusal(refusal) {
                of_type(placement_refusals, &id.type_id, reason, 1);
            }
        }
        for id in &verdict.retained {
            of_type(documents, &id.type_id, "retained", 1);
        }
        for ((of, became), count) in &verdict.tally.documents {
            of_type(documents, of, became.as_str(), *count);
        }
        for ((of, source), count) in &verdict.tally.placements {
            of_type(placements, of, source.as_str(), *count);
        }
        for (listing, count) in &verdict.tally.listings {
            of_target(listings, listing.as_str(), *count);
        }
        for (reason, count) in &verdict.tally.sealed {
            of_target(encryptions, reason.as_str(), *count);
        }
    }

    pub(crate) fn note_dropped_announcement(&self) {
        self.families
            .announcements_dropped
            .with(self.worker())
            .inc();
    }

    pub(crate) fn note_journalled(&self, kept: u64, unprotected: u64) {
        let family = &self.families.journalled;
        self.count(family, "kept", kept);
        self.count(family, "unprotected", unprotected);
    }

    pub(crate) fn note_recovered(&self, unsettled: usize, lost: usize) {
        let as_u64 = |number| u64::try_from(number).unwrap_or(u64::MAX);
        let family = &self.families.journal_recovered;
        self.count(family, "unsettled", as_u64(unsettled));
        self.count(family, "lost", as_u64(lost));
    }

    fn count(&self, family: &Family<IntCounter, 3>, outcome: &str, by: u64) {
        if by > 0 {
            let [branch_namespace, branch, ..] = self.worker();
            family.with([branch_namespace, branch, outcome]).inc_by(by);
        }
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
