//! Whole numbers in the notation that a person chose: `0644` stays octal when the mode changes.

use serde_json::Value;

use super::event::Style;
use super::scalar::{Meaning, resolve, same};
use super::tree::{Kind, Node};

/// Writes a number as its predecessor was written. None where that was a decimal, or is nothing to follow.
pub(crate) fn follow(node: &Node, wanted: &Value) -> Option<String> {
    let Kind::Scalar {
        style: Style::Plain,
        text,
        value: Some(Value::Number(_)),
    } = &node.kind
    else {
        return None;
    };
    let written = like(text, wanted.as_u64()?)?;
    // Who reads the old text as this number reads the new one as the wanted number.
    match resolve(&written) {
        Meaning::Value(read) if same(&read, wanted) && !node.tagged => Some(written),
        _ => None,
    }
}

fn like(before: &str, number: u64) -> Option<String> {
    let (prefix, digits) = match before.as_bytes() {
        [b'0', b'x' | b'X' | b'o' | b'O', ..] => before.split_at(2),
        [b'0', _, ..] => before.split_at(1),
        _ => return None,
    };
    let width = digits.len();
    let is_hex = prefix.ends_with(['x', 'X']);
    let radix = if is_hex { 16 } else { 8 };
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let digits = match is_hex {
        true if digits.contains(|digit: char| digit.is_ascii_uppercase()) => {
            format!("{number:0width$X}")
        }
        true => format!("{number:0width$x}"),
        false => format!("{number:0width$o}"),
    };
    Some(format!("{prefix}{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b048_a_number_follows_the_notation_before_it() {
        for (before, number, expected) in [
            ("0644", 0o600, "0600"),
            ("0644", 0o7, "0007"),
            ("00", 0o12, "012"),
            ("0o400", 0o440, "0o440"),
            ("0x1f", 0xab, "0xab"),
            ("0X1F", 0xab, "0XAB"),
        ] {
            assert_eq!(like(before, number).unwrap(), expected);
        }
        for before in ["0", "420", "0b11", "08", "0_7", "-0644", "0.5", "1e3"] {
            assert_eq!(like(before, 1), None, "{before}");
        }
    }
}
