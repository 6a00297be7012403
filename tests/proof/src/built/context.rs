//! A12: bases, patches, labels and annotations are read and never written.

use model::IssueKind;
use serde_json::{Value, json};

use super::Row;
use super::case::{Case, Promise, Supplier};
use super::draft::{Draft, Put, ROOT};
use super::images::{Subject, containers, tag};
use super::replicas::name_of;
use crate::dice::Dice;
use crate::rows::objects::{Kind, container, object, sentence, word};
use crate::rows::tweak::{Tweak, some};

const IN_DOCUMENT: Promise = Promise::Lands(Supplier::Document);

/// The rows of what is context.
pub fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "ED-2 built",
            "any change of an object of a build goes to its document",
            document,
        ),
        Row::new(
            "ED-2 nested",
            "and through kustomizations below each other",
            nested,
        ),
        Row::new(
            "RO-1, RO-2",
            "a field of a base is refused, and the base keeps its bytes",
            ro_2,
        ),
        Row::new("RO-3", "a field of a patch is refused", ro_3_patched),
        Row::new(
            "RO-3 other",
            "another field of a patched object is edited",
            ro_3_other,
        ),
        Row::new(
            "RO-3 image",
            "an image of a patched object reaches its entry",
            ro_3_image,
        ),
        Row::new(
            "RO-4",
            "a label or annotation of a kustomization is refused",
            ro_4,
        ),
        Row::new(
            "RO-4 other",
            "another field of a labelled object is edited",
            ro_4_other,
        ),
        Row::new(
            "RO-5",
            "what a patch adds is not copied into the document",
            ro_5,
        ),
        Row::new(
            "RO-6, OV-1",
            "what is built as it is live is not written",
            ro_6,
        ),
        Row::new(
            "RV-8",
            "one refused object does not hold the others up",
            rv_8,
        ),
    ]
}

/// Some documents, and any change of their objects.
fn documents(draft: &mut Draft<'_>) -> Vec<(Kind, Put)> {
    let count = draft.many();
    (0..count)
        .map(|_| {
            let kind = Kind::draw(draft.dice);
            let value = draft.object(kind);
            (kind, draft.put(value))
        })
        .collect()
}

fn change(case: &mut Case, kind: Kind, put: &Put, promise: Promise, dice: &mut Dice) -> Option<()> {
    case.touches(&put.path);
    let was = case.built(kind, &name_of(&put.value));
    let is = some(&was, dice)?;
    case.becomes(&was, is, promise, dice);
    Some(())
}

fn document(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.bystanders();
    let puts = documents(&mut draft);
    let mut case = draft.finish()?;
    for (kind, put) in puts {
        change(&mut case, kind, &put, IN_DOCUMENT, dice)?;
    }
    Some(case)
}

fn nested(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::bare(dice);
    draft.gives_namespace = true;
    let giver = draft.dice.one(&[ROOT, "live/a", "live/a/b"]);
    draft.set(giver, "namespace", "team-a".into());
    draft.list(ROOT, draft_entry(giver));
    draft.set("live/a", "resources", json!(["b/"]));
    draft.set("live/a/b", "resources", json!([]));
    draft.home = "live/a/b".to_owned();
    draft.bystanders();
    let puts = documents(&mut draft);
    let mut case = draft.finish()?;
    for (kind, put) in puts {
        change(&mut case, kind, &put, IN_DOCUMENT, dice)?;
    }
    Some(case)
}

/// A folder is listed with a slash at its end or without.
fn draft_entry(giver: &str) -> &'static str {
    match giver {
        ROOT => "a",
        _ => "./a/",
    }
}

fn ro_2(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::overlay(dice);
    draft.surroundings();
    let puts = documents(&mut draft);
    let mut case = draft.finish()?;
    for (kind, put) in puts {
        let was = case.built(kind, &name_of(&put.value));
        let tweak = dice.one(&[
            Tweak::Label,
            Tweak::Annotate,
            Tweak::DataValue,
            Tweak::DataAdd,
            Tweak::Variable,
            Tweak::ItemAdd,
            Tweak::Scalar,
        ]);
        if let Some(is) = tweak.apply(&was, dice) {
            let refused = Promise::Refused(None);
            case.becomes(&was, is, refused, dice);
        }
    }
    (!case.happenings.is_empty()).then_some(case)
}

