//! What can go wrong, in the cases that a caller treats differently.

use std::path::PathBuf;
use std::time::Duration;

use model::{CommitId, FolderPath, RepoPath};

use crate::host_keys::HostKeyFault;
use crate::sign::SigningFailed;

/// When a failed call is worth another try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The world may be better later.
    AfterBackoff,
    /// Somebody has to change the configuration, the credential or the server first.
    AfterChange,
    /// The same call fails for ever.
    Never,
}

/// A conversation with a remote that did not end as it should. No variant holds a credential, and every
/// text of the server in it is short, on one line and without control characters.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// No connection stood, or it broke.
    #[error("the host cannot be reached: {detail}")]
    Unreachable {
        /// What the network said.
        detail: String,
    },
    /// The server's certificate was not accepted, or TLS failed otherwise.
    #[error("no trusted TLS connection: {detail}; a private CA goes into the Secret's ca.crt")]
    Tls {
        /// What TLS said.
        detail: String,
    },
    /// 401.
    #[error("the server does not accept the credential (HTTP 401)")]
    Unauthorized,
    /// 403.
    #[error(
        "the credential is not allowed to do this (HTTP 403){}",
        after_colon(words)
    )]
    Forbidden {
        /// What the server says to people; empty when it says nothing.
        words: String,
        /// How long the server asks us to wait.
        retry_after: Option<Duration>,
    },
    /// 404.
    #[error("the server has no such repository, or hides it from this credential (HTTP 404)")]
    NotFound,
    /// Something answered, but not a Git server that speaks the smart protocol.
    #[error("the URL does not lead to a Git server: {detail}")]
    NotAGitServer {
        /// What it answered instead.
        detail: String,
    },
    /// The server sends us elsewhere, and we do not follow.
    #[error("the server redirects, and the redirect is not followed: {rule}")]
    Redirect {
        /// The rule that the redirect breaks.
        rule: &'static str,
    },
    /// Another HTTP status that stands for failure.
    #[error("the server answered HTTP {status}{}", after_colon(words))]
    ServerError {
        /// The status.
        status: u16,
        /// What the server says to people; empty when it says nothing.
        words: String,
        /// How long the server asks us to wait.
        retry_after: Option<Duration>,
    },
    /// The answer is not what the protocol allows.
    #[error("the server's answer breaks Git's protocol: {detail}")]
    Protocol {
        /// Where it breaks.
        detail: String,
    },
    /// A limit of time passed.
    #[error("the server took too long: {phase}")]
    TimedOut {
        /// What we were waiting for.
        phase: &'static str,
    },
    /// A limit of size passed.
    #[error("the server's answer is larger than the limit: {what}")]
    TooLarge {
        /// What was too large.
        what: &'static str,
    },
    /// The caller gave up.
    #[error("the call was cancelled")]
    Cancelled,
    /// The server or this version cannot do it.
    #[error("not supported: {what}")]
    Unsupported {
        /// What is not supported, and by whom.
        what: &'static str,
    },
    /// The server ended the conversation with a reason.
    #[error("the server refused: {text}")]
    HostSaid {
        /// The server's words.
        text: String,
    },
    /// The server took the pack but could not move the branch, which is where it was.
    #[error("the server could not update the branch: {text}")]
    NotUpdated {
        /// The server's words.
        text: String,
    },
    /// The server lacks the history that our commit builds on: our store is wrong about it.
    #[error("the server lacks the history below our commit; the local store must be fetched again")]
    HistoryMissing,
    /// The server does not know our SSH key.
    #[error(
        "the server does not accept the SSH key {fingerprint} for user {user}: add its public half to the \
         repository, with write access"
    )]
    SshKeyRefused {
        /// The user that we logged in as.
        user: String,
        /// The fingerprint of the public key.
        fingerprint: String,
    },
    /// The server shows a host key that we do not believe.
    #[error(transparent)]
    HostKey(#[from] HostKeyFault),
    /// The local store failed while we talked.
    #[error("the local object store failed")]
    Store(#[from] StoreError),
}

/// Adds what a server says to people to a message.
fn after_colon(words: &str) -> String {
    match words.is_empty() {
        true => String::new(),
        false => format!(": {words}"),
    }
}

impl RemoteError {
    /// Says when another try makes sense.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Unreachable { .. }
            | Self::ServerError { .. }
            | Self::Protocol { .. }
            | Self::TimedOut { .. }
            | Self::HostSaid { .. }
            | Self::NotUpdated { .. }
            | Self::HistoryMissing => Retry::AfterBackoff,
            Self::Tls { .. }
            | Self::Unauthorized
            | Self::Forbidden { .. }
            | Self::NotFound
            | Self::NotAGitServer { .. }
            | Self::Redirect { .. }
            | Self::TooLarge { .. }
            | Self::SshKeyRefused { .. }
            | Self::HostKey(_)
            | Self::Unsupported { .. } => Retry::AfterChange,
            Self::Cancelled => Retry::Never,
            Self::Store(error) => error.retry(),
        }
    }

    /// Returns what the server says in it.
    pub(crate) fn text_of_the_server(&mut self) -> Option<&mut String> {
        match self {
            Self::Unreachable { detail }
            | Self::Tls { detail }
            | Self::NotAGitServer { detail }
            | Self::Protocol { detail } => Some(detail),
            Self::Forbidden { words, .. } | Self::ServerError { words, .. } => Some(words),
            Self::HostSaid { text } | Self::NotUpdated { text } => Some(text),
            Self::Unauthorized
            | Self::NotFound
            | Self::Redirect { .. }
            | Self::TimedOut { .. }
            | Self::TooLarge { .. }
            | Self::Cancelled
            | Self::Unsupported { .. }
            | Self::HistoryMissing
            | Self::SshKeyRefused { .. }
            | Self::HostKey(_)
            | Self::Store(_) => None,
        }
    }

    pub(crate) fn protocol(detail: impl Into<String>) -> Self {
        Self::Protocol {
            detail: detail.into(),
        }
    }
}

