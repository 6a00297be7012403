//! Grants: lists on the object that lends something, joined by union.

use std::fmt;

use model::{Actor, Namespace, ObjectName, Refusal, RefusalCode, RefusalScope};

use crate::branch_pattern::BranchPattern;
use crate::cluster_resources::{ClusterResource, ClusterResourceUnion};
use crate::consumer::{Consumer, ConsumerNamespaces};
use crate::source_scope::{NamespaceScope, NamespaceUnion};
use crate::wording::{joined, quoted};

/// One entry of a grant list: whom it admits, and to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant<S> {
    /// Whose consumers it admits.
    pub consumers: ConsumerNamespaces,
    /// What they may do.
    pub scope: S,
}

/// An entry of a GitProvider's `allowedGitBranches`.
pub type BranchGrant = Grant<Vec<BranchPattern>>;
/// An entry of a GitBranch's `allowedGitTargets`.
pub type WriterGrant = Grant<()>;
/// An entry of a KubeProvider's `allowedGitTargets`.
pub type SourceGrant = Grant<SourceGrantScope>;
/// An entry of a KubeProvider's `allowedApplierClaims`.
pub type ApplierGrant = Grant<Vec<NamespaceScope>>;

/// What a source grant lets its consumers mirror.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceGrantScope {
    /// Namespaces of the source cluster.
    pub namespaces: Vec<NamespaceScope>,
    /// Cluster-scoped types.
    pub cluster_resources: Vec<ClusterResource>,
}

/// What a GitTarget may mirror through a KubeProvider: the union over the grants that admit it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceScope {
    /// Namespaces of the source cluster.
    pub namespaces: NamespaceUnion,
    /// Cluster-scoped types.
    pub cluster_resources: ClusterResourceUnion,
}

/// The object that holds a grant list, as messages name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantHolder {
    /// The kind, such as `GitProvider`.
    pub kind: &'static str,
    /// Its namespace, which `from: Same` means.
    pub namespace: Namespace,
    /// Its name.
    pub name: ObjectName,
    /// The list, such as `spec.allowedGitBranches`.
    pub field: &'static str,
}

impl fmt::Display for GrantHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// The answer to a request: what it may use, or a refusal that names the grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission<T> {
    /// Granted, with the scope that follows.
    Admitted(T),
    /// Refused.
    Refused(Box<Refusal>),
}

impl<T> Admission<T> {
    /// Returns the scope when the request is granted.
    pub fn admitted(&self) -> Option<&T> {
        match self {
            Self::Admitted(scope) => Some(scope),
            Self::Refused(_) => None,
        }
    }

    /// Returns the refusal when there is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Admitted(_) => None,
            Self::Refused(refusal) => Some(refusal),
        }
    }

    fn and_then<U>(self, next: impl FnOnce(T) -> Admission<U>) -> Admission<U> {
        match self {
            Self::Admitted(scope) => next(scope),
            Self::Refused(refusal) => Admission::Refused(refusal),
        }
    }
}

/// Answers whether any grant admits the consumer, with the scopes of all that do.
pub fn admit<'g, S>(
    consumer: &Consumer,
    holder: &GrantHolder,
    grants: &'g [Grant<S>],
) -> Admission<Vec<&'g S>> {
    let scopes: Vec<&S> = grants
        .iter()
        .filter(|grant| grant.consumers.admits(consumer, &holder.namespace))
        .map(|grant| &grant.scope)
        .collect();
    if scopes.is_empty() {
        Admission::Refused(Box::new(not_admitted(consumer, holder, grants)))
    } else {
        Admission::Admitted(scopes)
    }
}

