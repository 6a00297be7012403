//! From an entry of `configMapGenerator:` to the object that it generates.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::RepoPath;

use super::generator::{
    GeneratorEntry, GeneratorError, GeneratorOptions, Input, Text, generate as generated,
};
use super::graph::Reader;
use super::issue::{BuildError, Feature, Issue, location};
use super::lines::offset;
use super::load::Loader;
use super::manifest::too_large;
use super::node::{FileId, Site};
use super::object::{Object, Origin};
use super::parse::{self, Located, Pairs};

/// Generates the objects of a kustomization.
pub(crate) fn generate(
    reader: &Reader,
    loader: &mut Loader<'_>,
) -> Result<Vec<Object>, BuildError> {
    let shared = options(&reader.kustomization.generator_options, reader.file);
    let entries = reader.kustomization.config_maps.iter().enumerate();
    let mut objects = Vec::new();
    for (index, entry) in entries {
        let files = contents(reader, index, loader)?;
        let entry = Entry {
            entry,
            file: reader.file,
        };
        let node = generated(&entry.with(&files), &shared)
            .map_err(|error| refused(reader, index, &error, loader))?;
        let origin = Origin {
            file: reader.file,
            index: offset(index),
            generated: true,
        };
        objects.push(Object::new(node, origin, entry.entry.line));
    }
    Ok(objects)
}

/// The files that an entry reads, with their content.
#[derive(Default)]
struct Files {
    envs: Vec<(FileId, Arc<[u8]>)>,
    files: Vec<(FileId, Arc<[u8]>)>,
}

fn contents(reader: &Reader, index: usize, loader: &mut Loader<'_>) -> Result<Files, BuildError> {
    let mut files = Files::default();
    let Some(generator) = reader.generators.get(index) else {
        return Ok(files);
    };
    let mut read = |path: &RepoPath| -> Result<(FileId, Arc<[u8]>), BuildError> {
        let bytes = loader.bytes(path)?.ok_or_else(|| too_large(path))?;
        Ok((loader.id(path), bytes))
    };
    for path in &generator.envs {
        files.envs.push(read(path)?);
    }
    for path in &generator.files {
        files.files.push(read(path)?);
    }
    Ok(files)
}

/// An entry and the file that it stands in.
struct Entry<'e> {
    entry: &'e parse::ConfigMapEntry,
    file: FileId,
}

impl Entry<'_> {
    fn with<'b>(&self, files: &'b Files) -> GeneratorEntry<'b> {
        let text = |located: &Located<String>| text(located, self.file);
        let inputs = |specs: &[Located<String>], files: &'b [(FileId, Arc<[u8]>)]| {
            let inputs = specs.iter().zip(files);
            inputs
                .map(|(spec, (file, bytes))| Input {
                    spec: text(spec),
                    file: *file,
                    bytes,
                })
                .collect()
        };
        GeneratorEntry {
            site: Site {
                file: self.file,
                at: self.entry.at,
            },
            name: text(&self.entry.name),
            namespace: self.entry.namespace.as_ref().map(text),
            literals: self.entry.literals.iter().map(text).collect(),
            envs: inputs(&self.entry.envs, &files.envs),
            files: inputs(&self.entry.files, &files.files),
            options: options(&self.entry.options, self.file),
        }
    }
}

fn text(located: &Located<String>, file: FileId) -> Text {
    Text {
        value: located.value.clone(),
        site: Site {
            file,
            at: located.at,
        },
    }
}

fn options(options: &parse::GeneratorOptions, file: FileId) -> GeneratorOptions {
    let texts = |pairs: &Pairs| -> BTreeMap<String, Text> {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| (key.clone(), text(value, file)))
            .collect()
    };
    GeneratorOptions {
        labels: texts(&options.labels),
        annotations: texts(&options.annotations),
        immutable: options.immutable.as_ref().map(|located| Site {
            file,
            at: located.at,
        }),
    }
}

fn refused(reader: &Reader, index: usize, error: &GeneratorError, loader: &Loader<'_>) -> Issue {
    let path = loader.path(error.site.file).unwrap_or(&reader.path);
    let line = loader.line_of(error.site);
    let is_own = error.site.file == reader.file;
    let field = is_own.then(|| format!("configMapGenerator[{index}]"));
    Issue::of_author(
        Feature::RenderFailed,
        location(path, line, field),
        format!("a ConfigMap cannot be generated: {}", error.problem),
        "correct the input",
    )
}