/// The local store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store is broken or gone. It is a cache: drop its directory and fetch again.
    #[error("the object store at {} is damaged ({what}); it must be fetched again", .dir.display())]
    Damaged {
        /// Where the store is.
        dir: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The store is whole but does not hold this commit.
    #[error("commit {} is not in the object store; it must be fetched first", .id.short())]
    UnknownCommit {
        /// The commit that was asked for.
        id: CommitId,
    },
    /// The path leads to a file, a link or a submodule.
    #[error("{path} is not a folder in this commit")]
    NotAFolder {
        /// The path.
        path: FolderPath,
    },
    /// An edit that must not be made.
    #[error(transparent)]
    Edit(#[from] EditRefusal),
    /// The commit could not be signed. Nothing was written.
    #[error(transparent)]
    Signing(#[from] SigningFailed),
    /// The disk does not let us.
    #[error("the object store at {} cannot be written: {what}", .dir.display())]
    Io {
        /// Where the store is.
        dir: PathBuf,
        /// What was being done.
        what: &'static str,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

impl StoreError {
    /// Says whether the directory must be dropped and fetched again.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }

    /// Says when another try makes sense.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Damaged { .. } | Self::UnknownCommit { .. } | Self::Io { .. } => {
                Retry::AfterBackoff
            }
            Self::NotAFolder { .. } | Self::Edit(_) | Self::Signing(_) => Retry::AfterChange,
        }
    }
}

/// An edit that would silently destroy or follow something. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditRefusal {
    /// The path is, or leads through, a symbolic link.
    #[error("{path} is or leads through a symbolic link")]
    Symlink {
        /// The path of the edit.
        path: RepoPath,
    },
    /// The path is, or leads through, a submodule.
    #[error("{path} is or leads through a submodule")]
    Submodule {
        /// The path of the edit.
        path: RepoPath,
    },
    /// A file stands where the path needs a folder.
    #[error("{path} needs a folder where a file stands")]
    FileInTheWay {
        /// The path of the edit.
        path: RepoPath,
    },
    /// A folder stands where the path needs a file.
    #[error("{path} is a folder, not a file")]
    IsFolder {
        /// The path of the edit.
        path: RepoPath,
    },
    /// Two edits of one commit name the same path.
    #[error("{path} is edited twice in one commit")]
    Twice {
        /// The path of both edits.
        path: RepoPath,
    },
}
