//! The way to the API server of a source cluster.

use kube::Client;

/// The way to the API server of a source cluster, with the credential. Whoever passes it on need not know its
/// protocol.
#[derive(Clone)]
pub struct Connection(pub(crate) Client);

impl Connection {
    /// Wraps a client of the cluster.
    pub fn new(client: Client) -> Self {
        Self(client)
    }
}

impl std::fmt::Debug for Connection {
    /// Prints no part of the client.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connection")
    }
}
