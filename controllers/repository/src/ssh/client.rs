//! What begins conversations, and keeps the connection for the next one.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::channel::ServiceChannel;
use super::command::Place;
use super::connection::{Access, Connection};
use super::talk::SshTalk;
use crate::conversation::{Protocol, Service, Transport, Waiter};
use crate::credential::Credential;
use crate::endpoint::{Endpoint, Limits};
use crate::error::RemoteError;
use crate::host_keys::HostAddress;
use crate::veil::{NOTHING, Veil};

/// How often a kept connection is looked at, and how many looks in a row may find it unused.
const LOOK: Duration = Duration::from_secs(10);
const UNUSED_LOOKS: u32 = 3;

/// A Git repository over SSH. Keep it for the life of an endpoint: it reuses its connection.
#[derive(Debug)]
pub struct SshRemote {
    access: Access,
    runtime: Handle,
    cancel: CancellationToken,
    kept: Option<Arc<Connection>>,
    /// Closes the kept connection when nobody uses it.
    watch: JoinSet<()>,
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
        let place = Place::of(&endpoint.url)?;
        let Credential::SshKey(key) = &endpoint.credential else {
            return Err(RemoteError::Unsupported {
                what: "an SSH session needs a private key",
            });
        };
        Ok(Self {
            access: Access {
                host: HostAddress::of(&endpoint.url),
                place,
                key: key.clone(),
                trust: endpoint.host_keys.clone(),
                limits: endpoint.limits,
            },
            runtime,
            cancel,
            kept: None,
            watch: JoinSet::new(),
        })
    }

    /// Starts the service on the kept connection. A connection may be dead without knowing it, so any
    /// failure only means that a new one is needed: nothing was sent yet.
    fn on_kept(
        &mut self,
        command: &str,
        protocol: Option<&str>,
        waiter: &Waiter,
    ) -> Option<ServiceChannel> {
        let kept = self.kept.take().filter(|kept| kept.is_open())?;
        let limit = self.access.limits.connect_timeout;
        let connection = Arc::clone(&kept);
        let started = ServiceChannel::start(connection, command, protocol, waiter.clone(), limit);
        let channel = started.ok()?;
        self.kept = Some(kept);
        Some(channel)
    }

    fn keep(&mut self, connection: &Arc<Connection>) {
        self.kept = Some(Arc::clone(connection));
        self.watch = JoinSet::new();
        let unused = close_when_unused(Arc::downgrade(connection));
        self.watch.spawn_on(unused, &self.runtime);
    }
}

impl Transport for SshRemote {
    type Conversation = SshTalk;

    fn limits(&self) -> Limits {
        self.access.limits
    }

    fn veil(&self) -> &Veil {
        &NOTHING
    }

    fn begin(
        &mut self,
        service: Service,
        protocol: Protocol,
        timeout: Duration,
    ) -> Result<SshTalk, RemoteError> {
        let limits = self.access.limits;
        let (runtime, cancel) = (self.runtime.clone(), self.cancel.clone());
        let waiter = Waiter::new(runtime, cancel, timeout, limits.idle_timeout);
        let command = self.access.place.command(service);
        let protocol = match protocol {
            Protocol::Two => Some("version=2"),
            Protocol::Oldest => None,
        };
        let channel = match self.on_kept(&command, protocol, &waiter) {
            Some(channel) => channel,
            None => {
                let connection = Arc::new(Connection::open(&self.access, &waiter)?);
                self.keep(&connection);
                let limit = limits.idle_timeout;
                ServiceChannel::start(connection, &command, protocol, waiter, limit)?
            }
        };
        Ok(SshTalk::new(channel, service, limits))
    }
}

/// Hangs up once nobody but the client has held the connection for a while.
async fn close_when_unused(connection: Weak<Connection>) {
    let mut unused = 0;
    while unused < UNUSED_LOOKS {
        tokio::time::sleep(LOOK).await;
        let Some(connection) = connection.upgrade() else {
            return;
        };
        let is_used = Arc::strong_count(&connection) > 2;
        unused = if is_used { 0 } else { unused + 1 };
    }
    if let Some(connection) = connection.upgrade() {
        connection.cut();
    }
}
