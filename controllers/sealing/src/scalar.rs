//! Values without parts, typed as the real tool types them.
//!
//! The tool reads YAML 1.2 with the habits of its own reader, which is not the reader of Kubernetes: `yes` is
//! text, `0o17` is a number. Its message authentication code covers the value, not the spelling, so the same
//! rules must be followed here to the letter.

use serde_json::{Number, Value};
use zeroize::Zeroizing;

use crate::timestamp;

/// A value that is neither a mapping, nor a list, nor null.
#[derive(Clone, PartialEq)]
pub(crate) enum Scalar {
    Text(Zeroizing<String>),
    Integer(i64),
    Float(f64),
    Bool(bool),
    /// A timestamp in its one spelling.
    Time(String),
}

/// What a plain scalar without a tag means.
pub(crate) enum Meaning {
    Null,
    Scalar(Scalar),
    /// A number that the real tool cannot walk: not finite, or beyond 64 bits with a sign.
    Unusable,
}

impl Scalar {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(Zeroizing::new(text.into()))
    }

    /// Returns the scalar of a JSON value. None for null, a mapping, a list, or a number beyond the tool.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::text(text.as_str())),
            Value::Bool(flag) => Some(Self::Bool(*flag)),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Some(Self::Integer(integer)),
                (None, Some(float)) if number.is_f64() => Some(Self::Float(float)),
                _ => None,
            },
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.to_string()),
            Self::Integer(integer) => Value::from(*integer),
            Self::Float(float) => Number::from_f64(*float).map_or(Value::Null, Value::Number),
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Time(text) => Value::String(text.clone()),
        }
    }

    /// Returns the bytes that are encrypted and that the message authentication code covers.
    pub(crate) fn bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(match self {
            Self::Text(text) => text.as_bytes().to_vec(),
            Self::Integer(integer) => integer.to_string().into_bytes(),
            Self::Float(float) => float.to_string().into_bytes(),
            Self::Bool(true) => b"True".to_vec(),
            Self::Bool(false) => b"False".to_vec(),
            Self::Time(text) => text.clone().into_bytes(),
        })
    }

    /// Returns the word for the type beside a ciphertext.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "str",
            Self::Integer(_) => "int",
            Self::Float(_) => "float",
            Self::Bool(_) => "bool",
            Self::Time(_) => "time",
        }
    }

    /// Reads decrypted bytes by the type beside the ciphertext.
    pub(crate) fn read(kind: &str, bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        match kind {
            "str" | "bytes" => Some(Self::text(text)),
            "int" => text.parse().ok().map(Self::Integer),
            "float" => text.parse().ok().map(Self::Float),
            "bool" => match text {
                "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(Self::Bool(true)),
                "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(Self::Bool(false)),
                _ => None,
            },
            "time" => timestamp::canonical(text).map(Self::Time),
            _ => None,
        }
    }

    /// Says whether two scalars are the same JSON value, numbers compared by value.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Time(b)) | (Self::Time(b), Self::Text(a)) => a.as_str() == b,
            (Self::Integer(_), Self::Float(_)) | (Self::Float(_), Self::Integer(_)) => {
                self.bytes() == other.bytes()
            }
            _ => self == other,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }
}

/// Resolves a plain scalar without a tag.
pub(crate) fn resolve(text: &str) -> Meaning {
    let string = || Meaning::Scalar(Scalar::text(text));
    let Some(first) = text.bytes().next() else {
        return Meaning::Null;
    };
    match text {
        "~" | "null" | "Null" | "NULL" => return Meaning::Null,
        "true" | "True" | "TRUE" => return Meaning::Scalar(Scalar::Bool(true)),
        "false" | "False" | "FALSE" => return Meaning::Scalar(Scalar::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => return Meaning::Unusable,
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Meaning::Unusable;
    }
    match first {
        b'.' => float(text).map_or_else(string, Meaning::Scalar),
        b'0'..=b'9' | b'+' | b'-' => number(text).unwrap_or_else(string),
        _ => string(),
    }
}

fn number(text: &str) -> Option<Meaning> {
    if let Some(time) = timestamp::canonical(text) {
        return Some(Meaning::Scalar(Scalar::Time(time)));
    }
    let plain = text.replace('_', "");
    if let Some(integer) = integer(&plain) {
        return Some(match i64::try_from(integer) {
            Ok(integer) => Meaning::Scalar(Scalar::Integer(integer)),
            Err(_) => Meaning::Unusable,
        });
    }
    float(&plain).map(Meaning::Scalar)
}

/// Reads an integer with the prefixes of Go; what does not fit 64 bits is none.
fn integer(plain: &str) -> Option<i128> {
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
    let magnitude = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let value = if negative { -magnitude } else { magnitude };
    let signed = negative || plain.starts_with('+');
    (!signed || i64::try_from(value).is_ok()).then_some(value)
}

/// Reads `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`; what does not fit is text.
fn float(plain: &str) -> Option<Scalar> {
    let shape = plain
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    let float: f64 = if shape {
        plain.parse().ok()?
    } else {
        return None;
    };
    float.is_finite().then_some(Scalar::Float(float))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spell(text: &str) -> String {
        match resolve(text) {
            Meaning::Null => "null".to_owned(),
            Meaning::Unusable => "unusable".to_owned(),
            Meaning::Scalar(scalar) => {
                let bytes = scalar.bytes();
                format!("{} {}", scalar.kind(), std::str::from_utf8(&bytes).unwrap())
            }
        }
    }

    #[test]
    fn d22_plain_scalars_mean_what_the_real_tool_takes_them_for() {
        for (text, expected) in [
            ("", "null"),
            ("~", "null"),
            ("yes", "str yes"),
            ("no", "str no"),
            ("True", "bool True"),
            ("false", "bool False"),
            ("tRUE", "str tRUE"),
            ("0644", "int 420"),
            ("0o17", "int 15"),
            ("0x1F", "int 31"),
            ("-0x1F", "int -31"),
            ("0b101", "int 5"),
            ("1_000", "int 1000"),
            ("+5", "int 5"),
            ("08", "float 8"),
            ("1.0", "float 1"),
            ("1e3", "float 1000"),
            ("1e21", "float 1000000000000000000000"),
            (".5", "float 0.5"),
            ("1.", "float 1"),
            ("1e999", "str 1e999"),
            ("0x", "str 0x"),
            ("12:30", "str 12:30"),
            ("9223372036854775807", "int 9223372036854775807"),
            ("9223372036854775808", "unusable"),
            ("99999999999999999999", "float 100000000000000000000"),
            (".inf", "unusable"),
            ("-.Inf", "unusable"),
            (".nan", "unusable"),
            ("2024-01-02", "time 2024-01-02T00:00:00Z"),
            ("-", "str -"),
            ("1.2.3", "str 1.2.3"),
            ("inf", "str inf"),
        ] {
            assert_eq!(spell(text), expected, "{text:?}");
        }
    }

    #[test]
    fn json_goes_in_and_comes_out() {
        for value in [
            Value::from("x"),
            Value::from(""),
            Value::from(-3),
            Value::from(1.5),
            Value::from(true),
        ] {
            assert_eq!(Scalar::from_json(&value).unwrap().to_json(), value);
        }
        assert!(Scalar::from_json(&Value::from(u64::MAX)).is_none());
    }
}
