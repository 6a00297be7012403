//! A conversation with a service over one channel.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::rc::Rc;

use gix_transport::Protocol as GixProtocol;
use gix_transport::client::blocking_io::Transport as GixTransport;
use gix_transport::client::git::ConnectMode;
use gix_transport::client::git::blocking_io::Connection as GixConnection;

use super::channel::ServiceChannel;
use crate::conversation::{Answer, AnswerLimit, CallError, Conversation, Failure, Sent, Service};
use crate::endpoint::Limits;
use crate::error::RemoteError;
use crate::text;

/// The conversation. Every answer comes from the same stream, one after the other.
pub(crate) struct SshTalk {
    channel: Rc<RefCell<ServiceChannel>>,
    service: Service,
    failure: Failure,
    limits: Limits,
}

impl SshTalk {
    pub(super) fn new(channel: ServiceChannel, service: Service, limits: Limits) -> Self {
        Self {
            failure: channel.failure().clone(),
            channel: Rc::new(RefCell::new(channel)),
            service,
            limits,
        }
    }

    fn answer(&self) -> SshAnswer {
        SshAnswer(Rc::clone(&self.channel))
    }
}

impl Conversation for SshTalk {
    type Answer = SshAnswer;

    fn advertise(&mut self) -> Result<SshAnswer, RemoteError> {
        let mut channel = self.channel.borrow_mut();
        channel.allow((self.limits.max_advertisement_bytes, "the list of refs"));
        begins_like_git(&mut channel)?;
        drop(channel);
        Ok(self.answer())
    }

    fn call(&mut self, request: Vec<u8>, limit: AnswerLimit) -> Result<SshAnswer, CallError> {
        let mut channel = self.channel.borrow_mut();
        channel.allow(limit);
        if channel.has_left() {
            let gone = || RemoteError::Unreachable {
                detail: "the service ended before it was asked".to_owned(),
            };
            let error = channel.fill().err().and_then(|_| self.failure.take());
            return Err(CallError {
                error: error.unwrap_or_else(gone),
                sent: Sent::Nothing,
            });
        }
        if self.service == Service::ReceivePack {
            channel.ends_with_this();
        }
        channel.send(request.into()).map_err(|error| CallError {
            error,
            sent: Sent::Perhaps,
        })?;
        drop(channel);
        Ok(self.answer())
    }

    fn failure(&self) -> &Failure {
        &self.failure
    }

    fn is_cancelled(&self) -> bool {
        self.channel.borrow().is_cancelled()
    }

    fn into_gix(self) -> Result<Box<dyn GixTransport>, RemoteError> {
        let mut channel = self.channel.borrow_mut();
        channel.allow((self.limits.max_fetch_bytes, "the fetched objects"));
        begins_like_git(&mut channel)?;
        drop(channel);
        let request = Rc::new(RefCell::new(Vec::new()));
        let reader = GixReader {
            channel: Rc::clone(&self.channel),
            request: Rc::clone(&request),
            failure: self.failure,
        };
        Ok(Box::new(GixConnection::new(
            reader,
            GixWriter(request),
            GixProtocol::V2,
            "",
            None::<(String, Option<u16>)>,
            ConnectMode::Process,
            false,
        )))
    }
}

/// Refuses words for people in place of a packet: a profile of the login shell that prints something breaks
/// every protocol over it. Hosts exist that print an empty line and then say on the other stream why they refuse, and
/// that is the reason.
fn begins_like_git(channel: &mut ServiceChannel) -> Result<(), RemoteError> {
    let failure = channel.failure().clone();
    let first = match channel.fill() {
        Ok(first) => first,
        Err(error) => {
            let parsed = RemoteError::protocol(text::shown(error.to_string().as_bytes()));
            return Err(failure.first_or(parsed));
        }
    };
    if first.iter().take(4).all(u8::is_ascii_hexdigit) {
        return Ok(());
    }
    let words = text::shown(first.split(|byte| *byte == b'\n').next().unwrap_or(first));
    Err(channel.reason_of_end().unwrap_or_else(|| {
        RemoteError::protocol(format!(
            "it begins with {words:?}; nothing on the server may print before Git does, such as a profile of \
             its shell"
        ))
    }))
}

/// The service's words, as they come.
pub(crate) struct SshAnswer(Rc<RefCell<ServiceChannel>>);

impl Read for SshAnswer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}

impl Answer for SshAnswer {
    /// What follows belongs to the next answer.
    fn finish(self) {}
}

/// Collects what gix writes.
struct GixWriter(Rc<RefCell<Vec<u8>>>);

impl Write for GixWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends what gix has written when it wants to read, because only then is it a whole request.
struct GixReader {
    channel: Rc<RefCell<ServiceChannel>>,
    request: Rc<RefCell<Vec<u8>>>,
    failure: Failure,
}

impl Read for GixReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut channel = self.channel.borrow_mut();
        let request = std::mem::take(&mut *self.request.borrow_mut());
        if !request.is_empty() {
            let sent = channel.send(request.into());
            sent.map_err(|error| self.failure.keep(error))?;
        }
        channel.read(buffer)
    }
}
