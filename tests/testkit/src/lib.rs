//! Real programs for tests and the demo: a Kubernetes control plane, Git servers, and the people
//! who use both.
//!
//! Everything here blocks, works from `#[test]` and `#[tokio::test]` alike, and cleans up after
//! itself when it is dropped. It deliberately knows nothing of the product: no kind of ours, no
//! flag of the operator. Reading order: [`workbench`] owns folders and programs, [`tools`] builds
//! the programs, [`control_plane`] and [`git`] run them, [`wait`] waits for their effects.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the one place that starts other programs, on behalf of all tests"
)]
#![allow(
    clippy::print_stderr,
    reason = "whoever waits for a build or looks for a log reads the terminal"
)]

pub mod control_plane;
pub mod forwarder;
pub mod git;
pub mod kubeconfig;
pub mod kubectl;
pub mod pki;
pub mod ports;
pub mod relay;
pub mod tools;
pub mod usage;
pub mod wait;
pub mod wire;
pub mod workbench;

mod background;

pub use control_plane::{AuditWebhook, ControlPlane, Controllers, FrontProxy, Person};
pub use forwarder::Forwarder;
pub use git::{
    Access, GitClone, GitServer, Gitea, ObjectFormat, Repository, Served, Shown, SshKey, SshServer,
    SshSetup, hash_known_hosts,
};
pub use kubeconfig::Kubeconfig;
pub use kubectl::Kubectl;
pub use tools::{Tool, Tools};
pub use usage::{Together, Usage};
pub use workbench::{Process, Workbench};
