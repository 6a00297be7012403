//! A Git host on HTTP or HTTPS: `git http-backend` behind a small server of ours.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use http_body_util::{BodyExt, Full};
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::cgi::{Backend, Served};
use super::clone::GitClone;
use super::repository::{ObjectFormat, Repositories, Repository};
use crate::background::{self, Handler, HttpServer, Response};
use crate::pki::Authority;
use crate::ports;
use crate::usage::{self, Together};

/// Who may use the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Anonymous,
    /// Whoever has this name and password.
    Basic {
        /// The name.
        username: String,
        /// The password.
        password: String,
    },
    /// Whoever has this token.
    Bearer {
        /// The token.
        token: String,
    },
}

impl Access {
    /// Builds the access of a name and a password.
    pub fn basic(username: &str, password: &str) -> Self {
        Self::Basic {
            username: username.to_owned(),
            password: password.to_owned(),
        }
    }

    /// Builds the access of a token.
    pub fn bearer(token: &str) -> Self {
        Self::Bearer {
            token: token.to_owned(),
        }
    }

    /// Returns the value of the `Authorization` header that opens the door.
    fn header(&self) -> Option<String> {
        match self {
            Self::Anonymous => None,
            Self::Basic { username, password } => {
                let pair = BASE64_STANDARD.encode(format!("{username}:{password}"));
                Some(format!("Basic {pair}"))
            }
            Self::Bearer { token } => Some(format!("Bearer {token}")),
        }
    }

    fn challenge(&self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Anonymous | Self::Basic { .. } => "Basic realm=\"git\"",
            Self::Bearer { .. } => "Bearer realm=\"git\"",
        })
    }

    fn user(&self) -> &str {
        match self {
            Self::Anonymous => "",
            Self::Basic { username, .. } => username,
            Self::Bearer { .. } => "token",
        }
    }
}

/// What a server shows of itself before it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A certificate for its address.
    Good,
    /// One that has expired.
    Expired,
    /// One for another address.
    OfAnother,
}

/// A request that the server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The path.
    pub path: String,
    /// The query, without the question mark, or nothing.
    pub query: String,
    /// Whether the request brought an `Authorization` header, right or wrong.
    pub authorized: bool,
    /// The status of the answer.
    pub status: u16,
}

/// Describes a server before it is started.
#[derive(Clone, Debug)]
pub struct GitServerBuilder {
    access: Access,
    tls: bool,
}

impl GitServerBuilder {
    /// Lets in only those.
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Speaks TLS, with a certificate of an authority that nobody else knows.
    #[must_use]
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// Starts the server.
    pub fn start(self) -> Result<GitServer> {
        GitServer::new(self)
    }
}

/// A Git host with any number of repositories.
#[derive(Debug)]
pub struct GitServer {
    // Stopped before the repositories go away.
    running: Mutex<Option<HttpServer>>,
    address: SocketAddr,
    tls: Option<Tls>,
    host: Arc<Host>,
    repositories: Arc<Repositories>,
}

#[derive(Debug)]
struct Tls {
    authority: Authority,
    authority_path: PathBuf,
    config: Mutex<Arc<ServerConfig>>,
}

impl GitServer {
    /// Starts a server without TLS that lets everybody in.
    pub fn start() -> Result<Self> {
        Self::builder().start()
    }

    /// Describes a server that differs from that.
    pub fn builder() -> GitServerBuilder {
        GitServerBuilder {
            access: Access::Anonymous,
            tls: false,
        }
    }

