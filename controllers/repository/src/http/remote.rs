//! A remote over HTTP(S).

use model::CommitId;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::exchange::HttpClient;
use crate::advertisement::Advertisement;
use crate::endpoint::Endpoint;
use crate::error::RemoteError;
use crate::push::{self, PushSession};
use crate::remote::{PushOutcome, PushRequest, Remote};
use crate::store::Store;
use crate::{fetch, look};

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
}

impl Remote for HttpRemote {
    fn look(&mut self) -> Result<Advertisement, RemoteError> {
        look::look(&mut self.http)
    }

    fn prove_push(&mut self) -> Result<Advertisement, RemoteError> {
        PushSession::open(&mut self.http).map(PushSession::into_advertisement)
    }

    fn fetch(
        &mut self,
        store: &mut Store,
        tip: &CommitId,
        known: Option<&CommitId>,
    ) -> Result<(), RemoteError> {
        fetch::fetch(&mut self.http, store, tip, known)
    }

    fn push(&mut self, request: &PushRequest) -> PushOutcome {
        push::push(&mut self.http, request)
    }
}