/// A field that a patch gives, with a value before and a value after.
fn patched(draft: &mut Draft<'_>) -> (Put, Value) {
    let value = draft.object(Kind::Deployment);
    let put = draft.put(value);
    let body = match draft.dice.below(3) {
        0 => json!({"spec": {"paused": true}}),
        1 => json!({"spec": {"template": {"spec": {"priorityClassName": word(draft.dice)}}}}),
        _ => json!({"metadata": {"annotations": {"example.com/patched": sentence(draft.dice)}}}),
    };
    let folder = match draft.dice.once_in(2) {
        true => draft.home.clone(),
        false => ROOT.to_owned(),
    };
    draft.patch(&folder, &put, &body);
    (put, body)
}

fn ro_3_patched(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let count = draft.many();
    let made: Vec<_> = (0..count).map(|_| patched(&mut draft)).collect();
    let mut case = draft.finish()?;
    for (put, body) in made {
        let was = case.built(Kind::Deployment, &name_of(&put.value));
        let mut is = was.clone();
        if body.pointer("/spec/paused").is_some() {
            is["spec"]["paused"] = false.into();
        } else if body.pointer("/spec/template").is_some() {
            is["spec"]["template"]["spec"]["priorityClassName"] = word(dice).into();
        } else {
            is["metadata"]["annotations"]["example.com/patched"] = sentence(dice).into();
        }
        let refused = Promise::Refused(Some(IssueKind::KustomizeRenderRefused));
        case.becomes(&was, is, refused, dice);
    }
    Some(case)
}

fn ro_3_other(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let count = draft.many();
    let made: Vec<_> = (0..count).map(|_| patched(&mut draft)).collect();
    let mut case = draft.finish()?;
    for (put, _) in made {
        let was = case.built(Kind::Deployment, &name_of(&put.value));
        let tweak = dice.one(&[
            Tweak::Image,
            Tweak::Replicas,
            Tweak::Variable,
            Tweak::VariableAdd,
            Tweak::VariableRemove,
            Tweak::ItemAdd,
            Tweak::Scalar,
            Tweak::Field,
        ]);
        if let Some(is) = tweak.apply(&was, dice) {
            case.touches(&put.path);
            case.becomes(&was, is, IN_DOCUMENT, dice);
        }
    }
    (!case.happenings.is_empty()).then_some(case)
}

fn ro_3_image(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let mut subjects = Vec::new();
    for _ in 0..draft.many() {
        let (subject, value, reference) = Subject::draw(&mut draft)?;
        let entry = json!({"name": reference.name, "newTag": tag(draft.dice)});
        draft.entry(ROOT, "images", entry);
        let put = draft.put(value);
        let body = json!({"metadata": {"annotations": {"example.com/patched": "yes"}}});
        draft.patch(ROOT, &put, &body);
        subjects.push((subject, reference));
    }
    let path = draft.kustomization(ROOT);
    let mut case = draft.finish()?;
    case.touches(&path);
    for (subject, reference) in subjects {
        let was = case.built(subject.kind, &subject.name);
        let mut is = was.clone();
        let image = format!("{}:{}", reference.name, tag(dice));
        containers(&mut is)?[subject.container]["image"] = image.into();
        (is != was).then(|| case.becomes(&was, is, Promise::Lands(Supplier::Images), dice))?;
    }
    Some(case)
}

/// Gives every object labels and annotations; returns a label and an annotation.
fn transformed(draft: &mut Draft<'_>) -> [&'static str; 2] {
    let folder = match draft.dice.once_in(2) {
        true => draft.home.clone(),
        false => ROOT.to_owned(),
    };
    let value = word(draft.dice);
    match draft.dice.below(3) {
        0 => draft.set(&folder, "commonLabels", json!({"example.com/of": value})),
        1 => {
            let entry = json!({"pairs": {"example.com/of": value}, "includeSelectors": true});
            draft.entry(&folder, "labels", entry);
        }
        _ => {
            let entry = json!({"pairs": {"example.com/of": value}});
            draft.entry(&folder, "labels", entry);
        }
    }
    let annotations = json!({"example.com/by": sentence(draft.dice)});
    draft.set(&folder, "commonAnnotations", annotations);
    ["labels", "annotations"]
}

fn ro_4(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.bystanders();
    let puts = documents(&mut draft);
    transformed(&mut draft);
    let mut case = draft.finish()?;
    for (kind, put) in puts {
        let was = case.built(kind, &name_of(&put.value));
        let mut is = was.clone();
        let (map, key) = dice.one(&[
            ("labels", "example.com/of"),
            ("annotations", "example.com/by"),
        ]);
        match dice.once_in(3) {
            true => drop(is["metadata"][map].as_object_mut()?.remove(key)),
            false => is["metadata"][map][key] = word(dice).into(),
        }
        let refused = Promise::Refused(Some(IssueKind::KustomizeRenderRefused));
        case.becomes(&was, is, refused, dice);
    }
    Some(case)
}

