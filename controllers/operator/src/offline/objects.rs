//! The objects and types that a person gives in files.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use manifests::folder::{TypeCatalog, built_in_types, custom_type};
use manifests::yaml;
use model::sanitize::{identity, sanitize};
use model::{
    Collection, DesiredObject, LeftOut, LiveObject, Namespace, ResourceId, Scope, Selector,
    Sensitivity, ServedType, TypeId,
};
use serde_json::{Map, Value};

use super::Problem;

/// The kinds that are known.
pub(super) struct Types {
    served: Vec<ServedType>,
    definitions: Vec<Value>,
    sensitivity: Sensitivity,
}

/// An object that a person gave.
pub(super) enum Given {
    /// It is mirrored.
    Desired(Arc<DesiredObject>),
    /// It is not.
    LeftOut(Option<ResourceId>, Map<String, Value>, LeftOut),
    /// Its kind is not known.
    UnknownType(Map<String, Value>),
}

impl Types {
    /// Reads the kinds of Kubernetes, ours, and those of the files.
    pub(super) fn read(crds: &[impl AsRef<Path>], sensitive: &[String]) -> Result<Self, Problem> {
        let words = sensitive.iter().flat_map(|words| words.split(','));
        let sensitivity = Sensitivity::parse(words.filter(|word| !word.trim().is_empty()))
            .map_err(|bad| {
                let problem = |entry: String| {
                    format!("--sensitive {entry:?} is not valid: write RESOURCE or GROUP/RESOURCE")
                };
                Problem::Input(bad.into_iter().map(problem).collect())
            })?;
        let mut served = built_in_types(&sensitivity);
        let mut definitions = Vec::new();
        for crd in ::crds::all() {
            let crd = serde_json::to_value(crd).context("cannot read our own types")?;
            served.extend(custom_type(&crd, &sensitivity));
            definitions.push(crd);
        }
        for file in crds {
            for crd in read_objects(file.as_ref())? {
                let name = crd
                    .get("metadata")
                    .and_then(|metadata| metadata.get("name"))
                    .cloned()
                    .unwrap_or_default();
                let crd = Value::Object(crd);
                if crd["kind"] != "CustomResourceDefinition" {
                    continue;
                }
                let custom = custom_type(&crd, &sensitivity).map_err(|field| {
                    format!(
                        "--crds {}: the CustomResourceDefinition {name} lacks {field}",
                        file.as_ref().display()
                    )
                })?;
                served.push(custom);
                definitions.push(crd);
            }
        }
        Ok(Self {
            served,
            definitions,
            sensitivity,
        })
    }

    /// Returns the definitions of custom kinds, ours among them.
    pub(super) fn definitions(&self) -> &[Value] {
        &self.definitions
    }

    pub(super) fn sensitivity(&self) -> &Sensitivity {
        &self.sensitivity
    }

    pub(super) fn catalog(&self) -> TypeCatalog {
        self.served.iter().collect()
    }

    fn of_object(&self, object: &Map<String, Value>) -> Option<ServedType> {
        let api_version = object.get("apiVersion")?.as_str()?;
        let kind = object.get("kind")?.as_str()?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let known = self
            .served
            .iter()
            .find(|served| *served.type_id.group == *group && served.kind == kind)?;
        Some(ServedType {
            version: version.to_owned(),
            ..known.clone()
        })
    }

    /// Reads an object as the operator would.
    pub(super) fn given(&self, object: Map<String, Value>) -> Given {
        let Some(served) = self.of_object(&object) else {
            return Given::UnknownType(object);
        };
        let live = LiveObject {
            served: Arc::new(served),
            value: object,
        };
        match sanitize(&live) {
            Ok(desired) => Given::Desired(Arc::new(desired)),
            Err(left_out) => Given::LeftOut(identity(&live).ok(), live.value, left_out),
        }
    }

    /// Reads the identity of an object.
    pub(super) fn identity(&self, object: &Map<String, Value>) -> Result<ResourceId, String> {
        let served = self
            .of_object(object)
            .ok_or_else(|| format!("the kind of {} is not known", title(object)))?;
        let live = LiveObject {
            served: Arc::new(served),
            value: object.clone(),
        };
        identity(&live).map_err(|left_out| match left_out {
            LeftOut::Malformed { problem } => format!("{}: {problem}", title(object)),
            _ => format!("{} has no identity", title(object)),
        })
    }

