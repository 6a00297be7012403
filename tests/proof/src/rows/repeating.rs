//! A20: what was decided is done again on a newer tip, and what comes with a first write.

use manifests::plan::{DecidedActions, Mode, PruneMode};
use manifests::{Folder, Intent};
use model::{Collection, RefusalCode, Scope, Selector};
use serde_json::Value;

use super::Row;
use super::case::{After, Case, Draft, Page, path};
use super::deleting::twice;
use super::objects::{Kind, id_of, live};
use super::placing::built_in;
use super::tweak::some;
use crate::dice::Dice;

/// The rows of A20.
pub fn rows() -> Vec<Row> {
    vec![
        Row::promised(
            "RP-1",
            "a write on a tip where others moved and added documents",
            rp_1,
        ),
        Row::promised(
            "RP-1 nothing",
            "what changed nothing does not revert what others did",
            rp_1_nothing,
        ),
        Row::promised(
            "RP-2",
            "a snapshot: its removals, and no second sweep",
            rp_2,
        ),
        Row::promised("RP-3", "a save keeps also what changed nothing", rp_3),
        Row::promised(
            "RP-4",
            "the tip is judged: a broken folder, a broken document",
            rp_4,
        ),
        Row::twins("RP-5 RP-6", "looking at a folder plans nothing", rp_6),
        Row::promised(
            "RP-7",
            "a first write brings the files that introduce a folder",
            rp_7,
        ),
    ]
}

/// Plans a case that is only the past of another, and returns what was decided.
fn decided(case: &Case) -> Option<DecidedActions> {
    let mut folder = Folder::new(case.policy.folder.clone());
    let tree = case.before.tree();
    let outcome = manifests::plan(
        &mut folder,
        tree,
        &case.intents,
        &case.policy,
        Mode::Apply,
        None,
    );
    outcome.ok().map(|outcome| outcome.decided)
}

/// Objects as they were in the folder and as they are live.
struct Past {
    edited: Value,
    wanted: Value,
    gone: Value,
    same: Value,
    decided: DecidedActions,
}

/// Something is edited, something goes, something is seen and is as it was.
fn past(dice: &mut Dice, is_swept: bool, is_saved: bool) -> Option<Past> {
    let mut draft = Draft::new(dice);
    draft.policy.prune = PruneMode::Always;
    let kind = draft.dice.one(&Kind::PLAIN);
    let (edited, gone, same) = (draft.object(kind), draft.object(kind), draft.object(kind));
    let wanted = some(&edited, draft.dice)?;
    for value in [&edited, &gone, &same] {
        draft.put_alone(value.clone());
    }
    if is_swept {
        let collection = Collection {
            type_id: kind.served().type_id,
            scope: Scope::AllNamespaces,
            selector: Selector::everything(),
        };
        let objects = [&wanted, &same]
            .map(|value| live(value, draft.dice))
            .to_vec();
        draft.intends(Intent::Sweep {
            collection,
            objects,
            protected: Vec::new(),
        });
    } else {
        draft.happens(&wanted);
        draft.happens(&same);
        draft.goes(&gone);
    }
    let case = draft.finish();
    let decided = if is_saved {
        DecidedActions::capturing(&case.intents)
    } else {
        decided(&case)?
    };
    Some(Past {
        edited,
        wanted,
        gone,
        same,
        decided,
    })
}

fn rp_1(dice: &mut Dice) -> Option<Case> {
    let past = past(dice, false, false)?;
    let mut draft = Draft::new(dice);
    let file = draft.path();
    draft.bystanders(&file, 1);
    let at = draft.put(&file, past.edited.clone());
    let out = draft.put(&file, past.gone.clone());
    draft.put(&file, past.same);
    draft.becomes(&at, Page::Edited(at.index, past.wanted));
    draft.becomes(&out, Page::Removed(out.index, id_of(&past.gone)));
    draft.intends(Intent::Replay(past.decided));
    Some(draft.finish())
}

