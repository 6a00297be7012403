//! Manifests as kustomize reads them: YAML or JSON, aliases and merge keys written out, lists of objects taken
//! apart, every value with its place.
//!
//! What kustomize reads otherwise than a person would expect (a document it drops in silence, a key that becomes
//! another one) is refused instead.

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::Value;

use super::folded::refold;
use super::lines::{LineIndex, offset};
use super::manifest::{Manifests, Unreadable, take_apart, whole};
use super::node::{Content, FileId, Node, Site, Supplier};
use super::scalar::{Moment, moment, resolve};
use crate::yaml::{self, Document, Entry, Kind, Meaning, Style};

/// What the documents are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// They are objects.
    Objects,
    /// They are patches, in which null takes something away.
    Patches,
}

/// Reads the objects of a file.
pub(crate) fn manifests(
    bytes: &[u8],
    file: FileId,
    purpose: Purpose,
) -> Result<Manifests, Unreadable> {
    let text = std::str::from_utf8(bytes).map_err(|_| whole("the file is not UTF-8"))?;
    let composed = yaml::compose(text).map_err(|error| Unreadable {
        line: error.line,
        field: None,
        message: format!("the file does not parse: {}", error.problem),
        is_operations: false,
    })?;
    let mut reader = Reader {
        text: &composed.body,
        lines: LineIndex::new(&composed.body),
        before: composed.before,
        file,
        purpose,
        rewrites: false,
        open: 0,
        anchors: HashMap::new(),
        empties: Vec::new(),
    };
    let mut found = VecDeque::new();
    let is_alone = composed.documents.len() == 1;
    for (index, document) in composed.documents.into_iter().enumerate() {
        reader.check_marker(index, &document)?;
        reader.anchors.clear();
        reader.rewrites = is_rewritten(&document, is_alone);
        let line = reader.line(document.root.start);
        let node = reader.value(document.root, Place::Object)?;
        found.push_back((offset(index), line, node));
    }
    Ok(Manifests {
        list: take_apart(found)?,
        empties: reader.empties,
    })
}

/// Says whether kustomize writes a document as JSON and reads it again before it uses it: it does so with a list of
/// objects, but for a plain one that has a file of its own.
fn is_rewritten(document: &Document, is_alone: bool) -> bool {
    let Kind::Mapping { entries, .. } = &document.root.kind else {
        return false;
    };
    let kind = entries.iter().find(|entry| entry.name() == "kind");
    let kind = kind.and_then(|entry| match &entry.value.kind {
        Kind::Scalar { text, .. } => Some(text.as_str()),
        Kind::Mapping { .. } | Kind::Sequence { .. } | Kind::Alias { .. } => None,
    });
    let is_list = kind.is_some_and(|kind| kind.ends_with("List"))
        && entries.iter().any(|entry| entry.name() == "items");
    is_list && !(is_alone && matches!(kind, Some("List" | "ResourceList")))
}

/// Where in an object a value stands, as far as it is read otherwise there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is an object.
    Object,
    /// It is the items of a list of objects.
    Items,
    Metadata,
    Annotations,
    /// It is the value of an annotation, which is always a text.
    Annotation,
    Elsewhere,
}

