//! A person's hand: writes a value as YAML in one of many styles, with remarks, and knows where each remark is.
//!
//! It shares no code with the emitter of the product. What it writes means the value to Kubernetes; nothing but
//! the reader of the judge says so.

use serde_json::{Map, Value};

use crate::dice::Dice;

/// How somebody writes.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Blanks for each level.
    pub step: usize,
    /// Whether the dashes of a list stand below the key and not further in.
    pub flush: bool,
    /// Quotes around text that needs none.
    pub quote: Quote,
    /// Whether remarks are written.
    pub remarks: bool,
    /// Whether blank lines are left between keys.
    pub blanks: bool,
    /// Whether small mappings and lists stand in one line.
    pub flow: bool,
    /// Whether numbers and truth values are written in their rarer forms.
    pub odd: bool,
    /// Whether long text is folded.
    pub folded: bool,
    /// Whether keys stand in another order than the alphabet's.
    pub shuffled: bool,
}

/// The quotes that somebody likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    /// None where none are needed.
    None,
    /// Single ones.
    Single,
    /// Double ones.
    Double,
}

/// One step down a value. Items are known by what identifies them, so that they are found in another order.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// To the value of a key.
    Key(String),
    /// To the item that has this value under this key.
    Named(&'static str, Value),
    /// To the item that is exactly this.
    Item(Value),
}

/// A remark that the hand wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    /// Its text, which no other remark has.
    pub text: String,
    /// Whether it has a line of its own; then `at` leads to the mapping or list around it, and otherwise to the
    /// value in its line.
    pub own_line: bool,
    /// Where it is.
    pub at: Vec<Step>,
}

/// A written document.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// The lines, each with its end.
    pub text: String,
    /// The remarks in them, in their order.
    pub remarks: Vec<Remark>,
    /// Whether the last value is a block, which would lose its last line break without that of the file.
    pub ends_in_block: bool,
}

impl Style {
    /// Draws a style.
    pub fn draw(dice: &mut Dice) -> Self {
        Self {
            step: dice.one(&[2, 2, 2, 4]),
            flush: dice.once_in(2),
            quote: dice.one(&[Quote::None, Quote::None, Quote::Single, Quote::Double]),
            remarks: !dice.once_in(4),
            blanks: dice.once_in(3),
            flow: dice.once_in(3),
            odd: dice.once_in(3),
            folded: dice.once_in(3),
            shuffled: dice.once_in(3),
        }
    }
}

/// Writes a mapping. Remarks are numbered from `first` on.
pub fn write(value: &Map<String, Value>, style: Style, first: usize, dice: &mut Dice) -> Written {
    let mut hand = Hand {
        dice,
        style,
        next: first,
        at: Vec::new(),
        written: Written::default(),
    };
    hand.mapping(value, 0, false);
    hand.written
}

struct Hand<'d> {
    dice: &'d mut Dice,
    style: Style,
    next: usize,
    at: Vec<Step>,
    written: Written,
}

