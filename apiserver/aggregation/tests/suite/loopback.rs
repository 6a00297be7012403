//! A real server on loopback, spoken to over real TLS.

use std::sync::Arc;
use std::time::Duration;

use aggregation::answer::VersionInfo;
use aggregation::authorize::{Attributes, Decision, ReviewError};
use aggregation::identity::BearerToken;
use aggregation::server::Parts;
use aggregation::{
    AccessReview, ApiServer, Limits, ServingCertificate, TokenReview, TrustPublisher, UserInfo,
};
use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::ServerName;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_util::sync::CancellationToken;

use crate::authority::{Authority, Identity, trust};
use crate::widgets::group;

/// `jane` may list in `red`, `slow` is never answered, the rest may nothing.
struct Rules;

impl AccessReview for Rules {
    fn review<'a>(
        &'a self,
        user: &'a UserInfo,
        attributes: &'a Attributes,
    ) -> BoxFuture<'a, Result<Decision, ReviewError>> {
        Box::pin(async move {
            if user.name == "slow" {
                std::future::pending::<()>().await;
            }
            let namespace = match attributes {
                Attributes::Resource(resource) => resource.namespace.as_deref(),
                Attributes::Path { .. } => None,
            };
            let allowed = user.name == "jane" && namespace == Some("red");
            Ok(if allowed {
                Decision::Allowed
            } else {
                Decision::Denied("no rule".to_owned())
            })
        })
    }
}

impl TokenReview for Rules {
    fn review<'a>(
        &'a self,
        token: &'a BearerToken,
    ) -> BoxFuture<'a, Result<Option<UserInfo>, ReviewError>> {
        let jane = UserInfo {
            name: "jane".to_owned(),
            ..UserInfo::default()
        };
        Box::pin(std::future::ready(Ok(
            (token.expose() == "good").then_some(jane)
        )))
    }
}

struct Running {
    front: Authority,
    clients: Authority,
    serving: Authority,
    certificate: Arc<ServingCertificate>,
    trust: TrustPublisher,
    server: Arc<ApiServer>,
    leaving: CancellationToken,
    stop: CancellationToken,
    port: u16,
    tasks: JoinSet<()>,
}

