//! A9: whether documents carry their namespace.

use model::RefusalCode;
use serde_json::{Value, json};

use super::Row;
use super::case::{Case, Draft, Page};
use super::objects::{Kind, TEAM, kept, object};
use super::placing::built_in;
use super::tweak::some;
use crate::dice::Dice;

/// The rows of A9.
pub fn rows() -> Vec<Row> {
    vec![
        Row::promised(
            "NS-1 NS-7",
            "unset: new documents carry it, others keep what they have",
            ns_1,
        ),
        Row::promised(
            "NS-2 true",
            "every document that is written carries it",
            ns_2_true,
        ),
        Row::promised(
            "NS-2 false new",
            "no new document carries it",
            ns_2_false_new,
        ),
        Row::promised(
            "NS-2 false edit",
            "documents without it are found and edited",
            ns_2_false_edit,
        ),
        Row::promised(
            "NS-2 cluster",
            "objects of the cluster are not concerned",
            ns_2_cluster,
        ),
        Row::promised(
            "NS-3",
            "switched to false, it goes with the next write",
            ns_3,
        ),
        Row::promised("NS-3 D54", "switching is no write by itself", ns_3_alone),
        Row::promised("NS-4", "nothing is inferred from where a file lies", ns_4),
        Row::promised("NS-6", "false, and objects of two namespaces", ns_6),
        Row::promised(
            "NS-7 cluster",
            "a namespace on an object of the cluster is a person's",
            ns_7,
        ),
    ]
}

/// Returns the value without its namespace.
fn bare(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(metadata) = value["metadata"].as_object_mut() {
        metadata.remove("namespace");
    }
    value
}

fn namespaced(draft: &mut Draft<'_>) -> Value {
    let kind = draft.dice.one(&Kind::PLAIN);
    draft.object(kind)
}

fn ns_1(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let held = namespaced(&mut draft);
    let wanted = some(&held, draft.dice)?;
    let at = draft.put_anywhere(held);
    draft.edit(&at, wanted);
    let new = namespaced(&mut draft);
    let new = draft.arrives(&new);
    draft.comes(&built_in(&new), new);
    Some(draft.finish())
}

fn ns_2_true(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.policy.serialize_namespace = Some(true);
    let held = namespaced(&mut draft);
    let wanted = some(&held, draft.dice)?;
    let at = draft.put_anywhere(held);
    draft.edit(&at, wanted);
    let new = namespaced(&mut draft);
    let new = draft.arrives(&new);
    draft.comes(&built_in(&new), new);
    Some(draft.finish())
}

fn ns_2_false_new(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.policy.serialize_namespace = Some(false);
    draft.surroundings();
    for _ in 0..1 + draft.dice.below(3) {
        let new = namespaced(&mut draft);
        let new = draft.arrives(&new);
        draft.comes(&built_in(&new), bare(&new));
    }
    Some(draft.finish())
}

fn ns_2_false_edit(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.policy.serialize_namespace = Some(false);
    draft.surroundings();
    let held = namespaced(&mut draft);
    let wanted = some(&held, draft.dice)?;
    let at = draft.put_anywhere(bare(&held));
    draft.happens(&wanted);
    draft.becomes(&at, Page::Edited(at.index, bare(&wanted)));
    Some(draft.finish())
}

fn ns_2_cluster(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.policy.serialize_namespace = draft.dice.one(&[None, Some(true), Some(false)]);
    let kind = draft.dice.one(&[Kind::ClusterRole, Kind::Zone]);
    let held = draft.object(kind);
    let wanted = some(&held, draft.dice)?;
    let at = draft.put_anywhere(held);
    draft.edit(&at, wanted);
    let new = draft.object(kind);
    let new = draft.arrives(&new);
    draft.comes(&built_in(&new), new);
    Some(draft.finish())
}

fn ns_3(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.policy.serialize_namespace = Some(false);
    let held = namespaced(&mut draft);
    let wanted = some(&held, draft.dice)?;
    let at = draft.put_anywhere(held);
    draft.happens(&wanted);
    draft.becomes(&at, Page::Edited(at.index, bare(&wanted)));
    Some(draft.finish())
}

fn ns_3_alone(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let with = draft.dice.once_in(2);
    draft.policy.serialize_namespace = Some(false);
    for _ in 0..1 + draft.dice.below(3) {
        let held = namespaced(&mut draft);
        let written = if with { held.clone() } else { bare(&held) };
        draft.put_anywhere(written);
        draft.happens(&held);
    }
    Some(draft.finish())
}

/// A document without a namespace belongs to nobody where nothing says whose it is; a new object of that name gets
/// a document of its own.
fn ns_4(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.policy.serialize_namespace = draft.dice.one(&[None, Some(true)]);
    let held = namespaced(&mut draft);
    let path = super::case::path(&format!("{TEAM}/lies-here.yaml"));
    draft.put(&path, bare(&held));
    let new = draft.arrives(&held);
    draft.comes(&built_in(&new), new);
    Some(draft.finish())
}

fn ns_6(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.policy.serialize_namespace = Some(false);
    let held = namespaced(&mut draft);
    draft.put_anywhere(bare(&held));
    let kind = draft.dice.one(&Kind::PLAIN);
    let name = draft.name("other");
    let mut other = object(kind, &name, draft.dice);
    let is_one = draft.dice.once_in(2);
    if is_one {
        // The twin: of one namespace both land.
        let at = draft.put_anywhere(bare(&other));
        let wanted_other = some(&other, draft.dice)?;
        draft.happens(&wanted_other);
        draft.becomes(&at, Page::Edited(at.index, bare(&wanted_other)));
        draft.happens(&held);
        return Some(draft.finish());
    }
    other["metadata"]["namespace"] = json!("team-b");
    for value in [&held, &other] {
        let object = kept(value, draft.dice);
        draft.intends(manifests::Intent::Upsert(object));
        draft.refuses(value, RefusalCode::MultipleSourceNamespaces);
    }
    Some(draft.finish())
}

fn ns_7(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let held = draft.object(Kind::ClusterRole);
    let wanted = some(&held, draft.dice)?;
    let with = |value: &Value| {
        let mut value = value.clone();
        value["metadata"]["namespace"] = json!("of-no-effect");
        value
    };
    let at = draft.put_anywhere(with(&held));
    draft.happens(&wanted);
    draft.becomes(&at, Page::Edited(at.index, with(&wanted)));
    Some(draft.finish())
}
