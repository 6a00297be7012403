//! Where the fields of a text stand.

use std::fmt;
use std::ops::Range;

use super::compose;
use super::event::SyntaxError;
use super::text::Prepared;
use super::tree::{Document, Kind, Node};

/// The way to a value from the root of its document. It prints as people write it: `spec.ports[0].name`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(Vec<Step>);

/// One step of the way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Into the value of a key.
    Key(String),
    /// Into an item of a list, counted from 0.
    Item(usize),
}

/// The lines of every field of a text, read once for any number of questions.
#[derive(Debug)]
pub struct Places {
    documents: Vec<Document>,
    /// The first byte of every line.
    starts: Vec<usize>,
}

/// A way under construction, as a walk through a value goes down: nothing is copied until it is kept.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Way<'a> {
    last: Option<(&'a Way<'a>, PlaceStep<'a>)>,
}

impl FieldPath {
    /// Returns the way through these keys.
    pub fn of_keys(keys: &[&str]) -> Self {
        Self(
            keys.iter()
                .map(|key| Step::Key((*key).to_owned()))
                .collect(),
        )
    }

    /// Returns the way that takes these steps.
    pub(crate) fn of_steps(steps: Vec<Step>) -> Self {
        Self(steps)
    }

    /// Returns the steps.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }
}

impl Way<'_> {
    /// Goes to a key of the mapping that this way leads to.
    pub(crate) fn key<'b>(&'b self, key: &'b str) -> Way<'b> {
        Way {
            last: Some((self, PlaceStep::Key(key))),
        }
    }

    /// Goes to an item of the list that this way leads to.
    pub(crate) fn item(&self, index: usize) -> Way<'_> {
        Way {
            last: Some((self, PlaceStep::Item(index))),
        }
    }

    /// Keeps the way.
    pub(crate) fn path(&self) -> FieldPath {
        let way = std::iter::successors(self.last, |(up, _)| up.last);
        let mut steps: Vec<Step> = way
            .map(|(_, step)| match step {
                PlaceStep::Key(key) => Step::Key(key.to_owned()),
                PlaceStep::Item(index) => Step::Item(index),
            })
            .collect();
        steps.reverse();
        FieldPath(steps)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Item(at) => write!(f, "[{at}]")?,
                Step::Key(key) if key.is_empty() || key.contains(['.', '[', ']', '"']) => {
                    write!(f, "[{key:?}]")?;
                }
                Step::Key(key) if index == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}

impl Places {
    /// Reads a text.
    ///
    /// # Errors
    /// Returns where the text is not YAML.
    pub fn read(text: &str) -> Result<Self, SyntaxError> {
        let prepared = Prepared::new(text);
        let documents = compose::parse(&prepared.body, prepared.padded)?;
        let breaks = prepared.body.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(breaks).collect();
        Ok(Self { documents, starts })
    }

    /// Returns the line of a field of a document, counted from 1. What the document does not write stands where
    /// the nearest thing above it does.
    pub fn line_of(&self, document: usize, field: &FieldPath) -> Option<u32> {
        let document = self.documents.get(document)?;
        let keys = field.steps().iter().map(Step::as_place);
        let offset = offset_of(&document.root, keys).unwrap_or_else(|| document.first_byte());
        let line = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(line).ok()
    }

    /// Returns the first field of a document that begins in a line, counted from 1, and has that line.
    pub fn field_in(&self, document: usize, line: u32) -> Option<FieldPath> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied().unwrap_or(usize::MAX);
        let root = &self.documents.get(document)?.root;
        let mut found = None;
        descend(root, &(start..end), Way::default(), &mut found);
        found.filter(|field| self.line_of(document, field) == Some(line))
    }
}

/// Goes down to the first key that begins in these bytes.
fn descend(node: &Node, line: &Range<usize>, way: Way<'_>, found: &mut Option<FieldPath>) {
    match &node.kind {
        Kind::Mapping { entries, .. } => {
            for entry in entries {
                let way = way.key(entry.name());
                if line.contains(&entry.start()) {
                    found.get_or_insert_with(|| way.path());
                    return;
                }
                if entry.start() < line.end && entry.end() >= line.start {
                    descend(&entry.value, line, way, found);
                }
            }
        }
        Kind::Sequence { items, .. } => {
            for (index, item) in items.iter().enumerate() {
                if item.outer_start() < line.end && item.outer_end() >= line.start {
                    descend(item, line, way.item(index), found);
                }
            }
        }
        Kind::Scalar { .. } | Kind::Alias { .. } => {}
    }
}

