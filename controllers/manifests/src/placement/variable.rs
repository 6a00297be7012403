//! What a template can say about an object (PL-7 to PL-9).

use std::borrow::Cow;

use serde_json::Value;

use super::segment;
use super::template::Subject;

/// Stands for the namespace of an object of the cluster; no namespace can have this name.
pub(super) const CLUSTER_SCOPE: &str = "_cluster";
/// Stands for a label that an object lacks; no label value can begin like this.
const UNLABELED: &str = "_unlabeled";

/// The variables that take no key and no fallback, for messages.
pub(super) const PLAIN: [(&str, Variable); 10] = [
    ("name", Variable::Name),
    ("resource", Variable::Resource),
    ("group", Variable::Group),
    ("groupPath", Variable::Group),
    ("version", Variable::Version),
    ("apiVersion", Variable::ApiVersion),
    ("kind", Variable::Kind),
    ("kindLower", Variable::KindLower),
    ("scope", Variable::Scope),
    ("sensitiveSuffix", Variable::SensitiveSuffix),
];

/// One variable. `group` and `groupPath` are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Variable {
    Name,
    Namespace {
        fallback: Option<String>,
    },
    Resource,
    Group,
    Version,
    ApiVersion,
    Kind,
    KindLower,
    Scope,
    SensitiveSuffix,
    Label {
        key: String,
        fallback: Option<String>,
    },
}

impl Variable {
    /// Returns the value, escaped for one part of a path. Only `apiVersion` may hold a slash.
    pub(super) fn render(&self, subject: Subject<'_>) -> String {
        let served = subject.served;
        let text: Cow<'_, str> = match self {
            Self::Name => subject.id.name.as_str().into(),
            Self::Namespace { fallback } => match &subject.id.namespace {
                Some(namespace) => namespace.as_str().into(),
                None => fallback.as_deref().unwrap_or(CLUSTER_SCOPE).into(),
            },
            Self::Resource => (*served.type_id.resource).into(),
            Self::Group => (*served.type_id.group).into(),
            Self::Version => served.version.as_str().into(),
            Self::ApiVersion if served.type_id.group.is_empty() => served.version.as_str().into(),
            Self::ApiVersion => {
                let group = segment::value(&served.type_id.group);
                return format!("{group}/{}", segment::value(&served.version));
            }
            Self::Kind => served.kind.as_str().into(),
            Self::KindLower => served.kind.to_lowercase().into(),
            Self::Scope if served.namespaced => "namespaced".into(),
            Self::Scope => "cluster".into(),
            Self::SensitiveSuffix => suffix(served.sensitive).into(),
            Self::Label { key, fallback } => {
                let label = subject.labels.and_then(|labels| labels.get(key));
                match label
                    .and_then(Value::as_str)
                    .filter(|text| !text.is_empty())
                {
                    Some(text) => text.into(),
                    None => fallback.as_deref().unwrap_or(UNLABELED).into(),
                }
            }
        };
        segment::value(&text)
    }
}

/// Returns the end of the name of a document's file.
pub(super) fn suffix(sensitive: bool) -> &'static str {
    if sensitive { ".sops.yaml" } else { ".yaml" }
}