    /// Reads `RESOURCE[.GROUP][@NAMESPACE]`.
    pub(super) fn collection(&self, text: &str) -> Result<Collection, String> {
        let (kind, namespace) = match text.split_once('@') {
            Some((kind, namespace)) => (kind, Some(namespace)),
            None => (text, None),
        };
        let (resource, group) = kind.split_once('.').unwrap_or((kind, ""));
        let type_id = TypeId::new(group, resource);
        let served = self
            .served
            .iter()
            .find(|served| served.type_id == type_id)
            .ok_or_else(|| {
                format!("--collection {text:?}: the type {type_id} is not known; a custom one needs --crds")
            })?;
        let scope = match (served.namespaced, namespace) {
            (true, Some(namespace)) => Scope::Namespace(
                Namespace::new(namespace)
                    .map_err(|error| format!("--collection {text:?}: {error}"))?,
            ),
            (true, None) => Scope::AllNamespaces,
            (false, None) => Scope::Cluster,
            (false, Some(_)) => {
                return Err(format!(
                    "--collection {text:?}: {type_id} is cluster-scoped; leave @NAMESPACE out"
                ));
            }
        };
        Ok(Collection {
            type_id,
            scope,
            selector: Selector::everything(),
        })
    }
}

/// Names an object for a message.
pub(super) fn title(object: &Map<String, Value>) -> String {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("?").to_owned();
    let metadata = object.get("metadata");
    let of = |key: &str| metadata.and_then(|metadata| metadata.get(key));
    let kind = text(object.get("kind"));
    match of("namespace") {
        Some(namespace) => format!("{kind} {}/{}", text(Some(namespace)), text(of("name"))),
        None => format!("{kind} {}", text(of("name"))),
    }
}

/// Reads the objects of a file: documents of YAML, or JSON, each an object or a list of objects.
pub(super) fn read_objects(file: &Path) -> Result<Vec<Map<String, Value>>, Problem> {
    let text = read_text(file)?;
    let values = match serde_json::from_str(&text) {
        Ok(value) => vec![value],
        Err(_) => yaml::values(&text).map_err(|error| {
            format!("{}: line {}: {}", file.display(), error.line, error.problem)
        })?,
    };
    let mut objects = Vec::new();
    for value in values {
        take(value, file, &mut objects)?;
    }
    Ok(objects)
}

fn take(value: Value, file: &Path, objects: &mut Vec<Map<String, Value>>) -> Result<(), Problem> {
    match value {
        Value::Null => Ok(()),
        Value::Object(mut map) => {
            let kind = map.get("kind").and_then(Value::as_str);
            let of_items = kind
                .and_then(|kind| kind.strip_suffix("List"))
                .map(str::to_owned);
            let api_version = map.get("apiVersion").cloned();
            match (map.remove("items"), of_items) {
                (Some(Value::Array(items)), Some(kind)) => {
                    for mut item in items {
                        // A list of one kind need not repeat it in each item.
                        if let (Value::Object(item), false) = (&mut item, kind.is_empty()) {
                            item.entry("kind").or_insert_with(|| kind.clone().into());
                            let api_version = api_version.clone().unwrap_or_default();
                            item.entry("apiVersion").or_insert(api_version);
                        }
                        take(item, file, objects)?;
                    }
                    Ok(())
                }
                (items, _) => {
                    if let Some(items) = items {
                        map.insert("items".to_owned(), items);
                    }
                    objects.push(map);
                    Ok(())
                }
            }
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(format!("{}: a document is no Kubernetes object", file.display()).into())
        }
    }
}

/// Reads a file, or standard input where it is called `-`.
pub(super) fn read_text(file: &Path) -> Result<String, Problem> {
    if file == Path::new("-") {
        let mut text = String::new();
        return match std::io::stdin().lock().read_to_string(&mut text) {
            Ok(_) => Ok(text),
            Err(error) => Err(format!("standard input cannot be read: {error}").into()),
        };
    }
    std::fs::read_to_string(file)
        .map_err(|error| format!("{} cannot be read: {error}", file.display()).into())
}
