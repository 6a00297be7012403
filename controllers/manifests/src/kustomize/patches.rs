//! `patches:`: which objects a patch is for (B3). What it makes of them is [`merge`]'s affair.

use std::borrow::Cow;
use std::collections::HashMap;

use model::{Actor, RepoPath};
use serde_json::Value;

use super::field_spec::node_at;
use super::graph::PatchFile;
use super::issue::{Feature, Issue, location};
use super::load::Loader;
use super::manifest::Manifest;
use super::merge::{GroupVersionKind, MergeError, Merged, Texts, merge};
use super::node::{Content, Node, Supplier};
use super::object::{Id, Object, Step, Way};
use super::pairs;
use super::parse::{Expression, Target};

/// Patches some objects, one file after the other.
pub(crate) fn patch(
    objects: Vec<Object>,
    patches: &[PatchFile],
    loader: &Loader<'_>,
) -> Result<Vec<Object>, Box<Issue>> {
    if patches.is_empty() {
        return Ok(objects);
    }
    let mut objects: Vec<Option<Object>> = objects.into_iter().map(Some).collect();
    let known = Known::of(&objects);
    for patch in patches {
        match &patch.target {
            Some(target) => with_target(&mut objects, patch, target, loader)?,
            None => by_identity(&mut objects, &known, patch, loader)?,
        }
    }
    Ok(objects.into_iter().flatten().collect())
}

/// The objects by everything that they were ever known by.
struct Known(HashMap<Id, Vec<usize>>);

impl Known {
    fn of(objects: &[Option<Object>]) -> Self {
        let mut known: HashMap<Id, Vec<usize>> = HashMap::with_capacity(objects.len());
        for (index, object) in objects.iter().enumerate() {
            let Some(object) = object else { continue };
            for id in object.previous.iter().cloned().chain([object.id()]) {
                let indexes = known.entry(id).or_default();
                if indexes.last() != Some(&index) {
                    indexes.push(index);
                }
            }
        }
        Self(known)
    }
}

/// Applies each patch of a file to the one object that it names.
fn by_identity(
    objects: &mut [Option<Object>],
    known: &Known,
    patch: &PatchFile,
    loader: &Loader<'_>,
) -> Result<(), Box<Issue>> {
    let mut has_deleted = false;
    for manifest in &patch.manifests.list {
        if has_deleted {
            return Err(refused(
                &patch.path,
                manifest.line,
                "a patch follows one that takes an object away, which crashes some releases of kustomize",
                "give each patch a file of its own",
            ));
        }
        let id = Id::of(&manifest.node);
        let named = known.0.get(&id).map_or(&[][..], Vec::as_slice);
        let mut present = named.iter().filter(|index| objects[**index].is_some());
        let (Some(index), None) = (present.next(), present.next()) else {
            let title = format!("{} {}", id.kind, id.name);
            return Err(refused(
                &patch.path,
                manifest.line,
                &format!(
                    "the patch is for {title} in {:?}, which is not one object",
                    id.namespace.as_str()
                ),
                "name the object as it is before this kustomization changes its namespace, or take the patch out",
            ));
        };
        apply(
            &mut objects[*index],
            patch,
            manifest,
            &manifest.node,
            loader,
        )?;
        has_deleted = objects[*index].is_none();
    }
    Ok(())
}

/// Applies the one patch of a file to every object that its target selects.
fn with_target(
    objects: &mut [Option<Object>],
    patch: &PatchFile,
    target: &Target,
    loader: &Loader<'_>,
) -> Result<(), Box<Issue>> {
    let manifest = match patch.manifests.list.as_slice() {
        [manifest] => manifest,
        [] => return Ok(()),
        [_, second, ..] => {
            return Err(refused(
                &patch.path,
                second.line,
                "the file holds several patches, and kustomize takes only one with a target",
                "give each patch a file of its own",
            ));
        }
    };
    let texts = as_texts(&manifest.node, loader);
    for slot in objects {
        if slot.as_ref().is_some_and(|object| target.selects(object)) {
            // Such a patch is read as one of the version that it lies over, whatever its own.
            apply(slot, patch, manifest, &of_version(&texts, slot), loader)?;
        }
    }
    Ok(())
}

/// Returns a patch in the version of an object.
fn of_version<'p>(patch: &'p Node, object: &Option<Object>) -> Cow<'p, Node> {
    let of = |node: &Node| node.get("apiVersion").map(Node::to_value);
    let Some(version) = object.as_ref().and_then(|it| it.node.get("apiVersion")) else {
        return Cow::Borrowed(patch);
    };
    if of(patch) == Some(version.to_value()) {
        return Cow::Borrowed(patch);
    }
    let mut patch = patch.clone();
    if let Some(fields) = patch.fields_mut() {
        fields.insert("apiVersion".to_owned(), version.clone());
    }
    Cow::Owned(patch)
}

impl Target {
    fn selects(&self, object: &Object) -> bool {
        let is_match = |expression: &Option<Expression>, text: &str| {
            expression
                .as_ref()
                .is_none_or(|expression| expression.is_match(text))
        };
        let (group, version) = object.group_version();
        let (name, home) = (object.name(), object.home());
        let first = object.previous.first();
        let (first_name, first_home) = first.map_or((name, home), |first| {
            (first.name.as_str(), first.namespace.as_str())
        });
        let pairs = |key: &str| object.metadata(key).and_then(Node::fields);
        is_match(&self.kind, object.kind())
            && is_match(&self.group, group)
            && is_match(&self.version, version)
            && (is_match(&self.name, first_name) || is_match(&self.name, name))
            && (is_match(&self.namespace, first_home) || is_match(&self.namespace, home))
            && self.labels.is_match(pairs("labels"))
            && self.annotations.is_match(pairs("annotations"))
    }
}

