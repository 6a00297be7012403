//! The answers that say no: `Status` objects with the code, reason and sentence clients expect.

use http::header::{ALLOW, HeaderMap, HeaderValue, RETRY_AFTER};
use serde::Serialize;

use crate::authorize::Attributes;

/// A rejection or failure as the API writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    metadata: Empty,
    status: &'static str,
    message: String,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Box<Details>>,
    code: u16,
    #[serde(skip)]
    allow: Option<&'static str>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Empty {}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Cause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<u32>,
}

/// One cause of a rejection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    reason: &'static str,
    message: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    field: &'static str,
}

impl Cause {
    /// Returns a cause that names a field.
    pub fn new(reason: &'static str, field: &'static str, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            field,
        }
    }
}

impl Status {
    /// The request carries no credential, or none that holds.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// The caller may not do this.
    pub fn forbidden(user: &str, attributes: &Attributes, explanation: &str) -> Self {
        let suffix = if explanation.is_empty() {
            String::new()
        } else {
            format!(": {explanation}")
        };
        match attributes {
            Attributes::Path { verb, path } => Self::new(
                403,
                "Forbidden",
                format!("forbidden: User {user:?} cannot {verb} path {path:?}{suffix}"),
            )
            .with_details(Details::default()),
            Attributes::Resource(resource) => {
                let qualified = format!("{}.{}", resource.resource, resource.group);
                let named = resource.name.as_ref().map(|name| format!(" {name:?}"));
                let place = match &resource.namespace {
                    Some(namespace) => format!("in the namespace {namespace:?}"),
                    None => "at the cluster scope".to_owned(),
                };
                Self::new(
                    403,
                    "Forbidden",
                    format!(
                        "{qualified}{} is forbidden: User {user:?} cannot {} resource {:?} in API \
                         group {:?} {place}{suffix}",
                        named.unwrap_or_default(),
                        resource.verb,
                        resource.resource,
                        resource.group
                    ),
                )
                .with_details(Details {
                    name: resource.name.clone(),
                    group: Some(resource.group.clone()),
                    kind: Some(resource.resource.clone()),
                    ..Details::default()
                })
            }
        }
    }

    /// The path names nothing that is served.
    pub fn unknown_path() -> Self {
        Self::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        )
        .with_details(Details::default())
    }

    /// There is no such object.
    pub fn object_not_found(group: &str, plural: &str, name: &str) -> Self {
        Self::new(
            404,
            "NotFound",
            format!("{plural}.{group} {name:?} not found"),
        )
        .with_details(Details {
            name: Some(name.to_owned()),
            group: Some(group.to_owned()),
            kind: Some(plural.to_owned()),
            ..Details::default()
        })
    }

    /// The path is served, but not with this method.
    pub fn method_not_allowed(allow: &'static str) -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self {
            allow: Some(allow),
            ..Self::new(405, "MethodNotAllowed", message)
        }
    }

    /// The resource is served, but not with this verb.
    pub fn verb_not_supported(group: &str, plural: &str, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind \"{plural}.{group}\"");
        let details = Details {
            group: Some(group.to_owned()),
            kind: Some(plural.to_owned()),
            ..Details::default()
        };
        Self {
            allow: Some("GET"),
            ..Self::new(405, "MethodNotAllowed", message)
        }
        .with_details(details)
    }

    /// The request cannot be read.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// The query breaks a rule that holds between its parameters.
    pub fn invalid_list_options(causes: Vec<Cause>) -> Self {
        let sentences: Vec<String> = causes
            .iter()
            .map(|cause| format!("{}: {}", cause.field, cause.message))
            .collect();
        let message = format!(
            "ListOptions.meta.k8s.io \"\" is invalid: {}",
            sentences.join(", ")
        );
        Self::new(422, "Invalid", message).with_details(Details {
            group: Some("meta.k8s.io".to_owned()),
            kind: Some("ListOptions".to_owned()),
            causes,
            ..Details::default()
        })
    }

    /// Nothing that the client accepts is served.
    pub fn not_acceptable() -> Self {
        Self::new(
            406,
            "NotAcceptable",
            crate::negotiation::NotAcceptable.to_string(),
        )
    }

    /// The version asked for is no longer kept.
    pub fn expired(version: u64) -> Self {
        Self::new(
            410,
            "Expired",
            format!("The resourceVersion {version} is no longer available"),
        )
    }

    /// The version asked for is newer than anything known here.
    pub fn version_too_large(requested: u64, current: u64) -> Self {
        let message =
            format!("Timeout: Too large resource version: {requested}, current: {current}");
        Self::new(504, "Timeout", message).with_details(Details {
            causes: vec![Cause::new(
                "ResourceVersionTooLarge",
                "",
                "Too large resource version",
            )],
            retry_after_seconds: Some(1),
            ..Details::default()
        })
    }

    /// The answer took too long.
    pub fn timed_out() -> Self {
        let message = "Timeout: the answer was not ready in time, try again";
        Self::new(504, "Timeout", message).with_details(Details {
            retry_after_seconds: Some(1),
            ..Details::default()
        })
    }

    /// Too many requests are being answered.
    pub fn too_many_requests() -> Self {
        let message = "too many requests are being answered, try again later";
        Self::new(429, "TooManyRequests", message).with_details(Details {
            retry_after_seconds: Some(1),
            ..Details::default()
        })
    }

    /// Something that the answer needs did not work. The message goes to the caller and so must
    /// not hold an internal cause.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", message)
    }

    /// Returns the HTTP status code.
    pub fn code(&self) -> u16 {
        self.code
    }

    /// Returns the reason word.
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    /// Returns the sentence for the caller.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Adds the headers that belong to the answer.
    pub fn add_headers(&self, headers: &mut HeaderMap) {
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        // With a 504 the client decides for itself when to come back.
        let retry = self
            .details
            .as_ref()
            .and_then(|details| details.retry_after_seconds);
        if let Some(seconds) = retry.filter(|_| self.code == 429 || self.code == 503) {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
    }

    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind: "Status",
            api_version: "v1",
            metadata: Empty {},
            status: "Failure",
            message: message.into(),
            reason,
            details: None,
            code,
            allow: None,
        }
    }

    fn with_details(self, details: Details) -> Self {
        Self {
            details: Some(Box::new(details)),
            ..self
        }
    }
}

impl From<crate::negotiation::NotAcceptable> for Status {
    fn from(_: crate::negotiation::NotAcceptable) -> Self {
        Self::not_acceptable()
    }
}
