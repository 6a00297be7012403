//! A10, the images: a live image goes to the entry that supplied it.

use model::IssueKind;
use serde_json::{Value, json};

use super::Row;
use super::case::{Case, Promise, Supplier};
use super::draft::{Draft, ROOT};
use crate::dice::Dice;
use crate::rows::objects::{Kind, word};

const LANDS: Promise = Promise::Lands(Supplier::Images);
const IN_DOCUMENT: Promise = Promise::Lands(Supplier::Document);
const REFUSED: Promise = Promise::Refused(None);

/// The rows of images.
pub fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "OV-2 tag",
            "a tag goes to the entry that gives it",
            |dice| {
                let change = |it: &Reference, dice: &mut Dice| it.tagged(&tag(dice));
                pinned(dice, entry_tag, change, LANDS)
            },
        ),
        Row::new("OV-2 name", "a name and a tag go to their entry", |dice| {
            let change = |_: &Reference, dice: &mut Dice| format!("{}:{}", word(dice), tag(dice));
            pinned(dice, entry_name, change, LANDS)
        }),
        Row::new("OV-2 digest", "a digest goes to its entry", |dice| {
            let change = |it: &Reference, dice: &mut Dice| it.at(&digest(dice));
            pinned(dice, entry_digest, change, LANDS)
        }),
        Row::new(
            "OV-4",
            "a part that no entry gives goes to the document",
            ov_4,
        ),
        Row::new(
            "OV-5",
            "a tag that looks like something else stays text",
            |dice| {
                let change = |it: &Reference, dice: &mut Dice| {
                    const ODD: [&str; 9] = [
                        "1.10",
                        "007",
                        "1e3",
                        "true",
                        "2024-01-01",
                        "null",
                        "0x1F",
                        "1_000",
                        "on",
                    ];
                    it.tagged(dice.one(&ODD))
                };
                pinned(dice, entry_tag, change, LANDS)
            },
        ),
        Row::new(
            "OV-6 chain",
            "the entry that wrote last gets the tag",
            ov_6_chain,
        ),
        Row::new(
            "OV-6 pattern",
            "an entry whose name is an expression",
            |dice| {
                let change = |it: &Reference, dice: &mut Dice| it.tagged(&tag(dice));
                pinned(dice, entry_pattern, change, LANDS)
            },
        ),
        Row::new(
            "OV-7",
            "what the entry keeps from being said is refused",
            |dice| {
                if dice.once_in(2) {
                    let change = |it: &Reference, _: &mut Dice| it.name.clone();
                    pinned(dice, entry_tag, change, REFUSED)
                } else {
                    let change = |it: &Reference, dice: &mut Dice| it.tagged(&tag(dice));
                    pinned(dice, entry_digest, change, REFUSED)
                }
            },
        ),
        Row::new(
            "OV-7 differ",
            "two containers that want two tags of one entry",
            ov_7_differ,
        ),
        Row::new(
            "OV-8 alone",
            "a change that would move another object is refused",
            |dice| shared(dice, false),
        ),
        Row::new("OV-8", "objects that converge share one edit", |dice| {
            shared(dice, true)
        }),
        Row::new(
            "OV-9",
            "a new object that an entry overrides is refused, others land",
            ov_9,
        ),
        Row::new(
            "OV-11",
            "an image of a base gets an entry in the overlay",
            ov_11,
        ),
        Row::new(
            "OV-11 entry",
            "an image of a base goes to the overlay's entry",
            ov_11_entry,
        ),
        Row::new(
            "OV-14",
            "one entry under two roots: both agree, or it is refused",
            ov_14,
        ),
        Row::new("OV-14 own", "each root has an entry of its own", ov_14_own),
    ]
}

/// An image reference in its parts.
#[derive(Debug, Clone)]
pub(super) struct Reference {
    pub(super) name: String,
    rest: String,
}

impl Reference {
    fn read(text: &str) -> Self {
        let (before, digest) = text.split_once('@').unwrap_or((text, ""));
        let slash = before.rfind('/').unwrap_or(0);
        let end = before[slash..]
            .find(':')
            .map_or(before.len(), |at| slash + at);
        let _ = digest;
        Self {
            name: text[..end].to_owned(),
            rest: text[end..].to_owned(),
        }
    }

