//! `BranchStatus`: one `GitBranch`, live.

use std::sync::Arc;

use aggregation::openapi::schema_of;
use aggregation::table::age;
use aggregation::{
    Column, ColumnType, Definition, Object, ObjectKey, Resource, Scope, Snapshot, SnapshotReader,
    Verb,
};
use board::{
    BranchEntry, BranchView, FolderState, IntakeState, JournalState, ProvedBy, Publication,
    PublicationFault,
};
use jiff::Timestamp;
use model::{Author, GitBranchKey};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::time::{text, timestamp};

/// The resource.
pub struct BranchStatuses {
    definition: Definition,
    reader: SnapshotReader,
}

/// What one object holds beside its metadata.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Body {
    /// Which branch of which repository it is about.
    spec: Spec,
    /// What the branch writer last said.
    status: Status,
}

/// Which branch of which repository it is about.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Spec {
    /// The GitProvider whose credential writes the branch, as namespace/name.
    git_provider: String,
    /// The repository, without scheme, user and .git.
    repository: String,
    /// The branch.
    branch: String,
}

/// What the branch writer last said. Times are absolute; kubectl shows some of them as ages.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Status {
    /// True when nothing stands in the way of publishing.
    ready: bool,
    /// Why it is not ready: Unreachable, Credential, PushRefused, ParentMissing, Contended, Store, Signing,
    /// Waiting for a turn at the host, or JournalUnread.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What happened, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Since when publishing does not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_since: Option<String>,
    /// How many attempts failed in a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_attempts: Option<u32>,
    /// When the next attempt is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_retry_at: Option<String>,
    /// The tip of the branch on the remote; absent until something has looked, empty while the branch is
    /// not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// When the tip was last proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified_at: Option<String>,
    /// What proved it: Push or Fetch.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified_by: Option<String>,
    /// The open commit window.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Window>,
    /// Decided or closed writes that are not on the remote.
    pending_writes: usize,
    /// Objects in the open window and in pending writes.
    pending_objects: usize,
    /// Since when the oldest write waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_pending_at: Option<String>,
    /// Bytes that count against the buffer.
    buffered_bytes: usize,
    /// Open, or Paused while the buffer is full and nothing can be published.
    intake: String,
    /// The last push that the server accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_push: Option<LastPush>,
    /// The targets that write the branch.
    targets: Vec<Target>,
}

/// The open commit window.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Window {
    /// Whose changes it collects; absent when nobody is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    /// The GitTarget that it collects for, as namespace/name.
    target: String,
    /// How many objects it holds.
    entries: usize,
    /// When it was opened.
    opened_at: String,
    /// When it closes if nothing more arrives.
    closes_at: String,
}

/// The last push that the server accepted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LastPush {
    /// The tip that it produced.
    commit: String,
    /// When it was accepted.
    at: String,
}

/// One target on the branch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Target {
    /// The GitTarget, as namespace/name.
    name: String,
    /// NotChecked, Accepted or Refused.
    folder: String,
    /// Objects that are accepted and not on the remote.
    pending_objects: usize,
    /// Objects that could not be written, each with the reason; at most 20.
    refused: Vec<String>,
    /// How many objects could not be written.
    refused_count: usize,
}

/// The columns after the name; those with priority 1 are shown with `-o wide`.
const COLUMNS: &[Column] = &[
    column(
        "Ready",
        ColumnType::String,
        "Whether publishing works, and why not.",
        0,
    ),
    column(
        "Commit",
        ColumnType::String,
        "The tip of the branch on the remote.",
        0,
    ),
    column(
        "Pending",
        ColumnType::Integer,
        "Objects that are not on the remote yet.",
        0,
    ),
    column(
        "Last Push",
        ColumnType::String,
        "How long ago the server accepted a push.",
        0,
    ),
    column(
        "Age",
        ColumnType::String,
        "How long ago the GitBranch was created.",
        0,
    ),
    column("Repository", ColumnType::String, "The repository.", 1),
    column("Branch", ColumnType::String, "The branch.", 1),
    column(
        "Writes",
        ColumnType::Integer,
        "Writes that are not on the remote yet.",
        1,
    ),
    column(
        "Next Retry",
        ColumnType::String,
        "When the next attempt is made.",
        1,
    ),
    column(
        "Intake",
        ColumnType::String,
        "Whether changes are taken in.",
        1,
    ),
    column("Message", ColumnType::String, "What happened.", 1),
];

