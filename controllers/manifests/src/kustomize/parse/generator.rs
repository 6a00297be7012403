//! Entries of `configMapGenerator:` and the options that all of them share.

use super::reader::{Field, Reader};
use super::{Kustomization, Located, Pairs};
use crate::kustomize::issue::{Feature, Issue};
use model::Actor;

/// An entry of `configMapGenerator:`.
#[derive(Debug, Clone)]
pub struct ConfigMapEntry {
    /// Where the entry starts.
    pub at: u32,
    /// Its line.
    pub line: u32,
    /// The name of the object.
    pub name: Located<String>,
    /// The namespace of the object.
    pub namespace: Option<Located<String>>,
    /// Items of the form `key=value`.
    pub literals: Vec<Located<String>>,
    /// Files whose content is a value, some with a key before them.
    pub files: Vec<Located<String>>,
    /// Files with a key and a value in each line; a single `env:` is the last of them.
    pub envs: Vec<Located<String>>,
    /// The entry's own options.
    pub options: GeneratorOptions,
}

/// Options of generated objects.
#[derive(Debug, Clone, Default)]
pub struct GeneratorOptions {
    /// Labels for them.
    pub labels: Pairs,
    /// Annotations for them.
    pub annotations: Pairs,
    /// Whether the name has no hash of the content.
    pub disable_name_suffix_hash: bool,
    /// Where it says that the content never changes.
    pub immutable: Option<Located<bool>>,
}

pub(super) fn read<'a>(reader: &mut Reader<'a>, field: &Field<'a>) -> Vec<ConfigMapEntry> {
    let items = reader.items(Feature::Unparseable, field);
    items
        .iter()
        .filter_map(|item| entry(reader, item))
        .collect()
}

fn entry<'a>(reader: &mut Reader<'a>, item: &Field<'a>) -> Option<ConfigMapEntry> {
    let place = reader.located(item.value, ());
    let (mut name, mut namespace, mut env) = (None, None, None);
    let (mut literals, mut files, mut envs) = (Vec::new(), Vec::new(), Vec::new());
    let mut own = GeneratorOptions::default();
    for field in reader.fields(Feature::Unparseable, item.value, &item.way) {
        match field.name {
            "name" => name = reader.word(Feature::Unparseable, &field),
            "namespace" => namespace = reader.word(Feature::Unparseable, &field),
            "behavior" => behavior(reader, &field),
            "literals" => literals = reader.texts(&field),
            "files" => files = reader.texts(&field),
            "envs" => envs = reader.texts(&field),
            "env" => env = reader.word(Feature::Unparseable, &field),
            "options" => own = options(reader, &field),
            _ => reader.unknown(Feature::Unparseable, &field),
        }
    }
    envs.extend(env);
    let Some(name) = name else {
        reader.report(
            Feature::Unparseable,
            item.value,
            &item.way,
            format!("{} has no name", item.way),
            "give the generated object a name",
        );
        return None;
    };
    Some(ConfigMapEntry {
        at: place.at,
        line: place.line,
        name,
        namespace,
        literals,
        files,
        envs,
        options: own,
    })
}

fn behavior<'a>(reader: &mut Reader<'a>, field: &Field<'a>) {
    let Some(text) = reader.word(Feature::ConfigMapGenerator, field) else {
        return;
    };
    if text.value == "create" {
        return;
    }
    let at = reader.location(field.value, &field.way);
    reader.issues.push(Issue {
        actor: Actor::Nobody,
        ..Issue::of_author(
            Feature::ConfigMapGenerator,
            at,
            format!("the behavior {:?} is not understood yet", text.value),
            "take behavior out, and the object that it changes as well",
        )
    });
}

pub(super) fn options<'a>(reader: &mut Reader<'a>, field: &Field<'a>) -> GeneratorOptions {
    let mut options = GeneratorOptions::default();
    for field in reader.fields(Feature::Unparseable, field.value, &field.way) {
        match field.name {
            "labels" => options.labels = reader.pairs(&field),
            "annotations" => options.annotations = reader.pairs(&field),
            "disableNameSuffixHash" => options.disable_name_suffix_hash = reader.flag(&field),
            "immutable" => {
                if reader.flag(&field) {
                    options.immutable = Some(reader.located(field.value, true));
                }
            }
            _ => reader.unknown(Feature::Unparseable, &field),
        }
    }
    options
}

/// Refuses every entry whose object would have a hash in its name.
pub(super) fn check_names(reader: &mut Reader<'_>, kustomization: &Kustomization) {
    if kustomization.generator_options.disable_name_suffix_hash {
        return;
    }
    for entry in &kustomization.config_maps {
        if entry.options.disable_name_suffix_hash {
            continue;
        }
        let at = model::Location {
            path: reader.path.clone(),
            line: Some(entry.line),
            field: Some("configMapGenerator".to_owned()),
        };
        reader.issues.push(Issue::of_author(
            Feature::ConfigMapGenerator,
            at,
            format!(
                "the name of the generated {:?} gets a hash of its content, which no live object follows",
                entry.name.value
            ),
            "set disableNameSuffixHash: true in generatorOptions or in the entry's options",
        ));
    }
}
