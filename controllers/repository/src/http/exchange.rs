//! One conversation with one Git server: ask for refs, then call the service any number of times.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gix_transport::Protocol as GixProtocol;
use gix_transport::client::blocking_io::Transport as GixTransport;
use gix_transport::client::blocking_io::http::Transport as GixHttpTransport;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, HeaderValue, LOCATION, RETRY_AFTER, USER_AGENT,
};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::body::AnswerReader;
use super::gix_backend::GixHttp;
use super::redirect::{Base, MOST_REDIRECTS};
use crate::conversation::{
    AnswerLimit, CallError, Conversation, Failure, Protocol, Sent, Service, Transport, Waiter,
};
use crate::credential::{Credential, TlsTrust};
use crate::endpoint::{Endpoint, Limits, ProxyPolicy};
use crate::error::RemoteError;
use crate::text;
use crate::veil::Veil;

/// How we name ourselves. Some hosts serve the Git protocol only to programs called `git/...`.
const AGENT: &str = concat!("git/gitops-reverser-", env!("CARGO_PKG_VERSION"));
/// The longest wait that a server may ask for (D35).
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(3600);
/// So many bytes of what a failed answer says to people are read.
const LONGEST_WORDS: usize = 1024;
/// How long an idle connection is kept; shorter than the usual limit of servers and their proxies.
const KEEP_IDLE: Duration = Duration::from_secs(30);

/// A Git repository over HTTP(S). Keep it for the life of an endpoint: it reuses its connections, and so do its copies.
#[derive(Debug, Clone)]
pub struct HttpRemote {
    client: reqwest::Client,
    runtime: Handle,
    cancel: CancellationToken,
    base: Base,
    authorization: Option<HeaderValue>,
    veil: Veil,
    limits: Limits,
}

/// A conversation with its own deadline.
pub(crate) struct Exchange {
    http: HttpRemote,
    service: Service,
    protocol: Protocol,
    base: Base,
    waiter: Waiter,
    /// Why a reader of this conversation failed.
    pub(super) failure: Failure,
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
        let url = Url::parse(endpoint.url.as_str())
            .ok()
            .filter(|url| matches!(url.scheme(), "https" | "http") && url.has_host())
            .ok_or(RemoteError::Unsupported {
                what: "the URL is not one for HTTP",
            })?;
        Ok(Self {
            client: build_client(endpoint, url.scheme() == "https")?,
            runtime,
            cancel,
            base: Base::new(url),
            authorization: authorization(&endpoint.credential)?,
            veil: Veil::over(&endpoint.credential),
            limits: endpoint.limits,
        })
    }
}

impl Transport for HttpRemote {
    type Conversation = Exchange;

    fn limits(&self) -> Limits {
        self.limits
    }

    fn veil(&self) -> &Veil {
        &self.veil
    }

    fn begin(
        &mut self,
        service: Service,
        protocol: Protocol,
        timeout: Duration,
    ) -> Result<Exchange, RemoteError> {
        let (runtime, cancel) = (self.runtime.clone(), self.cancel.clone());
        Ok(Exchange {
            http: self.clone(),
            service,
            protocol,
            base: self.base.clone(),
            waiter: Waiter::new(runtime, cancel, timeout, self.limits.idle_timeout),
            failure: Failure::default(),
        })
    }
}

impl Conversation for Exchange {
    type Answer = AnswerReader;

    /// Asks for the advertisement, following redirects by the rules.
    fn advertise(&mut self) -> Result<AnswerReader, RemoteError> {
        let below = format!("info/refs?service={}", self.service.as_str());
        for _ in 0..=MOST_REDIRECTS {
            let request = self.http.client.get(self.base.join(&below));
            let mut response = self.send(request).map_err(|failed| failed.error)?;
            if response.status().is_redirection() {
                let rule = |rule| RemoteError::Redirect { rule };
                let location = response.headers().get(LOCATION);
                let location = location
                    .and_then(|value| value.to_str().ok())
                    .ok_or_else(|| rule("it names no target"))?;
                self.base = self.base.redirected(&below, location).map_err(rule)?;
                continue;
            }
            self.check_status(&mut response)?;
            self.check_content_type(&response, "advertisement")?;
            let limit = self.http.limits.max_advertisement_bytes;
            return Ok(self.reader(response, (limit, "the list of refs")));
        }
        Err(RemoteError::Redirect {
            rule: "there are too many in a row",
        })
    }

