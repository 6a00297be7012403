//! Values together with how they are written, for folders that are made up.

use serde_json::Value;

/// A value and its spelling.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// A scalar as it is written, and what that means.
    Scalar(String, Value),
    /// A list.
    List(Vec<Self>),
    /// A mapping, in the order of its keys.
    Map(Vec<(String, Self)>),
    /// A value that stands on one line, between brackets or braces where it is no scalar.
    Flow(Box<Self>),
}

impl Written {
    /// Writes a value without quotes; an empty null as nothing.
    pub fn plain(text: &str, value: impl Into<Value>) -> Self {
        Self::Scalar(text.to_owned(), value.into())
    }

    /// Writes a text without quotes.
    pub fn bare(text: &str) -> Self {
        Self::plain(text, text)
    }

    /// Writes a text in quotes.
    pub fn quoted(text: &str) -> Self {
        Self::Scalar(Value::from(text).to_string(), Value::from(text))
    }

    /// Writes a number.
    pub fn number(number: usize) -> Self {
        Self::plain(&number.to_string(), number)
    }

    /// Makes a mapping.
    pub fn map<const N: usize>(fields: [(&str, Self); N]) -> Self {
        Self::Map(fields.map(|(key, value)| (key.to_owned(), value)).into())
    }

    /// Sets a field of a mapping.
    pub fn set(&mut self, key: &str, value: Self) {
        let Self::Map(fields) = self else { return };
        match fields.iter_mut().find(|(known, _)| known == key) {
            Some((_, present)) => *present = value,
            None => fields.push((key.to_owned(), value)),
        }
    }

    /// Writes the value as YAML in block style, with a line break at its end.
    pub fn yaml(&self) -> String {
        let mut lines = Vec::new();
        self.write(&mut lines);
        lines.join("\n") + "\n"
    }

    fn write(&self, lines: &mut Vec<String>) {
        match self {
            Self::Scalar(text, _) => lines.push(text.clone()),
            Self::Flow(value) => lines.push(value.flow()),
            Self::List(items) if items.is_empty() => lines.push("[]".to_owned()),
            Self::Map(fields) if fields.is_empty() => lines.push("{}".to_owned()),
            Self::List(items) => {
                for item in items {
                    let mut below = Vec::new();
                    item.write(&mut below);
                    for (at, line) in below.iter().enumerate() {
                        let mark = if at == 0 { "- " } else { "  " };
                        lines.push(format!("{mark}{line}"));
                    }
                }
            }
            Self::Map(fields) => {
                for (key, value) in fields {
                    let mut below = Vec::new();
                    value.write(&mut below);
                    if value.is_flat() {
                        lines.push(format!("{key}: {}", below.concat()));
                    } else {
                        lines.push(format!("{key}:"));
                        lines.extend(below.iter().map(|line| format!("  {line}")));
                    }
                }
            }
        }
    }

    fn flow(&self) -> String {
        match self {
            Self::Scalar(text, _) => text.clone(),
            Self::Flow(value) => value.flow(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::flow).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Map(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(key, value)| format!("{key}: {}", value.flow()))
                    .collect();
                format!("{{{}}}", fields.join(", "))
            }
        }
    }

    /// Whether the value stands on the line of its key.
    fn is_flat(&self) -> bool {
        match self {
            Self::Scalar(..) | Self::Flow(_) => true,
            Self::List(items) => items.is_empty(),
            Self::Map(fields) => fields.is_empty(),
        }
    }
}