    fn new(wanted: GitServerBuilder) -> Result<Self> {
        let repositories = Arc::new(Repositories::new()?);
        let tls = if wanted.tls {
            Some(Tls::new(&repositories)?)
        } else {
            None
        };
        let backend = Backend {
            root: repositories.root().to_owned(),
            home: repositories.home(),
            log_path: repositories.workbench().path("http-backend.log"),
            served: Mutex::default(),
        };
        let rules = Rules {
            access: wanted.access,
            read_only: false,
        };
        let host = Arc::new(Host {
            backend,
            rules: Mutex::new(rules),
            log: Mutex::default(),
        });
        // Whoever took the port in the meantime keeps it, and we take another one.
        let server = listen(&host, tls.as_ref(), ports::free()?)
            .or_else(|_| listen(&host, tls.as_ref(), ports::free()?))?;
        let address = server.address();
        Ok(Self {
            running: Mutex::new(Some(server)),
            address,
            tls,
            host,
            repositories,
        })
    }

    /// Stops listening and closes every connection; requests that are under way break off.
    pub fn stop(&self) {
        drop(lock(&self.running).take());
    }

    /// Listens again at the same address.
    pub fn resume(&self) -> Result<()> {
        let mut running = lock(&self.running);
        if running.is_none() {
            *running = Some(listen(&self.host, self.tls.as_ref(), self.address.port())?);
        }
        Ok(())
    }

    /// Breaks every connection off, and shows another certificate of the same authority from now on.
    pub fn show(&self, shown: Shown) -> Result<()> {
        let tls = self.tls.as_ref().context("the server speaks no TLS")?;
        self.stop();
        *lock(&tls.config) = config(&tls.authority, shown)?;
        self.resume()
    }

    /// Changes who is let in from now on.
    pub fn set_access(&self, access: Access) {
        lock(&self.host.rules).access = access;
    }

    /// Answers pushes with 403 from now on, or no longer.
    pub fn set_read_only(&self, read_only: bool) {
        lock(&self.host.rules).read_only = read_only;
    }

    /// Returns what was asked of the server so far.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.host.log).clone()
    }

    /// Returns what the programs took that answered so far.
    pub fn served(&self) -> Served {
        *lock(&self.host.backend.served)
    }

    /// Returns the Git programs that work for this server now, over whatever way.
    pub fn at_work(&self) -> Together {
        usage::started_with("HOME", &self.repositories.home().to_string_lossy())
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address of a repository, without credentials.
    pub fn url(&self, repository: &str) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/{repository}.git", self.address)
    }

    /// Returns the authority of the server's certificate as PEM, if it speaks TLS.
    pub fn authority(&self) -> Option<String> {
        self.tls.as_ref().map(|tls| tls.authority.certificate())
    }

    /// Creates an empty repository.
    pub fn create_repository(&self, name: &str) -> Result<Repository> {
        self.repositories.create(name, ObjectFormat::Sha1)
    }

    /// Creates an empty repository whose objects have that format.
    pub fn create_repository_of(&self, name: &str, format: ObjectFormat) -> Result<Repository> {
        self.repositories.create(name, format)
    }

    /// Returns a repository that was created before.
    pub fn repository(&self, name: &str) -> Result<Repository> {
        self.repositories.open(name)
    }

    /// Clones a repository over the network, with the access that is let in now.
    pub fn clone(&self, repository: &str) -> Result<GitClone> {
        let access = lock(&self.host.rules).access.clone();
        self.clone_as(repository, "Second Person", &access)
    }

    /// Clones a repository over the network as that person with that access.
    pub fn clone_as(&self, repository: &str, person: &str, access: &Access) -> Result<GitClone> {
        let mut configuration = Vec::new();
        let mut url = self.url(repository);
        match access {
            Access::Anonymous => {}
            Access::Basic { username, password } => {
                // In the address, so that git asks without them first, as it does for a person.
                url = url.replacen("://", &format!("://{username}:{password}@"), 1);
            }
            Access::Bearer { token } => {
                configuration.push(format!("http.extraHeader=Authorization: Bearer {token}"));
            }
        }
        if let Some(tls) = &self.tls {
            configuration.push(format!("http.sslCAInfo={}", tls.authority_path.display()));
        }
        let git = self.repositories.git_for_clone(repository);
        let path = self.repositories.new_clone_path(repository);
        GitClone::create(&git, &url, &path, &configuration, person)
    }

    pub(super) fn repositories(&self) -> &Arc<Repositories> {
        &self.repositories
    }
}

