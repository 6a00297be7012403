//! A small HTTP server on a thread of its own, whatever runtime the test itself uses or not.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};
use bytes::Bytes;
use futures::future::BoxFuture;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// What a handler is given.
pub(crate) type Request = http::Request<Incoming>;
/// What a handler returns.
pub(crate) type Response = http::Response<Full<Bytes>>;

/// Answers requests.
pub(crate) trait Handler: Send + Sync + 'static {
    /// Answers one request; whoever calls has nowhere to put an error, so it becomes a response.
    fn answer(self: Arc<Self>, request: Request) -> BoxFuture<'static, Response>;
}

/// A server that listens until it is dropped.
#[derive(Debug)]
pub(crate) struct HttpServer {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl HttpServer {
    /// Listens at `address`, with TLS if there is an acceptor.
    pub(crate) fn start(
        address: SocketAddr,
        tls: Option<TlsAcceptor>,
        handler: Arc<dyn Handler>,
    ) -> Result<Self> {
        let listener = std::net::TcpListener::bind(address)
            .with_context(|| format!("cannot listen at {address}"))?;
        listener
            .set_nonblocking(true)
            .context("cannot prepare a listener")?;
        let address = listener.local_addr().context("a listener has an address")?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("cannot start a runtime")?;
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name(format!("http-{}", address.port()))
            .spawn(move || run(&runtime, listener, tls, handler, stopped))
            .context("cannot start a thread")?;
        Ok(Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Returns the address at which the server listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HttpServer {
    /// Closes the listener and every connection before it returns.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // Its panic, if any, has been printed; there is nobody to give it to.
            thread.join().ok();
        }
    }
}

fn run(
    runtime: &Runtime,
    listener: std::net::TcpListener,
    tls: Option<TlsAcceptor>,
    handler: Arc<dyn Handler>,
    stopped: oneshot::Receiver<()>,
) {
    runtime.block_on(async move {
        let listener = match TcpListener::from_std(listener) {
            Ok(listener) => listener,
            Err(error) => {
                eprintln!("testkit: cannot listen: {error}");
                return;
            }
        };
        tokio::select! {
            () = accept(&listener, tls, handler) => {}
            _ = stopped => {}
        }
    });
}

/// Accepts connections for ever; the set of connections goes away with this future.
async fn accept(listener: &TcpListener, tls: Option<TlsAcceptor>, handler: Arc<dyn Handler>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(serve(stream, tls.clone(), Arc::clone(&handler)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, tls: Option<TlsAcceptor>, handler: Arc<dyn Handler>) {
    match tls {
        None => serve_http(stream, handler).await,
        // A client that does not trust us hangs up here, which is its right.
        Some(tls) => {
            if let Ok(stream) = tls.accept(stream).await {
                serve_http(stream, handler).await;
            }
        }
    }
}

async fn serve_http(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    handler: Arc<dyn Handler>,
) {
    let service = service_fn(move |request| {
        let handler = Arc::clone(&handler);
        async move { Ok::<_, Infallible>(handler.answer(request).await) }
    });
    // Clients may hang up at any time; tests look at what was answered, not at how they left.
    http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await
        .ok();
}
