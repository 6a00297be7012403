//! One build: objects are read, generated, patched and changed, in the order of kustomize (B1).

use std::collections::{HashMap, HashSet};

use model::{FolderPath, Location, RepoPath};

use super::field_spec::WrongShape;
use super::generate::generate;
use super::graph::{Graph, Reader, Resource};
use super::issue::{BuildError, Feature, Issue, location};
use super::labels::{Reach, label};
use super::load::Loader;
use super::node::{Content, Node, Site, Supplier};
use super::object::{Id, Object, Origin};
use super::parse::{FILE_NAMES, Kustomization};
use super::patches::patch;
use super::read::Purpose;
use super::{annotations, images, namespace, references, referrers, replicas};

/// Deeper nesting of bases is refused.
const MAX_DEPTH: usize = 100;

/// Builds a folder from what a survey found.
pub(crate) struct Builder<'b, 'a> {
    loader: &'b mut Loader<'a>,
    graph: &'b Graph,
    root: &'b FolderPath,
    /// How many entries lead to a folder; what is needed again is kept.
    uses: HashMap<&'b FolderPath, usize>,
    built: HashMap<FolderPath, Vec<Object>>,
    /// Where a null is written as nothing and read as an empty text.
    empties: HashSet<Site>,
}

impl<'b, 'a> Builder<'b, 'a> {
    pub(crate) fn new(loader: &'b mut Loader<'a>, graph: &'b Graph, root: &'b FolderPath) -> Self {
        let mut uses = HashMap::new();
        for folder in graph.folders() {
            let resources = graph
                .get(folder)
                .map_or(&[][..], |reader| &reader.resources);
            for resource in resources {
                if let Resource::Folder(folder) = &resource.value {
                    *uses.entry(folder).or_default() += 1;
                }
            }
        }
        Self {
            loader,
            graph,
            root,
            uses,
            built: HashMap::new(),
            empties: HashSet::new(),
        }
    }

    /// Builds the root.
    pub(crate) fn build(mut self) -> Result<Vec<Object>, BuildError> {
        let root = self.root;
        let mut objects = self.folder(root, 0)?;
        self.each(&mut objects, referrers::check)?;
        if let Err(unclear) = references::follow(&mut objects) {
            let object = &objects[unclear.object];
            return Err(self.misshapen(object, &unclear.problem).into());
        }
        objects.retain(|object| !is_local(&object.node));
        for object in &mut objects {
            finish(&mut object.node);
            if !self.empties.is_empty() {
                fill(&mut object.node, &self.empties);
            }
        }
        Ok(objects)
    }

    fn folder(&mut self, folder: &FolderPath, depth: usize) -> Result<Vec<Object>, BuildError> {
        let graph = self.graph;
        let Some(reader) = graph.get(folder) else {
            return Err(missing(folder).into());
        };
        if depth > MAX_DEPTH {
            let at = location(&reader.path, 1, None);
            let message =
                format!("it is the base of more than {MAX_DEPTH} others, one above the other");
            let remedy = "nest fewer bases";
            return Err(Issue::of_author(Feature::RenderFailed, at, message, remedy).into());
        }
        if let Some(objects) = self.built.get(folder) {
            return Ok(objects.clone());
        }
        let mut gathered = Gathered::default();
        for resource in &reader.resources {
            let objects = match &resource.value {
                Resource::File(path) => self.file(path)?,
                Resource::Folder(folder) => self.folder(folder, depth + 1)?,
            };
            for object in objects {
                let clash = gathered.add(object);
                clash
                    .map_err(|object| self.clash(reader, ("resources", resource.line), &object))?;
            }
        }
        for object in generate(reader, self.loader)? {
            if gathered.ever_knew(&object.id()) {
                return Err(self.clash(reader, ("configMapGenerator", object.line), &object));
            }
            let clash = gathered.add(object);
            let field = "configMapGenerator";
            clash.map_err(|object| self.clash(reader, (field, object.line), &object))?;
        }
        for patch in &reader.patches {
            self.empties.extend(&patch.manifests.empties);
        }
        let mut objects = patch(gathered.objects, &reader.patches, self.loader)?;
        self.loader.check()?;
        self.transform(reader, &mut objects)?;
        if self.uses.get(folder).is_some_and(|uses| *uses > 1) {
            self.built.insert(folder.clone(), objects.clone());
        }
        Ok(objects)
    }

