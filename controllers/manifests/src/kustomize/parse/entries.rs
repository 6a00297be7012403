//! Entries of `images:`, `replicas:` and `labels:`.

use serde_json::Value;

use super::expression::Expression;
use super::fields::Shape;
use super::reader::{Field, Reader, is_null};
use super::{Located, Pairs};
use crate::kustomize::issue::{Feature, Issue};
use crate::yaml::Kind;

/// An entry of `images:`.
#[derive(Debug, Clone)]
pub struct ImageEntry {
    /// The expression that a reference has to match.
    pub name: Located<String>,
    /// The name to write.
    pub new_name: Option<Located<String>>,
    /// The tag to write.
    pub new_tag: Option<Located<String>>,
    /// The digest to write.
    pub digest: Option<Located<String>>,
    pub(crate) matches: Expression,
}

/// An entry of `replicas:`.
#[derive(Debug, Clone)]
pub struct ReplicaEntry {
    /// The name of the workload.
    pub name: Located<String>,
    /// How many there shall be; the place is that of the entry where it does not say.
    pub count: Located<i64>,
}

/// An entry of `labels:`.
#[derive(Debug, Clone)]
pub struct LabelEntry {
    /// The labels.
    pub pairs: Pairs,
    /// Whether selectors get them too.
    pub include_selectors: bool,
    /// Whether templates get them too.
    pub include_templates: bool,
}

pub(super) fn images<'a>(reader: &mut Reader<'a>, field: &Field<'a>) -> Vec<ImageEntry> {
    let items = reader.items(Feature::Images, field);
    items
        .iter()
        .filter_map(|item| image(reader, item))
        .collect()
}

fn image<'a>(reader: &mut Reader<'a>, item: &Field<'a>) -> Option<ImageEntry> {
    let (mut name, mut new_name, mut new_tag, mut digest) = (None, None, None, None);
    for field in reader.fields(Feature::Images, item.value, &item.way) {
        match field.name {
            "name" => name = reader.word(Feature::Images, &field),
            "newName" => new_name = reader.word(Feature::Images, &field),
            "newTag" => new_tag = reader.word(Feature::Images, &field),
            "digest" => digest = reader.word(Feature::Images, &field),
            "tagSuffix" if Shape::Text.is_absent(field.value) => {}
            "tagSuffix" => reader.report(
                Feature::Images,
                field.value,
                &field.way,
                "kustomize writes a tagSuffix twice",
                "write the whole tag as newTag",
            ),
            _ => reader.unknown(Feature::Images, &field),
        }
    }
    let Some(name) = name else {
        nameless(reader, Feature::Images, item);
        return None;
    };
    match Expression::of_image(&name.value) {
        Ok(matches) => Some(ImageEntry {
            name,
            new_name,
            new_tag,
            digest,
            matches,
        }),
        Err(problem) => {
            reader.report(
                Feature::Images,
                item.value,
                &format!("{}.name", item.way),
                format!("the name of the image is no valid expression: {problem}"),
                "write the name of the image as it stands in the manifests",
            );
            None
        }
    }
}

/// Reports an entry without a name, unless its name was reported already.
fn nameless<'a>(reader: &mut Reader<'a>, feature: Feature, item: &Field<'a>) {
    let of_this = |issue: &Issue| {
        let field = issue.at.field.as_deref();
        field.is_some_and(|field| field.starts_with(&item.way))
    };
    if reader.issues.iter().any(of_this) {
        return;
    }
    reader.report(
        feature,
        item.value,
        &item.way,
        format!("{} has no name", item.way),
        "say what the entry is for in its name",
    );
}

pub(super) fn replicas<'a>(reader: &mut Reader<'a>, field: &Field<'a>) -> Vec<ReplicaEntry> {
    let items = reader.items(Feature::Replicas, field);
    items
        .iter()
        .filter_map(|item| replica(reader, item))
        .collect()
}

fn replica<'a>(reader: &mut Reader<'a>, item: &Field<'a>) -> Option<ReplicaEntry> {
    let mut name = None;
    let mut count = reader.located(item.value, 0);
    for field in reader.fields(Feature::Replicas, item.value, &item.way) {
        match field.name {
            "name" => name = reader.word(Feature::Replicas, &field),
            "count" if is_null(field.value) => {}
            "count" => match whole_number(&field) {
                Some(value) => count = reader.located(field.place, value),
                None => reader.report(
                    Feature::Replicas,
                    field.value,
                    &field.way,
                    format!("{} is not a whole number from 0 on", field.way),
                    "write how many replicas there shall be",
                ),
            },
            _ => reader.unknown(Feature::Replicas, &field),
        }
    }
    if name.is_none() {
        nameless(reader, Feature::Replicas, item);
    }
    Some(ReplicaEntry { name: name?, count })
}

/// Returns a number that has no fraction and no sign, whatever its notation.
fn whole_number(field: &Field<'_>) -> Option<i64> {
    let Kind::Scalar {
        value: Some(Value::Number(number)),
        ..
    } = &field.value.kind
    else {
        return None;
    };
    let whole = number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        format!("{float:.0}")
            .parse()
            .ok()
            .filter(|_| float.fract() == 0.0)
    });
    whole.filter(|count| *count >= 0)
}

pub(super) fn labels<'a>(reader: &mut Reader<'a>, field: &Field<'a>) -> Vec<LabelEntry> {
    let items = reader.items(Feature::Unparseable, field);
    items.iter().map(|item| label(reader, item)).collect()
}

fn label<'a>(reader: &mut Reader<'a>, item: &Field<'a>) -> LabelEntry {
    let mut entry = LabelEntry {
        pairs: Pairs::new(),
        include_selectors: false,
        include_templates: false,
    };
    for field in reader.fields(Feature::Unparseable, item.value, &item.way) {
        match field.name {
            "pairs" => entry.pairs = reader.pairs(&field),
            "includeSelectors" => entry.include_selectors = reader.flag(&field),
            "includeTemplates" => entry.include_templates = reader.flag(&field),
            "fields" if Shape::List.is_absent(field.value) => {}
            "fields" => reader.not_modelled(&field, "labels.fields"),
            _ => reader.unknown(Feature::Unparseable, &field),
        }
    }
    entry
}
