//! Everything at once: whatever the folder holds and whatever happens, it is built to what is live, or nothing is
//! written.

use serde_json::{Map, Value, json};

use super::Row;
use super::case::{Case, Promise, Supplier};
use super::context::newcomer;
use super::draft::{Draft, ROOT};
use super::generators::generator;
use super::images::{Subject, tag};
use super::replicas::name_of;
use crate::dice::Dice;
use crate::rows::objects::{Kind, sentence, word};
use crate::rows::tweak::some;

const OPEN: Promise = Promise::Open(Supplier::Mixed);

/// The rows of everything.
pub fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "E8 step 6",
            "any changes in a folder of every construct",
            |dice| {
                let draft = Draft::new(dice);
                whatever(draft)
            },
        ),
        Row::new(
            "E8 overlay",
            "any changes in an overlay of every construct",
            |dice| {
                let draft = Draft::overlay(dice);
                whatever(draft)
            },
        ),
        Row::new(
            "RV-1 batch",
            "objects change, come and go in one batch",
            batch,
        ),
    ]
}

/// Puts one construct of each kind into a folder, or not.
fn constructs(draft: &mut Draft<'_>) -> Option<()> {
    for _ in 0..2 + draft.dice.below(3) {
        let (_, value, reference) = Subject::draw(draft)?;
        let name = name_of(&value);
        if draft.dice.once_in(2) {
            let mut entry = json!({"name": reference.name, "newTag": tag(draft.dice)});
            if draft.dice.once_in(3) {
                entry["newName"] = word(draft.dice).into();
            }
            let folder = if draft.dice.once_in(2) {
                ROOT.to_owned()
            } else {
                draft.home.clone()
            };
            draft.entry(&folder, "images", entry);
        }
        let is_scaled = matches!(value["kind"].as_str(), Some("Deployment" | "StatefulSet"));
        if is_scaled && draft.dice.once_in(2) {
            let entry = json!({"name": name, "count": draft.dice.below(9)});
            draft.entry(ROOT, "replicas", entry);
        }
        let put = draft.put(value);
        if draft.dice.once_in(3) {
            let body =
                json!({"metadata": {"annotations": {"example.com/patched": word(draft.dice)}}});
            draft.patch(ROOT, &put, &body);
        }
    }
    for _ in 0..draft.dice.below(3) {
        let kind = Kind::draw(draft.dice);
        let value = draft.object(kind);
        draft.put(value);
    }
    if draft.dice.once_in(2) {
        generator(draft, ROOT, 1, true, true);
    }
    if draft.dice.once_in(3) {
        let pairs = json!({"example.com/all": word(draft.dice)});
        let entry = json!({"pairs": pairs, "includeSelectors": draft.dice.once_in(2)});
        draft.entry(ROOT, "labels", entry);
    }
    Some(())
}

/// Changes an object in any way.
fn changed(was: &Value, dice: &mut Dice) -> Option<Value> {
    if dice.once_in(4) {
        let mut is = was.clone();
        let metadata = is["metadata"].as_object_mut()?;
        let map = dice.one(&["labels", "annotations"]);
        let held = metadata.entry(map).or_insert_with(|| Map::new().into());
        let keys: Vec<String> = held.as_object()?.keys().cloned().collect();
        let key = dice.pick(&keys)?;
        held[key.as_str()] = sentence(dice).into();
        return (is != *was).then_some(is);
    }
    some(was, dice)
}

fn whatever(mut draft: Draft<'_>) -> Option<Case> {
    draft.surroundings();
    constructs(&mut draft)?;
    let new = draft.dice.once_in(3).then(|| newcomer(&mut draft));
    let mut dice = draft.dice.clone();
    let dice = &mut dice;
    let mut case = draft.finish()?;
    case.is_open = true;
    for was in case.before.clone() {
        match dice.below(6) {
            0 => case.goes(&was, OPEN),
            1 | 2 => {
                if let Some(is) = changed(&was, dice) {
                    case.becomes(&was, is, OPEN, dice);
                }
            }
            _ => {}
        }
    }
    if let Some(value) = new {
        case.comes(value, OPEN, dice);
    }
    (!case.happenings.is_empty()).then_some(case)
}

fn batch(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.bystanders();
    let stays = draft.object(Kind::ConfigMap);
    draft.put_alone(stays);
    let mut puts = Vec::new();
    for _ in 0..2 + draft.dice.below(5) {
        let kind = Kind::draw(draft.dice);
        let value = draft.object(kind);
        puts.push((kind, draft.put(value)));
    }
    let new = newcomer(&mut draft);
    let paths = [ROOT.to_owned(), draft.home.clone()].map(|folder| draft.kustomization(&folder));
    let mut case = draft.finish()?;
    paths.iter().for_each(|path| case.touches(path));
    for (kind, put) in puts {
        case.touches(&put.path);
        let was = case.built(kind, &name_of(&put.value));
        if dice.once_in(3) {
            case.goes(&was, Promise::Lands(Supplier::List));
        } else {
            let is = some(&was, dice)?;
            case.becomes(&was, is, Promise::Lands(Supplier::Document), dice);
        }
    }
    case.comes(new, Promise::Lands(Supplier::List), dice);
    Some(case)
}
