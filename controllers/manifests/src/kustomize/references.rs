//! References that follow an object into its new namespace: the subjects of role bindings and the services of
//! webhooks.
//!
//! Names never change in what is modelled, so that other references stay as they are.

use std::collections::HashMap;

use super::field_spec::{FieldSpec, Make, WrongShape};
use super::node::{Content, Node};
use super::object::{Home, Object, Trail};

/// A field that refers to objects of one kind by name and namespace.
struct Reference {
    field: FieldSpec,
    /// The kind of core objects that it refers to.
    to: &'static str,
}

const fn reference(
    group: &'static str,
    kind: &'static str,
    path: &'static str,
    to: &'static str,
) -> Reference {
    let field = FieldSpec {
        group,
        version: "",
        kind,
        path,
        create: false,
    };
    Reference { field, to }
}

const RBAC: &str = "rbac.authorization.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";

/// Where kustomize 5.8.1 writes a namespace into a reference.
const REFERENCES: [Reference; 4] = [
    reference(RBAC, "RoleBinding", "subjects", "ServiceAccount"),
    reference(RBAC, "ClusterRoleBinding", "subjects", "ServiceAccount"),
    reference(
        ADMISSION,
        "ValidatingWebhookConfiguration",
        "webhooks/clientConfig/service",
        "Service",
    ),
    reference(
        ADMISSION,
        "MutatingWebhookConfiguration",
        "webhooks/clientConfig/service",
        "Service",
    ),
];

/// An object that references may mean.
struct Candidate {
    /// The namespace that it names now, with who named it.
    namespace: Option<Node>,
    first: Home,
    now: Home,
}

/// The objects that references may mean, by kind and name.
type Candidates = HashMap<(&'static str, String), Vec<Candidate>>;

/// Why references could not be followed.
#[derive(Debug)]
pub(crate) struct Unclear {
    pub(crate) object: usize,
    pub(crate) problem: WrongShape,
}

/// Lets every reference follow the object that it means.
pub(crate) fn follow(objects: &mut [Object]) -> Result<(), Unclear> {
    let candidates = candidates(objects);
    for (index, object) in objects.iter_mut().enumerate() {
        for reference in &REFERENCES {
            if reference.field.is_for(object.type_of()) {
                let followed = follow_one(object, reference, &candidates);
                followed.map_err(|problem| Unclear {
                    object: index,
                    problem,
                })?;
            }
        }
    }
    Ok(())
}

fn candidates(objects: &[Object]) -> Candidates {
    let mut candidates = Candidates::new();
    for object in objects {
        let known = ["ServiceAccount", "Service"]
            .into_iter()
            .find(|kind| *kind == object.kind() && object.group_version().1 == "v1");
        // Only what some namespace was written into is looked for.
        let (Some(kind), Some(first)) = (known, object.previous.first()) else {
            continue;
        };
        let namespace = object.metadata("namespace");
        let candidate = Candidate {
            namespace: namespace.filter(|node| !object_is_bare(node)).cloned(),
            first: first.namespace.clone(),
            now: object.id().namespace,
        };
        let key = (kind, object.name().to_owned());
        candidates.entry(key).or_default().push(candidate);
    }
    candidates
}

fn object_is_bare(namespace: &Node) -> bool {
    namespace.as_str().is_none_or(str::is_empty)
}

fn follow_one(
    object: &mut Object,
    reference: &Reference,
    candidates: &Candidates,
) -> Result<(), WrongShape> {
    let referrer = Referrer::of(object)?;
    let mut visit = |node: &mut Node, trail: Trail<'_>| match &mut node.content {
        Content::Sequence(items) => {
            for item in items {
                if item.fields().is_some() {
                    rename(item, trail, reference.to, candidates, &referrer)?;
                } else if matches!(item.content, Content::Sequence(_)) {
                    return Err(WrongShape::at(trail, "mappings or texts"));
                }
            }
            Ok(())
        }
        Content::Mapping(_) => rename(node, trail, reference.to, candidates, &referrer),
        Content::Scalar(_) => Ok(()),
    };
    reference
        .field
        .walk(&mut object.node, &Make::Nothing, &mut visit)
}

/// What an object that refers to others can see.
struct Referrer {
    home: Home,
    /// The namespaces of the service accounts that a role binding names.
    named: Vec<String>,
}

impl Referrer {
    fn of(object: &Object) -> Result<Self, WrongShape> {
        let home = object.id().namespace;
        let mut named = Vec::new();
        if object.kind() == "RoleBinding" {
            let subjects = object.node.get("subjects").and_then(Node::items);
            let odd = |wanted| WrongShape {
                field: "subjects".to_owned(),
                wanted,
            };
            for subject in subjects.unwrap_or_default() {
                let fields = subject.fields().ok_or_else(|| odd("a list of mappings"))?;
                let (Some(namespace), Some(kind)) = (fields.get("namespace"), fields.get("kind"))
                else {
                    continue;
                };
                let kind = kind
                    .as_str()
                    .ok_or_else(|| odd("a list with kinds that are texts"))?;
                if kind == "ServiceAccount" {
                    let namespace = namespace.as_str();
                    let namespace =
                        namespace.ok_or_else(|| odd("a list with namespaces that are texts"))?;
                    named.push(namespace.to_owned());
                }
            }
        }
        Ok(Self { home, named })
    }

    fn sees(&self, candidate: &Candidate, is_account: bool) -> bool {
        let namespace = candidate.namespace.as_ref().and_then(Node::as_str);
        let is_named = || namespace.is_some_and(|it| self.named.iter().any(|named| named == it));
        match &self.home {
            Home::Cluster => true,
            home => *home == candidate.now || (is_account && is_named()),
        }
    }
}

fn rename(
    node: &mut Node,
    trail: Trail<'_>,
    to: &'static str,
    candidates: &Candidates,
    referrer: &Referrer,
) -> Result<(), WrongShape> {
    let Some(fields) = node.fields_mut() else {
        return Ok(());
    };
    let Some(name) = fields.get("name") else {
        return Err(WrongShape::at(trail, "a reference with a name"));
    };
    let Some(found) = name
        .as_str()
        .and_then(|name| candidates.get(&(to, name.to_owned())))
    else {
        return Ok(());
    };
    let named = fields.get("namespace").map(|namespace| {
        let text = namespace.as_str().unwrap_or_default();
        Home::Namespace(text.to_owned())
    });
    let seen: Vec<&Candidate> = found
        .iter()
        .filter(|candidate| referrer.sees(candidate, to == "ServiceAccount"))
        .collect();
    let meant = match &named {
        None => seen,
        // A reference to where an object is by now stays what it is, and its own.
        Some(home) => {
            let by_first = seen.iter().filter(|candidate| candidate.first == *home);
            by_first.copied().collect()
        }
    };
    let Some((first, others)) = meant.split_first() else {
        return Ok(());
    };
    let text = |candidate: &Candidate| candidate.namespace.as_ref().map(Node::to_value);
    if others.iter().any(|other| text(other) != text(first)) {
        return Err(WrongShape::at(
            trail,
            "a reference that only one object fits",
        ));
    }
    if let Some(namespace) = &first.namespace {
        fields.insert("namespace".to_owned(), namespace.clone());
    }
    Ok(())
}
