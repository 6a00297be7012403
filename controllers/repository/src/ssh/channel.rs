//! A service that runs on the host, as a blocking stream.
//!
//! A host may stop reading before all is sent, and may end the service, the channel or the connection at any
//! moment. So what comes is taken in while something is sent, and what was said before the end stays
//! readable after it.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use russh::ChannelMsg;
use russh::client::Msg;
use russh::{ChannelReadHalf, ChannelWriteHalf};

use super::connection::{Connection, from_russh};
use crate::conversation::{AnswerLimit, Failure, Waiter};
use crate::error::RemoteError;
use crate::text;

/// How much is sent between two looks at the clock.
const PIECE: usize = 32 * 1024;
/// The most bytes that may come while we send.
const MOST_UNREAD: usize = 4 << 20;
/// The most bytes kept of what the service says to people.
const LONGEST_WORDS: usize = 8 * 1024;
/// How long a service may take to leave after its last byte.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long we try to say goodbye.
const GOODBYE: Duration = Duration::from_secs(1);
/// The packet by which a client says that it wants nothing more.
const FLUSH: &[u8] = b"0000";

/// A running service.
pub(super) struct ServiceChannel {
    connection: Arc<Connection>,
    reader: ChannelReadHalf,
    writer: ChannelWriteHalf<Msg>,
    inbox: Inbox,
    waiter: Waiter,
    failure: Failure,
    left: u64,
    too_large: &'static str,
    /// Whether the service waits for a word that we want nothing more.
    owes_flush: bool,
}

/// What has come and was not read yet.
#[derive(Default)]
struct Inbox {
    arrived: VecDeque<Bytes>,
    bytes: usize,
    words: Vec<u8>,
    status: Option<u32>,
    /// The service says nothing more.
    silent: bool,
    /// The channel is closed.
    closed: bool,
    /// The connection went away under the channel.
    lost: bool,
}

impl ServiceChannel {
    /// Starts the command on a channel of the connection.
    pub(super) fn start(
        connection: Arc<Connection>,
        command: &str,
        protocol: Option<&str>,
        waiter: Waiter,
        limit: Duration,
    ) -> Result<Self, RemoteError> {
        let starting = async {
            let channel = connection.channel().await?;
            if let Some(protocol) = protocol {
                // Many hosts ignore it, and then speak the oldest protocol.
                let set = channel.set_env(false, "GIT_PROTOCOL", protocol).await;
                set.map_err(|error| from_russh(&error))?;
            }
            let run = channel.exec(true, command).await;
            run.map_err(|error| from_russh(&error))?;
            Ok(channel.split())
        };
        let (reader, writer) = waiter.wait_within(limit, "the service to start", starting)?;
        Ok(Self {
            connection,
            reader,
            writer,
            inbox: Inbox::default(),
            waiter,
            failure: Failure::default(),
            left: 0,
            too_large: "",
            owes_flush: true,
        })
    }

    pub(super) fn failure(&self) -> &Failure {
        &self.failure
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.waiter.is_cancelled()
    }

    /// Sets how much may come from now on.
    pub(super) fn allow(&mut self, (bytes, too_large): AnswerLimit) {
        (self.left, self.too_large) = (bytes, too_large);
    }

    /// Notes that what is sent next is the last word.
    pub(super) fn ends_with_this(&mut self) {
        self.owes_flush = false;
    }

    /// Says whether the service has left.
    pub(super) fn has_left(&self) -> bool {
        self.inbox.has_left()
    }

    /// Sends all of it, unless the service stops listening: then what it said is the answer.
    pub(super) fn send(&mut self, mut request: Bytes) -> Result<(), RemoteError> {
        while !request.is_empty() && !self.inbox.has_left() {
            let piece = request.split_to(request.len().min(PIECE));
            let Self {
                reader,
                writer,
                inbox,
                waiter,
                ..
            } = self;
            waiter.wait("the request to be taken", async {
                let sending = writer.data_bytes(piece);
                tokio::pin!(sending);
                loop {
                    tokio::select! {
                        biased;
                        // A connection that breaks here shows in what is read next.
                        _ = &mut sending => return Ok(()),
                        message = reader.wait() => inbox.take(message),
                    }
                    if inbox.has_left() {
                        return Ok(());
                    }
                    if inbox.bytes > MOST_UNREAD {
                        let what = "what comes while we send";
                        return Err(RemoteError::TooLarge { what });
                    }
                }
            })?;
        }
        Ok(())
    }

    /// Returns the next bytes without taking them; none at the end.
    pub(super) fn fill(&mut self) -> io::Result<&[u8]> {
        while self.inbox.arrived.is_empty() {
            if self.inbox.closed {
                return match self.inbox.last_words() {
                    Some(error) => Err(self.failure.keep(error)),
                    None => Ok(&[]),
                };
            }
            self.wait_for_more()
                .map_err(|error| self.failure.keep(error))?;
        }
        Ok(self.inbox.arrived.front().map_or(&[], |chunk| &chunk[..]))
    }