const fn column(
    name: &'static str,
    column_type: ColumnType,
    description: &'static str,
    priority: u8,
) -> Column {
    Column {
        name,
        column_type,
        description,
        priority,
    }
}

/// How many refusals of a target are spelled out.
const SPELLED_OUT: usize = 20;

impl BranchStatuses {
    /// Serves what is published to the reader.
    pub fn new(reader: SnapshotReader) -> Self {
        Self {
            definition: definition(),
            reader,
        }
    }
}

impl Resource for BranchStatuses {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.reader.now()
    }

    fn cells(&self, object: &Object, now: Timestamp) -> Vec<Value> {
        let status = object.body.get("status").unwrap_or(&Value::Null);
        let spec = object.body.get("spec").unwrap_or(&Value::Null);
        let short = |value: &Value| {
            value
                .as_str()
                .map(|id| id.chars().take(12).collect::<String>())
        };
        let ready = match (status["ready"].as_bool(), status["reason"].as_str()) {
            (Some(true), _) => "True".to_owned(),
            (_, Some(reason)) => format!("False ({reason})"),
            (_, None) => "False".to_owned(),
        };
        let ago = |value: &Value| {
            let at = value.as_str().and_then(|at| at.parse::<Timestamp>().ok());
            at.map(|at| age(at, now)).map_or(Value::Null, Value::from)
        };
        vec![
            json!(ready),
            json!(short(&status["commit"])),
            status["pendingObjects"].clone(),
            ago(&status["lastPush"]["at"]),
            object
                .created
                .map_or(Value::Null, |created| json!(age(created, now))),
            spec["repository"].clone(),
            spec["branch"].clone(),
            status["pendingWrites"].clone(),
            status["nextRetryAt"].clone(),
            status["intake"].clone(),
            status["message"].clone(),
        ]
    }

    fn field(&self, object: &Object, label: &str) -> Option<String> {
        let value = match label {
            "spec.branch" => &object.body.get("spec")?["branch"],
            "spec.repository" => &object.body.get("spec")?["repository"],
            "status.reason" => &object.body.get("status")?["reason"],
            _ => return None,
        };
        Some(value.as_str().unwrap_or_default().to_owned())
    }
}

fn definition() -> Definition {
    Definition {
        kind: "BranchStatus",
        plural: "branchstatuses",
        singular: "branchstatus",
        short_names: &["brs"],
        categories: &["gitops"],
        scope: Scope::Namespaced,
        verbs: &[Verb::Get, Verb::List],
        description: "BranchStatus shows one GitBranch as its writer sees it at this moment; it is computed, not stored.",
        columns: COLUMNS,
        selectable_fields: &["spec.branch", "spec.repository", "status.reason"],
        schema: schema_of::<Body>(),
    }
}

/// Projects what a branch writer published into an object.
pub(crate) fn project(key: &GitBranchKey, entry: &BranchEntry, view: &BranchView) -> Object {
    let body = Body {
        spec: Spec {
            git_provider: entry.provider.to_string(),
            repository: entry.repository.to_string(),
            branch: entry.branch.to_string(),
        },
        status: status(view),
    };
    let body: Map<String, Value> = match serde_json::to_value(&body) {
        Ok(Value::Object(map)) => map,
        Ok(_) | Err(_) => Map::new(),
    };
    let uid = uuid::Uuid::new_v5(
        &uuid::Uuid::NAMESPACE_OID,
        format!("BranchStatus/{}", entry.uid).as_bytes(),
    );
    let mut object = Object::new(
        ObjectKey::namespaced(key.namespace.as_str(), key.name.as_str()),
        uid.to_string(),
        body,
    );
    object.created = Some(timestamp(entry.created_at));
    object.labels.insert(
        "velero.io/exclude-from-backup".to_owned(),
        "true".to_owned(),
    );
    object
}

