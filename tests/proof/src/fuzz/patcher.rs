//! Bytes as a text with edits: each edit says exactly what was wanted and leaves the rest alone, or is refused.

use manifests::yaml::{self, EditError, Reading};
use serde_json::Value;

use super::ensure;
use crate::change::{self, Change};
use crate::dice::Dice;

/// Edits the bytes; which edits is decided by the bytes as well.
///
/// # Errors
/// Returns what is wrong.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let Ok(text) = str::from_utf8(bytes) else {
        return Ok(());
    };
    let Ok(readings) = yaml::read(text) else {
        return Ok(());
    };
    let mut dice = Dice::of(bytes);
    for index in 0..readings.len().min(3) {
        for _ in 0..2 {
            let kind = dice.one(&Change::ALL);
            if let Some(wanted) = kind.apply(&readings[index].value, &mut dice) {
                edit(text, &readings, index, &wanted)?;
            }
        }
    }
    if !readings.is_empty() {
        let removed: Vec<usize> = (0..readings.len()).filter(|_| dice.once_in(2)).collect();
        remove(text, &removed)?;
    }
    append(text, &readings, &mut dice)
}

fn edit(text: &str, readings: &[Reading], index: usize, wanted: &Value) -> Result<(), String> {
    let after = match yaml::edit(text, &[(index, wanted)]) {
        Ok(after) => after,
        Err(EditError::NotEditable { .. } | EditError::NotExpressible) => return Ok(()),
        Err(error) => return Err(format!("a text that parses is refused: {error}")),
    };
    let context =
        |what: &str| format!("{what}\nwanted {wanted} in document {index}\nbecame {after:?}");
    let values = yaml::values(&after).map_err(|error| context(&error.to_string()))?;
    ensure(values.len() == readings.len(), || {
        context("the number of documents changed")
    })?;
    let (before, now) = (slices(text)?, slices(&after)?);
    for (other, value) in values.iter().enumerate() {
        if other == index {
            ensure(yaml::same(value, wanted), || {
                context("the document says something else")
            })?;
        } else {
            ensure(before[other] == now[other], || {
                context("another document changed")
            })?;
            ensure(*value == readings[other].value, || {
                context("another document means something else")
            })?;
        }
    }
    ensure(
        text.starts_with('\u{feff}') == after.starts_with('\u{feff}'),
        || context("the mark changed"),
    )?;
    let again = yaml::edit(&after, &[(index, wanted)]);
    ensure(again.as_ref() == Ok(&after), || {
        context("a second edit changes it again")
    })
}

fn remove(text: &str, removed: &[usize]) -> Result<(), String> {
    let Ok(after) = yaml::remove(text, removed) else {
        return Ok(());
    };
    let mut expected = slices(text)?;
    let mut index = 0;
    expected.retain(|_| {
        index += 1;
        !removed.contains(&(index - 1))
    });
    let now = slices(&after)?;
    ensure(now == expected, || {
        format!("without {removed:?} it became {after:?}")
    })
}

fn append(text: &str, readings: &[Reading], dice: &mut Dice) -> Result<(), String> {
    let object = change::object(dice);
    let Ok(after) = yaml::append(text, &yaml::canonical(&object)) else {
        return Ok(());
    };
    ensure(after.starts_with(text), || {
        format!("what stood before changed: {after:?}")
    })?;
    let mut expected: Vec<Value> = readings
        .iter()
        .map(|reading| reading.value.clone())
        .collect();
    expected.push(Value::Object(object));
    let values = yaml::values(&after).map_err(|error| format!("{error}: {after:?}"))?;
    let same = values.len() == expected.len()
        && values.iter().zip(&expected).all(|(a, b)| yaml::same(a, b));
    ensure(same, || {
        format!("with another document it became {after:?}")
    })
}

fn slices(text: &str) -> Result<Vec<String>, String> {
    yaml::slices(text).map_err(|error| format!("{error}: {text:?}"))
}
