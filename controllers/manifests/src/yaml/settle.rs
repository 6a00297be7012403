//! A block scalar at the end of a text without a last line break.
//!
//! Its value ends without a line break only because the text does: a line behind it would give it one. Written
//! with the sign that strips line breaks, it says the same and lets lines follow.

use super::event::Style;
use super::text::{Prepared, line_end};
use super::tree::{Document, Kind, Node};

/// Returns the text with such a scalar written so that lines may follow; `None` where it ends otherwise.
pub(crate) fn settle(prepared: &Prepared<'_>, last: &Document) -> Option<String> {
    if !prepared.padded {
        return None;
    }
    let body: &str = &prepared.body;
    let scalar = last_block(&last.root)?;
    let header = &body[scalar.start..line_end(body, scalar.start)];
    let length = header.find(|c: char| !"|>+-0123456789".contains(c));
    let (signs, rest) = header.split_at(length.unwrap_or(header.len()));
    if signs.contains('-') {
        return None;
    }
    let stripping = format!("{}-{rest}", signs.replace('+', ""));
    let mut settled = body.to_owned();
    settled.replace_range(scalar.start..scalar.start + header.len(), &stripping);
    Some(prepared.mark(settled))
}

/// Returns the block scalar that a node ends in.
fn last_block(node: &Node) -> Option<&Node> {
    match &node.kind {
        Kind::Scalar {
            style: Style::Literal | Style::Folded,
            ..
        } => Some(node),
        Kind::Mapping { entries, .. } => last_block(&entries.last()?.value),
        Kind::Sequence { items, .. } => last_block(items.last()?),
        Kind::Scalar { .. } | Kind::Alias { .. } => None,
    }
}
