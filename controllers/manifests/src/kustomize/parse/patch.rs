//! Entries of `patches:`.

use model::Actor;

use super::Located;
use super::expression::Expression;
use super::reader::{Field, Reader, is_null};
use crate::kustomize::issue::{Feature, Issue};
use crate::kustomize::selector::Selector;

/// An entry of `patches:` that names a file.
#[derive(Debug, Clone)]
pub struct PatchEntry {
    /// The file.
    pub path: Located<String>,
    /// What it is for; without, the patch itself says.
    pub target: Option<Target>,
}

/// Which objects a patch is for: those that match all that is given.
#[derive(Debug, Clone, Default)]
pub struct Target {
    pub(crate) group: Option<Expression>,
    pub(crate) version: Option<Expression>,
    pub(crate) kind: Option<Expression>,
    pub(crate) name: Option<Expression>,
    pub(crate) namespace: Option<Expression>,
    pub(crate) labels: Selector,
    pub(crate) annotations: Selector,
}

pub(super) fn read<'a>(reader: &mut Reader<'a>, field: &Field<'a>) -> Vec<PatchEntry> {
    let items = reader.items(Feature::Unparseable, field);
    items
        .iter()
        .filter_map(|item| entry(reader, item))
        .collect()
}

fn entry<'a>(reader: &mut Reader<'a>, item: &Field<'a>) -> Option<PatchEntry> {
    let (mut path, mut inline, mut target) = (None, None, None);
    let issues_before = reader.issues.len();
    for field in reader.fields(Feature::Unparseable, item.value, &item.way) {
        match field.name {
            "path" => path = reader.word(Feature::Unparseable, &field),
            "patch" => {
                inline = reader
                    .text(Feature::Unparseable, &field)
                    .filter(|text| !text.value.trim().is_empty());
            }
            "target" if is_null(field.value) => {}
            "target" => target = Some(self::target(reader, &field)),
            "options" => options(reader, &field),
            _ => reader.unknown(Feature::Unparseable, &field),
        }
    }
    match (path, inline) {
        (Some(path), None) => return Some(PatchEntry { path, target }),
        (Some(_), Some(_)) => reader.report(
            Feature::Unparseable,
            item.value,
            &item.way,
            format!(
                "{} has a path and a patch, and only one of them may be there",
                item.way
            ),
            "take one of them out",
        ),
        (None, Some(_)) => inline_patch(reader, item),
        (None, None) if reader.issues.len() > issues_before => {}
        (None, None) => reader.report(
            Feature::Unparseable,
            item.value,
            &item.way,
            format!("{} names no patch", item.way),
            "name the file of the patch as path",
        ),
    }
    None
}

fn inline_patch<'a>(reader: &mut Reader<'a>, item: &Field<'a>) {
    let at = reader.location(item.value, &format!("{}.patch", item.way));
    reader.issues.push(Issue {
        actor: Actor::Nobody,
        ..Issue::of_author(
            Feature::PatchesInline,
            at,
            "a patch in the kustomization itself is not understood yet",
            "move the patch to a file and name that as path",
        )
    });
}

/// Refuses options that are switched on.
fn options<'a>(reader: &mut Reader<'a>, field: &Field<'a>) {
    for field in reader.fields(Feature::Unparseable, field.value, &field.way) {
        match field.name {
            "allowNameChange" | "allowKindChange" => {
                if reader.flag(&field) {
                    reader.not_modelled(&field, "patches.options");
                }
            }
            _ => reader.unknown(Feature::Unparseable, &field),
        }
    }
}

fn target<'a>(reader: &mut Reader<'a>, field: &Field<'a>) -> Target {
    let mut target = Target::default();
    for field in reader.fields(Feature::Unparseable, field.value, &field.way) {
        match field.name {
            "group" => target.group = expression(reader, &field),
            "version" => target.version = expression(reader, &field),
            "kind" => target.kind = expression(reader, &field),
            "name" => target.name = expression(reader, &field),
            "namespace" => target.namespace = expression(reader, &field),
            "labelSelector" => target.labels = selector(reader, &field),
            "annotationSelector" => target.annotations = selector(reader, &field),
            _ => reader.unknown(Feature::Unparseable, &field),
        }
    }
    target
}

fn expression<'a>(reader: &mut Reader<'a>, field: &Field<'a>) -> Option<Expression> {
    let text = reader.word(Feature::Unparseable, field)?;
    let expression = Expression::of_whole(&text.value);
    expression
        .map_err(|problem| {
            reader.report(
                Feature::Unparseable,
                field.value,
                &field.way,
                format!("{} is no valid expression: {problem}", field.way),
                "write the name itself, or an expression of letters, dots and stars",
            );
        })
        .ok()
}

fn selector<'a>(reader: &mut Reader<'a>, field: &Field<'a>) -> Selector {
    let Some(text) = reader.word(Feature::Unparseable, field) else {
        return Selector::default();
    };
    Selector::parse(&text.value).unwrap_or_else(|problem| {
        reader.report(
            Feature::Unparseable,
            field.value,
            &field.way,
            format!("{} is no selector: {problem}", field.way),
            "write it as key=value, separated by commas",
        );
        Selector::default()
    })
}
