//! Where values stand in texts: the way back from a place to what is written there.

use std::collections::BTreeMap;

use super::delta::Steps;
use crate::kustomize::node::{Content, FileId, Node, Site, Supplier};
use crate::yaml::{self, Kind, Step};

/// A document of which an object was made.
#[derive(Debug)]
pub(super) struct Source {
    node: Node,
    file: FileId,
    /// Where its values stand. A value that aliases repeat has several ways.
    ways: BTreeMap<u32, Vec<Steps>>,
}

impl Source {
    pub(super) fn new(node: Node, file: FileId) -> Self {
        let mut ways = BTreeMap::new();
        gather(&node, &mut Vec::new(), &mut ways);
        Self { node, file, ways }
    }

    /// Returns the way to a value of this document, which is to be read at `rendered` in the build.
    pub(super) fn way_to(&self, supplier: &Supplier, rendered: &[Step]) -> Option<&Steps> {
        let Supplier::Document(site) = supplier else {
            return None;
        };
        let ways = self.ways.get(&site.at).filter(|_| site.file == self.file)?;
        match &ways[..] {
            [way] => Some(way),
            ways => ways.iter().find(|way| *way == rendered),
        }
    }

    /// Returns what stands at a way.
    pub(super) fn at(&self, way: &[Step]) -> Option<&Node> {
        below(&self.node, way)
    }
}

/// Returns what is at a way from a value.
pub(super) fn below<'n>(node: &'n Node, way: &[Step]) -> Option<&'n Node> {
    way.iter().try_fold(node, |node, step| match step {
        Step::Key(key) => node.get(key),
        Step::Item(at) => node.items()?.get(*at),
    })
}

fn gather(node: &Node, way: &mut Steps, ways: &mut BTreeMap<u32, Vec<Steps>>) {
    if let Supplier::Document(Site { at, .. }) = node.supplier {
        ways.entry(at).or_default().push(way.clone());
    }
    match &node.content {
        Content::Scalar(_) => {}
        Content::Sequence(items) => {
            for (at, item) in items.iter().enumerate() {
                way.push(Step::Item(at));
                gather(item, way, ways);
                way.pop();
            }
        }
        Content::Mapping(fields) => {
            for (key, value) in fields {
                way.push(Step::Key(key.clone()));
                gather(value, way, ways);
                way.pop();
            }
        }
    }
}

/// Returns the document and the way to the value that starts at a byte of a text.
pub(crate) fn way_in(text: &str, at: u32) -> Option<(usize, Steps)> {
    let composed = yaml::compose(text).ok()?;
    let at = usize::try_from(at).ok()?.checked_sub(composed.before)?;
    let mut documents = composed.documents.iter().enumerate();
    documents.find_map(|(index, document)| {
        let mut way = Vec::new();
        find(&document.root, at, &mut way).then_some((index, way))
    })
}

fn find(node: &yaml::Node, at: usize, way: &mut Steps) -> bool {
    // The way goes down first: a list and a mapping begin where the first thing in them does.
    let found = match &node.kind {
        Kind::Scalar { .. } | Kind::Alias { .. } => false,
        Kind::Sequence { items, .. } => items.iter().enumerate().any(|(index, item)| {
            way.push(Step::Item(index));
            let found = find(item, at, way);
            if !found {
                way.pop();
            }
            found
        }),
        Kind::Mapping { entries, .. } => entries.iter().any(|entry| {
            way.push(Step::Key(entry.name().to_owned()));
            let found = find(&entry.value, at, way);
            if !found {
                way.pop();
            }
            found
        }),
    };
    found || node.start == at
}
