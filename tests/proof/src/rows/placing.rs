//! A7 and A8: where the document of a new object goes.

use std::collections::BTreeMap;

use manifests::Placement;
use manifests::placement::{RenderRoot, Site, Subject, Template};
use model::{FolderPath, RefusalCode, RepoPath, Sensitivity};
use serde_json::{Value, json};

use super::Row;
use super::case::{After, Case, Draft, path};
use super::objects::{Kind, TEAM, id_of, object, word};
use super::tweak::{Tweak, some};
use crate::dice::Dice;

/// The rows of A7 and A8.
pub fn rows() -> Vec<Row> {
    vec![
        Row::promised(
            "PL-1 PL-18",
            "by type, else by default, else the built-in path",
            pl_1,
        ),
        Row::promised("PL-2", "where others of the type live is no reason", pl_2),
        Row::promised("PL-3", "a key means exactly one type in one version", pl_3),
        Row::promised("PL-4", "namespace, group, resource, name", pl_4),
        Row::promised("PL-7 PL-9", "templates of every variable", pl_7),
        Row::promised("PL-10", "names that are no names of files", pl_10),
        Row::promised(
            "PL-11",
            "an empty segment disappears, an empty value does not",
            pl_11,
        ),
        Row::promised(
            "PL-15",
            "several new objects share a file, in one order",
            pl_15,
        ),
        Row::allowed("PL-16 MD-5", "a new object joins the file of others", pl_16),
        Row::promised(
            "PL-17",
            "what is placed stays, whatever its labels say later",
            pl_17,
        ),
        Row::promised(
            "PL-17 PI-7",
            "deleted and made again in one batch, it stays where it is",
            pi_7,
        ),
        Row::twins(
            "PL-5 PL-6",
            "beside the one kustomization, or on no such rung",
            pl_5,
        ),
        Row::promised(
            "PL-13 PL-19",
            "no legal path is a refusal, and no other rung",
            pl_19,
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
        Row::promised(
            "RG-2",
            "a new file in a plain folder is registered nowhere",
            rg_2,
        ),
        Row::promised(
            "RG-4",
            "a kustomization above the folder is never edited",
            rg_4,
        ),
    ]
}

/// Draws an object that has no document, and says that it is live.
fn newcomer(draft: &mut Draft<'_>, kind: Kind) -> Value {
    let value = draft.object(kind);
    draft.arrives(&value)
}

/// The built-in path, as the guide words it.
pub(super) fn built_in(value: &Value) -> RepoPath {
    let id = id_of(value);
    let namespace = id
        .namespace
        .as_ref()
        .map_or("_cluster", |namespace| namespace.as_str());
    let group = match id.type_id.group.as_str() {
        "" => String::new(),
        group => format!("{group}/"),
    };
    let end = if Kind::of(value).served().sensitive {
        "sops.yaml"
    } else {
        "yaml"
    };
    path(&format!(
        "{namespace}/{group}{}/{}.{end}",
        id.type_id.resource, id.name
    ))
}

fn key_of(kind: Kind) -> String {
    let served = kind.served();
    format!("{}/{}", served.api_version(), served.type_id.resource)
}

fn pl_1(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    draft.surroundings();
    let value = newcomer(&mut draft, kind);
    let name = value["metadata"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let (by_type, default) = (draft.dice.once_in(2), draft.dice.once_in(2));
    let key = key_of(kind);
    let mut routes = vec![("v1/secrets", "{namespace}/secrets/{name}.sops.yaml")];
    if by_type {
        routes.push((key.as_str(), "types/{name}.yaml"));
    }
    draft.place(&routes, default.then_some("rest/{kindLower}-{name}.yml"));
    let kind_lower = kind.served().kind.to_lowercase();
    let file = match (by_type, default) {
        (true, _) => path(&format!("types/{name}.yaml")),
        (false, true) => path(&format!("rest/{kind_lower}-{name}.yml")),
        (false, false) => built_in(&value),
    };
    draft.comes(&file, value);
    Some(draft.finish())
}

fn pl_2(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let elsewhere = draft.path();
    for _ in 0..1 + draft.dice.below(4) {
        let other = draft.object(kind);
        draft.put(&elsewhere, other);
    }
    let value = newcomer(&mut draft, kind);
    draft.comes(&built_in(&value), value);
    Some(draft.finish())
}

fn pl_3(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let served = kind.served();
    let resource = &served.type_id.resource;
    let group = match served.type_id.group.as_str() {
        "" => "other.example.com".to_owned(),
        group => group.to_owned(),
    };
    let close = [
        format!("{group}/v9/{resource}"),
        format!("x{group}/{}/{resource}", served.version),
        format!("{}/x{resource}", served.api_version()),
    ];
    let near = draft.dice.pick(&close)?.clone();
    draft.place(&[(near.as_str(), "wrong/{name}.yaml")], None);
    let value = newcomer(&mut draft, kind);
    draft.comes(&built_in(&value), value);
    Some(draft.finish())
}

fn pl_4(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    for _ in 0..1 + draft.dice.below(3) {
        let kind = Kind::draw(draft.dice);
        let value = newcomer(&mut draft, kind);
        draft.comes(&built_in(&value), value);
    }
    Some(draft.finish())
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

fn pl_15(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    draft.place(
        &[("v1/secrets", "{namespace}/{name}.sops.yaml")],
        Some("bundle/all.yaml"),
    );
    let mut arrived = BTreeMap::new();
    for _ in 0..2 + draft.dice.below(4) {
        let kind = Kind::draw(draft.dice);
        let value = newcomer(&mut draft, kind);
        arrived.insert(id_of(&value), value);
    }
    for value in arrived.into_values() {
        draft.comes(&path("bundle/all.yaml"), value);
    }
    Some(draft.finish())
}

fn pl_16(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let key = key_of(kind);
    draft.place(&[(key.as_str(), "bundle.yaml")], None);
    let file = path("bundle.yaml");
    for _ in 0..1 + draft.dice.below(3) {
        let kind = Kind::draw(draft.dice);
        let standing = draft.object(kind);
        draft.put(&file, standing);
    }
    let value = newcomer(&mut draft, kind);
    draft.comes(&file, value);
    Some(draft.finish())
}

fn pl_17(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let mut value = draft.object(kind);
    value["metadata"]["labels"]["team"] = json!(word(draft.dice));
    let key = key_of(kind);
    draft.place(&[(key.as_str(), "{label:team}/{name}.yaml")], None);
    let team = value.pointer("/metadata/labels/team")?.as_str()?;
    let name = value["metadata"]["name"].as_str()?;
    let file = path(&format!("{team}/{name}.yaml"));
    let tweak = draft.dice.one(&[Tweak::Label, Tweak::Unlabel]);
    let wanted = tweak.apply(&value, draft.dice)?;
    let at = draft.put(&file, value);
    draft.edit(&at, wanted);
    Some(draft.finish())
}

fn pi_7(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let value = draft.object(kind);
    let wanted = some(&value, draft.dice)?;
    let key = key_of(kind);
    draft.place(&[(key.as_str(), "declared/{name}.yaml")], None);
    let at = draft.put_anywhere(value.clone());
    draft.goes(&value);
    draft.edit(&at, wanted);
    Some(draft.finish())
}

/// The rung itself: no plain folder has a kustomization.
fn pl_5() -> Result<(), String> {
    let mut dice = Dice::new(1);
    let value = object(Kind::ConfigMap, "app", &mut dice);
    let (id, served) = (id_of(&value), Kind::ConfigMap.served());
    let subject = Subject {
        id: &id,
        served: &served,
        labels: None,
    };
    let folder = FolderPath::new("live").map_err(|error| error.to_string())?;
    let place = |root| {
        let site = Site {
            folder: &folder,
            root,
        };
        let placed = Placement::default().place(subject, site);
        placed
            .map(|placed| placed.path.to_string())
            .map_err(|why| why.to_string())
    };
    let taken = |path: &RepoPath| path.as_str() == "live/app.yaml";
    let free = |_: &RepoPath| false;
    let root = |taken| {
        Some(RenderRoot {
            folder: &folder,
            taken,
        })
    };
    let found = [place(root(&free))?, place(root(&taken))?, place(None)?];
    let right = [
        "live/app.yaml",
        "live/configmap-app.yaml",
        "live/team-a/configmaps/app.yaml",
    ];
    (found == right)
        .then_some(())
        .ok_or_else(|| format!("{found:?}"))
}

fn pl_19(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let value = newcomer(&mut draft, kind);
    let name = value["metadata"]["name"].as_str()?.to_owned();
    let key = key_of(kind);
    let template = "declared/{name}.yaml";
    draft.place(&[(key.as_str(), template)], None);
    let below = format!("declared/{name}.yaml");
    match draft.dice.below(3) {
        0 => draft.file(&format!("{below}/note.txt"), "a folder stands here\n"),
        1 => draft.file("declared", "a file stands where a folder should be\n"),
        _ => {
            let long = word(draft.dice).repeat(60);
            let template = format!("declared/{long}{{name}}.yaml");
            draft.place(&[(key.as_str(), template.as_str())], None);
        }
    }
    draft.refuses(&value, RefusalCode::InvalidPath);
    // The others of the batch land.
    let other = draft.object(Kind::ConfigMap);
    if kind != Kind::ConfigMap {
        let other = draft.arrives(&other);
        draft.comes(&built_in(&other), other);
    }
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

fn rg_2(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let file = path("apps/existing.yaml");
    draft.bystanders(&file, 2);
    let kind = Kind::draw(draft.dice);
    let key = key_of(kind);
    draft.place(&[(key.as_str(), "apps/{name}.yaml")], None);
    let value = newcomer(&mut draft, kind);
    let name = value["metadata"]["name"].as_str()?.to_owned();
    draft.comes(&path(&format!("apps/{name}.yaml")), value);
    Some(draft.finish())
}

fn rg_4(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let above = RepoPath::new("kustomization.yaml").ok()?;
    draft.file_at(&above, b"resources:\n  - live/a.yaml # ours\n");
    let kind = Kind::draw(draft.dice);
    if draft.dice.once_in(2) {
        let value = draft.object(kind);
        draft.put(&path("a.yaml"), value.clone());
        draft.goes(&value);
        draft.turns(&path("a.yaml"), After::Gone);
    } else {
        let value = newcomer(&mut draft, kind);
        draft.comes(&built_in(&value), value);
    }
    Some(draft.finish())
}
