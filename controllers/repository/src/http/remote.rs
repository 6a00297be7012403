//! A remote over HTTP(S).

use model::CommitId;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::exchange::{Exchange, HttpClient, Protocol, Service};
use crate::advertisement::{Advertisement, ObjectFormat};
use crate::endpoint::Endpoint;
use crate::error::RemoteError;
use crate::push::{self, PushSession};
use crate::remote::{PushOutcome, PushRequest, Remote};
use crate::store::Store;
use crate::wire::packet::{self, PacketError};
use crate::wire::refs::{self, Capabilities, Greeting, RefsError};
use crate::{fetch, text};

/// A Git repository over HTTP(S). Keep it for the life of an endpoint: it reuses its connections.
#[derive(Debug)]
pub struct HttpRemote {
    http: HttpClient,
}

impl HttpRemote {
    /// Prepares to speak with the endpoint; nothing is sent. The process's TLS provider must be installed.
    /// Calls wait on `runtime`, so they must not be made from one of its async workers; `cancel` ends the
    /// call that is running and all later ones.
    ///
    /// # Errors
    /// Fails when the URL is not one for HTTP or the certificate authorities cannot be read.
    pub fn new(
        endpoint: &Endpoint,
        runtime: Handle,
        cancel: CancellationToken,
    ) -> Result<Self, RemoteError> {
        HttpClient::new(endpoint, runtime, cancel).map(|http| Self { http })
    }

    /// Asks a protocol 2 server for its refs: the branches and `HEAD`, and when it has no branch, for all
    /// refs, because then it matters whether it has any.
    fn list_refs(
        &self,
        exchange: &mut Exchange,
        capabilities: &Capabilities,
    ) -> Result<Advertisement, RemoteError> {
        let format = capabilities
            .object_format()
            .map_err(|error| refs_error(&error))?;
        let branches = ls_refs_request(capabilities, format, &["HEAD", "refs/heads/"]);
        let listed = self.ls_refs(exchange, branches, format)?;
        if !listed.branches.is_empty() {
            return Ok(listed);
        }
        let everything = ls_refs_request(capabilities, format, &[]);
        self.ls_refs(exchange, everything, format)
    }

    fn ls_refs(
        &self,
        exchange: &mut Exchange,
        request: Vec<u8>,
        format: ObjectFormat,
    ) -> Result<Advertisement, RemoteError> {
        let limits = self.http.limits();
        let limit = (limits.max_advertisement_bytes, "the list of refs");
        let mut answer = exchange
            .call(request, limit)
            .map_err(|failed| failed.error)?;
        let listed = refs::read_ls_refs(&mut answer, format, limits.max_advertised_refs)
            .map_err(|error| exchange.failure.first_or(refs_error(&error)))?;
        answer.finish();
        Ok(listed)
    }
}

impl Remote for HttpRemote {
    fn look(&mut self) -> Result<Advertisement, RemoteError> {
        let limits = self.http.limits();
        let service = Service::UploadPack;
        let mut exchange = self
            .http
            .exchange(service, Protocol::Two, limits.call_timeout);
        let mut answer = exchange.advertise()?;
        let max_refs = limits.max_advertised_refs;
        let greeting = refs::read_greeting(&mut answer, service.as_str(), max_refs)
            .map_err(|error| exchange.failure.first_or(refs_error(&error)))?;
        answer.finish();
        match greeting {
            Greeting::Refs(advertisement, _) => Ok(advertisement),
            Greeting::Capabilities(capabilities) => self.list_refs(&mut exchange, &capabilities),
        }
    }

    fn prove_push(&mut self) -> Result<Advertisement, RemoteError> {
        PushSession::open(&self.http).map(PushSession::into_advertisement)
    }

    fn fetch(
        &mut self,
        store: &mut Store,
        tip: &CommitId,
        known: Option<&CommitId>,
    ) -> Result<(), RemoteError> {
        fetch::fetch(&self.http, store, tip, known)
    }

    fn push(&mut self, request: &PushRequest) -> PushOutcome {
        push::push(&self.http, request)
    }
}

fn ls_refs_request(
    capabilities: &Capabilities,
    format: ObjectFormat,
    prefixes: &[&str],
) -> Vec<u8> {
    let mut body = Vec::new();
    packet::write_data(&mut body, b"command=ls-refs\n");
    if capabilities.has("object-format") {
        let line = format!("object-format={}\n", format.as_str());
        packet::write_data(&mut body, line.as_bytes());
    }
    packet::write_delimiter(&mut body);
    packet::write_data(&mut body, b"symrefs\n");
    if capabilities
        .value("ls-refs")
        .is_some_and(|words| words.split(' ').any(|word| word == "unborn"))
    {
        packet::write_data(&mut body, b"unborn\n");
    }
    for prefix in prefixes {
        packet::write_data(&mut body, format!("ref-prefix {prefix}\n").as_bytes());
    }
    packet::write_flush(&mut body);
    body
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
