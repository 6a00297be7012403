//! Edits inside braces and brackets, which stay braces and brackets.

use std::ops::Range;

use serde_json::{Map, Value};

use super::align::Step;
use super::diff::{Differ, NoPlace, Place};
use super::event::Style;
use super::layout::Quote;
use super::notation;
use super::sequence::common_quote;
use super::text::{column, line_start};
use super::tree::{Entry, Kind, Node};

/// Deletes and adds entries of a mapping in braces.
pub(crate) fn mapping(
    differ: &mut Differ<'_>,
    node: &Node,
    entries: &[Entry],
    kept: &[bool],
    added: &[&String],
    wanted: &Map<String, Value>,
) -> Result<(), NoPlace> {
    if kept.iter().all(|kept| *kept) && added.is_empty() {
        return Ok(());
    }
    if !differ.text()[node.start..].starts_with('{') {
        return Err(NoPlace);
    }
    let json = is_json(entries);
    let spans: Vec<Range<usize>> = entries
        .iter()
        .map(|entry| entry.start()..entry.end())
        .collect();
    let writer = differ.writer();
    let last = kept.iter().rposition(|kept| *kept);
    let insertions = added
        .iter()
        .map(|key| (last, writer.flow_entry(key, &wanted[*key], json)))
        .collect();
    edit_list(differ, node, &spans, kept, insertions)
}

/// Deletes and adds items of a list in brackets.
pub(crate) fn sequence(
    differ: &mut Differ<'_>,
    node: &Node,
    items: &[Node],
    steps: &[Step],
    wanted: &[Value],
) -> Result<(), NoPlace> {
    let spans: Vec<Range<usize>> = items
        .iter()
        .map(|item| item.outer_start()..item.outer_end())
        .collect();
    let mut kept = vec![false; items.len()];
    let mut insertions = Vec::new();
    let mut last = None;
    let quote = common_quote(items);
    let writer = differ.writer();
    for step in steps {
        match *step {
            Step::Keep(i, _) => {
                kept[i] = true;
                last = Some(i);
            }
            Step::Delete(_) => {}
            Step::Insert(j) => {
                let had = quote.map(|quote| match quote {
                    Quote::Single => Style::Single,
                    Quote::Double => Style::Double,
                });
                let text = match &wanted[j] {
                    Value::String(text) => writer.flow_string(text, had, false),
                    other => writer.flow(other, false),
                };
                insertions.push((last, text));
            }
        }
    }
    edit_list(differ, node, &spans, &kept, insertions)
}

/// Replaces a value inside braces or brackets, or braces or brackets themselves.
pub(crate) fn replace(
    differ: &mut Differ<'_>,
    node: &Node,
    wanted: &Value,
    place: Place,
) -> Result<(), NoPlace> {
    let writer = differ.writer();
    let had = match &node.kind {
        Kind::Scalar { style, .. } if !style.is_block() => Some(*style),
        _ => None,
    };
    let json = match &node.kind {
        Kind::Mapping { entries, .. } => is_json(entries),
        Kind::Scalar { .. } | Kind::Sequence { .. } | Kind::Alias { .. } => false,
    };
    let mut text = match wanted {
        Value::String(text) => writer.flow_string(text, had, json),
        other => notation::follow(node, other).unwrap_or_else(|| writer.flow(other, json)),
    };
    let mut start = node.start;
    if node.tagged {
        start = node.outer_start();
        if let Some(anchor) = &node.anchor {
            text = format!("&{anchor} {text}");
        }
    }
    if node.is_missing() && !node.tagged {
        let at = node.outer_end().max(place.after);
        differ.splice(at..at, format!(" {text}"));
    } else {
        differ.splice(start..node.end.max(start), text);
    }
    Ok(())
}

/// Takes items out of a list between commas and puts new ones behind the item that each names, or first.
fn edit_list(
    differ: &mut Differ<'_>,
    node: &Node,
    spans: &[Range<usize>],
    kept: &[bool],
    insertions: Vec<(Option<usize>, String)>,
) -> Result<(), NoPlace> {
    let first = kept.iter().position(|kept| *kept).ok_or(NoPlace)?;
    let last = kept.iter().rposition(|kept| *kept).ok_or(NoPlace)?;
    for index in (0..last).filter(|index| !kept[*index]) {
        differ.splice(spans[index].start..spans[index + 1].start, "");
    }
    if let Some(end) = spans.last().filter(|_| last + 1 < spans.len()) {
        differ.splice(spans[last].end..end.end, "");
    }
    let separator = separator(differ, node, spans);
    for (behind, text) in insertions {
        match behind {
            Some(index) => {
                let at = spans[index].end;
                differ.splice(at..at, format!("{separator}{text}"));
            }
            None => {
                let at = spans[first].start;
                differ.splice(at..at, format!("{text}{separator}"));
            }
        }
    }
    Ok(())
}

/// Returns what stands between two items: one per line where they stand so.
fn separator(differ: &Differ<'_>, node: &Node, spans: &[Range<usize>]) -> String {
    let text = differ.text();
    let line = |at: usize| line_start(text, at);
    let spread = spans
        .first()
        .is_some_and(|span| line(span.start) != line(node.start))
        && spans
            .windows(2)
            .all(|pair| line(pair[0].start) != line(pair[1].start));
    if spread {
        let indent = spans.last().map_or(0, |span| column(text, span.start));
        format!(",{}{:indent$}", differ.writer().layout.eol, "")
    } else {
        ", ".to_owned()
    }
}

/// Says whether the keys are in double quotes, so that new ones are too.
pub(crate) fn is_json(entries: &[Entry]) -> bool {
    let quoted = |entry: &Entry| {
        matches!(
            entry.key.kind,
            Kind::Scalar {
                style: Style::Double,
                ..
            }
        )
    };
    !entries.is_empty() && entries.iter().all(quoted)
}
