//! Every validation rule accepts what it should and refuses the rest in exactly the words of the table.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::cluster::{self, Cluster};

#[derive(Debug, Deserialize)]
struct Rules {
    objects: BTreeMap<String, Value>,
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
struct Case {
    at: Vec<String>,
    before: Option<Value>,
    accepted: Value,
    refused: Value,
    says: Vec<String>,
}

/// One case at one of its places.
struct Trial<'a> {
    case: &'a Case,
    kind: &'a str,
    path: &'a str,
    name: String,
}

/// What the API server adds when one problem kept it from looking for others.
const UNCHECKED: &str = "<nil>: Invalid value: null: some validation rules were not checked because the object \
                         was invalid; correct the existing errors to complete validation";

#[test]
fn every_rule_accepts_and_refuses() -> Result<()> {
    let rules: Rules = cluster::data(include_str!("../../data/rules.yaml"))?;
    let trials = trials(&rules)?;
    let cluster = Cluster::shared()?;
    cluster.namespace("rules")?;

    let (changes, creations): (Vec<_>, Vec<_>) =
        trials.iter().partition(|trial| trial.case.before.is_some());
    let create = ["create", "--dry-run=server", "--validate=strict"];
    let replace = ["replace", "--dry-run=server", "--validate=strict"];
    let existing = objects(&rules, &changes, |case| {
        case.before.as_ref().unwrap_or(&Value::Null)
    })?;
    expect_no_refusal(&cluster, &["create"], &existing)?;
    for (command, trials) in [(create, &creations), (replace, &changes)] {
        expect_no_refusal(
            &cluster,
            &command,
            &objects(&rules, trials, |case| &case.accepted)?,
        )?;
        let refused = objects(&rules, trials, |case| &case.refused)?;
        let refusals = cluster.refusals(&command, &refused)?;
        for trial in trials {
            let words = refusals.get(&trial.name).with_context(|| {
                format!(
                    "{} {} accepts {}",
                    trial.kind, trial.path, trial.case.refused
                )
            })?;
            assert_same_refusals(trial, words);
        }
    }
    println!(
        "{} cases accepted and refused at {} places",
        rules.cases.len(),
        trials.len()
    );
    Ok(())
}

fn trials(rules: &Rules) -> Result<Vec<Trial<'_>>> {
    let mut trials = Vec::new();
    for (number, case) in rules.cases.iter().enumerate() {
        for (place, at) in case.at.iter().enumerate() {
            let (kind, path) = at
                .split_once(' ')
                .with_context(|| format!("{at} is no place"))?;
            trials.push(Trial {
                case,
                kind,
                path,
                name: format!("case-{number}-{place}"),
            });
        }
    }
    Ok(trials)
}

fn objects(
    rules: &Rules,
    trials: &[&Trial],
    value: impl Fn(&Case) -> &Value,
) -> Result<Vec<Value>> {
    trials
        .iter()
        .map(|trial| {
            let spec = rules
                .objects
                .get(trial.kind)
                .with_context(|| format!("no {}", trial.kind))?;
            let mut object = json!({
                "apiVersion": "configbutler.ai/v1alpha3",
                "kind": trial.kind,
                "metadata": {"name": trial.name, "namespace": "rules"},
                "spec": spec,
            });
            if trial.kind == "ClusterWatchRule" {
                object["metadata"] = json!({"name": trial.name});
            }
            put(&mut object, trial.path, value(trial.case))?;
            Ok(object)
        })
        .collect()
}

/// Puts the value where the path says, below parents that are made as needed.
fn put(object: &mut Value, path: &str, value: &Value) -> Result<()> {
    if *value == "UNCHANGED" {
        return Ok(());
    }
    let steps: Vec<&str> = path
        .split(['.', '[', ']'])
        .filter(|step| !step.is_empty())
        .collect();
    let (last, parents) = steps.split_last().context("a path has a step")?;
    let mut at = object;
    for step in parents {
        at = match at {
            Value::Array(items) => items
                .get_mut(step.parse::<usize>()?)
                .context("no such item")?,
            Value::Object(map) => map
                .entry(*step)
                .or_insert_with(|| Value::Object(Map::new())),
            _ => bail!("{path}: {step} is not in an object"),
        };
    }
    match at {
        Value::Array(items) => items[last.parse::<usize>()?] = expand(value)?,
        Value::Object(map) if *value == "ABSENT" => drop(map.remove(*last)),
        Value::Object(map) => drop(map.insert((*last).to_owned(), expand(value)?)),
        _ => bail!("{path}: {last} is not in an object"),
    }
    Ok(())
}

/// Writes out the short forms that the data file explains.
fn expand(value: &Value) -> Result<Value> {
    let map = match value {
        Value::Array(items) => return items.iter().map(expand).collect(),
        Value::Object(map) => map,
        plain => return Ok(plain.clone()),
    };
    let Some(times) = map.get("times").and_then(Value::as_u64) else {
        return map
            .iter()
            .map(|(key, value)| Ok((key.clone(), expand(value)?)))
            .collect();
    };
    let numbered = |form: &Value, number: u64| -> Result<String> {
        Ok(form
            .as_str()
            .context("the form is text")?
            .replace('%', &number.to_string()))
    };
    let form = |name: &str| map.get(name);
    Ok(if let Some(text) = form("text") {
        let text = text.as_str().context("the text is text")?;
        Value::String(text.repeat(usize::try_from(times)?))
    } else if let Some(list) = form("list") {
        (0..times)
            .map(|number| Ok(json!(numbered(list, number)?)))
            .collect::<Result<_>>()?
    } else if let Some(map) = form("map") {
        (0..times)
            .map(|number| Ok((numbered(map, number)?, json!("a"))))
            .collect::<Result<_>>()?
    } else if let Some(repeat) = form("repeat") {
        (0..times).map(|_| repeat.clone()).collect()
    } else {
        bail!("{value} is no short form")
    })
}

