//! A15: files of several documents.

use model::RefusalCode;

use super::Row;
use super::case::{Case, Draft, Page, path};
use super::deleting::twice;
use super::hand::{Style, write};
use super::objects::{Kind, id_of};
use super::placing::built_in;
use super::tweak::{Tweak, some};
use crate::dice::Dice;

/// The rows of A15.
pub fn rows() -> Vec<Row> {
    vec![
        Row::promised(
            "MD-1",
            "an edit of one document leaves the rest of the file",
            md_1,
        ),
        Row::promised("MD-2", "a file with a gap is refused with its folder", md_2),
        Row::promised(
            "MD-3",
            "edits, removals and new documents in one file",
            md_3,
        ),
        Row::promised(
            "MD-4",
            "a document that nobody can edit keeps its bytes",
            md_4,
        ),
        Row::promised("MD-5", "one separator, in the way of the file", md_5),
    ]
}

fn md_1(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let file = draft.path();
    let (before, behind) = (draft.dice.below(3), draft.dice.below(3));
    draft.bystanders(&file, before);
    let kind = Kind::draw(draft.dice);
    let value = draft.object(kind);
    let wanted = some(&value, draft.dice)?;
    let at = draft.put(&file, value);
    draft.bystanders(&file, behind + usize::from(before == 0));
    draft.edit(&at, wanted);
    Some(draft.finish())
}

fn md_2(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let value = draft.object(Kind::ConfigMap);
    let wanted = Tweak::DataAdd.apply(&value, draft.dice)?;
    let is_impure = draft.dice.once_in(2);
    let gap = draft
        .dice
        .one(&["", "# only a remark\n", "just: data\n", "- a list\n"]);
    let file = path("gap.yaml");
    if is_impure {
        let style = Style::draw(draft.dice);
        let written = write(value.as_object()?, style, 0, draft.dice);
        let text = format!("{}---\n{gap}---\n{}", written.text, written.text);
        draft.file("gap.yaml", &text);
        draft.happens(&wanted);
        draft.refuses_folder();
        return Some(draft.finish());
    }
    // The twin: the same file without the gap.
    let at = draft.put(&file, value);
    draft.bystanders(&file, 1);
    draft.edit(&at, wanted);
    Some(draft.finish())
}

fn md_3(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let file = path("bundle.yaml");
    draft.place(&[("v1/configmaps", "bundle.yaml")], None);
    for _ in 0..2 + draft.dice.below(5) {
        let kind = Kind::draw(draft.dice);
        let value = draft.object(kind);
        let at = draft.put(&file, value.clone());
        match draft.dice.below(3) {
            0 => {
                draft.goes(&value);
                draft.becomes(&at, Page::Removed(at.index, id_of(&value)));
            }
            1 => {
                let wanted = some(&value, draft.dice)?;
                draft.edit(&at, wanted);
            }
            _ => {}
        }
    }
    if draft.dice.once_in(2) {
        // A file whose last document is open text takes no other, which MD-5 is about.
        draft.framing(&file).open = false;
        draft.framing(&file).closed = false;
        let new = draft.object(Kind::ConfigMap);
        let new = draft.arrives(&new);
        draft.comes(&file, new);
    }
    Some(draft.finish())
}

fn md_4(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let new = draft.object(Kind::ConfigMap);
    let file = built_in(&new);
    let broken = draft.object(Kind::ConfigMap);
    let sheet = twice(&broken, draft.dice);
    let at = draft.put_sheet(&file, sheet);
    let edited = draft.dice.once_in(2);
    if edited {
        let wanted = Tweak::DataAdd.apply(&broken, draft.dice)?;
        draft.happens(&wanted);
        draft.refuses(&broken, RefusalCode::WriteBoundaryRefused);
        draft.becomes(&at, Page::Kept(at.index));
    }
    let new = draft.arrives(&new);
    draft.comes(&file, new);
    Some(draft.finish())
}

fn md_5(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.place(&[("v1/configmaps", "bundle.yaml")], None);
    let file = path("bundle.yaml");
    let count = 1 + draft.dice.below(3);
    draft.bystanders(&file, count);
    let news = 1 + draft.dice.below(3);
    let mut arrived = std::collections::BTreeMap::new();
    for _ in 0..news {
        let new = draft.object(Kind::ConfigMap);
        let new = draft.arrives(&new);
        arrived.insert(id_of(&new), new);
    }
    for new in arrived.into_values() {
        draft.comes(&file, new);
    }
    Some(draft.finish())
}
