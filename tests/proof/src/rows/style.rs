//! A19: what a person wrote stays as it was written.

use serde_json::{Value, json};

use super::Row;
use super::case::{Case, Draft, Framing, Page, Sheet, path};
use super::editing::styled;
use super::hand::{Quote, Style};
use super::objects::{Kind, TEAM, sentence, word};
use super::tweak::{Tweak, some};
use crate::change::AWKWARD;
use crate::dice::Dice;

/// The rows of A19. ST-10, that nothing is left to do afterwards, is asked of every case of every row.
pub fn rows() -> Vec<Row> {
    vec![
        Row::promised("ST-1", "remarks stay, and stay in their place", st_1),
        Row::promised(
            "ST-2",
            "quotes stay, and text that needs them gets them",
            st_2,
        ),
        Row::promised(
            "ST-3",
            "text in blocks stays in blocks, folded text where it breaks",
            st_3,
        ),
        Row::promised(
            "ST-4",
            "lists keep their indentation, new ones take it",
            st_4,
        ),
        Row::promised("ST-5", "blank lines stay", st_5),
        Row::promised("ST-6", "keys keep their order", st_6),
        Row::promised(
            "ST-7",
            "byte order mark, line ends, markers, no last line end",
            st_7,
        ),
        Row::promised("ST-8", "other documents and files keep their bytes", st_8),
        Row::promised("ST-9", "what stands in one line stays in one line", st_9),
        Row::promised(
            "ST-11 elsewhere",
            "anchors are not expanded by an edit elsewhere",
            st_11,
        ),
        Row::allowed(
            "ST-11 inside",
            "an edit of what is anchored or merged",
            st_11_inside,
        ),
        Row::promised("ST-12", "long text is not wrapped, tags stay", st_12),
    ]
}

fn with(dice: &mut Dice, change: impl Fn(&mut Style)) -> Option<Style> {
    let mut style = Style::draw(dice);
    change(&mut style);
    Some(style)
}

fn st_1(dice: &mut Dice) -> Option<Case> {
    let style = with(dice, |style| style.remarks = true);
    styled(style, dice, |_, value, dice| some(value, dice))
}

fn st_2(dice: &mut Dice) -> Option<Case> {
    let quote = dice.one(&[Quote::None, Quote::Single, Quote::Double]);
    let style = with(dice, |style| style.quote = quote);
    styled(style, dice, |kind, value, dice| {
        let mut wanted = value.clone();
        let text = dice.one(&AWKWARD);
        match kind {
            Kind::ConfigMap => wanted["data"]["key-0"] = json!(text),
            Kind::Widget | Kind::Zone => wanted["spec"]["title"] = json!(text),
            _ => wanted["metadata"]["annotations"]["example.com/owner"] = json!(text),
        }
        (wanted != *value).then_some(wanted)
    })
}

fn st_3(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let mut value = draft.object(Kind::ConfigMap);
    let script = format!(
        "#!/bin/sh\n# no remark\necho {}\n\nexit 0\n",
        word(draft.dice)
    );
    let config = format!("a: {}\nb:\n  - c", word(draft.dice));
    value["data"]["script"] = json!(script);
    value["data"]["config"] = json!(config);
    value["data"]["prose"] = json!(sentence(draft.dice));
    let mut wanted = value.clone();
    match draft.dice.below(3) {
        0 => wanted["data"]["script"] = json!(script.replace("exit 0", "exit 1")),
        1 => wanted["data"]["config"] = json!(format!("{config}\nmore: {}", word(draft.dice))),
        _ => wanted = Tweak::DataAdd.apply(&value, draft.dice)?,
    }
    let style = with(draft.dice, |style| style.folded = true);
    let at = draft.put_sheet_anywhere(Sheet::styled(value, style));
    draft.edit(&at, wanted);
    Some(draft.finish())
}

fn st_4(dice: &mut Dice) -> Option<Case> {
    let style = with(dice, |style| style.flow = false);
    styled(style, dice, |kind, value, dice| match kind {
        Kind::Widget | Kind::Zone if dice.once_in(2) => {
            let mut wanted = value.clone();
            wanted["spec"]["added"] = json!([word(dice), word(dice)]);
            Some(wanted)
        }
        _ => {
            let tweak = dice.one(&[Tweak::ItemAdd, Tweak::ItemRemove, Tweak::VariableAdd]);
            tweak.apply(value, dice)
        }
    })
}

fn st_5(dice: &mut Dice) -> Option<Case> {
    let style = with(dice, |style| style.blanks = true);
    styled(style, dice, |_, value, dice| some(value, dice))
}

fn st_6(dice: &mut Dice) -> Option<Case> {
    let style = with(dice, |style| style.shuffled = true);
    styled(style, dice, |_, value, dice| {
        let tweak = dice.one(&[Tweak::DataAdd, Tweak::Label, Tweak::Annotate, Tweak::Field]);
        tweak.apply(value, dice)
    })
}

