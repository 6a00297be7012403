//! What comes of a case, held against what was to come of it.
//!
//! The judge applies the edits to the files, cuts them into documents by itself, has them read by the reader of
//! Kubernetes, and looks at lines and remarks. It asks the planner for nothing but the outcome, and asks several
//! times: in another order, again, as a preview, as a replay and on the result. Reading order: [`look`] plans and
//! compares bytes, `pages` compares the documents of a file and `form` how they
//! are written, `repeat` asks again; `text`, `measure` and `patch` are
//! their tools.

pub(crate) mod form;
pub(crate) mod measure;
mod pages;
pub(crate) mod patch;
mod repeat;
pub(crate) mod text;

use std::collections::BTreeMap;

use manifests::plan::{FileContent, FolderVerdict, Mode, Outcome, Sealing};
use manifests::{Decision, Folder, Intent};
use model::{FilesInMemory, RefusalCode, RepoPath, ResourceId};
use serde_json::Value;

use super::case::{After, Case, FOLDER, Keys, Page};
use super::keyring;
use super::objects::id_of;
use crate::oracle::Answer;

/// What came of a case so far; what its texts mean is still to be asked.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// How many objects something happened to.
    pub(super) edits: usize,
    /// The refusals.
    pub(super) refused: Vec<RefusalCode>,
    /// The refusals that nobody expected.
    pub(super) surprises: Vec<String>,
    /// The texts and what they must mean.
    pub(super) questions: Vec<Question>,
}

/// A text and what some of its documents must mean.
#[derive(Debug)]
pub(super) struct Question {
    /// What it is.
    pub(super) name: String,
    /// The text.
    pub(super) text: String,
    /// How many documents it must have.
    pub(super) count: usize,
    /// The documents, by their position.
    pub(super) wanted: Vec<(usize, Value)>,
}

/// Plans a case and compares whatever needs no other reader.
pub(super) fn look(case: &Case) -> Result<Looked, String> {
    let mut known = None;
    let outcome = plan(case, &case.before, &case.intents, Mode::Apply, &mut known)?;
    let mut looked = Looked {
        edits: outcome.decisions.len(),
        ..Looked::default()
    };
    if case.folder_refused {
        return refused_folder(&outcome, looked);
    }
    if let FolderVerdict::Refused(issues) = &outcome.folder {
        return Err(format!("the folder is refused: {issues:?}"));
    }
    let refused = refusals(case, &outcome, &mut looked)?;
    let after = committed(&case.before, &outcome)?;
    for path in paths(&case.before, &after) {
        let wanted = case.after.get(&path);
        file(case, &path, wanted, &after, &refused, &mut looked)
            .map_err(|problem| format!("{path}: {problem}"))?;
    }
    retained(case, &outcome)?;
    hides_secrets(case, &outcome, &after)?;
    repeat::all(case, &outcome, &after, known)?;
    Ok(looked)
}

/// Compares the answers of another reader with what was to be.
pub(super) fn read(questions: &[Question], answers: &[Answer]) -> Result<(), String> {
    for (question, answer) in questions.iter().zip(answers) {
        let Question { name, text, .. } = question;
        let documents = answer.documents().unwrap_or_default();
        if documents.len() != question.count {
            return Err(format!(
                "{name} has {} documents and not {}: {answer:?}\n{text}",
                documents.len(),
                question.count
            ));
        }
        for (index, wanted) in &question.wanted {
            if !measure::same(&documents[*index], wanted) {
                return Err(format!(
                    "{name}, document {index} says\n{}\nand should say\n{wanted}\nin\n{text}",
                    documents[*index]
                ));
            }
        }
    }
    Ok(())
}

/// Plans, on a folder that was never read or on one that was.
fn plan(
    case: &Case,
    files: &FilesInMemory,
    intents: &[Intent],
    mode: Mode,
    known: &mut Option<Folder>,
) -> Result<Outcome, String> {
    let encryption = keyring::encryption(case.keys);
    let mut random = keyring::random(1);
    let sealing = encryption.as_ref().map(|encryption| Sealing {
        encryption,
        random: &mut random,
        now: keyring::NOW,
    });
    let folder = known.get_or_insert_with(|| Folder::new(case.policy.folder.clone()));
    manifests::plan(folder, files.tree(), intents, &case.policy, mode, sealing)
        .map_err(|error| error.to_string())
}

/// Applies the edits, as a commit would.
fn committed(before: &FilesInMemory, outcome: &Outcome) -> Result<FilesInMemory, String> {
    let mut after = before.clone();
    for edit in &outcome.edits {
        let outside = !edit.path.as_str().starts_with(&format!("{FOLDER}/"));
        if outside {
            return Err(format!("{} is outside of the folder", edit.path));
        }
        match &edit.content {
            FileContent::Plain(bytes) => after.put(&edit.path, bytes.as_slice()),
            FileContent::Sealed(bytes) => after.put(&edit.path, bytes.as_bytes()),
            FileContent::Removed => after.remove(&edit.path),
        }
    }
    Ok(after)
}

