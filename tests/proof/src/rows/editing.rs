//! A6: an object with a document is edited in it.

use manifests::Intent;
use serde_json::{Value, json};

use super::Row;
use super::case::{Case, Draft, Page, Sheet, path};
use super::hand::Style;
use super::objects::{Kind, TEAM, container, live, number, word};
use super::tweak::{Tweak, some};
use crate::dice::Dice;

/// The rows of A6.
pub fn rows() -> Vec<Row> {
    vec![
        Row::promised(
            "ED-1",
            "edited where its document is, whatever placement says",
            ed_1,
        ),
        Row::promised("ED-2", "any change of an ordinary object", ed_2),
        Row::promised("ED-2 image", "kubectl set image", |dice| {
            one(Tweak::Image, dice)
        }),
        Row::promised("ED-2 labels", "kubectl label and annotate", |dice| {
            let tweak = dice.one(&[
                Tweak::Label,
                Tweak::Unlabel,
                Tweak::Annotate,
                Tweak::Unannotate,
            ]);
            one(tweak, dice)
        }),
        Row::promised("ED-2 data", "values and keys of a ConfigMap", |dice| {
            let tweak = dice.one(&[Tweak::DataValue, Tweak::DataAdd, Tweak::DataRemove]);
            one(tweak, dice)
        }),
        Row::allowed(
            "ED-2 anything",
            "any change of a custom object, however odd",
            |dice| one(Tweak::Anything, dice),
        ),
        Row::promised(
            "ED-3",
            "what live lacks goes, what the server owns or fills in stays",
            ed_3,
        ),
        Row::promised(
            "ED-4",
            "kubectl scale changes the count and nothing else",
            |dice| one(Tweak::Replicas, dice),
        ),
        Row::twins("ED-5", "a document that is no mapping is no object", ed_5),
        Row::promised(
            "ED-6",
            "the right document, although one before it goes",
            ed_6,
        ),
        Row::promised(
            "ED-7",
            "what says the same is not written, however it is spelled",
            ed_7,
        ),
        Row::promised(
            "ED-8",
            "items of a list are added, taken out, changed and moved",
            |dice| {
                let tweak = dice.one(&[
                    Tweak::ItemAdd,
                    Tweak::ItemRemove,
                    Tweak::ItemField,
                    Tweak::ItemOrder,
                    Tweak::Variable,
                    Tweak::VariableAdd,
                    Tweak::VariableRemove,
                ]);
                one(tweak, dice)
            },
        ),
        Row::promised(
            "ED-8 rename",
            "a container is renamed and one is added",
            ed_8_rename,
        ),
        Row::promised("ED-9", "the first edit of a document of ours", ed_9),
    ]
}

/// One document somewhere, and one change of its object.
pub(super) fn one(tweak: Tweak, dice: &mut Dice) -> Option<Case> {
    styled(None, dice, |_, value, dice| tweak.apply(value, dice))
}

/// One document in a given style somewhere, and one change of its object.
pub(super) fn styled(
    style: Option<Style>,
    dice: &mut Dice,
    change: impl Fn(Kind, &Value, &mut Dice) -> Option<Value>,
) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let value = draft.object(kind);
    let wanted = change(kind, &value, draft.dice)?;
    draft.surroundings();
    let at = draft.put_sheet_anywhere(Sheet::styled(value, style));
    draft.edit(&at, wanted);
    Some(draft.finish())
}

fn ed_1(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let value = draft.object(kind);
    let wanted = some(&value, draft.dice)?;
    let served = kind.served();
    let key = format!("{}/{}", served.api_version(), served.type_id.resource);
    match draft.dice.below(3) {
        0 => draft.place(&[(key.as_str(), "declared/{namespace}/{name}.yaml")], None),
        1 => draft.place(
            &[("v1/secrets", "{namespace}/{name}.sops.yaml")],
            Some("all/{kindLower}-{name}.yaml"),
        ),
        _ => {}
    }
    draft.surroundings();
    let at = draft.put_anywhere(value);
    draft.edit(&at, wanted);
    Some(draft.finish())
}