    fn file(&mut self, path: &RepoPath) -> Result<Vec<Object>, BuildError> {
        let file = self.loader.id(path);
        let manifests = self.loader.manifests(path, Purpose::Objects)??;
        self.empties.extend(&manifests.empties);
        let objects = manifests.list.iter().map(|manifest| {
            let origin = Origin {
                file,
                index: manifest.document,
                generated: false,
            };
            Object::new(manifest.node.clone(), origin, manifest.line)
        });
        Ok(objects.collect())
    }

    fn transform(&self, reader: &Reader, objects: &mut [Object]) -> Result<(), BuildError> {
        let kustomization = &reader.kustomization;
        let file = reader.file;
        if let Some(target) = &kustomization.namespace {
            let supplier = Supplier::Namespace(Site {
                file,
                at: target.at,
            });
            self.each(objects, |object| {
                namespace::relocate(object, &target.value, &supplier)
            })?;
            let mut ids = HashSet::with_capacity(objects.len());
            if let Some(object) = objects.iter().find(|object| !ids.insert(object.id())) {
                return Err(self.clash(reader, ("namespace", target.line), object));
            }
        }
        self.each(objects, |object| relabel(object, kustomization, reader))?;
        for entry in &kustomization.replicas {
            let mut found = false;
            for object in objects
                .iter_mut()
                .filter(|object| replicas::is_for(entry, object))
            {
                found = true;
                let scaled = replicas::scale(object, entry, file);
                scaled.map_err(|problem| self.misshapen(object, &problem))?;
            }
            if !found {
                let at = location(&reader.path, entry.name.line, Some("replicas".to_owned()));
                let message = format!("the entry {:?} is for no workload", entry.name.value);
                let remedy = "correct the name, or take the entry out";
                return Err(Issue::of_author(Feature::RenderFailed, at, message, remedy).into());
            }
        }
        self.each(objects, |object| {
            images::rename(object, &kustomization.images, file)
        })
    }

    /// Changes every object.
    fn each(
        &self,
        objects: &mut [Object],
        mut change: impl FnMut(&mut Object) -> Result<(), WrongShape>,
    ) -> Result<(), BuildError> {
        for object in objects {
            change(object).map_err(|problem| self.misshapen(object, &problem))?;
        }
        Ok(())
    }

    fn misshapen(&self, object: &Object, problem: &WrongShape) -> Issue {
        let path = self.loader.path(object.origin.file);
        let at = Location {
            path: path.cloned().unwrap_or_else(|| fallback(self.root)),
            line: Some(object.line),
            field: Some(problem.field.clone()),
        };
        let message = format!(
            "{}: {} is not {}",
            object.title(),
            problem.field,
            problem.wanted
        );
        Issue::of_author(Feature::RenderFailed, at, message, "correct the field")
    }

    fn clash(&self, reader: &Reader, (field, line): (&str, u32), object: &Object) -> BuildError {
        let at = location(&reader.path, line, Some(field.to_owned()));
        let message = format!("{} is there twice", object.title());
        let remedy = "keep one of the two, or give them different names or namespaces";
        Issue::of_author(Feature::RenderFailed, at, message, remedy).into()
    }
}