impl Hand<'_> {
    fn put(&mut self, text: &str) {
        self.written.text.push_str(text);
    }

    fn pad(&mut self, blanks: usize) {
        self.put(&" ".repeat(blanks));
    }

    fn remark(&mut self, own_line: bool) {
        self.next += 1;
        let text = format!("# remark {} of a person", self.next);
        self.put(&text);
        self.written.remarks.push(Remark {
            text,
            own_line,
            at: self.at.clone(),
        });
    }

    /// Ends a line, perhaps behind a remark.
    fn end_line(&mut self) {
        if self.style.remarks && self.dice.once_in(7) {
            self.put(" ");
            self.remark(false);
        }
        self.put("\n");
        self.written.ends_in_block = false;
    }

    /// Writes what may stand above an entry.
    fn above(&mut self, column: usize) {
        if self.style.blanks && self.dice.once_in(8) {
            self.put("\n");
        }
        if self.style.remarks && self.dice.once_in(10) {
            let column = if self.dice.once_in(8) { 0 } else { column };
            self.pad(column);
            self.remark(true);
            self.put("\n");
        }
    }

    fn mapping(&mut self, map: &Map<String, Value>, column: usize, begun: bool) {
        for (index, (key, value)) in self.ordered(map, column).into_iter().enumerate() {
            if index > 0 || !begun {
                if index > 0 || column == 0 {
                    self.above(column);
                }
                self.pad(column);
            }
            let name = self.key(key);
            self.put(&name);
            self.put(":");
            self.at.push(Step::Key(key.clone()));
            self.value(value, column);
            self.at.pop();
        }
    }

    /// Puts the keys into the order in which somebody writes them.
    fn ordered<'v>(
        &mut self,
        map: &'v Map<String, Value>,
        column: usize,
    ) -> Vec<(&'v String, &'v Value)> {
        const FIRST: [&str; 4] = ["apiVersion", "kind", "metadata", "name"];
        let rank = |key: &str| {
            let found = FIRST.iter().position(|first| *first == key);
            found
                .filter(|_| column == 0 || key == "name")
                .unwrap_or(FIRST.len())
        };
        let mut entries: Vec<_> = map.iter().collect();
        if self.style.shuffled && entries.len() > 1 {
            let turn = self.dice.below(entries.len());
            entries.rotate_left(turn);
        }
        entries.sort_by_key(|(key, _)| rank(key));
        entries
    }

    /// Writes a value behind its key, with the end of its line.
    fn value(&mut self, value: &Value, column: usize) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                if self.fits_a_line(value) {
                    self.put(" ");
                    self.in_line(value);
                    self.end_line();
                    return;
                }
                self.end_line();
                self.mapping(map, column + self.style.step, false);
            }
            Value::Array(items) if !items.is_empty() => {
                if self.fits_a_line(value) {
                    self.put(" ");
                    self.in_line(value);
                    self.end_line();
                    return;
                }
                self.end_line();
                let further = if self.style.flush { 0 } else { self.style.step };
                self.list(items, column + further);
            }
            _ => self.scalar_behind_key(value, column),
        }
    }

    fn list(&mut self, items: &[Value], column: usize) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.above(column);
            }
            self.pad(column);
            self.put("- ");
            self.at.push(step_to(item, items));
            match item {
                Value::Object(map) if !map.is_empty() && !self.fits_a_line(item) => {
                    self.mapping(map, column + 2, true);
                }
                Value::Object(_) | Value::Array(_) => {
                    self.in_line(item);
                    self.end_line();
                }
                scalar => {
                    let text = self.scalar(scalar, false);
                    self.put(&text);
                    self.end_line();
                }
            }
            self.at.pop();
        }
    }

    fn scalar_behind_key(&mut self, value: &Value, column: usize) {
        if let Value::String(text) = value {
            if is_block(text) {
                return self.block(text, column + self.style.step);
            }
            if self.style.folded && text.len() > 20 && is_foldable(text) {
                return self.fold(text, column + self.style.step);
            }
        }
        let text = self.scalar(value, false);
        if !text.is_empty() {
            self.put(" ");
            self.put(&text);
        }
        self.end_line();
    }

    fn block(&mut self, text: &str, column: usize) {
        self.put(if text.ends_with('\n') { " |" } else { " |-" });
        self.end_line();
        for line in text.lines() {
            if !line.is_empty() {
                self.pad(column);
                self.put(line);
            }
            self.put("\n");
        }
        self.written.ends_in_block = true;
    }

    fn fold(&mut self, text: &str, column: usize) {
        self.put(" >-");
        self.end_line();
        let words: Vec<&str> = text.split(' ').collect();
        for line in words.chunks(3) {
            self.pad(column);
            self.put(&line.join(" "));
            self.put("\n");
        }
        self.written.ends_in_block = true;
    }

    fn fits_a_line(&mut self, value: &Value) -> bool {
        let small = |value: &Value| !value.is_object() && !value.is_array();
        let fits = match value {
            Value::Object(map) => map.len() < 4 && map.values().all(small),
            Value::Array(items) => items.len() < 5 && items.iter().all(small),
            _ => false,
        };
        fits && !self.at.is_empty() && self.style.flow && !self.dice.once_in(3)
    }

    fn in_line(&mut self, value: &Value) {
        let wide = self.style.step == 4;
        let (open, close) = match value {
            Value::Array(_) => ("[", "]"),
            _ => ("{", "}"),
        };
        let mut parts = Vec::new();
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let key = self.key(key);
                    let text = self.part(value);
                    parts.push(format!("{key}: {text}"));
                }
            }
            Value::Array(items) => {
                for item in items {
                    parts.push(self.part(item));
                }
            }
            scalar => {
                let text = self.scalar(scalar, true);
                return self.put(&text);
            }
        }
        let blank = if wide && !parts.is_empty() { " " } else { "" };
        let text = format!("{open}{blank}{}{blank}{close}", parts.join(", "));
        self.put(&text);
    }

    /// Returns a value as a part of a line.
    fn part(&mut self, value: &Value) -> String {
        match value {
            Value::Object(_) | Value::Array(_) => {
                let before = std::mem::take(&mut self.written.text);
                self.in_line(value);
                std::mem::replace(&mut self.written.text, before)
            }
            scalar => self.scalar(scalar, true),
        }
    }

    fn key(&mut self, key: &str) -> String {
        if is_plain(key, true) {
            key.to_owned()
        } else {
            quoted(key, Quote::Double)
        }
    }

    fn scalar(&mut self, value: &Value, in_flow: bool) -> String {
        let odd = self.style.odd && self.dice.once_in(3);
        match value {
            Value::Null if odd && !in_flow => String::new(),
            Value::Null => self.dice.one(&["null", "~"]).to_owned(),
            Value::Bool(true) if odd => self.dice.one(&["yes", "on", "True", "TRUE"]).to_owned(),
            Value::Bool(false) if odd => self.dice.one(&["no", "off", "False", "n"]).to_owned(),
            Value::Number(number) => match number.as_u64() {
                Some(number) if odd && number > 7 && number < 1 << 30 => match self.dice.below(3) {
                    0 => format!("0{number:o}"),
                    1 => format!("0x{number:X}"),
                    _ => format!("0o{number:o}"),
                },
                _ => number.to_string(),
            },
            Value::String(text) => {
                let plain = self.style.quote == Quote::None && is_plain(text, in_flow);
                if plain || (is_plain(text, in_flow) && self.dice.once_in(3)) {
                    text.clone()
                } else {
                    quoted(text, self.style.quote)
                }
            }
            Value::Object(_) => "{}".to_owned(),
            Value::Array(_) => "[]".to_owned(),
            other => other.to_string(),
        }
    }
}

