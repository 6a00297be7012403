//! A7 and A8: where the document of a new object goes.

use std::collections::BTreeMap;

use manifests::Placement;
use manifests::placement::{RenderRoot, Site, Subject};
use model::{FolderPath, RefusalCode, RepoPath};
use serde_json::{Value, json};

use super::Row;
use super::case::{After, Case, Draft, path};
use super::objects::{Kind, id_of, object, word};
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
pub(super) fn newcomer(draft: &mut Draft<'_>, kind: Kind) -> Value {
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
    let group = match &*id.type_id.group {
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

pub(super) fn key_of(kind: Kind) -> String {
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
    let group = match &*served.type_id.group {
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
    let kind = Kind::draw(draft.dice);
    let is_listed = draft.dice.once_in(2);
    let list = match is_listed {
        true => "resources:\n  - live/a.yaml # ours\n",
        false => "resources: []\n",
    };
    draft.file_at(&above, list.as_bytes());
    if draft.dice.once_in(2) {
        let value = draft.object(kind);
        draft.put(&path("a.yaml"), value.clone());
        draft.goes(&value);
        match is_listed {
            // It would leave the build above without a file that it lists.
            true => draft.refuses(&value, RefusalCode::WriteBoundaryRefused),
            false => draft.turns(&path("a.yaml"), After::Gone),
        }
    } else {
        let value = newcomer(&mut draft, kind);
        draft.comes(&built_in(&value), value);
    }
    Some(draft.finish())
}
