//! A case: a folder, what it builds to, what happens to the objects, and which inputs may say so.

use std::collections::BTreeSet;

use manifests::Intent;
use manifests::plan::Policy;
use model::IssueKind;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::kustomize::archive::Files;
use crate::kustomize::oracle::Answer;
use crate::kustomize::ours;
use crate::rows;
use crate::rows::objects::{Kind, TEAM, id_of, kept, live};

/// A folder and what happens to the objects that it builds.
#[derive(Debug)]
pub struct Case {
    /// Which one it is.
    pub number: u64,
    /// The files of the repository.
    pub files: Files,
    /// The folders that are built.
    pub roots: Vec<&'static str>,
    /// The objects that are built, as a cluster has them.
    pub before: Vec<Value>,
    /// How the target is set up.
    pub policy: Policy,
    /// What happens.
    pub happenings: Vec<Happening>,
    /// The files that may change; the others keep their bytes.
    pub may_change: BTreeSet<String>,
    /// Whether any input below the folder may change but patches.
    pub is_open: bool,
    /// Whether nothing builds the folder before.
    pub is_plain: bool,
    /// What the text of a new document must hold or lack.
    pub new_text: Option<(&'static str, bool)>,
}

/// What happens to one object.
#[derive(Debug, Clone)]
pub struct Happening {
    /// What it is.
    pub deed: Deed,
    /// What must come of it.
    pub promise: Promise,
    /// What the planner is told.
    pub intent: Intent,
}

/// What happens.
#[derive(Debug, Clone)]
pub enum Deed {
    /// An object becomes another.
    Becomes {
        /// What it was.
        was: Value,
        /// What it is.
        is: Value,
    },
    /// An object comes.
    Comes(Value),
    /// An object goes.
    Goes(Value),
}

/// What must come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// It lands in an input of this class.
    Lands(Supplier),
    /// It is refused for this reason, where there is one reason.
    Refused(Option<IssueKind>),
    /// It lands or is refused.
    Open(Supplier),
}

/// A class of inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Supplier {
    /// A document.
    Document,
    /// An entry of `images:`.
    Images,
    /// An entry of `replicas:`.
    Replicas,
    /// An entry that an overlay gets.
    NewEntry,
    /// A literal of a generator.
    Literal,
    /// A line that a generator reads.
    EnvLine,
    /// A file that a generator reads.
    Content,
    /// A document that comes or goes, with the list that names it.
    List,
    /// A patch that takes an object away.
    DeletePatch,
    /// Several of them.
    Mixed,
}

impl Case {
    /// Starts with a folder and what it builds to; nothing where it builds to nothing.
    pub fn new(
        files: Files,
        roots: Vec<&'static str>,
        built: Answer,
        policy: Policy,
    ) -> Option<Self> {
        let mut before = built.ok()?;
        before.iter_mut().for_each(as_live);
        Some(Self {
            number: 0,
            files,
            roots,
            before,
            policy,
            happenings: Vec::new(),
            may_change: BTreeSet::new(),
            is_open: false,
            is_plain: false,
            new_text: None,
        })
    }

    /// Returns what happens, for those who compare without a judge.
    ///
    /// # Errors
    /// Returns which path is none.
    pub fn told(self) -> Result<rows::case::Case, String> {
        let before = ours::tree(&self.files)?;
        let intents = self.happenings.into_iter().map(|it| it.intent);
        Ok(rows::case::Case::of(before, intents.collect(), self.policy))
    }

    /// Returns the object of a name that the folder builds.
    ///
    /// # Panics
    /// When it builds none.
    pub fn built(&self, kind: Kind, name: &str) -> Value {
        let kind = kind.served().kind;
        let is_it =
            |object: &&Value| object["kind"] == kind.as_str() && object["metadata"]["name"] == name;
        let found = self.before.iter().find(is_it);
        found
            .expect("the folder builds what was put into it")
            .clone()
    }

    /// Says that a file may change.
    pub fn touches(&mut self, path: &str) {
        self.may_change.insert(path.to_owned());
    }

    /// Says that an object is live otherwise than it is built.
    pub fn becomes(&mut self, was: &Value, is: Value, promise: Promise, dice: &mut Dice) {
        let intent = Intent::Upsert(live(&is, dice));
        let was = was.clone();
        // Kustomize drops blank lines from the end of a file, and with them those of a block that stands there.
        let promise = match promise {
            Promise::Lands(supplier) if ends_blank(&is) => Promise::Open(supplier),
            promise => promise,
        };
        self.happens(Deed::Becomes { was, is }, promise, intent);
    }

    /// Says that a new object is live.
    pub fn comes(&mut self, value: Value, promise: Promise, dice: &mut Dice) {
        let intent = Intent::Upsert(kept(&value, dice));
        self.happens(Deed::Comes(value), promise, intent);
    }

    /// Says that an object is gone.
    pub fn goes(&mut self, value: &Value, promise: Promise) {
        let intent = Intent::Remove { id: id_of(value) };
        self.happens(Deed::Goes(value.clone()), promise, intent);
    }

    fn happens(&mut self, deed: Deed, promise: Promise, intent: Intent) {
        self.happenings.push(Happening {
            deed,
            promise,
            intent,
        });
    }
}

impl Deed {
    /// Returns the object that it happens to.
    pub fn object(&self) -> &Value {
        match self {
            Self::Becomes { is, .. } => is,
            Self::Comes(value) | Self::Goes(value) => value,
        }
    }
}

impl Promise {
    /// Returns the class of inputs that it is about.
    pub fn supplier(self) -> Option<Supplier> {
        match self {
            Self::Lands(supplier) | Self::Open(supplier) => Some(supplier),
            Self::Refused(_) => None,
        }
    }
}

impl Supplier {
    /// Returns its name in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Images => "images entry",
            Self::Replicas => "replicas entry",
            Self::NewEntry => "new entry",
            Self::Literal => "literal",
            Self::EnvLine => "env line",
            Self::Content => "file",
            Self::List => "document and list",
            Self::DeletePatch => "delete patch",
            Self::Mixed => "any of them",
        }
    }
}

/// Says whether a text ends in blank lines.
fn ends_blank(value: &Value) -> bool {
    match value {
        Value::String(text) => text.ends_with("\n\n"),
        Value::Array(items) => items.iter().any(ends_blank),
        Value::Object(fields) => fields.values().any(ends_blank),
        _ => false,
    }
}

/// Makes of a built object what a cluster has: one of a namespaced kind is in a namespace, any other is in none.
pub fn as_live(object: &mut Value) {
    let is_namespaced = Kind::of(object).is_namespaced();
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return;
    };
    match is_namespaced {
        true => drop(metadata.entry("namespace").or_insert(json!(TEAM))),
        false => drop(metadata.remove("namespace")),
    }
}
