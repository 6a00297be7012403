//! Everything this product knows about Git: remotes over HTTP(S) and SSH, and a local object store without
//! a worktree.
//!
//! One branch is served by one [`Store`] (a bare directory, a cache that may be dropped at any time), one
//! [`Remote`] (the only thing that opens connections) and, while writes wait for publication, one
//! [`Attempt`] (commits that exist in memory only). The calls block: run them where blocking is allowed.
//!
//! It deliberately does not decide when to fetch, what to write, or when to try again; outcomes and
//! errors are typed so that the caller can. It never starts another program, and it reads no
//! configuration file of the machine it runs on.
//!
//! Reading order: [`endpoint`], [`credential`] and [`host_keys`] (how a host is reached), [`advertisement`]
//! (what it says), [`remote`] (what may be asked of it and how that ends), `wire` (the protocol without
//! I/O), `conversation`, `http` and `ssh` (what carries it), `text` and `veil` (what may be shown of a server's
//! words), `look`, `fetch` and `push` (the sessions), then [`store`], [`snapshot`], [`sign`] and [`attempt`].

pub mod advertisement;
pub mod attempt;
pub mod credential;
pub mod endpoint;
pub mod error;
pub mod host_keys;
pub mod remote;
pub mod sign;
pub mod snapshot;
pub mod store;

mod conversation;
mod fetch;
mod http;
mod look;
mod private_key;
mod push;
mod ssh;
mod text;
mod veil;
mod wire;

pub use advertisement::{Advertisement, DefaultBranch, Head, ObjectFormat};
pub use attempt::{Attempt, CommitText, Pack, TreeEdit};
pub use credential::{Credential, CredentialError, SecretData, SshKey, TlsTrust, check};
pub use endpoint::{Endpoint, Limits, ProxyPolicy};
pub use error::{EditRefusal, RemoteError, Retry, StoreError};
pub use host_keys::{HostKeyFault, HostKeyTrust, KnownHosts, KnownHostsError};
pub use http::HttpRemote;
pub use remote::{PushOutcome, PushRequest, Remote};
pub use sign::{NewSigningKey, SigningFailed, SigningKey, SigningKeyError};
pub use snapshot::{LARGEST_FILE, TreeSnapshot};
pub use ssh::SshRemote;
pub use store::{History, Store};

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these is handed to a blocking thread and back.
    #[test]
    fn what_a_job_takes_along_can_move_between_threads() {
        fn movable<T: Send + 'static>() {}
        movable::<Store>();
        movable::<Attempt>();
        movable::<HttpRemote>();
        movable::<SshRemote>();
        movable::<PushOutcome>();
        movable::<TreeSnapshot>();
    }
}
