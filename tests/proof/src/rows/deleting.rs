//! A14: documents whose object is gone.

use std::collections::BTreeSet;

use manifests::Intent;
use manifests::plan::PruneMode;
use model::{Collection, Namespace, Scope, Selector};
use serde_json::{Map, Value, json};

use super::Row;
use super::case::{After, At, Case, Draft, Page, Sheet, path};
use super::hand::{Style, write};
use super::keyring::seal;
use super::objects::{Kind, TEAM, id_of, live, object};
use super::tweak::some;
use crate::dice::Dice;

/// The rows of A14.
pub fn rows() -> Vec<Row> {
    vec![
        Row::promised(
            "DL-1 DL-11",
            "each prune mode, for what is seen to go and what is missing",
            dl_1,
        ),
        Row::promised("DL-2 DL-4", "it goes from wherever it was moved to", dl_4),
        Row::promised(
            "DL-3",
            "a sweep covers its type and scope, in every namespace or one",
            dl_3,
        ),
        Row::promised(
            "DL-4 unknown",
            "what has no document is nothing to do",
            dl_4_unknown,
        ),
        Row::promised("DL-5", "one of several documents, the first or any", dl_5),
        Row::promised(
            "DL-6 DL-14",
            "the last one takes the file, and nothing else",
            dl_6,
        ),
        Row::promised(
            "DL-8",
            "a document that nobody can edit, or that is encrypted",
            dl_8,
        ),
        Row::promised("DL-10", "what is not observed any more stays", dl_10),
        Row::promised("DL-12", "a sweep leaves what is no document", dl_12),
    ]
}

/// A sweep of a kind's collection that holds nothing but these.
fn sweep(
    kind: Kind,
    scope: Scope,
    objects: &[Value],
    protected: &[Value],
    dice: &mut Dice,
) -> Intent {
    let collection = Collection {
        type_id: kind.served().type_id,
        scope,
        selector: Selector::everything(),
    };
    Intent::Sweep {
        collection,
        objects: objects.iter().map(|value| live(value, dice)).collect(),
        protected: protected.iter().map(id_of).collect(),
    }
}

fn scope_of(kind: Kind) -> Scope {
    if kind.is_namespaced() {
        Scope::AllNamespaces
    } else {
        Scope::Cluster
    }
}

fn takes_out(draft: &mut Draft<'_>, at: &At, value: &Value) {
    draft.becomes(at, Page::Removed(at.index, id_of(value)));
}

fn dl_1(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let mode = draft
        .dice
        .one(&[PruneMode::Never, PruneMode::OnEvent, PruneMode::Always]);
    let is_swept = draft.dice.once_in(2);
    draft.policy.prune = mode;
    let kind = Kind::draw(draft.dice);
    let (gone, stays) = (draft.object(kind), draft.object(kind));
    let wanted = some(&stays, draft.dice)?;
    let file = draft.path();
    let at = draft.put(&file, gone.clone());
    let other = draft.put(&file, stays);
    if is_swept {
        let intent = sweep(
            kind,
            scope_of(kind),
            std::slice::from_ref(&wanted),
            &[],
            draft.dice,
        );
        draft.intends(intent);
    } else {
        draft.goes(&gone);
        draft.happens(&wanted);
    }
    draft.becomes(&other, Page::Edited(other.index, wanted));
    match (mode, is_swept) {
        (PruneMode::Never, _) | (PruneMode::OnEvent, true) => draft.retains(&gone),
        (PruneMode::OnEvent, false) | (PruneMode::Always, _) => takes_out(&mut draft, &at, &gone),
    }
    Some(draft.finish())
}

fn dl_4(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    for _ in 0..1 + draft.dice.below(3) {
        let kind = Kind::draw(draft.dice);
        let gone = draft.object(kind);
        let at = draft.put_anywhere(gone.clone());
        draft.goes(&gone);
        takes_out(&mut draft, &at, &gone);
    }
    Some(draft.finish())
}

fn dl_3(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.policy.prune = PruneMode::Always;
    let kind = draft.dice.one(&Kind::PLAIN);
    let one_namespace = draft.dice.once_in(2);
    let scope = if one_namespace {
        Scope::Namespace(Namespace::new(TEAM).ok()?)
    } else {
        Scope::AllNamespaces
    };
    let file = draft.path();
    let (mut objects, mut protected) = (Vec::new(), Vec::new());
    for _ in 0..3 + draft.dice.below(4) {
        let other = draft.dice.one(&Kind::PLAIN);
        let of_kind = if draft.dice.once_in(3) { other } else { kind };
        let mut value = draft.object(of_kind);
        let is_elsewhere = draft.dice.once_in(3);
        if is_elsewhere {
            value["metadata"]["namespace"] = json!("team-b");
        }
        let at = draft.put(&file, value.clone());
        let is_covered = of_kind == kind && !(is_elsewhere && one_namespace);
        match draft.dice.below(3) {
            0 if is_covered => objects.push(value),
            1 if is_covered => protected.push(value),
            _ if is_covered => takes_out(&mut draft, &at, &value),
            _ => {}
        }
    }
    let intent = sweep(kind, scope, &objects, &protected, draft.dice);
    draft.intends(intent);
    Some(draft.finish())
}

