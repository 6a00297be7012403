//! Brings commits of a remote into a store.
//!
//! What is asked for is always one commit by its id, and at most one commit is offered as known. If the
//! server knows it too, only what lies between is sent; if not, the commit comes without its history, for a
//! whole new history would otherwise come.

use std::num::NonZeroU32;
use std::sync::atomic::AtomicBool;

use gix::protocol::fetch::negotiate::{Action, Round, one_round};
use gix::protocol::fetch::{Arguments, Context, Negotiate, Options, Response, Shallow, Tags};
use gix::{ObjectId, progress::Discard};
use gix_transport::Protocol as GixProtocol;
use gix_transport::client::Capabilities;
use gix_transport::client::blocking_io::Transport as GixTransport;
use model::CommitId;

use crate::conversation::{Conversation, Protocol, Service, Transport};
use crate::error::RemoteError;
use crate::store::{Store, object_id};

/// How a server answered the question whether it knows a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Common {
    Yes,
    No,
}

/// Fetches `tip`, building on `known` when both sides have it.
pub(crate) fn fetch(
    transport: &mut impl Transport,
    store: &mut Store,
    tip: &CommitId,
    known: Option<&CommitId>,
) -> Result<(), RemoteError> {
    if store.has(tip)? {
        return Ok(());
    }
    // What comes may be described by what we told the server that we have.
    store.write_accepted()?;
    let known = match known.cloned().or_else(|| store.remembered()) {
        Some(known) if store.has(&known)? => Some(known),
        Some(_) | None => None,
    };
    let built_on = match &known {
        Some(known) => receive(transport, store, tip, Some(known))?,
        None => Common::No,
    };
    if built_on == Common::No {
        receive(transport, store, tip, None)?;
    }
    if !store.has(tip)? {
        return Err(RemoteError::protocol(
            "the fetched objects lack the commit that was asked for",
        ));
    }
    store.remember(tip)?;
    Ok(())
}

/// Runs one fetch. `Common::No` means that the server did not know `known` and nothing was fetched.
fn receive(
    transport: &mut impl Transport,
    store: &Store,
    tip: &CommitId,
    known: Option<&CommitId>,
) -> Result<Common, RemoteError> {
    let limits = transport.limits();
    let timeout = match known {
        Some(_) => limits.call_timeout,
        None => limits.first_fetch_timeout,
    };
    let conversation = transport.begin(Service::UploadPack, Protocol::Two, timeout)?;
    let failure = conversation.failure().clone();
    let mut wanted = Wanted {
        tip: object_id(tip)?,
        known: known.map(object_id).transpose()?,
        answer: Common::Yes,
    };
    match converse(conversation.into_gix()?, store, &mut wanted) {
        Ok(()) => Ok(Common::Yes),
        Err(_) if wanted.answer == Common::No => Ok(Common::No),
        Err(error) => Err(failure.take().unwrap_or_else(|| store.explain(&error))),
    }
}

fn converse(
    mut transport: Box<dyn GixTransport>,
    store: &Store,
    wanted: &mut Wanted,
) -> gix::Result<()> {
    // Without an answer of ours gix would ask the credential programs of the machine.
    let no_credential = |_| Ok(None);
    let mut handshake = gix::protocol::handshake(
        &mut transport,
        gix_transport::Service::UploadPack,
        no_credential,
        Vec::new(),
        &mut Discard,
    )?;
    if handshake.server_protocol_version != GixProtocol::V2 {
        handshake.capabilities = without_pitfalls(&handshake.capabilities)?;
    }
    let shallow = match wanted.known {
        Some(_) => Shallow::NoChange,
        None => Shallow::DepthAtRemote(NonZeroU32::MIN),
    };
    gix::protocol::fetch(
        wanted,
        |pack, progress, interrupt| {
            store.write_pack(pack, progress, interrupt)?;
            Ok(true)
        },
        Discard,
        &AtomicBool::new(false),
        Context {
            handshake: &mut handshake,
            transport: &mut transport,
            user_agent: ("agent", Some(AGENT.to_owned())),
            trace_packetlines: false,
        },
        Options {
            shallow_file: store.shallow_file(),
            shallow: &shallow,
            tags: Tags::None,
            reject_shallow_remote: false,
        },
    )?;
    Ok(())
}

/// How the fetch names us to the server.
const AGENT: &str = concat!("gitops-reverser/", env!("CARGO_PKG_VERSION"));

/// Drops what must not be echoed to a server of the old protocol. gix asks for everything that is
/// offered: with `deepen-relative` a depth of 1 counts from a boundary that a new store does not have, so
/// that all history comes; `no-done` would start the objects before we have judged the answer.
fn without_pitfalls(offered: &Capabilities) -> gix::Result<Capabilities> {
    let mut line = vec![0];
    for capability in offered.iter() {
        let name: &[u8] = capability.name();
        if matches!(name, b"deepen-relative" | b"no-done") {
            continue;
        }
        line.extend_from_slice(name);
        if let Some(value) = capability.value() {
            line.push(b'=');
            line.extend_from_slice(value);
        }
        line.push(b' ');
    }
    line.pop();
    Capabilities::from_bytes(&line).map(|(capabilities, _)| capabilities)
}

/// Asks for one commit and offers at most one.
struct Wanted {
    tip: ObjectId,
    known: Option<ObjectId>,
    answer: Common,
}

impl Negotiate for Wanted {
    fn mark_complete_and_common_ref(&mut self) -> gix::Result<Action> {
        Ok(Action::MustNegotiate {
            remote_ref_target_known: Vec::new(),
        })
    }

    fn add_wants(&mut self, arguments: &mut Arguments, _remote_ref_target_known: &[bool]) -> bool {
        arguments.want(self.tip);
        true
    }

    fn one_round(
        &mut self,
        _state: &mut one_round::State,
        arguments: &mut Arguments,
        previous: Option<&Response>,
    ) -> gix::Result<(Round, bool)> {
        let Some(known) = self.known else {
            return Ok((round(0), true));
        };
        arguments.have(known);
        let Some(previous) = previous else {
            return Ok((round(1), false));
        };
        let acknowledged = previous.acknowledgements().iter().any(|line| {
            use gix::protocol::fetch::response::Acknowledgement;
            match line {
                Acknowledgement::Common(_) | Acknowledgement::Ready => true,
                Acknowledgement::Nak => false,
            }
        });
        if acknowledged {
            return Ok((round(1), true));
        }
        self.answer = Common::No;
        Err(gix::Error::from_error(UnknownToServer))
    }
}

/// Ends a fetch that would bring a whole history.
#[derive(Debug, thiserror::Error)]
#[error("the server does not know the commit that we build on")]
struct UnknownToServer;

fn round(haves: usize) -> Round {
    Round {
        haves_sent: haves,
        in_vain: 0,
        haves_to_send: haves,
        previous_response_had_at_least_one_in_common: false,
    }
}
