//! What is known about a GitTarget.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::git_target::PruneMode;
use crate::schema;
use crate::words::words;

/// What is known about a GitTarget.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitTargetStatus {
    /// What holds and what does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The generation of the spec that this status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The branch that the GitBranch writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The last published commit that touched this target's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// How many decided writes the Git server has not accepted yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub pending_writes: Option<i32>,
    /// How many watches this target has and how far they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Streams>,
    /// How many documents the prune mode keeps; absent until a resync counted them, and while suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// What the last scan learned about the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// The last value of the annotation reconcile.configbutler.ai/requestedAt that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
}

/// The watches of a target, counted by what they are doing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Streams {
    /// All of them.
    #[schemars(range(min = 0))]
    pub total: i32,
    /// Past their initial replay.
    #[schemars(range(min = 0))]
    pub ready: i32,
    /// Replaying what exists.
    #[schemars(range(min = 0))]
    pub replaying: i32,
    /// Waiting for something to be repaired.
    #[schemars(range(min = 0))]
    pub blocked: i32,
    /// Ready ones of all, for the column.
    pub summary: String,
}

/// What the prune mode keeps in Git.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retention {
    /// The mode under which the count was made.
    pub mode: PruneMode,
    /// Documents that a converged mirror would not hold.
    #[schemars(range(min = 0))]
    pub retained_documents: i32,
    /// When the count or the mode last changed; says nothing about when it was last counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_changed_at: Option<Time>,
}

/// What the folder resolved to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// How the folder is written; absent while it covers several render roots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<PlacementMode>,
    /// The kustomization directory that governs new documents, relative to spec.path; . is the folder itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub render_root: Option<String>,
    /// Directories that the folder renders and never writes, as its kustomization spells them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_bases: Option<Vec<String>>,
    /// The commit at which this resolution was first seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at_commit: Option<String>,
    /// When this resolution was first seen; it moves only when the resolution does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Time>,
}

words! {
    /// How a folder is written.
    pub enum PlacementMode {
        /// Files, without a kustomization.
        Plain = "Plain",
        /// A kustomization that owns what it renders.
        KustomizeRoot = "KustomizeRoot",
        /// A kustomization that renders bases outside the folder.
        KustomizeOverlay = "KustomizeOverlay",
    }
}
