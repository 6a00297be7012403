//! Every field of the documented field lists is explained by a real API server, and its misspelling refused.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::cluster::{self, Cluster};

#[derive(Debug, Deserialize)]
struct Field {
    path: String,
    #[serde(rename = "type")]
    type_: String,
    #[serde(default)]
    required: bool,
    #[serde(rename = "enum")]
    words: Option<Vec<String>>,
    default: Option<Value>,
    /// Which of the documented lists names it; for the reader of the data.
    list: String,
}

/// One line of `kubectl explain --recursive`.
#[derive(Debug, PartialEq)]
struct Explained {
    type_: String,
    required: bool,
}

#[test]
fn every_documented_field_is_explained_and_its_misspelling_refused() -> Result<()> {
    let kinds: BTreeMap<String, Vec<Field>> =
        cluster::data(include_str!("../../data/fields.yaml"))?;
    let cluster = Cluster::shared()?;
    cluster.namespace("fields")?;
    assert_eq!(kinds.len(), 10);

    let (mut fields, mut enums, mut defaults, mut refused) = (0, 0, 0, 0);
    for (kind, list) in &kinds {
        explain_all(&cluster, kind, list)?;
        for field in list {
            assert!(!field.list.is_empty(), "{kind} {}", field.path);
            if field.words.is_some() || field.default.is_some() {
                explain_one(&cluster, kind, field)?;
            }
        }
        refused += refuse_misspellings(&cluster, kind, list)?;
        fields += list.len();
        enums += list.iter().filter(|field| field.words.is_some()).count();
        defaults += list.iter().filter(|field| field.default.is_some()).count();
    }
    assert_eq!(refused, fields);
    println!("{fields} fields explained, {enums} with their words, {defaults} with their default");
    println!("{refused} misspelt siblings refused");
    Ok(())
}

/// The list and `kubectl explain` name the same fields, with the same types.
fn explain_all(cluster: &Cluster, kind: &str, list: &[Field]) -> Result<()> {
    let shown = recursive(
        &cluster
            .kubectl
            .run(&["explain", "--recursive", &resource(kind)])?,
    )?;
    for field in list {
        let explained = shown
            .get(&field.path)
            .with_context(|| format!("{kind} {}", field.path))?;
        let expected = Explained {
            type_: field.type_.clone(),
            required: field.required,
        };
        assert_eq!(*explained, expected, "{kind} {}", field.path);
    }
    let listed: BTreeSet<&String> = list.iter().map(|field| &field.path).collect();
    let unlisted: Vec<&String> = shown.keys().filter(|path| !listed.contains(path)).collect();
    assert!(
        unlisted.is_empty(),
        "{kind} has fields that no list names: {unlisted:?}"
    );
    Ok(())
}

/// Reads the fields of spec and status; list items are `[]` in a path.
fn recursive(explained: &str) -> Result<BTreeMap<String, Explained>> {
    let (_, fields) = explained
        .split_once("FIELDS:\n")
        .context("the explanation lists fields")?;
    let mut shown = BTreeMap::new();
    let mut parents: Vec<String> = Vec::new();
    for line in fields.lines() {
        let Some((name, rest)) = line.split_once('\t') else {
            continue;
        };
        let depth = (name.len() - name.trim_start().len()) / 2 - 1;
        let (type_, rest) = rest
            .strip_prefix('<')
            .and_then(|rest| rest.split_once('>'))
            .with_context(|| format!("no type in {line:?}"))?;
        parents.truncate(depth);
        let path = parents
            .iter()
            .map(|parent| format!("{parent}."))
            .collect::<String>()
            + name.trim();
        let items = if type_.starts_with("[]") { "[]" } else { "" };
        parents.push(format!("{}{items}", name.trim()));
        if path.starts_with("spec.") || path.starts_with("status.") {
            let required = rest.contains("-required-");
            shown.insert(
                path,
                Explained {
                    type_: type_.to_owned(),
                    required,
                },
            );
        }
    }
    Ok(shown)
}

/// The explanation of one field names every word of its enum and its default.
fn explain_one(cluster: &Cluster, kind: &str, field: &Field) -> Result<()> {
    let place = format!("{}.{}", resource(kind), field.path.replace("[]", ""));
    let explained = cluster.kubectl.run(&["explain", &place])?;
    if let Some(words) = &field.words {
        let shown = section(&explained, "ENUM:");
        let expected: Vec<String> = words
            .iter()
            .map(|word| {
                if word.is_empty() {
                    "\"\"".to_owned()
                } else {
                    word.clone()
                }
            })
            .collect();
        assert_eq!(shown, expected, "{place}");
    }
    if let Some(default) = &field.default {
        let text = section(&explained, "DESCRIPTION:").join(" ");
        assert!(
            text.contains(&format!("Default: {default}.")),
            "{place}: {text}"
        );
    }
    Ok(())
}

/// Returns the lines below a heading, up to the next empty one.
fn section<'a>(explained: &'a str, heading: &str) -> Vec<&'a str> {
    explained
        .lines()
        .skip_while(|line| *line != heading)
        .skip(1)
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect()
}

/// Puts a misspelt sibling beside every field, and returns how many of them the API server names.
fn refuse_misspellings(cluster: &Cluster, kind: &str, list: &[Field]) -> Result<usize> {
    let mut object = json!({
        "apiVersion": "configbutler.ai/v1alpha3",
        "kind": kind,
        "metadata": {"name": "misspelt", "namespace": "fields"},
    });
    if kind == "ClusterWatchRule" {
        object["metadata"] = json!({"name": "misspelt"});
    }
    let mut expected = Vec::new();
    for field in list {
        misspell(&mut object, &field.path)?;
        expected.push(format!(
            "unknown field \"{}x\"",
            field.path.replace("[]", "[0]")
        ));
    }
    let output = cluster.kubectl.output_with_input(
        &["create", "--dry-run=server", "--validate=strict", "-f", "-"],
        &object.to_string(),
    )?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && stderr.contains("strict decoding error"),
        "{kind}: {stderr}"
    );
    for words in &expected {
        assert!(
            stderr.contains(words.as_str()),
            "{kind}: {words} is missing in {stderr}"
        );
    }
    Ok(expected.len())
}

/// Sets the field with an x behind its name, below parents that are made as needed.
fn misspell(object: &mut Value, path: &str) -> Result<()> {
    let (parents, name) = path.rsplit_once('.').context("a field has a parent")?;
    let mut at = object;
    for parent in parents.split('.') {
        let Value::Object(map) = at else {
            bail!("{path}: {parent} is not in an object")
        };
        at = match parent.strip_suffix("[]") {
            Some(list) => &mut map.entry(list).or_insert_with(|| json!([{}]))[0],
            None => map
                .entry(parent)
                .or_insert_with(|| Value::Object(Map::new())),
        };
    }
    at[format!("{name}x")] = json!("misspelt");
    Ok(())
}

fn resource(kind: &str) -> String {
    format!(
        "{}.configbutler.ai",
        crds::all()
            .into_iter()
            .map(|crd| crd.spec.names)
            .find(|names| names.kind == kind)
            .map_or_else(|| kind.to_owned(), |names| names.plural)
    )
}
