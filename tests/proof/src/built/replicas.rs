//! A10, the counts: a live count goes to the entry that supplied it.

use model::IssueKind;
use serde_json::{Value, json};

use super::Row;
use super::case::{Case, Promise, Supplier};
use super::draft::{Draft, ROOT};
use super::images::entries_at;
use crate::dice::Dice;
use crate::rows::objects::Kind;

const LANDS: Promise = Promise::Lands(Supplier::Replicas);

/// The kinds whose counts entries give.
const GOVERNED: [Kind; 3] = [
    Kind::Deployment,
    Kind::StatefulSet,
    Kind::ReplicationController,
];

/// The rows of counts.
pub fn rows() -> Vec<Row> {
    vec![
        Row::new("OV-2 count", "kubectl scale changes the entry", |dice| {
            governed(dice, true)
        }),
        Row::new("OV-10", "and the document stays without a count", |dice| {
            governed(dice, false)
        }),
        Row::new(
            "OV-12",
            "a Rollout of the same name is no matter of the entry",
            ov_12,
        ),
        Row::new("OV-8 count", "two kinds of one name share the entry", ov_8),
        Row::new(
            "OV-4 count",
            "a count without an entry goes to the document",
            ov_4,
        ),
        Row::new(
            "OV-11 count",
            "a count of a base gets an entry in the overlay",
            ov_11,
        ),
        Row::new("OV-14 count", "one entry under two roots", ov_14),
    ]
}

fn count(dice: &mut Dice) -> Value {
    (50 + dice.below(40)).into()
}

/// Returns the name of an object.
pub(super) fn name_of(value: &Value) -> String {
    let name = value["metadata"]["name"].as_str();
    name.unwrap_or_default().to_owned()
}

fn scale(
    case: &mut Case,
    kind: Kind,
    name: &str,
    to: Value,
    promise: Promise,
    dice: &mut Dice,
) -> Option<()> {
    let was = case.built(kind, name);
    let mut is = was.clone();
    is["spec"]["replicas"] = to;
    (is != was).then(|| case.becomes(&was, is, promise, dice))
}

fn governed(dice: &mut Dice, written: bool) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let folder = entries_at(&mut draft);
    let mut subjects = Vec::new();
    for _ in 0..draft.many() {
        let kind = draft.dice.one(&GOVERNED);
        let mut value = draft.object(kind);
        if !written {
            value["spec"].as_object_mut()?.remove("replicas");
        }
        let name = name_of(&value);
        let entry = json!({"name": name, "count": draft.dice.below(9)});
        draft.entry(&folder, "replicas", entry);
        draft.put(value);
        subjects.push((kind, name));
    }
    let path = draft.kustomization(&folder);
    let mut case = draft.finish()?;
    case.touches(&path);
    for (kind, name) in subjects {
        let to = count(dice);
        scale(&mut case, kind, &name, to, LANDS, dice)?;
    }
    Some(case)
}

fn ov_12(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let folder = entries_at(&mut draft);
    let value = draft.object(Kind::Deployment);
    let name = name_of(&value);
    let entry = json!({"name": name, "count": draft.dice.below(9)});
    draft.entry(&folder, "replicas", entry);
    draft.put(value);
    let mut rollout = draft.object(Kind::Rollout);
    rollout["metadata"]["name"] = name.as_str().into();
    let put = draft.put(rollout);
    let path = draft.kustomization(&folder);
    let mut case = draft.finish()?;
    case.touches(&put.path);
    let to = count(dice);
    scale(
        &mut case,
        Kind::Rollout,
        &name,
        to,
        Promise::Lands(Supplier::Document),
        dice,
    )?;
    if dice.once_in(2) {
        case.touches(&path);
        let to = count(dice);
        scale(&mut case, Kind::Deployment, &name, to, LANDS, dice)?;
    }
    Some(case)
}

fn ov_8(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let folder = entries_at(&mut draft);
    let value = draft.object(Kind::Deployment);
    let name = name_of(&value);
    let entry = json!({"name": name, "count": draft.dice.below(9)});
    draft.entry(&folder, "replicas", entry);
    draft.put(value);
    let mut other = draft.object(Kind::StatefulSet);
    other["metadata"]["name"] = name.as_str().into();
    draft.put(other);
    let path = draft.kustomization(&folder);
    let mut case = draft.finish()?;
    case.touches(&path);
    let to = count(dice);
    if dice.once_in(2) {
        scale(&mut case, Kind::Deployment, &name, to.clone(), LANDS, dice)?;
        scale(&mut case, Kind::StatefulSet, &name, to, LANDS, dice)?;
    } else {
        scale(
            &mut case,
            Kind::Deployment,
            &name,
            to,
            Promise::Refused(None),
            dice,
        )?;
    }
    Some(case)
}

fn ov_4(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let mut subjects = Vec::new();
    for _ in 0..draft.many() {
        let kind = draft.dice.one(&GOVERNED);
        let value = draft.object(kind);
        let put = draft.put(value);
        subjects.push((kind, put));
    }
    let mut case = draft.finish()?;
    for (kind, put) in subjects {
        case.touches(&put.path);
        let to = count(dice);
        let promise = Promise::Lands(Supplier::Document);
        scale(&mut case, kind, &name_of(&put.value), to, promise, dice)?;
    }
    Some(case)
}

fn ov_11(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::overlay(dice);
    draft.surroundings();
    let mut subjects = Vec::new();
    for _ in 0..draft.many() {
        let kind = draft.dice.one(&GOVERNED);
        let mut value = draft.object(kind);
        if draft.dice.once_in(3) {
            value["spec"].as_object_mut()?.remove("replicas");
        }
        let name = name_of(&value);
        draft.put(value);
        subjects.push((kind, name));
    }
    if draft.dice.once_in(2) {
        let (_, name) = subjects.first()?;
        let entry = json!({"name": name, "count": draft.dice.below(9)});
        draft.entry(ROOT, "replicas", entry);
    }
    let path = draft.kustomization(ROOT);
    let mut case = draft.finish()?;
    case.touches(&path);
    for (kind, name) in subjects {
        let to = count(dice);
        scale(
            &mut case,
            kind,
            &name,
            to,
            Promise::Lands(Supplier::NewEntry),
            dice,
        )?;
    }
    Some(case)
}

fn ov_14(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::two_roots(dice);
    let home = draft.home.clone();
    let value = draft.object(Kind::Deployment);
    let name = name_of(&value);
    let entry = json!({"name": name, "count": draft.dice.below(9)});
    draft.entry(&home, "replicas", entry);
    draft.put(value);
    let path = draft.kustomization(&home);
    let mut case = draft.finish()?;
    case.touches(&path);
    let (count_of, promise) = match dice.once_in(2) {
        true => (2, LANDS),
        false => (1, Promise::Refused(Some(IssueKind::WriteFanIn))),
    };
    let to = count(dice);
    for was in case.before.clone().into_iter().take(count_of) {
        let mut is = was.clone();
        is["spec"]["replicas"] = to.clone();
        (is != was).then(|| case.becomes(&was, is, promise, dice))?;
    }
    Some(case)
}