fn status(view: &BranchView) -> Status {
    let in_window = view.window.as_ref().map_or(0, |window| window.entries);
    let waiting: usize = view.pending.iter().map(|write| write.objects).sum();
    let mut status = Status {
        ready: true,
        reason: None,
        message: None,
        failing_since: None,
        failed_attempts: None,
        next_retry_at: None,
        commit: view.base.as_ref().map(|base| {
            base.commit
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default()
        }),
        verified_at: view.base.as_ref().map(|base| text(base.proved_at)),
        verified_by: view.base.as_ref().map(|base| match base.proved_by {
            ProvedBy::Push => "Push".to_owned(),
            ProvedBy::Fetch => "Fetch".to_owned(),
        }),
        window: view.window.as_ref().map(|window| Window {
            author: match &window.author {
                Author::Actor(identity) => Some(identity.username.clone()),
                Author::Operator | Author::Unresolved => None,
            },
            target: window.target.to_string(),
            entries: window.entries,
            opened_at: text(window.opened_at),
            closes_at: text(window.closes_at),
        }),
        pending_writes: view.pending.len(),
        pending_objects: in_window + waiting,
        oldest_pending_at: view.pending.iter().map(|write| write.since).min().map(text),
        buffered_bytes: view.buffered_bytes,
        intake: match view.intake {
            IntakeState::Open => "Open".to_owned(),
            IntakeState::Paused => "Paused".to_owned(),
        },
        last_push: view.last_push.as_ref().map(|push| LastPush {
            commit: push.commit.to_string(),
            at: text(push.at),
        }),
        targets: view
            .targets
            .iter()
            .map(|(key, target)| target_of(&key.to_string(), target))
            .collect(),
    };
    match &view.publication {
        Publication::Healthy => {}
        Publication::Waiting { since } => {
            status.ready = false;
            status.reason = Some("Waiting".to_owned());
            status.message = Some(view.wait_for_a_turn(&text(*since)));
        }
        Publication::Failing {
            since,
            fault,
            message,
            attempts,
            retry_at,
        } => {
            status.ready = false;
            status.reason = Some(reason(*fault).to_owned());
            status.message = Some(message.clone());
            status.failing_since = Some(text(*since));
            status.failed_attempts = Some(*attempts);
            status.next_retry_at = Some(text(*retry_at));
        }
    }
    if let JournalState::Unread { since } = view.journal {
        status.ready = false;
        status.reason = Some("JournalUnread".to_owned());
        status.message = Some(format!(
            "the journal is not read since {}, and nothing is mirrored before it is",
            text(since)
        ));
    }
    status
}

fn target_of(name: &str, target: &board::TargetView) -> Target {
    let (folder, issues) = match &target.folder {
        FolderState::NotChecked => ("NotChecked", &[][..]),
        FolderState::Accepted => ("Accepted", &[][..]),
        FolderState::Refused(issues) => ("Refused", issues.as_slice()),
    };
    let refusals = issues.iter().chain(&target.refused);
    Target {
        name: name.to_owned(),
        folder: folder.to_owned(),
        pending_objects: target.pending_objects,
        refused: refusals
            .clone()
            .take(SPELLED_OUT)
            .map(ToString::to_string)
            .collect(),
        refused_count: refusals.count(),
    }
}

fn reason(fault: PublicationFault) -> &'static str {
    match fault {
        PublicationFault::Unreachable => "Unreachable",
        PublicationFault::Credential => "Credential",
        PublicationFault::PushRefused => "PushRefused",
        PublicationFault::ParentMissing => "ParentMissing",
        PublicationFault::Contended => "Contended",
        PublicationFault::Store => "Store",
        PublicationFault::Signing => "Signing",
    }
}
