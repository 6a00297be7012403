//! Timestamps as text: the one that a file carries, and those that a YAML reader sees in plain scalars.

use std::fmt::Write as _;

use model::Millis;

const DAYS_IN_MONTH: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Writes a moment as RFC 3339 in whole seconds, UTC.
pub(crate) fn format(wall: Millis) -> String {
    let seconds = wall / 1000;
    let (year, month, day) = date_of(seconds / 86_400);
    let of_day = seconds % 86_400;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
}

/// Turns days since 1970 into year, month and day. Eras of 400 years start on the first of March, so that the
/// leap day is the last of its year.
fn date_of(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

/// Reads a plain scalar as a timestamp the way the real tool's YAML reader does, and returns its one spelling:
/// RFC 3339 with as much of the second as it has.
pub(crate) fn canonical(text: &str) -> Option<String> {
    let parsed = Parsed::read(text)?;
    let mut out = format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
        parsed.date[0],
        parsed.date[1],
        parsed.date[2],
        parsed.time[0],
        parsed.time[1],
        parsed.time[2]
    );
    let fraction = parsed.fraction.trim_end_matches('0');
    if !fraction.is_empty() {
        write!(out, ".{fraction}").ok()?;
    }
    out.push_str(&parsed.zone);
    Some(out)
}

/// Returns the spelling that the real tool authenticates: [`canonical`] without a part of a second.
pub(crate) fn whole_seconds(text: &str) -> Option<String> {
    let mut parsed = canonical(text)?;
    if let Some(dot) = parsed.find('.') {
        let zone = parsed[dot..].find(['Z', '+', '-'])? + dot;
        parsed.replace_range(dot..zone, "");
    }
    Some(parsed)
}

struct Parsed<'a> {
    date: [u32; 3],
    time: [u32; 3],
    fraction: &'a str,
    zone: String,
}

impl<'a> Parsed<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        if digits != 4 {
            return None;
        }
        let (date, rest) = match text.find(['T', 't', ' ']) {
            Some(at) => (&text[..at], Some((text.as_bytes()[at], &text[at + 1..]))),
            None => (text, None),
        };
        let date = numbers(date, '-')?;
        if !is_date(date) {
            return None;
        }
        let Some((separator, rest)) = rest else {
            return Some(Self {
                date,
                time: [0; 3],
                fraction: "",
                zone: "Z".to_owned(),
            });
        };
        let (clock, zone) = match (separator, rest.find(['Z', '+', '-'])) {
            (b' ', None) => (rest, "Z".to_owned()),
            (b' ', Some(_)) | (_, None) => return None,
            (_, Some(at)) => (&rest[..at], read_zone(&rest[at..])?),
        };
        let (clock, fraction) = match clock.split_once('.') {
            Some((_, "")) => return None,
            Some((clock, fraction)) => (clock, fraction),
            None => (clock, ""),
        };
        let time = numbers(clock, ':')?;
        let is_time = time[0] < 24 && time[1] < 60 && time[2] < 60;
        let is_fraction = fraction.bytes().all(|byte| byte.is_ascii_digit());
        (is_time && is_fraction).then(|| Self {
            date,
            time,
            fraction: &fraction[..fraction.len().min(9)],
            zone,
        })
    }
}

/// Reads three numbers; all but a year have one or two digits.
fn numbers(text: &str, separator: char) -> Option<[u32; 3]> {
    let mut parts = text.split(separator);
    let mut out = [0; 3];
    for (index, number) in out.iter_mut().enumerate() {
        let part = parts.next()?;
        let longest = if index == 0 && separator == '-' { 4 } else { 2 };
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || part.len() > longest {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(out)
}

fn is_date([year, month, day]: [u32; 3]) -> bool {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        2 if leap => 29,
        1..=12 => DAYS_IN_MONTH[month as usize - 1],
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn read_zone(text: &str) -> Option<String> {
    if text == "Z" || text == "+00:00" || text == "-00:00" {
        return Some("Z".to_owned());
    }
    let (hours, minutes) = text[1..].split_once(':')?;
    let number = |part: &str, below: u32| {
        let is_number = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number && part.parse::<u32>().is_ok_and(|number| number < below)
    };
    (number(hours, 25) && number(minutes, 60)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_in_utc() {
        for (wall, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399_999, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_709_251_199_000, "2024-02-29T23:59:59Z"),
            (1_796_000_399_000, "2026-11-30T00:59:59Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(format(wall), text);
        }
    }

    #[test]
    fn timestamps_are_read_as_the_real_tool_reads_them() {
        for (text, expected) in [
            ("2024-01-02", Some("2024-01-02T00:00:00Z")),
            ("2024-1-2", Some("2024-01-02T00:00:00Z")),
            ("2024-02-30", None),
            ("2024-02-29", Some("2024-02-29T00:00:00Z")),
            ("2023-02-29", None),
            ("2024-01-02T03:04:05Z", Some("2024-01-02T03:04:05Z")),
            ("2024-01-02t03:04:05.5000Z", Some("2024-01-02T03:04:05.5Z")),
            (
                "2024-01-02T03:04:05+02:00",
                Some("2024-01-02T03:04:05+02:00"),
            ),
            ("2024-01-02 03:04:05.25", Some("2024-01-02T03:04:05.25Z")),
            ("2024-01-02T03:04:05", None),
            ("2024-01-02 03:04:05Z", None),
            ("20240102", None),
            ("2024-01-02T25:04:05Z", None),
            ("2024-01", None),
        ] {
            assert_eq!(canonical(text).as_deref(), expected, "{text}");
        }
        assert_eq!(
            whole_seconds("2024-01-02T03:04:05.75+02:00").as_deref(),
            Some("2024-01-02T03:04:05+02:00")
        );
    }
}
