//! Accepts connections, shakes hands, serves each in its own task, and drains them at the end.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use rustls_pki_types::CertificateDer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

use super::ApiServer;
use super::activity::Activity;

/// A person in some hundred directory groups arrives as some hundred headers.
const MAX_HEADERS: usize = 4096;
const MAX_HEADER_BYTES: u32 = 1024 * 1024;
/// How long a client may take to send a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(90);
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_STREAMS: u32 = 250;
const STREAM_WINDOW: u32 = 256 * 1024;
/// How long a connection may live without a request.
const IDLE: Duration = Duration::from_secs(600);
/// The pause after a failed accept, which usually means too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

pub(super) async fn accept(
    server: Arc<ApiServer>,
    listener: TcpListener,
    config: Arc<ServerConfig>,
    stop: CancellationToken,
) {
    let acceptor = TlsAcceptor::from(config);
    let places = Arc::new(Semaphore::new(server.limits.connections));
    let mut connections = JoinSet::new();
    loop {
        reap(&mut connections);
        let Some(place) = stop
            .run_until_cancelled(places.clone().acquire_owned())
            .await
        else {
            break;
        };
        let stream = match stop.run_until_cancelled(listener.accept()).await {
            None => break,
            Some(Ok((stream, _))) => stream,
            Some(Err(error)) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "cannot accept a connection"
                );
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (server, acceptor, stop) = (server.clone(), acceptor.clone(), stop.clone());
        connections.spawn(async move {
            let _place = place;
            if let Some(stream) = handshake(&server, &acceptor, stream).await {
                serve(server, stream, stop).await;
            }
        });
    }
    drop(listener);
    drain(connections, server.limits.drain).await;
}

async fn handshake(
    server: &ApiServer,
    acceptor: &TlsAcceptor,
    stream: TcpStream,
) -> Option<TlsStream<TcpStream>> {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(
            error = &error as &dyn std::error::Error,
            "cannot set TCP_NODELAY"
        );
    }
    match tokio::time::timeout(server.limits.handshake, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => Some(stream),
        Ok(Err(error)) => {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "a TLS handshake failed"
            );
            None
        }
        Err(_) => {
            tracing::debug!("a TLS handshake took too long");
            None
        }
    }
}

fn builder(protocol: Option<&[u8]>) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEADER_BYTES as usize);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT)
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .max_header_list_size(MAX_HEADER_BYTES);
    if protocol == Some(b"h2") {
        builder.http2_only()
    } else {
        builder.http1_only()
    }
}

/// Serves one connection until it ends by itself, was idle for too long, or everything stops; in
/// the last two cases requests under way are still answered.
async fn serve(server: Arc<ApiServer>, stream: TlsStream<TcpStream>, stop: CancellationToken) {
    let session = stream.get_ref().1;
    let builder = builder(session.alpn_protocol());
    let chain: Arc<[CertificateDer<'static>]> = session
        .peer_certificates()
        .map(|chain| chain.iter().map(|der| der.clone().into_owned()).collect())
        .unwrap_or_default();
    let activity = Arc::new(Activity::new());
    let service_activity = activity.clone();
    let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let (server, chain) = (server.clone(), chain.clone());
        let under_way = service_activity.clone().begin();
        async move {
            let (head, _body) = request.into_parts();
            let response = server.handle(&chain, head).await.map(Full::new);
            drop(under_way);
            Ok::<_, Infallible>(response)
        }
    });
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let mut ending = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(error, "a connection ended");
                }
                return;
            }
            () = stop.cancelled(), if !ending => {}
            () = activity.idle_for(IDLE), if !ending => {}
        }
        // Whoever never asked anything may not even have said which protocol it speaks, and so could
        // not be told to go.
        if activity.was_never_used() {
            return;
        }
        ending = true;
        connection.as_mut().graceful_shutdown();
    }
}

async fn drain(mut connections: JoinSet<()>, within: Duration) {
    let ended = async {
        while let Some(ended) = connections.join_next().await {
            report(ended);
        }
    };
    if tokio::time::timeout(within, ended).await.is_err() {
        tracing::warn!("connections to the extension API did not end in time and are cut");
    }
    connections.shutdown().await;
}

fn reap(connections: &mut JoinSet<()>) {
    while let Some(ended) = connections.try_join_next() {
        report(ended);
    }
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "a connection's task panicked"
        );
    }
}