fn paths(before: &FilesInMemory, after: &FilesInMemory) -> Vec<RepoPath> {
    let mut paths = before.files.paths();
    paths.extend(after.files.paths());
    paths.sort();
    paths.dedup();
    paths
}

fn text_of(files: &FilesInMemory, path: &RepoPath) -> Option<String> {
    let bytes = files.bytes(path)?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}

fn refused_folder(outcome: &Outcome, mut looked: Looked) -> Result<Looked, String> {
    if outcome.folder.is_accepted() {
        return Err("the folder is accepted".to_owned());
    }
    if !outcome.is_empty() || outcome.refusals().count() != outcome.decisions.len() {
        return Err(format!(
            "a refused folder is written: {:?}",
            outcome.decisions
        ));
    }
    looked.refused = outcome.refusals().map(|refusal| refusal.code).collect();
    Ok(looked)
}

/// Returns the objects that were refused, after comparing them with those that had to be.
fn refusals(
    case: &Case,
    outcome: &Outcome,
    looked: &mut Looked,
) -> Result<Vec<ResourceId>, String> {
    let mut refused = BTreeMap::new();
    for decision in &outcome.decisions {
        if let Decision::Refused(refusal) = &decision.decision {
            refused.insert(decision.id.clone(), refusal);
        }
    }
    for (id, code) in &case.refused {
        match refused.get(id) {
            Some(refusal) if refusal.code == *code => {}
            other => return Err(format!("{id} should be refused as {code}: {other:?}")),
        }
    }
    for (id, refusal) in &refused {
        looked.refused.push(refusal.code);
        if !case.refused.contains_key(id) {
            looked.surprises.push(format!("{id}: {refusal}"));
        }
    }
    Ok(refused.into_keys().collect())
}

/// Compares one file with what it was to become.
fn file(
    case: &Case,
    path: &RepoPath,
    wanted: Option<&After>,
    after: &FilesInMemory,
    refused: &[ResourceId],
    looked: &mut Looked,
) -> Result<(), String> {
    let old = case.before.bytes(path);
    let new = after.bytes(path);
    match wanted {
        None if old == new => Ok(()),
        None => Err(format!(
            "it changes although nothing was to happen to it:\n{}\nto\n{}",
            text_of(&case.before, path).unwrap_or_default(),
            text_of(after, path).unwrap_or_default()
        )),
        Some(After::There) => new.map(drop).ok_or_else(|| "it is missing".to_owned()),
        Some(After::Gone) if new.is_none() => Ok(()),
        Some(After::Gone) => Err("it is still there".to_owned()),
        Some(After::Sealed(value)) => {
            if refused.contains(&id_of(value)) {
                return (old == new)
                    .then_some(())
                    .ok_or_else(|| "it changes".to_owned());
            }
            let text = text_of(after, path).ok_or("it is missing")?;
            let opened =
                keyring::open(&text).ok_or_else(|| format!("it does not open:\n{text}"))?;
            if !measure::same(&opened, value) {
                return Err(format!("it holds {opened} and should hold {value}"));
            }
            match text_of(&case.before, path) {
                Some(before) if case.keys == Keys::Both => ciphertext(&before, &text, value),
                _ => Ok(()),
            }
        }
        Some(After::Pages(wanted)) => {
            let wanted = still_wanted(case, path, wanted, refused);
            pages::compare(case, path, &wanted, text_of(after, path), looked)
        }
    }
}

/// SE-3: with the private key at hand, what stays the same keeps its ciphertext, and the data key its wrapping.
fn ciphertext(before: &str, after: &str, wanted: &Value) -> Result<(), String> {
    let read = |text: &str| serde_yaml::from_str::<Value>(text).map_err(|error| error.to_string());
    let held = keyring::open(before).ok_or("it did not open before")?;
    let (before, after) = (read(before)?, read(after)?);
    let data = held["data"].as_object().into_iter().flatten();
    let mut keys = data.filter(|(key, value)| wanted["data"].get(key) == Some(value));
    let kept = keys.all(|(key, _)| before["data"][key] == after["data"][key]);
    (kept && before["sops"]["age"] == after["sops"]["age"])
        .then_some(())
        .ok_or_else(|| "what stays the same is sealed again".to_owned())
}

/// Takes back what was wanted of objects that were refused: their documents stay as they are.
fn still_wanted(case: &Case, path: &RepoPath, pages: &[Page], refused: &[ResourceId]) -> Vec<Page> {
    let at = |index: usize| case.values.get(&(path.clone(), index));
    let kept = |page: &Page| match page {
        Page::Edited(index, _) if at(*index).is_some_and(|old| refused.contains(&id_of(old))) => {
            Some(Page::Kept(*index))
        }
        Page::Removed(index, id) if refused.contains(id) => Some(Page::Kept(*index)),
        Page::New(value) if refused.contains(&id_of(value)) => None,
        other => Some(other.clone()),
    };
    pages.iter().filter_map(kept).collect()
}

