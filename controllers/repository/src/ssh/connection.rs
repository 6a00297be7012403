//! A connection on which a host has proved who it is, and we have too.

use std::fmt;
use std::net::Shutdown;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use russh::client::{self, AuthResult, Handle, Msg};
use russh::keys::{HashAlg, PrivateKeyWithHashAlg, PublicKeyOrCertificate};
use russh::{AlgorithmKind, Channel, Disconnect, Preferred, SshId};
use tokio::net::TcpStream;

use super::command::Place;
use crate::conversation::Waiter;
use crate::credential::SshKey;
use crate::endpoint::Limits;
use crate::error::RemoteError;
use crate::host_keys::{HostAddress, HostKeyFault, HostKeyTrust, Preference, Shown};
use crate::text;

/// How we name ourselves.
const CLIENT: &str = concat!("SSH-2.0-gitops-reverser_", env!("CARGO_PKG_VERSION"));
/// How long nothing has to come before we ask whether the host is still there.
const KEEPALIVE: Duration = Duration::from_secs(15);
/// How many such questions may stay unanswered.
const UNANSWERED_KEEPALIVES: usize = 3;

/// Everything that opens a connection.
#[derive(Debug, Clone)]
pub(super) struct Access {
    pub(super) host: HostAddress,
    pub(super) place: Place,
    pub(super) key: SshKey,
    pub(super) trust: HostKeyTrust,
    pub(super) limits: Limits,
}

/// An open connection. Dropping it closes it.
pub(super) struct Connection {
    session: Handle<Checker>,
    /// The same socket. The session runs in a task that is not ours to end, and ends with its socket.
    socket: Socket,
}

/// A socket that is shut when it is dropped.
struct Socket(std::net::TcpStream);

