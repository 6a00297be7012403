//! One Kubernetes document of a folder, with its identity.

use std::sync::Arc;

use model::{Namespace, ObjectName, RepoPath, ResourceId};
use serde_json::Value;

use super::digest::Digest;
use super::texts::Texts;
use crate::folder::TypeCatalog;
use crate::yaml::Reading;

/// A Kubernetes document: it has an `apiVersion`, a `kind` and a `metadata.name`. What it means is not kept;
/// its digest is.
#[derive(Clone, PartialEq)]
pub struct Document {
    /// Its file.
    pub path: RepoPath,
    /// Its position in the file, counted from 0.
    pub index: usize,
    /// The line where it starts, counted from 1.
    pub line: u32,
    /// The line of its name.
    pub name_line: u32,
    /// `apiVersion` as it is written.
    pub api_version: Arc<str>,
    /// Which object it is.
    pub join: Join,
    /// What it means, as a hash.
    pub digest: Digest,
    /// Whether SOPS encrypted it.
    pub encrypted: bool,
    /// What makes it unsafe to edit, with its line. It claims its identity all the same (IX-6).
    pub problem: Option<(u32, String)>,
    written: Written,
}

/// Which object a document stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Join {
    /// This one.
    Object(ResourceId),
    /// The kind is not in the catalog, so the document is never touched (IX-10).
    UnknownKind,
    /// The kind lives in namespaces and the document names none. Nothing is inferred (NS-4): whoever applies the
    /// folder decides the namespace, so the document may be any object or several, and is never touched.
    NoNamespace,
    /// A name that no object can have, as in an encrypted or templated document.
    NoObject,
}

/// The identity of a document as it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Written {
    kind: Arc<str>,
    namespace: Option<Arc<str>>,
    name: Arc<str>,
}

/// What makes two documents the same one: version-free, so that two versions of one object clash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Claim {
    /// An object that is known.
    Object(ResourceId),
    /// What is written, where that is no object that is known.
    Written {
        group: Arc<str>,
        kind: Arc<str>,
        namespace: Option<Arc<str>>,
        name: Arc<str>,
    },
}

/// What documents are joined with objects by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Joining {
    /// The kinds that are known.
    pub catalog: Arc<TypeCatalog>,
    /// The namespace that documents without one belong to; usually there is none, and they belong to no object.
    pub namespace: Option<Namespace>,
}

/// What a document of a text turned out to be.
#[derive(Clone, PartialEq)]
pub(crate) enum Content {
    Document(Box<Document>),
    /// Nothing, or comments only.
    Empty,
    /// A list of objects in one document, with the line where they start.
    List {
        line: u32,
    },
    /// YAML of another kind.
    Other(Lack),
}

/// What a document lacks to be a Kubernetes object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lack {
    /// The fields.
    pub(crate) fields: Vec<&'static str>,
    /// Where the first of them would stand.
    pub(crate) line: u32,
}

/// The fields whose lines a scan notes, for [`classify`].
pub(crate) const NOTED: [&[&str]; 2] = [&["metadata", "name"], &["items"]];

/// Says what a document of a text is; its reading has the lines of the [`NOTED`] fields. It is not joined yet.
pub(crate) fn classify(path: &RepoPath, index: usize, reading: Reading) -> Content {
    if reading.is_empty {
        return Content::Empty;
    }
    let text = |value: Option<&Value>| {
        value
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
            .map(Arc::<str>::from)
    };
    let metadata = reading.value.get("metadata");
    let api_version = text(reading.value.get("apiVersion"));
    let kind = text(reading.value.get("kind"));
    let name = text(metadata.and_then(|metadata| metadata.get("name")));
    let line_of = |noted: usize| reading.lines.get(noted).copied().unwrap_or(reading.line);
    let name_line = line_of(0);
    let is_list = api_version.is_some()
        && kind.as_ref().is_some_and(|kind| kind.ends_with("List"))
        && reading.value.get("items").is_some_and(Value::is_array);
    if is_list {
        return Content::List { line: line_of(1) };
    }
    let (api_version, kind, name) = match (api_version, kind, name) {
        (Some(api_version), Some(kind), Some(name)) => (api_version, kind, name),
        (api_version, kind, name) => {
            let known = [
                ("apiVersion", api_version.is_some()),
                ("kind", kind.is_some()),
                ("metadata.name", name.is_some()),
            ];
            let lacks = known.iter().filter(|(_, is_there)| !is_there);
            let fields: Vec<&str> = lacks.map(|(field, _)| *field).collect();
            let is_nameless = fields == ["metadata.name"];
            let line = if is_nameless { name_line } else { reading.line };
            return Content::Other(Lack { fields, line });
        }
    };
    Content::Document(Box::new(Document {
        path: path.clone(),
        index,
        line: reading.line,
        name_line,
        written: Written {
            kind,
            namespace: text(metadata.and_then(|metadata| metadata.get("namespace"))),
            name,
        },
        api_version,
        join: Join::UnknownKind,
        digest: Digest::of(&reading.value),
        encrypted: is_encrypted(&reading.value),
        problem: reading.problem,
    }))
}

