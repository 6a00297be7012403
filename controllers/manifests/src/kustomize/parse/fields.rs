//! The fields of a kustomization file, one after the other.

use model::{Actor, Location, RepoPath};

use super::reader::{Field, Reader, as_text, is_null};
use super::{Kustomization, entries, generator, patch};
use crate::kustomize::issue::{Feature, Issue};
use crate::yaml::{self, Document, Kind, Node};

const API_VERSION: &str = "kustomize.config.k8s.io/v1beta1";
const KIND: &str = "Kustomization";

/// What kustomize knows and is not modelled: the fields, what they hold, and what takes their place, where something
/// can.
const UNMODELLED: [(&str, Shape, &str); 20] = [
    ("buildMetadata", Shape::List, ""),
    ("components", Shape::List, ""),
    ("configurations", Shape::List, ""),
    ("crds", Shape::List, ""),
    ("generators", Shape::List, ""),
    ("helmChartInflationGenerator", Shape::List, ""),
    ("helmCharts", Shape::List, ""),
    ("helmGlobals", Shape::Mapping, ""),
    ("imageTags", Shape::List, "images"),
    ("namePrefix", Shape::Text, ""),
    ("nameSuffix", Shape::Text, ""),
    ("openapi", Shape::Mapping, ""),
    ("patchesJson6902", Shape::List, ""),
    ("patchesStrategicMerge", Shape::List, "patches"),
    ("replacements", Shape::List, ""),
    ("secretGenerator", Shape::List, ""),
    ("sortOptions", Shape::Order, ""),
    ("transformers", Shape::List, ""),
    ("validators", Shape::List, ""),
    ("vars", Shape::List, ""),
];

/// Reads a kustomization file. What is wrong with it is kept in the result.
pub(crate) fn parse(path: &RepoPath, bytes: &[u8]) -> Kustomization {
    let unreadable = |line, message: String, remedy: &str| Kustomization {
        issues: vec![Issue::of_author(
            Feature::Unparseable,
            Location {
                path: path.clone(),
                line,
                field: None,
            },
            message,
            remedy,
        )],
        ..Kustomization::default()
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        let message = "the file is not UTF-8".to_owned();
        return unreadable(None, message, "store the file as UTF-8");
    };
    let composed = match yaml::compose(text) {
        Ok(composed) => composed,
        Err(error) => {
            let message = format!("the file does not parse: {}", error.problem);
            return unreadable(Some(error.line), message, "repair the file");
        }
    };
    let Some(first) = composed.documents.first() else {
        let message = "the kustomization is empty".to_owned();
        return unreadable(None, message, EMPTY_REMEDY);
    };
    let mut reader = Reader::new(path, &composed.body, composed.before, &first.root);
    check_documents(&mut reader, &composed.documents);
    let mut kustomization = read(&mut reader, first);
    kustomization.issues = reader.issues;
    blame_the_least_able(&mut kustomization.issues);
    kustomization
}

const EMPTY_REMEDY: &str = "list what it builds under resources:, or an empty list";

fn check_documents(reader: &mut Reader<'_>, documents: &[Document]) {
    if let Some(second) = documents
        .iter()
        .skip(1)
        .find(|document| !document.is_empty())
    {
        reader.report(
            Feature::Unparseable,
            &second.root,
            "",
            "the file holds several documents, and kustomize reads the first one only",
            "leave one document in the file, and move objects to files of their own",
        );
    }
    let problem = documents.first().and_then(|first| first.problem.as_ref());
    if let Some(problem) = problem {
        let at = Location {
            path: reader.path.clone(),
            line: Some(problem.line),
            field: None,
        };
        reader.issues.push(Issue::of_author(
            Feature::Unparseable,
            at,
            problem.kind.to_string(),
            "repair the file",
        ));
    }
}

