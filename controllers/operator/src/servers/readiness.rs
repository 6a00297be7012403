//! Whether this process can be sent requests.
//!
//! Readiness is about the extension API and nothing else: an API service without a ready endpoint holds up
//! the deletion of every namespace of the cluster, so a Git host or a Redis that is away must not count.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One thing that must be so before requests are sent here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The serving certificate is loaded.
    TlsLoaded,
    /// Which callers the API server vouches for was read once.
    AuthConfigLoadedOnce,
    /// Discovery is served.
    Discovery,
    /// The process was not told to stop.
    NotShuttingDown,
}

impl Check {
    /// Every check, in the order in which they are reported.
    pub const ALL: [Self; 4] = [
        Self::TlsLoaded,
        Self::AuthConfigLoadedOnce,
        Self::Discovery,
        Self::NotShuttingDown,
    ];

    /// The name in reports and in paths such as `/readyz/tls-loaded`.
    pub fn name(self) -> &'static str {
        match self {
            Self::TlsLoaded => "tls-loaded",
            Self::AuthConfigLoadedOnce => "auth-config-loaded-once",
            Self::Discovery => "discovery",
            Self::NotShuttingDown => "not-shutting-down",
        }
    }

    fn index(self) -> usize {
        match self {
            Self::TlsLoaded => 0,
            Self::AuthConfigLoadedOnce => 1,
            Self::Discovery => 2,
            Self::NotShuttingDown => 3,
        }
    }
}

/// The state of every check. Clones share it.
#[derive(Debug, Clone)]
pub struct Readiness {
    met: Arc<[AtomicBool; 4]>,
}

impl Readiness {
    /// Starts with an extension API that is not served yet.
    pub fn waiting_for_api() -> Self {
        let readiness = Self {
            met: Arc::default(),
        };
        readiness.meet(Check::NotShuttingDown);
        readiness
    }

    /// Starts without an extension API, which leaves nothing to wait for.
    pub fn without_api() -> Self {
        let readiness = Self {
            met: Arc::default(),
        };
        for check in Check::ALL {
            readiness.meet(check);
        }
        readiness
    }

    /// Records that a check is met from now on.
    pub fn meet(&self, check: Check) {
        self.met[check.index()].store(true, Ordering::Release);
    }

    /// Records that the process was told to stop.
    pub fn shut_down(&self) {
        self.met[Check::NotShuttingDown.index()].store(false, Ordering::Release);
    }

    /// Says whether a check is met.
    pub fn is_met(&self, check: Check) -> bool {
        self.met[check.index()].load(Ordering::Acquire)
    }

    /// Says whether every check is met.
    pub fn is_ready(&self) -> bool {
        Check::ALL.into_iter().all(|check| self.is_met(check))
    }
}
