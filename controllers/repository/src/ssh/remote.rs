//! A remote over SSH.

use model::CommitId;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::client::SshClient;
use crate::advertisement::Advertisement;
use crate::endpoint::Endpoint;
use crate::error::RemoteError;
use crate::push::{self, PushSession};
use crate::remote::{PushOutcome, PushRequest, Remote};
use crate::store::Store;
use crate::{fetch, look};

/// A Git repository over SSH. Keep it for the life of an endpoint: it reuses its connection.
#[derive(Debug)]
pub struct SshRemote {
    ssh: SshClient,
}

impl SshRemote {
    /// Prepares to speak with the endpoint; nothing is sent. Calls wait on `runtime`, so they must not be
    /// made from one of its async workers; `cancel` ends the call that is running and all later ones.
    ///
    /// # Errors
    /// Fails when the URL is not one for SSH or the credential is not a key.
    pub fn new(
        endpoint: &Endpoint,
        runtime: Handle,
        cancel: CancellationToken,
    ) -> Result<Self, RemoteError> {
        SshClient::new(endpoint, runtime, cancel).map(|ssh| Self { ssh })
    }
}

impl Remote for SshRemote {
    fn look(&mut self) -> Result<Advertisement, RemoteError> {
        look::look(&mut self.ssh)
    }

    fn prove_push(&mut self) -> Result<Advertisement, RemoteError> {
        PushSession::open(&mut self.ssh).map(PushSession::into_advertisement)
    }

    fn fetch(
        &mut self,
        store: &mut Store,
        tip: &CommitId,
        known: Option<&CommitId>,
    ) -> Result<(), RemoteError> {
        fetch::fetch(&mut self.ssh, store, tip, known)
    }

    fn push(&mut self, request: &PushRequest) -> PushOutcome {
        push::push(&mut self.ssh, request)
    }
}
