//! Who may use what, and what follows from it.
//!
//! Every function here is a decision over values: grants admit consumers, claims give each branch one
//! holder, overlaps give each folder and each collection one owner, and gates add up to conditions. The
//! crate reads nothing and writes nothing: no clock, no cluster, no Git; time is an argument and a refusal
//! is a result. It does not know CRD types either: `reconcilers` converts them at its border.
//!
//! Reading order: [`consumer`] and [`grants`] say who is admitted; [`branch_pattern`], [`source_scope`] and
//! [`cluster_resources`] say to what; [`branch_claim`], [`overlap`] and [`audit_route`] settle who comes
//! first; [`in_cluster`] is the installer's consent; [`conditions`], [`readiness`] and [`status_floor`] are
//! what a user sees of it.

pub mod consumer;
pub mod grants;

pub mod branch_pattern;
pub mod cluster_resources;
pub mod source_scope;

pub mod audit_route;
pub mod branch_claim;
pub mod in_cluster;
pub mod overlap;

pub mod conditions;
pub mod readiness;
pub mod status_floor;
mod wording;

pub use audit_route::{AuditRoute, RouteCarrier, RouteTooLong};
pub use branch_claim::{BranchClaims, Candidate, ClaimState};
pub use branch_pattern::{BranchPattern, InvalidPattern};
pub use cluster_resources::{ClusterItem, ClusterResource, ClusterResourceUnion, ItemGroups};
pub use conditions::{Condition, ConditionSet, ConditionStatus, Summary, Verdict};
pub use consumer::{Consumer, ConsumerNamespaces, Labels, NamespaceSelector};
pub use grants::{
    Admission, ApplierGrant, BranchGrant, Grant, GrantHolder, SourceGrant, SourceGrantScope,
    SourceScope, WriterGrant,
};
pub use in_cluster::InClusterConsent;
pub use overlap::{CollectionConflict, PathClaim, RuleCollections};
pub use readiness::{
    EncryptionGate, EncryptionProblem, FirstReplay, Outage, PathGate, ReadyGate, RenderGate,
    SourceGate, StreamGate, StreamTrouble, TargetProblem, TargetReadiness,
};
pub use source_scope::{NamespaceItem, NamespaceScope, NamespaceUnion, RequestedNamespace};
pub use status_floor::{FloorDecision, RemoteProof};
