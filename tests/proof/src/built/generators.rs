//! A11: a live value of a generated ConfigMap goes back to what the generator reads.

use serde_json::{Map, Value, json};

use super::Row;
use super::case::{Case, Promise, Supplier};
use super::draft::{BASE, Draft};
use crate::change::AWKWARD;
use crate::dice::Dice;
use crate::rows::objects::{Kind, TEAM, sentence, word};

const REFUSED: Promise = Promise::Refused(None);

/// The rows of generators.
pub fn rows() -> Vec<Row> {
    vec![
        Row::new("CG-1", "a value of a file is the whole file", |dice| {
            valued(dice, Source::File, content)
        }),
        Row::new("CG-2", "a value of a line is edited in the line", |dice| {
            valued(dice, Source::Line, one_line)
        }),
        Row::new(
            "CG-3",
            "a value of a literal is edited in the item",
            |dice| valued(dice, Source::Literal, one_line),
        ),
        Row::new(
            "CG-4",
            "a key that goes takes its line or item along",
            |dice| {
                let source = dice.one(&[Source::Line, Source::Literal]);
                removed(dice, source)
            },
        ),
        Row::new("CG-5", "a key of a file that goes is refused", |dice| {
            removed(dice, Source::File)
        }),
        Row::new(
            "CG-6",
            "a new key is a new line of the only file of lines",
            |dice| added(dice, 1, true, Promise::Lands(Supplier::EnvLine)),
        ),
        Row::new(
            "CG-7",
            "a new key is a new literal where there are no lines",
            |dice| added(dice, 0, true, Promise::Lands(Supplier::Literal)),
        ),
        Row::new(
            "CG-8",
            "a new key without a single place is refused",
            |dice| match dice.once_in(2) {
                true => added(dice, 2, true, REFUSED),
                false => added(dice, 0, false, REFUSED),
            },
        ),
        Row::new(
            "CG-9",
            "binary data, labels and annotations are refused",
            cg_9,
        ),
        Row::new("CG-10", "a generator of a base is refused", cg_10),
        Row::new("CG-13", "what an input cannot say is refused", |dice| {
            let source = dice.one(&[Source::Line, Source::Literal, Source::File]);
            awkward(dice, source)
        }),
        Row::new(
            "CG-14",
            "a file that two generators read changes for both or for none",
            cg_14,
        ),
    ]
}

/// Where a key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Literal,
    Line,
    File,
}

impl Source {
    fn supplier(self) -> Supplier {
        match self {
            Self::Literal => Supplier::Literal,
            Self::Line => Supplier::EnvLine,
            Self::File => Supplier::Content,
        }
    }
}

/// A generator of a draft.
#[derive(Debug, Default)]
pub(super) struct Generator {
    pub(super) name: String,
    /// Each key with its source and its file.
    keys: Vec<(String, Source, String)>,
}

impl Generator {
    /// Returns the files that it reads.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &str> {
        let keys = self.keys.iter();
        keys.filter(|(_, source, _)| *source != Source::Literal)
            .map(|(.., path)| path.as_str())
    }
}

fn one_line(dice: &mut Dice) -> Value {
    match dice.below(4) {
        0 => sentence(dice).into(),
        1 => format!("{}={}", word(dice), word(dice)).into(),
        2 => dice.below(100_000).to_string().into(),
        _ => word(dice).into(),
    }
}

fn content(dice: &mut Dice) -> Value {
    match dice.below(4) {
        0 => sentence(dice).into(),
        1 => format!("first: {}\n\nsecond: line\n", dice.below(1000)).into(),
        2 => format!("[section]\nkey = '{}'  # kept\n\tend", word(dice)).into(),
        _ => word(dice).into(),
    }
}

