//! A8 and A14: documents that come and go, with the lists that name them.

use manifests::Placement;
use model::Sensitivity;
use serde_json::{Value, json};

use super::Row;
use super::case::{Case, Promise, Supplier};
use super::context::newcomer;
use super::draft::{Draft, Put, ROOT};
use super::generators::generator;
use super::replicas::name_of;
use crate::dice::Dice;
use crate::rows::objects::{Kind, object, word};

const LANDS: Promise = Promise::Lands(Supplier::List);

/// The rows of lists.
pub fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "RG-1",
            "a new file is listed by the nearest kustomization",
            rg_1,
        ),
        Row::new(
            "RG-2",
            "a new file is listed, in whatever style the list is",
            rg_2,
        ),
        Row::new(
            "RG-2 labelled",
            "a new object that has the labels of the root",
            rg_2_labelled,
        ),
        Row::new("RG-5", "a list is made where there is none", rg_5),
        Row::new("RG-6", "a root is made, and lists all that is there", rg_6),
        Row::new("RG-7", "a new object outside of the root is refused", rg_7),
        Row::new("RO-7", "a new object of an overlay is listed there", ro_7),
        Row::new(
            "DL-5",
            "one of several documents goes, the file stays listed",
            dl_5,
        ),
        Row::new("DL-6", "a file goes, and what lists it forgets it", dl_6),
        Row::new(
            "DL-6 shared",
            "a file that two roots show does not go for one of them",
            dl_6_shared,
        ),
        Row::new("DL-7", "the last entry leaves an empty list", dl_7),
        Row::new(
            "DL-9",
            "what would break the build by going is refused",
            dl_9,
        ),
    ]
}

fn arrive(draft: Draft<'_>, news: Vec<Value>, path: &str) -> Option<Case> {
    let mut dice = draft.dice.clone();
    let mut case = draft.finish()?;
    case.touches(path);
    for value in news {
        case.comes(value, LANDS, &mut dice);
    }
    Some(case)
}

fn newcomers(draft: &mut Draft<'_>) -> Vec<Value> {
    let count = draft.many();
    (0..count).map(|_| newcomer(draft)).collect()
}

/// Declares where new documents go.
fn place(draft: &mut Draft<'_>, default: Option<&str>, use_kustomize: Option<bool>) {
    let none: [(&str, &str); 0] = [];
    let read = Placement::read(none, default, use_kustomize, &Sensitivity::default());
    draft.policy.placement = read.expect("the templates of a case are valid");
}

fn rg_1(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.home = ROOT.to_owned();
    draft.bystanders();
    draft.list(ROOT, "below");
    draft.home = "live/below".to_owned();
    draft.set("live/below", "resources", json!([]));
    draft.bystanders();
    let template = draft.dice.one(&[
        "below/{namespace}/{group}/{resource}/{name}.yaml",
        "below/{namespace}-{group}-{resource}-{name}.yaml",
    ]);
    place(&mut draft, Some(template), None);
    let news = newcomers(&mut draft);
    let path = draft.kustomization("live/below");
    arrive(draft, news, &path)
}

fn rg_2(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.bystanders();
    let value = draft.object(Kind::ConfigMap);
    draft.put_alone(value);
    let news = newcomers(&mut draft);
    let path = draft.kustomization(ROOT);
    arrive(draft, news, &path)
}

fn rg_2_labelled(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.bystanders();
    let of = word(draft.dice);
    match draft.dice.once_in(2) {
        true => draft.entry(ROOT, "labels", json!({"pairs": {"example.com/of": of}})),
        false => draft.set(ROOT, "commonAnnotations", json!({"example.com/of": of})),
    }
    // Annotations reach templates as well, so kinds without one are taken.
    let mut news = Vec::new();
    for _ in 0..draft.many() {
        let kind = draft.dice.one(&[
            Kind::ConfigMap,
            Kind::Service,
            Kind::ClusterRole,
            Kind::Widget,
        ]);
        news.push(draft.object(kind));
    }
    for new in &mut news {
        for map in ["labels", "annotations"] {
            new["metadata"][map]["example.com/of"] = of.as_str().into();
        }
    }
    let path = draft.kustomization(ROOT);
    arrive(draft, news, &path)
}

fn rg_5(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::bare(dice);
    match draft.dice.once_in(3) {
        true => draft.set(ROOT, "resources", Value::Null),
        false => draft.clear(ROOT, "resources"),
    }
    generator(&mut draft, ROOT, 1, true, true);
    let news = newcomers(&mut draft);
    let path = draft.kustomization(ROOT);
    arrive(draft, news, &path)
}

