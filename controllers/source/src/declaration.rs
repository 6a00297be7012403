//! What a target wants to mirror from a source.

use std::fmt;
use std::sync::Arc;

use model::{Millis, RuleKey, Scope, Selector, TargetKey};

use crate::sink::Sink;

/// Everything that one target mirrors from the source, and where it goes.
#[derive(Clone)]
pub struct TargetDeclaration {
    /// The target.
    pub target: TargetKey,
    /// Counts the declarations of the target, so that readers of the board can tell which one was answered.
    pub generation: u64,
    /// Where its changes go. The same `Arc` in a later declaration means the same place; another one starts
    /// every watch of the target anew, because a new place knows nothing yet.
    pub sink: Arc<dyn Sink>,
    /// What is selected.
    pub rules: Vec<RuleDeclaration>,
}

/// One rule of a target. Whoever declares it has checked that it may watch what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleDeclaration {
    /// The rule.
    pub rule: RuleKey,
    /// When it was created; of two rules that overlap, the older one stays.
    pub created_at: Millis,
    /// What it selects; an object that any item selects is mirrored.
    pub items: Vec<ItemDeclaration>,
}

/// One item of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemDeclaration {
    /// Plural resource names, or `*`.
    pub resources: Vec<String>,
    /// API groups: `""` for core, `*` for all; absent means that the name alone decides.
    pub api_groups: Option<Vec<String>>,
    /// Served versions, or `*`; absent means the preferred one.
    pub api_versions: Option<Vec<String>>,
    /// Where. [`Scope::Cluster`] selects only cluster-scoped types, the others only namespaced ones.
    pub scope: Scope,
    /// Which of the objects, by label.
    pub selector: Selector,
}

impl fmt::Debug for TargetDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TargetDeclaration")
            .field("target", &self.target)
            .field("generation", &self.generation)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}
