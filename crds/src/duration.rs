//! Durations as Go spells them, kept as the text that a person wrote.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The grammar that the API server enforces: every number carries a unit, and several parts may follow
/// each other. Both code points that look like `µ` are legal, because Go reads both.
pub const PATTERN: &str = r"^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$";

/// The longest text that is accepted.
pub const MAX_LENGTH: usize = 64;

/// What Go's own type can hold; a longer span would be unreadable for every Go client.
const MAX_NANOSECONDS: u128 = i64::MAX as u128;

/// A duration such as `750ms` or `1m30s`.
///
/// The text is kept, so that reading and writing an object changes nothing in it.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GoDuration {
    text: String,
    nanoseconds: u64,
}

/// A text that is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("duration {text:?} is not valid: {rule}")]
pub struct InvalidDuration {
    /// The text as it was given.
    pub text: String,
    /// The rule that it breaks.
    pub rule: &'static str,
}

impl GoDuration {
    /// Reads a duration.
    ///
    /// # Errors
    /// Returns the rule of the grammar that the text breaks.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidDuration> {
        let text = text.into();
        match nanoseconds(&text) {
            Ok(nanoseconds) => Ok(Self { text, nanoseconds }),
            Err(rule) => Err(InvalidDuration { text, rule }),
        }
    }

    /// Returns the duration as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whole milliseconds, rounded up: only a duration of zero becomes zero, because zero means
    /// something of its own in most fields.
    pub fn millis(&self) -> u64 {
        self.nanoseconds.div_ceil(1_000_000)
    }

    /// Says whether the duration is zero, however it is spelled.
    pub fn is_zero(&self) -> bool {
        self.nanoseconds == 0
    }
}

fn nanoseconds(text: &str) -> Result<u64, &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.chars().count() > MAX_LENGTH {
        return Err("it has more than 64 characters");
    }
    let mut total: u128 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = part(rest)?;
        total = total.saturating_add(part);
        rest = after;
    }
    if total > MAX_NANOSECONDS {
        return Err("it is longer than about 292 years");
    }
    u64::try_from(total).map_err(|_| "it is longer than about 292 years")
}

/// Reads one number with its unit and returns its nanoseconds and the text behind it.
fn part(text: &str) -> Result<(u128, &str), &'static str> {
    let (whole, rest) = digits(text)?;
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => digits(rest)?,
        None => ("", rest),
    };
    let (unit, rest) = unit(rest)?;
    let whole: u128 = whole.parse().map_err(|_| "a number is too large")?;
    let nanoseconds = whole
        .saturating_mul(unit)
        .saturating_add(fraction_of(fraction, unit));
    Ok((nanoseconds, rest))
}

fn digits(text: &str) -> Result<(&str, &str), &'static str> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    if end == 0 {
        return Err("a digit is expected: no sign, no space, no leading dot");
    }
    Ok(text.split_at(end))
}

/// Returns the fraction of a unit, cut below one nanosecond as Go does.
fn fraction_of(digits: &str, unit: u128) -> u128 {
    // Beyond 18 digits no unit has a nanosecond left.
    let digits = digits.bytes().take(18);
    let (value, scale) = digits.fold((0, 1), |(value, scale), digit| {
        (value * 10 + u128::from(digit - b'0'), scale * 10)
    });
    value * unit / scale
}

fn unit(text: &str) -> Result<(u128, &str), &'static str> {
    const UNITS: [(&str, u128); 8] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("μs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    UNITS
        .iter()
        .find_map(|(name, size)| text.strip_prefix(name).map(|rest| (*size, rest)))
        .ok_or("every number needs a unit: ns, us, µs, ms, s, m or h")
}

impl TryFrom<String> for GoDuration {
    type Error = InvalidDuration;
    fn try_from(text: String) -> Result<Self, InvalidDuration> {
        Self::new(text)
    }
}

impl From<GoDuration> for String {
    fn from(duration: GoDuration) -> Self {
        duration.text
    }
}

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

impl JsonSchema for GoDuration {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "GoDuration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": PATTERN, "maxLength": MAX_LENGTH })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> u64 {
        GoDuration::new(text).expect("the case is valid").millis()
    }

    #[test]
    fn every_unit_and_several_parts_are_read() {
        let cases = [
            ("0s", 0),
            ("750ms", 750),
            ("1.5m", 90_000),
            ("1m30s", 90_000),
            ("24h0m0s", 86_400_000),
            ("500µs", 1),
            ("500μs", 1),
            ("500us", 1),
            ("1000000ns", 1),
            ("1000001ns", 2),
            ("0.5ms", 1),
            ("1.000000000000000000000001s", 1_000),
            ("2h45m30.5s", 9_930_500),
        ];
        for (text, expected) in cases {
            assert_eq!(millis(text), expected, "{text}");
        }
    }

    #[test]
    fn a_number_without_a_unit_and_other_slips_are_refused() {
        for text in [
            "",
            "30",
            "0",
            ".5s",
            "5 seconds",
            "-1s",
            "+1s",
            "1.s",
            "1s ",
            " 1s",
            "1d",
            "1S",
            "1m30",
        ] {
            assert!(GoDuration::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_go_cannot_hold_is_refused() {
        assert!(GoDuration::new("2562047h47m16.854775807s").is_ok());
        assert!(GoDuration::new("2562047h47m16.854775808s").is_err());
        assert!(GoDuration::new("99999999999999999999999999999999999999999h").is_err());
    }

    #[test]
    fn the_text_survives_a_round_trip() {
        let json = "\"0.5ms\"";
        let duration: GoDuration = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&duration).unwrap(), json);
        assert!(!duration.is_zero());
        assert!(GoDuration::new("0h0s").unwrap().is_zero());
    }
}