/// Returns the step to an item: by a key whose values are all different, or by the item itself.
pub fn step_to(item: &Value, items: &[Value]) -> Step {
    const KEYS: [&str; 5] = ["name", "containerPort", "port", "mountPath", "key"];
    for key in KEYS {
        let Some(value) = item.get(key) else {
            continue;
        };
        let same = |other: &&Value| other.get(key) == Some(value);
        let everywhere = items.iter().all(|other| other.get(key).is_some());
        if everywhere && items.iter().filter(same).count() == 1 {
            return Step::Named(key, value.clone());
        }
    }
    Step::Item(item.clone())
}

/// Says whether a text may stand without quotes, whoever reads it.
pub fn is_plain(text: &str, in_flow: bool) -> bool {
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    let inner =
        |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c) || (!in_flow && ": ".contains(c));
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(inner)
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && !text.contains(": ")
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

/// Says whether a text can be folded at its blanks.
fn is_foldable(text: &str) -> bool {
    is_plain(text, false) && text.contains(' ') && !text.contains("  ") && !text.contains(':')
}

/// Says whether a text is written as a block.
pub fn is_block(text: &str) -> bool {
    let printable = |c: char| c == '\n' || (' '..='~').contains(&c);
    text.trim_end_matches('\n').contains('\n')
        && text.chars().all(printable)
        && !text.starts_with([' ', '\n'])
        && !text.ends_with("\n\n")
        && text
            .lines()
            .all(|line| line.trim_end() == line && !line.starts_with(' '))
}

/// Quotes a text. Single quotes hold only what is printable in one line.
pub fn quoted(text: &str, quote: Quote) -> String {
    let simple = text.chars().all(|c| (' '..='~').contains(&c));
    if simple && quote == Quote::Single {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            c if u32::from(c) > 0xffff => out.push_str(&format!("\\U{:08x}", u32::from(c))),
            c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}
