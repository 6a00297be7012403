//! Bytes as a value: its canonical text reads back as the same value, to us and to another reader.

use manifests::yaml;
use serde_json::{Map, Number, Value};

use super::ensure;
use crate::dice::Dice;

/// Writes and reads a value made from the bytes.
///
/// # Errors
/// Returns what is wrong.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let object = Maker {
        text: &text,
        dice: Dice::of(bytes),
    }
    .object(0);
    let written = yaml::canonical(&object);
    let value = Value::Object(object);
    let read = yaml::values(&written);
    let ours = read
        .as_ref()
        .is_ok_and(|read| matches!(&read[..], [read] if yaml::same(read, &value)));
    ensure(ours, || {
        format!("{value}\nis written {written:?}\nand read as {read:?}")
    })?;
    let theirs: Result<Value, _> = serde_yaml::from_str(&written);
    let same = theirs
        .as_ref()
        .is_ok_and(|theirs| yaml::same(theirs, &value));
    ensure(same, || {
        format!("{value}\nis written {written:?}\nand read elsewhere as {theirs:?}")
    })
}

/// Makes values out of the pieces of a text.
struct Maker<'a> {
    text: &'a str,
    dice: Dice,
}

impl Maker<'_> {
    fn object(&mut self, depth: usize) -> Map<String, Value> {
        (0..self.dice.below(5))
            .map(|_| (self.string(), self.value(depth + 1)))
            .collect()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.dice.below(if depth < 5 { 9 } else { 6 }) {
            0 => Value::Null,
            1 => self.dice.once_in(2).into(),
            2 => self.number(),
            3..=5 => self.string().into(),
            6 => (0..self.dice.below(4))
                .map(|_| self.value(depth + 1))
                .collect(),
            _ => Value::Object(self.object(depth)),
        }
    }

    fn number(&mut self) -> Value {
        let bits = self.dice.number();
        match self.dice.below(4) {
            0 => bits.into(),
            1 => i64::from_ne_bytes(bits.to_ne_bytes()).into(),
            2 => (bits % 2000).into(),
            _ => Number::from_f64(f64::from_bits(bits)).map_or(Value::Null, Value::Number),
        }
    }

    /// Cuts a piece out of the text, and sometimes puts a stray character in.
    fn string(&mut self) -> String {
        let characters: Vec<char> = self.text.chars().collect();
        let start = self.dice.below(characters.len() + 1);
        let length = self.dice.below((characters.len() - start + 1).min(40));
        let mut piece: String = characters[start..start + length].iter().collect();
        if self.dice.once_in(4)
            && let Some(stray) =
                char::from_u32(u32::try_from(self.dice.below(0x3000)).unwrap_or_default())
        {
            piece.push(stray);
        }
        piece
    }
}