/// Puts a generator into a folder, with so many files of lines, and literals and files where they are asked for.
pub(super) fn generator(
    draft: &mut Draft<'_>,
    folder: &str,
    envs: usize,
    with_literals: bool,
    with_files: bool,
) -> Generator {
    let mut made = Generator {
        name: draft.name("settings"),
        keys: Vec::new(),
    };
    let mut entry = Map::new();
    entry.insert("name".to_owned(), made.name.as_str().into());
    let in_entry = draft.dice.once_in(2);
    let options = json!({"disableNameSuffixHash": true});
    match in_entry {
        true => drop(entry.insert("options".to_owned(), options)),
        false => draft.set(folder, "generatorOptions", options),
    }
    // Without a namespace, what is generated would be no object of the cluster.
    if !draft.root_gives_namespace() || draft.dice.once_in(3) {
        entry.insert("namespace".to_owned(), TEAM.into());
    }
    let path = draft.kustomization(folder);
    if with_literals {
        let mut items = Vec::new();
        for _ in 0..2 + draft.dice.below(3) {
            let key = draft.name("literal");
            items.push(json!(literal(&key, draft.dice)));
            made.keys.push((key, Source::Literal, path.clone()));
        }
        entry.insert("literals".to_owned(), items.into());
    }
    let mut names = Vec::new();
    for _ in 0..envs {
        let name = format!("{}.env", draft.name("lines"));
        let path = format!("{folder}/{name}");
        let mut keys = Vec::new();
        for _ in 0..2 + draft.dice.below(3) {
            let key = draft.name("LINE");
            made.keys.push((key.clone(), Source::Line, path.clone()));
            keys.push(key);
        }
        let text = lines(&keys, draft.dice);
        draft.file(&path, &text);
        names.push(name);
    }
    if !names.is_empty() {
        entry.insert("envs".to_owned(), names.into());
    }
    if with_files {
        let mut items = Vec::new();
        for _ in 0..1 + draft.dice.below(2) {
            let name = format!("{}.txt", draft.name("content"));
            let path = format!("{folder}/conf/{name}");
            let content = content(draft.dice);
            draft.file(&path, content.as_str().unwrap_or_default());
            let key = match draft.dice.once_in(2) {
                true => name.clone(),
                false => draft.name("key"),
            };
            let item = match key == name {
                true => format!("conf/{name}"),
                false => format!("{key}=conf/{name}"),
            };
            items.push(json!(item));
            made.keys.push((key, Source::File, path));
        }
        entry.insert("files".to_owned(), items.into());
    }
    draft.entry(folder, "configMapGenerator", entry.into());
    made
}

fn literal(key: &str, dice: &mut Dice) -> String {
    let value = word(dice);
    match dice.below(4) {
        0 => format!("{key}='{value}'"),
        1 => format!("{key}=\"{value}\""),
        _ => format!("{key}={value}"),
    }
}

/// Writes a file of lines: with remarks, blank lines, and line ends of either kind.
fn lines(keys: &[String], dice: &mut Dice) -> String {
    let mut text = String::new();
    for key in keys {
        if dice.once_in(4) {
            text.push_str(&format!("# of {key}\n"));
        }
        if dice.once_in(6) {
            text.push('\n');
        }
        let value = one_line(dice);
        let value = value.as_str().unwrap_or_default();
        text.push_str(&format!("{key}={value}\n"));
    }
    if dice.once_in(5) {
        text.truncate(text.trim_end().len());
    }
    match dice.once_in(6) {
        true => text.replace('\n', "\r\n"),
        false => text,
    }
}

/// A generator with every source.
fn whole(draft: &mut Draft<'_>) -> Generator {
    let home = draft.home.clone();
    generator(draft, &home, 1, true, true)
}

fn with_data(was: &Value, change: impl FnOnce(&mut Map<String, Value>)) -> Value {
    let mut is = was.clone();
    if let Some(data) = is["data"].as_object_mut() {
        change(data);
    }
    is
}

/// Some generators, and new values of their keys.
fn valued(dice: &mut Dice, source: Source, value: fn(&mut Dice) -> Value) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let count = draft.many();
    let made: Vec<Generator> = (0..count).map(|_| whole(&mut draft)).collect();
    let mut case = draft.finish()?;
    for generator in made {
        let was = case.built(Kind::ConfigMap, &generator.name);
        let keys = generator.keys.iter().filter(|(_, of, _)| *of == source);
        let mut is = was.clone();
        for (key, _, path) in keys {
            if dice.once_in(2) {
                is["data"][key.as_str()] = value(dice);
                case.touches(path);
            }
        }
        if is != was {
            case.becomes(&was, is, Promise::Lands(source.supplier()), dice);
        }
    }
    (!case.happenings.is_empty()).then_some(case)
}

fn removed(dice: &mut Dice, source: Source) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let count = draft.many();
    let made: Vec<Generator> = (0..count).map(|_| whole(&mut draft)).collect();
    let mut case = draft.finish()?;
    let promise = match source {
        Source::File => REFUSED,
        Source::Literal | Source::Line => Promise::Lands(source.supplier()),
    };
    for generator in made {
        let was = case.built(Kind::ConfigMap, &generator.name);
        let mut keys: Vec<_> = generator
            .keys
            .iter()
            .filter(|(_, of, _)| *of == source)
            .collect();
        keys.truncate(1 + dice.below(2));
        let is = with_data(&was, |data| {
            keys.iter().for_each(|(key, ..)| drop(data.remove(key)));
        });
        keys.iter().for_each(|(.., path)| case.touches(path));
        case.becomes(&was, is, promise, dice);
    }
    Some(case)
}

