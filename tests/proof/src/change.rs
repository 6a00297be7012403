//! Random changes of values, of every kind that a manifest sees.

use serde_json::{Map, Value, json};

use crate::dice::Dice;

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// Gives a scalar an ordinary string.
    SetWord,
    /// Gives a scalar a string that some reader takes for something else, or that needs care.
    SetAwkward,
    /// Gives a scalar a number.
    SetNumber,
    /// Gives a scalar a truth value.
    SetBool,
    /// Gives a scalar text of several lines.
    SetLines,
    /// Takes a key out.
    DeleteKey,
    /// Puts a scalar under a new key.
    AddScalar,
    /// Puts a mapping or list under a new key.
    AddTree,
    /// Puts an item behind the others.
    AppendItem,
    /// Puts an item before one of the others.
    InsertItem,
    /// Takes an item out.
    RemoveItem,
    /// Gives an item that is a mapping another mapping.
    ReplaceItem,
    /// Gives a mapping or list a value of any kind.
    ReplaceTree,
    /// Puts the items of a list into another order.
    Reorder,
    /// Does up to eight of the others.
    Several,
}

impl Change {
    /// Every change.
    pub const ALL: [Self; 15] = [
        Self::SetWord,
        Self::SetAwkward,
        Self::SetNumber,
        Self::SetBool,
        Self::SetLines,
        Self::DeleteKey,
        Self::AddScalar,
        Self::AddTree,
        Self::AppendItem,
        Self::InsertItem,
        Self::RemoveItem,
        Self::ReplaceItem,
        Self::ReplaceTree,
        Self::Reorder,
        Self::Several,
    ];

    /// Changes a value at a random place; `None` where it has no such place.
    pub fn apply(self, value: &Value, dice: &mut Dice) -> Option<Value> {
        let mut changed = value.clone();
        if self == Self::Several {
            let single = &Self::ALL[..Self::ALL.len() - 1];
            for _ in 0..2 + dice.below(7) {
                dice.pick(single)?.apply_once(&mut changed, dice);
            }
        } else {
            self.apply_once(&mut changed, dice)?;
        }
        Some(changed)
    }

    fn apply_once(self, root: &mut Value, dice: &mut Dice) -> Option<()> {
        let at = self.place(root, dice)?;
        match self {
            Self::SetWord => *at = word(dice).into(),
            Self::SetAwkward => *at = dice.one(&AWKWARD).into(),
            Self::SetNumber => *at = number(dice),
            Self::SetBool => *at = dice.once_in(2).into(),
            Self::SetLines => *at = dice.one(&LINES).into(),
            Self::DeleteKey => {
                let map = at.as_object_mut()?;
                let keys: Vec<String> = map.keys().cloned().collect();
                map.remove(dice.pick(&keys)?);
            }
            Self::AddScalar => {
                at.as_object_mut()?.insert(key(dice), scalar(dice));
            }
            Self::AddTree => {
                at.as_object_mut()?.insert(key(dice), tree(dice));
            }
            Self::AppendItem => {
                let items = at.as_array_mut()?;
                items.push(like(items.last(), dice));
            }
            Self::InsertItem => {
                let items = at.as_array_mut()?;
                let new = like(items.first(), dice);
                items.insert(dice.below(items.len()), new);
            }
            Self::RemoveItem => {
                let items = at.as_array_mut()?;
                items.remove(dice.below(items.len()));
            }
            Self::ReplaceItem => {
                let items = at.as_array_mut()?;
                let index = dice.below(items.len());
                items[index] = like(Some(&json!({})), dice);
            }
            Self::ReplaceTree => {
                *at = match dice.below(4) {
                    0 => json!({}),
                    1 => scalar(dice),
                    _ => tree(dice),
                };
            }
            Self::Reorder => {
                let items = at.as_array_mut()?;
                let middle = 1 + dice.below(items.len() - 1);
                items.rotate_left(middle);
            }
            Self::Several => return None,
        }
        Some(())
    }

    /// Finds a random place where the change can be made.
    fn place<'a>(self, root: &'a mut Value, dice: &mut Dice) -> Option<&'a mut Value> {
        let mut found = Vec::new();
        collect(root, &mut String::new(), &mut |pointer, value| {
            if self.fits(pointer, value) {
                found.push(pointer.to_owned());
            }
        });
        root.pointer_mut(dice.pick(&found)?)
    }

    fn fits(self, pointer: &str, value: &Value) -> bool {
        match self {
            Self::SetWord | Self::SetAwkward | Self::SetNumber | Self::SetBool | Self::SetLines => {
                !value.is_object() && !value.is_array() && !pointer.is_empty()
            }
            Self::DeleteKey => value.as_object().is_some_and(|map| !map.is_empty()),
            Self::AddScalar | Self::AddTree => value.is_object(),
            Self::AppendItem => value.is_array(),
            Self::InsertItem | Self::RemoveItem => {
                value.as_array().is_some_and(|items| !items.is_empty())
            }
            Self::ReplaceItem => value
                .as_array()
                .is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_object)),
            Self::ReplaceTree => (value.is_object() || value.is_array()) && !pointer.is_empty(),
            Self::Reorder => value.as_array().is_some_and(|items| items.len() > 1),
            Self::Several => false,
        }
    }
}