fn read<'a>(reader: &mut Reader<'a>, document: &'a Document) -> Kustomization {
    let mut kustomization = Kustomization::default();
    let mut says_something = false;
    let mut bases = Vec::new();
    for field in reader.fields(Feature::Unparseable, &document.root, "") {
        says_something |= counts(&field);
        match field.name {
            "apiVersion" => fixed_text(reader, &field, API_VERSION),
            "kind" => kind(reader, &field),
            "metadata" => metadata(reader, &field),
            "namespace" => kustomization.namespace = reader.word(Feature::Unparseable, &field),
            "resources" => kustomization.resources = reader.texts(&field),
            "bases" => bases = reader.texts(&field),
            "patches" => kustomization.patches = patch::read(reader, &field),
            "labels" => kustomization.labels = entries::labels(reader, &field),
            "commonLabels" => kustomization.common_labels = reader.pairs(&field),
            "commonAnnotations" => kustomization.common_annotations = reader.pairs(&field),
            "replicas" => kustomization.replicas = entries::replicas(reader, &field),
            "images" => kustomization.images = entries::images(reader, &field),
            "configMapGenerator" => kustomization.config_maps = generator::read(reader, &field),
            "generatorOptions" => {
                kustomization.generator_options = generator::options(reader, &field);
            }
            name => match UNMODELLED.iter().find(|(known, ..)| *known == name) {
                Some((_, shape, _)) if shape.is_absent(field.value) => {}
                Some((key, _, instead)) => unmodelled(reader, &field, key, instead),
                None => reader.unknown(Feature::Unparseable, &field),
            },
        }
    }
    kustomization.resources.append(&mut bases);
    if !says_something {
        reader.report(
            Feature::Unparseable,
            &document.root,
            "",
            "the kustomization is empty",
            EMPTY_REMEDY,
        );
    }
    generator::check_names(reader, &kustomization);
    kustomization
}

/// Says whether a field keeps the file from being empty to kustomize: an empty list does, an empty text does not.
fn counts(field: &Field<'_>) -> bool {
    match field.name {
        "apiVersion" | "kind" => false,
        "namespace" | "namePrefix" | "nameSuffix" => !Shape::Text.is_absent(field.value),
        // These are moved to other fields first, and nothing is left of an empty list then.
        "bases" | "imageTags" | "helmChartInflationGenerator" => {
            !Shape::List.is_absent(field.value)
        }
        _ => !is_null(field.value),
    }
}

fn fixed_text<'a>(reader: &mut Reader<'a>, field: &Field<'a>, wanted: &str) {
    if let Some(text) = reader.word(Feature::Unparseable, field)
        && text.value != wanted
    {
        reader.report(
            Feature::Unparseable,
            field.value,
            &field.way,
            format!(
                "the {} of a kustomization is not {:?}",
                field.name, text.value
            ),
            format!("write {}: {wanted}", field.name),
        );
    }
}

fn kind<'a>(reader: &mut Reader<'a>, field: &Field<'a>) {
    if as_text(field.value) == Some("Component") {
        return unmodelled(reader, field, "components", "");
    }
    fixed_text(reader, field, KIND);
}

/// Checks the metadata, which no build shows.
fn metadata<'a>(reader: &mut Reader<'a>, field: &Field<'a>) {
    for field in reader.fields(Feature::Unparseable, field.value, &field.way) {
        match field.name {
            "name" | "namespace" => {
                reader.text(Feature::Unparseable, &field);
            }
            "labels" | "annotations" => {
                reader.pairs(&field);
            }
            _ => reader.unknown(Feature::Unparseable, &field),
        }
    }
}

/// Reports a field that kustomize knows and this module does not, by its own name.
fn unmodelled<'a>(reader: &mut Reader<'a>, field: &Field<'a>, key: &'static str, instead: &str) {
    let remedy = match instead {
        "" => format!("take {key} out, or point spec.path at a folder without it"),
        instead => format!("write it under {instead}:"),
    };
    let at = reader.location(field.value, &field.way);
    reader.issues.push(Issue {
        actor: Actor::Nobody,
        ..Issue::of_author(
            Feature::Field(key),
            at,
            format!("{key} is not understood yet"),
            remedy,
        )
    });
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    List,
    Mapping,
    /// A mapping that says something even where it is empty.
    Order,
}

impl Shape {
    /// Says whether a value says nothing, so that its field is as good as absent.
    pub(super) fn is_absent(self, node: &Node) -> bool {
        let is_empty = match &node.kind {
            Kind::Scalar { .. } => self == Self::Text && as_text(node) == Some(""),
            Kind::Sequence { items, .. } => self == Self::List && items.is_empty(),
            Kind::Mapping { entries, .. } => self == Self::Mapping && entries.is_empty(),
            Kind::Alias { .. } => false,
        };
        is_empty || is_null(node)
    }
}

/// Gives every issue of a file the actor of the one that the fewest can settle.
fn blame_the_least_able(issues: &mut [Issue]) {
    if let Some(actor) = issues.iter().map(|issue| issue.actor).max() {
        issues.iter_mut().for_each(|issue| issue.actor = actor);
    }
}