fn added(dice: &mut Dice, envs: usize, with_literals: bool, promise: Promise) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let home = draft.home.clone();
    let count = draft.many();
    let made: Vec<Generator> = (0..count)
        .map(|_| {
            let with_files = !with_literals || draft.dice.once_in(2);
            generator(&mut draft, &home, envs, with_literals, with_files)
        })
        .collect();
    let mut case = draft.finish()?;
    for generator in made {
        let was = case.built(Kind::ConfigMap, &generator.name);
        let new: Vec<(String, Value)> = (0..1 + dice.below(2))
            .map(|_| (format!("NEW_{}", dice.below(1000)), one_line(dice)))
            .collect();
        let is = with_data(&was, |data| data.extend(new));
        let source = if envs == 1 {
            Source::Line
        } else {
            Source::Literal
        };
        let of_source = generator.keys.iter().find(|(_, of, _)| *of == source);
        if let Some((.., path)) = of_source {
            case.touches(path);
        }
        case.becomes(&was, is, promise, dice);
    }
    Some(case)
}

fn cg_9(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let count = draft.many();
    let made: Vec<Generator> = (0..count).map(|_| whole(&mut draft)).collect();
    let mut case = draft.finish()?;
    for generator in made {
        let was = case.built(Kind::ConfigMap, &generator.name);
        let mut is = was.clone();
        match dice.below(3) {
            0 => is["binaryData"] = json!({"bytes": "AAEC"}),
            1 => is["metadata"]["labels"]["example.com/new"] = word(dice).into(),
            _ => is["metadata"]["annotations"]["example.com/new"] = sentence(dice).into(),
        }
        case.becomes(&was, is, REFUSED, dice);
    }
    Some(case)
}

fn cg_10(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::overlay(dice);
    draft.surroundings();
    let count = draft.many();
    let made: Vec<Generator> = (0..count)
        .map(|_| generator(&mut draft, BASE, 1, true, true))
        .collect();
    let mut case = draft.finish()?;
    for generator in made {
        let was = case.built(Kind::ConfigMap, &generator.name);
        let (key, ..) = dice.pick(&generator.keys)?.clone();
        let new = one_line(dice);
        let is = with_data(&was, |data| drop(data.insert(key, new)));
        (is != was).then(|| case.becomes(&was, is, REFUSED, dice))?;
    }
    Some(case)
}

/// Values that inputs read otherwise than they are written, or cannot hold.
fn awkward(dice: &mut Dice, source: Source) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let count = draft.many();
    let made: Vec<Generator> = (0..count).map(|_| whole(&mut draft)).collect();
    let mut case = draft.finish()?;
    for generator in made {
        let was = case.built(Kind::ConfigMap, &generator.name);
        let keys: Vec<_> = generator
            .keys
            .iter()
            .filter(|(_, of, _)| *of == source)
            .collect();
        let (key, _, path) = (*dice.pick(&keys)?).clone();
        const ODD: [&str; 8] = [
            "two\nlines",
            "'quoted'",
            "\"quoted\"",
            " led by a blank",
            "trailing ",
            "tab\t",
            "a\rb",
            "",
        ];
        let new = match dice.below(3) {
            0 => dice.one(&AWKWARD).to_owned(),
            _ => dice.one(&ODD).to_owned(),
        };
        let is = with_data(&was, |data| drop(data.insert(key, new.into())));
        case.touches(&path);
        if is != was {
            case.becomes(&was, is, Promise::Open(source.supplier()), dice);
        }
    }
    (!case.happenings.is_empty()).then_some(case)
}

fn cg_14(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.surroundings();
    let home = draft.home.clone();
    let text = content(draft.dice);
    let path = format!("{home}/shared.txt");
    draft.file(&path, text.as_str().unwrap_or_default());
    let mut names = Vec::new();
    for _ in 0..2 {
        let name = draft.name("settings");
        let entry = json!({
            "name": name, "namespace": TEAM, "files": ["key=shared.txt"],
            "options": {"disableNameSuffixHash": true},
        });
        draft.entry(&home, "configMapGenerator", entry);
        names.push(name);
    }
    let mut case = draft.finish()?;
    case.touches(&path);
    let new = content(dice);
    let (count, promise) = match dice.once_in(2) {
        true => (2, Promise::Lands(Supplier::Content)),
        false => (1, REFUSED),
    };
    for name in &names[..count] {
        let was = case.built(Kind::ConfigMap, name);
        let is = with_data(&was, |data| {
            drop(data.insert("key".to_owned(), new.clone()));
        });
        (is != was).then(|| case.becomes(&was, is, promise, dice))?;
    }
    Some(case)
}
