//! Values that the API server only spells differently (D27).
//!
//! A spelling counts only where the schema of the kind says that it does: `1024Mi` in a ConfigMap is text. The
//! document's own spelling is kept.

use std::cmp::Ordering;

use serde_json::Value;

use super::defaults::Spelling;

/// Says whether the server makes `live` out of `held`.
pub(super) fn means(held: &Value, live: &Value, spelling: Spelling) -> bool {
    match spelling {
        Spelling::Exact => false,
        Spelling::Quantity => same_quantity(held, live),
        Spelling::IntOrString => text(held).is_some_and(|held| Some(held) == text(live)),
        Spelling::Bytes => match (held, live) {
            (Value::String(held), Value::String(live)) => is_broken_up(held, live),
            _ => false,
        },
    }
}

/// Returns a number or a text as text.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Says whether one text is the other with line breaks in it, which base64 ignores.
fn is_broken_up(held: &str, live: &str) -> bool {
    held.chars()
        .filter(|c| !matches!(c, '\r' | '\n'))
        .eq(live.chars())
}

/// Compares two quantities. The server keeps no more than three decimal places of a resource and rounds up.
fn same_quantity(held: &Value, live: &Value) -> bool {
    let quantity = |value: &Value| text(value).and_then(|text| Quantity::read(&text));
    match (quantity(held), quantity(live)) {
        (Some(held), Some(live)) => held == live || held.rounded_up_to_thousandths() == live,
        _ => false,
    }
}

/// The value of a quantity in billionths, the finest that the server keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quantity(i128);

/// Billionths in a thousandth.
const THOUSANDTH: i128 = 1_000_000;
/// Longer numbers are no quantities that the server would keep as they are.
const MAX_LENGTH: usize = 40;

impl Quantity {
    fn read(text: &str) -> Option<Self> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let digits_end = unsigned
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(digits_end);
        let scale = Scale::read(suffix)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        let digits: i128 = format!("0{whole}{fraction}").parse().ok()?;
        let places = u32::try_from(fraction.len()).ok()?;
        let value = scale.apply(digits, places)?;
        Some(Self(if negative { -value } else { value }))
    }

    fn rounded_up_to_thousandths(self) -> Self {
        let down = self.0.div_euclid(THOUSANDTH);
        let up = i128::from(self.0.rem_euclid(THOUSANDTH) > 0);
        Self((down + up) * THOUSANDTH)
    }
}

/// What a suffix multiplies with.
enum Scale {
    /// A power of 1024.
    Binary(u32),
    /// A power of ten.
    Decimal(i32),
}

impl Scale {
    fn read(suffix: &str) -> Option<Self> {
        let exponent = suffix.strip_prefix(['e', 'E']);
        Some(match suffix {
            "Ki" => Self::Binary(1),
            "Mi" => Self::Binary(2),
            "Gi" => Self::Binary(3),
            "Ti" => Self::Binary(4),
            "Pi" => Self::Binary(5),
            "Ei" => Self::Binary(6),
            "n" => Self::Decimal(-9),
            "u" => Self::Decimal(-6),
            "m" => Self::Decimal(-3),
            "" => Self::Decimal(0),
            "k" => Self::Decimal(3),
            "M" => Self::Decimal(6),
            "G" => Self::Decimal(9),
            "T" => Self::Decimal(12),
            "P" => Self::Decimal(15),
            "E" => Self::Decimal(18),
            _ => Self::Decimal(exponent?.parse().ok()?),
        })
    }

    /// Returns the digits with that many of them behind the point, in billionths; a rest below that is rounded
    /// up.
    fn apply(&self, digits: i128, places: u32) -> Option<i128> {
        let (digits, power) = match self {
            Self::Binary(power) => (digits.checked_mul(1024_i128.checked_pow(*power)?)?, 0),
            Self::Decimal(power) => (digits, *power),
        };
        let power = power.checked_add(9)?.checked_sub_unsigned(places)?;
        let factor = 10_i128.checked_pow(power.unsigned_abs());
        match power.cmp(&0) {
            Ordering::Less => {
                let Some(factor) = factor else {
                    return Some(i128::from(digits > 0));
                };
                Some(digits / factor + i128::from(digits % factor > 0))
            }
            Ordering::Equal | Ordering::Greater => digits.checked_mul(factor?),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn d27_quantities_are_compared_by_value() {
        assert_eq!(Quantity::read("1"), Some(Quantity(1_000 * THOUSANDTH)));
        let equal = [
            (json!("0.5"), json!("500m")),
            (json!(0.5), json!("500m")),
            (json!("1024Mi"), json!("1Gi")),
            (json!(1), json!("1")),
            (json!("1e3"), json!("1k")),
            (json!("1.5Gi"), json!("1536Mi")),
            (json!("+2"), json!("2")),
            (json!(".5"), json!("500m")),
            (json!("1."), json!("1")),
            (json!("0.0001"), json!("1m")),
            (json!("0.00000000001"), json!("1n")),
            (json!("-1k"), json!("-1000")),
            (json!("9223372036854775807"), json!("9223372036854775807")),
        ];
        for (held, live) in equal {
            assert!(means(&held, &live, Spelling::Quantity), "{held} {live}");
            assert!(!means(&held, &live, Spelling::Exact), "{held} {live}");
        }
        let different = [
            (json!("1"), json!("1m")),
            (json!("1G"), json!("1Gi")),
            (json!("x"), json!("x1")),
            (json!("1.2.3"), json!("1.2")),
            (json!("."), json!("0")),
            (json!("1e99999"), json!("1")),
            (json!(true), json!("1")),
        ];
        for (held, live) in different {
            assert!(!means(&held, &live, Spelling::Quantity), "{held} {live}");
        }
    }

    #[test]
    fn d27_an_integer_is_its_digits_and_base64_has_no_lines() {
        assert!(means(&json!(80), &json!("80"), Spelling::IntOrString));
        assert!(!means(&json!(80), &json!("http"), Spelling::IntOrString));
        assert!(means(
            &json!("YWJj\nZA==\n"),
            &json!("YWJjZA=="),
            Spelling::Bytes
        ));
        assert!(!means(
            &json!("YWJj ZA=="),
            &json!("YWJjZA=="),
            Spelling::Bytes
        ));
    }
}