fn dl_4_unknown(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let file = draft.path();
    draft.bystanders(&file, 2);
    let kind = Kind::draw(draft.dice);
    let gone = draft.object(kind);
    draft.goes(&gone);
    Some(draft.finish())
}

fn dl_5(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let file = draft.path();
    let before = draft.dice.below(3);
    draft.bystanders(&file, before);
    let kind = Kind::draw(draft.dice);
    let gone = draft.object(kind);
    let at = draft.put(&file, gone.clone());
    let behind = draft.dice.below(3);
    draft.bystanders(&file, if before == 0 { behind + 1 } else { behind });
    draft.goes(&gone);
    takes_out(&mut draft, &at, &gone);
    Some(draft.finish())
}

fn dl_6(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    draft.file("apps/README.md", "# Apps\n");
    draft.file("apps/.gitkeep", "");
    let file = path("apps/all.yaml");
    for _ in 0..1 + draft.dice.below(3) {
        let kind = Kind::draw(draft.dice);
        let gone = draft.object(kind);
        let at = draft.put(&file, gone.clone());
        draft.goes(&gone);
        takes_out(&mut draft, &at, &gone);
    }
    Some(draft.finish())
}

/// Writes a document that has a key twice, which no edit is safe in.
pub(super) fn twice(value: &Value, dice: &mut Dice) -> Sheet {
    let mut value = value.clone();
    value["zeta"] = json!(1);
    let style = Style {
        shuffled: false,
        ..Style::draw(dice)
    };
    let written = write(value.as_object().unwrap_or(&Map::new()), style, 0, dice);
    Sheet::written(value, format!("{}zeta: 1\n", written.text))
}

fn dl_8(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    if draft.dice.once_in(2) {
        let secret = draft.object(Kind::Secret);
        let file = path("elsewhere/of-old.yaml");
        let seed = draft.dice.number();
        let text = seal(&id_of(&secret), &secret, false, seed);
        draft.file_at(&file, text.as_bytes());
        draft.goes(&secret);
        draft.turns(&file, After::Gone);
        return Some(draft.finish());
    }
    let value = draft.object(Kind::ConfigMap);
    let file = draft.path();
    draft.bystanders(&file, 1);
    let sheet = twice(&value, draft.dice);
    let at = draft.put_sheet(&file, sheet);
    draft.bystanders(&file, 1);
    draft.goes(&value);
    takes_out(&mut draft, &at, &value);
    Some(draft.finish())
}

/// The target follows one namespace now and followed two before.
fn dl_10(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.policy.prune = PruneMode::Always;
    let kind = draft.dice.one(&Kind::PLAIN);
    let name = draft.name("elsewhere");
    let mut elsewhere = object(kind, &name, draft.dice);
    elsewhere["metadata"]["namespace"] = json!("team-b");
    let gone = draft.object(kind);
    let file = draft.path();
    draft.put(&file, elsewhere);
    let at = draft.put(&file, gone.clone());
    let scope = Scope::Namespace(Namespace::new(TEAM).ok()?);
    let intent = sweep(kind, scope, &[], &[], draft.dice);
    draft.intends(intent);
    takes_out(&mut draft, &at, &gone);
    Some(draft.finish())
}

fn dl_12(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.policy.prune = PruneMode::Always;
    draft.file("README.md", "# Mirrored\n");
    draft.file(".gittargetignore", "# nothing\n");
    draft.file(".sops.yaml", "creation_rules: []\n");
    draft.file("apps/script.sh", "#!/bin/sh\n");
    let kinds: BTreeSet<usize> = (0..3)
        .map(|_| draft.dice.below(Kind::PLAIN.len()))
        .collect();
    for kind in kinds.into_iter().map(|index| Kind::PLAIN[index]) {
        let gone = draft.object(kind);
        let at = draft.put_alone(gone.clone());
        takes_out(&mut draft, &at, &gone);
        let intent = sweep(kind, scope_of(kind), &[], &[], draft.dice);
        draft.intends(intent);
    }
    Some(draft.finish())
}