    fn tagged(&self, tag: &str) -> String {
        format!("{}:{tag}", self.name)
    }

    fn at(&self, digest: &str) -> String {
        format!("{}@{digest}", self.name)
    }
}

/// Returns the containers of a workload.
pub(super) fn containers(value: &mut Value) -> Option<&mut Vec<Value>> {
    let at = match value["kind"].as_str()? {
        "CronJob" => "/spec/jobTemplate/spec/template/spec/containers",
        _ => "/spec/template/spec/containers",
    };
    value.pointer_mut(at)?.as_array_mut()
}

pub(super) fn tag(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => format!("{}.{}", dice.below(9), dice.below(90)),
        1 => dice.below(2000).to_string(),
        _ => format!("v{}.{}", dice.below(9), dice.below(1_000_000)),
    }
}

fn digest(dice: &mut Dice) -> String {
    format!("sha256:{:064x}", dice.number())
}

fn entry_tag(it: &Reference, dice: &mut Dice) -> Value {
    json!({"name": it.name, "newTag": tag(dice)})
}

fn entry_name(it: &Reference, dice: &mut Dice) -> Value {
    json!({"name": it.name, "newName": word(dice), "newTag": tag(dice)})
}

fn entry_digest(it: &Reference, dice: &mut Dice) -> Value {
    json!({"name": it.name, "digest": digest(dice)})
}

fn entry_pattern(it: &Reference, dice: &mut Dice) -> Value {
    let short = &it.name[..it.name.len() - 1];
    json!({"name": format!("{short}[0-9]"), "newTag": tag(dice)})
}

/// A workload of a draft: its kind, its name, and one of its containers.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) container: usize,
}

impl Subject {
    /// Draws a workload, and returns the reference of one of its containers.
    pub(super) fn draw(draft: &mut Draft<'_>) -> Option<(Self, Value, Reference)> {
        let kind = draft.dice.one(&[
            Kind::Deployment,
            Kind::Deployment,
            Kind::StatefulSet,
            Kind::DaemonSet,
            Kind::ReplicationController,
            Kind::CronJob,
            Kind::Rollout,
        ]);
        let mut value = draft.object(kind);
        let containers = containers(&mut value)?;
        let container = draft.dice.below(containers.len());
        let reference = Reference::read(containers[container]["image"].as_str()?);
        let name = value["metadata"]["name"].as_str()?.to_owned();
        let subject = Self {
            kind,
            name,
            container,
        };
        Some((subject, value, reference))
    }

    /// Says that the workload runs another image.
    fn runs(
        &self,
        case: &mut Case,
        promise: Promise,
        dice: &mut Dice,
        change: impl Fn(&Reference, &mut Dice) -> String,
    ) -> Option<()> {
        let was = case.built(self.kind, &self.name);
        let mut is = was.clone();
        let image = &mut containers(&mut is)?[self.container]["image"];
        let new = change(&Reference::read(image.as_str()?), dice);
        *image = new.into();
        (is != was).then(|| case.becomes(&was, is, promise, dice))
    }
}

/// Where entries stand: in the root, or with the objects.
pub(super) fn entries_at(draft: &mut Draft<'_>) -> String {
    match draft.dice.once_in(2) {
        true => draft.home.clone(),
        false => ROOT.to_owned(),
    }
}

/// Some workloads, each with an entry, and a change of their images.
fn pinned(
    dice: &mut Dice,
    entry: impl Fn(&Reference, &mut Dice) -> Value,
    change: impl Fn(&Reference, &mut Dice) -> String,
    promise: Promise,
) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let folder = entries_at(&mut draft);
    let mut subjects = Vec::new();
    for _ in 0..draft.many() {
        let (subject, value, reference) = Subject::draw(&mut draft)?;
        let entry = entry(&reference, draft.dice);
        draft.entry(&folder, "images", entry);
        draft.put(value);
        subjects.push(subject);
    }
    let path = draft.kustomization(&folder);
    let mut case = draft.finish()?;
    case.touches(&path);
    for subject in subjects {
        subject.runs(&mut case, promise, dice, &change)?;
    }
    Some(case)
}