/// A step that borrows its key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PlaceStep<'a> {
    Key(&'a str),
    Item(usize),
}

impl Step {
    fn as_place(&self) -> PlaceStep<'_> {
        match self {
            Self::Key(key) => PlaceStep::Key(key),
            Self::Item(index) => PlaceStep::Item(*index),
        }
    }
}

/// Returns the byte where a field begins, or the last thing on the way to it that is written; nothing where not
/// even the first step is.
pub(crate) fn offset_of<'a>(
    root: &Node,
    steps: impl Iterator<Item = PlaceStep<'a>>,
) -> Option<usize> {
    let mut node = root;
    let mut offset = None;
    for step in steps {
        let (start, next) = match (step, &node.kind) {
            (PlaceStep::Key(key), Kind::Mapping { entries, .. }) => {
                // Of a key that stands twice the last one counts.
                let found = entries
                    .iter()
                    .rev()
                    .find(|entry| !entry.merge && entry.name() == key);
                match found {
                    Some(entry) => (entry.start(), &entry.value),
                    None => break,
                }
            }
            (PlaceStep::Item(index), Kind::Sequence { items, .. }) => match items.get(index) {
                Some(item) => (item.outer_start(), item),
                None => break,
            },
            _ => break,
        };
        offset = Some(start);
        node = next;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FieldPath {
        let steps = text.split('/').map(|step| match step.parse() {
            Ok(index) => Step::Item(index),
            Err(_) => Step::Key(step.to_owned()),
        });
        FieldPath(steps.collect())
    }

    #[test]
    fn e5_every_field_has_the_line_that_says_it() {
        let text = "# head\na: 1\nlist:\n- x # first\n-\n  name: n\n  map: {k: v,\n    l: w}\ndot.ted:\n  deep: 1\n---\na: &x\n  b: 2\nc: *x\na: 3";
        let places = Places::read(text).unwrap();
        let line = |content: &str| {
            let at = text.lines().position(|line| line.contains(content));
            Some(u32::try_from(at.unwrap() + 1).unwrap())
        };
        for (field, content) in [
            ("a", "a: 1"),
            ("list", "list:"),
            ("list/0", "# first"),
            ("list/1/name", "name: n"),
            ("list/1/map/k", "k: v"),
            ("list/1/map/l", "l: w"),
            ("list/7", "list:"),
            ("dot.ted/missing/more", "dot.ted"),
            ("missing", "a: 1"),
        ] {
            assert_eq!(places.line_of(0, &path(field)), line(content), "{field}");
        }
        for (content, field) in [
            ("a: 1", Some("a")),
            ("name: n", Some("list[1].name")),
            ("{k: v", Some("list[1].map")),
            ("l: w", Some("list[1].map.l")),
            ("deep", Some("[\"dot.ted\"].deep")),
            ("# head", None),
            ("# first", None),
        ] {
            let found = places.field_in(0, line(content).unwrap());
            let found = found.as_ref().map(ToString::to_string);
            assert_eq!(found.as_deref(), field, "{content}");
        }
        // Of a key that stands twice the last one counts.
        assert_eq!(places.field_in(1, line("&x").unwrap()), None);
        assert_eq!(places.field_in(1, line("a: 3").unwrap()), Some(path("a")));
        assert_eq!(places.line_of(1, &path("a")), line("a: 3"));
        assert_eq!(places.line_of(1, &path("c/b")), line("c: *x"));
        assert_eq!(places.line_of(2, &path("a")), None);
    }

    #[test]
    fn a_path_prints_as_people_write_it() {
        let root = Way::default();
        let metadata = root.key("metadata");
        let labels = metadata.key("labels");
        assert_eq!(
            labels.key("app.kubernetes.io/name").path().to_string(),
            "metadata.labels[\"app.kubernetes.io/name\"]"
        );
        assert_eq!(path("spec/ports/0/name").to_string(), "spec.ports[0].name");
        assert_eq!(FieldPath::default().to_string(), "");
    }
}