/// Shows every value to `see`, with the JSON pointer that leads to it.
fn collect(value: &Value, pointer: &mut String, see: &mut impl FnMut(&str, &Value)) {
    see(pointer, value);
    let length = pointer.len();
    let mut below = |step: &str, value: &Value| {
        pointer.push('/');
        pointer.push_str(step);
        collect(value, pointer, see);
        pointer.truncate(length);
    };
    match value {
        Value::Object(map) => map
            .iter()
            .for_each(|(key, value)| below(&key.replace('~', "~0").replace('/', "~1"), value)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| below(&index.to_string(), value)),
        _ => {}
    }
}

/// Returns any value, small.
pub fn any(dice: &mut Dice) -> Value {
    if dice.once_in(2) {
        scalar(dice)
    } else {
        tree(dice)
    }
}

/// Returns a mapping with some of everything below it.
pub fn object(dice: &mut Dice) -> Map<String, Value> {
    (0..1 + dice.below(5))
        .map(|_| (key(dice), any(dice)))
        .collect()
}

fn word(dice: &mut Dice) -> String {
    let stem = dice.one(&[
        "app",
        "web",
        "nginx:1.25",
        "v2",
        "team-a",
        "quay.io/x/y@sha256:0a",
    ]);
    format!("{stem}-{}", dice.below(1000))
}

fn number(dice: &mut Dice) -> Value {
    match dice.below(8) {
        0 => json!(0),
        1 => json!(-17),
        2 => json!(i64::MAX),
        3 => json!(u64::MAX),
        4 => json!(0.5),
        5 => json!(1e21),
        6 => json!(-1.25e-7),
        _ => json!(dice.below(100_000)),
    }
}

fn scalar(dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 => number(dice),
        1 => dice.once_in(2).into(),
        2 => dice.one(&AWKWARD).into(),
        3 => dice.one(&LINES).into(),
        4 if dice.once_in(3) => Value::Null,
        _ => word(dice).into(),
    }
}

fn tree(dice: &mut Dice) -> Value {
    match dice.below(7) {
        0 => json!({ key(dice): scalar(dice) }),
        1 => json!({ "x": { key(dice): [scalar(dice), scalar(dice)] }, "y": scalar(dice) }),
        2 => json!([scalar(dice), scalar(dice), scalar(dice)]),
        3 => json!([{ "name": word(dice), "value": scalar(dice) }, { "name": word(dice) }]),
        4 => json!([[scalar(dice)], [], { key(dice): {} }]),
        5 => json!([]),
        _ => json!({ key(dice): { key(dice): { key(dice): scalar(dice) } } }),
    }
}

fn key(dice: &mut Dice) -> String {
    if dice.once_in(4) {
        return dice.one(&AWKWARD).to_owned();
    }
    let stem = dice.one(&["added", "app.kubernetes.io/x", "zz", "aa", "Mm"]);
    format!("{stem}{}", dice.below(50))
}

/// Returns a new item of the kind that a list holds.
fn like(item: Option<&Value>, dice: &mut Dice) -> Value {
    match item {
        Some(Value::Object(map)) => {
            let mut new: Map<String, Value> = map
                .iter()
                .filter(|_| dice.once_in(2))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            new.insert("name".to_owned(), word(dice).into());
            new.insert(key(dice), any(dice));
            Value::Object(new)
        }
        Some(Value::Array(_)) => json!([scalar(dice)]),
        Some(_) => scalar(dice),
        None => any(dice),
    }
}

/// Strings that some reader would take for something else, or that the syntax has a use for.
pub const AWKWARD: [&str; 76] = [
    "on",
    "off",
    "no",
    "No",
    "y",
    "N",
    "yes",
    "true",
    "TRUE",
    "false",
    "null",
    "~",
    "",
    " ",
    "0644",
    "0o17",
    "0x1F",
    "0b11",
    "1_000",
    "1e3",
    "1E400",
    "-0",
    "+5",
    ".5",
    "5.",
    ".inf",
    "-.INF",
    ".nan",
    "12:30:45",
    "1:30",
    "190:20:30.15",
    "2024-01-01",
    "2001-12-14T21:59:43.10Z",
    "=",
    "<<",
    "a: b",
    "a:",
    "b #c",
    "b#c",
    " x",
    "x ",
    "- a",
    "-",
    "---",
    "--- x",
    "...",
    "?",
    "? q",
    ":",
    ": c",
    "it's",
    "say \"hi\"",
    "back\\slash",
    "[x]",
    "[x, y]",
    "{y}",
    "{",
    "*z",
    "&z",
    "!t",
    "!!int 3",
    "%d",
    "%YAML 1.2",
    "@at",
    "`tick`",
    "|",
    ">",
    "|-",
    "a\tb",
    "\t",
    "a, b",
    "#",
    "#x",
    "😀",
    "\u{feff}x",
    "caf\u{e9} \u{2028} \u{85}",
];

/// Texts of several lines.
pub const LINES: [&str; 14] = [
    "one\ntwo\n",
    "one\ntwo",
    "a\n\nb\n",
    "a\n\n",
    "\n",
    "\na\n",
    "  lead\nx\n",
    "trail \nx\n",
    "\ttab\nx\n",
    "#!/bin/sh\nset -e\n# not a comment\necho \"$1\" | sed 's/a: b/c/'\n",
    "key: value\nlist:\n- a\n",
    "---\n...\n",
    "a\r\nb\r\n",
    "\u{1F600} ok\n\u{e9}\n",
];