fn expect_no_refusal(cluster: &Cluster, command: &[&str], objects: &[Value]) -> Result<()> {
    let refusals = cluster.refusals(command, objects)?;
    assert!(refusals.is_empty(), "{refusals:#?}");
    Ok(())
}

/// The API server lists several refusals in no particular order.
fn assert_same_refusals(trial: &Trial, words: &str) {
    let expected: Vec<String> = says(trial);
    let mut rest = words.trim().to_owned();
    if let Some(list) = rest
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        rest = list.to_owned();
    }
    for sentence in expected.iter().map(String::as_str).chain([UNCHECKED]) {
        rest = rest.replacen(sentence, "", 1);
    }
    let nothing_else = rest.chars().all(|left| ", ".contains(left));
    let all_there = expected
        .iter()
        .all(|sentence| words.contains(sentence.as_str()));
    assert!(
        nothing_else && all_there,
        "{} {} with {} says\n  {words}\nand not\n  {expected:?}",
        trial.kind,
        trial.path,
        trial.case.refused
    );
}

fn says(trial: &Trial) -> Vec<String> {
    trial
        .case
        .says
        .iter()
        .map(|sentence| sentence.replace("PLACE", trial.path))
        .collect()
}

/// A rule of a schema: the kind, the path of the value it judges, and the keyword or CEL message.
type Rule = (String, String, String);

#[test]
fn the_table_has_a_case_for_every_rule() -> Result<()> {
    let rules: Rules = cluster::data(include_str!("../../data/rules.yaml"))?;
    let mut tried: BTreeSet<Rule> = BTreeSet::new();
    for trial in trials(&rules)? {
        for sentence in says(&trial) {
            tried.insert(rule_of(trial.kind, &sentence)?);
        }
    }
    let mut declared = BTreeSet::new();
    for crd in crds::all() {
        let kind = crd.spec.names.kind.clone();
        let crd = serde_json::to_value(&crd)?;
        let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        declared.insert((kind.clone(), "spec".to_owned(), "required".to_owned()));
        declare(&kind, "spec", &schema["properties"]["spec"], &mut declared)?;
    }
    let missing: Vec<&Rule> = declared.difference(&tried).collect();
    assert!(missing.is_empty(), "no case for {missing:#?}");
    let unknown: Vec<&Rule> = tried.difference(&declared).collect();
    assert!(unknown.is_empty(), "no such rule: {unknown:#?}");
    println!("{} rules", declared.len());
    Ok(())
}

const UNKNOWN_VARIABLE: &str = "references unknown variable";

/// Tells from a refusal which rule spoke.
fn rule_of(kind: &str, sentence: &str) -> Result<Rule> {
    let (place, words) = sentence
        .split_once(": ")
        .context("a refusal names its place")?;
    let path = without_indices(place);
    let keywords = [
        ("Required value", "required"),
        ("Unsupported value", "enum"),
        ("Too long", "maxLength"),
        ("Too many", "max"),
        ("in body should be at least 1 chars long", "minLength"),
        ("in body should have at least 1 items", "minItems"),
        ("in body should match", "pattern"),
        ("in body should be greater than or equal to", "minimum"),
        (UNKNOWN_VARIABLE, UNKNOWN_VARIABLE),
    ];
    let keyword = keywords
        .iter()
        .find(|(text, _)| words.contains(text))
        .map(|(_, keyword)| *keyword);
    let rule = match keyword {
        Some(keyword) => keyword.to_owned(),
        None => cel_message(words)?.to_owned(),
    };
    Ok((kind.to_owned(), path, rule))
}

/// Cuts off the value, which the API server quotes unless the rule sits on a parent.
fn cel_message(words: &str) -> Result<&str> {
    let words = words
        .strip_prefix("Invalid value: ")
        .with_context(|| format!("{words:?}"))?;
    let Some(quoted) = words.strip_prefix('"') else {
        return Ok(words);
    };
    let (_, message) = quoted
        .split_once("\": ")
        .with_context(|| format!("{words:?}"))?;
    Ok(message)
}

fn without_indices(place: &str) -> String {
    let mut path = String::new();
    for part in place.split('[') {
        match part.split_once(']') {
            Some((_, rest)) => path = format!("{path}[]{rest}"),
            None => path.push_str(part),
        }
    }
    path
}

/// Collects the rules of a schema and of everything in it.
fn declare(kind: &str, path: &str, schema: &Value, into: &mut BTreeSet<Rule>) -> Result<()> {
    let mut add =
        |path: &str, rule: &str| into.insert((kind.to_owned(), path.to_owned(), rule.to_owned()));
    for (keyword, rule) in [
        ("enum", "enum"),
        ("maxLength", "maxLength"),
        ("minLength", "minLength"),
        ("minItems", "minItems"),
        ("maxItems", "max"),
        ("maxProperties", "max"),
        ("pattern", "pattern"),
        ("minimum", "minimum"),
    ] {
        if !schema[keyword].is_null() {
            add(path, rule);
        }
    }
    for name in schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        add(&format!("{path}.{name}"), "required");
    }
    for rule in schema["x-kubernetes-validations"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let field = rule["fieldPath"].as_str().unwrap_or_default();
        let message = rule["message"].as_str().unwrap_or(UNKNOWN_VARIABLE);
        add(&format!("{path}{field}"), message);
    }
    for (name, child) in schema["properties"].as_object().into_iter().flatten() {
        declare(kind, &format!("{path}.{name}"), child, into)?;
    }
    if schema["items"].is_object() {
        declare(kind, &format!("{path}[]"), &schema["items"], into)?;
    }
    Ok(())
}