fn st_7(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let value = draft.object(kind);
    let wanted = some(&value, draft.dice)?;
    let at = draft.put_anywhere(value);
    let mut yes = || draft.dice.once_in(2);
    let framing = Framing {
        marked: yes(),
        headed: yes(),
        bom: yes(),
        crlf: yes(),
        open: yes(),
        closed: yes(),
        loose: yes(),
    };
    *draft.framing(&at.path) = framing;
    draft.edit(&at, wanted);
    Some(draft.finish())
}

fn st_8(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    for _ in 0..3 {
        draft.surroundings();
    }
    let kind = Kind::draw(draft.dice);
    let value = draft.object(kind);
    let wanted = some(&value, draft.dice)?;
    let file = draft.path();
    draft.bystanders(&file, 1);
    let at = draft.put(&file, value);
    draft.bystanders(&file, 2);
    draft.edit(&at, wanted);
    Some(draft.finish())
}

fn st_9(dice: &mut Dice) -> Option<Case> {
    let style = with(dice, |style| {
        style.flow = true;
        style.remarks = false;
    });
    if dice.once_in(2) {
        return styled(style, dice, |_, value, dice| some(value, dice));
    }
    // A whole document as JSON.
    let mut draft = Draft::new(dice);
    let kind = Kind::draw(draft.dice);
    let value = draft.object(kind);
    let wanted = some(&value, draft.dice)?;
    // Some characters end a line of YAML and not one of JSON.
    let text = serde_json::to_string_pretty(&value)
        .ok()
        .filter(|text| text.is_ascii())?;
    let at = draft.put_sheet_anywhere(Sheet {
        spread: 2,
        ..Sheet::written(value, format!("{text}\n"))
    });
    draft.edit(&at, wanted);
    Some(draft.finish())
}

/// A document with anchors, aliases and a merge, and what it says.
fn anchored(name: &str, dice: &mut Dice) -> Sheet {
    let [image, level, extra, app, note] = [(); 5].map(|()| word(dice));
    let text = format!(
        "apiVersion: example.com/v1alpha1
kind: Widget
metadata:
  name: {name}
  namespace: {TEAM}
spec:
  base: &base # shared
    image: {image}
    level: {level}
  # built upon it
  one:
    <<: *base
    extra: {extra}
  two: *base
  labels: &labels {{app: {app}}}
  more:
    labels: *labels
    note: {note}
"
    );
    let base = json!({"image": image, "level": level});
    let value = json!({
        "apiVersion": "example.com/v1alpha1", "kind": "Widget",
        "metadata": {"name": name, "namespace": TEAM},
        "spec": {
            "base": base, "one": {"image": image, "level": level, "extra": extra}, "two": base,
            "labels": {"app": app}, "more": {"labels": {"app": app}, "note": note},
        },
    });
    Sheet {
        spread: 3,
        ..Sheet::written(value, text)
    }
}

fn change_anchored(
    dice: &mut Dice,
    change: fn(&mut Value, &mut Dice) -> Option<()>,
) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let name = draft.name("anchored");
    let sheet = anchored(&name, draft.dice);
    let mut wanted = sheet.value.clone();
    change(&mut wanted["spec"], draft.dice)?;
    let at = draft.put_sheet_anywhere(sheet);
    draft.edit(&at, wanted);
    Some(draft.finish())
}

fn st_11(dice: &mut Dice) -> Option<Case> {
    change_anchored(dice, |spec, dice| {
        match dice.below(4) {
            0 => spec["one"]["extra"] = json!(word(dice)),
            1 => spec["more"]["note"] = json!(word(dice)),
            2 => spec["one"]["other"] = json!(word(dice)),
            _ => spec["added"] = json!({"text": sentence(dice)}),
        }
        Some(())
    })
}

fn st_11_inside(dice: &mut Dice) -> Option<Case> {
    change_anchored(dice, |spec, dice| {
        let new = json!(word(dice));
        match dice.below(6) {
            0 => {
                for part in ["base", "one", "two"] {
                    spec[part]["image"] = new.clone();
                }
            }
            1 => spec["base"]["image"] = new,
            2 => spec["two"]["level"] = new,
            3 => spec["one"]["image"] = new,
            4 => drop(spec.as_object_mut()?.remove("two")),
            _ => drop(spec["one"].as_object_mut()?.remove("level")),
        }
        Some(())
    })
}

fn st_12(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let name = draft.name("tagged");
    let long: Vec<String> = (0..30).map(|_| word(draft.dice)).collect();
    let (long, short) = (long.join(" "), word(draft.dice));
    let text = format!(
        "apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}, namespace: {TEAM}}}
data:
  count: !!str 12
  long: {long}
  short: {short}
"
    );
    let value = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": TEAM},
        "data": {"count": "12", "long": long, "short": short},
    });
    let mut wanted = value.clone();
    match draft.dice.below(3) {
        0 => wanted["data"]["short"] = json!(word(draft.dice)),
        1 => wanted["data"]["long"] = json!(format!("{long} {}", word(draft.dice))),
        _ => wanted["metadata"]["labels"] = json!({"team": word(draft.dice)}),
    }
    let at = draft.put_sheet(&path("tagged.yaml"), Sheet::written(value, text));
    draft.happens(&wanted);
    draft.becomes(&at, Page::Edited(at.index, wanted));
    Some(draft.finish())
}
