//! One push: open a session, compare, send, read the report, decide.
//!
//! The session is a chain of types, so that nothing can be sent before the server's branches were compared
//! with what the caller expects. `decide` holds the judgements, without I/O.

mod decide;

use model::CommitId;

use crate::advertisement::{Advertisement, ObjectFormat};
use crate::conversation::{
    Answer, CallError, Conversation, Protocol, Sent, Service, Transport, packet_error, refs_error,
};
use crate::error::{RemoteError, StoreError};
use crate::remote::{PushOutcome, PushRequest};
use crate::store::Receiver;
use crate::text;
use crate::wire::packet;
use crate::wire::refs::{self, Capabilities, Greeting};
use crate::wire::report::{self, Report, Verdict};

/// The most bytes of the whole answer to a push: the report, and words for people that are read and dropped.
const LONGEST_ANSWER: u64 = 4 << 20;
/// How the session names us to the server.
const AGENT: &str = concat!("agent=gitops-reverser/", env!("CARGO_PKG_VERSION"));

/// A push session whose advertisement has been read. The credential is proved by then.
pub(crate) struct PushSession<C> {
    conversation: C,
    advertisement: Advertisement,
    capabilities: Capabilities,
}

/// A session in which the request agrees with what the server has.
struct ReadySession<'a, C> {
    conversation: C,
    capabilities: Capabilities,
    request: &'a PushRequest,
}

/// A session that has an answer.
struct SettledSession {
    report: Report,
    /// Why the report may be incomplete.
    cause: Option<RemoteError>,
}

/// Pushes, from the first byte to the outcome.
pub(crate) fn push(transport: &mut impl Transport, request: &PushRequest) -> PushOutcome {
    push_to(transport, request, Receiver::HasBases)
}

fn push_to(
    transport: &mut impl Transport,
    request: &PushRequest,
    receiver: Receiver,
) -> PushOutcome {
    let session = match PushSession::open(transport) {
        Ok(session) => session,
        Err(error) => return PushOutcome::Failed(error),
    };
    let ready = match session.compare(request) {
        Ok(ready) => ready,
        Err(outcome) => return *outcome,
    };
    match ready.send(receiver) {
        // A server may have lost what nothing refers to any more. The comparison makes it safe to send again.
        Ok(settled)
            if receiver == Receiver::HasBases
                && request.pack.builds_on_bases()
                && settled.is_not_unpacked(request) =>
        {
            push_to(transport, request, Receiver::WantsAll)
        }
        Ok(settled) => settled.outcome(transport, request),
        Err(failed) => decide::after_failed_call(failed, &request.new),
    }
}

impl<C: Conversation> PushSession<C> {
    /// Opens a session and reads the advertisement.
    pub(crate) fn open(
        transport: &mut impl Transport<Conversation = C>,
    ) -> Result<Self, RemoteError> {
        let limits = transport.limits();
        let service = Service::ReceivePack;
        let mut conversation = transport.begin(service, Protocol::Oldest, limits.call_timeout)?;
        let mut answer = conversation.advertise()?;
        let max_refs = limits.max_advertised_refs;
        let greeting = refs::read_greeting(&mut answer, service.as_str(), max_refs)
            .map_err(|error| conversation.failure().first_or(refs_error(&error)))?;
        answer.finish();
        match greeting {
            Greeting::Refs(advertisement, capabilities) => Ok(Self {
                conversation,
                advertisement,
                capabilities,
            }),
            Greeting::Capabilities(_) => Err(RemoteError::Unsupported {
                what: "the server answers a push with protocol 2, which has no push",
            }),
        }
    }

    /// Ends the session without pushing.
    pub(crate) fn into_advertisement(self) -> Advertisement {
        self.advertisement
    }

    /// Goes on only if the server is where the request expects it to be.
    fn compare(self, request: &PushRequest) -> Result<ReadySession<'_, C>, Box<PushOutcome>> {
        decide::compare(&self.advertisement, &self.capabilities, request)?;
        Ok(ReadySession {
            conversation: self.conversation,
            capabilities: self.capabilities,
            request,
        })
    }
}

