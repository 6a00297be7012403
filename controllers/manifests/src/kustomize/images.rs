//! `images:`.

use std::sync::Arc;

use serde_json::Value;

use super::field_spec::{FieldSpec, Make, WrongShape, node_at};
use super::image_reference::ImageReference;
use super::node::{Content, FileId, ImagePart, ImageParts, Node, Site, Supplier};
use super::object::{Object, Step, Trail, Way};
use super::parse::{ImageEntry, Located};
use super::scalar::resolve;
use crate::yaml::Meaning;

/// The lists that hold containers, wherever in an object they are.
const LISTS: [&str; 2] = ["containers", "initContainers"];

/// Where else kustomize 5.8.1 looks, in objects of every kind.
const FIELDS: [&str; 6] = [
    "spec/containers[]/image",
    "spec/initContainers[]/image",
    "spec/volumes[]/image/reference",
    "spec/template/spec/containers[]/image",
    "spec/template/spec/initContainers[]/image",
    "spec/template/spec/volumes[]/image/reference",
];

/// Writes what the entries say into every reference of an object that they match.
pub(crate) fn rename(
    object: &mut Object,
    entries: &[ImageEntry],
    file: FileId,
) -> Result<(), WrongShape> {
    if entries.is_empty() || object.kind() == "CustomResourceDefinition" {
        return Ok(());
    }
    // A place that both rules find is written twice, which shows where the new name has a tag of its own.
    let mut places = Vec::new();
    containers(&object.node, Trail::Start, &mut places)?;
    let mut visit = |node: &mut Node, trail: Trail<'_>| {
        check_scalar(node, trail)?;
        places.push(trail.way());
        Ok(())
    };
    for path in FIELDS {
        let field = FieldSpec {
            group: "",
            version: "",
            kind: "",
            path,
            create: false,
        };
        field.walk(&mut object.node, &Make::Nothing, &mut visit)?;
    }
    for entry in entries {
        for place in &places {
            if let Some(node) = node_at(&mut object.node, place) {
                apply(node, place, entry, file)?;
            }
        }
    }
    Ok(())
}

/// Says whether entries reach a value, by the keys on the way to it; items of lists are `[]`.
pub(crate) fn is_place(way: &[&str]) -> bool {
    let in_list = match way {
        [.., list, "[]", "image"] => LISTS.contains(list),
        _ => false,
    };
    let is_field = |field: &&str| {
        let keys = field
            .split('/')
            .flat_map(|key| match key.strip_suffix("[]") {
                Some(list) => vec![list, "[]"],
                None => vec![key],
            });
        keys.eq(way.iter().copied())
    };
    in_list || FIELDS.iter().any(is_field)
}

/// Collects the references in lists of containers.
fn containers(node: &Node, trail: Trail<'_>, places: &mut Vec<Way>) -> Result<(), WrongShape> {
    match &node.content {
        Content::Scalar(_) => Ok(()),
        Content::Sequence(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(at, item)| containers(item, Trail::Item(&trail, at), places)),
        Content::Mapping(fields) => fields.iter().try_for_each(|(key, value)| {
            let trail = Trail::Key(&trail, key);
            containers(value, trail, places)?;
            let items = match LISTS.contains(&key.as_str()) {
                true => value.items().unwrap_or_default(),
                false => &[],
            };
            let mut items = items.iter().enumerate();
            items.try_for_each(|(at, item)| container(item, Trail::Item(&trail, at), places))
        }),
    }
}

fn container(item: &Node, trail: Trail<'_>, places: &mut Vec<Way>) -> Result<(), WrongShape> {
    if item.is_null() {
        return Ok(());
    }
    let Some(fields) = item.fields() else {
        return Err(WrongShape::at(trail, "a mapping"));
    };
    if let Some(image) = fields.get("image") {
        let trail = Trail::Key(&trail, "image");
        check_scalar(image, trail)?;
        places.push(trail.way());
    }
    Ok(())
}

fn check_scalar(node: &Node, trail: Trail<'_>) -> Result<(), WrongShape> {
    match node.content {
        Content::Scalar(_) => Ok(()),
        Content::Sequence(_) | Content::Mapping(_) => Err(WrongShape::at(trail, "a text")),
    }
}

fn apply(
    node: &mut Node,
    way: &[Step],
    entry: &ImageEntry,
    file: FileId,
) -> Result<(), WrongShape> {
    let Some(text) = node.as_str().filter(|text| entry.matches.is_match(text)) else {
        return Ok(());
    };
    let mut reference = ImageReference::read(text);
    let mut parts = parts(&node.supplier, &reference);
    if let Some(name) = &entry.new_name {
        reference.name.clone_from(&name.value);
        parts.name = part(name, file);
    }
    // A new tag takes a digest away, and the other way round.
    if entry.new_tag.is_some() || entry.digest.is_some() {
        let text = |part: &Option<Located<String>>| part.as_ref().map(|part| part.value.clone());
        reference.tag = text(&entry.new_tag);
        reference.digest = text(&entry.digest);
        parts.tag = entry.new_tag.as_ref().map(|tag| part(tag, file));
        parts.digest = entry.digest.as_ref().map(|digest| part(digest, file));
    }
    let text = reference.write();
    if resolve(&text) != Meaning::Text {
        return Err(WrongShape::of(
            way,
            "a text that is read as one without quotes",
        ));
    }
    node.content = Content::Scalar(Value::String(text));
    if entry.new_name.is_some() || entry.new_tag.is_some() || entry.digest.is_some() {
        node.supplier = Supplier::Image(Arc::new(parts));
    }
    Ok(())
}

fn part(text: &Located<String>, file: FileId) -> ImagePart {
    ImagePart::Entry(Site { file, at: text.at })
}

/// Returns who supplied the parts of a reference so far.
fn parts(supplier: &Supplier, reference: &ImageReference) -> ImageParts {
    if let Supplier::Image(parts) = supplier {
        return ImageParts::clone(parts);
    }
    let before = || ImagePart::Before(Box::new(supplier.clone()));
    ImageParts {
        name: before(),
        tag: reference.tag.as_ref().map(|_| before()),
        digest: reference.digest.as_ref().map(|_| before()),
    }
}