impl Drop for Socket {
    fn drop(&mut self) {
        // It fails when the other side was faster, which is as good.
        drop(self.0.shutdown(Shutdown::Both));
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    /// Connects, checks the host and logs in.
    pub(super) fn open(access: &Access, waiter: &Waiter) -> Result<Self, RemoteError> {
        let limit = access.limits.connect_timeout;
        let (stream, socket) = waiter.wait_within(limit, "no connection", connect(&access.host))?;
        let checker = Checker {
            host: access.host.clone(),
            trust: access.trust.clone(),
        };
        let config = Arc::new(configuration(access));
        let greeting = async {
            let session = client::connect_stream(config, stream, checker).await?;
            Ok(session)
        };
        let greeting = async { greeting.await.map_err(HandshakeError::into_remote) };
        let session = waiter.wait_within(limit, "the SSH handshake", greeting)?;
        let mut connection = Self { session, socket };
        // A host may look us up slowly, or be told to wait before it refuses.
        waiter.wait("the SSH login", connection.log_in(access))?;
        Ok(connection)
    }

    /// Opens a channel for one service.
    pub(super) async fn channel(&self) -> Result<Channel<Msg>, RemoteError> {
        let channel = self.session.channel_open_session().await;
        channel.map_err(|error| from_russh(&error))
    }

    pub(super) fn is_open(&self) -> bool {
        !self.session.is_closed()
    }

    /// Hangs up.
    pub(super) fn cut(&self) {
        drop(self.socket.0.shutdown(Shutdown::Both));
    }

    async fn log_in(&mut self, access: &Access) -> Result<(), RemoteError> {
        let key = access.key.private();
        let hash = if key.algorithm().is_rsa() {
            Some(self.rsa_hash().await?)
        } else {
            None
        };
        let key = PrivateKeyWithHashAlg::new(key, hash);
        let user = access.place.user.as_str();
        let answer = self.session.authenticate_publickey(user, key).await;
        match answer.map_err(|error| from_russh(&error))? {
            AuthResult::Success => Ok(()),
            // A host that refuses a key names the ways that are left; silence is a broken connection.
            AuthResult::Failure {
                remaining_methods, ..
            } if remaining_methods.is_empty() => Err(RemoteError::Unreachable {
                detail: "the connection broke during the login".to_owned(),
            }),
            AuthResult::Failure { .. } => {
                let bye = self.session.disconnect(Disconnect::ByApplication, "", "");
                drop(bye.await);
                Err(RemoteError::SshKeyRefused {
                    user: user.to_owned(),
                    fingerprint: access.key.fingerprint(),
                })
            }
        }
    }

    /// Chooses how an RSA key signs. A host that says nothing about it knows the newer ways too, if it is
    /// not very old, and SHA-1 is no choice.
    async fn rsa_hash(&self) -> Result<HashAlg, RemoteError> {
        let best = self.session.best_supported_rsa_hash().await;
        match best.map_err(|error| from_russh(&error))? {
            Some(Some(hash)) => Ok(hash),
            None => Ok(HashAlg::Sha512),
            Some(None) => Err(RemoteError::Unsupported {
                what: "the server takes RSA keys with SHA-1 only, which is not safe: use an ed25519 key",
            }),
        }
    }
}

/// Connects without waiting for more bytes than there are.
async fn connect(host: &HostAddress) -> Result<(TcpStream, Socket), RemoteError> {
    let stream = TcpStream::connect((host.host(), host.port())).await;
    let prepared = stream.and_then(|stream| {
        stream.set_nodelay(true)?;
        let stream = stream.into_std()?;
        let socket = Socket(stream.try_clone()?);
        Ok((TcpStream::from_std(stream)?, socket))
    });
    prepared.map_err(|error| from_russh(&russh::Error::IO(error)))
}

fn configuration(access: &Access) -> client::Config {
    let preference = match &access.trust {
        HostKeyTrust::Known(known) => known.preference(&access.host),
        HostKeyTrust::Nobody | HostKeyTrust::Anybody => Preference::any(),
    };
    client::Config {
        client_id: SshId::Standard(CLIENT.into()),
        preferred: Preferred {
            key: preference.keys.into(),
            host_key_certificates: preference.certificates.into(),
            ..Preferred::DEFAULT
        },
        keepalive_interval: Some(KEEPALIVE),
        keepalive_max: UNANSWERED_KEEPALIVES,
        nodelay: true,
        ..client::Config::default()
    }
}

/// Judges what the host shows.
struct Checker {
    host: HostAddress,
    trust: HostKeyTrust,
}

/// How a handshake can fail.
#[derive(Debug, thiserror::Error)]
enum HandshakeError {
    #[error(transparent)]
    HostKey(#[from] HostKeyFault),
    #[error(transparent)]
    Ssh(#[from] russh::Error),
}

impl HandshakeError {
    fn into_remote(self) -> RemoteError {
        match self {
            Self::HostKey(fault) => RemoteError::HostKey(fault),
            Self::Ssh(error) => from_russh(&error),
        }
    }
}

impl client::Handler for Checker {
    type Error = HandshakeError;

    async fn check_server_key(
        &mut self,
        shown: &PublicKeyOrCertificate,
    ) -> Result<bool, HandshakeError> {
        let shown = match shown {
            PublicKeyOrCertificate::PublicKey { key, .. } => Shown::Key(key),
            PublicKeyOrCertificate::Certificate(certificate) => Shown::Certificate(certificate),
        };
        match &self.trust {
            HostKeyTrust::Anybody => {}
            HostKeyTrust::Known(known) => known.check(&self.host, &shown, seconds_since_1970())?,
            HostKeyTrust::Nobody => {
                let host = self.host.name();
                return Err(HostKeyFault::NothingKnown { host }.into());
            }
        }
        Ok(true)
    }
}

fn seconds_since_1970() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// Turns the library's error into ours.
pub(super) fn from_russh(error: &russh::Error) -> RemoteError {
    match error {
        russh::Error::NoCommonAlgo { kind, .. } => RemoteError::Unsupported {
            what: match kind {
                AlgorithmKind::Key => "the server has no host key of a kind that is safe enough",
                AlgorithmKind::Kex => "the server has no key exchange that is safe enough",
                _ => "the server has no encryption that is safe enough",
            },
        },
        russh::Error::Version => RemoteError::NotAGitServer {
            detail: "it does not speak SSH".to_owned(),
        },
        _ => RemoteError::Unreachable {
            detail: text::shown(error.to_string().as_bytes()),
        },
    }
}
