//! What a plain scalar means to Kubernetes.
//!
//! Kubernetes reads YAML by the 1.1 rules of one library, with that library's habits: `no` is false, `0644` is
//! 420, `1_000` is a number, `12:30` is text. No other reader agrees in full, so the rules are written down here.

use serde_json::{Number, Value};

/// The meaning of a plain scalar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Meaning {
    /// The text itself.
    Text,
    /// A value of another kind.
    Value(Value),
    /// Infinity or not-a-number, which JSON cannot hold.
    NotJson,
}

/// Resolves a plain scalar without a tag.
pub(crate) fn resolve(text: &str) -> Meaning {
    let Some(first) = text.bytes().next() else {
        return Meaning::Value(Value::Null);
    };
    // Most text starts with a byte that no other meaning starts with.
    if !matches!(
        first,
        b'y' | b'Y'
            | b'n'
            | b'N'
            | b't'
            | b'T'
            | b'f'
            | b'F'
            | b'o'
            | b'O'
            | b'~'
            | b'.'
            | b'+'
            | b'-'
            | b'0'..=b'9'
    ) {
        return Meaning::Text;
    }
    match text {
        "~" | "null" | "Null" | "NULL" => return Meaning::Value(Value::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => {
            return Meaning::Value(Value::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => {
            return Meaning::Value(Value::Bool(false));
        }
        _ => {}
    }
    if is_not_a_number(text) {
        return Meaning::NotJson;
    }
    let number = match first {
        b'.' => leading_dot(text),
        b'0'..=b'9' | b'+' | b'-' => number(text),
        _ => None,
    };
    number.map_or(Meaning::Text, |number| {
        Meaning::Value(Value::Number(number))
    })
}

/// Says whether a reader might take the plain text for something else than a string: Kubernetes itself, or a
/// reader of YAML 1.2 or of sexagesimal numbers and dates.
pub(crate) fn is_ambiguous(text: &str) -> bool {
    text == "<<"
        || text == "="
        || resolve(text) != Meaning::Text
        || is_float(text)
        || is_base_60(text)
        || looks_like_date(text)
}

/// Writes a float as Go's shortest format does: with an exponent below 1e-4 and from 1e+06 on.
pub(crate) fn format_float(float: f64) -> String {
    shortest(format!("{float}"), format!("{float:e}"))
}

/// Writes a float as Kubernetes writes one that is a key: with no more digits than half the precision has.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the precision that a key loses is lost on purpose"
)]
pub(crate) fn format_float_key(float: f64) -> String {
    let float = float as f32;
    if float.is_infinite() {
        let sign = if float < 0.0 { "-" } else { "" };
        return format!("{sign}.inf");
    }
    shortest(format!("{float}"), format!("{float:e}"))
}

/// Chooses between the two ways to write a float that have the fewest digits.
fn shortest(decimal: String, scientific: String) -> String {
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return decimal;
    };
    match exponent.parse::<i32>() {
        Ok(-4..6) | Err(_) => decimal,
        Ok(power) => {
            let sign = if power < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", power.abs())
        }
    }
}

/// Says whether two values are the same. Numbers are compared by value: 1000 equals 1e3.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn same_number(a: &Number, b: &Number) -> bool {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a == b;
    }
    if let (Some(a), Some(b)) = (a.as_u64(), b.as_u64()) {
        return a == b;
    }
    a.as_f64() == b.as_f64()
}

fn is_not_a_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// A float that starts with a dot, where an underscore must stand between two digits.
pub(crate) fn leading_dot(text: &str) -> Option<Number> {
    let bytes = text.as_bytes();
    let digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    let separates = bytes
        .iter()
        .enumerate()
        .all(|(index, byte)| *byte != b'_' || (index > 0 && digit(index - 1) && digit(index + 1)));
    if separates {
        float(&text.replace('_', ""))
    } else {
        None
    }
}

/// Reads a number that starts with a digit or a sign.
pub(crate) fn number(text: &str) -> Option<Number> {
    let plain = text.replace('_', "");
    integer(&plain)
        .or_else(|| float(&plain))
        .or_else(|| signed_binary(&plain))
}

fn integer(plain: &str) -> Option<Number> {
    let (negative, unsigned) = match plain.as_bytes().first()? {
        b'-' => (true, &plain[1..]),
        b'+' => (false, &plain[1..]),
        _ => (false, plain),
    };
    let (radix, digits) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &unsigned[2..]),
        [b'0', b'o' | b'O', ..] => (8, &unsigned[2..]),
        [b'0', b'b' | b'B', ..] => (2, &unsigned[2..]),
        [b'0', _, ..] => (8, &unsigned[1..]),
        _ => (10, unsigned),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if !negative {
        // A sign rules the upper half of the unsigned range out.
        let signed = plain.starts_with('+');
        return (!signed || i64::try_from(magnitude).is_ok()).then(|| Number::from(magnitude));
    }
    let value = -i128::from(magnitude);
    i64::try_from(value).ok().map(Number::from)
}

