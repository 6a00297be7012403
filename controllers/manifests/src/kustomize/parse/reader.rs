//! Typed reading of one YAML document, with the place of every mistake.

use std::collections::HashMap;

use model::{Actor, Location, RepoPath};
use serde_json::Value;

use super::{Located, Pairs};
use crate::kustomize::issue::{Feature, Issue, location};
use crate::kustomize::lines::{LineIndex, offset};
use crate::yaml::{Entry, Kind, Node};

/// Reads the fields of a document and keeps what is wrong with them.
pub(super) struct Reader<'a> {
    pub(super) path: &'a RepoPath,
    pub(super) issues: Vec<Issue>,
    lines: LineIndex,
    /// The bytes before the text that positions count in.
    before: usize,
    anchors: HashMap<&'a str, &'a Node>,
}

/// A field of a mapping.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    /// The way to it, for people.
    pub(super) way: String,
    pub(super) value: &'a Node,
    /// Where the value is asked for: an alias of it, or the value itself.
    pub(super) place: &'a Node,
}

impl<'a> Reader<'a> {
    pub(super) fn new(path: &'a RepoPath, body: &str, before: usize, root: &'a Node) -> Self {
        let mut anchors = HashMap::new();
        let twice = collect_anchors(root, &mut anchors);
        let mut reader = Self {
            path,
            issues: Vec::new(),
            lines: LineIndex::new(body),
            before,
            anchors,
        };
        if let Some(twice) = twice {
            reader.report(
                Feature::Unparseable,
                twice,
                "",
                "an anchor has the name of another one",
                "give each anchor a name of its own",
            );
        }
        reader
    }

    /// Reports something that whoever edits the file can settle.
    pub(super) fn report(
        &mut self,
        feature: Feature,
        node: &Node,
        way: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let at = self.location(node, way);
        self.issues
            .push(Issue::of_author(feature, at, message, remedy));
    }

    pub(super) fn location(&self, node: &Node, way: &str) -> Location {
        let field = (!way.is_empty()).then(|| way.to_owned());
        location(self.path, self.line(node), field)
    }

    pub(super) fn line(&self, node: &Node) -> u32 {
        self.lines.line_of(offset(node.start))
    }

    pub(super) fn at(&self, node: &Node) -> u32 {
        offset(self.before + node.start)
    }

    pub(super) fn located<T>(&self, node: &Node, value: T) -> Located<T> {
        Located {
            value,
            at: self.at(node),
            line: self.line(node),
        }
    }

