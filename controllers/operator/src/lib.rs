//! The `gitops-reverser` program as a library, so that tests can call it.
//!
//! Reads the command line and the environment, turns them into the settings of each part, starts the parts
//! in order and stops them again. It decides nothing about Git, Kubernetes or manifests; that is in the
//! crates it joins. Read [`flags`] and [`settings`] first, then [`wiring`] for the order of the start, and
//! [`servers`] for what is served beside the extension API.

pub mod build_info;
pub mod docs;
pub mod environment;
pub mod flags;
pub mod logging;
pub mod metrics;
pub mod offline;
pub mod process;
pub mod servers;
pub mod settings;
pub mod wiring;
