//! A9: namespaces that kustomizations give.

use serde_json::Value;

use super::Row;
use super::case::{Case, Promise, Supplier};
use super::context::newcomer;
use super::draft::{Draft, ROOT};
use super::replicas::name_of;
use crate::dice::Dice;
use crate::rows::objects::{Kind, TEAM, object};
use crate::rows::tweak::some;

const LANDS: Promise = Promise::Lands(Supplier::List);

/// The rows of namespaces.
pub fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "NS-1",
            "a new document leaves out the namespace that is given",
            |dice| new(dice, None),
        ),
        Row::new(
            "NS-2 true",
            "and carries it where the target says so",
            |dice| new(dice, Some(true)),
        ),
        Row::new(
            "NS-2 false",
            "and lacks it where the target says so",
            |dice| new(dice, Some(false)),
        ),
        Row::new(
            "NS-5",
            "a root of another namespace takes no new object",
            ns_5,
        ),
        Row::new(
            "NS-7",
            "a document keeps its namespace or the lack of it",
            ns_7,
        ),
        Row::new(
            "NS-8",
            "an object without a namespace stays editable under one",
            ns_8,
        ),
    ]
}

fn namespaced(draft: &mut Draft<'_>) -> Value {
    let kind = draft.dice.one(&Kind::PLAIN);
    let name = draft.name("new");
    object(kind, &name, draft.dice)
}

fn new(dice: &mut Dice, setting: Option<bool>) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.policy.serialize_namespace = setting;
    draft.bystanders();
    let is_there = setting.unwrap_or(!draft.gives_namespace);
    let news: Vec<Value> = (0..draft.many()).map(|_| namespaced(&mut draft)).collect();
    let path = draft.kustomization(ROOT);
    let mut case = draft.finish()?;
    case.touches(&path);
    case.new_text = Some(("namespace:", is_there));
    for value in news {
        case.comes(value, LANDS, dice);
    }
    Some(case)
}

fn ns_5(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::bare(dice);
    draft.gives_namespace = true;
    draft.set(ROOT, "namespace", "team-z".into());
    draft.bystanders();
    let news: Vec<Value> = (0..draft.many()).map(|_| namespaced(&mut draft)).collect();
    let mut case = draft.finish()?;
    for value in news {
        case.comes(value, Promise::Refused(None), dice);
    }
    Some(case)
}

fn ns_7(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::bare(dice);
    draft.gives_namespace = true;
    draft.set(ROOT, "namespace", TEAM.into());
    draft.bystanders();
    let mut puts = Vec::new();
    for _ in 0..draft.many() {
        let kind = draft.dice.one(&Kind::PLAIN);
        let value = draft.object(kind);
        puts.push((kind, draft.put(value)));
    }
    let mut case = draft.finish()?;
    for (kind, put) in puts {
        case.touches(&put.path);
        let was = case.built(kind, &name_of(&put.value));
        let is = some(&was, dice)?;
        case.becomes(&was, is, Promise::Lands(Supplier::Document), dice);
    }
    Some(case)
}

fn ns_8(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::bare(dice);
    draft.gives_namespace = true;
    draft.set(ROOT, "namespace", TEAM.into());
    draft.bystanders();
    let mut puts = Vec::new();
    for _ in 0..draft.many() {
        let kind = draft.dice.one(&[Kind::Zone, Kind::Zone, Kind::ClusterRole]);
        let value = draft.object(kind);
        puts.push((kind, draft.put(value)));
    }
    let arrives = draft.dice.once_in(2).then(|| newcomer(&mut draft));
    let path = draft.kustomization(ROOT);
    let mut case = draft.finish()?;
    for (kind, put) in puts {
        case.touches(&put.path);
        let was = case.built(kind, &name_of(&put.value));
        let is = some(&was, dice)?;
        case.becomes(&was, is, Promise::Lands(Supplier::Document), dice);
    }
    if let Some(value) = arrives {
        case.touches(&path);
        case.comes(value, LANDS, dice);
    }
    Some(case)
}