fn ov_4(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let folder = entries_at(&mut draft);
    let mut subjects = Vec::new();
    for _ in 0..draft.many() {
        let (subject, mut value, reference) = Subject::draw(&mut draft)?;
        if reference.rest.starts_with('@') {
            let image = &mut containers(&mut value)?[subject.container]["image"];
            *image = reference.tagged("1").into();
        }
        let entry = json!({"name": reference.name, "newName": word(draft.dice)});
        draft.entry(&folder, "images", entry);
        let put = draft.put(value);
        subjects.push((subject, put));
    }
    let mut case = draft.finish()?;
    for (subject, put) in subjects {
        case.touches(&put.path);
        subject.runs(&mut case, IN_DOCUMENT, dice, |it, dice| {
            it.tagged(&tag(dice))
        })?;
    }
    Some(case)
}

fn ov_6_chain(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let mut subjects = Vec::new();
    let below = draft.home.clone();
    for _ in 0..draft.many() {
        let (subject, value, reference) = Subject::draw(&mut draft)?;
        let between = word(draft.dice);
        let first = json!({"name": reference.name, "newName": between, "newTag": tag(draft.dice)});
        draft.entry(&below, "images", first);
        let second = entry_tag(&Reference::read(&between), draft.dice);
        draft.entry(ROOT, "images", second);
        draft.put(value);
        subjects.push(subject);
    }
    let path = draft.kustomization(ROOT);
    let mut case = draft.finish()?;
    case.touches(&path);
    for subject in subjects {
        subject.runs(&mut case, LANDS, dice, |it, dice| it.tagged(&tag(dice)))?;
    }
    Some(case)
}

fn ov_7_differ(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let folder = entries_at(&mut draft);
    let (subject, mut value, reference) = Subject::draw(&mut draft)?;
    let containers_of = containers(&mut value)?;
    let mut second = containers_of[subject.container].clone();
    second["name"] = "second".into();
    containers_of.push(second);
    let last = containers_of.len() - 1;
    let entry = entry_tag(&reference, draft.dice);
    draft.entry(&folder, "images", entry);
    draft.put(value);
    let mut case = draft.finish()?;
    let was = case.built(subject.kind, &subject.name);
    let mut is = was.clone();
    for at in [subject.container, last] {
        let new = format!("{}-{at}", tag(dice));
        containers(&mut is)?[at]["image"] = reference.tagged(&new).into();
    }
    case.becomes(&was, is, REFUSED, dice);
    Some(case)
}

/// Workloads with one image and one entry.
fn shared(dice: &mut Dice, converge: bool) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let folder = entries_at(&mut draft);
    let (first, value, reference) = Subject::draw(&mut draft)?;
    let entry = entry_tag(&reference, draft.dice);
    draft.entry(&folder, "images", entry);
    draft.put(value);
    let mut subjects = vec![first];
    for _ in 0..draft.many() {
        let (other, mut value, _) = Subject::draw(&mut draft)?;
        let own = tag(draft.dice);
        containers(&mut value)?[other.container]["image"] = reference.tagged(&own).into();
        draft.put(value);
        subjects.push(other);
    }
    let path = draft.kustomization(&folder);
    let mut case = draft.finish()?;
    case.touches(&path);
    let new = tag(dice);
    let (count, promise) = match converge {
        true => (subjects.len(), LANDS),
        false => (subjects.len() - 1, REFUSED),
    };
    for subject in &subjects[..count] {
        subject.runs(&mut case, promise, dice, |it, _| it.tagged(&new))?;
    }
    Some(case)
}