fn relabel(
    object: &mut Object,
    kustomization: &Kustomization,
    reader: &Reader,
) -> Result<(), WrongShape> {
    let file = reader.file;
    for entry in &kustomization.labels {
        let reach = match (entry.include_selectors, entry.include_templates) {
            (true, _) => Reach::Selectors,
            (false, true) => Reach::Templates,
            (false, false) => Reach::Metadata,
        };
        label(object, &entry.pairs, reach, file)?;
    }
    label(object, &kustomization.common_labels, Reach::Selectors, file)?;
    annotations::annotate(object, &kustomization.common_annotations, file)
}

/// Objects that are gathered, each id once.
#[derive(Default)]
struct Gathered {
    objects: Vec<Object>,
    ids: HashSet<Id>,
}

impl Gathered {
    /// Says whether an object is or was known by an id.
    fn ever_knew(&self, id: &Id) -> bool {
        let mut objects = self.objects.iter();
        self.ids.contains(id) || objects.any(|object| object.previous.contains(id))
    }

    /// Adds an object, or gives it back where another one is known by the same.
    fn add(&mut self, object: Object) -> Result<(), Box<Object>> {
        if self.ids.insert(object.id()) {
            self.objects.push(object);
            Ok(())
        } else {
            Err(Box::new(object))
        }
    }
}

/// Names the file that a kustomization would have.
pub(crate) fn fallback(folder: &FolderPath) -> RepoPath {
    folder
        .join(FILE_NAMES[0])
        .expect("because the name of a file can follow every folder")
}

fn missing(folder: &FolderPath) -> Issue {
    let at = location(&fallback(folder), 1, None);
    let message = format!("the folder {} has no kustomization", folder.as_str());
    Issue::of_author(Feature::RenderFailed, at, message, "add one")
}

const LOCAL: &str = "config.kubernetes.io/local-config";

/// Annotations that kustomize takes out of whatever it builds.
const TAKEN_OUT: [&str; 5] = [
    "alpha.config.kubernetes.io/transformations",
    "config.k8s.io/id",
    "config.kubernetes.io/index",
    "config.kubernetes.io/origin",
    "config.kubernetes.io/path",
];

/// Says whether an object is only there for kustomize itself.
fn is_local(node: &Node) -> bool {
    let annotations = node.get("metadata").and_then(|it| it.get("annotations"));
    let local = annotations.and_then(|annotations| annotations.get(LOCAL));
    local.is_some_and(|local| local.as_str() != Some("false"))
}

/// Cleans the annotations of an object as kustomize does at the end: all of them are texts, and there is no empty
/// mapping of them.
fn finish(node: &mut Node) {
    let Some(metadata) = node.get_mut("metadata").and_then(Node::fields_mut) else {
        return;
    };
    let Some(annotations) = metadata.get_mut("annotations") else {
        return;
    };
    match annotations.fields_mut() {
        Some(annotations) => {
            TAKEN_OUT.iter().for_each(|key| {
                annotations.remove(*key);
            });
            annotations.values_mut().for_each(as_text);
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
        None => {
            metadata.remove("annotations");
        }
    }
}

/// Makes empty texts of the nulls that stand at some places.
fn fill(node: &mut Node, empties: &HashSet<Site>) {
    match &mut node.content {
        Content::Scalar(value) => {
            let (Supplier::Document(site) | Supplier::Patch(site)) = &node.supplier else {
                return;
            };
            if value.is_null() && empties.contains(site) {
                *value = "".into();
            }
        }
        Content::Sequence(items) => items.iter_mut().for_each(|item| fill(item, empties)),
        Content::Mapping(fields) => fields.values_mut().for_each(|value| fill(value, empties)),
    }
}

fn as_text(node: &mut Node) {
    let text = match &node.content {
        Content::Scalar(serde_json::Value::String(_)) => return,
        Content::Scalar(serde_json::Value::Null) | Content::Sequence(_) | Content::Mapping(_) => {
            String::new()
        }
        Content::Scalar(value) => value.to_string(),
    };
    node.content = Content::Scalar(text.into());
}
