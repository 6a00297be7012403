//! From findings to the lines of the record.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use manifests::plan::defaults::record::{self, Line};

use super::compare::Found;
use super::schema::Kind;

/// Defaults that have another value in skeletons without meaning: a strategy that rolls nothing, and says how.
const OF_ONE_STRATEGY: [(&str, &str); 3] = [
    ("apps.v1.RollingUpdateDaemonSet", "maxUnavailable"),
    ("apps.v1.RollingUpdateDeployment", "maxSurge"),
    ("apps.v1.RollingUpdateDeployment", "maxUnavailable"),
];

/// The lines so far, and under which names the shapes stand in them.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: Vec<Line>,
    /// The names of the shapes of each schema, by their content.
    shapes: BTreeMap<String, Vec<(Vec<Line>, String)>>,
    /// Where the server filled in different values, and no rule says why.
    unexplained: Vec<String>,
}

impl Lines {
    pub(super) fn add(&mut self, kind: &Kind, found: &Found) {
        let shape = self.shape(&kind.schema, found);
        self.lines.push(Line {
            of: format!("{} {}", kind.api_version(), kind.resource),
            shape,
            ..Line::default()
        });
    }

    /// Returns the record.
    pub(super) fn text(mut self) -> Result<String> {
        ensure!(
            self.unexplained.is_empty(),
            "these defaults depend on other fields, and no rule knows how:\n{}",
            self.unexplained.join("\n")
        );
        self.lines
            .sort_by(|a, b| (&a.of, &a.at).cmp(&(&b.of, &b.at)));
        let mut text = String::new();
        for line in self.lines {
            text.push_str(&serde_json::to_string(&line)?);
            text.push('\n');
        }
        Ok(text)
    }

    /// Returns the name of a shape, and adds its lines when no other kind brought them. A shape of which nothing
    /// is known has no name.
    fn shape(&mut self, schema: &str, found: &Found) -> Option<String> {
        let short = short(schema);
        let mut lines = Vec::new();
        self.collect(&short, found, "", &mut lines);
        if lines.is_empty() {
            return None;
        }
        let known = self.shapes.entry(short.clone()).or_default();
        if let Some((_, name)) = known.iter().find(|(content, _)| *content == lines) {
            return Some(name.clone());
        }
        let name = match known.len() {
            0 => short,
            others => format!("{short}~{}", others + 1),
        };
        known.push((lines.clone(), name.clone()));
        self.lines.extend(lines.into_iter().map(|line| Line {
            of: name.clone(),
            ..line
        }));
        Some(name)
    }

    /// Collects what is known below a place, without the name of the shape that it belongs to.
    fn collect(&mut self, shape: &str, found: &Found, path: &str, lines: &mut Vec<Line>) {
        for (step, found) in &found.below {
            let at = match path {
                "" => step.clone(),
                path => format!("{path}.{step}"),
            };
            let below = match &found.schema {
                Some(schema) => self.shape(schema, found),
                None => None,
            };
            let line = Line {
                of: String::new(),
                at: at.clone(),
                default: self.default(shape, &at, found),
                dropped: found.dropped == Some(true),
                spelling: found.spelling,
                shape: below,
            };
            let says_nothing = Line {
                at: at.clone(),
                ..Line::default()
            };
            if line != says_nothing {
                lines.push(line);
            }
            if found.schema.is_none() {
                self.collect(shape, found, &at, lines);
            }
        }
    }

    fn default(&mut self, shape: &str, at: &str, found: &Found) -> Option<serde_json::Value> {
        if record::depends(shape, at) {
            return None;
        }
        if found.defaults.len() > 1 && !OF_ONE_STRATEGY.contains(&(shape, at)) {
            let values: Vec<String> = found.defaults.iter().map(ToString::to_string).collect();
            self.unexplained
                .push(format!("{shape} {at}: {}", values.join(", ")));
        }
        found.defaults.first().cloned()
    }
}

/// Shortens `io.k8s.api.apps.v1.Deployment` to `apps.v1.Deployment`.
fn short(schema: &str) -> String {
    let parts: Vec<&str> = schema.split('.').collect();
    parts[parts.len().saturating_sub(3)..].join(".")
}
