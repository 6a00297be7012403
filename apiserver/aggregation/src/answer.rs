//! Turns a request of a known and allowed caller into a response. Pure: time is an argument.

use bytes::Bytes;
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderMap, HeaderValue, IF_NONE_MATCH,
    LOCATION, USER_AGENT, VARY, WARNING,
};
use http::{Method, Response, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::discovery;
use crate::list_options::ListOptions;
use crate::negotiation::{self, DiscoveryRepresentation, Shape};
use crate::openapi::{self, Document};
use crate::reads::{self, ReadRequest};
use crate::resource::{ApiGroup, Resource, Verb};
use crate::route::Route;
use crate::status::Status;

/// What `/version` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionInfo {
    /// The program's version, with or without a leading `v`.
    pub version: String,
    /// The source revision it was built from; empty if unknown.
    pub source_revision: String,
}

/// The documents that never change while the server runs.
#[derive(Debug, Clone)]
pub struct Documents {
    groups: Document,
    group: Document,
    resources: Document,
    aggregated: Document,
    openapi_v2: Document,
    openapi_v3: Document,
    openapi_v3_index: Document,
    version: Document,
    index: Document,
}

impl Documents {
    /// Renders all of them.
    pub fn new(group: &ApiGroup, version: &VersionInfo) -> Self {
        let openapi_v3 = Document::new(&openapi::version_3(group));
        let openapi_v3_index = Document::new(&openapi::version_3_index(group, &openapi_v3));
        Self {
            groups: Document::new(&discovery::groups(group)),
            group: Document::new(&discovery::one_group(group)),
            resources: Document::new(&discovery::resources(group)),
            aggregated: Document::new(&discovery::aggregated(group)),
            openapi_v2: Document::new(&openapi::version_2(group)),
            openapi_v3,
            openapi_v3_index,
            version: Document::new(&version_document(version)),
            index: Document::new(&json!({"paths": [
                "/apis", format!("/apis/{}", group.name()), format!("/apis/{}", group.group_version()),
                "/healthz", "/livez", "/openapi/v2", "/openapi/v3", openapi::version_3_path(group),
                "/readyz", "/version",
            ]})),
        }
    }
}

/// A request, as far as an answer depends on it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The method.
    pub method: &'a Method,
    /// The query, without the question mark; empty if there is none.
    pub query: &'a str,
    /// The headers, without those that speak about identity.
    pub headers: &'a HeaderMap,
}

impl Request<'_> {
    fn accept(&self) -> Option<String> {
        let values: Vec<&str> = self
            .headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .collect();
        (!values.is_empty()).then(|| values.join(","))
    }

    fn has_tag(&self, tag: &str) -> bool {
        let values = self.headers.get_all(IF_NONE_MATCH).iter();
        values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|candidate| candidate.trim().trim_start_matches("W/") == tag)
    }

    /// People who look with a browser or a command-line client get indented text.
    fn is_from_a_person(&self) -> bool {
        let agent = self
            .headers
            .get(USER_AGENT)
            .and_then(|value| value.to_str().ok());
        agent.is_some_and(|agent| {
            ["curl", "Wget", "Mozilla/5.0"]
                .iter()
                .any(|start| agent.starts_with(start))
        })
    }

    fn parameter(&self, name: &str) -> Option<String> {
        form_urlencoded::parse(self.query.as_bytes())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    }
}

/// Refuses what no answer could be given to, whoever asks: an unknown path, an unserved method or
/// verb. Returns the parsed query of a read.
pub fn check(
    group: &ApiGroup,
    route: &Route<'_>,
    request: Request<'_>,
) -> Result<ListOptions, Status> {
    match route {
        Route::Unknown => Err(Status::unknown_path()),
        Route::Collection { resource, .. } => check_read(group, *resource, Verb::List, request),
        Route::Object { resource, .. } => check_read(group, *resource, Verb::Get, request),
        _ if [Method::GET, Method::HEAD].contains(request.method) => Ok(ListOptions::default()),
        _ => Err(Status::method_not_allowed("GET, HEAD")),
    }
}

fn check_read(
    group: &ApiGroup,
    resource: &dyn Resource,
    verb: Verb,
    request: Request<'_>,
) -> Result<ListOptions, Status> {
    if request.method != Method::GET {
        return Err(Status::method_not_allowed("GET"));
    }
    let definition = resource.definition();
    let options = ListOptions::parse(request.query)?;
    if verb == Verb::List && options.watch {
        return Err(Status::verb_not_supported(
            group.name(),
            definition.plural,
            "watch",
        ));
    }
    if !definition.serves(verb) {
        return Err(Status::verb_not_supported(
            group.name(),
            definition.plural,
            verb.as_str(),
        ));
    }
    Ok(options)
}