fn ed_2(dice: &mut Dice) -> Option<Case> {
    styled(None, dice, |_, value, dice| some(value, dice))
}

fn ed_3(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let mut value = draft.object(kind);
    // What a server owns stays as the person left it, whatever it is live.
    let uid = word(draft.dice);
    value["metadata"]["uid"] = json!(uid);
    if draft.dice.once_in(2) {
        value["metadata"]["creationTimestamp"] = Value::Null;
    }
    if draft.dice.once_in(2) {
        value["status"] = json!({"phase": word(draft.dice)});
    }
    let mut wanted = value.clone();
    value["metadata"]["annotations"]["example.com/gone"] = json!(word(draft.dice));
    if let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("goneToo".to_owned(), json!({"a": number(draft.dice)}));
    }
    if draft.dice.once_in(2) {
        wanted = some(&wanted, draft.dice)?;
    }
    let at = draft.put_anywhere(value);
    let mut happened = wanted.clone();
    if let Some(map) = happened.as_object_mut() {
        map.remove("status");
    }
    let object = live(&happened, draft.dice);
    draft.intends(Intent::Upsert(object));
    draft.becomes(&at, Page::Edited(at.index, wanted));
    Some(draft.finish())
}

fn ed_5() -> Result<(), String> {
    let verdict = |text: &str| {
        let mut dice = Dice::new(1);
        let mut draft = Draft::new(&mut dice);
        draft.file("list.yaml", text);
        draft.refuses_folder();
        let case = draft.finish();
        super::judge::look(&case).map(drop)
    };
    verdict("- just\n- a list\n")?;
    match verdict("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n") {
        Err(problem) if problem.contains("is accepted") => Ok(()),
        other => Err(format!("the twin is not accepted: {other:?}")),
    }
}

fn ed_6(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let file = draft.path();
    let first = Kind::draw(draft.dice);
    let second = Kind::draw(draft.dice);
    let (gone, value) = (draft.object(first), draft.object(second));
    let wanted = some(&value, draft.dice)?;
    let count = draft.dice.below(2);
    draft.bystanders(&file, count);
    let out = draft.put(&file, gone.clone());
    draft.bystanders(&file, count);
    let at = draft.put(&file, value);
    draft.goes(&gone);
    draft.edit(&at, wanted);
    draft.becomes(&out, Page::Removed(out.index, super::objects::id_of(&gone)));
    Some(draft.finish())
}

fn ed_7(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    for _ in 0..1 + draft.dice.below(4) {
        let kind = Kind::draw(draft.dice);
        let value = draft.object(kind);
        draft.put_anywhere(value.clone());
        draft.happens(&value);
    }
    Some(draft.finish())
}

fn ed_8_rename(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let value = draft.object(Kind::Deployment);
    let mut wanted = value.clone();
    let name = word(draft.dice);
    let added = container(&word(draft.dice), draft.dice);
    let containers = wanted
        .pointer_mut("/spec/template/spec/containers")?
        .as_array_mut()?;
    let at = draft.dice.below(containers.len());
    containers[at]["name"] = json!(name);
    if draft.dice.once_in(2) {
        containers.push(added);
    }
    let at = draft.put_anywhere(value);
    draft.edit(&at, wanted);
    Some(draft.finish())
}

/// A document that the product wrote is edited later: only what changes does.
fn ed_9(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let value = draft.object(kind);
    let wanted = some(&value, draft.dice)?;
    let object = value.as_object()?;
    let text = manifests::yaml::canonical(object);
    let file = path(&format!("{TEAM}/of-ours.yaml"));
    let at = draft.put_sheet(&file, Sheet::written(value, text));
    draft.edit(&at, wanted);
    Some(draft.finish())
}
