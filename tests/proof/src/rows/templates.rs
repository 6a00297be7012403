//! A7: what placement templates give, and which are refused.

use manifests::Placement;
use manifests::placement::Template;
use model::Sensitivity;
use serde_json::Value;

use super::Row;
use super::case::{Case, Draft, path};
use super::objects::{Kind, TEAM, object, word};
use super::placing::{key_of, newcomer};
use crate::dice::Dice;

/// The rows of A7 about templates.
pub fn rows() -> Vec<Row> {
    vec![
        Row::promised("PL-7 PL-9", "templates of every variable", pl_7),
        Row::promised("PL-10", "names that are no names of files", pl_10),
        Row::promised(
            "PL-11",
            "an empty segment disappears, an empty value does not",
            pl_11,
        ),
        Row::twins("PL-8", "a fallback where there can be none", pl_8),
        Row::twins(
            "PL-12",
            "a label that is taken out before a document is written",
            pl_12,
        ),
        Row::twins(
            "PL-13",
            "a template that leaves the folder or names no YAML file",
            pl_13,
        ),
        Row::twins("PL-14", "a route on which secrets could meet", pl_14),
    ]
}

/// One part of a template, with what it renders for an object.
fn part(value: &Value, kind: Kind, dice: &mut Dice) -> (String, String) {
    let served = kind.served();
    let name = value["metadata"]["name"].as_str().unwrap_or_default();
    let team = value
        .pointer("/metadata/labels/team")
        .and_then(Value::as_str);
    let namespaced = kind.is_namespaced();
    let of = |variable: &str, text: &str| (format!("{{{variable}}}"), text.to_owned());
    match dice.below(11) {
        0 => of("name", name),
        1 => of("namespace", if namespaced { TEAM } else { "_cluster" }),
        2 => of(
            "namespace|_global",
            if namespaced { TEAM } else { "_global" },
        ),
        3 => of("resource", &served.type_id.resource),
        4 => of("version", &served.version),
        5 => of("kind", &served.kind),
        6 => of("kindLower", &served.kind.to_lowercase()),
        7 => of("scope", if namespaced { "namespaced" } else { "cluster" }),
        8 => of("label:team", team.unwrap_or("_unlabeled")),
        9 => of("label:team|none-of.them", team.unwrap_or("none-of.them")),
        _ => of("label:app.kubernetes.io/missing", "_unlabeled"),
    }
}

fn pl_7(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let value = newcomer(&mut draft, kind);
    let mut template = String::new();
    let mut rendered = String::new();
    for segment in 0..2 + draft.dice.below(3) {
        if segment > 0 {
            template.push('/');
            rendered.push('/');
        }
        for index in 0..1 + draft.dice.below(2) {
            if index > 0 || draft.dice.once_in(4) {
                template.push_str("x-");
                rendered.push_str("x-");
            }
            let (variable, text) = part(&value, kind, draft.dice);
            template.push_str(&variable);
            rendered.push_str(&text);
        }
    }
    let (end, rendered_end) = draft.dice.one(&[
        (".yaml", ".yaml"),
        (".yml", ".yml"),
        ("{sensitiveSuffix}", ".yaml"),
    ]);
    template.push_str(end);
    rendered.push_str(rendered_end);
    let key = key_of(kind);
    draft.place(&[(key.as_str(), template.as_str())], None);
    draft.comes(&path(&rendered), value);
    Some(draft.finish())
}

fn pl_10(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let stem = word(draft.dice);
    let owned = |(name, file): (&str, &str)| (name.to_owned(), file.to_owned());
    let (name, file) = match draft.dice.below(5) {
        0 => (format!("system:{stem}"), format!("system%3A{stem}")),
        1 => (format!("{stem}:a:b"), format!("{stem}%3Aa%3Ab")),
        2 => owned(draft.dice.one(&[
            ("nul", "%6Eul"),
            ("kustomization", "%6Bustomization"),
            ("lpt1.x", "%6Cpt1.x"),
        ])),
        3 => (format!("{stem}|*"), format!("{stem}%7C%2A")),
        _ => (format!("{stem}.v1"), format!("{stem}.v1")),
    };
    let value = object(Kind::ClusterRole, &name, draft.dice);
    let value = draft.arrives(&value);
    let file = path(&format!(
        "_cluster/rbac.authorization.k8s.io/clusterroles/{file}.yaml"
    ));
    draft.comes(&file, value);
    Some(draft.finish())
}

