//! When a GitTarget is Ready, and what it says until then.
//!
//! A target is Ready only when its first replay is in Git. Until then it says what it is doing, how far it
//! is, and who has to do something if anybody has. The inputs are what each gate knows; the times in them
//! are texts, because they only ever reach a message.

use model::{FolderPath, Layout, RenderRoot};

use crate::conditions::{ConditionSet, ConditionStatus, PROGRESSING, SUCCEEDED, Verdict};
use crate::wording::joined;

mod gates;
mod problem;

pub use gates::{
    EncryptionGate, EncryptionProblem, FirstReplay, Outage, PathGate, ReadyGate, RenderGate,
    SourceGate, StreamGate, StreamTrouble,
};
pub use problem::TargetProblem;

/// How many render roots of one folder are named.
const NAMED_ROOTS: usize = 10;

/// Everything that decides whether a GitTarget is Ready, and what is shown beside that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetReadiness {
    /// What is wrong with the configuration; `None` when nothing is.
    pub problem: Option<TargetProblem>,
    /// Whether sensitive objects can be encrypted.
    pub encryption: EncryptionGate,
    /// Whether the GitBranch holds its branch and is Ready.
    pub branch: ReadyGate,
    /// Whether the KubeProvider is Ready.
    pub kube_provider: ReadyGate,
    /// Whether the source cluster answers.
    pub source: SourceGate,
    /// How the watches of the target do.
    pub streams: StreamGate,
    /// Whether the folder can be managed.
    pub path: PathGate,
    /// Which kustomization governs the folder; `None` while nobody has looked.
    pub layout: Option<Layout>,
    /// Whether Git and the cluster agree where they must.
    pub render: RenderGate,
    /// Since when nothing can be published, if so.
    pub outage: Option<Outage>,
    /// How far the first replay is.
    pub first_replay: FirstReplay,
    /// Whether `spec.suspend` is set.
    pub suspended: bool,
}

impl TargetReadiness {
    /// Turns the gates into conditions. Contributions are in the order in which a person would have to fix
    /// them, because the first of a class names the reason.
    pub fn conditions(&self) -> ConditionSet {
        let mut set = ConditionSet::new("the folder mirrors the source cluster");
        self.validated(&mut set);
        self.encryption(&mut set);
        self.publication(&mut set);
        self.branch
            .contribute(&mut set, "GitBranchReady", "GitBranchNotReady", "GitBranch");
        self.kube_provider.contribute(
            &mut set,
            "KubeProviderReady",
            "KubeProviderNotReady",
            "KubeProvider",
        );
        self.source(&mut set);
        self.path(&mut set);
        self.layout(&mut set);
        self.streams(&mut set);
        self.render(&mut set);
        if self.suspended {
            set.succeed_with(
                "Suspended",
                "spec.suspend is set: the folder is read and nothing is written to it; clear it to resume",
            );
        } else {
            self.first_replay.contribute(&mut set);
        }
        set
    }

    fn validated(&self, set: &mut ConditionSet) {
        match &self.problem {
            None => set.gate(
                "Validated",
                Verdict::Met,
                SUCCEEDED,
                "the configuration is valid",
            ),
            Some(problem) => {
                set.gate(
                    "Validated",
                    Verdict::Stalled,
                    problem.reason(),
                    problem.message(),
                );
            }
        }
    }

    fn encryption(&self, set: &mut ConditionSet) {
        let (verdict, reason, message) = match &self.encryption {
            EncryptionGate::NotRequired => (
                Verdict::Met,
                "NotRequired",
                "encryption is not turned on by spec.encryption.age.enabled; sensitive objects are refused",
            ),
            EncryptionGate::Ready { message } => (Verdict::Met, SUCCEEDED, message.as_str()),
            EncryptionGate::Problem { kind, message } => {
                (Verdict::Stalled, kind.reason(), message.as_str())
            }
            EncryptionGate::NotChecked => (
                Verdict::Unknown,
                "Blocked",
                "not checked while the configuration is not valid",
            ),
        };
        set.gate("EncryptionConfigured", verdict, reason, message);
    }

    fn publication(&self, set: &mut ConditionSet) {
        if let Some(outage) = &self.outage {
            set.contribute(Verdict::Progressing, PROGRESSING, outage.message());
        }
    }

