//! What a target declares about placement, and what is wrong with it (PL-3, PL-12 to PL-14).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use model::{Sensitivity, TypeId};
use serde::{Deserialize, Serialize};

use super::template::Template;
use super::type_key::TypeKey;

/// The declared placement of a target. The one without any declaration leaves every choice to the folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    by_type: BTreeMap<TypeKey, Template>,
    default: Option<Template>,
    use_kustomize: Option<bool>,
}

/// One fault of a declaration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The field, such as `spec.placement.byType[apps/v1/deployments]`.
    pub field: String,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl Placement {
    /// Reads the fields of `spec.placement` and judges them against the types that hold secrets.
    ///
    /// # Errors
    /// Returns every fault, with the field that it stands in.
    pub fn read<'a>(
        by_type: impl IntoIterator<Item = (&'a str, &'a str)>,
        default: Option<&str>,
        use_kustomize: Option<bool>,
        sensitivity: &Sensitivity,
    ) -> Result<Self, Vec<Problem>> {
        let mut reading = Reading {
            sensitivity,
            problems: Vec::new(),
            routed: BTreeSet::new(),
        };
        let by_type = by_type
            .into_iter()
            .filter_map(|(key, text)| reading.route(key, text))
            .collect();
        let default = default.and_then(|text| reading.default(text));
        if reading.problems.is_empty() {
            Ok(Self {
                by_type,
                default,
                use_kustomize,
            })
        } else {
            Err(reading.problems)
        }
    }

    /// Returns the same declaration with another template for one type.
    pub(crate) fn with_template(&self, key: TypeKey, template: Template) -> Self {
        let mut placement = self.clone();
        placement.by_type.insert(key, template);
        placement
    }

    /// Returns the template that is declared for exactly this type.
    pub fn template_of(&self, key: &TypeKey) -> Option<&Template> {
        self.by_type.get(key)
    }

    /// Returns the template for every type that has none of its own.
    pub fn default_template(&self) -> Option<&Template> {
        self.default.as_ref()
    }

    /// Says whether a kustomization is made where none governs a new document; `None` is not said.
    pub fn use_kustomize(&self) -> Option<bool> {
        self.use_kustomize
    }
}

struct Reading<'a> {
    sensitivity: &'a Sensitivity,
    problems: Vec<Problem>,
    /// The types that have a route of their own, good or bad.
    routed: BTreeSet<TypeId>,
}

impl Reading<'_> {
    fn route(&mut self, key: &str, text: &str) -> Option<(TypeKey, Template)> {
        let field = format!("spec.placement.byType[{key}]");
        let type_key = TypeKey::parse(key)
            .map_err(|error| self.note(&field, error.to_string()))
            .ok();
        let template = self.template(&field, text);
        let type_key = type_key?;
        self.routed.insert(type_key.type_id().clone());
        let template = template?;
        if self.sensitivity.is_sensitive(type_key.type_id()) && !template.tells_objects_apart() {
            let message = format!(
                "{} is sensitive, and {template:?} can give one file to several objects; write a path with both {{namespace}} and {{name}}",
                type_key.type_id()
            );
            self.note(&field, message);
        }
        Some((type_key, template))
    }

    fn default(&mut self, text: &str) -> Option<Template> {
        let field = "spec.placement.default";
        let template = self.template(field, text)?;
        if !template.tells_types_apart() {
            for id in self.sensitivity.types() {
                if self.routed.contains(&id) {
                    continue;
                }
                let message = format!(
                    "{template:?} can give one file to several objects, and {id}, which is sensitive, has no route of its own; add spec.placement.byType[{}] with {{namespace}} and {{name}}, or write a path with {{namespace}}, {{group}}, {{resource}} and {{name}}",
                    example_key(&id)
                );
                self.note(field, message);
            }
        }
        Some(template)
    }

    fn template(&mut self, field: &str, text: &str) -> Option<Template> {
        match Template::parse(text) {
            Ok(template) => Some(template),
            Err(errors) => {
                for error in errors {
                    self.note(field, format!("template {text:?}: {error}"));
                }
                None
            }
        }
    }

    fn note(&mut self, field: &str, message: String) {
        self.problems.push(Problem {
            field: field.to_owned(),
            message,
        });
    }
}

/// Words the key of a type whose version is not known.
fn example_key(id: &TypeId) -> String {
    if id.group.is_empty() {
        format!("v1/{}", id.resource)
    } else {
        format!("{}/VERSION/{}", id.group, id.resource)
    }
}
