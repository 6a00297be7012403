//! A18: what an applier fills in.

use model::RefusalCode;
use serde_json::{Value, json};

use super::Row;
use super::case::{Case, Draft};
use super::objects::{Kind, word};
use super::tweak::Tweak;
use crate::dice::Dice;

/// The rows of A18.
pub fn rows() -> Vec<Row> {
    vec![
        Row::promised(
            "RT-1",
            "a token that is another value live, or none; neighbours land",
            rt_1,
        ),
        Row::promised(
            "RT-2",
            "the same token live, $(VAR), and tokens in remarks",
            rt_2,
        ),
    ]
}

/// Returns a token as somebody writes it.
fn token(dice: &mut Dice) -> String {
    let name = dice.one(&["DOMAIN", "cluster_name", "REPLICAS:=3", "x"]);
    match dice.below(3) {
        0 => format!("${{{name}}}"),
        1 => format!("{}.${{{name}}}.example.com", word(dice)),
        _ => format!("${{{name}}}-${{OTHER}}"),
    }
}

/// Puts a text to a place of an object where some text stands.
fn put(value: &mut Value, text: Value, dice: &mut Dice) -> Option<()> {
    let at = match value["kind"].as_str()? {
        "ConfigMap" => "/data/key-0",
        "Deployment" => "/spec/template/spec/containers/0/env/0/value",
        "Service" => "/spec/selector/app",
        "Ingress" => "/spec/rules/0/host",
        "Widget" | "Zone" if dice.once_in(2) => "/spec/items/1",
        "Widget" | "Zone" => "/spec/deep/er/value",
        "ServiceAccount" => "/imagePullSecrets/1/name",
        _ => return None,
    };
    *value.pointer_mut(at)? = text;
    Some(())
}

fn rt_1(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let clean = draft.object(kind);
    let mut held = clean.clone();
    let text = token(draft.dice);
    put(&mut held, json!(text), draft.dice)?;
    let mut live = clean;
    if draft.dice.once_in(3) {
        live = Tweak::Annotate.apply(&live, draft.dice)?;
    }
    draft.put_anywhere(held);
    draft.happens(&live);
    draft.refuses(&live, RefusalCode::RenderDoesNotMatchLive);
    let other = draft.object(Kind::ConfigMap);
    let wanted = Tweak::DataAdd.apply(&other, draft.dice)?;
    let at = draft.put_anywhere(other);
    draft.edit(&at, wanted);
    Some(draft.finish())
}

fn rt_2(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let mut held = draft.object(kind);
    let literal = draft.dice.once_in(2);
    let text = if literal {
        token(draft.dice)
    } else {
        format!("$(VAR)-{}-$HOME-${{", word(draft.dice))
    };
    put(&mut held, json!(text), draft.dice)?;
    let mut wanted = Tweak::Annotate.apply(&held, draft.dice)?;
    if !literal {
        put(&mut wanted, json!(word(draft.dice)), draft.dice)?;
    }
    let at = draft.put_anywhere(held);
    draft.file("notes.md", "The ${DOMAIN} is filled in.\n");
    draft.edit(&at, wanted);
    Some(draft.finish())
}
