//! A folder in the making: documents, kustomizations, patches and inputs of generators, written as people write them.

use std::collections::BTreeMap;
use std::sync::Arc;

use manifests::plan::Policy;
use model::FolderPath;
use serde_json::{Map, Value, json};

use super::case::Case;
use crate::dice::Dice;
use crate::kustomize::archive::Files;
use crate::kustomize::ours;
use crate::rows::hand::{self, Style};
use crate::rows::objects::{Kind, TEAM, catalog, object, word};

/// The folder that is written and built.
pub const ROOT: &str = "live";
/// A folder outside of it, which the root may read.
pub const BASE: &str = "base";

/// A namespace that few objects are in.
pub const OTHER_TEAM: &str = "team-b";

/// A document as it was put into a file.
#[derive(Debug, Clone)]
pub struct Put {
    /// The file.
    pub path: String,
    /// What the document says.
    pub value: Value,
}

/// A folder in the making.
pub struct Draft<'d> {
    /// The choices.
    pub dice: &'d mut Dice,
    /// How the target is set up.
    pub policy: Policy,
    /// Whether a kustomization gives the namespace, so that documents may leave it out.
    pub gives_namespace: bool,
    /// The folder that documents are put into, below the root or outside of it.
    pub home: String,
    roots: Vec<&'static str>,
    is_plain: bool,
    documents: BTreeMap<String, Vec<Value>>,
    kustomizations: BTreeMap<String, Map<String, Value>>,
    names: BTreeMap<String, &'static str>,
    raw: Files,
    remarks: usize,
    count: usize,
}

impl<'d> Draft<'d> {
    /// Starts with a root that lists nothing. It may give the namespace, and objects may be kept in a folder below it.
    pub fn new(dice: &'d mut Dice) -> Self {
        let mut draft = Self::bare(dice);
        draft.gives_namespace = draft.dice.once_in(2);
        if draft.gives_namespace {
            draft.set(ROOT, "namespace", TEAM.into());
        }
        if draft.dice.once_in(4) {
            draft.home = format!("{ROOT}/inner");
            draft.list(ROOT, "inner");
            draft.set(&format!("{ROOT}/inner"), "resources", json!([]));
        }
        draft
    }

    /// Starts with a root that lists nothing and says nothing else.
    pub fn bare(dice: &'d mut Dice) -> Self {
        let folder = FolderPath::new(ROOT).expect("the name of a folder is a path");
        let mut draft = Self {
            dice,
            policy: Policy::new(folder, Arc::new(catalog())),
            gives_namespace: false,
            home: ROOT.to_owned(),
            roots: vec![ROOT],
            is_plain: false,
            documents: BTreeMap::new(),
            kustomizations: BTreeMap::new(),
            names: BTreeMap::new(),
            raw: Files::new(),
            remarks: 0,
            count: 0,
        };
        draft.set(ROOT, "resources", json!([]));
        draft
    }

    /// Starts with a root that reads a base outside of it, where the objects are kept.
    pub fn overlay(dice: &'d mut Dice) -> Self {
        let mut draft = Self::bare(dice);
        draft.gives_namespace = draft.dice.once_in(2);
        if draft.gives_namespace {
            let giver = draft.dice.one(&[ROOT, BASE]);
            draft.set(giver, "namespace", TEAM.into());
        }
        let list = draft.dice.one(&["resources", "resources", "bases"]);
        draft.entry(ROOT, list, "../base".into());
        draft.set(BASE, "resources", json!([]));
        draft.home = BASE.to_owned();
        draft
    }

    /// Starts with a folder that nothing builds.
    pub fn plain(dice: &'d mut Dice) -> Self {
        let mut draft = Self::bare(dice);
        draft.is_plain = true;
        draft
    }

    /// Starts with two roots for two namespaces that read one folder, where the objects are kept.
    pub fn two_roots(dice: &'d mut Dice) -> Self {
        let mut draft = Self::bare(dice);
        draft.kustomizations.clear();
        draft.gives_namespace = true;
        draft.roots = vec!["live/dev", "live/prod"];
        draft.home = format!("{ROOT}/shared");
        draft.set("live/shared", "resources", json!([]));
        for (root, namespace) in [("live/dev", TEAM), ("live/prod", OTHER_TEAM)] {
            draft.set(root, "namespace", namespace.into());
            draft.list(root, "../shared");
        }
        draft
    }

    /// Has another folder as the only one that is built.
    pub fn move_root(&mut self, to: &'static str) {
        self.kustomizations.clear();
        self.roots = vec![to];
        self.home = to.to_owned();
        self.set(to, "resources", json!([]));
    }

    /// Returns a name that nothing else of the draft has.
    pub fn name(&mut self, stem: &str) -> String {
        self.count += 1;
        format!("{stem}-{}", self.count)
    }

    /// Draws how many of something there are. Many share the cost of a build.
    pub fn many(&mut self) -> usize {
        1 + self.dice.below(8)
    }