    /// Sends one request to the service. A redirect here means that the service did not run.
    fn call(&mut self, request: Vec<u8>, limit: AnswerLimit) -> Result<AnswerReader, CallError> {
        let service = self.service.as_str();
        let request = self
            .http
            .client
            .post(self.base.join(service))
            .header(CONTENT_TYPE, format!("application/x-{service}-request"))
            .header(ACCEPT, format!("application/x-{service}-result"))
            .body(request);
        let mut response = self.send(request)?;
        self.check_status(&mut response)
            .map_err(|error| CallError {
                sent: effect_of(response.status()),
                error,
            })?;
        self.check_content_type(&response, "result")
            .map_err(|error| CallError {
                sent: Sent::Perhaps,
                error,
            })?;
        Ok(self.reader(response, limit))
    }

    fn failure(&self) -> &Failure {
        &self.failure
    }

    fn is_cancelled(&self) -> bool {
        self.waiter.is_cancelled()
    }

    fn into_gix(self) -> Result<Box<dyn GixTransport>, RemoteError> {
        let address = gix::url::parse(self.base.join("").as_str())
            .map_err(|error| RemoteError::protocol(text::shown(error.to_string().as_bytes())))?;
        let backend = GixHttp::new(self);
        let transport = GixHttpTransport::new_http(backend, address, GixProtocol::V2, false);
        Ok(Box::new(transport))
    }
}

impl Exchange {
    pub(super) fn max_fetch_bytes(&self) -> u64 {
        self.http.limits.max_fetch_bytes
    }

    fn send(&self, mut request: RequestBuilder) -> Result<Response, CallError> {
        request = request.header(USER_AGENT, AGENT);
        if self.protocol == Protocol::Two {
            request = request.header("Git-Protocol", "version=2");
        }
        if self.base.same_origin(&self.http.base)
            && let Some(authorization) = &self.http.authorization
        {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let mut connect_failed = false;
        let sending = async {
            request.send().await.map_err(|error| {
                connect_failed = error.is_connect() || error.is_builder();
                from_reqwest(&error, "the answer")
            })
        };
        let answer = self.waiter.wait("the answer", sending);
        answer.map_err(|error| CallError {
            sent: if connect_failed {
                Sent::Nothing
            } else {
                Sent::Perhaps
            },
            error,
        })
    }

    fn reader(&self, response: Response, limit: (u64, &'static str)) -> AnswerReader {
        AnswerReader::new(response, self.waiter.clone(), limit, self.failure.clone())
    }

    fn check_status(&self, response: &mut Response) -> Result<(), RemoteError> {
        let status = response.status();
        Err(match status {
            _ if status.is_success() => return Ok(()),
            StatusCode::UNAUTHORIZED => RemoteError::Unauthorized,
            StatusCode::NOT_FOUND | StatusCode::GONE => RemoteError::NotFound,
            _ if status.is_redirection() => RemoteError::Redirect {
                rule: "only the first request of a session may be redirected",
            },
            StatusCode::FORBIDDEN => RemoteError::Forbidden {
                retry_after: retry_after(response),
                words: self.words(response),
            },
            _ => RemoteError::ServerError {
                status: status.as_u16(),
                retry_after: retry_after(response),
                words: self.words(response),
            },
        })
    }

    /// Reads what a failed answer says to people. Pages for browsers say nothing that helps, and one that does not
    /// arrive is not waited for beyond the limits.
    fn words(&self, response: &mut Response) -> String {
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/plain") {
            return String::new();
        }
        let mut words = Vec::new();
        while words.len() < LONGEST_WORDS {
            let chunk = async {
                response
                    .chunk()
                    .await
                    .map_err(|e| from_reqwest(&e, "words"))
            };
            match self.waiter.wait("words", chunk) {
                Ok(Some(chunk)) => words.extend_from_slice(&chunk),
                Ok(None) | Err(_) => break,
            }
        }
        words.truncate(LONGEST_WORDS);
        text::shown(&words)
    }

    /// Wants the exact type: whatever else a proxy or a login page sends is not Git.
    fn check_content_type(&self, response: &Response, kind: &str) -> Result<(), RemoteError> {
        let wanted = format!("application/x-{}-{kind}", self.service.as_str());
        let got = response.headers().get(CONTENT_TYPE);
        if got.is_some_and(|got| got.as_bytes().trim_ascii() == wanted.as_bytes()) {
            return Ok(());
        }
        let got = got.map_or(&b"nothing"[..], HeaderValue::as_bytes);
        Err(RemoteError::NotAGitServer {
            detail: format!("it answers with {}", text::shown(got)),
        })
    }
}

fn build_client(endpoint: &Endpoint, tls: bool) -> Result<reqwest::Client, RemoteError> {
    let mut builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_gzip()
        .http1_only()
        .tcp_nodelay(true)
        .pool_idle_timeout(KEEP_IDLE)
        .pool_max_idle_per_host(1)
        .connect_timeout(endpoint.limits.connect_timeout);
    if endpoint.proxy == ProxyPolicy::Direct {
        builder = builder.no_proxy();
    }
    if let TlsTrust::SystemAnd(bundle) = &endpoint.trust {
        let certificates = bundle
            .certificates()
            .iter()
            .map(|certificate| reqwest::Certificate::from_der(certificate))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| from_reqwest(&error, "the certificates"))?;
        builder = builder.tls_certs_merge(certificates);
    } else if !tls {
        // Plain HTTP needs no authorities, and reading those of the system takes time and may fail.
        builder = builder.tls_certs_only([]);
    }
    builder
        .build()
        .map_err(|error| from_reqwest(&error, "the client"))
}

