//! Amounts of bytes as Kubernetes spells quantities.

use super::Disallowed;

/// An amount of bytes above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(u64);

impl ByteSize {
    /// Returns the number of bytes.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

/// Reads a Kubernetes quantity such as `8Mi`, `1.5G`, `500k` or `2e6` and rounds it up to whole bytes.
///
/// # Errors
/// Returns what is legal when the text is no quantity, is not above zero, or is beyond 64 bits.
pub fn byte_size(text: &str) -> Result<ByteSize, Disallowed> {
    match bytes(text) {
        Some(bytes) if bytes > 0 => Ok(ByteSize(bytes)),
        Some(_) | None => Err(Disallowed::but(
            "a Kubernetes quantity above zero, such as 8Mi or 500k",
        )),
    }
}

/// The scale of a suffix: a multiplier, and how many decimal digits it shifts to the right.
struct Scale {
    multiplier: u128,
    down: u32,
}

fn bytes(text: &str) -> Option<u64> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let end = unsigned
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || fraction.contains('.') {
        return None;
    }
    let scale = scale(suffix)?;
    let down = scale.down + u32::try_from(fraction.len()).ok()?;
    let total = digits.parse::<u128>().ok()?.checked_mul(scale.multiplier)?;
    let bytes = match 10_u128.checked_pow(down) {
        Some(divisor) => total.div_ceil(divisor),
        // So many decimal places leave less than one byte of anything that fits 128 bits.
        None => u128::from(total > 0),
    };
    u64::try_from(bytes).ok()
}

fn scale(suffix: &str) -> Option<Scale> {
    const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    const DECIMAL: [&str; 6] = ["k", "M", "G", "T", "P", "E"];
    const SMALL: [&str; 3] = ["m", "u", "n"];
    let power = |list: &[&str]| list.iter().position(|entry| *entry == suffix);
    if suffix.is_empty() {
        return Some(Scale {
            multiplier: 1,
            down: 0,
        });
    }
    if let Some(power) = power(&BINARY) {
        return Some(Scale {
            multiplier: 1 << (10 * (power + 1)),
            down: 0,
        });
    }
    if let Some(power) = power(&DECIMAL) {
        let exponent = 3 * (u32::try_from(power).ok()? + 1);
        return Some(Scale {
            multiplier: 10_u128.pow(exponent),
            down: 0,
        });
    }
    if let Some(power) = power(&SMALL) {
        return Some(Scale {
            multiplier: 1,
            down: 3 * (u32::try_from(power).ok()? + 1),
        });
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    let places = exponent.unsigned_abs();
    if exponent < 0 {
        return Some(Scale {
            multiplier: 1,
            down: places,
        });
    }
    Some(Scale {
        multiplier: 10_u128.checked_pow(places)?,
        down: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_as_kubernetes_reads_them() {
        let cases = [
            ("1", 1),
            ("8Mi", 8 << 20),
            ("1Ki", 1024),
            ("1.5Gi", 3 << 29),
            ("500k", 500_000),
            ("1M", 1_000_000),
            ("2e6", 2_000_000),
            ("2E3", 2_000),
            ("+1Ki", 1024),
            (".5Ki", 512),
            ("1500m", 2),
            ("1e-3", 1),
            ("7E", 7_000_000_000_000_000_000),
            ("0.00000000000000000000000000000000000000000000001", 1),
        ];
        for (text, expected) in cases {
            assert_eq!(byte_size(text).map(ByteSize::bytes), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_of_bytes_is_refused() {
        let cases = [
            "", "0", "0Mi", "-1Mi", "Mi", "8 Mi", "8MB", "8mi", "1.2.3", ".", "16Ei", "1e99", "1e",
            "abc", "8KI", "K",
        ];
        for text in cases {
            assert!(byte_size(text).is_err(), "{text}");
        }
    }
}