impl<C: Conversation> ReadySession<'_, C> {
    /// Sends the command and the objects, and reads as much of the report as comes.
    fn send(mut self, receiver: Receiver) -> Result<SettledSession, CallError> {
        if self.conversation.is_cancelled() {
            return Err(CallError {
                error: RemoteError::Cancelled,
                sent: Sent::Nothing,
            });
        }
        let side_band = self.capabilities.has("side-band-64k");
        let receiver = if self.capabilities.has("no-thin") {
            Receiver::WantsAll
        } else {
            receiver
        };
        let body =
            encode(self.request, &self.capabilities, receiver).map_err(|error| CallError {
                error: error.into(),
                sent: Sent::Nothing,
            })?;
        let limit = (LONGEST_ANSWER, "the answer to a push");
        let mut answer = self.conversation.call(body, limit)?;
        let (report, error) = report::read_report(&mut answer, side_band);
        let cause = error.map(|error| {
            let parsed = packet_error(&error);
            self.conversation.failure().first_or(parsed)
        });
        if cause.is_none() {
            answer.finish();
        }
        Ok(SettledSession { report, cause })
    }
}

impl SettledSession {
    fn is_not_unpacked(&self, request: &PushRequest) -> bool {
        let name = format!("refs/heads/{}", request.branch);
        matches!(self.report.verdict(&name), Verdict::NotUnpacked(_))
    }

    /// Turns the report into the outcome. A rejection says too little by itself: whether the branch has
    /// moved is only known from a fresh advertisement.
    fn outcome(self, transport: &mut impl Transport, request: &PushRequest) -> PushOutcome {
        let name = format!("refs/heads/{}", request.branch);
        let (reason, unpacked) = match self.report.verdict(&name) {
            Verdict::Accepted => {
                return PushOutcome::Landed {
                    tip: request.new.clone(),
                };
            }
            Verdict::Unclear(why) => {
                return PushOutcome::Ambiguous {
                    sent: request.new.clone(),
                    cause: self.cause.unwrap_or_else(|| RemoteError::protocol(why)),
                };
            }
            Verdict::Rejected(reason) => (reason, true),
            Verdict::NotUnpacked(reason) => (reason, false),
        };
        match PushSession::open(transport) {
            Ok(session) => decide::after_rejection(
                session.into_advertisement(),
                request,
                &decide::Rejection {
                    reason: &reason,
                    unpacked,
                    words: &text::spoken(&self.report.words),
                },
            ),
            Err(error) => PushOutcome::Transient(error),
        }
    }
}

/// Encodes command, capabilities and pack.
fn encode(
    request: &PushRequest,
    capabilities: &Capabilities,
    receiver: Receiver,
) -> Result<Vec<u8>, StoreError> {
    let zero;
    let old = match &request.expected {
        Some(id) => id.as_str(),
        None => {
            zero = "0".repeat(request.new.as_str().len());
            &zero
        }
    };
    let mut line = format!("{old} {} refs/heads/{}\0", request.new, request.branch);
    let report = if capabilities.has("report-status-v2") {
        "report-status-v2"
    } else {
        "report-status"
    };
    line.push_str(report);
    if capabilities.has("side-band-64k") {
        line.push_str(" side-band-64k");
    }
    if capabilities.has("object-format") {
        line.push_str(" object-format=");
        line.push_str(format_of(&request.new).as_str());
    }
    if capabilities.has("agent") {
        line.push(' ');
        line.push_str(AGENT);
    }
    let pack = request.pack.encode(receiver)?;
    let mut body = Vec::with_capacity(line.len() + pack.len() + 16);
    packet::write_data(&mut body, line.as_bytes());
    packet::write_flush(&mut body);
    body.extend_from_slice(&pack);
    Ok(body)
}

fn format_of(id: &CommitId) -> ObjectFormat {
    if id.as_str().len() == ObjectFormat::Sha1.hex_len() {
        ObjectFormat::Sha1
    } else {
        ObjectFormat::Sha256
    }
}