fn float(plain: &str) -> Option<Number> {
    if !is_float(plain) {
        return None;
    }
    let value: f64 = plain.parse().ok()?;
    Number::from_f64(value)
}

/// Matches `[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?`.
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && digits(fraction),
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|exponent| {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !unsigned.is_empty() && digits(unsigned)
    });
    mantissa_ok && exponent_ok
}

/// Reads `0b-1`, which the integer rule does not take.
fn signed_binary(plain: &str) -> Option<Number> {
    let digits = plain.strip_prefix("0b")?;
    i64::from_str_radix(digits, 2).ok().map(Number::from)
}

/// Matches `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`, a number to readers of YAML 1.1.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let Some(head) = parts.next() else {
        return false;
    };
    let head_ok = head.starts_with(|c: char| c.is_ascii_digit())
        && head.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let tail: Vec<&str> = parts.collect();
    let Some((last, middle)) = tail.split_last() else {
        return false;
    };
    let sixty = |part: &str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [tens, digit] => (b'0'..=b'5').contains(tens) && digit.is_ascii_digit(),
        _ => false,
    };
    let last = last.split_once('.').map_or(*last, |(whole, _)| whole);
    head_ok && middle.iter().all(|part| sixty(part)) && sixty(last)
}

/// Says whether the text starts like a date, which some readers turn into a time.
fn looks_like_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 8
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[5].is_ascii_digit()
        && bytes[6..8].contains(&b'-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_scalars_mean_what_kubernetes_reads() {
        let cases = [
            ("", json!(null)),
            ("~", json!(null)),
            ("nULL", json!("nULL")),
            ("no", json!(false)),
            ("Off", json!(false)),
            ("y", json!(true)),
            ("yEs", json!("yEs")),
            ("0644", json!(420)),
            ("08", json!(8.0)),
            ("019", json!(19.0)),
            ("0o17", json!(15)),
            ("-0o17", json!(-15)),
            ("0x1F", json!(31)),
            ("-0x1F", json!(-31)),
            ("0B11", json!(3)),
            ("0b-1", json!(-1)),
            ("1_000", json!(1000)),
            ("1__0", json!(10)),
            ("1_", json!(1)),
            ("0x_1F", json!(31)),
            ("+_5", json!(5)),
            ("1_0.5", json!(10.5)),
            ("12:30:45", json!("12:30:45")),
            ("1e3", json!(1000.0)),
            ("1.e3", json!(1000.0)),
            ("5.", json!(5.0)),
            ("12e4567", json!("12e4567")),
            ("1e400", json!("1e400")),
            ("-0", json!(0)),
            ("00", json!(0)),
            (".5", json!(0.5)),
            ("+.5", json!(0.5)),
            (".7_25", json!(0.725)),
            ("._5", json!("._5")),
            (".", json!(".")),
            ("-", json!("-")),
            ("9223372036854775808", json!(9_223_372_036_854_775_808_u64)),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("9007199254740993", json!(9_007_199_254_740_993_u64)),
            ("2024-01-01", json!("2024-01-01")),
            ("=", json!("=")),
            ("<<", json!("<<")),
            ("hello", json!("hello")),
            ("1.2.3", json!("1.2.3")),
        ];
        for (text, expected) in cases {
            let value = match resolve(text) {
                Meaning::Text => json!(text),
                Meaning::Value(value) => value,
                Meaning::NotJson => panic!("{text} has no value"),
            };
            assert!(
                same(&value, &expected),
                "{text}: {value} instead of {expected}"
            );
        }
        for text in [".inf", "-.INF", "+.Inf", ".NaN"] {
            assert_eq!(resolve(text), Meaning::NotJson, "{text}");
        }
    }

    #[test]
    fn text_that_some_reader_takes_for_another_type_is_ambiguous() {
        for text in [
            "12:30:45",
            "190:20:30.15",
            "2024-01-01",
            "2024-1-1",
            "1e400",
            "on",
            "<<",
            "",
        ] {
            assert!(is_ambiguous(text), "{text}");
        }
        for text in [
            "v1",
            "a:b",
            "1.2.3",
            "nginx:1.25",
            "12:99",
            "20240101x",
            "team-a",
        ] {
            assert!(!is_ambiguous(text), "{text}");
        }
    }

    #[test]
    fn floats_are_written_shortest() {
        let cases = [
            (0.5, "0.5"),
            (1e6, "1e+06"),
            (1e-7, "1e-07"),
            (1e21, "1e+21"),
            (1000.0, "1000"),
            (0.0001, "0.0001"),
        ];
        for (float, text) in cases {
            assert_eq!(format_float(float), text);
        }
    }
}
