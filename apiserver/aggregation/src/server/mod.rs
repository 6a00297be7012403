//! The shell: connections in, requests through the decisions, responses out.
//!
//! [`handler`] takes one request through who asks, whether they may, and what the answer is;
//! [`connection`] accepts, shakes hands and drains.

mod activity;
mod connection;
mod handler;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::answer::{Documents, VersionInfo};
use crate::authorize::{AccessReview, TokenReview};
use crate::health::Check;
use crate::resource::ApiGroup;
use crate::tls::{ServingCertificate, server_config};
use crate::trust::TrustReader;

/// What a server is made of.
pub struct Parts {
    /// What is served.
    pub group: ApiGroup,
    /// What `/version` says.
    pub version: VersionInfo,
    /// The serving certificate; whoever makes it installs it.
    pub certificate: Arc<ServingCertificate>,
    /// Whom to believe.
    pub trust: TrustReader,
    /// Who is asked whether a caller may.
    pub access: Arc<dyn AccessReview>,
    /// Who is asked whose token it is.
    pub tokens: Arc<dyn TokenReview>,
    /// Cancelled when the process starts to leave: readiness fails, and everything is still served.
    pub leaving: CancellationToken,
    /// The bounds.
    pub limits: Limits,
}

/// The bounds of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Whether callers may come past the front proxy, with their own certificate or token.
    pub direct_access: bool,
    /// Reads answered at the same time; more are refused and told to come back.
    pub requests: usize,
    /// Connections at the same time; more wait to be accepted.
    pub connections: usize,
    /// The time for one answer.
    pub answer: Duration,
    /// The time for a TLS handshake.
    pub handshake: Duration,
    /// The time that living connections get to end after the server stopped accepting.
    pub drain: Duration,
}

impl Limits {
    /// The bounds that fit a real cluster.
    pub const STANDARD: Self = Self {
        direct_access: true,
        requests: 200,
        connections: 1024,
        answer: Duration::from_secs(10),
        handshake: Duration::from_secs(10),
        drain: Duration::from_secs(30),
    };
}

/// The server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// TLS cannot be set up.
    #[error("cannot set up TLS for the extension API")]
    Tls(#[source] rustls::Error),
}

/// An aggregated API server. Cheap to share; [`ApiServer::serve`] runs it on one listener.
pub struct ApiServer {
    group: ApiGroup,
    documents: Documents,
    certificate: Arc<ServingCertificate>,
    trust: TrustReader,
    access: Arc<dyn AccessReview>,
    tokens: Arc<dyn TokenReview>,
    leaving: CancellationToken,
    limits: Limits,
    in_flight: Semaphore,
    // When a refused credential was last logged, so that a stranger cannot fill the log.
    last_rejection_logged: AtomicU64,
}

impl ApiServer {
    /// Puts a server together. All static documents are rendered here, once.
    pub fn new(parts: Parts) -> Self {
        Self {
            documents: Documents::new(&parts.group, &parts.version),
            group: parts.group,
            certificate: parts.certificate,
            trust: parts.trust,
            access: parts.access,
            tokens: parts.tokens,
            leaving: parts.leaving,
            in_flight: Semaphore::new(parts.limits.requests),
            limits: parts.limits,
            last_rejection_logged: AtomicU64::new(0),
        }
    }

    /// Returns what readiness means: what is needed to serve discovery to the cluster, and nothing
    /// that depends on the world outside, because a server without readiness holds up the whole
    /// cluster.
    pub fn readiness(&self) -> Vec<Check> {
        let trusted = self.trust.now().loaded_once;
        vec![
            Check::new(
                "tls-loaded",
                self.certificate.is_installed(),
                "no serving certificate yet",
            ),
            Check::new(
                "auth-config-loaded-once",
                trusted,
                "the trust configuration was never read",
            ),
            Check::new("discovery", true, ""),
            Check::new(
                "not-shutting-down",
                !self.leaving.is_cancelled(),
                "shutting down",
            ),
        ]
    }

    /// Tells whether all of [`Self::readiness`] holds.
    pub fn is_ready(&self) -> bool {
        self.readiness().iter().all(|check| check.failure.is_none())
    }

    /// Serves until `stop` is cancelled, then lets living connections end within the drain time.
    pub async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        stop: CancellationToken,
    ) -> Result<(), ServeError> {
        let config = server_config(self.certificate.clone()).map_err(ServeError::Tls)?;
        connection::accept(self, listener, Arc::new(config), stop).await;
        Ok(())
    }
}
