//! A wire to the API server that can be cut.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Forwards connections while it is not cut.
pub(crate) struct Forwarder {
    address: SocketAddr,
    /// Cancelled while the wire is cut.
    wire: Arc<Mutex<CancellationToken>>,
    _accepting: JoinSet<()>,
}

impl Forwarder {
    /// Starts in front of a server at that URL.
    pub(crate) async fn to(url: &str) -> Self {
        let server = url.trim_start_matches("https://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let wire = Arc::new(Mutex::new(CancellationToken::new()));
        let mut accepting = JoinSet::new();
        let shared = Arc::clone(&wire);
        accepting.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut from, _)) = listener.accept().await {
                let wire = shared.lock().unwrap().clone();
                let server = server.clone();
                connections.spawn(async move {
                    // Where the wire is cut, the connection ends as soon as it was accepted.
                    if wire.is_cancelled() {
                        return;
                    }
                    if let Ok(mut to) = TcpStream::connect(server).await {
                        tokio::select! {
                            () = wire.cancelled() => {}
                            _ = copy_bidirectional(&mut from, &mut to) => {}
                        }
                    }
                });
            }
        });
        Self {
            address,
            wire,
            _accepting: accepting,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Ends every connection, and every new one at once.
    pub(crate) fn cut(&self) {
        self.wire.lock().unwrap().cancel();
    }

    /// Forwards again.
    pub(crate) fn mend(&self) {
        *self.wire.lock().unwrap() = CancellationToken::new();
    }
}