/// Answers whether the consumer, a GitBranch, may claim the branch through a GitProvider.
pub fn admit_branch(
    consumer: &Consumer,
    branch: &model::BranchName,
    holder: &GrantHolder,
    grants: &[BranchGrant],
) -> Admission<()> {
    admit(consumer, holder, grants).and_then(|scopes| {
        let patterns: Vec<&BranchPattern> = scopes.into_iter().flatten().collect();
        if patterns
            .iter()
            .any(|pattern| pattern.matches(branch, consumer))
        {
            return Admission::Admitted(());
        }
        let allowed = quoted(patterns.iter().map(|pattern| pattern.expand(consumer)));
        Admission::refused(
            RefusalCode::BranchNotAllowed,
            format!(
                "namespace \"{}\" may claim {allowed} through {holder} ({}); requested branch \
                 \"{branch}\" is not allowed",
                consumer.namespace, holder.field
            ),
            format!("claim a branch that matches, or have {holder} grant this one"),
        )
    })
}

/// Answers whether the consumer, a GitTarget, may write through a GitBranch.
pub fn admit_writer(
    consumer: &Consumer,
    holder: &GrantHolder,
    grants: &[WriterGrant],
) -> Admission<()> {
    admit(consumer, holder, grants).and_then(|_| Admission::Admitted(()))
}

/// Answers what the consumer, a GitTarget, may mirror through a KubeProvider.
pub fn admit_source(
    consumer: &Consumer,
    holder: &GrantHolder,
    grants: &[SourceGrant],
) -> Admission<SourceScope> {
    admit(consumer, holder, grants).and_then(|scopes| {
        let namespaces = scopes.iter().flat_map(|scope| &scope.namespaces);
        let types = scopes.iter().flat_map(|scope| &scope.cluster_resources);
        Admission::Admitted(SourceScope {
            namespaces: NamespaceUnion::of(namespaces, &consumer.namespace),
            cluster_resources: ClusterResourceUnion::of(types),
        })
    })
}

/// Answers whether the consumer, an applier claim, may hold an applier that lives in `namespace`.
pub fn admit_applier(
    consumer: &Consumer,
    namespace: &Namespace,
    holder: &GrantHolder,
    grants: &[ApplierGrant],
) -> Admission<()> {
    admit(consumer, holder, grants).and_then(|scopes| {
        let union = NamespaceUnion::of(scopes.into_iter().flatten(), &consumer.namespace);
        if union.allows(namespace) {
            return Admission::Admitted(());
        }
        Admission::refused(
            RefusalCode::ApplierNamespaceNotAllowed,
            format!(
                "{holder} lets namespace \"{}\" hold appliers in {union} \
                 ({}[].applierNamespaces); an applier in \"{namespace}\" is not allowed",
                consumer.namespace, holder.field
            ),
            format!("name an applier that lives there, or have {holder} grant this namespace"),
        )
    })
}

impl<T> Admission<T> {
    /// Makes a refusal about a grant: nothing is wrong in Git, and whoever owns the grant can lift it.
    pub(crate) fn refused(code: RefusalCode, message: String, remedy: String) -> Self {
        Self::Refused(Box::new(Refusal {
            code,
            issue: None,
            scope: RefusalScope::Target,
            object: None,
            at: None,
            actor: Actor::Platform,
            message,
            remedy,
        }))
    }
}

fn not_admitted<S>(consumer: &Consumer, holder: &GrantHolder, grants: &[Grant<S>]) -> Refusal {
    let mut admitted: Vec<String> = grants
        .iter()
        .map(|grant| grant.consumers.describe(&holder.namespace))
        .collect();
    admitted.dedup();
    let admitted = if admitted.is_empty() {
        "no namespace".to_owned()
    } else {
        joined(admitted)
    };
    Refusal {
        code: RefusalCode::NamespaceNotAuthorized,
        issue: None,
        scope: RefusalScope::Target,
        object: None,
        at: None,
        actor: Actor::Platform,
        message: format!(
            "{holder} admits {admitted} in {}; namespace \"{}\" is not admitted",
            holder.field, consumer.namespace
        ),
        remedy: format!("ask the owner of {holder} for a grant"),
    }
}

#[cfg(test)]
mod tests;