fn listen(host: &Arc<Host>, tls: Option<&Tls>, port: u16) -> Result<HttpServer> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let acceptor = tls.map(|tls| TlsAcceptor::from(Arc::clone(&lock(&tls.config))));
    let handler: Arc<dyn Handler> = Arc::<Host>::clone(host);
    HttpServer::start(address, acceptor, handler)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tls {
    fn new(repositories: &Repositories) -> Result<Self> {
        let authority = Authority::new("git-server-ca")?;
        let config = config(&authority, Shown::Good)?;
        let authority_path = repositories
            .workbench()
            .write("git-server-ca.crt", authority.certificate())?;
        Ok(Self {
            authority,
            authority_path,
            config: Mutex::new(config),
        })
    }
}

/// Makes what a server needs that shows such a certificate.
fn config(authority: &Authority, shown: Shown) -> Result<Arc<ServerConfig>> {
    let here = ["127.0.0.1", "localhost"];
    let keys = match shown {
        Shown::Good => authority.issue_server(&here),
        Shown::Expired => authority.issue_expired_server(&here),
        Shown::OfAnother => authority.issue_server(&["git.example.com"]),
    }?;
    let certificate =
        CertificateDer::from_pem_slice(keys.certificate.as_bytes()).context("not a certificate")?;
    let key = PrivateKeyDer::from_pem_slice(keys.key.as_bytes()).context("not a private key")?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .context("no protocol version of TLS is left")?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .context("the key does not fit the certificate")?;
    Ok(Arc::new(config))
}

/// The part of the server that answers.
#[derive(Debug)]
struct Host {
    backend: Backend,
    rules: Mutex<Rules>,
    log: Mutex<Vec<Request>>,
}

#[derive(Clone, Debug)]
struct Rules {
    access: Access,
    read_only: bool,
}

impl Rules {
    /// Returns the refusal of a request that is not let in.
    fn refuse(&self, request: &Parts) -> Option<Response> {
        if let Some(expected) = self.access.header()
            && request
                .headers
                .get(AUTHORIZATION)
                .is_none_or(|header| *header != expected)
        {
            let mut response = plain(StatusCode::UNAUTHORIZED, "who are you?\n");
            response
                .headers_mut()
                .insert(WWW_AUTHENTICATE, self.access.challenge());
            return Some(response);
        }
        if self.read_only && is_push(request) {
            return Some(plain(StatusCode::FORBIDDEN, "you may only read\n"));
        }
        None
    }
}

fn is_push(request: &Parts) -> bool {
    request.uri.path().ends_with("/git-receive-pack")
        || request
            .uri
            .query()
            .is_some_and(|query| query.contains("service=git-receive-pack"))
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    response
}

impl Host {
    async fn respond(&self, request: &Parts, body: hyper::body::Incoming) -> Result<Response> {
        let rules = lock(&self.rules).clone();
        if let Some(refusal) = rules.refuse(request) {
            return Ok(refusal);
        }
        let body = body
            .collect()
            .await
            .context("the request broke off")?
            .to_bytes();
        self.backend
            .answer(request, rules.access.user(), body)
            .await
    }
}

impl Handler for Host {
    fn answer(self: Arc<Self>, request: background::Request) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            let (request, body) = request.into_parts();
            let response = self.respond(&request, body).await.unwrap_or_else(|error| {
                eprintln!("testkit: git server: {error:#}");
                plain(StatusCode::INTERNAL_SERVER_ERROR, "the git server failed\n")
            });
            lock(&self.log).push(Request {
                method: request.method.to_string(),
                path: request.uri.path().to_owned(),
                query: request.uri.query().unwrap_or_default().to_owned(),
                authorized: request.headers.contains_key(AUTHORIZATION),
                status: response.status().as_u16(),
            });
            response
        })
    }
}
