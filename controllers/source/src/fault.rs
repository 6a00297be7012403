//! What can go wrong between us and an API server, judged by codes and never by text.

use std::time::Duration;

use kube::core::Status;

/// What a fault means for whoever made the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The resourceVersion is too old, so the state has to be observed anew.
    Expired,
    /// The server does not offer initial events on this watch.
    StreamingUnsupported,
    /// The server does not know the credential.
    Unauthenticated,
    /// The credential may not do this.
    Forbidden,
    /// The server does not serve the type.
    NotServed,
    /// Anything else: no connection, no answer, an overloaded server.
    Unavailable,
}

/// A call that did not work. The message is safe to show: it holds nothing of an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) message: String,
    /// How long the server asked to be left alone.
    pub(crate) retry_after: Option<Duration>,
}

impl Fault {
    /// Describes a server that did not answer or answered something unusable.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self {
            kind: FaultKind::Unavailable,
            message: message.into(),
            retry_after: None,
        }
    }

    /// Judges a `Status` that the server sent instead of an answer or in the middle of a stream.
    pub(crate) fn from_status(status: &Status) -> Self {
        let details = status.details.as_ref();
        let retry_after = details
            .map(|details| details.retry_after_seconds)
            .filter(|seconds| *seconds > 0)
            .map(|seconds| Duration::from_secs(u64::from(seconds)));
        let text = match (status.message.as_str(), status.reason.as_str()) {
            ("", "") => "no reason given",
            ("", reason) => reason,
            (message, _) => message,
        };
        Self {
            kind: kind_of(status),
            message: format!("the API server answered {}: {text}", status.code),
            retry_after,
        }
    }
}

fn kind_of(status: &Status) -> FaultKind {
    match (status.code, status.reason.as_str()) {
        (410, _) | (_, "Expired" | "Gone") => FaultKind::Expired,
        (401, _) => FaultKind::Unauthenticated,
        (403, _) => FaultKind::Forbidden,
        (404 | 405, _) => FaultKind::NotServed,
        (400, _) => FaultKind::StreamingUnsupported,
        (422, _) if rejects_initial_events(status) => FaultKind::StreamingUnsupported,
        _ => FaultKind::Unavailable,
    }
}

/// A server without streaming lists names one of the two parameters that only they need.
fn rejects_initial_events(status: &Status) -> bool {
    status.details.as_ref().is_some_and(|details| {
        details.causes.iter().any(|cause| {
            cause.field == "sendInitialEvents" || cause.field == "resourceVersionMatch"
        })
    })
}

impl From<kube::Error> for Fault {
    fn from(error: kube::Error) -> Self {
        match &error {
            kube::Error::Api(status) => Self::from_status(status),
            // The text of such an error quotes what it could not read, which may be a secret.
            kube::Error::SerdeError(error) => Self::unavailable(format!(
                "the API server sent something that cannot be read (line {}, column {})",
                error.line(),
                error.column()
            )),
            _ => Self::unavailable(format!(
                "the API server cannot be reached: {}",
                root_cause(&error)
            )),
        }
    }
}

/// Returns the innermost error, which names the cause and repeats nothing.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn codes_and_reasons_decide_what_a_status_means() {
        let cases = [
            (
                json!({"code": 410, "reason": "Expired"}),
                FaultKind::Expired,
            ),
            (
                json!({"code": 500, "reason": "Expired"}),
                FaultKind::Expired,
            ),
            (
                json!({"code": 401, "reason": "Unauthorized"}),
                FaultKind::Unauthenticated,
            ),
            (
                json!({"code": 403, "reason": "Forbidden"}),
                FaultKind::Forbidden,
            ),
            (
                json!({"code": 404, "reason": "NotFound"}),
                FaultKind::NotServed,
            ),
            (
                json!({"code": 400, "reason": "BadRequest"}),
                FaultKind::StreamingUnsupported,
            ),
            (
                json!({"code": 422, "reason": "Invalid", "details": {"causes": [{"field": "sendInitialEvents"}]}}),
                FaultKind::StreamingUnsupported,
            ),
            (
                json!({"code": 422, "reason": "Invalid", "message": "sendInitialEvents",
                       "details": {"causes": [{"field": "labelSelector"}]}}),
                FaultKind::Unavailable,
            ),
            (json!({"code": 503}), FaultKind::Unavailable),
        ];
        for (status, expected) in cases {
            let parsed: Status = serde_json::from_value(status.clone()).unwrap();
            assert_eq!(Fault::from_status(&parsed).kind, expected, "{status}");
        }
    }

    #[test]
    fn a_server_that_asks_for_patience_gets_it() {
        let status = json!({"code": 429, "message": "too many requests", "details": {"retryAfterSeconds": 7}});
        let fault = Fault::from_status(&serde_json::from_value(status).unwrap());
        assert_eq!(fault.retry_after, Some(Duration::from_secs(7)));
        assert_eq!(
            fault.message,
            "the API server answered 429: too many requests"
        );
    }

    #[test]
    fn an_unreadable_answer_is_not_quoted() {
        let secret = r#"{"data": "hunter2"}"#;
        let unreadable = serde_json::from_str::<std::collections::BTreeMap<String, u8>>(secret);
        let fault = Fault::from(kube::Error::SerdeError(unreadable.unwrap_err()));
        assert!(!fault.message.contains("hunter2"), "{}", fault.message);
    }
}
