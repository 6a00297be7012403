//! An object on its way through a build, and what it is known by.

use super::node::{FileId, Node};

/// What kustomize knows an object by, at one moment of a build.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// The API group, empty for the core one.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// Where it lives, as far as kustomize knows.
    pub namespace: Home,
}

impl Id {
    /// Returns what an object or a patch is known by.
    pub(crate) fn of(node: &Node) -> Self {
        let metadata = |key: &str| text(node.get("metadata").and_then(|it| it.get(key)));
        let (api_version, kind) = (text(node.get("apiVersion")), text(node.get("kind")));
        let (group, version) = group_version(api_version);
        let namespace = match metadata("namespace") {
            _ if super::namespace::is_cluster_scoped(api_version, kind) => Home::Cluster,
            namespace => Home::named(namespace),
        };
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            name: metadata("name").to_owned(),
            namespace,
        }
    }
}

impl Id {
    /// Says whether another object is called the same, wherever it lives.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let name = |id: &Self| {
            let Self {
                group,
                version,
                kind,
                name,
                namespace: _,
            } = id.clone();
            (group, version, kind, name)
        };
        name(self) == name(other)
    }
}

/// Where an object lives that names no namespace.
const DEFAULT_NAMESPACE: &str = "default";

/// Where an object lives, as far as kustomize knows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Home {
    /// In a namespace; an object without one is taken to live in `default`.
    Namespace(String),
    /// In none, because its kind lives in none.
    Cluster,
}

impl Home {
    /// Returns where an object lives that names a namespace, or an empty one.
    pub(crate) fn named(namespace: &str) -> Self {
        let namespace = match namespace {
            "" => DEFAULT_NAMESPACE,
            namespace => namespace,
        };
        Self::Namespace(namespace.to_owned())
    }

    /// Returns the namespace that a manifest has to name, where it has to name one.
    pub(crate) fn spelled(&self) -> Option<&str> {
        match self {
            Self::Namespace(namespace) => Some(namespace).filter(|it| *it != DEFAULT_NAMESPACE),
            Self::Cluster => None,
        }
        .map(String::as_str)
    }

    /// Returns what expressions are matched against.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Namespace(namespace) => namespace,
            Self::Cluster => "_non_namespaceable_",
        }
    }
}

/// Where an object came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The file: of the document, or the kustomization of a generator's entry.
    pub file: FileId,
    /// The position of the document in the file, or of the entry in `configMapGenerator:`.
    pub index: u32,
    /// Whether a generator made it.
    pub generated: bool,
}

/// An object on its way through a build.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object {
    pub(crate) node: Node,
    pub(crate) origin: Origin,
    /// The line where its document or entry starts.
    pub(crate) line: u32,
    /// What it was known by before each change of namespaces, the first one first.
    pub(crate) previous: Vec<Id>,
    /// Fields that change together from now on, because kustomize wrote one value to all of them.
    pub(crate) ties: Vec<Vec<Way>>,
}

/// A way to a value in an object.
pub(crate) type Way = Vec<Step>;

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypeOf<'o> {
    pub(crate) group: &'o str,
    pub(crate) version: &'o str,
    pub(crate) kind: &'o str,
}

/// One step of a way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// Into the field of a mapping.
    Key(String),
    /// Into the item of a list.
    Item(usize),
}

/// The way to a value while somebody walks it: nothing is copied until it is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Trail<'t> {
    /// The object itself.
    Start,
    /// Into the field of a mapping.
    Key(&'t Self, &'t str),
    /// Into the item of a list.
    Item(&'t Self, usize),
}

impl Trail<'_> {
    /// Returns the way to keep.
    pub(crate) fn way(&self) -> Way {
        match self {
            Self::Start => Way::new(),
            Self::Key(before, key) => {
                let mut way = before.way();
                way.push(Step::Key((*key).to_owned()));
                way
            }
            Self::Item(before, index) => {
                let mut way = before.way();
                way.push(Step::Item(*index));
                way
            }
        }
    }
}

impl Object {
    pub(crate) fn new(node: Node, origin: Origin, line: u32) -> Self {
        Self {
            node,
            origin,
            line,
            previous: Vec::new(),
            ties: Vec::new(),
        }
    }

    pub(crate) fn api_version(&self) -> &str {
        text(self.node.get("apiVersion"))
    }

    pub(crate) fn kind(&self) -> &str {
        text(self.node.get("kind"))
    }

    pub(crate) fn name(&self) -> &str {
        text(self.metadata("name"))
    }

    /// Returns the namespace that it names, empty where it names none.
    pub(crate) fn namespace(&self) -> &str {
        text(self.metadata("namespace"))
    }

    pub(crate) fn metadata(&self, key: &str) -> Option<&Node> {
        self.node.get("metadata")?.get(key)
    }

    pub(crate) fn group_version(&self) -> (&str, &str) {
        group_version(self.api_version())
    }

    pub(crate) fn type_of(&self) -> TypeOf<'_> {
        let (group, version) = self.group_version();
        TypeOf {
            group,
            version,
            kind: self.kind(),
        }
    }

    /// Says whether its kind lives in no namespace and kustomize knows that.
    pub(crate) fn is_cluster_scoped(&self) -> bool {
        super::namespace::is_cluster_scoped(self.api_version(), self.kind())
    }

    /// Returns where it lives now, as expressions see it.
    pub(crate) fn home(&self) -> &str {
        match self.namespace() {
            _ if self.is_cluster_scoped() => Home::Cluster.as_str(),
            "" => DEFAULT_NAMESPACE,
            namespace => namespace,
        }
    }

    /// Returns what it is known by now.
    pub(crate) fn id(&self) -> Id {
        Id::of(&self.node)
    }

    /// Names it in messages.
    pub(crate) fn title(&self) -> String {
        match self.namespace() {
            "" => format!("{} {}", self.kind(), self.name()),
            namespace => format!("{} {namespace}/{}", self.kind(), self.name()),
        }
    }
}

fn text(node: Option<&Node>) -> &str {
    node.and_then(Node::as_str).unwrap_or_default()
}

/// Takes group and version of an `apiVersion` apart.
pub(crate) fn group_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
