//! When a GitTarget is Ready, and what it says until then.
//!
//! A target is Ready only when its first replay is in Git. Until then it says what it is doing, how far it
//! is, and who has to do something if anybody has. The inputs are what each gate knows; the times in them
//! are texts, because they only ever reach a message.

use model::{FolderPath, GitBranchKey, KubeProviderKey, Namespace, Refusal, TargetKey};

use crate::conditions::{ConditionSet, ConditionStatus, PROGRESSING, SUCCEEDED, Verdict};
use crate::wording::joined;

/// Everything that decides whether a GitTarget is Ready.
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
    /// Whether Git and the cluster agree where they must.
    pub render: RenderGate,
    /// Since when nothing can be published, if so.
    pub outage: Option<Outage>,
    /// How far the first replay is.
    pub first_replay: FirstReplay,
    /// Whether `spec.suspend` is set.
    pub suspended: bool,
}

/// What is wrong with the configuration of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetProblem {
    /// The GitBranch does not exist.
    GitBranchNotFound(GitBranchKey),
    /// The KubeProvider does not exist.
    KubeProviderNotFound(KubeProviderKey),
    /// A grant does not admit the target.
    NotAuthorized(Box<Refusal>),
    /// Another namespace holds the KubeProvider's audit route.
    AuditRouteConflict {
        /// The provider.
        provider: KubeProviderKey,
        /// The namespace that holds its route.
        holder: Namespace,
    },
    /// An older target has the folder, or one above or below it.
    PathConflict {
        /// The other target.
        with: TargetKey,
        /// Its folder.
        path: FolderPath,
    },
    /// Templates, windows or placement that cannot work, one text for each.
    InvalidConfig(Vec<String>),
}

/// Whether an object that the target uses is Ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadyGate {
    /// It is.
    Ready,
    /// It is not, for this reason, in its own words.
    NotReady {
        /// What it says about itself.
        message: String,
    },
    /// The target may not use it, so nobody looked.
    NotChecked,
}

/// Whether sensitive objects can be encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncryptionGate {
    /// No encryption is configured.
    NotRequired,
    /// The recipients are known.
    Ready,
    /// It is configured and does not work.
    Problem {
        /// What kind of problem.
        kind: EncryptionProblem,
        /// What to do about it.
        message: String,
    },
    /// Nobody looked.
    NotChecked,
}

/// Why encryption does not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncryptionProblem {
    /// The Secret does not exist.
    MissingSecret,
    /// The Secret or the settings hold something that is no recipient.
    InvalidConfig,
    /// The Secret does not exist and may not be made.
    SecretCreateDisabled,
}

/// Whether the source cluster answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceGate {
    /// It is the operator's own cluster.
    LocalCluster,
    /// It answers.
    Reachable,
    /// It does not.
    Unreachable {
        /// What happened.
        message: String,
    },
    /// It refuses the credential.
    AuthenticationFailed {
        /// What it said.
        message: String,
    },
    /// The credential may not read what it must.
    AccessDenied {
        /// What it said.
        message: String,
    },
    /// Its types are not read yet.
    AwaitingDiscovery,
    /// Nobody looked.
    NotChecked,
}

/// How the watches of the target do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamGate {
    /// No rule names the target.
    NoRules,
    /// Rules name it and select nothing that the source cluster serves.
    NothingServed,
    /// There are watches.
    Streams {
        /// How many collections are watched.
        tracked: usize,
        /// How many are past their initial replay.
        running: usize,
        /// What is in the way of those that cannot run.
        blocked: Vec<StreamTrouble>,
        /// Whether they wait because the branch takes nothing in.
        intake_paused: bool,
    },
    /// Nothing is watched yet.
    NotStarted,
}

/// Why a watch cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamTrouble {
    /// The connection fails; it is tried again.
    Failing {
        /// Which watch, and what happened.
        message: String,
    },
    /// The credential may not watch it; only a person can change that.
    NotPermitted {
        /// Which watch, and what the server said.
        message: String,
    },
}

/// Whether the folder can be managed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathGate {
    /// The last scan accepted it.
    Accepted,
    /// It did not; the first refusal names the reason.
    Refused {
        /// The first refusal.
        first: Box<Refusal>,
        /// How many more there are.
        more: usize,
    },
    /// It is not scanned yet.
    NotChecked,
}

/// Whether Git and the cluster agree where they must.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenderGate {
    /// They do.
    Matches,
    /// They do not.
    Differs {
        /// Where, and who can change it.
        message: String,
    },
    /// A collection is new or replaying, so it is not known.
    Rechecking,
}

/// Since when nothing can be published, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outage {
    /// When it began, in RFC 3339.
    pub since: String,
    /// What failed.
    pub failed: String,
    /// Whether new changes are kept waiting at their source.
    pub intake_paused: bool,
    /// When the next attempt is, in RFC 3339.
    pub retry_at: Option<String>,
}

/// How far the first replay is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstReplay {
    /// Collections are being read from the source cluster.
    Reading {
        /// How many are complete.
        complete: usize,
        /// How many there are.
        collections: usize,
    },
    /// Complete collections are being compared and committed.
    Committing {
        /// How many are settled.
        settled: usize,
        /// How many there are.
        collections: usize,
    },
    /// Everything is committed, and the push is not accepted yet.
    Pushing,
    /// It is in Git.
    InGit,
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
                "no encryption is configured; sensitive objects are refused",
            ),
            EncryptionGate::Ready => (Verdict::Met, SUCCEEDED, "the recipients are known"),
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

impl TargetProblem {
    /// Returns the reason of `Validated`.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::GitBranchNotFound(_) => "GitBranchNotFound",
            Self::KubeProviderNotFound(_) => "KubeProviderNotFound",
            Self::NotAuthorized(refusal) => refusal.code.as_str(),
            Self::AuditRouteConflict { .. } => "AuditRouteConflict",
            Self::PathConflict { .. } => "TargetConflict",
            Self::InvalidConfig(_) => "InvalidConfig",
        }
    }

    /// Returns what is wrong, with the next step.
    pub fn message(&self) -> String {
        match self {
            Self::GitBranchNotFound(key) => {
                format!(
                    "GitBranch {key} does not exist; create it, and this target goes on by itself"
                )
            }
            Self::KubeProviderNotFound(key) => {
                format!(
                    "KubeProvider {key} does not exist; create it, and this target goes on by itself"
                )
            }
            Self::NotAuthorized(refusal) => format!("{}; {}", refusal.message, refusal.remedy),
            Self::AuditRouteConflict { provider, holder } => format!(
                "the audit route of KubeProvider {provider} is held by namespace \"{holder}\"; give the \
                 provider a route of its own in spec.attribution.auditRoute"
            ),
            Self::PathConflict { with, path } => format!(
                "GitTarget {with} is older and writes \"{path}\" on the same GitBranch; choose a path that is \
                 neither the same nor nested, or delete one of the two"
            ),
            Self::InvalidConfig(problems) => joined(problems),
        }
    }
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

impl Outage {
    /// Returns since when, what failed, whether intake is paused, and when the next attempt is.
    pub fn message(&self) -> String {
        let intake = if self.intake_paused {
            "intake of new changes is paused"
        } else {
            "new changes are still taken in"
        };
        let retry = match &self.retry_at {
            Some(at) => format!("; next attempt at {at}"),
            None => String::new(),
        };
        format!(
            "nothing could be published since {}: {}; {intake}{retry}",
            self.since, self.failed
        )
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
