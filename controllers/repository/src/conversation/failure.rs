//! Why a conversation broke.

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use crate::error::RemoteError;
use crate::text;
use crate::wire::packet::PacketError;
use crate::wire::refs::RefsError;

/// The first reason why a conversation broke. Parsers see only that a read failed; whoever started the
/// conversation asks here why.
#[derive(Clone, Default)]
pub(crate) struct Failure(Rc<Cell<Option<RemoteError>>>);

impl Failure {
    /// Keeps the reason, unless an earlier one is known, and returns what a reader returns for it.
    pub(crate) fn keep(&self, error: RemoteError) -> io::Error {
        let first = self.0.take().unwrap_or(error);
        let told = io::Error::other(first.to_string());
        self.0.set(Some(first));
        told
    }

    /// Returns the reason, or what a parser made of the broken stream when the network is not to blame.
    pub(crate) fn first_or(&self, parsed: RemoteError) -> RemoteError {
        self.0.take().unwrap_or(parsed)
    }

    /// Takes the reason out.
    pub(crate) fn take(&self) -> Option<RemoteError> {
        self.0.take()
    }
}

/// Turns what the reader of packets says into the case that a caller sees.
pub(crate) fn packet_error(error: &PacketError) -> RemoteError {
    match error {
        PacketError::ServerError(words) => RemoteError::HostSaid {
            text: text::shown(words),
        },
        PacketError::Read(_) | PacketError::Truncated | PacketError::BadLength => {
            RemoteError::protocol(error.to_string())
        }
    }
}

/// Turns what a parser of refs says into the case that a caller sees.
pub(crate) fn refs_error(error: &RefsError) -> RemoteError {
    match error {
        RefsError::Packet(error) => packet_error(error),
        RefsError::UnknownHash => RemoteError::Unsupported {
            what: "the repository's hash is neither sha1 nor sha256",
        },
        RefsError::TooMany => RemoteError::TooLarge {
            what: "the list of refs",
        },
        RefsError::Malformed(detail) => RemoteError::protocol(*detail),
    }
}
