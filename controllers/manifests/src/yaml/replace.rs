//! A new value in the place of an old one.
//!
//! It takes over quotes, columns and trailing comments of the old one where its kind allows: a comment behind a
//! value stays on its line, also when the new value goes on below.

use serde_json::Value;

use super::diff::{Differ, NoPlace, Place};
use super::emit::{Had, KeyOrder, Rendered, Under, Writer};
use super::event::Style;
use super::flow;
use super::folded;
use super::layout::Layout;
use super::notation;
use super::text::{line_end, line_start, next_line, starts_line, trim_blanks_before};
use super::tree::{Kind, Node};

impl Differ<'_> {
    /// Replaces a node whole.
    pub(crate) fn replace(
        &mut self,
        node: &Node,
        wanted: &Value,
        place: Place,
    ) -> Result<(), NoPlace> {
        self.each_child(node, Self::forget);
        if place.flow {
            return flow::replace(self, node, wanted, place);
        }
        let flow_stays = match (&node.kind, wanted) {
            (
                Kind::Mapping {
                    flow: true,
                    entries,
                },
                Value::Object(_),
            ) => !entries.is_empty(),
            (Kind::Sequence { flow: true, items }, Value::Array(_)) => !items.is_empty(),
            _ => false,
        };
        if flow_stays {
            return flow::replace(self, node, wanted, place);
        }
        if node.is_block_collection() {
            return self.replace_collection(node, wanted, place);
        }
        let had = self.had(node);
        let rendered = match (
            notation::follow(node, wanted),
            self.folded(node, wanted, had),
        ) {
            (Some(number), _) => Rendered::inline(number),
            (None, Some(folded)) => folded,
            (None, None) => self.writer().value(wanted, place.under, had, place.order),
        };
        match &node.kind {
            Kind::Scalar { style, .. } if style.is_block() => self.replace_block(node, rendered),
            _ => self.replace_inline(node, rendered, place),
        }
        Ok(())
    }

    /// Reads what a scalar's successor keeps of its look.
    fn had(&self, node: &Node) -> Had {
        match &node.kind {
            Kind::Scalar { style, text, .. } if style.is_block() => Had {
                style: None,
                block_column: self.block_column(node, text),
                quoted_lines: false,
            },
            Kind::Scalar { style, text, .. } => Had {
                style: Some(*style),
                block_column: None,
                quoted_lines: *style == Style::Double && text.contains('\n'),
            },
            Kind::Mapping { .. } | Kind::Sequence { .. } | Kind::Alias { .. } => Had::default(),
        }
    }

    /// Writes new text in the place of folded text.
    fn folded(&self, node: &Node, wanted: &Value, had: Had) -> Option<Rendered> {
        let is_folded = matches!(
            node.kind,
            Kind::Scalar {
                style: Style::Folded,
                ..
            }
        );
        let layout = self.writer().layout;
        if !is_folded || !layout.blocks {
            return None;
        }
        let body = self
            .text()
            .get(next_line(self.text(), node.start)..node.end)?;
        folded::rewrite(body, wanted.as_str()?, had, layout.eol)
    }

    /// Returns the column where the lines of a block scalar start.
    fn block_column(&self, node: &Node, value: &str) -> Option<usize> {
        let body = self
            .text()
            .get(next_line(self.text(), node.start)..node.end)?;
        let line = body.lines().find(|line| !line.trim().is_empty())?;
        let content = value.lines().find(|line| !line.trim().is_empty())?;
        let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
        spaces(line).checked_sub(spaces(content))
    }

    /// Replaces a value that stands on the line of its key or dash, or is missing there. A comment behind it
    /// stays on that line, also when the new value goes on below.
    fn replace_inline(&mut self, node: &Node, rendered: Rendered, place: Place) {
        let Rendered { mut head, body } = rendered;
        let mut start = node.start;
        if node.tagged {
            // A tag speaks of the old value. The anchor is still pointed at.
            start = node.outer_start();
            if let Some(anchor) = &node.anchor {
                head = if head.is_empty() {
                    format!("&{anchor}")
                } else {
                    format!("&{anchor} {head}")
                };
            }
        }
        let below = next_line(self.text(), node.outer_end());
        if node.is_missing() && !node.tagged {
            let head = if head.is_empty() {
                head
            } else {
                format!(" {head}")
            };
            self.splice(start..start, head);
        } else if head.is_empty() {
            self.splice(
                trim_blanks_before(self.text(), start).max(place.after)..node.end,
                "",
            );
        } else {
            self.splice(start..node.end.max(start), head);
        }
        self.splice(below..below, body);
    }

    /// Replaces a block scalar; a comment behind its header stays.
    fn replace_block(&mut self, node: &Node, rendered: Rendered) {
        let Rendered { head, body } = rendered;
        let token = self.text()[node.start..]
            .find(|c: char| !"|>+-0123456789".contains(c))
            .map_or(self.text().len(), |length| node.start + length);
        let start = if head.is_empty() {
            trim_blanks_before(self.text(), node.start)
        } else {
            node.start
        };
        let header = next_line(self.text(), node.start);
        let lines = if node.end < header {
            header
        } else {
            next_line(self.text(), node.end)
        };
        self.splice(start..token, head);
        self.splice(header..lines, body);
    }

    /// Replaces a block mapping or list.
    fn replace_collection(
        &mut self,
        node: &Node,
        wanted: &Value,
        place: Place,
    ) -> Result<(), NoPlace> {
        if node.tagged {
            return Err(NoPlace);
        }
        let text = self.text();
        let is_root = place.depth == 0;
        let render =
            |writer: Writer| writer.value(wanted, place.under, Had::default(), place.order);
        if is_root {
            return self.replace_root(node, wanted);
        }
        if !starts_line(text, node.start) {
            let Rendered { head, body } = render(self.writer());
            let lines = format!("{head}{}{body}", self.writer().layout.eol);
            let lines = lines.trim_end_matches(['\n', '\r']);
            self.splice(node.start..line_end(text, node.end), lines);
            return Ok(());
        }
        let after = node
            .properties
            .as_ref()
            .map_or(place.after, |range| range.end);
        let first = line_start(text, node.start);
        let between = text.get(next_line(text, after)..first).unwrap_or_default();
        if !between.contains('#') {
            let Rendered { head, body } = render(self.writer());
            let head = if head.is_empty() {
                head
            } else {
                format!(" {head}")
            };
            self.splice(after..after, head);
            self.splice(first..next_line(text, node.end), body);
            return Ok(());
        }
        self.replace_below_comments(node, wanted, place);
        Ok(())
    }

    /// Replaces a block mapping or list that comments part from its key or dash: the new value goes below them.
    fn replace_below_comments(&mut self, node: &Node, wanted: &Value, place: Place) {
        let mut inline = self.writer();
        inline.layout.blocks = false;
        let Rendered { head, body } =
            inline.value(wanted, place.under, Had::default(), place.order);
        let Layout { eol, step, .. } = inline.layout;
        let column = match place.under {
            Under::Key(column) => column + step,
            Under::Dash(_, content) => content,
        };
        let lines = match head.is_empty() {
            true => body,
            false => format!("{:column$}{head}{eol}{body}", ""),
        };
        let first = line_start(self.text(), node.start);
        self.splice(first..next_line(self.text(), node.end), lines);
    }

    /// Replaces a mapping or list that is the whole document.
    fn replace_root(&mut self, node: &Node, wanted: &Value) -> Result<(), NoPlace> {
        let writer = self.writer();
        let body = match wanted {
            Value::Object(map) if !map.is_empty() => writer.entries(map, 0, KeyOrder::Root),
            Value::Array(items) if !items.is_empty() => writer.items(items, 0),
            Value::Object(_) | Value::Array(_) => {
                format!("{}{}", writer.flow(wanted, false), writer.layout.eol)
            }
            _ => return Err(NoPlace),
        };
        let text = self.text();
        self.splice(
            line_start(text, node.start)..next_line(text, node.end),
            body,
        );
        Ok(())
    }
}