    /// Sets a field of the kustomization of a folder.
    pub fn set(&mut self, folder: &str, key: &str, value: Value) {
        let fields = self.kustomizations.entry(folder.to_owned()).or_default();
        fields.insert(key.to_owned(), value);
        if !self.names.contains_key(folder) {
            const NAMES: [&str; 5] = [
                "kustomization.yaml",
                "kustomization.yaml",
                "kustomization.yaml",
                "kustomization.yml",
                "Kustomization",
            ];
            self.names.insert(folder.to_owned(), self.dice.one(&NAMES));
            if self.dice.once_in(2) {
                let version = json!("kustomize.config.k8s.io/v1beta1");
                self.set(folder, "apiVersion", version);
                self.set(folder, "kind", json!("Kustomization"));
            }
        }
    }

    /// Takes a field out of a kustomization.
    pub fn clear(&mut self, folder: &str, key: &str) {
        if let Some(fields) = self.kustomizations.get_mut(folder) {
            fields.remove(key);
        }
    }

    /// Puts an entry behind the others of a list in a kustomization.
    pub fn entry(&mut self, folder: &str, key: &str, entry: Value) {
        let present = self.kustomizations.get(folder).and_then(|it| it.get(key));
        let mut list = present.cloned().unwrap_or_else(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(entry);
        }
        self.set(folder, key, list);
    }

    /// Says whether the root gives every object its namespace.
    pub fn root_gives_namespace(&self) -> bool {
        let root = self.kustomizations.get(ROOT);
        root.is_some_and(|fields| fields.contains_key("namespace"))
    }

    /// Lists something among the resources of a folder.
    pub fn list(&mut self, folder: &str, entry: &str) {
        self.entry(folder, "resources", entry.into());
    }

    /// Returns the path of the kustomization of a folder.
    pub fn kustomization(&self, folder: &str) -> String {
        let name = self.names.get(folder).copied();
        format!("{folder}/{}", name.unwrap_or("kustomization.yaml"))
    }

    /// Makes an object with a name of its own.
    pub fn object(&mut self, kind: Kind) -> Value {
        let name = self.name("one");
        object(kind, &name, self.dice)
    }

    /// Puts a document where documents are kept, in a file of its own or behind another one.
    pub fn put(&mut self, value: Value) -> Put {
        let home = self.home.clone();
        let mut known = self.documents.keys();
        let known =
            known.find(|path| path.starts_with(&format!("{home}/")) && !path.contains("patch"));
        match known.cloned() {
            Some(path) if self.dice.once_in(4) => self.put_into(&path, value),
            _ => self.put_alone(value),
        }
    }

    /// Puts a document into a file of its own, and lists that.
    pub fn put_alone(&mut self, value: Value) -> Put {
        let home = self.home.clone();
        let folder = self.dice.one(&["", "", "apps/", "x.y/"]);
        let name = self.name("file");
        let end = self.dice.one(&["yaml", "yaml", "yml"]);
        let name = format!("{folder}{name}.{end}");
        self.list(&home, &name);
        self.put_into(&format!("{home}/{name}"), value)
    }

    /// Puts a document behind the others of a file.
    pub fn put_into(&mut self, path: &str, value: Value) -> Put {
        let mut value = value;
        if self.gives_namespace
            && self.dice.once_in(2)
            && let Some(metadata) = value["metadata"].as_object_mut()
        {
            metadata.remove("namespace");
        }
        let documents = self.documents.entry(path.to_owned()).or_default();
        documents.push(value.clone());
        let path = path.to_owned();
        Put { path, value }
    }

    /// Puts a patch of a document into a folder and lists it; returns its path.
    pub fn patch(&mut self, folder: &str, put: &Put, body: &Value) -> String {
        let mut patch = json!({
            "apiVersion": put.value["apiVersion"],
            "kind": put.value["kind"],
            "metadata": {"name": put.value["metadata"]["name"]},
        });
        let namespace = self.namespace_below(folder, put);
        if let Some(namespace) = namespace {
            patch["metadata"]["namespace"] = namespace;
        }
        merge(&mut patch, body);
        let name = format!("{}.yaml", self.name("patch"));
        self.entry(folder, "patches", json!({"path": name}));
        let path = format!("{folder}/{name}");
        self.documents.insert(path.clone(), vec![patch]);
        path
    }

    /// Returns the namespace that an object has where a folder patches it.
    fn namespace_below(&self, folder: &str, put: &Put) -> Option<Value> {
        let written = put.value["metadata"].get("namespace").cloned();
        let of_home = self.kustomizations.get(&self.home);
        let given = of_home.and_then(|it| it.get("namespace")).cloned();
        written.or(given.filter(|_| folder != self.home))
    }

    /// Puts a file that is no document.
    pub fn file(&mut self, path: &str, text: &str) {
        self.raw.insert(path.to_owned(), text.as_bytes().to_vec());
    }

    /// Puts around what nothing happens to: as [`Draft::bystanders`], with labels and annotations for every object.
    pub fn surroundings(&mut self) {
        self.bystanders();
        if self.dice.once_in(4) {
            let pairs = json!({"example.com/of": word(self.dice)});
            let entry = json!({"pairs": pairs, "includeTemplates": self.dice.once_in(2)});
            self.entry(ROOT, "labels", entry);
        }
        if self.dice.once_in(5) {
            let pairs = json!({"example.com/by": word(self.dice)});
            self.set(ROOT, "commonAnnotations", pairs);
        }
    }

