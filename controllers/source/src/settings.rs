//! The settings of a source.

use std::time::Duration;

use model::Sensitivity;

/// How a source works. The same for every source of the process.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How often the cluster is asked what it serves (usually 30 s).
    pub refresh_interval: Duration,
    /// How long a type that discovery no longer names stays watched (usually 60 s).
    pub removal_grace: Duration,
    /// How long a watch waits before it connects again after a fault (usually 2 s).
    pub reconnect_delay: Duration,
    /// How long the server may keep one watch connection (usually 290 s). A connection that stays silent
    /// noticeably longer is taken for dead.
    pub session_limit: Duration,
    /// How long the first byte of an answer may take (usually 60 s).
    pub answer_limit: Duration,
    /// Which types must be encrypted.
    pub sensitivity: Sensitivity,
    /// API groups of which nothing is mirrored: those that the operator serves itself.
    pub excluded_groups: Vec<String>,
}

impl Settings {
    /// Returns the settings that the reference documents name.
    pub fn documented(sensitivity: Sensitivity, excluded_groups: Vec<String>) -> Self {
        Self {
            refresh_interval: Duration::from_secs(30),
            removal_grace: Duration::from_secs(60),
            reconnect_delay: Duration::from_secs(2),
            session_limit: Duration::from_secs(290),
            answer_limit: Duration::from_secs(60),
            sensitivity,
            excluded_groups,
        }
    }
}