async fn start(limits: Limits) -> Running {
    let serving = Authority::new("serving-ca");
    let certificate = Arc::new(ServingCertificate::new());
    let identity = serving.server("server");
    certificate
        .install(&identity.chain_pem, &identity.key_pem)
        .unwrap();
    let (front, clients) = (
        Authority::new("front-proxy-ca"),
        Authority::new("client-ca"),
    );
    let publisher = TrustPublisher::new();
    publisher.set(trust(&[&front], Some(&clients)));
    let leaving = CancellationToken::new();
    let server = Arc::new(ApiServer::new(Parts {
        group: group(),
        version: VersionInfo {
            version: "1.2.3".to_owned(),
            source_revision: String::new(),
        },
        certificate: certificate.clone(),
        trust: publisher.reader(),
        access: Arc::new(Rules),
        tokens: Arc::new(Rules),
        leaving: leaving.clone(),
        limits,
    }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    let (running, stopped) = (server.clone(), stop.clone());
    tasks.spawn(async move { running.serve(listener, stopped).await.unwrap() });
    Running {
        front,
        clients,
        serving,
        certificate,
        trust: publisher,
        server,
        leaving,
        stop,
        port,
        tasks,
    }
}

const H1: &[u8] = b"http/1.1";
const H2: &[u8] = b"h2";
const RED: &str = "/apis/example.test/v1/namespaces/red/widgets";
const ALL: &str = "/apis/example.test/v1/widgets";

impl Running {
    async fn connect(
        &self,
        who: Option<&Identity>,
        protocol: &[u8],
    ) -> tokio_rustls::client::TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.serving.der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match who {
            Some(who) => builder
                .with_client_auth_cert(who.chain.clone(), who.key())
                .unwrap(),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![protocol.to_vec()];
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
            .unwrap()
    }

    async fn ask(
        &self,
        who: Option<&Identity>,
        protocol: &[u8],
        target: &str,
        headers: &[(&str, String)],
    ) -> (u16, String) {
        let io = TokioIo::new(self.connect(who, protocol).await);
        let mut tasks = JoinSet::new();
        let uri = format!("https://localhost:{}{target}", self.port);
        let mut request = Request::builder().uri(if protocol == H2 { &uri } else { target });
        if protocol == H1 {
            request = request.header("host", "localhost");
        }
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.body(Empty::<Bytes>::new()).unwrap();
        let response = if protocol == H2 {
            let (mut sender, connection) =
                hyper::client::conn::http2::Builder::new(TokioExecutor::new())
                    .max_header_list_size(1 << 20)
                    .handshake(io)
                    .await
                    .unwrap();
            tasks.spawn(async move { connection.await.unwrap_or_default() });
            sender.send_request(request).await.unwrap()
        } else {
            let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
            tasks.spawn(async move { connection.await.unwrap_or_default() });
            sender.send_request(request).await.unwrap()
        };
        read(response).await
    }
}

async fn read(response: Response<hyper::body::Incoming>) -> (u16, String) {
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, String::from_utf8(body.to_vec()).unwrap())
}

fn jane() -> Vec<(&'static str, String)> {
    vec![
        ("x-remote-user", "jane".to_owned()),
        ("x-remote-group", "dev".to_owned()),
    ]
}

#[tokio::test]
async fn only_the_front_proxy_may_say_who_asks() {
    let running = start(Limits::STANDARD).await;
    let proxy = running.front.client("front-proxy-client", &[]);
    let wrong_name = running.front.client("somebody", &[]);
    let evil = Authority::new("evil").client("front-proxy-client", &[]);
    for protocol in [H1, H2] {
        assert_eq!(running.ask(None, protocol, RED, &jane()).await.0, 401);
        assert_eq!(
            running
                .ask(Some(&wrong_name), protocol, RED, &jane())
                .await
                .0,
            401
        );
        assert_eq!(
            running.ask(Some(&evil), protocol, RED, &jane()).await.0,
            401
        );
        let (code, body) = running.ask(Some(&proxy), protocol, RED, &jane()).await;
        assert_eq!(code, 200, "{body}");
        assert!(body.contains("\"kind\":\"WidgetList\""));
        let (code, body) = running.ask(Some(&proxy), protocol, ALL, &jane()).await;
        assert_eq!(code, 403);
        assert!(
            body.contains(
                r#"User \"jane\" cannot list resource \"widgets\" in API group \"example.test\" at the cluster scope: no rule"#
            ),
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_client_certificate_speaks_for_itself_and_its_headers_are_ignored() {
    let running = start(Limits::STANDARD).await;
    let bob = running.clients.client("bob", &["ops"]);
    let (code, body) = running.ask(Some(&bob), H2, RED, &jane()).await;
    assert_eq!(code, 403);
    assert!(body.contains(r#"User \"bob\""#), "{body}");
    let masters = [("x-remote-group", "system:masters".to_owned())];
    assert_eq!(running.ask(Some(&bob), H1, RED, &masters).await.0, 403);
    let root = running.clients.client("root", &["system:masters"]);
    assert_eq!(running.ask(Some(&root), H1, ALL, &[]).await.0, 200);
}

#[tokio::test]
async fn tokens_are_reviewed() {
    let running = start(Limits::STANDARD).await;
    let bearer = |token: &str| [("authorization", format!("Bearer {token}"))];
    assert_eq!(running.ask(None, H2, RED, &bearer("good")).await.0, 200);
    assert_eq!(running.ask(None, H2, RED, &bearer("bad")).await.0, 401);
}

#[tokio::test]
async fn a_person_in_four_hundred_groups_is_served() {
    let running = start(Limits::STANDARD).await;
    let proxy = running.front.client("front-proxy-client", &[]);
    let mut headers = jane();
    for number in 0..400 {
        let group = format!("CN=group-{number:04},OU=department,OU=directory,DC=example,DC=test");
        headers.push(("x-remote-group", group));
    }
    for protocol in [H1, H2] {
        let (code, body) = running.ask(Some(&proxy), protocol, RED, &headers).await;
        assert_eq!(code, 200, "{body}");
    }
}

#[tokio::test]
async fn the_cluster_reads_documents_without_a_review() {
    let running = start(Limits::STANDARD).await;
    let proxy = running.front.client("front-proxy-client", &[]);
    let as_user = |name: &str| [("x-remote-user", name.to_owned())];
    for target in [
        "/",
        "/apis",
        "/apis/example.test/v1",
        "/openapi/v2",
        "/openapi/v3",
        "/version",
    ] {
        assert_eq!(
            running
                .ask(Some(&proxy), H2, target, &as_user("system:aggregator"))
                .await
                .0,
            200
        );
        assert_eq!(running.ask(None, H2, target, &[]).await.0, 401, "{target}");
        let anonymous = as_user("system:anonymous");
        assert_eq!(
            running.ask(Some(&proxy), H2, target, &anonymous).await.0,
            403,
            "{target}"
        );
    }
    for target in ["/healthz", "/livez", "/readyz"] {
        assert_eq!(
            running.ask(None, H1, target, &[]).await,
            (200, "ok".to_owned()),
            "{target}"
        );
    }
}

#[tokio::test]
async fn trust_is_replaced_and_revoked_while_connections_live() {
    let running = start(Limits::STANDARD).await;
    let old = running.front.client("front-proxy-client", &[]);
    let next = Authority::new("front-proxy-ca");
    let new = next.client("front-proxy-client", &[]);
    let io = TokioIo::new(running.connect(Some(&old), H1).await);
    let (mut living, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { connection.await.unwrap_or_default() });
    let request = || {
        Request::builder()
            .uri(RED)
            .header("host", "localhost")
            .header("x-remote-user", "jane")
            .body(Empty::<Bytes>::new())
            .unwrap()
    };
    assert_eq!(
        read(living.send_request(request()).await.unwrap()).await.0,
        200
    );

    running.trust.set(trust(&[&running.front, &next], None));
    assert_eq!(
        read(living.send_request(request()).await.unwrap()).await.0,
        200
    );
    assert_eq!(running.ask(Some(&new), H1, RED, &jane()).await.0, 200);

    running.trust.set(trust(&[&next], None));
    assert_eq!(
        read(living.send_request(request()).await.unwrap()).await.0,
        401
    );
    assert_eq!(running.ask(Some(&new), H1, RED, &jane()).await.0, 200);

    running.trust.revoke();
    assert_eq!(running.ask(Some(&new), H1, RED, &jane()).await.0, 401);
    assert!(
        running.server.is_ready(),
        "readiness is about having been able to serve"
    );
}

#[tokio::test]
async fn a_new_serving_certificate_is_used_by_the_next_connection() {
    let mut running = start(Limits::STANDARD).await;
    let next = Authority::new("serving-ca");
    let identity = next.server("server");
    running
        .certificate
        .install(&identity.chain_pem, &identity.key_pem)
        .unwrap();
    running.serving = next;
    assert_eq!(running.ask(None, H2, "/livez", &[]).await.0, 200);
    let other = Authority::new("other").server("server");
    assert!(
        running
            .certificate
            .install(&identity.chain_pem, &other.key_pem)
            .is_err()
    );
    assert!(running.certificate.install("", &other.key_pem).is_err());
    assert_eq!(running.ask(None, H2, "/livez", &[]).await.0, 200);
}

#[tokio::test]
async fn readiness_falls_before_service_ends_and_the_rest_drains() {
    let mut running = start(Limits::STANDARD).await;
    let proxy = running.front.client("front-proxy-client", &[]);
    running.leaving.cancel();
    let (code, body) = running.ask(None, H1, "/readyz", &[]).await;
    assert_eq!(code, 500);
    assert!(body.contains("[-]not-shutting-down failed"), "{body}");
    assert_eq!(running.ask(Some(&proxy), H2, RED, &jane()).await.0, 200);
    let io = TokioIo::new(running.connect(Some(&proxy), H2).await);
    let (idle, connection) =
        hyper::client::conn::http2::handshake::<_, _, Empty<Bytes>>(TokioExecutor::new(), io)
            .await
            .unwrap();
    let mut clients = JoinSet::new();
    clients.spawn(async move { connection.await.unwrap_or_default() });
    let silent = running.connect(None, H2).await;
    running.stop.cancel();
    tokio::time::timeout(Duration::from_secs(60), running.tasks.join_next())
        .await
        .expect("the server ends")
        .unwrap()
        .unwrap();
    drop((idle, silent));
    assert!(
        TcpStream::connect(("127.0.0.1", running.port))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn too_many_reads_are_refused_and_documents_and_administrators_get_through() {
    let limits = Limits {
        requests: 1,
        answer: Duration::from_secs(5),
        ..Limits::STANDARD
    };
    let running = Arc::new(start(limits).await);
    let proxy = Arc::new(running.front.client("front-proxy-client", &[]));
    let mut tasks = JoinSet::new();
    let (asking, with) = (running.clone(), proxy.clone());
    tasks.spawn(async move {
        let slow = [("x-remote-user", "slow".to_owned())];
        asking.ask(Some(&with), H2, RED, &slow).await
    });
    let refused = async {
        loop {
            let (code, body) = running.ask(Some(&proxy), H2, RED, &jane()).await;
            if code == 429 {
                return body;
            }
        }
    };
    let body = tokio::time::timeout(Duration::from_secs(60), refused)
        .await
        .expect("the place is taken");
    assert!(body.contains("TooManyRequests"));
    assert_eq!(
        running
            .ask(Some(&proxy), H2, "/apis/example.test/v1", &jane())
            .await
            .0,
        200
    );
    let mut administrator = jane();
    administrator.push(("x-remote-group", "system:masters".to_owned()));
    assert_eq!(
        running.ask(Some(&proxy), H2, ALL, &administrator).await.0,
        200
    );
    let (code, body) = tasks.join_next().await.unwrap().unwrap();
    assert_eq!(code, 504, "{body}");
}
