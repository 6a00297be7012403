//! What a plain scalar of a resource means to kustomize.
//!
//! Kustomize reads resources with another reader than Kubernetes does: `yes` is text, a date is a moment, `0777` is
//! 511 to both. A kustomization file is read by Kubernetes' rules; only what it builds goes by these.

use serde_json::{Number, Value};

use crate::yaml::{Meaning, leading_dot, number};

/// Resolves a plain scalar without a tag.
pub(crate) fn resolve(text: &str) -> Meaning {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Meaning::Value(Value::Null),
        "true" | "True" | "TRUE" => return Meaning::Value(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Meaning::Value(Value::Bool(false)),
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF"
        | "-.inf" | "-.Inf" | "-.INF" => return Meaning::NotJson,
        _ => {}
    }
    let number = match text.as_bytes().first() {
        Some(b'.') => leading_dot(text),
        Some(b'0'..=b'9' | b'+' | b'-') => match moment(text) {
            Some(Moment::Written(moment)) => return Meaning::Value(Value::String(moment)),
            Some(Moment::Unwritable) => return Meaning::NotJson,
            None => number(text).or_else(|| signed_octal(text)),
        },
        _ => None,
    };
    number.map_or(Meaning::Text, |number| {
        Meaning::Value(Value::Number(number))
    })
}

/// Reads an octal number whose sign stands behind the prefix, which only kustomize takes.
fn signed_octal(text: &str) -> Option<Number> {
    let plain = text.replace('_', "");
    let digits = plain.strip_prefix("0o")?;
    i64::from_str_radix(digits, 8).ok().map(Number::from)
}

/// What a date stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A moment, as kustomize writes it.
    Written(String),
    /// A moment in a zone that kustomize cannot write.
    Unwritable,
}

/// Reads a date with or without a time.
pub(crate) fn moment(text: &str) -> Option<Moment> {
    let (year, rest) = (text.get(..4)?, text.get(4..)?.strip_prefix('-')?);
    if !year.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (month, rest) = short_number(rest)?;
    let (day, rest) = short_number(rest.strip_prefix('-')?)?;
    if day == 0 || day > days(year.parse().ok()?, month)? {
        return None;
    }
    let date = format!("{year}-{month:02}-{day:02}");
    if rest.is_empty() {
        return Some(Moment::Written(format!("{date}T00:00:00Z")));
    }
    let zoned = !rest.starts_with(' ');
    let rest = match zoned {
        true => rest.strip_prefix(['T', 't'])?,
        false => rest.trim_start_matches(' '),
    };
    let (hour, rest) = short_number(rest)?;
    let (minute, rest) = short_number(rest.strip_prefix(':')?)?;
    let (second, rest) = short_number(rest.strip_prefix(':')?)?;
    let (fraction, rest) = fraction(rest)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let zone = match (zoned, rest) {
        (false, "") => Zone::Utc,
        (false, _) => return None,
        (true, rest) => zone(rest)?,
    };
    let time = format!("{date}T{hour:02}:{minute:02}:{second:02}{fraction}");
    Some(match zone {
        Zone::Utc => Moment::Written(format!("{time}Z")),
        Zone::Offset { hours: 24.., .. } => Moment::Unwritable,
        Zone::Offset {
            sign,
            hours,
            minutes,
        } => Moment::Written(format!("{time}{sign}{hours:02}:{minutes:02}")),
    })
}

/// How far a clock is from the first meridian's.
enum Zone {
    Utc,
    Offset { sign: char, hours: u8, minutes: u8 },
}

/// Takes one or two digits off the front.
fn short_number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    Some((number.parse().ok()?, rest))
}

/// Takes the fraction of a second off the front: nine digits at most count, and no zeros at the end.
fn fraction(text: &str) -> Option<(String, &str)> {
    let Some(behind) = text.strip_prefix(['.', ',']) else {
        return Some((String::new(), text));
    };
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return None;
    }
    let kept = behind[..digits.min(9)].trim_end_matches('0');
    let fraction = if kept.is_empty() {
        String::new()
    } else {
        format!(".{kept}")
    };
    Some((fraction, &behind[digits..]))
}

/// Reads what stands behind a time: `Z`, or hours and minutes with a sign.
fn zone(text: &str) -> Option<Zone> {
    if text == "Z" {
        return Some(Zone::Utc);
    }
    let [sign @ (b'+' | b'-'), a, b, b':', c, d] = text.as_bytes() else {
        return None;
    };
    let two = |tens: &u8, ones: &u8| {
        (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| (tens - b'0') * 10 + (ones - b'0'))
    };
    let (hours, minutes) = (two(a, b)?, two(c, d)?);
    if hours > 24 || minutes > 60 {
        return None;
    }
    let minutes = u16::from(hours) * 60 + u16::from(minutes);
    let part = |value: u16| u8::try_from(value).unwrap_or(u8::MAX);
    Some(match minutes {
        0 => Zone::Utc,
        _ => Zone::Offset {
            sign: char::from(*sign),
            hours: part(minutes / 60),
            minutes: part(minutes % 60),
        },
    })
}

fn days(year: u32, month: u32) -> Option<u32> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        4 | 6 | 9 | 11 => Some(30),
        2 if leap => Some(29),
        2 => Some(28),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_scalars_mean_what_kustomize_reads() {
        let cases = [
            ("yes", json!("yes")),
            ("on", json!("on")),
            ("n", json!("n")),
            ("True", json!(true)),
            ("tRue", json!("tRue")),
            ("~", json!(null)),
            ("", json!(null)),
            ("0777", json!(511)),
            ("08", json!(8.0)),
            ("1_000", json!(1000)),
            ("0b11", json!(3)),
            ("-0b11", json!(-3)),
            ("0o17", json!(15)),
            ("0o+7", json!(7)),
            ("-0o-1", json!("-0o-1")),
            ("1e3", json!(1000.0)),
            ("1e400", json!("1e400")),
            (".7_25", json!(0.725)),
            ("._5", json!("._5")),
            ("12:30", json!("12:30")),
            ("2024-01-01", json!("2024-01-01T00:00:00Z")),
            ("2024-1-2", json!("2024-01-02T00:00:00Z")),
            ("2024-02-30", json!("2024-02-30")),
            ("2024-01-01  1:2:3.250", json!("2024-01-01T01:02:03.25Z")),
            ("2024-01-01 10:00:00Z", json!("2024-01-01 10:00:00Z")),
            ("2024-01-01T10:00:00", json!("2024-01-01T10:00:00")),
            (
                "2024-01-01t1:2:3,5+02:00",
                json!("2024-01-01T01:02:03.5+02:00"),
            ),
            ("2024-01-01T10:00:00-00:00", json!("2024-01-01T10:00:00Z")),
            (
                "2024-01-01T10:00:00+10:60",
                json!("2024-01-01T10:00:00+11:00"),
            ),
            ("2024-01-01T10:00:00.Z", json!("2024-01-01T10:00:00.Z")),
        ];
        for (text, expected) in cases {
            let value = match resolve(text) {
                Meaning::Text => json!(text),
                Meaning::Value(value) => value,
                Meaning::NotJson => panic!("{text} has no value"),
            };
            assert!(
                crate::yaml::same(&value, &expected),
                "{text}: {value} instead of {expected}"
            );
        }
        for text in [".inf", "-.INF", ".NaN", "2024-01-01T10:00:00+24:00"] {
            assert_eq!(resolve(text), Meaning::NotJson, "{text}");
        }
    }
}