    /// Returns what an alias stands for, or the node itself.
    pub(super) fn resolve(&self, node: &'a Node) -> &'a Node {
        match &node.kind {
            Kind::Alias { name, .. } => self.anchors.get(name.as_str()).copied().unwrap_or(node),
            _ => node,
        }
    }

    fn wrong_type(&mut self, feature: Feature, node: &Node, way: &str, wanted: &str) {
        let message = match way {
            "" => format!("the file is not {wanted}"),
            way => format!("{way} is not {wanted}"),
        };
        let remedy = format!("write {wanted}{}", quotes_help(node, wanted));
        self.report(feature, node, way, message, remedy);
    }

    /// Returns the fields of a mapping; nothing where it is null or no mapping.
    pub(super) fn fields(&mut self, feature: Feature, node: &'a Node, way: &str) -> Vec<Field<'a>> {
        let entries: &[Entry] = match &node.kind {
            Kind::Mapping { entries, .. } => entries,
            _ if is_null(node) => &[],
            _ => {
                self.wrong_type(feature, node, way, "a mapping");
                &[]
            }
        };
        if let Some(merge) = entries.iter().find(|entry| entry.merge) {
            self.report(
                feature,
                &merge.key,
                way,
                "a merge key stands in the kustomization",
                "write its fields out",
            );
        }
        let entries = entries.iter().filter(|entry| !entry.merge);
        entries
            .map(|entry| Field {
                name: entry.name(),
                way: match way {
                    "" => entry.name().to_owned(),
                    way => format!("{way}.{}", entry.name()),
                },
                value: self.resolve(&entry.value),
                place: &entry.value,
            })
            .collect()
    }

    /// Returns the items of a list; nothing where it is null or no list.
    pub(super) fn items(&mut self, feature: Feature, field: &Field<'a>) -> Vec<Field<'a>> {
        let items: &[Node] = match &field.value.kind {
            Kind::Sequence { items, .. } => items,
            _ if is_null(field.value) => &[],
            _ => {
                self.wrong_type(feature, field.value, &field.way, "a list");
                &[]
            }
        };
        let items = items.iter().enumerate();
        items
            .map(|(index, item)| Field {
                name: field.name,
                way: format!("{}[{index}]", field.way),
                value: self.resolve(item),
                place: item,
            })
            .collect()
    }

    /// Returns a text; nothing where it is null or no text.
    pub(super) fn text(&mut self, feature: Feature, field: &Field<'a>) -> Option<Located<String>> {
        match as_text(field.value) {
            Some(text) => Some(self.located(field.place, text.to_owned())),
            None => {
                if !is_null(field.value) {
                    self.wrong_type(feature, field.value, &field.way, "a text");
                }
                None
            }
        }
    }

    /// Returns a text that is not empty.
    pub(super) fn word(&mut self, feature: Feature, field: &Field<'a>) -> Option<Located<String>> {
        self.text(feature, field)
            .filter(|text| !text.value.is_empty())
    }

    /// Returns a list of texts.
    pub(super) fn texts(&mut self, field: &Field<'a>) -> Vec<Located<String>> {
        let items = self.items(Feature::Unparseable, field);
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match self.text(Feature::Unparseable, &item) {
                Some(text) => texts.push(text),
                None if is_null(item.value) => {
                    self.wrong_type(Feature::Unparseable, item.value, &item.way, "a text");
                }
                None => {}
            }
        }
        texts
    }

    /// Returns a switch; off where it is null or no boolean.
    pub(super) fn flag(&mut self, field: &Field<'a>) -> bool {
        match &field.value.kind {
            Kind::Scalar {
                value: Some(Value::Bool(flag)),
                ..
            } => *flag,
            _ => {
                if !is_null(field.value) {
                    self.wrong_type(Feature::Unparseable, field.value, &field.way, "a boolean");
                }
                false
            }
        }
    }

    /// Returns keys with texts.
    pub(super) fn pairs(&mut self, field: &Field<'a>) -> Pairs {
        let fields = self.fields(Feature::Unparseable, field.value, &field.way);
        let mut pairs = Vec::with_capacity(fields.len());
        for field in fields {
            if is_null(field.value) {
                self.wrong_type(Feature::Unparseable, field.value, &field.way, "a text");
            } else if let Some(text) = self.text(Feature::Unparseable, &field) {
                pairs.push((field.name.to_owned(), text));
            }
        }
        pairs
    }

    /// Reports a field that kustomize knows and nobody here does.
    pub(super) fn not_modelled(&mut self, field: &Field<'a>, key: &'static str) {
        let at = self.location(field.value, &field.way);
        self.issues.push(Issue {
            actor: Actor::Nobody,
            ..Issue::of_author(
                Feature::Field(key),
                at,
                format!("{key} is not understood yet"),
                format!("take {} out", field.way),
            )
        });
    }

    /// Reports a field that kustomize does not know.
    pub(super) fn unknown(&mut self, feature: Feature, field: &Field<'a>) {
        self.report(
            feature,
            field.value,
            &field.way,
            format!("kustomize knows no field {}", field.way),
            "correct the name, or take the field out",
        );
    }
}

/// Says how a text is kept from being read as something else.
fn quotes_help(node: &Node, wanted: &str) -> &'static str {
    match &node.kind {
        Kind::Scalar { value: Some(_), .. } if wanted == "a text" => {
            ": put the value between quotes"
        }
        _ => "",
    }
}

pub(super) fn is_null(node: &Node) -> bool {
    matches!(
        node.kind,
        Kind::Scalar {
            value: Some(Value::Null),
            ..
        }
    )
}

/// Returns the text of a scalar that is one.
pub(super) fn as_text(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::Scalar {
            text, value: None, ..
        } => Some(text),
        Kind::Scalar {
            value: Some(Value::String(text)),
            ..
        } => Some(text),
        _ => None,
    }
}

/// Collects the anchored nodes, and returns one whose anchor has a name that another one has.
fn collect_anchors<'a>(
    node: &'a Node,
    anchors: &mut HashMap<&'a str, &'a Node>,
) -> Option<&'a Node> {
    let mut twice = None;
    if let Some(anchor) = &node.anchor
        && anchors.insert(anchor, node).is_some()
    {
        twice = Some(node);
    }
    let below: Vec<&Node> = match &node.kind {
        Kind::Scalar { .. } | Kind::Alias { .. } => Vec::new(),
        Kind::Sequence { items, .. } => items.iter().collect(),
        Kind::Mapping { entries, .. } => entries.iter().map(|entry| &entry.value).collect(),
    };
    for node in below {
        twice = collect_anchors(node, anchors).or(twice);
    }
    twice
}
