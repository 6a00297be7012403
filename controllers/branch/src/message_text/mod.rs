//! What a commit says: by the templates of its target, or the built-in wording where there is none. Pure.
//!
//! A template that is refused here never reaches a commit; one that fails on a commit that no example foresaw gives way
//! to the built-in wording, so that no write waits for its words. [`defaults`] is that wording, [`context`] is what a
//! template can see, [`examples`] are what it is tried on, and [`template`] is the language.

mod context;
mod defaults;
mod examples;
pub mod template;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use model::{Author, Delivery, ObjectName, Snapshot};
use serde::{Deserialize, Serialize};

use self::context::{Entry, Live, Reconcile};
use self::template::{Template, TemplateError, Value};

/// How the commits of one target are worded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Sources", into = "Sources")]
pub struct Wording {
    live: Option<Arc<Template>>,
    reconcile: Option<Arc<Template>>,
    request: Option<Arc<Template>>,
}

/// The templates as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// For a window of live writes.
    pub live: Option<String>,
    /// For a snapshot.
    pub reconcile: Option<String>,
    /// For a window that somebody's request attached to.
    pub request: Option<String>,
}

/// What is wrong with a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordingProblem {
    /// It cannot be read, or not be executed on an example.
    #[error("spec.commit.message.{field}, {error}")]
    Template {
        /// Which template.
        field: &'static str,
        /// What is wrong, and where.
        error: TemplateError,
    },
    /// It words an example with nothing.
    #[error("spec.commit.message.{field} prints nothing for {example}; a commit needs words")]
    Blank {
        /// Which template.
        field: &'static str,
        /// What it was tried on.
        example: &'static str,
    },
    /// It leaves out what the person wrote who asked for the commit.
    #[error(
        "spec.commit.message.requestTemplate does not print {{{{.RequestMessage}}}} for {example}; \
         the message of a request must be in its commit"
    )]
    RequestMessageMissing {
        /// What it was tried on.
        example: &'static str,
    },
}

/// The words of one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The words.
    pub text: String,
    /// Why the target's own template was not used although there is one.
    pub fell_back: Option<String>,
}

/// A commit window as it is worded.
#[derive(Debug, Clone, Copy)]
pub struct LiveCommit<'a> {
    /// Who made the changes.
    pub author: &'a Author,
    /// The target.
    pub target: &'a ObjectName,
    /// The changes, in the order in which their objects were first seen.
    pub entries: &'a [&'a Delivery],
}

/// A snapshot as it is worded.
#[derive(Debug, Clone, Copy)]
pub struct ReconcileCommit<'a> {
    /// The target.
    pub target: &'a ObjectName,
    /// The snapshot.
    pub snapshot: &'a Snapshot,
    /// How many documents it changes.
    pub changed: usize,
}

impl Wording {
    /// Reads the templates and tries them on examples. Space around a template does not count, and a blank one is none.
    ///
    /// # Errors
    /// Returns one problem for each template that has any.
    pub fn read(sources: &Sources) -> Result<Self, Vec<WordingProblem>> {
        let mut problems = Vec::new();
        let mut take = |field, source: &Option<String>, judge: Judge| {
            let source = source.as_deref().map(str::trim)?;
            if source.is_empty() {
                return None;
            }
            let judged = Template::read(source)
                .map_err(|error| WordingProblem::Template { field, error })
                .and_then(|template| judge(field, &template).map(|()| Arc::new(template)));
            judged.map_err(|problem| problems.push(problem)).ok()
        };
        let wording = Self {
            live: take("liveTemplate", &sources.live, examples::try_live),
            reconcile: take(
                "reconcileTemplate",
                &sources.reconcile,
                examples::try_reconcile,
            ),
            request: take("requestTemplate", &sources.request, examples::try_request),
        };
        if problems.is_empty() {
            Ok(wording)
        } else {
            Err(problems)
        }
    }

    /// Words a commit of one author's changes.
    pub fn live(&self, commit: LiveCommit<'_>) -> Message {
        let built_in = || defaults::live(commit.entries);
        word(self.live.as_deref(), built_in, || {
            let author = match commit.author {
                Author::Actor(identity) => identity.username.as_str(),
                Author::Operator | Author::Unresolved => "",
            };
            let entries = commit.entries.iter().map(|entry| Entry::of(entry));
            Live::new(author, commit.target, entries.collect(), "").into_value()
        })
    }

    /// Words a commit of a snapshot.
    pub fn reconcile(&self, commit: ReconcileCommit<'_>) -> Message {
        let ReconcileCommit {
            target,
            snapshot,
            changed,
        } = commit;
        let collection = &snapshot.collection;
        let version = &snapshot.resource_version;
        let built_in = || defaults::reconcile(collection, changed, version);
        word(self.reconcile.as_deref(), built_in, || {
            Reconcile::of(target, snapshot, changed).into_value()
        })
    }
}

type Judge = fn(&'static str, &Template) -> Result<(), WordingProblem>;

fn word(
    template: Option<&Template>,
    built_in: impl Fn() -> String,
    context: impl FnOnce() -> Value,
) -> Message {
    let Some(template) = template else {
        return Message {
            text: built_in(),
            fell_back: None,
        };
    };
    let why = match template.run(context()) {
        Ok(text) if !text.trim().is_empty() => {
            return Message {
                text,
                fell_back: None,
            };
        }
        Ok(_) => "it prints nothing for this commit".to_owned(),
        Err(error) => error.to_string(),
    };
    Message {
        text: built_in(),
        fell_back: Some(why),
    }
}

impl TryFrom<Sources> for Wording {
    type Error = TemplateError;

    fn try_from(sources: Sources) -> Result<Self, TemplateError> {
        let read = |source: Option<String>| -> Result<_, TemplateError> {
            let template = source.map(|source| Template::read(&source)).transpose()?;
            Ok(template.map(Arc::new))
        };
        Ok(Self {
            live: read(sources.live)?,
            reconcile: read(sources.reconcile)?,
            request: read(sources.request)?,
        })
    }
}

impl From<Wording> for Sources {
    fn from(wording: Wording) -> Self {
        let source =
            |template: Option<Arc<Template>>| template.map(|template| template.source().to_owned());
        Self {
            live: source(wording.live),
            reconcile: source(wording.reconcile),
            request: source(wording.request),
        }
    }
}