fn pl_11(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let value = newcomer(&mut draft, kind);
    let name = value["metadata"]["name"].as_str()?.to_owned();
    let team = value
        .pointer("/metadata/labels/team")
        .and_then(Value::as_str);
    let team = team.unwrap_or_default().to_owned();
    let group = kind.served().type_id.group;
    let slash = |text: &str| match text {
        "" => String::new(),
        text => format!("{text}/"),
    };
    let (template, rendered) = match draft.dice.below(3) {
        0 => (
            "{group}/all/{name}.yaml",
            format!("{}all/{name}.yaml", slash(&group)),
        ),
        1 => (
            "{label:team|}/{name}.yaml",
            format!("{}{name}.yaml", slash(&team)),
        ),
        _ => ("{label:team|}-{name}.yaml", format!("{team}-{name}.yaml")),
    };
    let key = key_of(kind);
    draft.place(&[(key.as_str(), template)], None);
    draft.comes(&path(&rendered), value);
    Some(draft.finish())
}

/// Reads a template that must be refused, and its twin that must not.
fn templates(pairs: &[(&str, &str)]) -> Result<(), String> {
    for (wrong, right) in pairs {
        if Template::parse(wrong).is_ok() {
            return Err(format!("{wrong} is accepted"));
        }
        if let Err(problems) = Template::parse(right) {
            return Err(format!("{right} is refused: {problems:?}"));
        }
    }
    Ok(())
}

fn pl_8() -> Result<(), String> {
    let long = "x".repeat(64);
    templates(&[
        ("{name|x}/a.yaml", "{namespace|x}/a.yaml"),
        ("{group|core}/{name}.yaml", "{label:team|core}/{name}.yaml"),
        ("{label:team|..}/a.yaml", "{label:team|}/a.yaml"),
        ("{namespace|a/b}/a.yaml", "{namespace|a.b}/a.yaml"),
        (
            &format!("{{namespace|{long}}}/a.yaml"),
            "{namespace|_x}/a.yaml",
        ),
    ])
}

fn pl_12() -> Result<(), String> {
    templates(&[
        (
            "{label:kustomize.toolkit.fluxcd.io/name}/a.yaml",
            "{label:app.kubernetes.io/instance}/a.yaml",
        ),
        ("{label:kro.run/owned}/a.yaml", "{label:kro}/a.yaml"),
        (
            "{label:applyset.kubernetes.io/id}/a.yaml",
            "{label:id}/a.yaml",
        ),
    ])
}

fn pl_13() -> Result<(), String> {
    templates(&[
        ("/{name}.yaml", "{name}.yaml"),
        ("../{name}.yaml", "x/{name}.yaml"),
        ("a/../{name}.yaml", "a/b/{name}.yaml"),
        ("{name}.json", "{name}.yml"),
        ("{name}", "{name}{sensitiveSuffix}"),
        ("{annotation:a}.yaml", "{label:a}.yaml"),
        ("{unknown}.yaml", "{kindLower}.yaml"),
    ])
}

fn pl_14() -> Result<(), String> {
    let sensitivity =
        Sensitivity::parse(["core.cozystack.io/tenantsecrets"]).map_err(|bad| bad.join(", "))?;
    let read = |routes: &[(&str, &str)], default: Option<&str>| {
        Placement::read(routes.iter().copied(), default, None, &sensitivity)
    };
    let apart = "{namespace}/{name}.sops.yaml";
    let own = [
        ("v1/secrets", apart),
        (
            "core.cozystack.io/v1/tenantsecrets",
            "t/{namespace}/{name}.yaml",
        ),
    ];
    let pairs = [
        (
            read(&[("v1/secrets", "{name}.yaml")], None),
            read(&own[..1], None),
        ),
        (
            read(&own[..1], Some("all.yaml")),
            read(&own, Some("all.yaml")),
        ),
        (
            read(&[], Some("{namespace}/{kindLower}-{name}.yaml")),
            read(&[], Some("{namespace}/{group}/{kindLower}-{name}.yaml")),
        ),
        (
            read(&[("v1/secrets", "{label:x}/{name}.yaml")], None),
            read(&[("v1/secrets", "{label:x}/{namespace}/{name}.yaml")], None),
        ),
    ];
    for (index, (wrong, right)) in pairs.into_iter().enumerate() {
        if wrong.is_ok() || right.is_err() {
            return Err(format!("pair {index}: {wrong:?} and {right:?}"));
        }
    }
    Ok(())
}