    fn source(&self, set: &mut ConditionSet) {
        let (verdict, reason, message) = match &self.source {
            SourceGate::LocalCluster => (
                Verdict::Met,
                "LocalCluster",
                "the source is the operator's own cluster",
            ),
            SourceGate::Reachable => (
                Verdict::Met,
                "SourceClusterReachable",
                "the source cluster answers",
            ),
            SourceGate::Unreachable { message } => (
                Verdict::Progressing,
                "SourceClusterUnreachable",
                message.as_str(),
            ),
            SourceGate::AuthenticationFailed { message } => (
                Verdict::Progressing,
                "SourceClusterAuthenticationFailed",
                message.as_str(),
            ),
            SourceGate::AccessDenied { message } => (
                Verdict::Progressing,
                "SourceClusterAccessDenied",
                message.as_str(),
            ),
            SourceGate::AwaitingDiscovery => (
                Verdict::Unknown,
                "AwaitingDiscovery",
                "the types of the source cluster are being read",
            ),
            SourceGate::NotChecked => (
                Verdict::Unknown,
                "NotChecked",
                "the source cluster is not used yet",
            ),
        };
        set.gate("SourceClusterReachable", verdict, reason, message);
    }

    fn path(&self, set: &mut ConditionSet) {
        let type_ = "GitPathAccepted";
        match &self.path {
            PathGate::Accepted => {
                set.gate(
                    type_,
                    Verdict::Met,
                    "GitPathAccepted",
                    "the folder can be managed safely",
                );
            }
            PathGate::Refused { first, more } => {
                let message = match more {
                    0 => first.to_string(),
                    more => format!("{first} (and {more} more)"),
                };
                set.gate(type_, Verdict::Stalled, first.code.as_str(), message);
            }
            PathGate::NotChecked => {
                set.gate(
                    type_,
                    Verdict::Unknown,
                    "NotChecked",
                    "the folder is not scanned yet",
                );
            }
        }
    }

    /// Says which kustomization governs the folder. It holds nothing back by itself: with several of them existing
    /// documents are written as before, and each new one is refused by name.
    fn layout(&self, set: &mut ConditionSet) {
        let (status, reason, message) = match &self.layout {
            None => (
                ConditionStatus::Unknown,
                "NotChecked",
                "the folder is not scanned yet".to_owned(),
            ),
            Some(Layout::Plain) => (
                ConditionStatus::True,
                "None",
                "no kustomization governs the folder".to_owned(),
            ),
            Some(Layout::Kustomized(root)) => (
                ConditionStatus::True,
                "SingleKustomization",
                single_root(root),
            ),
            Some(Layout::Ambiguous { roots }) => {
                (ConditionStatus::False, "Ambiguous", several_roots(roots))
            }
        };
        set.note("LayoutResolved", status, reason, message);
    }

    fn streams(&self, set: &mut ConditionSet) {
        let (verdict, reason, message) = match &self.streams {
            StreamGate::NoRules => (
                Verdict::Progressing,
                "NoResolvedTypes",
                "no admitted rule feeds this target; create a WatchRule or ClusterWatchRule that names it, or see \
                 why those that do are refused"
                    .to_owned(),
            ),
            StreamGate::NothingServed => {
                let message = "the rules select nothing that the source cluster serves; check their \
                               resources and apiGroups, or install the types";
                set.note(
                    "StreamsRunning",
                    ConditionStatus::False,
                    "NoResolvedTypes",
                    message,
                );
                return;
            }
            StreamGate::NotStarted => (
                Verdict::Progressing,
                "NotReady",
                "no watch is open yet".to_owned(),
            ),
            StreamGate::Streams {
                tracked,
                running,
                intake_paused: true,
                ..
            } => (
                Verdict::Progressing,
                "BranchIntakePaused",
                format!(
                    "{running} of {tracked} watches run and wait: the branch takes no changes in"
                ),
            ),
            StreamGate::Streams {
                tracked, blocked, ..
            } if !blocked.is_empty() => trouble(*tracked, blocked),
            StreamGate::Streams {
                tracked, running, ..
            } if running < tracked => (
                Verdict::Progressing,
                "InitialReplay",
                format!("{running} of {tracked} watches are past their initial replay"),
            ),
            StreamGate::Streams { tracked, .. } => (
                Verdict::Met,
                "AllStreamsReady",
                format!("all {tracked} watches run"),
            ),
        };
        set.gate("StreamsRunning", verdict, reason, message);
    }

