//! Commits and templates made by chance, and Go's opinion of what the templates print.
//!
//! [`commit`] makes a commit as a branch writer words it and as Go is told of it; [`generate::source`] makes a
//! template of a commit; [`oracle`] is the library that the language comes from.

mod generate;
pub mod oracle;

use std::collections::BTreeMap;
use std::sync::Arc;

use branch::message_text::{LiveCommit, Message, Sources, Wording};
use model::sanitize::sanitize;
use model::{
    Author, Change, Collection, Delivery, Identity, LiveObject, Namespace, ObjectName, Operation,
    ResourceId, Scope, Selector, ServedType, TargetKey, TypeId,
};
use serde::Serialize;
use serde_json::json;

use crate::dice::Dice;
pub use generate::{PIECES, source};

/// A commit that can be worded.
#[derive(Debug, Clone)]
pub struct Commit {
    author: Author,
    deliveries: Vec<Delivery>,
    told: Told,
}

/// The commit as Go is told of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Told {
    author: String,
    git_target: String,
    count: usize,
    operations: BTreeMap<String, usize>,
    resources: Vec<Resource>,
    request_message: String,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Resource {
    operation: String,
    group: String,
    version: String,
    resource: String,
    kind: String,
    namespace: String,
    name: String,
    #[serde(rename = "APIVersion")]
    api_version: String,
    resource_version: String,
    generation: i64,
    labels: BTreeMap<String, String>,
}

impl Commit {
    /// Words the commit by a template; the error is why the template is refused, in general or on this commit.
    ///
    /// # Errors
    /// Returns what the template does that is not supported or not possible.
    pub fn word(&self, template: &str) -> Result<String, String> {
        let sources = Sources {
            live: Some(template.to_owned()),
            ..Sources::default()
        };
        let wording = Wording::try_from(sources).map_err(|error| error.to_string())?;
        let Message { text, fell_back } = wording.live(LiveCommit {
            author: &self.author,
            target: &target().name,
            entries: &self.deliveries.iter().collect::<Vec<_>>(),
        });
        fell_back.map_or(Ok(text), Err)
    }
}

fn target() -> TargetKey {
    TargetKey::new(namespace(), name("shop"))
}

fn namespace() -> Namespace {
    Namespace::new("team-a").expect("because the text is a name")
}

fn name(text: &str) -> ObjectName {
    ObjectName::new(text).expect("because the text is a name")
}

/// Makes a commit of a few objects.
pub fn commit(dice: &mut Dice) -> Commit {
    let username = dice.one(&["alice", "system:serviceaccount:ci:bot", "Zoë \"Z\" <z>", ""]);
    let author = if username.is_empty() {
        dice.one(&[&Author::Operator, &Author::Unresolved]).clone()
    } else {
        Author::Actor(Identity {
            username: username.to_owned(),
            display_name: None,
            email: None,
        })
    };
    let mut told = Told {
        author: username.to_owned(),
        git_target: "shop".to_owned(),
        count: 1 + dice.below(4),
        operations: BTreeMap::new(),
        resources: Vec::new(),
        request_message: String::new(),
    };
    let mut deliveries = Vec::new();
    for index in 0..told.count {
        let (delivery, resource) = change(dice, index, &author);
        *told
            .operations
            .entry(resource.operation.clone())
            .or_default() += 1;
        told.resources.push(resource);
        deliveries.push(delivery);
    }
    Commit {
        author,
        deliveries,
        told,
    }
}

fn change(dice: &mut Dice, index: usize, author: &Author) -> (Delivery, Resource) {
    let (group, resource, kind, namespaced) = dice.one(&[
        ("apps", "deployments", "Deployment", true),
        ("", "configmaps", "ConfigMap", true),
        (
            "rbac.authorization.k8s.io",
            "clusterroles",
            "ClusterRole",
            false,
        ),
    ]);
    let served = Arc::new(ServedType {
        type_id: TypeId::new(group, resource),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespaced,
        sensitive: false,
    });
    let operation = dice.one(&[Operation::Create, Operation::Update, Operation::Delete]);
    let labels = labels(dice);
    let generation = i64::try_from(dice.below(3)).unwrap_or_default();
    let own = format!("one-{index}");
    let (change, kept) = match operation {
        Operation::Delete => {
            let id = ResourceId {
                type_id: served.type_id.clone(),
                namespace: namespaced.then(namespace),
                name: name(&own),
            };
            let removal = Change::Remove {
                id,
                served: Arc::clone(&served),
                resource_version: "9".to_owned(),
            };
            (removal, None)
        }
        Operation::Create | Operation::Update => {
            let mut metadata = json!({
                "name": own, "resourceVersion": "9", "generation": generation, "labels": labels,
            });
            if namespaced {
                metadata["namespace"] = json!("team-a");
            }
            let object =
                json!({"apiVersion": served.api_version(), "kind": kind, "metadata": metadata});
            let live = LiveObject {
                served: Arc::clone(&served),
                value: object.as_object().cloned().unwrap_or_default(),
            };
            let object = sanitize(&live).expect("because the object is whole");
            let upsert = Change::Upsert {
                object: Arc::new(object),
                operation,
            };
            (upsert, Some(labels))
        }
    };
    let told = Resource {
        operation: operation.as_str().to_owned(),
        group: group.to_owned(),
        version: "v1".to_owned(),
        resource: resource.to_owned(),
        kind: kept.as_ref().map_or("", |_| kind).to_owned(),
        namespace: if namespaced { "team-a" } else { "_cluster" }.to_owned(),
        name: own,
        api_version: served.api_version(),
        resource_version: "9".to_owned(),
        generation: kept.as_ref().map_or(0, |_| generation),
        labels: kept.unwrap_or_default(),
    };
    let delivery = Delivery {
        target: target(),
        collection: Collection {
            type_id: served.type_id.clone(),
            scope: if namespaced {
                Scope::AllNamespaces
            } else {
                Scope::Cluster
            },
            selector: Selector::everything(),
        },
        change,
        author: author.clone(),
    };
    (delivery, told)
}

fn labels(dice: &mut Dice) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for key in ["team", "app.kubernetes.io/name"] {
        if !dice.once_in(3) {
            labels.insert(key.to_owned(), dice.one(&["red", "blue", ""]).to_owned());
        }
    }
    labels
}