fn retained(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let retained: Vec<&ResourceId> = outcome.retained.iter().map(|kept| &kept.id).collect();
    let wanted: Vec<&ResourceId> = case.retained.iter().collect();
    (retained == wanted)
        .then_some(())
        .ok_or_else(|| format!("{retained:?} are counted as kept, and not {wanted:?}"))
}

/// Looks for the plaintext of every Secret that something happened to.
fn hides_secrets(case: &Case, outcome: &Outcome, after: &FilesInMemory) -> Result<(), String> {
    let mut shown = format!("{outcome:?}");
    shown.push_str(
        &outcome
            .diff(case.before.tree())
            .map_err(|e| e.to_string())?,
    );
    for edit in &outcome.edits {
        shown.push_str(&text_of(after, &edit.path).unwrap_or_default());
    }
    for intent in &case.intents {
        let Intent::Upsert(object) = intent else {
            continue;
        };
        let held = object.value();
        let data = held.get("data").and_then(Value::as_object);
        let data = data.filter(|_| object.is_sensitive());
        for value in data.into_iter().flatten().filter_map(|(_, v)| v.as_str()) {
            if value.len() > 8 && shown.contains(value) {
                return Err(format!("the secret {value} is shown"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dice::Dice;
    use crate::rows::case::{Draft, Sheet, path};
    use crate::rows::objects::TEAM;

    const TEXT: &str = "# head
apiVersion: v1
kind: ConfigMap # remark of a person
metadata: {name: a, namespace: team-a}
data:
  one: 'x' # remark
  # remark in a line
  two: y
";

    /// A ConfigMap whose first value changes; `wrong` makes the case say something else than what comes of it.
    fn judged(wrong: impl Fn(&mut Case)) -> Result<Looked, String> {
        let mut dice = Dice::new(1);
        let mut draft = Draft::new(&mut dice);
        let value = |one: &str| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": TEAM},
                "data": {"one": one, "two": "y"},
            })
        };
        let file = path("a.yaml");
        let at = draft.put_sheet(&file, Sheet::written(value("x"), TEXT.to_owned()));
        *draft.framing(&file) = Default::default();
        draft.bystanders(&file, 1);
        draft.edit(&at, value("z"));
        let mut case = draft.finish();
        wrong(&mut case);
        look(&case)
    }

    fn problem(wrong: impl Fn(&mut Case)) -> String {
        judged(wrong).unwrap_err()
    }

    #[test]
    fn what_comes_out_right_is_not_wrong() {
        let looked = judged(|_| {}).unwrap();
        assert_eq!((looked.edits, looked.questions.len()), (1, 2));
    }

    #[test]
    fn what_changes_is_noticed_where_nothing_should() {
        assert!(problem(|case| case.after.clear()).contains("nothing was to happen"));
        let kept = |case: &mut Case| {
            let pages = After::Pages(vec![Page::Kept(0), Page::Kept(1)]);
            case.after.insert(path("a.yaml"), pages);
        };
        assert!(problem(kept).contains("it changes"));
        let other = |case: &mut Case| {
            let pages = After::Pages(vec![Page::Kept(0), Page::Edited(1, json!({}))]);
            case.after.insert(path("a.yaml"), pages);
        };
        assert!(problem(other).contains("loses its bytes"));
    }

    #[test]
    fn what_does_not_happen_is_noticed() {
        let gone = |case: &mut Case| {
            case.after.insert(path("a.yaml"), After::Gone);
        };
        assert!(problem(gone).contains("still there"));
        let refused = |case: &mut Case| {
            let id = case.intents.iter().find_map(|intent| match intent {
                Intent::Upsert(object) => Some(object.id().clone()),
                _ => None,
            });
            case.refused
                .extend(id.map(|id| (id, RefusalCode::InvalidPath)));
        };
        assert!(problem(refused).contains("should be refused"));
        assert!(problem(|case| case.folder_refused = true).contains("is accepted"));
    }

    #[test]
    fn what_a_text_means_is_compared() {
        let question = Question {
            name: "a".to_owned(),
            text: "a: 1\n".to_owned(),
            count: 1,
            wanted: vec![(0, json!({"a": 2}))],
        };
        let answer = [Answer::Strict(vec![json!({"a": 1})])];
        assert!(
            read(&[question], &answer)
                .unwrap_err()
                .contains("should say")
        );
    }

    #[test]
    fn how_a_text_is_written_is_compared() {
        let keeps =
            |after: &str| form::keeps("a: 'x'\nb:\n- c\n", after, &json!({}), &json!({"a": "no"}));
        assert!(keeps("a: 'no'\nb:\n- c\n").is_ok());
        assert!(keeps("a: no\nb:\n- c\n").is_err(), "the quotes are lost");
        assert!(keeps("b:\n- c\na: 'no'\n").is_err(), "another order");
        assert!(
            keeps("a: 'no'\nb:\n  - c\n").is_err(),
            "another indentation"
        );
        let number = json!({"a": "1"});
        assert!(form::keeps("a: x\n", "a: 1\n", &json!({}), &number).is_err());
    }
}
