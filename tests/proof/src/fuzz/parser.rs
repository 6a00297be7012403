//! Bytes as a text: reading it never panics, agrees with itself, and agrees with another reader where both know.

use manifests::yaml::{self, EditError};
use serde::Deserialize;
use serde_json::Value;

use super::ensure;

/// Reads the bytes.
///
/// # Errors
/// Returns what is wrong.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let Ok(text) = str::from_utf8(bytes) else {
        return Ok(());
    };
    let fields: [&[&str]; 2] = [&["metadata", "name"], &["a"]];
    let (read, parsed) = (
        yaml::read_with(text, &fields),
        yaml::parse_with(text, &fields),
    );
    ensure(read == parsed, || {
        "the reader of simple texts and the parser differ".to_owned()
    })?;
    let Ok(readings) = yaml::read(text) else {
        ensure(
            yaml::values(text).is_err() && yaml::slices(text).is_err(),
            || "only some functions take the text".to_owned(),
        )?;
        return ensure(yaml::edit(text, &[]).is_err(), || {
            "a text that does not parse is edited".to_owned()
        });
    };
    let values: Vec<&Value> = readings.iter().map(|reading| &reading.value).collect();
    let again = yaml::values(text).map_err(|error| error.to_string())?;
    ensure(values.iter().copied().eq(&again), || {
        format!("{values:?} is also {again:?}")
    })?;
    let slices = yaml::slices(text).map_err(|error| error.to_string())?;
    ensure(slices.len() == values.len(), || {
        format!("{slices:?} are not {} documents", values.len())
    })?;
    let lines = u32::try_from(text.matches('\n').count() + 1).unwrap_or(u32::MAX);
    for (index, reading) in readings.iter().enumerate() {
        ensure((1..=lines).contains(&reading.line), || {
            format!("document {index} has no line {}", reading.line)
        })?;
        let same = yaml::edit(text, &[(index, &reading.value)]);
        ensure(same.as_deref() == Ok(text), || {
            format!("nothing to do in document {index} gives {same:?}")
        })?;
    }
    let past = yaml::edit(text, &[(values.len(), &Value::Null)]);
    ensure(past == Err(EditError::NoDocument(values.len())), || {
        format!("a missing document gives {past:?}")
    })?;
    let certain = readings.iter().all(|reading| reading.problem.is_none());
    // To the other reader, a text without a document has an empty one.
    if certain
        && !readings.is_empty()
        && let Some(theirs) = another_reading(text)
    {
        let agree = theirs.len() == values.len()
            && values
                .iter()
                .zip(&theirs)
                .all(|(ours, theirs)| may_be(ours, theirs));
        ensure(agree, || {
            format!("we read {values:?} and another reader {theirs:?}")
        })?;
    }
    Ok(())
}

/// Reads the text by the rules of YAML 1.2; `None` where it has what those rules and ours differ on, beside the
/// types of plain scalars.
fn another_reading(text: &str) -> Option<Vec<serde_yaml::Value>> {
    let breaks = |c: char| matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
    if text.contains(breaks) || text.contains("<<") || text.contains('!') || text.contains('%') {
        return None;
    }
    serde_yaml::Deserializer::from_str(text)
        .map(|document| serde_yaml::Value::deserialize(document).ok())
        .collect()
}

/// Says whether a value by the rules of YAML 1.1 may be one by those of 1.2: text that looks like a number, a
/// truth value or nothing may be either.
fn may_be(ours: &Value, theirs: &serde_yaml::Value) -> bool {
    use serde_yaml::Value as Theirs;
    match (ours, theirs) {
        (Value::String(ours), Theirs::String(theirs)) => ours == theirs,
        (Value::Array(ours), Theirs::Sequence(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| may_be(a, b))
        }
        (Value::Object(ours), Theirs::Mapping(theirs)) => {
            // Keys are compared where they are text to both; `on` is `true` to us, and `1` is `"1"`.
            ours.len() == theirs.len()
                && theirs.iter().all(|(key, value)| {
                    let ours = key.as_str().and_then(|key| ours.get(key));
                    ours.is_none_or(|ours| may_be(ours, value))
                })
        }
        (Value::Object(_) | Value::Array(_), _) => false,
        (_, Theirs::Sequence(_) | Theirs::Mapping(_)) => false,
        (Value::String(text), _) => has_two_types(text),
        (_, Theirs::String(text)) => has_two_types(text),
        (Value::Bool(ours), theirs) => theirs.as_bool() == Some(*ours),
        (Value::Null, theirs) => theirs.is_null(),
        (Value::Number(ours), theirs) => theirs.as_f64() == ours.as_f64(),
    }
}

/// Says whether the readers may take a plain text for different types.
fn has_two_types(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || "+-.yYnNtTfFoO~".contains(c))
}
