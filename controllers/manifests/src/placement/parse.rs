//! Reading a template: every fault is found at once, and each says what to write instead (PL-7 to PL-13).

use model::RepoPath;
use model::sanitize::is_bookkeeping_label;
use model::selector::is_label_key;

use super::segment::is_reserved;
use super::template::Piece;
use super::variable::{PLAIN, Variable};

/// A fault of a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Nothing is written.
    #[error(
        "the template is empty; remove the field, or write a path such as {{namespace}}/{{name}}.yaml"
    )]
    Empty,
    /// The path would begin at the root of the file system.
    #[error("the path begins with a slash; write it relative to spec.path, without the slash")]
    Absolute,
    /// The path would go up or stay.
    #[error(
        "the part {part:?} would leave or repeat a folder; write a path below spec.path without it"
    )]
    Step {
        /// The part.
        part: String,
    },
    /// Two slashes in a row.
    #[error(
        "two slashes follow each other; write one, since an empty variable drops its part by itself"
    )]
    EmptyPart,
    /// A part that no repository may hold.
    #[error(
        "no file or folder of a repository may be called {part:?}: {rule}; choose another name"
    )]
    IllegalPart {
        /// The part.
        part: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// The file would not be YAML.
    #[error(
        "the path does not end in .yaml, .yml or {{sensitiveSuffix}}; add one of them at its end"
    )]
    Extension,
    /// The file would have another meaning to the folder.
    #[error(
        "a file called {name:?} has a meaning of its own and cannot hold documents; put a name before it"
    )]
    ReservedName {
        /// The name.
        name: String,
    },
    /// A brace without its partner.
    #[error(
        "a brace has no partner in {near:?}; variables are written {{name}}, and a brace cannot stand for itself"
    )]
    Brace {
        /// The text from the brace on.
        near: String,
    },
    /// No such variable.
    #[error("{{{name}}} is not a variable; {hint}")]
    UnknownVariable {
        /// What stands between the braces.
        name: String,
        /// What to write instead.
        hint: String,
    },
    /// A fallback where nothing can be absent.
    #[error(
        "{{{name}}} takes no fallback, because only a namespace or a label can be absent; write {{{name}}} without the bar"
    )]
    NoFallback {
        /// The variable.
        name: String,
    },
    /// A fallback that is no part of a path.
    #[error(
        "the fallback {fallback:?} of {{{name}}} is not at most 63 of A-Z a-z 0-9 . _ - or is '.' or '..'; choose another"
    )]
    Fallback {
        /// The variable.
        name: String,
        /// The fallback.
        fallback: String,
    },
    /// A label that no object can carry.
    #[error(
        "{key:?} is not the key of a label; write {{label:KEY}} with a key such as app.kubernetes.io/instance"
    )]
    LabelKey {
        /// The key.
        key: String,
    },
    /// A label that never reaches Git.
    #[error(
        "the label {key} is a controller's bookkeeping and is taken out before a document is written, so every object would get the fallback; use another label"
    )]
    StrippedLabel {
        /// The key.
        key: String,
    },
}

/// Reads the segments of a template.
pub(super) fn segments(text: &str) -> Result<Vec<Vec<Piece>>, Vec<TemplateError>> {
    if text.trim().is_empty() {
        return Err(vec![TemplateError::Empty]);
    }
    let mut reader = Reader {
        segments: vec![Vec::new()],
        errors: Vec::new(),
    };
    reader.read(text);
    reader.judge(text);
    if reader.errors.is_empty() {
        Ok(reader.segments)
    } else {
        Err(reader.errors)
    }
}

struct Reader {
    segments: Vec<Vec<Piece>>,
    errors: Vec<TemplateError>,
}

