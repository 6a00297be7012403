//! Changes of objects, and which files say them. Every folder is what the writer may write, `base` is not.

mod documents;
mod generators;
mod overrides;

use model::IssueKind;
use model::files::FilesInMemory;
use serde_json::json;

use super::*;
use crate::kustomize::build;

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # the site
spec:
  replicas: 1
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        # serves
        - name: web
          image: nginx:1.0
";

const OTHER: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: other
spec:
  template:
    spec:
      containers:
        - name: other
          image: nginx:1.0
";

/// Files by name; those in `base` are never written.
type Folder<'f> = Vec<(&'f str, String)>;

fn tree_of(files: &Folder<'_>) -> FilesInMemory {
    let files = files.iter();
    files
        .map(|(path, text)| (RepoPath::new(*path).unwrap(), text.as_bytes().to_vec()))
        .collect()
}

/// A change of one object: its name, the way to a value as a JSON pointer, and the value; `null` takes it away.
type Set<'s> = (&'s str, &'s str, Value);

fn wishes(files: &FilesInMemory, sets: &[Set<'_>]) -> Vec<Wish> {
    let render = build(files.tree(), &FolderPath::new("app").unwrap()).unwrap();
    let mut wishes: Vec<Wish> = Vec::new();
    for (name, pointer, value) in sets {
        let object = render
            .objects
            .iter()
            .find(|it| it.id.name == *name)
            .unwrap();
        let text = |key: &str| object.node.get(key).unwrap().as_str().unwrap().to_owned();
        let key = ObjectKey {
            api_version: text("apiVersion"),
            kind: text("kind"),
            namespace: object.namespace().map(str::to_owned),
            name: (*name).to_owned(),
        };
        let known = wishes.iter_mut().find(|wish| wish.object == key);
        let wanted = match known {
            Some(wish) => &mut wish.wanted,
            None => {
                wishes.push(Wish {
                    object: key,
                    wanted: object.node.to_value(),
                    names_namespace: None,
                });
                &mut wishes.last_mut().unwrap().wanted
            }
        };
        put(wanted, pointer, value);
    }
    wishes
}

fn put(value: &mut Value, pointer: &str, to: &Value) {
    let (above, last) = pointer.rsplit_once('/').unwrap();
    let above = value.pointer_mut(above).unwrap();
    match above {
        Value::Object(fields) if to.is_null() => drop(fields.remove(last).unwrap()),
        Value::Object(fields) => drop(fields.insert(last.to_owned(), to.clone())),
        Value::Array(items) if to.is_null() => drop(items.remove(last.parse().unwrap())),
        Value::Array(items) => match last.parse::<usize>() {
            Ok(at) => items[at] = to.clone(),
            Err(_) => items.push(to.clone()),
        },
        _ => panic!("nothing is below {pointer}"),
    }
}

fn changed(files: &Folder<'_>, sets: &[Set<'_>]) -> Changed {
    let tree = tree_of(files);
    let app = FolderPath::new("app").unwrap();
    let wishes = wishes(&tree, sets);
    change(tree.tree(), &app, &app, &wishes, &mut Cache::default()).unwrap()
}

/// Returns the lines that a change takes away and brings, as `file -old` and `file +new`.
fn edits(files: &Folder<'_>, sets: &[Set<'_>]) -> Vec<String> {
    let changed = changed(files, sets);
    assert_eq!(changed.refused, [], "{sets:?}");
    difference(files, &changed)
}

fn difference(files: &Folder<'_>, changed: &Changed) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, bytes) in &changed.files {
        let before = files.iter().find(|(name, _)| *name == path.as_str());
        let before = &before.unwrap().1;
        let after = std::str::from_utf8(bytes).unwrap();
        let difference = similar::TextDiff::from_lines(before.as_str(), after);
        for change in difference.iter_all_changes() {
            let sign = match change.tag() {
                similar::ChangeTag::Equal => continue,
                similar::ChangeTag::Delete => '-',
                similar::ChangeTag::Insert => '+',
            };
            let line = change.value().trim();
            lines.push(format!("{} {sign}{line}", path.file_name()));
        }
    }
    lines
}

/// Returns why changes are refused, as `name: issue file:line`, and asserts that nothing is written.
fn refusals(files: &Folder<'_>, sets: &[Set<'_>]) -> Vec<String> {
    let changed = changed(files, sets);
    assert_eq!(difference(files, &changed), [""; 0], "{sets:?}");
    told(&changed)
}

fn told(changed: &Changed) -> Vec<String> {
    let tell = |(key, refusal): &(ObjectKey, Refusal)| {
        assert!(!refusal.message.is_empty() && !refusal.remedy.is_empty());
        let at = refusal.at.as_ref().unwrap();
        let line = at.line.map_or(String::new(), |line| format!(":{line}"));
        let issue = refusal.issue.map_or("", IssueKind::as_str);
        format!("{}: {issue} {}{line}", key.name, at.path)
    };
    changed.refused.iter().map(tell).collect()
}

/// A folder that owns its documents.
fn own(kustomization: &str) -> Folder<'static> {
    let kustomization = format!("resources: [d.yaml, o.yaml]\n{kustomization}");
    vec![
        ("app/kustomization.yaml", kustomization),
        ("app/d.yaml", DEPLOYMENT.to_owned()),
        ("app/o.yaml", OTHER.to_owned()),
    ]
}

/// A folder on top of a base that is never written.
fn overlay(kustomization: &str, base: &str) -> Folder<'static> {
    let kustomization = format!("resources: [../base]\n{kustomization}");
    let base = format!("resources: [d.yaml, o.yaml]\n{base}");
    vec![
        ("app/kustomization.yaml", kustomization),
        ("base/kustomization.yaml", base),
        ("base/d.yaml", DEPLOYMENT.to_owned()),
        ("base/o.yaml", OTHER.to_owned()),
    ]
}

const IMAGE: &str = "/spec/template/spec/containers/0/image";
const REPLICAS: &str = "/spec/replicas";