/// Answers everything but health.
pub fn answer(
    group: &ApiGroup,
    documents: &Documents,
    route: &Route<'_>,
    request: Request<'_>,
    options: &ListOptions,
    now: Timestamp,
) -> Result<Response<Bytes>, Status> {
    let accept = request.accept();
    let accept = accept.as_deref();
    match route {
        Route::Index => plain_document(&documents.index, accept),
        Route::Version => plain_document(&documents.version, accept),
        Route::Group => plain_document(&documents.group, accept),
        Route::Resources => plain_document(&documents.resources, accept),
        Route::Groups => match negotiation::discovery(accept)? {
            DiscoveryRepresentation::Plain => plain_document(&documents.groups, None),
            DiscoveryRepresentation::Aggregated => tagged(
                &documents.aggregated,
                request,
                discovery::AGGREGATED_MEDIA_TYPE,
            ),
        },
        Route::OpenApiV2 => {
            negotiation::plain(accept)?;
            tagged(&documents.openapi_v2, request, JSON)
        }
        Route::OpenApiV3Index => {
            negotiation::plain(accept)?;
            tagged(&documents.openapi_v3_index, request, JSON)
        }
        Route::OpenApiV3 => {
            negotiation::plain(accept)?;
            hashed(group, &documents.openapi_v3, request)
        }
        Route::Collection {
            resource,
            namespace,
        } => {
            let representation = negotiation::representation(accept, Shape::List)?;
            let read = ReadRequest {
                options,
                representation,
                now,
            };
            let value = reads::list(group, *resource, namespace.as_deref(), read)?;
            Ok(read_response(*resource, &value, request, options))
        }
        Route::Object { resource, key } => {
            let representation = negotiation::representation(accept, Shape::Object)?;
            let read = ReadRequest {
                options,
                representation,
                now,
            };
            let value = reads::get(group, *resource, key, read)?;
            Ok(read_response(*resource, &value, request, options))
        }
        // Health is answered before anybody is asked who they are.
        Route::Health(_) | Route::Unknown => Err(Status::unknown_path()),
    }
}

/// Renders a rejection. It is always a plain `Status`, whatever representation was asked for.
pub fn rejection(status: &Status, pretty: bool) -> Response<Bytes> {
    let mut response = json_response(&json!(status), pretty);
    *response.status_mut() =
        StatusCode::from_u16(status.code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    status.add_headers(response.headers_mut());
    response
}

const JSON: &str = "application/json";

fn version_document(version: &VersionInfo) -> Value {
    let plain = version.version.trim_start_matches('v');
    let mut numbers = plain.split('.');
    json!({
        "major": numbers.next().unwrap_or_default(),
        "minor": numbers.next().unwrap_or_default(),
        "gitVersion": format!("v{plain}"),
        "gitCommit": version.source_revision,
        "gitTreeState": "",
        "buildDate": "",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}

fn plain_document(document: &Document, accept: Option<&str>) -> Result<Response<Bytes>, Status> {
    negotiation::plain(accept)?;
    Ok(with_type(document.body.clone(), JSON))
}

fn tagged(
    document: &Document,
    request: Request<'_>,
    media_type: &'static str,
) -> Result<Response<Bytes>, Status> {
    let tag = document.etag();
    let mut response = if request.has_tag(&tag) {
        let mut unchanged = Response::new(Bytes::new());
        *unchanged.status_mut() = StatusCode::NOT_MODIFIED;
        unchanged
    } else {
        with_type(document.body.clone(), media_type)
    };
    let headers = response.headers_mut();
    set(headers, ETAG, &tag);
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// With the right hash in the address the document may be kept for ever; with another one the
/// client is sent to the right address.
fn hashed(
    group: &ApiGroup,
    document: &Document,
    request: Request<'_>,
) -> Result<Response<Bytes>, Status> {
    let hash = request.parameter("hash").filter(|hash| !hash.is_empty());
    match hash {
        Some(hash) if hash != document.tag => {
            let mut moved = Response::new(Bytes::new());
            *moved.status_mut() = StatusCode::MOVED_PERMANENTLY;
            let address = format!("{}?hash={}", openapi::version_3_path(group), document.tag);
            set(moved.headers_mut(), LOCATION, &address);
            Ok(moved)
        }
        hash => {
            let mut response = tagged(document, request, JSON)?;
            if hash.is_some() {
                let headers = response.headers_mut();
                headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
                let far = HeaderValue::from_static("Fri, 31 Dec 2099 23:59:59 GMT");
                headers.insert(EXPIRES, far);
            }
            Ok(response)
        }
    }
}

fn read_response(
    resource: &dyn Resource,
    value: &Value,
    request: Request<'_>,
    options: &ListOptions,
) -> Response<Bytes> {
    let mut response = json_response(value, options.pretty || request.is_from_a_person());
    for warning in resource.warnings() {
        let quoted = warning.replace(['\\', '"'], "'");
        if let Ok(value) = HeaderValue::from_bytes(format!("299 - \"{quoted}\"").as_bytes()) {
            response.headers_mut().append(WARNING, value);
        }
    }
    response
}

fn json_response(value: &Value, pretty: bool) -> Response<Bytes> {
    let text = if pretty {
        format!("{value:#}\n")
    } else {
        format!("{value}\n")
    };
    with_type(text.into(), JSON)
}

fn with_type(body: Bytes, media_type: &'static str) -> Response<Bytes> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

fn set(headers: &mut HeaderMap, name: http::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