    fn render(&self, set: &mut ConditionSet) {
        let (verdict, reason, message) = match &self.render {
            RenderGate::Matches => (
                Verdict::Met,
                "RenderMatchesLive",
                "Git and the cluster agree on rendered values",
            ),
            RenderGate::Differs { message } => {
                (Verdict::Stalled, "RenderDoesNotMatchLive", message.as_str())
            }
            RenderGate::Rechecking => (
                Verdict::Unknown,
                "Rechecking",
                "a collection is new or replaying",
            ),
        };
        set.gate("RenderMatchesLive", verdict, reason, message);
    }
}

fn single_root(root: &RenderRoot) -> String {
    let governs = format!("render root \"{}\" governs new files", root.below);
    let bases = &root.read_only_bases;
    match bases.len() {
        0 => governs,
        1 => format!(
            "{governs}; it renders {}, which is read-only input",
            bases[0]
        ),
        _ => format!(
            "{governs}; it renders {}, which are read-only input",
            joined(bases)
        ),
    }
}

fn several_roots(roots: &[FolderPath]) -> String {
    let more = match roots.len().saturating_sub(NAMED_ROOTS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "the folder covers {} render roots, so a new document has no single place: {}{more}; point spec.path at \
         one of them and give each other one a GitTarget of its own",
        roots.len(),
        joined(roots.iter().take(NAMED_ROOTS))
    )
}

/// A watch that may not be opened outweighs those that are tried again.
fn trouble(tracked: usize, blocked: &[StreamTrouble]) -> (Verdict, &'static str, String) {
    let not_permitted =
        |trouble: &&StreamTrouble| matches!(trouble, StreamTrouble::NotPermitted { .. });
    let refused: Vec<_> = blocked.iter().filter(not_permitted).collect();
    let (verdict, reason, shown) = if refused.is_empty() {
        (Verdict::Progressing, "WatchError", blocked.iter().collect())
    } else {
        (Verdict::Stalled, "WatchNotPermitted", refused)
    };
    let messages = shown.iter().map(|trouble| match trouble {
        StreamTrouble::Failing { message } | StreamTrouble::NotPermitted { message } => message,
    });
    let count = blocked.len();
    (
        verdict,
        reason,
        format!(
            "{count} of {tracked} watches cannot run: {}",
            joined(messages)
        ),
    )
}

impl ReadyGate {
    fn contribute(
        &self,
        set: &mut ConditionSet,
        type_: &'static str,
        not_ready: &'static str,
        kind: &str,
    ) {
        match self {
            Self::Ready => set.gate(
                type_,
                Verdict::Met,
                SUCCEEDED,
                format!("the {kind} is Ready"),
            ),
            Self::NotReady { message } => {
                set.gate(type_, Verdict::Progressing, not_ready, message.as_str());
            }
            Self::NotChecked => set.gate(
                type_,
                Verdict::Unknown,
                "NotChecked",
                format!("the {kind} is not looked at while the configuration is not valid"),
            ),
        }
    }
}

impl EncryptionProblem {
    fn reason(self) -> &'static str {
        match self {
            Self::MissingSecret => "MissingSecret",
            Self::InvalidConfig => "InvalidConfig",
            Self::SecretCreateDisabled => "SecretCreateDisabled",
        }
    }
}

impl FirstReplay {
    fn contribute(&self, set: &mut ConditionSet) {
        let message = match self {
            Self::InGit => return,
            Self::Reading {
                complete,
                collections,
            } => format!(
                "first replay: {complete} of {collections} collections are read from the source cluster"
            ),
            Self::Committing {
                settled,
                collections,
            } => {
                format!("first replay: {settled} of {collections} collections are committed")
            }
            Self::Pushing => {
                "first replay: everything is committed and waits for its push".to_owned()
            }
        };
        set.contribute(Verdict::Progressing, PROGRESSING, message);
    }
}

#[cfg(test)]
mod tests;