impl Reader {
    /// Cuts the text into segments and pieces. A slash between braces belongs to the key of a label.
    fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(['/', '{', '}']) {
            self.literal(&rest[..at]);
            let from = &rest[at..];
            rest = &from[1..];
            if from.starts_with('/') {
                self.segments.push(Vec::new());
                continue;
            }
            match (from.starts_with('{'), rest.find(['{', '}'])) {
                (true, Some(end)) if rest[end..].starts_with('}') => {
                    match variable(&rest[..end]) {
                        Ok(variable) => self.push(Piece::Variable(variable)),
                        Err(error) => self.fault(error),
                    }
                    rest = &rest[end + 1..];
                }
                _ => self.fault(TemplateError::Brace {
                    near: from.chars().take(20).collect(),
                }),
            }
        }
        self.literal(rest);
    }

    fn literal(&mut self, text: &str) {
        if !text.is_empty() {
            self.push(Piece::Literal(text.to_owned()));
        }
    }

    /// Notes a fault; its place counts as text, so that it does not look like an empty part as well.
    fn fault(&mut self, error: TemplateError) {
        self.errors.push(error);
        self.push(Piece::Literal("_".to_owned()));
    }

    fn push(&mut self, piece: Piece) {
        if let Some(segment) = self.segments.last_mut() {
            segment.push(piece);
        }
    }

    fn judge(&mut self, text: &str) {
        let mut found = Vec::new();
        if text.starts_with('/') {
            found.push(TemplateError::Absolute);
        }
        let count = self.segments.len();
        for (index, segment) in self.segments.iter().enumerate() {
            let inner = index > 0 && index + 1 < count;
            match segment.as_slice() {
                [] if inner => found.push(TemplateError::EmptyPart),
                pieces => found.extend(literal_fault(pieces)),
            }
        }
        found.extend(self.file_fault());
        self.errors.append(&mut found);
    }

    /// Finds what is wrong with the name of the file.
    fn file_fault(&self) -> Option<TemplateError> {
        let segment = self.segments.last().map(Vec::as_slice);
        let name = match segment {
            Some([Piece::Literal(name)]) => name.as_str(),
            Some([Piece::Variable(Variable::SensitiveSuffix)]) => {
                return Some(TemplateError::ReservedName {
                    name: "{sensitiveSuffix}".to_owned(),
                });
            }
            _ => "",
        };
        let end = segment.and_then(|segment| segment.last());
        match end {
            _ if is_reserved(name) => Some(TemplateError::ReservedName {
                name: name.to_owned(),
            }),
            Some(Piece::Literal(end)) if end.ends_with(".yaml") || end.ends_with(".yml") => None,
            Some(Piece::Variable(Variable::SensitiveSuffix)) => None,
            Some(Piece::Literal(_) | Piece::Variable(_)) | None => Some(TemplateError::Extension),
        }
    }
}

/// Finds what is wrong with the text of a segment that stands for itself.
fn literal_fault(pieces: &[Piece]) -> Option<TemplateError> {
    let illegal = |part: &str| {
        let rule = RepoPath::new(part).err()?.rule;
        let part = part.to_owned();
        Some(match part.as_str() {
            "." | ".." => TemplateError::Step { part },
            _ => TemplateError::IllegalPart { part, rule },
        })
    };
    match pieces {
        [Piece::Literal(text)] => illegal(text),
        pieces => pieces.iter().find_map(|piece| match piece {
            // A letter on both sides, because a stretch of dots is no step beside a variable.
            Piece::Literal(text) => illegal(&format!("x{text}x")),
            Piece::Variable(_) => None,
        }),
    }
}

/// Reads what stands between two braces.
fn variable(text: &str) -> Result<Variable, TemplateError> {
    let (name, fallback) = match text.split_once('|') {
        Some((name, fallback)) => (name, Some(fallback)),
        None => (text, None),
    };
    if let Some((_, variable)) = PLAIN.iter().find(|(plain, _)| *plain == name) {
        return match fallback {
            None => Ok(variable.clone()),
            Some(_) => Err(TemplateError::NoFallback {
                name: name.to_owned(),
            }),
        };
    }
    let key = name.strip_prefix("label:");
    if key.is_none() && name != "namespace" {
        return Err(TemplateError::UnknownVariable {
            name: text.to_owned(),
            hint: hint(name),
        });
    }
    if let Some(fallback) = fallback.filter(|fallback| !is_fallback(fallback)) {
        return Err(TemplateError::Fallback {
            name: name.to_owned(),
            fallback: fallback.to_owned(),
        });
    }
    let fallback = fallback.map(str::to_owned);
    let Some(key) = key else {
        return Ok(Variable::Namespace { fallback });
    };
    let key = key.to_owned();
    if !is_label_key(&key) {
        return Err(TemplateError::LabelKey { key });
    }
    if is_bookkeeping_label(&key) {
        return Err(TemplateError::StrippedLabel { key });
    }
    Ok(Variable::Label { key, fallback })
}

fn is_fallback(text: &str) -> bool {
    text.len() <= 63
        && text != "."
        && text != ".."
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

fn hint(name: &str) -> String {
    if name.starts_with("annotation:") {
        return "annotations cannot be used in a path; use a label with {label:KEY}".to_owned();
    }
    if name == "namespaceOrCluster" {
        return "write {namespace}, which is _cluster for an object of the cluster".to_owned();
    }
    let meant = PLAIN
        .iter()
        .map(|(plain, _)| *plain)
        .chain(["namespace"])
        .find(|plain| plain.eq_ignore_ascii_case(name.trim()));
    match meant {
        Some(meant) => format!("write {{{meant}}}"),
        None => {
            let names: Vec<&str> = PLAIN.iter().map(|(plain, _)| *plain).collect();
            format!(
                "the variables are namespace, {} and label:KEY",
                names.join(", ")
            )
        }
    }
}
