//! One request: who asks, whether they may, what the answer is.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName};
use http::request::Parts as Head;
use http::{Method, Response};
use jiff::Timestamp;
use rustls_pki_types::{CertificateDer, UnixTime};

use super::ApiServer;
use crate::answer::{self, Request};
use crate::authenticate::{
    Authentication, CredentialError, Presented, authenticate, strip_identity,
};
use crate::authorize::{Attributes, Decision, ResourceAttributes, decide_locally};
use crate::health::{self, Check};
use crate::identity::{MASTERS, UserInfo};
use crate::list_options::ListOptions;
use crate::route::{HealthPath, Route};
use crate::status::Status;

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
/// Seconds between two log lines about refused credentials.
const REJECTION_LOG_INTERVAL: u64 = 60;

impl ApiServer {
    /// Answers one request of a connection on which this chain was shown.
    pub(super) async fn handle(
        &self,
        chain: &[CertificateDer<'static>],
        mut head: Head,
    ) -> Response<Bytes> {
        let path = head.uri.path().to_owned();
        let query = head.uri.query().unwrap_or_default().to_owned();
        let route = Route::parse(&self.group, &path);
        if let Route::Health(asked) = &route {
            return self.health(*asked, &path, &query, &head.method);
        }
        let audit_id = head.headers.get(AUDIT_ID).cloned();
        let pretty = query.contains("pretty=true");
        let answered = tokio::time::timeout(
            self.limits.answer,
            self.decide(chain, &mut head, &route, &query),
        );
        let outcome = answered.await.unwrap_or_else(|_| Err(Status::timed_out()));
        let mut response = outcome.unwrap_or_else(|status| answer::rejection(&status, pretty));
        tracing::debug!(
            method = %head.method, path, code = response.status().as_u16(),
            audit_id = audit_id.as_ref().and_then(|id| id.to_str().ok()), "answered"
        );
        if let Some(audit_id) = audit_id {
            response.headers_mut().insert(AUDIT_ID, audit_id);
        }
        response
    }

    async fn decide(
        &self,
        chain: &[CertificateDer<'static>],
        head: &mut Head,
        route: &Route<'_>,
        query: &str,
    ) -> Result<Response<Bytes>, Status> {
        let user = self.identify(chain, &mut head.headers).await?;
        let request = Request {
            method: &head.method,
            query,
            headers: &head.headers,
        };
        let options = answer::check(&self.group, route, request)?;
        let attributes = self.attributes(head, route, &options);
        let _place = self.place(&user, route)?;
        self.authorize(&user, &attributes).await?;
        let now = Timestamp::now();
        answer::answer(&self.group, &self.documents, route, request, &options, now)
    }

    /// Finds out who asks, and takes everything about identity out of the headers.
    async fn identify(
        &self,
        chain: &[CertificateDer<'static>],
        headers: &mut HeaderMap,
    ) -> Result<UserInfo, Status> {
        let trust = self.trust.now().config;
        let presented = Presented { chain, headers };
        let direct = self.limits.direct_access;
        let found = authenticate(presented, trust.as_deref(), direct, UnixTime::now());
        strip_identity(headers, trust.as_deref());
        match found {
            Authentication::Identified(user) => Ok(user),
            Authentication::Anonymous => Err(Status::unauthorized()),
            Authentication::Refused(errors) => {
                self.log_rejection(&errors);
                Err(Status::unauthorized())
            }
            Authentication::TokenPresented(token) => match self.tokens.review(&token).await {
                Ok(Some(user)) => Ok(user.authenticated()),
                Ok(None) => Err(Status::unauthorized()),
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "token review failed"
                    );
                    Err(Status::internal(
                        "the token cannot be reviewed at the moment, try again",
                    ))
                }
            },
        }
    }

    fn attributes(&self, head: &Head, route: &Route<'_>, options: &ListOptions) -> Attributes {
        match ResourceAttributes::of_read(&self.group, route, options) {
            Some(resource) => Attributes::Resource(Box::new(resource)),
            None => {
                let verb = if head.method == Method::HEAD {
                    "head"
                } else {
                    "get"
                };
                Attributes::Path {
                    verb,
                    path: head.uri.path().to_owned(),
                }
            }
        }
    }

    /// Takes a place among the requests in flight. Static documents and administrators always get
    /// through: the cluster's own health checks are among them.
    fn place(
        &self,
        user: &UserInfo,
        route: &Route<'_>,
    ) -> Result<Option<tokio::sync::SemaphorePermit<'_>>, Status> {
        let is_read = matches!(route, Route::Collection { .. } | Route::Object { .. });
        if !is_read || user.is_in(MASTERS) {
            return Ok(None);
        }
        self.in_flight
            .try_acquire()
            .map(Some)
            .map_err(|_| Status::too_many_requests())
    }

    async fn authorize(&self, user: &UserInfo, attributes: &Attributes) -> Result<(), Status> {
        let decision = match decide_locally(user, attributes) {
            Some(decision) => decision,
            None => self.access.review(user, attributes).await.map_err(|error| {
                tracing::warn!(error = &error as &dyn std::error::Error, "access review failed");
                Status::internal(
                    "whether you may do this cannot be asked of the cluster at the moment, try again",
                )
            })?,
        };
        match decision {
            Decision::Allowed => Ok(()),
            Decision::Denied(words) => Err(Status::forbidden(&user.name, attributes, &words)),
        }
    }

    fn health(
        &self,
        asked: HealthPath<'_>,
        path: &str,
        query: &str,
        method: &Method,
    ) -> Response<Bytes> {
        if ![Method::GET, Method::HEAD].contains(method) {
            return answer::rejection(&Status::method_not_allowed("GET, HEAD"), false);
        }
        let checks = if asked.readiness {
            self.readiness()
        } else {
            vec![Check::new("ping", true, "")]
        };
        let shown = path.trim_matches('/').split('/').next().unwrap_or_default();
        health::render(shown, asked.check, query, &checks)
    }

    fn log_rejection(&self, errors: &[CredentialError]) {
        let now = UnixTime::now().as_secs();
        let last = self.last_rejection_logged.load(Ordering::Relaxed);
        if now.saturating_sub(last) < REJECTION_LOG_INTERVAL {
            return;
        }
        self.last_rejection_logged.store(now, Ordering::Relaxed);
        let reasons: Vec<String> = errors.iter().map(ToString::to_string).collect();
        tracing::warn!(
            ?reasons,
            "refused a caller of the extension API; logged at most once a minute"
        );
    }
}
