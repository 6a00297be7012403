//! How a value is written: kustomize merges nodes of YAML, and what they look like decides in two places.

use serde_json::Value;

use super::MergeProblem;
use crate::kustomize::node::{Content, Node, Site, Supplier};

/// The files of a render, as they are written.
pub trait Texts {
    /// Returns the text of a file from a place on; nothing where there is no such place.
    fn text_from(&self, site: Site) -> &[u8];
}

/// Returns the text of a scalar, which is what keys are compared by. What is no scalar has none.
pub(super) fn text(node: &Node) -> String {
    match &node.content {
        Content::Scalar(Value::String(text)) => text.clone(),
        Content::Scalar(Value::Null) | Content::Sequence(_) | Content::Mapping(_) => String::new(),
        Content::Scalar(other) => other.to_string(),
    }
}

/// Whether a null is written out; what is written as nothing disappears from an object that is patched.
pub(super) fn is_written_null(node: &Node, texts: &dyn Texts) -> bool {
    let written = written(node, texts);
    let words: [&[u8]; 4] = [b"~", b"null", b"Null", b"NULL"];
    words.iter().any(|word| written.starts_with(word))
}

/// Writes a scalar over another one, which keeps its style: a number over quoted text is text, and text that begins with
/// a tab cannot stand in a block.
pub(super) fn over(base: &Node, patch: &Node, texts: &dyn Texts) -> Result<Node, MergeProblem> {
    let first = written(base, texts).first();
    let is_block = matches!(first, Some(b'|' | b'>'));
    if is_block && patch.as_str().is_some_and(|text| text.starts_with('\t')) {
        return Err(MergeProblem::TabFirst);
    }
    let is_quoted = is_block || matches!(first, Some(b'"' | b'\''));
    match &patch.content {
        Content::Scalar(value @ (Value::Number(_) | Value::Bool(_))) if is_quoted => {
            let text = spelling(patch, texts).unwrap_or_else(|| value.to_string());
            Ok(Node {
                supplier: patch.supplier.clone(),
                content: Content::Scalar(Value::String(text)),
            })
        }
        _ => Ok(patch.clone()),
    }
}

/// Returns a plain scalar as it is written.
fn spelling(node: &Node, texts: &dyn Texts) -> Option<String> {
    let written = written(node, texts);
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b",]}".contains(byte);
    let end = written.iter().position(ends).unwrap_or(written.len());
    let text = str::from_utf8(&written[..end]).ok()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the text from a value on, where a document or a patch supplied it.
fn written<'t>(node: &Node, texts: &'t dyn Texts) -> &'t [u8] {
    match &node.supplier {
        Supplier::Document(site) | Supplier::Patch(site) => texts.text_from(*site),
        _ => &[],
    }
}
