//! CommitRequest: saves its author's commit window now.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use kube::core::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::columns::Column;
use crate::conditions::ConditionType;
use crate::duration::GoDuration;
use crate::references::NamespacedReference;
use crate::schema;
use crate::words::words;

/// What `kubectl get` shows.
pub(crate) const COLUMNS: &[Column] = &[
    Column::READY,
    Column::REASON,
    Column::text("Author", ".status.author"),
    Column::text("Commit", ".status.commit"),
    Column::status("Pushed", ConditionType::Pushed).wide(),
    Column::status("Applied", ConditionType::Applied).wide(),
    Column::MESSAGE,
];

/// What a CommitRequest asks for.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "configbutler.ai",
    version = "v1alpha3",
    kind = "CommitRequest",
    plural = "commitrequests",
    namespaced,
    status = "CommitRequestStatus",
    derive = "PartialEq",
    doc = "CommitRequest saves its author's writes to a GitTarget now, in one commit with its own message."
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    Rule::new("self == oldSelf")
        .message("spec is immutable: create a new CommitRequest for each save"),
    Rule::new("!has(self.whenNothingToCommit) || self.whenNothingToCommit != 'CommitEmpty' || has(self.message)")
        .message("whenNothingToCommit: CommitEmpty needs a message to record")
        .field_path(".whenNothingToCommit"),
]))]
pub struct CommitRequestSpec {
    /// The GitTarget whose commit window is saved. On a source cluster the namespace has to be given.
    pub git_target_ref: NamespacedReference,
    /// The commit message, taken as it is. Omitted, the target's templates phrase the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 1024),
        extend("x-kubernetes-validations" = [
            Rule::new(r"!self.matches('[\\x00-\\x09\\x0b-\\x1f\\x7f]')")
                .message("message holds no control character except newline"),
            Rule::new(r"self.matches('[^\\s\\p{Z}\\x{85}]')")
                .message("message holds more than whitespace"),
        ])
    )]
    pub message: Option<String>,
    /// Which window is attached to, and when it closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<RequestWindow>,
    /// What follows when there is nothing to commit. CommitEmpty records the message in an empty commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Resolve"))]
    pub when_nothing_to_commit: Option<WhenNothingToCommit>,
    /// When the applier is asked to apply the save. AfterPush asks right after the push.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "AsDefinedOnClaim"))]
    pub catch_up: Option<CatchUp>,
}

/// Which window a request attaches to, and when that window closes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    schema::idle_within_max(),
    schema::duration_rule(
        "self.attachTimeout",
        "!has(self.attachTimeout) || !has(self.attach) || self.attach != 'Next' || \
         duration(self.attachTimeout) > duration('0s')",
    )
    .message("attach: Next waits for a window that does not exist yet, so attachTimeout has to be positive")
    .field_path(".attachTimeout"),
]))]
pub struct RequestWindow {
    /// CurrentOrNext takes the author's open window, or else the next one. Next closes an open one first and
    /// takes the one after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "CurrentOrNext"))]
    pub attach: Option<Attach>,
    /// How long to wait for a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "5s", "x-kubernetes-validations" = [schema::at_most("5m")]))]
    pub attach_timeout: Option<GoDuration>,
    /// Closes the window after this much silence. Omitted, silence does not close it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = [schema::at_most("5m")]))]
    pub idle_timeout: Option<GoDuration>,
    /// Closes the window this long after the attach, however much keeps arriving.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "2s", "x-kubernetes-validations" = [schema::at_most("5m")]))]
    pub max_duration: Option<GoDuration>,
}

words! {
    /// Which window a request attaches to.
    pub enum Attach {
        /// The author's open window, or else the next one.
        CurrentOrNext = "CurrentOrNext",
        /// The next one.
        Next = "Next",
    }
}

words! {
    /// What follows when there is nothing to commit.
    pub enum WhenNothingToCommit {
        /// The request ends without a commit.
        Resolve = "Resolve",
        /// The message is recorded in an empty commit.
        CommitEmpty = "CommitEmpty",
    }
}

words! {
    /// When the applier is asked to apply a save.
    pub enum CatchUp {
        /// When the claim says so.
        AsDefinedOnClaim = "AsDefinedOnClaim",
        /// Right after the push.
        AfterPush = "AfterPush",
    }
}

/// What is known about a CommitRequest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitRequestStatus {
    /// What holds and what does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The generation of the spec that this status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Who created the request, as the audit facts of its cluster say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The branch that the commit is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit, empty or not, that holds the save.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The revision with the commit in it that the applier says it applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_revision: Option<String>,
}
