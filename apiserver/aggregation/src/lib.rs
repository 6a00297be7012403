//! A small generic aggregated API server over published snapshots.
//!
//! It answers what the cluster's aggregation layer and `kubectl` ask of an extension server:
//! authentication through the front proxy, authorization, discovery, OpenAPI, get and list in the
//! usual representations, health. It deliberately knows no domain: what is served is whatever an
//! implementation of [`Resource`] publishes. It stores nothing, never calls back into the thing it
//! shows, and does no I/O while it answers a read, except for the two access questions it asks the
//! cluster.
//!
//! Reading order: [`resource`] and [`snapshot`] are what a user of the crate implements and
//! publishes; [`route`], [`list_options`], [`selector`] and [`negotiation`] turn a request into
//! values; [`answer`] (with [`reads`], [`table`], [`discovery`], [`openapi`], [`status`]) turns those
//! values into a response, all of it pure. [`identity`], [`trust`], [`authenticate`] and
//! [`authorize`] decide who asks and whether they may; [`kube_access`] asks the cluster. [`tls`] and
//! [`server`] are the shell.

pub mod resource;
pub mod snapshot;

pub mod list_options;
pub mod negotiation;
pub mod route;
pub mod selector;

pub mod answer;
pub mod discovery;
pub mod openapi;
pub mod reads;
pub mod status;
pub mod table;

pub mod authenticate;
pub mod authorize;
pub mod identity;
pub mod trust;

pub mod answer_cache;
pub mod kube_access;

pub mod health;
pub mod server;
pub mod tls;

pub use authorize::{AccessReview, TokenReview};
pub use health::Check;
pub use identity::UserInfo;
pub use kube_access::KubeAccess;
pub use resource::{ApiGroup, Column, ColumnType, Definition, Resource, Scope, Verb};
pub use server::{ApiServer, Limits, Parts, ServeError};
pub use snapshot::{Object, ObjectKey, Revisions, Snapshot, SnapshotPublisher, SnapshotReader};
pub use tls::ServingCertificate;
pub use trust::{TrustConfig, TrustPublisher, TrustReader};