    /// Takes bytes that [`Self::fill`] returned.
    pub(super) fn consume(&mut self, count: usize) {
        self.inbox.consume(count);
    }

    /// Reads into the buffer.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        let Some(left) = self
            .left
            .checked_sub(u64::try_from(count).unwrap_or(u64::MAX))
        else {
            let what = self.too_large;
            return Err(self.failure.keep(RemoteError::TooLarge { what }));
        };
        self.left = left;
        self.consume(count);
        Ok(count)
    }

    /// Lets the service end, whatever it still prints, and returns why it failed if it tells people.
    pub(super) fn reason_of_end(&mut self) -> Option<RemoteError> {
        if self.owes_flush {
            self.send(Bytes::from_static(FLUSH)).ok()?;
            self.owes_flush = false;
        }
        let Self {
            reader,
            inbox,
            waiter,
            ..
        } = self;
        let ending = async {
            while !inbox.has_ended() {
                inbox.drop_unread();
                inbox.take(reader.wait().await);
            }
            Ok(())
        };
        waiter
            .wait_within(FAREWELL, "the service to end", ending)
            .ok()?;
        self.inbox
            .last_words()
            .filter(|_| !self.inbox.words.is_empty())
    }

    fn wait_for_more(&mut self) -> Result<(), RemoteError> {
        let (reader, silent) = (&mut self.reader, self.inbox.silent);
        let next = async { Ok(reader.wait().await) };
        if !silent {
            let message = self.waiter.wait("the rest of the answer", next)?;
            self.inbox.take(message);
            return Ok(());
        }
        match self
            .waiter
            .wait_within(FAREWELL, "the service to end", next)
        {
            Ok(message) => self.inbox.take(message),
            // All was said; that it lingers is nobody's failure.
            Err(RemoteError::TimedOut { .. }) => self.inbox.closed = true,
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl Drop for ServiceChannel {
    fn drop(&mut self) {
        if self.inbox.closed {
            return;
        }
        let goodbye = async {
            if self.owes_flush && !self.inbox.silent {
                let flush = self.writer.data_bytes(Bytes::from_static(FLUSH)).await;
                flush.map_err(|error| from_russh(&error))?;
            }
            let close = self.writer.close().await;
            close.map_err(|error| from_russh(&error))
        };
        // Whatever keeps it from being said would also keep the connection from being used again.
        if self
            .waiter
            .wait_within(GOODBYE, "goodbye", goodbye)
            .is_err()
        {
            self.connection.cut();
        }
    }
}

impl Inbox {
    fn take(&mut self, message: Option<ChannelMsg>) {
        match message {
            Some(ChannelMsg::Data { data }) => {
                self.bytes += data.len();
                if !data.is_empty() {
                    self.arrived.push_back(data);
                }
            }
            Some(ChannelMsg::ExtendedData { data, .. }) => {
                let room = LONGEST_WORDS.saturating_sub(self.words.len());
                self.words.extend_from_slice(&data[..data.len().min(room)]);
            }
            Some(ChannelMsg::ExitStatus { exit_status }) => self.status = Some(exit_status),
            Some(ChannelMsg::ExitSignal { .. }) => self.status = Some(u32::MAX),
            Some(ChannelMsg::Failure) => {
                self.words.extend_from_slice(b"it does not run the command");
                self.status = Some(u32::MAX);
                (self.silent, self.closed) = (true, true);
            }
            Some(ChannelMsg::Eof) => self.silent = true,
            Some(ChannelMsg::Close) => (self.silent, self.closed) = (true, true),
            None => {
                self.lost = !self.closed;
                (self.silent, self.closed) = (true, true);
            }
            // The rest is about the window and about requests of servers.
            Some(_) => {}
        }
    }

    fn has_left(&self) -> bool {
        self.silent || self.status.is_some()
    }

    /// Says whether nothing more will be known.
    fn has_ended(&self) -> bool {
        self.closed || (self.silent && self.status.is_some())
    }

    fn drop_unread(&mut self) {
        self.arrived.clear();
        self.bytes = 0;
    }

    /// Says why the service said no more than it did, when it tells.
    fn last_words(&self) -> Option<RemoteError> {
        let status = self.status.filter(|status| *status != 0);
        let words = text::spoken(&self.words);
        match status {
            None if self.lost => Some(RemoteError::Unreachable {
                detail: "the connection broke".to_owned(),
            }),
            None => None,
            Some(status) => Some(RemoteError::HostSaid {
                text: match (status, words.is_empty()) {
                    (u32::MAX, false) => words,
                    (u32::MAX, true) => "its service was killed".to_owned(),
                    (_, true) => format!("its service ended with status {status}"),
                    (_, false) => format!("{words} (status {status})"),
                },
            }),
        }
    }

    fn consume(&mut self, count: usize) {
        if let Some(chunk) = self.arrived.front_mut() {
            chunk.advance(count);
            self.bytes -= count;
            if chunk.is_empty() {
                self.arrived.pop_front();
            }
        }
    }
}
