//! A template: the path of a document with places for what the object says.

use std::fmt;

use model::{DesiredObject, ResourceId, ServedType};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::parse::{self, TemplateError};
use super::segment;
use super::variable::Variable;

/// A path template that was found to be sound: relative, without parent steps, the name of a YAML file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template {
    text: String,
    segments: Vec<Vec<Piece>>,
}

/// A stretch of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(String),
    Variable(Variable),
}

/// What a placement looks at: an object's type, identity and labels, never its content.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The type in the version that the object was read in.
    pub served: &'a ServedType,
    /// The identity.
    pub id: &'a ResourceId,
    /// `metadata.labels`, without the controllers' bookkeeping.
    pub labels: Option<&'a Map<String, Value>>,
}

impl<'a> Subject<'a> {
    /// Takes what an object's place depends on; `value` is the object's own.
    pub fn of(object: &'a DesiredObject, value: &'a Map<String, Value>) -> Self {
        let metadata = value.get("metadata");
        Self {
            served: object.served(),
            id: object.id(),
            labels: metadata
                .and_then(|metadata| metadata.get("labels"))
                .and_then(Value::as_object),
        }
    }
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// Returns everything that is wrong with it, in the order of the text.
    pub fn parse(text: &str) -> Result<Self, Vec<TemplateError>> {
        let segments = parse::segments(text)?;
        Ok(Self {
            text: text.to_owned(),
            segments,
        })
    }

    /// Returns the template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the parts of the path for an object. A part that is empty as a whole is left out (PL-11).
    pub(super) fn render(&self, subject: Subject<'_>) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        for segment in &self.segments {
            let text: String = segment
                .iter()
                .map(|piece| match piece {
                    Piece::Literal(text) => segment::literal(text),
                    Piece::Variable(variable) => variable.render(subject),
                })
                .collect();
            let filled = text.split('/').filter(|part| !part.is_empty());
            parts.extend(filled.map(str::to_owned));
        }
        let file = parts.pop();
        let mut parts: Vec<String> = parts
            .iter()
            .map(|part| segment::folder_name(part))
            .collect();
        let sealed = subject.served.sensitive || self.names_sealed_files();
        parts.extend(file.map(|file| segment::file_name(&file, sealed)));
        parts
    }

    /// Says whether the template's own text gives every file the name of an encrypted one.
    pub(super) fn names_sealed_files(&self) -> bool {
        match self.segments.last().and_then(|segment| segment.last()) {
            Some(Piece::Literal(end)) => segment::is_sealed_name(end),
            Some(Piece::Variable(_)) | None => false,
        }
    }

    /// Says whether two objects of one type never meet on a path. A label is no identity (PL-14).
    pub(super) fn tells_objects_apart(&self) -> bool {
        self.has(|variable| *variable == Variable::Name)
            && self.has(|variable| matches!(variable, Variable::Namespace { .. }))
    }

    /// Says whether two objects of any types never meet on a path.
    pub(super) fn tells_types_apart(&self) -> bool {
        let resource = |variable: &Variable| {
            matches!(
                variable,
                Variable::Resource | Variable::Kind | Variable::KindLower
            )
        };
        self.tells_objects_apart()
            && self.has(resource)
            && self.has(|variable| matches!(variable, Variable::Group | Variable::ApiVersion))
    }

    fn has(&self, wanted: impl Fn(&Variable) -> bool) -> bool {
        self.segments.iter().flatten().any(|piece| match piece {
            Piece::Variable(variable) => wanted(variable),
            Piece::Literal(_) => false,
        })
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

impl TryFrom<String> for Template {
    type Error = TemplateError;
    fn try_from(text: String) -> Result<Self, TemplateError> {
        Self::parse(&text).map_err(|mut errors| errors.swap_remove(0))
    }
}

impl From<Template> for String {
    fn from(template: Template) -> Self {
        template.text
    }
}
