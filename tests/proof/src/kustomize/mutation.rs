//! One input says something else: exactly the values that name it as their supplier change.
//!
//! This needs nobody to say what a folder builds to. Kustomize builds it before and after; we say which values an input
//! supplies.

use std::collections::{BTreeMap, BTreeSet};

use manifests::kustomize::Render;
use manifests::kustomize::node::{Content, FileId, ImagePart, ImageParts, Node, Site, Supplier};
use serde_json::Value;

use super::archive::Files;

/// A value of a build: the position of its object, and the way to it as a JSON pointer.
pub type Leaf = (usize, String);

/// A change of one input.
#[derive(Debug, Clone)]
pub struct Mutation {
    /// What was changed, for people.
    pub title: String,
    /// The files with the change.
    pub files: Files,
    /// The values that name the input as their supplier.
    pub supplied: BTreeSet<Leaf>,
}

/// An input that can be changed without a value being found in another place afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Input {
    /// A scalar in a line of YAML.
    Scalar(Site),
    /// What is behind the equals sign of a literal or a line.
    Pair(Site),
    /// A whole file.
    Content(FileId),
}

/// Keys that tell elements apart, name objects, or decide what else is meant.
const IDENTIFYING: [&str; 15] = [
    "apiVersion",
    "kind",
    "name",
    "namespace",
    "containerPort",
    "port",
    "protocol",
    "mountPath",
    "ip",
    "topologyKey",
    "whenUnsatisfiable",
    "finalizers",
    "image",
    "volumeClaimTemplates",
    "devicePath",
];

/// Changes each input of a render that can be changed, one in each answer.
pub fn mutations(files: &Files, render: &Render) -> Vec<Mutation> {
    let mut suppliers: BTreeMap<Input, BTreeSet<Leaf>> = BTreeMap::new();
    let mut kept: BTreeSet<Input> = BTreeSet::new();
    for (index, object) in render.objects.iter().enumerate() {
        visit(&object.node, String::new(), &mut |pointer, supplier| {
            for input in inputs(supplier) {
                let leaf = (index, pointer.to_owned());
                suppliers.entry(input).or_default().insert(leaf);
                if is_identifying(pointer, supplier) {
                    kept.insert(input);
                }
            }
        });
    }
    suppliers.retain(|input, _| !kept.contains(input));
    let mutations = suppliers
        .into_iter()
        .filter_map(|(input, supplied)| mutation(files, render, input, supplied));
    mutations.collect()
}

fn mutation(
    files: &Files,
    render: &Render,
    input: Input,
    supplied: BTreeSet<Leaf>,
) -> Option<Mutation> {
    let file = match input {
        Input::Scalar(site) | Input::Pair(site) => site.file,
        Input::Content(file) => file,
    };
    let path = render.files.get(usize::try_from(file.0).ok()?)?.as_str();
    let content = files.get(path)?;
    let changed = match input {
        Input::Scalar(site) => with_other_scalar(content, usize::try_from(site.at).ok()?)?,
        Input::Pair(site) => {
            let at = usize::try_from(site.at).ok()?;
            let equals = content[at..].iter().position(|byte| *byte == b'=')?;
            let (before, behind) = content.split_at(at + equals + 1);
            [before, b"m", behind].concat()
        }
        Input::Content(_) => [content, b"m\n".as_slice()].concat(),
    };
    let mut files = files.clone();
    files.insert(path.to_owned(), changed);
    Some(Mutation {
        title: format!("{input:?} in {path}"),
        files,
        supplied,
    })
}

/// Returns the values in which two builds differ.
pub fn changed(before: &[Value], after: &[Value]) -> BTreeSet<Leaf> {
    let [before, after] = [before, after].map(leaves);
    let keys: BTreeSet<&Leaf> = before.keys().chain(after.keys()).collect();
    let differ = keys
        .into_iter()
        .filter(|leaf| before.get(*leaf) != after.get(*leaf));
    differ.cloned().collect()
}

fn leaves(objects: &[Value]) -> BTreeMap<Leaf, Value> {
    let mut found = BTreeMap::new();
    for (index, object) in objects.iter().enumerate() {
        gather(object, index, String::new(), &mut found);
    }
    found
}

fn gather(value: &Value, index: usize, pointer: String, found: &mut BTreeMap<Leaf, Value>) {
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                gather(item, index, format!("{pointer}/{at}"), found);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                gather(value, index, below(&pointer, key), found);
            }
        }
        scalar => {
            found.insert((index, pointer), scalar.clone());
        }
    }
}

fn visit(node: &Node, pointer: String, found: &mut impl FnMut(&str, &Supplier)) {
    match &node.content {
        Content::Scalar(_) => found(&pointer, &node.supplier),
        Content::Sequence(items) => {
            for (at, item) in items.iter().enumerate() {
                visit(item, format!("{pointer}/{at}"), found);
            }
        }
        Content::Mapping(fields) => {
            for (key, value) in fields {
                visit(value, below(&pointer, key), found);
            }
        }
    }
}

fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn inputs(supplier: &Supplier) -> Vec<Input> {
    match supplier {
        Supplier::Document(site)
        | Supplier::Patch(site)
        | Supplier::Replicas(site)
        | Supplier::Namespace(site)
        | Supplier::Label(site)
        | Supplier::Annotation(site)
        | Supplier::Entry(site) => vec![Input::Scalar(*site)],
        Supplier::Literal(site) | Supplier::EnvLine(site) => vec![Input::Pair(*site)],
        Supplier::Content(file) => vec![Input::Content(*file)],
        Supplier::Image(parts) => of_parts(parts),
        Supplier::Synthesised => Vec::new(),
    }
}

fn of_parts(parts: &ImageParts) -> Vec<Input> {
    let parts = [Some(&parts.name), parts.tag.as_ref(), parts.digest.as_ref()];
    let of_part = |part: &ImagePart| match part {
        ImagePart::Entry(site) => vec![Input::Scalar(*site)],
        ImagePart::Before(supplier) => inputs(supplier),
    };
    parts.into_iter().flatten().flat_map(of_part).collect()
}

/// Whether another value could make another object, another element or another entry meant.
fn is_identifying(pointer: &str, supplier: &Supplier) -> bool {
    match supplier {
        // What a transformer writes into such a field is written into all of them.
        Supplier::Namespace(_) => false,
        _ => pointer.split('/').any(|key| IDENTIFYING.contains(&key)),
    }
}

/// Writes another scalar of the same kind to where one starts.
fn with_other_scalar(content: &[u8], at: usize) -> Option<Vec<u8>> {
    let (before, from) = content.split_at_checked(at)?;
    let is_end = |byte: &u8| match from.first() {
        Some(quote @ (b'"' | b'\'')) => byte == quote,
        _ => b",]}#\n".contains(byte),
    };
    let is_quoted = matches!(from.first(), Some(b'"' | b'\''));
    let start = usize::from(is_quoted);
    let end = from[start..].iter().position(is_end)?;
    let (written, behind) = from.split_at(start + end);
    let other: &[u8] = match written {
        [b'"', ..] => b"\"mutant",
        [b'\'', ..] => b"'mutant",
        // The content of a block and of an alias stands elsewhere, and an entry may lack what it supplies.
        [b'|' | b'>' | b'*' | b'&' | b'!' | b'{' | b'[', ..] => return None,
        b"true" => b"false",
        [b'0'..=b'9', ..] => b"97531",
        b"null" | b"~" => return None,
        blank if blank.trim_ascii().is_empty() => return None,
        _ => b"mutant",
    };
    Some([before, other, behind].concat())
}