fn ro_4_other(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.bystanders();
    let puts = documents(&mut draft);
    transformed(&mut draft);
    let mut case = draft.finish()?;
    for (kind, put) in puts {
        case.touches(&put.path);
        let was = case.built(kind, &name_of(&put.value));
        let is = some(&was, dice)?;
        let given = |value: &Value| {
            let texts = value.to_string();
            (
                texts.matches("\"example.com/of\"").count(),
                texts.matches("\"example.com/by\"").count(),
                value["metadata"]["labels"]["example.com/of"].clone(),
                value["metadata"]["annotations"]["example.com/by"].clone(),
            )
        };
        if given(&was) == given(&is) {
            case.becomes(&was, is, IN_DOCUMENT, dice);
        }
    }
    (!case.happenings.is_empty()).then_some(case)
}

fn ro_5(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let mut puts = Vec::new();
    for _ in 0..draft.many() {
        let value = draft.object(Kind::Deployment);
        let put = draft.put(value);
        let added = container("added-by-patch", draft.dice);
        let body = json!({"spec": {"template": {"spec": {
            "containers": [added],
            "volumes": [{"name": "added-by-patch", "emptyDir": {}}],
        }}}});
        draft.patch(ROOT, &put, &body);
        puts.push(put);
    }
    let mut case = draft.finish()?;
    for put in puts {
        case.touches(&put.path);
        let was = case.built(Kind::Deployment, &name_of(&put.value));
        let mut is = was.clone();
        let app = containers(&mut is)?
            .iter_mut()
            .find(|it| it["name"] == "app")?;
        match dice.below(3) {
            0 => app["args"] = json!([word(dice), word(dice)]),
            1 => app["env"][0]["value"] = sentence(dice).into(),
            _ => app["image"] = format!("{}:{}", word(dice), tag(dice)).into(),
        }
        case.becomes(&was, is, IN_DOCUMENT, dice);
    }
    Some(case)
}

fn ro_6(dice: &mut Dice) -> Option<Case> {
    let mut draft = match dice.once_in(3) {
        true => Draft::overlay(dice),
        false => Draft::new(dice),
    };
    draft.surroundings();
    documents(&mut draft);
    patched(&mut draft);
    let (_, value, reference) = Subject::draw(&mut draft)?;
    let entry = json!({"name": reference.name, "newTag": tag(draft.dice)});
    draft.entry(ROOT, "images", entry);
    let entry = json!({"name": name_of(&value), "count": draft.dice.below(9)});
    if matches!(value["kind"].as_str(), Some("Deployment" | "StatefulSet")) {
        draft.entry(ROOT, "replicas", entry);
    }
    draft.put(value);
    let mut case = draft.finish()?;
    for was in case.before.clone() {
        case.becomes(&was, was.clone(), IN_DOCUMENT, dice);
    }
    Some(case)
}

fn rv_8(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let puts = documents(&mut draft);
    let (wrong, body) = patched(&mut draft);
    let mut case = draft.finish()?;
    for (kind, put) in puts {
        case.touches(&put.path);
        let was = case.built(kind, &name_of(&put.value));
        let tweak = dice.one(&[
            Tweak::DataValue,
            Tweak::Variable,
            Tweak::Scalar,
            Tweak::Image,
        ]);
        if let Some(is) = tweak.apply(&was, dice) {
            case.becomes(&was, is, IN_DOCUMENT, dice);
        }
    }
    let was = case.built(Kind::Deployment, &name_of(&wrong.value));
    let mut is = was.clone();
    match body.pointer("/spec/paused") {
        Some(_) => is["spec"]["paused"] = false.into(),
        None if body.pointer("/spec").is_some() => {
            is["spec"]["template"]["spec"]["priorityClassName"] = word(dice).into();
        }
        None => is["metadata"]["annotations"]["example.com/patched"] = word(dice).into(),
    }
    case.becomes(&was, is, Promise::Refused(None), dice);
    Some(case)
}

/// Makes an object that no document of the folder is about.
pub(super) fn newcomer(draft: &mut Draft<'_>) -> Value {
    let kind = Kind::draw(draft.dice);
    let name = draft.name("new");
    object(kind, &name, draft.dice)
}