fn authorization(credential: &Credential) -> Result<Option<HeaderValue>, RemoteError> {
    let text = match credential {
        Credential::Anonymous => return Ok(None),
        Credential::Basic { username, password } => {
            let pair = STANDARD.encode(format!("{username}:{}", password.expose()));
            format!("Basic {pair}")
        }
        Credential::Bearer(token) => format!("Bearer {}", token.expose()),
        Credential::SshKey(_) => {
            return Err(RemoteError::Unsupported {
                what: "an SSH key cannot open an HTTP session",
            });
        }
    };
    let mut value = HeaderValue::from_str(&text).map_err(|_| RemoteError::Unsupported {
        what: "the token holds characters that no header can carry",
    })?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// Says what a failed status means for the effect of a request: a server that rejects the request itself
/// did not run the service, while one that reports an error of its own may have run it before.
fn effect_of(status: StatusCode) -> Sent {
    if status.is_client_error() || status.is_redirection() {
        Sent::TurnedAway
    } else {
        Sent::Perhaps
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let text = |name| response.headers().get(name)?.to_str().ok();
    wait_of(text(RETRY_AFTER)?, text(DATE), SystemTime::now())
}

/// Reads how long to wait: seconds, or a date. A date is meant by the server's clock, which its answer tells.
fn wait_of(text: &str, date: Option<&str>, clock: SystemTime) -> Option<Duration> {
    let text = text.trim();
    let wait = match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let now = date.and_then(|date| httpdate::parse_http_date(date).ok());
            let now = now.unwrap_or(clock);
            let at = httpdate::parse_http_date(text).ok()?;
            at.duration_since(now).unwrap_or_default()
        }
    };
    Some(wait.min(LONGEST_RETRY_AFTER))
}

/// Turns the client's error into ours. Its text would show the URL, so only its causes are told.
pub(super) fn from_reqwest(error: &reqwest::Error, phase: &'static str) -> RemoteError {
    let mut cause = error.source();
    let mut detail = None;
    while let Some(current) = cause {
        if let Some(tls) = tls_error(current) {
            return RemoteError::Tls {
                detail: text::shown(tls.to_string().as_bytes()),
            };
        }
        detail = Some(current.to_string());
        cause = current.source();
    }
    if error.is_timeout() {
        let phase = if error.is_connect() {
            "no connection"
        } else {
            phase
        };
        return RemoteError::TimedOut { phase };
    }
    RemoteError::Unreachable {
        detail: text::shown(detail.unwrap_or_else(|| phase.to_owned()).as_bytes()),
    }
}

/// Finds the TLS library's error, which travels inside I/O errors and not as their source.
fn tls_error<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    let mut current = error;
    loop {
        if let Some(tls) = current.downcast_ref() {
            return Some(tls);
        }
        current = current.downcast_ref::<std::io::Error>()?.get_ref()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_to_wait_is_read_from_seconds_and_from_dates() {
        let noon = "Sun, 29 Nov 2026 12:00:00 GMT";
        let later = "Sun, 29 Nov 2026 12:01:30 GMT";
        let clock = httpdate::parse_http_date(noon).unwrap();
        let an_hour_ahead = clock + Duration::from_secs(3600);
        let cases = [
            ("7", None, Some(7)),
            (" 7 ", Some(noon), Some(7)),
            ("999999", None, Some(3600)),
            (later, None, Some(0)),
            (later, Some(noon), Some(90)),
            (noon, Some(later), Some(0)),
            ("soon", Some(noon), None),
            ("-1", None, None),
        ];
        for (text, date, seconds) in cases {
            let wait = wait_of(text, date, an_hour_ahead);
            assert_eq!(wait, seconds.map(Duration::from_secs), "{text:?} {date:?}");
        }
    }
}
