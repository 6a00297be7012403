//! Binds an address and serves a function of the request on it.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::flags::value::{Listen, ListenAddress};

/// Most connections at a time. Probes and scrapes need a handful; more wait in the kernel's queue.
const MAX_CONNECTIONS: usize = 64;

/// Longest time to send the head of a request, so that a silent client gives its place back.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest time that open connections get to finish when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Pause after the system could not hand out a connection, for instance for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Answers a path and a query, or `None` for "not found".
pub type Answer = Arc<dyn Fn(&str, Option<&str>) -> Option<Response<Full<Bytes>>> + Send + Sync>;

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen for {server} on {address}; free the address or choose another one")]
pub struct BindError {
    server: &'static str,
    address: ListenAddress,
    #[source]
    source: io::Error,
}

/// A listener that holds its address.
#[derive(Debug)]
pub struct Bound {
    server: &'static str,
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// The address with the port that was chosen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives the listener to a server of another kind, such as the extension API's.
    pub fn into_listener(self) -> TcpListener {
        self.listener
    }
}

/// Takes the address and logs it, because the system may have chosen the port. Off gives `None`.
///
/// # Errors
/// Returns the address and the system's reason when it cannot be taken.
pub async fn bind(server: &'static str, listen: &Listen) -> Result<Option<Bound>, BindError> {
    let Listen::At(address) = listen else {
        return Ok(None);
    };
    let bound = async {
        let listener = take(address).await?;
        let address = listener.local_addr()?;
        Ok(Bound {
            server,
            listener,
            address,
        })
    };
    let bound = bound.await.map_err(|source| BindError {
        server,
        address: address.clone(),
        source,
    })?;
    tracing::info!(server, address = %bound.address, "listening");
    Ok(Some(bound))
}

async fn take(address: &ListenAddress) -> io::Result<TcpListener> {
    match &address.host {
        Some(host) => TcpListener::bind((host.as_str(), address.port)).await,
        // The IPv6 wildcard takes IPv4 along, except on a machine that has no IPv6.
        None => match TcpListener::bind(("::", address.port)).await {
            Ok(listener) => Ok(listener),
            Err(_) => TcpListener::bind(("0.0.0.0", address.port)).await,
        },
    }
}

/// Serves until it is told to stop, then lets open connections finish.
pub async fn serve(bound: Bound, answer: Answer, shutdown: CancellationToken) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            Some(ended) = connections.join_next(), if !connections.is_empty() => report(bound.server, ended),
            accepted = bound.listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, Arc::clone(&answer), shutdown.clone()));
                }
                Err(error) => {
                    tracing::warn!(server = bound.server, %error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(bound.listener);
    let finish = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(STOP_TIMEOUT, finish).await.is_err() {
        connections.shutdown().await;
    }
}

fn report(server: &'static str, ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(server, %error, "a connection ended by a fault of ours");
    }
}

async fn converse(stream: TcpStream, answer: Answer, shutdown: CancellationToken) {
    let service = service_fn(move |request: http::Request<Incoming>| {
        let response = respond(&request, &answer);
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a client left in the middle of a request");
    }
}

fn respond(request: &http::Request<Incoming>, answer: &Answer) -> Response<Full<Bytes>> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return plain(
            StatusCode::METHOD_NOT_ALLOWED,
            "only GET and HEAD are answered here\n",
        );
    }
    answer(request.uri().path(), request.uri().query())
        .unwrap_or_else(|| plain(StatusCode::NOT_FOUND, "nothing is served under this path\n"))
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::flags::value::listen;

    async fn ask(address: SocketAddr, head: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", address.port()))
            .await
            .unwrap();
        stream
            .write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn a_free_port_is_taken_served_and_given_back() {
        let bound = bind("test", &listen("127.0.0.1:0").unwrap())
            .await
            .unwrap()
            .unwrap();
        let address = bound.address();
        assert_ne!(address.port(), 0);
        let answer: Answer = Arc::new(|path, query| {
            (path == "/hello").then(|| Response::new(Full::new(format!("{query:?}").into())))
        });
        let shutdown = CancellationToken::new();
        let mut servers = JoinSet::new();
        servers.spawn(serve(bound, answer, shutdown.clone()));
        let text = ask(address, "GET /hello?x=1 HTTP/1.1\r\nHost: t").await;
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        assert!(text.ends_with("Some(\"x=1\")"), "{text}");
        assert!(
            ask(address, "GET /other HTTP/1.1\r\nHost: t")
                .await
                .starts_with("HTTP/1.1 404")
        );
        assert!(
            ask(address, "POST /hello HTTP/1.1\r\nHost: t")
                .await
                .starts_with("HTTP/1.1 405")
        );
        shutdown.cancel();
        servers.join_next().await.unwrap().unwrap();
        assert!(
            bind("test", &listen(&address.to_string()).unwrap())
                .await
                .unwrap()
                .is_some()
        );
    }

    #[tokio::test]
    async fn an_idle_connection_does_not_hold_up_the_end() {
        let bound = bind("test", &listen(":0").unwrap()).await.unwrap().unwrap();
        let address = bound.address();
        let shutdown = CancellationToken::new();
        let mut servers = JoinSet::new();
        servers.spawn(serve(bound, Arc::new(|_, _| None), shutdown.clone()));
        let mut idle = TcpStream::connect(("127.0.0.1", address.port()))
            .await
            .unwrap();
        idle.write_all(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n")
            .await
            .unwrap();
        let mut first = [0; 12];
        idle.read_exact(&mut first).await.unwrap();
        shutdown.cancel();
        servers.join_next().await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_taken_address_is_named() {
        let bound = bind("test", &listen("127.0.0.1:0").unwrap())
            .await
            .unwrap()
            .unwrap();
        let again = listen(&bound.address().to_string()).unwrap();
        let error = bind("health", &again).await.unwrap_err().to_string();
        assert!(
            error.starts_with("cannot listen for health on 127.0.0.1:"),
            "{error}"
        );
        assert!(bind("health", &Listen::Off).await.unwrap().is_none());
    }
}
