//! What the metrics server answers.

use bytes::Bytes;
use http::{Response, StatusCode, header};
use http_body_util::Full;
use prometheus::{Registry, TextEncoder};

use crate::build_info;

/// Answers a request to the metrics server, or returns `None` for a path that it does not know.
pub fn answer(path: &str, registry: &Registry) -> Option<Response<Full<Bytes>>> {
    match path {
        "/metrics" => Some(metrics(registry)),
        "/build-info" => Some(respond(
            StatusCode::OK,
            "application/json",
            build_info::as_json(),
        )),
        _ => None,
    }
}

fn metrics(registry: &Registry) -> Response<Full<Bytes>> {
    match TextEncoder::new().encode_to_string(&registry.gather()) {
        Ok(text) => respond(
            StatusCode::OK,
            "text/plain; version=0.0.4; charset=utf-8",
            text,
        ),
        Err(error) => {
            tracing::error!(%error, "metrics cannot be printed");
            respond(
                StatusCode::INTERNAL_SERVER_ERROR,
                "text/plain",
                "metrics cannot be printed\n",
            )
        }
    }
}

fn respond(
    status: StatusCode,
    kind: &'static str,
    body: impl Into<Bytes>,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}
