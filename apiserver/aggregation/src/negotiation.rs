//! Reads `Accept` and chooses the representation of an answer.
//!
//! Clauses are tried in order; one that asks for a transform which is not served is skipped, so a
//! client may name several. Only JSON is written.

/// How an object or list is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Representation {
    /// As it is.
    Plain,
    /// As rows and columns.
    Table(MetaVersion),
    /// Metadata only.
    Partial(MetaVersion),
}

/// The version of `meta.k8s.io` in which a transform was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetaVersion {
    /// `v1`.
    V1,
    /// `v1beta1`, which older clients name as their second choice.
    V1Beta1,
}

impl MetaVersion {
    /// Returns the `apiVersion` of the answer.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// Whether one object or a list is answered; the transforms for them have different names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One object.
    Object,
    /// A list.
    List,
}

/// How discovery is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscoveryRepresentation {
    /// The plain list of groups.
    Plain,
    /// Groups, versions and resources in one document.
    Aggregated,
}

/// Nothing that the client accepts is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("only the following media types are accepted: application/json")]
pub struct NotAcceptable;

/// Chooses the representation of an object or list. A missing header accepts everything.
pub fn representation(accept: Option<&str>, shape: Shape) -> Result<Representation, NotAcceptable> {
    let partial = match shape {
        Shape::Object => "PartialObjectMetadata",
        Shape::List => "PartialObjectMetadataList",
    };
    choose(accept, |clause| {
        let version = match clause.version {
            Some("v1") => Some(MetaVersion::V1),
            Some("v1beta1") => Some(MetaVersion::V1Beta1),
            _ => None,
        };
        match (clause.kind, clause.group, version) {
            (None, _, _) => Some(Representation::Plain),
            (Some("Table"), Some("meta.k8s.io"), Some(version)) => {
                Some(Representation::Table(version))
            }
            (Some(kind), Some("meta.k8s.io"), Some(version)) if kind == partial => {
                Some(Representation::Partial(version))
            }
            _ => None,
        }
    })
}

/// Chooses the representation of `/apis`.
pub fn discovery(accept: Option<&str>) -> Result<DiscoveryRepresentation, NotAcceptable> {
    choose(accept, |clause| {
        match (clause.kind, clause.group, clause.version) {
            (None, _, _) => Some(DiscoveryRepresentation::Plain),
            (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2")) => {
                Some(DiscoveryRepresentation::Aggregated)
            }
            _ => None,
        }
    })
}

/// Checks that plain JSON is acceptable, for documents that have no other form.
pub fn plain(accept: Option<&str>) -> Result<(), NotAcceptable> {
    choose(accept, |clause| clause.kind.is_none().then_some(()))
}

struct Clause<'a> {
    kind: Option<&'a str>,
    group: Option<&'a str>,
    version: Option<&'a str>,
}

fn choose<T>(
    accept: Option<&str>,
    decide: impl Fn(&Clause<'_>) -> Option<T>,
) -> Result<T, NotAcceptable> {
    let accept = accept
        .map(str::trim)
        .filter(|accept| !accept.is_empty())
        .unwrap_or("*/*");
    accept
        .split(',')
        .filter_map(parse_clause)
        .find_map(|clause| decide(&clause))
        .ok_or(NotAcceptable)
}

fn parse_clause(text: &str) -> Option<Clause<'_>> {
    let mut parts = text.split(';').map(str::trim);
    if !matches!(
        parts.next(),
        Some("application/json" | "application/*" | "*/*")
    ) {
        return None;
    }
    let mut clause = Clause {
        kind: None,
        group: None,
        version: None,
    };
    for (name, value) in parts.filter_map(|part| part.split_once('=')) {
        match name.trim() {
            "as" => clause.kind = Some(value.trim()),
            "g" => clause.group = Some(value.trim()),
            "v" => clause.version = Some(value.trim()),
            _ => {}
        }
    }
    Some(clause)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KUBECTL: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,\
        application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

    #[test]
    fn the_first_clause_that_is_served_wins() {
        use Representation::{Partial, Plain, Table};
        let (object, list) = (Shape::Object, Shape::List);
        for (accept, shape, expected) in [
            (None, list, Ok(Plain)),
            (Some(""), list, Ok(Plain)),
            (Some("*/*"), object, Ok(Plain)),
            (Some("application/*"), object, Ok(Plain)),
            (Some("application/json; charset=utf-8"), object, Ok(Plain)),
            (Some(KUBECTL), list, Ok(Table(MetaVersion::V1))),
            (
                Some("application/json;as=Table;v=v1beta1;g=meta.k8s.io"),
                list,
                Ok(Table(MetaVersion::V1Beta1)),
            ),
            (
                Some("application/json;as=Table;v=v9;g=meta.k8s.io,application/json"),
                list,
                Ok(Plain),
            ),
            (
                Some("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"),
                list,
                Ok(Partial(MetaVersion::V1)),
            ),
            (
                Some("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"),
                object,
                Err(NotAcceptable),
            ),
            (
                Some("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"),
                list,
                Err(NotAcceptable),
            ),
            (
                Some("application/vnd.kubernetes.protobuf,application/json"),
                list,
                Ok(Plain),
            ),
            (
                Some("application/vnd.kubernetes.protobuf"),
                list,
                Err(NotAcceptable),
            ),
            (Some("application/yaml"), list, Err(NotAcceptable)),
            (Some("text/plain"), list, Err(NotAcceptable)),
        ] {
            assert_eq!(
                representation(accept, shape),
                expected,
                "{accept:?} {shape:?}"
            );
        }
    }

    #[test]
    fn aggregated_discovery_is_served_in_its_final_version_only() {
        use DiscoveryRepresentation::{Aggregated, Plain};
        for (accept, expected) in [
            ("application/json", Ok(Plain)),
            (
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
                Ok(Aggregated),
            ),
            (
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer,\
                 application/json",
                Ok(Aggregated),
            ),
            (
                "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
                Err(NotAcceptable),
            ),
            (
                "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,\
                 application/json",
                Ok(Plain),
            ),
        ] {
            assert_eq!(discovery(Some(accept)), expected, "{accept}");
        }
    }
}