/// Others changed meanwhile what the write left as it was.
fn rp_1_nothing(dice: &mut Dice) -> Option<Case> {
    let past = past(dice, false, false)?;
    let theirs = some(&past.same, dice)?;
    let mut draft = Draft::new(dice);
    draft.put_anywhere(theirs);
    let at = draft.put_anywhere(past.edited);
    draft.becomes(&at, Page::Edited(at.index, past.wanted));
    draft.intends(Intent::Replay(past.decided));
    Some(draft.finish())
}

fn rp_2(dice: &mut Dice) -> Option<Case> {
    let past = past(dice, true, false)?;
    let mut draft = Draft::new(dice);
    draft.policy.prune = draft
        .dice
        .one(&[PruneMode::Always, PruneMode::OnEvent, PruneMode::Never]);
    let file = draft.path();
    // The new one of others is of the swept type, and stays.
    draft.bystanders(&file, 2);
    let out = draft.put(&file, past.gone.clone());
    let at = draft.put_anywhere(past.edited);
    draft.becomes(&at, Page::Edited(at.index, past.wanted));
    if draft.policy.prune == PruneMode::Always {
        draft.becomes(&out, Page::Removed(out.index, id_of(&past.gone)));
    } else {
        draft.retains(&past.gone);
    }
    draft.intends(Intent::Replay(past.decided));
    Some(draft.finish())
}

fn rp_3(dice: &mut Dice) -> Option<Case> {
    let past = past(dice, false, true)?;
    let theirs = some(&past.same, dice)?;
    let mut draft = Draft::new(dice);
    let back = draft.put_anywhere(theirs);
    draft.becomes(&back, Page::Edited(back.index, past.same));
    let at = draft.put_anywhere(past.edited);
    draft.becomes(&at, Page::Edited(at.index, past.wanted));
    draft.intends(Intent::Replay(past.decided));
    Some(draft.finish())
}

fn rp_4(dice: &mut Dice) -> Option<Case> {
    let past = past(dice, false, false)?;
    let mut draft = Draft::new(dice);
    if draft.dice.once_in(2) {
        draft.put_anywhere(past.edited);
        draft.file("values.yaml", "replicas: 2\n");
        draft.refuses_folder();
    } else {
        let sheet = twice(&past.edited, draft.dice);
        draft.put_sheet_anywhere(sheet);
        draft.refuses(&past.edited, RefusalCode::WriteBoundaryRefused);
        let out = draft.put_anywhere(past.gone.clone());
        draft.becomes(&out, Page::Removed(out.index, id_of(&past.gone)));
    }
    draft.intends(Intent::Replay(past.decided));
    Some(draft.finish())
}

fn rp_6() -> Result<(), String> {
    let mut dice = Dice::new(1);
    let mut draft = Draft::new(&mut dice);
    let value = draft.object(Kind::ConfigMap);
    draft.happens(&value);
    let case = draft.finish();
    let edits = |mode: Mode| {
        let mut folder = Folder::new(case.policy.folder.clone());
        let tree = case.before.tree();
        manifests::plan(&mut folder, tree, &case.intents, &case.policy, mode, None)
            .map(|outcome| outcome.edits.len() + outcome.decisions.len())
            .map_err(|error| error.to_string())
    };
    match (edits(Mode::Inspect)?, edits(Mode::Apply)?) {
        (0, 2) => Ok(()),
        other => Err(format!("{other:?} edits and decisions")),
    }
}

fn rp_7(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.policy.bootstrap = true;
    let kind = Kind::draw(draft.dice);
    let new = draft.object(kind);
    let new = draft.arrives(&new);
    draft.comes(&built_in(&new), new);
    if draft.dice.once_in(2) {
        draft.turns(&path("README.md"), After::There);
        draft.turns(&path(".gittargetignore"), After::There);
    } else {
        let file = draft.path();
        draft.bystanders(&file, 1);
    }
    Some(draft.finish())
}
