//! Named people with tokens: the API server asks us, by TokenReview, who a token stands for.
//!
//! A client certificate carries no `extra`, and a kubeconfig that impersonates shows two users in
//! the audit log. A token that an authenticator resolves carries everything a real single sign-on
//! would bring.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use bytes::Bytes;
use futures::future::BoxFuture;
use http::StatusCode;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use crate::background::{Handler, HttpServer, Request, Response};
use crate::kubeconfig::{Endpoint, Kubeconfig};
use crate::workbench::Workbench;

/// Somebody as the API server knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub(super) name: String,
    pub(super) uid: Option<String>,
    pub(super) groups: Vec<String>,
    pub(super) extra: BTreeMap<String, Vec<String>>,
}

impl Person {
    /// Creates a person without groups of their own.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            uid: None,
            groups: Vec::new(),
            extra: BTreeMap::new(),
        }
    }

    /// Adds a group.
    #[must_use]
    pub fn group(mut self, group: &str) -> Self {
        self.groups.push(group.to_owned());
        self
    }

    /// Sets the uid.
    #[must_use]
    pub fn uid(mut self, uid: &str) -> Self {
        self.uid = Some(uid.to_owned());
        self
    }

    /// Adds an `extra` entry, whose key has to be in lower case.
    #[must_use]
    pub fn extra(mut self, key: &str, values: &[&str]) -> Self {
        self.extra.insert(
            key.to_owned(),
            values.iter().map(ToString::to_string).collect(),
        );
        self
    }

    /// Returns the name of the person.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds this person to the `user` entry of somebody who may impersonate.
    pub(super) fn impersonate(&self, user: &mut Value) {
        user["as"] = json!(self.name);
        user["as-groups"] = json!(self.groups);
        user["as-user-extra"] = json!(self.extra);
        if let Some(uid) = &self.uid {
            user["as-uid"] = json!(uid);
        }
    }

    fn user_info(&self) -> Value {
        json!({
            "username": self.name,
            "uid": self.uid.clone().unwrap_or_default(),
            "groups": self.groups,
            "extra": self.extra,
        })
    }
}

/// The authenticator that the API server asks about tokens it did not make itself.
#[derive(Debug)]
pub(super) struct Registry {
    people: Arc<Tokens>,
    server: HttpServer,
}

impl Registry {
    pub(super) fn start() -> Result<Self> {
        let people = Arc::new(Tokens::default());
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let handler: Arc<dyn Handler> = Arc::<Tokens>::clone(&people);
        Ok(Self {
            people,
            server: HttpServer::start(address, None, handler)?,
        })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/token-review", self.server.address())
    }

    /// Makes a token that stands for the person from now on.
    pub(super) fn issue(&self, person: &Person) -> String {
        let token = format!("person-{:032x}", rand::random::<u128>());
        self.people.lock().insert(token.clone(), person.clone());
        token
    }
}

/// Writes the file that names the authenticator and returns the flags for it.
pub(super) fn flags(workbench: &Workbench, registry: &Registry) -> Result<Vec<String>> {
    let url = registry.url();
    let endpoint = Endpoint {
        url: &url,
        authority: None,
    };
    let path = workbench.path("token-review.kubeconfig");
    let file = Kubeconfig::write(path, &endpoint, json!({}))?;
    Ok(vec![
        format!(
            "--authentication-token-webhook-config-file={}",
            file.path().display()
        ),
        "--authentication-token-webhook-version=v1".to_owned(),
    ])
}

#[derive(Debug, Default)]
struct Tokens(Mutex<BTreeMap<String, Person>>);

impl Tokens {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Person>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn review(&self, body: &[u8]) -> Result<Value> {
        let review: Value = serde_json::from_slice(body).context("not JSON")?;
        let token = review["spec"]["token"]
            .as_str()
            .context("a review without a token")?;
        let status = match self.lock().get(token) {
            Some(person) => json!({ "authenticated": true, "user": person.user_info() }),
            None => json!({ "authenticated": false }),
        };
        Ok(json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "status": status,
        }))
    }
}

impl Handler for Tokens {
    fn answer(self: Arc<Self>, request: Request) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            let body = request.into_body().collect().await;
            let answer = body
                .context("the request broke off")
                .and_then(|body| self.review(&body.to_bytes()));
            let (status, text) = match answer {
                Ok(review) => (StatusCode::OK, review.to_string()),
                Err(error) => (StatusCode::BAD_REQUEST, format!("{error:#}")),
            };
            let mut response = Response::new(Full::new(Bytes::from(text)));
            *response.status_mut() = status;
            response.headers_mut().insert(
                http::header::CONTENT_TYPE,
                http::HeaderValue::from_static("application/json"),
            );
            response
        })
    }
}