impl Joining {
    /// Joins a document with its object and returns what it claims.
    pub(crate) fn join(&self, document: &mut Document) -> Claim {
        let Written {
            kind,
            namespace,
            name,
        } = &document.written;
        let (join, namespace) = self.find(document.group(), kind, namespace.clone(), name);
        document.join = join;
        match &document.join {
            Join::Object(id) => Claim::Object(id.clone()),
            Join::UnknownKind | Join::NoNamespace | Join::NoObject => Claim::Written {
                group: document.group().into(),
                kind: Arc::clone(&document.written.kind),
                namespace,
                name: Arc::clone(&document.written.name),
            },
        }
    }

    /// Says whether the document's kind holds secrets.
    pub(crate) fn is_sensitive(&self, document: &Document) -> bool {
        self.catalog
            .find(document.group(), document.kind())
            .is_some_and(|known| known.sensitive)
    }

    /// Returns the object that something of this name is, and the namespace that it has in effect.
    pub(crate) fn find(
        &self,
        group: &str,
        kind: &str,
        mut namespace: Option<Arc<str>>,
        name: &Arc<str>,
    ) -> (Join, Option<Arc<str>>) {
        let Some(known) = self.catalog.find(group, kind) else {
            return (Join::UnknownKind, namespace);
        };
        if !known.namespaced {
            namespace = None;
        } else if namespace.is_none() {
            namespace = self.namespace.as_ref().map(|one| one.as_str().into());
            if namespace.is_none() {
                return (Join::NoNamespace, None);
            }
        }
        // A name that SOPS encrypted is no name: such a document is never touched (SE-9).
        let is_sealed = |text: &str| text.starts_with("ENC[");
        if is_sealed(name) || namespace.as_deref().is_some_and(is_sealed) {
            return (Join::NoObject, namespace);
        }
        let valid = namespace.as_ref().map(Namespace::shared).transpose();
        let join = match (valid, ObjectName::shared(name)) {
            (Ok(namespace), Ok(name)) => Join::Object(ResourceId {
                type_id: known.type_id.clone(),
                namespace,
                name,
            }),
            _ => Join::NoObject,
        };
        (join, namespace)
    }
}

/// Says whether a document carries what SOPS writes: its block with a message authentication code.
pub(crate) fn is_encrypted(value: &Value) -> bool {
    value
        .get("sops")
        .is_some_and(|sops| sops.get("mac").is_some())
}

impl Document {
    /// Returns the object that the document stands for, if it is known.
    pub fn id(&self) -> Option<&ResourceId> {
        match &self.join {
            Join::Object(id) => Some(id),
            Join::UnknownKind | Join::NoNamespace | Join::NoObject => None,
        }
    }

    /// Returns the document's name for messages: kind and name as they are written.
    pub fn title(&self) -> String {
        let Written {
            kind,
            namespace,
            name,
        } = &self.written;
        match namespace {
            Some(namespace) => format!("{kind} {namespace}/{name}"),
            None => format!("{kind} {name}"),
        }
    }

    /// Returns the API group as it is written.
    fn group(&self) -> &str {
        let version = self.api_version.split_once('/');
        version.map_or("", |(group, _)| group)
    }

    /// Shares the texts that most documents have in common with the documents before.
    pub(crate) fn share(&mut self, texts: &mut Texts) {
        texts.share(&mut self.api_version);
        texts.share(&mut self.written.kind);
        if let Some(namespace) = &mut self.written.namespace {
            texts.share(namespace);
        }
    }

    /// Returns `kind` as it is written.
    pub fn kind(&self) -> &str {
        &self.written.kind
    }

    /// Says whether the document names its namespace.
    pub fn has_namespace(&self) -> bool {
        self.written.namespace.is_some()
    }
}

impl std::fmt::Debug for Document {
    /// Shows the place and the identity only: a document may hold a secret in plain text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Document({} in {} line {})",
            self.title(),
            self.path,
            self.line
        )
    }
}
