//! Durations such as `10m` or `1h30m`.

use std::time::Duration;

use crds::duration::GoDuration;

use super::Disallowed;

/// Reads a duration of zero or more. A bare `0` is legal, because it switches several features off.
///
/// # Errors
/// Returns what is legal when the text is no duration.
pub fn duration(text: &str) -> Result<Duration, Disallowed> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    match GoDuration::new(text) {
        Ok(duration) => Ok(Duration::from_millis(duration.millis())),
        Err(_) => Err(Disallowed::but(
            "0, or a duration such as 750ms, 10m or 1h30m",
        )),
    }
}

/// Reads a duration that is longer than zero.
///
/// # Errors
/// Returns what is legal when the text is no duration, or zero.
pub fn positive_duration(text: &str) -> Result<Duration, Disallowed> {
    match duration(text) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        Ok(_) | Err(_) => Err(Disallowed::but(
            "a duration above zero, such as 750ms, 10m or 1h30m",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_spelled_as_go_spells_them() {
        for (text, millis) in [("0", 0), ("0s", 0), ("750ms", 750), ("1h30m", 5_400_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "10", "-1s", "5 m", "1d", "ten"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn zero_is_refused_where_it_would_mean_nothing() {
        assert_eq!(positive_duration("15s"), Ok(Duration::from_secs(15)));
        for text in ["0", "0s", "0h0m", "x"] {
            assert!(positive_duration(text).is_err(), "{text}");
        }
    }
}