fn ov_9(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.bystanders();
    let (_, value, reference) = Subject::draw(&mut draft)?;
    let entry = entry_tag(&reference, draft.dice);
    draft.entry(ROOT, "images", entry);
    draft.put(value);
    let (other, mut overridden, _) = Subject::draw(&mut draft)?;
    let (_, free, _) = Subject::draw(&mut draft)?;
    containers(&mut overridden)?[other.container]["image"] = reference.tagged("other").into();
    let path = draft.kustomization(ROOT);
    let mut case = draft.finish()?;
    case.touches(&path);
    case.comes(
        overridden,
        Promise::Refused(Some(IssueKind::KustomizeRenderRefused)),
        dice,
    );
    case.comes(free, Promise::Lands(Supplier::List), dice);
    Some(case)
}

fn ov_11(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::overlay(dice);
    draft.surroundings();
    let mut subjects = Vec::new();
    for _ in 0..draft.many() {
        let (subject, value, _) = Subject::draw(&mut draft)?;
        draft.put(value);
        subjects.push(subject);
    }
    if draft.dice.once_in(2) {
        let entry = json!({"name": "unrelated", "newTag": "1"});
        draft.entry(ROOT, "images", entry);
    }
    let path = draft.kustomization(ROOT);
    let mut case = draft.finish()?;
    case.touches(&path);
    let promise = Promise::Lands(Supplier::NewEntry);
    for subject in subjects {
        match dice.below(3) {
            0 => subject.runs(&mut case, promise, dice, |it, dice| it.at(&digest(dice)))?,
            1 => subject.runs(&mut case, promise, dice, |_, dice| {
                format!("{}:{}", word(dice), tag(dice))
            })?,
            _ => subject.runs(&mut case, promise, dice, |it, dice| it.tagged(&tag(dice)))?,
        }
    }
    Some(case)
}

fn ov_11_entry(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::overlay(dice);
    draft.surroundings();
    let mut subjects = Vec::new();
    for _ in 0..draft.many() {
        let (subject, value, reference) = Subject::draw(&mut draft)?;
        let entry = entry_tag(&reference, draft.dice);
        draft.entry(ROOT, "images", entry);
        draft.put(value);
        subjects.push(subject);
    }
    let path = draft.kustomization(ROOT);
    let mut case = draft.finish()?;
    case.touches(&path);
    for subject in subjects {
        subject.runs(&mut case, LANDS, dice, |it, dice| it.tagged(&tag(dice)))?;
    }
    Some(case)
}

/// Returns what two roots make of a subject.
fn in_both(case: &Case, subject: &Subject) -> Vec<Value> {
    let is_it = |object: &&Value| object["metadata"]["name"] == subject.name.as_str();
    case.before.iter().filter(is_it).cloned().collect()
}

fn ov_14(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::two_roots(dice);
    let home = draft.home.clone();
    let (subject, value, reference) = Subject::draw(&mut draft)?;
    let entry = entry_tag(&reference, draft.dice);
    draft.entry(&home, "images", entry);
    draft.put(value);
    let path = draft.kustomization(&home);
    let mut case = draft.finish()?;
    case.touches(&path);
    let agree = dice.once_in(2);
    let new = tag(dice);
    let (count, promise) = match agree {
        true => (2, LANDS),
        false => (1, Promise::Refused(Some(IssueKind::WriteFanIn))),
    };
    for was in in_both(&case, &subject).into_iter().take(count) {
        let mut is = was.clone();
        containers(&mut is)?[subject.container]["image"] = reference.tagged(&new).into();
        (is != was).then(|| case.becomes(&was, is, promise, dice))?;
    }
    Some(case)
}

fn ov_14_own(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::two_roots(dice);
    let (subject, value, reference) = Subject::draw(&mut draft)?;
    for root in ["live/dev", "live/prod"] {
        let entry = entry_tag(&reference, draft.dice);
        draft.entry(root, "images", entry);
    }
    draft.put(value);
    let paths = ["live/dev", "live/prod"].map(|root| draft.kustomization(root));
    let mut case = draft.finish()?;
    let count = 1 + dice.below(2);
    for (was, path) in in_both(&case, &subject).into_iter().zip(paths).take(count) {
        case.touches(&path);
        let mut is = was.clone();
        let new = tag(dice);
        containers(&mut is)?[subject.container]["image"] = reference.tagged(&new).into();
        (is != was).then(|| case.becomes(&was, is, LANDS, dice))?;
    }
    Some(case)
}