    /// Puts around what nothing happens to: other documents, a patch of one of them, files of people.
    pub fn bystanders(&mut self) {
        for _ in 0..self.dice.below(3) {
            let kind = Kind::draw(self.dice);
            let name = self.name("bystander");
            let value = object(kind, &name, self.dice);
            self.put(value);
        }
        if self.dice.once_in(4) {
            let name = self.name("patched");
            let value = object(Kind::Deployment, &name, self.dice);
            let put = self.put(value);
            let body = json!({"spec": {"minReadySeconds": 7}});
            let root = self.roots[0];
            self.patch(root, &put, &body);
        }
        if self.dice.once_in(5) {
            self.file("live/README.md", "# Ours\n");
        }
    }

    /// Writes the files and builds them; nothing where they build to nothing.
    pub fn finish(mut self) -> Option<Case> {
        let mut files = std::mem::take(&mut self.raw);
        let mut all = Vec::new();
        for (path, documents) in std::mem::take(&mut self.documents) {
            let text = self.documents_text(&documents);
            files.insert(path, text.into_bytes());
            all.extend(documents);
        }
        if self.is_plain {
            return self.finish_plain(files, all);
        }
        for (folder, fields) in std::mem::take(&mut self.kustomizations) {
            let path = self.kustomization(&folder);
            let text = self.kustomization_text(fields);
            files.insert(path, text.into_bytes());
        }
        let built = self.roots.iter().map(|root| ours::objects(&files, root));
        let built: Result<Vec<_>, _> = built.collect();
        let objects = built.map(|objects| objects.concat());
        Case::new(files, self.roots, objects, self.policy)
    }

    /// Takes the documents for what is built, where nothing builds them.
    fn finish_plain(self, files: Files, documents: Vec<Value>) -> Option<Case> {
        let mut case = Case::new(files, self.roots, Ok(documents), self.policy)?;
        case.is_plain = true;
        Some(case)
    }

    fn documents_text(&mut self, documents: &[Value]) -> String {
        let mut text = String::new();
        for (index, document) in documents.iter().enumerate() {
            if index > 0 || self.dice.once_in(6) {
                text.push_str("---\n");
            }
            // Kustomize reads `yes` and `off` as text, which no server takes where a truth value belongs.
            let odd = false;
            let style = Style {
                odd,
                ..Style::draw(self.dice)
            };
            text.push_str(&self.write(document, style));
        }
        // What nothing builds is taken to say what its documents were to say, so no last block loses its line break.
        match self.is_plain {
            true => text,
            false => self.ended(text),
        }
    }

    /// Ends the lines of a text as on Windows, or its last one not at all.
    fn ended(&mut self, mut text: String) -> String {
        if self.dice.once_in(10) {
            text.truncate(text.trim_end_matches('\n').len());
        }
        match self.dice.once_in(12) {
            true => text.replace('\n', "\r\n"),
            false => text,
        }
    }

    fn write(&mut self, value: &Value, style: Style) -> String {
        let fields = value.as_object().cloned().unwrap_or_default();
        let written = hand::write(&fields, style, self.remarks, self.dice);
        self.remarks += written.remarks.len();
        written.text
    }

    /// Writes a kustomization; one of its lists may stand in brackets as a whole.
    fn kustomization_text(&mut self, mut fields: Map<String, Value>) -> String {
        let style = Style {
            odd: false,
            folded: false,
            ..Style::draw(self.dice)
        };
        let lists: Vec<String> = fields
            .iter()
            .filter(|(_, value)| value.as_array().is_some_and(|items| !items.is_empty()))
            .map(|(key, _)| key.clone())
            .collect();
        let flat = self.dice.pick(&lists).filter(|_| style.flow).cloned();
        let flat = flat.and_then(|key| Some((key.clone(), fields.remove(&key)?)));
        let mut text = match fields.is_empty() {
            true => String::new(),
            false => self.write(&fields.into(), style),
        };
        if let Some((key, value)) = flat {
            text.push_str(&format!("{key}: {}\n", flow(&value, style)));
        }
        self.ended(text)
    }
}

/// Writes a value between brackets and braces.
fn flow(value: &Value, style: Style) -> String {
    let parts: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|item| flow(item, style)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(key, value)| format!("{}: {}", plain(key, style), flow(value, style)))
                .collect()
        }
        Value::String(text) => return plain(text, style),
        other => return other.to_string(),
    };
    match value {
        Value::Array(_) => format!("[{}]", parts.join(", ")),
        _ => format!("{{{}}}", parts.join(", ")),
    }
}

fn plain(text: &str, style: Style) -> String {
    match hand::is_plain(text, true) {
        true => text.to_owned(),
        false => hand::quoted(text, style.quote),
    }
}

/// Puts the fields of one mapping into another.
pub fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}
