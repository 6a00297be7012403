//! One Git remote as it is configured, and how long and how much we let it keep us busy.

use std::time::Duration;

use model::{RepositoryUrl, Scheme};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::credential::{Credential, TlsTrust};
use crate::error::RemoteError;
use crate::host_keys::HostKeyTrust;
use crate::http::HttpRemote;
use crate::remote::Remote;
use crate::ssh::SshRemote;

/// A remote, with everything needed to reach it. Never changes: a new Secret makes a new endpoint.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Where the repository is.
    pub url: RepositoryUrl,
    /// How we identify ourselves.
    pub credential: Credential,
    /// Which certificate authorities we believe.
    pub trust: TlsTrust,
    /// Which host keys we believe, for SSH.
    pub host_keys: HostKeyTrust,
    /// Whether a proxy may stand between; SSH knows none.
    pub proxy: ProxyPolicy,
    /// How long and how much.
    pub limits: Limits,
}

impl Endpoint {
    /// Prepares to speak with the remote over what its URL names; nothing is sent. Calls wait on `runtime`,
    /// so they must not be made from one of its async workers; `cancel` ends the call that is running and
    /// all later ones.
    ///
    /// # Errors
    /// Fails when the endpoint does not fit together.
    pub fn remote(
        &self,
        runtime: Handle,
        cancel: CancellationToken,
    ) -> Result<Box<dyn Remote>, RemoteError> {
        Ok(match self.url.scheme() {
            Scheme::Http | Scheme::Https => Box::new(HttpRemote::new(self, runtime, cancel)?),
            Scheme::Ssh => Box::new(SshRemote::new(self, runtime, cancel)?),
        })
    }
}

/// Whether connections go through a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyPolicy {
    /// Connect directly, whatever the environment says.
    Direct,
    /// Follow `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` as other programs do.
    FromEnvironment,
}

/// The bounds on one conversation with a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest one call may take, from its first byte to its last.
    pub call_timeout: Duration,
    /// The longest a fetch may take that has nothing to build on.
    pub first_fetch_timeout: Duration,
    /// The longest until a connection stands.
    pub connect_timeout: Duration,
    /// The longest wait for the next byte.
    pub idle_timeout: Duration,
    /// The most bytes of one fetch.
    pub max_fetch_bytes: u64,
    /// The most bytes of one advertisement.
    pub max_advertisement_bytes: u64,
    /// The most refs of one advertisement.
    pub max_advertised_refs: usize,
}

impl Limits {
    /// The values that the operator uses unless its flags say otherwise (D36).
    pub const RECOMMENDED: Self = Self {
        call_timeout: Duration::from_secs(120),
        first_fetch_timeout: Duration::from_secs(900),
        connect_timeout: Duration::from_secs(10),
        idle_timeout: Duration::from_secs(120),
        max_fetch_bytes: 2 << 30,
        max_advertisement_bytes: 256 << 20,
        max_advertised_refs: 1_000_000,
    };
}