impl Place {
    fn below(self, key: &str, is_list: bool) -> Self {
        match (self, key) {
            (Self::Object, "metadata") => Self::Metadata,
            (Self::Object, "items") if is_list => Self::Items,
            (Self::Metadata, "annotations") => Self::Annotations,
            (Self::Annotations, _) => Self::Annotation,
            _ => Self::Elsewhere,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    lines: LineIndex,
    before: usize,
    file: FileId,
    purpose: Purpose,
    /// Whether what is read now is written as JSON in between, so that no style of YAML is left.
    rewrites: bool,
    /// How many braces and brackets are open.
    open: usize,
    anchors: HashMap<String, Node>,
    empties: Vec<Site>,
}

impl Reader<'_> {
    fn line(&self, at: usize) -> u32 {
        self.lines.line_of(offset(at))
    }

    fn error(&self, at: usize, message: impl Into<String>) -> Unreadable {
        Unreadable {
            line: self.line(at),
            field: None,
            message: message.into(),
            is_operations: false,
        }
    }

    fn site(&self, at: usize) -> Site {
        Site {
            file: self.file,
            at: offset(self.before + at),
        }
    }

    fn supplier(&self, at: usize) -> Supplier {
        let site = self.site(at);
        match self.purpose {
            Purpose::Objects => Supplier::Document(site),
            Purpose::Patches => Supplier::Patch(site),
        }
    }

    /// Refuses separators that kustomize reads in another way.
    fn check_marker(&self, index: usize, document: &Document) -> Result<(), Unreadable> {
        let at = document.root.start;
        let Some(marker) = &document.marker else {
            return match index {
                0 => Ok(()),
                _ => Err(self.error(at, "a document without a separator, which kustomize drops")),
            };
        };
        if self.text[marker.clone()].starts_with('%') {
            return Err(self.error(marker.start, "a directive, which kustomize does not read"));
        }
        let rest = self.text[marker.end..].lines().next().unwrap_or_default();
        let rest = rest.trim();
        if index > 0 && !rest.is_empty() && !rest.starts_with('#') {
            return Err(self.error(marker.start, "content in the line of a separator"));
        }
        Ok(())
    }

    fn value(&mut self, node: yaml::Node, place: Place) -> Result<Node, Unreadable> {
        let at = node.start;
        let supplier = self.supplier(at);
        let anchor = node.anchor;
        let tag = match &node.properties {
            Some(properties) if node.tagged => Tag::read(&self.text[properties.clone()])
                .ok_or_else(|| self.error(at, "a tag that is not one of YAML's own"))?,
            _ => Tag::None,
        };
        let content = match node.kind {
            Kind::Alias { name, .. } => {
                return match self.anchors.get(&name) {
                    Some(node) => Ok(in_place(node.clone(), place)),
                    None => Err(self.error(at, "an alias has no finished anchor before it")),
                };
            }
            Kind::Scalar { style, text, .. } => self.scalar(style, text, tag, place, at)?,
            Kind::Sequence { items, flow } => {
                self.open += usize::from(flow);
                let place = match place {
                    Place::Items => Place::Object,
                    _ => Place::Elsewhere,
                };
                let items = items.into_iter().map(|item| self.value(item, place));
                let items = items.collect::<Result<_, _>>()?;
                self.open -= usize::from(flow);
                Content::Sequence(items)
            }
            Kind::Mapping { entries, flow } => {
                if flow && !self.rewrites {
                    self.note_empties(&entries);
                }
                self.open += usize::from(flow);
                let fields = self.mapping(entries, place)?;
                self.open -= usize::from(flow);
                fields
            }
        };
        let node = in_place(Node { supplier, content }, place);
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    /// Notes the values that are written as nothing.
    fn note_empties(&mut self, entries: &[Entry]) {
        for entry in entries {
            if entry.value.is_missing() && !entry.value.tagged {
                self.empties.push(self.site(entry.value.start));
            }
        }
    }

    fn scalar(
        &self,
        style: Style,
        text: String,
        tag: Tag,
        place: Place,
        at: usize,
    ) -> Result<Content, Unreadable> {
        if style.is_block() && text.starts_with('\t') {
            return Err(self.error(
                at,
                "a block of text that begins with a tab: put it in quotes",
            ));
        }
        let plain = style == Style::Plain && tag == Tag::None;
        let is_null = plain && resolve(&text) == Meaning::Value(Value::Null);
        let stays_null = is_null && (self.purpose == Purpose::Patches || text.is_empty());
        if place == Place::Annotation && !stays_null && !self.rewrites {
            return Ok(Content::Scalar(Value::String(text)));
        }
        let meaning = match tag {
            // Between braces or brackets kustomize writes what has a colon in quotes, also a time of day.
            Tag::None if plain && self.open > 0 && !self.rewrites && text.contains(':') => {
                Meaning::Text
            }
            Tag::None if plain => resolve(&text),
            Tag::None | Tag::Text => Meaning::Text,
            Tag::Moment => match moment(&text) {
                Some(Moment::Written(moment)) => Meaning::Value(Value::String(moment)),
                Some(Moment::Unwritable) | None => Meaning::NotJson,
            },
            Tag::Typed(fits) => match resolve(&text) {
                Meaning::Value(value) if fits(&value) => Meaning::Value(value),
                _ => return Err(self.error(at, "a value that does not fit its tag")),
            },
        };
        match meaning {
            Meaning::Text if style == Style::Folded && !self.rewrites => {
                Ok(Content::Scalar(Value::String(refold(text))))
            }
            Meaning::Text => Ok(Content::Scalar(Value::String(text))),
            Meaning::Value(value) => Ok(Content::Scalar(value)),
            Meaning::NotJson => Err(self.error(at, "a value that no manifest can hold")),
        }
    }

    fn mapping(&mut self, entries: Vec<Entry>, place: Place) -> Result<Content, Unreadable> {
        let text_of = |entry: &Entry| match &entry.value.kind {
            Kind::Scalar { text, .. } if entry.name() == "kind" => Some(text.ends_with("List")),
            _ => None,
        };
        let is_list = entries.iter().find_map(text_of).unwrap_or(false);
        let mut fields = BTreeMap::new();
        let mut merged = None;
        for entry in entries {
            let at = entry.key.start;
            if entry.merge {
                let value = self.value(entry.value, place)?;
                if self.brings_nothing(&value) {
                    let message = "a merge key that brings a value written as nothing";
                    return Err(self.error(at, message));
                }
                if merged.replace((at, value)).is_some() {
                    return Err(self.error(at, "a second merge key"));
                }
                continue;
            }
            let key = self.key(entry.key)?;
            let value = self.value(entry.value, place.below(&key, is_list))?;
            match fields.entry(key) {
                Slot::Vacant(slot) => slot.insert(value),
                Slot::Occupied(slot) => {
                    let message = format!("the key {:?} stands twice in one mapping", slot.key());
                    return Err(self.error(at, message));
                }
            };
        }
        if let Some((at, merged)) = merged {
            let merged = merge_into(&mut fields, merged);
            merged.ok_or_else(|| self.error(at, "a merge key whose value is no mapping"))?;
        }
        Ok(Content::Mapping(fields))
    }

    /// Says whether a merged mapping has a value that is written as nothing between braces: what that means depends
    /// on where it comes to stand.
    fn brings_nothing(&self, merged: &Node) -> bool {
        let mut values = merged.fields().into_iter().flat_map(BTreeMap::values);
        values.any(|value| match value.supplier {
            Supplier::Document(site) | Supplier::Patch(site) => self.empties.contains(&site),
            _ => false,
        })
    }

    fn key(&self, key: yaml::Node) -> Result<String, Unreadable> {
        let at = key.start;
        match key.kind {
            Kind::Scalar { style, text, .. } => {
                let is_text =
                    style != Style::Plain || key.tagged || resolve(&text) == Meaning::Text;
                if is_text && text != "<<" {
                    Ok(text)
                } else {
                    Err(self.error(at, format!("the key {text:?} is no text: put it in quotes")))
                }
            }
            Kind::Mapping { .. } | Kind::Sequence { .. } | Kind::Alias { .. } => {
                Err(self.error(at, "a key is not a scalar"))
            }
        }
    }
}

/// Makes a value what it is where it stands: the value of an annotation is a text.
fn in_place(mut node: Node, place: Place) -> Node {
    if place == Place::Annotation {
        let text = match &node.content {
            Content::Scalar(Value::Null | Value::String(_)) => return node,
            Content::Scalar(value) => value.to_string(),
            Content::Sequence(_) | Content::Mapping(_) => String::new(),
        };
        node.content = Content::Scalar(Value::String(text));
    }
    node
}

/// Adds what a merge key brings; what is there already wins, and so does what comes first. Returns `None` where
/// that is no mapping.
fn merge_into(fields: &mut BTreeMap<String, Node>, merged: Node) -> Option<()> {
    match merged.content {
        Content::Mapping(merged) => {
            for (key, value) in merged {
                fields.entry(key).or_insert(value);
            }
            Some(())
        }
        Content::Sequence(list) => list
            .into_iter()
            .try_for_each(|merged| match merged.content {
                Content::Mapping(_) => merge_into(fields, merged),
                Content::Scalar(_) | Content::Sequence(_) => None,
            }),
        Content::Scalar(_) => None,
    }
}

/// A tag of YAML's own, as far as values go.
#[derive(Debug, Clone, Copy)]
enum Tag {
    None,
    Text,
    Moment,
    /// The value has to be one of these.
    Typed(fn(&Value) -> bool),
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::None, Self::None) | (Self::Text, Self::Text) | (Self::Moment, Self::Moment)
        )
    }
}

impl Tag {
    fn read(properties: &str) -> Option<Self> {
        let tag = properties
            .split_whitespace()
            .find(|word| word.starts_with('!'))?;
        let name = match tag.strip_prefix("!!") {
            Some(name) => name,
            None => tag
                .strip_prefix("!<tag:yaml.org,2002:")?
                .strip_suffix('>')?,
        };
        Some(match name {
            "map" | "seq" => Self::None,
            "str" => Self::Text,
            "timestamp" => Self::Moment,
            "int" => Self::Typed(|value| value.is_i64() || value.is_u64()),
            "float" => Self::Typed(Value::is_number),
            "bool" => Self::Typed(Value::is_boolean),
            "null" => Self::Typed(Value::is_null),
            _ => return None,
        })
    }
}
