//! What the branch writer counts. Each stage counts once, with a closed set of outcomes.

use std::time::Duration;

use prometheus::{Histogram, HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};

use board::ProvedBy;
use model::{GitBranchKey, GitProviderKey};

use crate::cycle::{CycleOutcome, DraftResult};

/// The labels that name the branch writer.
const WORKER: [&str; 4] = [
    "gitbranch_namespace",
    "gitbranch_name",
    "provider_namespace",
    "provider_name",
];

/// The families of all branch writers, registered once.
#[derive(Debug, Clone)]
pub struct Metrics {
    commits: IntCounterVec,
    pushes: IntCounterVec,
    push_retries: IntCounterVec,
    cycle_seconds: HistogramVec,
    documents: IntCounterVec,
    occurrences_dropped: IntCounterVec,
}

/// The families of one branch writer.
#[derive(Debug, Clone)]
pub struct BranchMetrics {
    families: Metrics,
    worker: [String; 4],
    cycle_seconds: Histogram,
}

impl Metrics {
    /// Registers the families.
    ///
    /// # Errors
    /// Returns the registry's refusal, such as a name that is taken.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let counter = |name: &str, help: &str, extra: &[&str]| {
            let labels: Vec<&str> = WORKER
                .iter()
                .copied()
                .chain(extra.iter().copied())
                .collect();
            let family = IntCounterVec::new(Opts::new(name, help), &labels)?;
            registry.register(Box::new(family.clone()))?;
            Ok::<_, prometheus::Error>(family)
        };
        let cycle_seconds = HistogramVec::new(
            HistogramOpts::new(
                "git_push_duration_seconds",
                "how long a cycle that may push takes",
            ),
            &WORKER,
        )?;
        registry.register(Box::new(cycle_seconds.clone()))?;
        Ok(Self {
            commits: counter(
                "git_commits_total",
                "commits that reached the remote",
                &["author_kind", "message_source"],
            )?,
            pushes: counter(
                "git_pushes_total",
                "cycles that pushed, by outcome",
                &["outcome"],
            )?,
            push_retries: counter(
                "git_push_retries_total",
                "pushes that were planned again",
                &["reason"],
            )?,
            cycle_seconds,
            documents: counter(
                "git_documents_total",
                "documents decided, by outcome",
                &["outcome"],
            )?,
            occurrences_dropped: counter(
                "git_occurrences_dropped_total",
                "messages to people that were dropped",
                &[],
            )?,
        })
    }

    /// Returns the families for one branch writer.
    pub fn of(&self, branch: &GitBranchKey, provider: &GitProviderKey) -> BranchMetrics {
        let worker = [
            branch.namespace.to_string(),
            branch.name.to_string(),
            provider.namespace.to_string(),
            provider.name.to_string(),
        ];
        let labels: Vec<&str> = worker.iter().map(String::as_str).collect();
        let cycle_seconds = self.cycle_seconds.with_label_values(&labels);
        BranchMetrics {
            families: self.clone(),
            worker,
            cycle_seconds,
        }
    }
}

impl BranchMetrics {
    pub(crate) fn note_cycle(&self, outcome: &CycleOutcome, published: bool, took: Duration) {
        if published {
            self.cycle_seconds.observe(took.as_secs_f64());
        }
        if outcome
            .published
            .as_ref()
            .is_some_and(|published| published.by == ProvedBy::Push)
        {
            self.count(&self.families.pushes, &["pushed"], 1);
        } else if outcome.fault.is_some() {
            self.count(&self.families.pushes, &["failed"], 1);
        }
        if outcome.foreign {
            self.count(&self.families.push_retries, &["remote_moved"], 1);
        }
        for draft in &outcome.drafts {
            let DraftResult::Judged(verdict) = &draft.result else {
                continue;
            };
            self.count(
                &self.families.documents,
                &["refused"],
                verdict.refused.len(),
            );
            if let Some(write) = &verdict.write {
                let source = if write.collection.is_some() {
                    "reconcile"
                } else {
                    "live"
                };
                self.count(&self.families.documents, &["written"], write.objects.len());
                self.count(&self.families.commits, &[write.author.kind(), source], 1);
            }
        }
    }

    pub(crate) fn note_dropped_occurrence(&self) {
        self.count(&self.families.occurrences_dropped, &[], 1);
    }

    fn count(&self, family: &IntCounterVec, extra: &[&str], by: usize) {
        let labels: Vec<&str> = self
            .worker
            .iter()
            .map(String::as_str)
            .chain(extra.iter().copied())
            .collect();
        family
            .with_label_values(&labels)
            .inc_by(u64::try_from(by).unwrap_or(u64::MAX));
    }
}
