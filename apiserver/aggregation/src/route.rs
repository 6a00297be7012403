//! Turns a path into what it names.

use percent_encoding::percent_decode_str;

use crate::resource::{ApiGroup, Resource, Scope};
use crate::snapshot::ObjectKey;

/// What a path names.
#[derive(Clone)]
pub enum Route<'a> {
    /// `/`, the list of paths.
    Index,
    /// `/healthz`, `/livez`, `/readyz`, and one named check below them.
    Health(HealthPath<'a>),
    /// `/version`.
    Version,
    /// `/apis`.
    Groups,
    /// `/apis/GROUP`.
    Group,
    /// `/apis/GROUP/VERSION`.
    Resources,
    /// `/openapi/v2`.
    OpenApiV2,
    /// `/openapi/v3`, the list of documents.
    OpenApiV3Index,
    /// `/openapi/v3/apis/GROUP/VERSION`, the document of our group.
    OpenApiV3,
    /// All objects of a resource, in one namespace or in all.
    Collection {
        /// The resource.
        resource: &'a dyn Resource,
        /// The namespace, unless all.
        namespace: Option<String>,
    },
    /// One object.
    Object {
        /// The resource.
        resource: &'a dyn Resource,
        /// The object.
        key: ObjectKey,
    },
    /// Nothing that is served.
    Unknown,
}

/// A health question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthPath<'a> {
    /// Whether readiness is asked for, rather than liveness.
    pub readiness: bool,
    /// One check by its name, unless all.
    pub check: Option<&'a str>,
}

impl<'a> Route<'a> {
    /// Finds what the path names. A resource under a wrong scope is unknown.
    pub fn parse(group: &'a ApiGroup, path: &'a str) -> Self {
        let segments: Vec<&str> = path
            .trim_matches('/')
            .split('/')
            .filter(|segment| !segment.is_empty())
            .collect();
        match segments.as_slice() {
            [] => Self::Index,
            ["healthz" | "livez"] => Self::Health(HealthPath {
                readiness: false,
                check: None,
            }),
            ["healthz" | "livez", check] => Self::Health(HealthPath {
                readiness: false,
                check: Some(check),
            }),
            ["readyz"] => Self::Health(HealthPath {
                readiness: true,
                check: None,
            }),
            ["readyz", check] => Self::Health(HealthPath {
                readiness: true,
                check: Some(check),
            }),
            ["version"] => Self::Version,
            ["openapi", "v2"] => Self::OpenApiV2,
            ["openapi", "v3"] => Self::OpenApiV3Index,
            ["openapi", "v3", "apis", name, version] if is_ours(group, name, version) => {
                Self::OpenApiV3
            }
            ["apis"] => Self::Groups,
            ["apis", name] if *name == group.name() => Self::Group,
            ["apis", name, version] if is_ours(group, name, version) => Self::Resources,
            ["apis", name, version, rest @ ..] if is_ours(group, name, version) => {
                resource_route(group, rest)
            }
            _ => Self::Unknown,
        }
    }
}

fn is_ours(group: &ApiGroup, name: &str, version: &str) -> bool {
    name == group.name() && version == group.version()
}

fn resource_route<'a>(group: &'a ApiGroup, rest: &[&str]) -> Route<'a> {
    let (namespace, plural, name) = match rest {
        ["namespaces", namespace, plural] => (Some(*namespace), *plural, None),
        ["namespaces", namespace, plural, name] => (Some(*namespace), *plural, Some(*name)),
        [plural] => (None, *plural, None),
        [plural, name] => (None, *plural, Some(*name)),
        _ => return Route::Unknown,
    };
    let Some(resource) = group.resource(plural) else {
        return Route::Unknown;
    };
    let Some(namespace) = namespace.map(decoded).transpose().ok() else {
        return Route::Unknown;
    };
    let Some(name) = name.map(decoded).transpose().ok() else {
        return Route::Unknown;
    };
    let namespaced = resource.definition().scope == Scope::Namespaced;
    match (name, namespace) {
        (None, Some(_)) if !namespaced => Route::Unknown,
        (None, namespace) => Route::Collection {
            resource,
            namespace,
        },
        (Some(_), namespace) if namespace.is_some() != namespaced => Route::Unknown,
        (Some(name), namespace) => Route::Object {
            resource,
            key: ObjectKey { namespace, name },
        },
    }
}

fn decoded(segment: &str) -> Result<String, std::str::Utf8Error> {
    percent_decode_str(segment)
        .decode_utf8()
        .map(|text| text.into_owned())
}