fn rg_6(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::plain(dice);
    for _ in 0..draft.dice.below(4) {
        let kind = Kind::draw(draft.dice);
        let value = draft.object(kind);
        draft.put(value);
    }
    place(&mut draft, None, Some(true));
    let news = newcomers(&mut draft);
    arrive(draft, news, "live/kustomization.yaml")
}

fn rg_7(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::bare(dice);
    draft.move_root("live/below");
    draft.bystanders();
    place(
        &mut draft,
        Some("elsewhere/{namespace}/{group}/{resource}/{name}.yaml"),
        Some(true),
    );
    let news = newcomers(&mut draft);
    let mut dice = draft.dice.clone();
    let mut case = draft.finish()?;
    for value in news {
        case.comes(value, Promise::Refused(None), &mut dice);
    }
    Some(case)
}

fn ro_7(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::overlay(dice);
    draft.bystanders();
    let news = newcomers(&mut draft);
    let path = draft.kustomization(ROOT);
    arrive(draft, news, &path)
}

fn goes(case: &mut Case, put: &Put, promise: Promise) {
    let id = |value: &Value| (value["kind"].clone(), value["metadata"]["name"].clone());
    let objects = case.before.clone();
    for object in objects.iter().filter(|it| id(it) == id(&put.value)) {
        case.goes(object, promise);
    }
}

fn dl_5(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let mut all = Vec::new();
    for _ in 0..1 + draft.dice.below(2) {
        let first = draft.object(Kind::Service);
        let first = draft.put_alone(first);
        let mut puts = vec![first.clone()];
        for _ in 0..draft.many() {
            let kind = Kind::draw(draft.dice);
            let value = draft.object(kind);
            puts.push(draft.put_into(&first.path, value));
        }
        let stays = draft.dice.below(puts.len());
        puts.remove(stays);
        all.extend(puts);
    }
    let mut case = draft.finish()?;
    for put in all {
        case.touches(&put.path);
        goes(&mut case, &put, LANDS);
    }
    Some(case)
}

fn dl_6(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let stays = draft.object(Kind::ConfigMap);
    draft.put_alone(stays);
    let mut puts = Vec::new();
    for _ in 0..draft.many() {
        let kind = Kind::draw(draft.dice);
        let value = draft.object(kind);
        puts.push(draft.put_alone(value));
    }
    let home = draft.home.clone();
    let path = draft.kustomization(&home);
    let mut case = draft.finish()?;
    case.touches(&path);
    for put in puts {
        case.touches(&put.path);
        goes(&mut case, &put, LANDS);
    }
    Some(case)
}

fn dl_6_shared(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::two_roots(dice);
    let stays = draft.object(Kind::ConfigMap);
    draft.put_alone(stays);
    let value = draft.object(Kind::Service);
    let put = draft.put_alone(value);
    let home = draft.home.clone();
    let path = draft.kustomization(&home);
    let is_first = draft.dice.once_in(2);
    let mut case = draft.finish()?;
    case.touches(&path);
    case.touches(&put.path);
    goes(&mut case, &put, Promise::Refused(None));
    case.happenings.remove(usize::from(is_first));
    Some(case)
}

fn dl_7(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::bare(dice);
    let mut puts = Vec::new();
    for _ in 0..draft.many() {
        let kind = Kind::draw(draft.dice);
        let value = draft.object(kind);
        puts.push(draft.put_alone(value));
    }
    let path = draft.kustomization(ROOT);
    let mut case = draft.finish()?;
    case.touches(&path);
    for put in puts {
        case.touches(&put.path);
        goes(&mut case, &put, LANDS);
    }
    Some(case)
}

fn dl_9(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let mut puts = Vec::new();
    for _ in 0..1 + draft.dice.below(2) {
        let name = draft.name("scaled");
        let value = object(Kind::Deployment, &name, draft.dice);
        let put = draft.put_alone(value);
        match draft.dice.once_in(2) {
            true => {
                let entry = json!({"name": name_of(&put.value), "count": 3});
                draft.entry(ROOT, "replicas", entry);
            }
            false => {
                let body = json!({"spec": {"paused": true}});
                draft.patch(ROOT, &put, &body);
            }
        }
        puts.push(put);
    }
    let mut case = draft.finish()?;
    case.is_open = true;
    for put in puts {
        goes(&mut case, &put, Promise::Open(Supplier::List));
    }
    Some(case)
}
