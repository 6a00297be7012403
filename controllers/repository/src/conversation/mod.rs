//! A conversation with one of the two services of a remote, whatever carries it.
//!
//! [`Transport`] is the way to a remote, [`Conversation`] what takes place on it: the service says what it
//! has, then answers any number of calls. The sessions (`look`, `fetch`, `push`) are written against these
//! two traits and know no transport. `waiter` bounds every wait, `failure` keeps the reason of a break.

mod failure;
mod waiter;

use std::io::Read;
use std::time::Duration;

use gix_transport::client::blocking_io::Transport as GixTransport;

pub(crate) use failure::{Failure, packet_error, refs_error};
pub(crate) use waiter::Waiter;

use crate::endpoint::Limits;
use crate::error::RemoteError;
use crate::veil::Veil;

/// The two halves of a Git server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    UploadPack,
    ReceivePack,
}

/// The generation of the protocol that we ask for; the server may answer with an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Oldest,
    Two,
}

/// How far a failed call got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// No byte reached the server.
    Nothing,
    /// The server turned the request away without acting on it.
    TurnedAway,
    /// Nobody knows.
    Perhaps,
}

/// A call that failed, and what that means for its effect.
#[derive(Debug)]
pub(crate) struct CallError {
    pub(crate) error: RemoteError,
    pub(crate) sent: Sent,
}

/// The most bytes of an answer, and what to call it when there are more.
pub(crate) type AnswerLimit = (u64, &'static str);

/// A way to one remote.
pub(crate) trait Transport {
    /// What takes place on it.
    type Conversation: Conversation;

    /// Returns the bounds on each conversation.
    fn limits(&self) -> Limits;

    /// Returns what must not be shown of what the remote says.
    fn veil(&self) -> &Veil;

    /// Begins a conversation that must end within `timeout`. The service is asked nothing yet.
    fn begin(
        &mut self,
        service: Service,
        protocol: Protocol,
        timeout: Duration,
    ) -> Result<Self::Conversation, RemoteError>;
}

/// A conversation with its own deadline.
pub(crate) trait Conversation: Sized {
    /// What the service says.
    type Answer: Answer;

    /// Lets the service say what it has. Comes first, and once.
    fn advertise(&mut self) -> Result<Self::Answer, RemoteError>;

    /// Sends one request and returns the answer as far as it has come.
    fn call(&mut self, request: Vec<u8>, limit: AnswerLimit) -> Result<Self::Answer, CallError>;

    /// Returns where the reason is kept for which a reader of this conversation failed.
    fn failure(&self) -> &Failure;

    /// Says whether the caller has given up.
    fn is_cancelled(&self) -> bool;

    /// Hands the conversation, in which nothing was said yet, to gix's fetch.
    fn into_gix(self) -> Result<Box<dyn GixTransport>, RemoteError>;
}

/// Something that the service says, read while it arrives.
pub(crate) trait Answer: Read {
    /// Ends the reading after the part that was parsed.
    fn finish(self);
}

impl Service {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::UploadPack => "git-upload-pack",
            Self::ReceivePack => "git-receive-pack",
        }
    }
}