/// Merges a patch into an object, and takes it away where the patch says so.
fn apply(
    slot: &mut Option<Object>,
    patch: &PatchFile,
    manifest: &Manifest,
    node: &Node,
    loader: &Loader<'_>,
) -> Result<(), Box<Issue>> {
    let Some(object) = slot else { return Ok(()) };
    let id = object.id();
    let kind = GroupVersionKind {
        group: id.group,
        version: id.version,
        kind: id.kind,
    };
    let before = tied(object);
    match merge(&mut object.node, node, &kind, loader) {
        Ok(Merged::Kept) => {
            restore(object, before);
            Ok(())
        }
        Ok(Merged::Deleted) => {
            *slot = None;
            Ok(())
        }
        Err(error) => Err(not_merged(patch, manifest, &error, loader).into()),
    }
}

/// A place of an object that changes together with others.
struct Tied {
    way: Way,
    /// What supplied each mapping and list on the way. A merge keeps that, also of a list element that it moves, so that
    /// it tells whether what stands there later is still the same.
    suppliers: Vec<Supplier>,
    node: Node,
}

/// Returns the places of an object that change together.
fn tied(object: &mut Object) -> Vec<Tied> {
    let mut ways: Vec<Way> = object.ties.iter().flatten().cloned().collect();
    ways.sort();
    let places = ways.into_iter().filter_map(|way| {
        let mut suppliers = Vec::new();
        let mut node = &object.node;
        for step in &way {
            suppliers.push(node.supplier.clone());
            node = match step {
                Step::Key(key) => node.get(key)?,
                Step::Item(at) => node.items()?.get(*at)?,
            };
        }
        let node = node.clone();
        Some(Tied {
            way,
            suppliers,
            node,
        })
    });
    places.collect()
}

impl Tied {
    /// Returns the way to the place in the merged object, unless the patch put something else there.
    fn moved(&self, merged: &Node) -> Option<Way> {
        let mut node = merged;
        let mut way = Way::new();
        for (index, step) in self.way.iter().enumerate() {
            if node.supplier != self.suppliers[index] {
                return None;
            }
            if let Step::Key(key) = step {
                node = node.get(key)?;
                way.push(step.clone());
            } else {
                let (items, element) = (node.items()?, self.suppliers.get(index + 1)?);
                let at = items.iter().position(|item| item.supplier == *element)?;
                node = &items[at];
                way.push(Step::Item(at));
            }
        }
        Some(way)
    }
}

/// Lets what is tied together follow the last change.
fn restore(object: &mut Object, before: Vec<Tied>) {
    for tie in &mut object.ties {
        let moved = |way: &Way| {
            let place = before.iter().find(|place| place.way == *way)?;
            place.moved(&object.node)
        };
        *tie = tie.iter().filter_map(moved).collect();
    }
    let mut changed = Vec::new();
    for place in before {
        let Some(way) = place.moved(&object.node) else {
            continue;
        };
        match node_at(&mut object.node, &way) {
            Some(now) if *now != place.node => changed.push((now.clone(), way)),
            Some(_) | None => {}
        }
    }
    for (value, way) in changed {
        if let Some(node) = node_at(&mut object.node, &way) {
            *node = value;
        }
        pairs::follow(object, &way);
    }
}

/// Makes labels and annotations of a patch texts, as kustomize does with one that has a target: a null takes nothing
/// away then.
fn as_texts(patch: &Node, loader: &Loader<'_>) -> Node {
    let mut patch = patch.clone();
    for key in ["labels", "annotations"] {
        let Some(metadata) = patch.get_mut("metadata").and_then(Node::fields_mut) else {
            break;
        };
        let Some(pairs) = metadata.get_mut(key).and_then(Node::fields_mut) else {
            metadata.remove(key);
            continue;
        };
        for node in pairs.values_mut() {
            let text = match &node.content {
                Content::Scalar(Value::String(_)) => continue,
                Content::Scalar(_) => written(node, loader),
                Content::Sequence(_) | Content::Mapping(_) => String::new(),
            };
            node.content = Content::Scalar(Value::String(text));
        }
        if pairs.is_empty() {
            metadata.remove(key);
        }
    }
    patch
}

/// Returns a plain scalar of a patch as it is written.
fn written(node: &Node, loader: &Loader<'_>) -> String {
    let Supplier::Patch(site) = node.supplier else {
        return node.to_value().to_string();
    };
    let text = loader.text_from(site);
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b",]}".contains(byte);
    let end = text.iter().position(ends).unwrap_or(text.len());
    String::from_utf8_lossy(&text[..end]).into_owned()
}

fn not_merged(
    patch: &PatchFile,
    manifest: &Manifest,
    error: &MergeError,
    loader: &Loader<'_>,
) -> Issue {
    let site = error.site.filter(|site| site.file == patch.file);
    let line = site.map_or(manifest.line, |site| loader.line_of(site));
    let field = (!error.path.is_empty()).then(|| error.path.clone());
    let message = format!("the patch cannot be merged: {}", error.problem);
    Issue::of_author(
        Feature::RenderFailed,
        location(&patch.path, line, field),
        message,
        "correct the patch",
    )
}

fn refused(path: &RepoPath, line: u32, message: &str, remedy: &str) -> Box<Issue> {
    let at = location(path, line, None);
    Issue::of_author(Feature::RenderFailed, at, message, remedy).into()
}

/// Reports a patch that is a list of operations.
pub(crate) fn json6902(path: &RepoPath) -> Issue {
    Issue {
        actor: Actor::Nobody,
        ..Issue::of_author(
            Feature::PatchesJson6902,
            location(path, 1, None),
            "a patch that is a list of operations is not understood yet",
            "write it as a part of the object that it changes",
        )
    }
}
