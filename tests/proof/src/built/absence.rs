//! A11 and A13: objects without a document that may be written go, and come back.

use serde_json::{Value, json};

use super::Row;
use super::case::{Case, Promise, Supplier};
use super::draft::{Draft, ROOT};
use super::generators::{Generator, generator};
use super::judge;
use super::replicas::name_of;
use crate::dice::Dice;
use crate::kustomize::ours;
use crate::rows::objects::Kind;

const PATCHED: Promise = Promise::Lands(Supplier::DeletePatch);

/// The rows of what goes without a document of its own.
pub fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "CG-11, CG-17",
            "a generated object goes with its entry and its inputs",
            cg_11,
        ),
        Row::new(
            "CG-11 shared",
            "an input that another generator reads stays",
            cg_11_shared,
        ),
        Row::new("DP-1, DP-2", "an inherited object goes by a patch", dp_1),
        Row::new("DP-3", "the patch goes when the object is back", dp_3),
        Row::new(
            "DP-8",
            "patches of objects of one name have files of their own",
            dp_8,
        ),
        Row::new(
            "DP-9",
            "the count of an inherited workload goes along",
            dp_9,
        ),
    ]
}

fn goes(case: &mut Case, name: &str, promise: Promise) {
    let objects = case.before.clone();
    for object in objects.iter().filter(|it| name_of(it) == name) {
        case.goes(object, promise);
    }
}

fn cg_11(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let home = draft.home.clone();
    let count = draft.many();
    let made: Vec<Generator> = (0..count)
        .map(|_| {
            let (with_literals, with_files) =
                draft
                    .dice
                    .one(&[(true, true), (true, false), (false, true)]);
            generator(&mut draft, &home, 1, with_literals, with_files)
        })
        .collect();
    let stays = made.len() - draft.dice.below(2);
    let path = draft.kustomization(&home);
    let mut case = draft.finish()?;
    case.touches(&path);
    for generator in made.iter().take(stays) {
        generator.inputs().for_each(|input| case.touches(input));
        goes(&mut case, &generator.name, Promise::Lands(Supplier::List));
    }
    (!case.happenings.is_empty()).then_some(case)
}

fn cg_11_shared(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let home = draft.home.clone();
    draft.file(&format!("{home}/shared.txt"), "kept\n");
    let mut names = Vec::new();
    for _ in 0..2 + draft.dice.below(3) {
        let name = draft.name("settings");
        let entry = json!({
            "name": name, "namespace": crate::rows::objects::TEAM, "files": ["key=shared.txt"],
            "options": {"disableNameSuffixHash": true},
        });
        draft.entry(&home, "configMapGenerator", entry);
        names.push(name);
    }
    let stays = draft.dice.below(names.len());
    names.remove(stays);
    let path = draft.kustomization(&home);
    let mut case = draft.finish()?;
    case.touches(&path);
    for name in names {
        goes(&mut case, &name, Promise::Lands(Supplier::List));
    }
    Some(case)
}

/// Puts objects into a base; returns their names.
fn inherited(draft: &mut Draft<'_>) -> Vec<String> {
    draft.surroundings();
    let stays = draft.object(Kind::ConfigMap);
    draft.put_alone(stays);
    let count = draft.many();
    let objects = (0..count).map(|_| {
        let kind = Kind::draw(draft.dice);
        let value = draft.object(kind);
        name_of(&draft.put(value).value)
    });
    objects.collect()
}

fn dp_1(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::overlay(dice);
    let names = inherited(&mut draft);
    let case = draft.finish()?;
    Some(taken_away(case, &names))
}

/// Says that inherited objects go. What is written is new patches, and the list that names them.
fn taken_away(mut case: Case, names: &[String]) -> Case {
    case.is_open = true;
    for name in names {
        goes(&mut case, name, PATCHED);
    }
    case
}

fn dp_3(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::overlay(dice);
    let names = inherited(&mut draft);
    let mut dice = draft.dice.clone();
    let gone = taken_away(draft.finish()?, &names);
    let before = gone.before.clone();
    let looked = judge::look(&gone).ok()?;
    let built = ours::objects(&looked.after, ROOT);
    let mut case = Case::new(looked.after, gone.roots, built, gone.policy)?;
    case.is_open = true;
    let is_back = |object: &&Value| names.contains(&name_of(object));
    for object in before.iter().filter(is_back) {
        if !dice.once_in(4) {
            case.comes(object.clone(), PATCHED, &mut dice);
        }
    }
    (!case.happenings.is_empty()).then_some(case)
}

fn dp_8(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::overlay(dice);
    // A root that gives a namespace would make one object of the two.
    (!draft.root_gives_namespace()).then_some(())?;
    draft.bystanders();
    draft.gives_namespace = false;
    let mut names = Vec::new();
    for _ in 0..draft.many() {
        let kind = draft
            .dice
            .one(&[Kind::ConfigMap, Kind::Service, Kind::Deployment]);
        let mut value = draft.object(kind);
        for namespace in ["team-a", "team-b"] {
            value["metadata"]["namespace"] = namespace.into();
            draft.put_alone(value.clone());
        }
        names.push(name_of(&value));
    }
    let case = draft.finish()?;
    Some(taken_away(case, &names))
}

fn dp_9(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::overlay(dice);
    let names = inherited(&mut draft);
    let mut scaled = Vec::new();
    for _ in 0..1 + draft.dice.below(3) {
        let kind = draft.dice.one(&[Kind::Deployment, Kind::StatefulSet]);
        let value = draft.object(kind);
        let name = name_of(&draft.put(value).value);
        let entry = json!({"name": name, "count": draft.dice.below(9)});
        draft.entry(ROOT, "replicas", entry);
        scaled.push(name);
    }
    let case = draft.finish()?;
    scaled.extend(names.into_iter().take(2));
    Some(taken_away(case, &scaled))
}
