//! Times: wall-clock milliseconds inside, RFC 3339 outside.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use model::Millis;

/// Converts wall time to the form that statuses hold, in whole seconds as Kubernetes writes them.
pub(crate) fn time(millis: Millis) -> Time {
    let seconds = i64::try_from(millis / 1000).unwrap_or(i64::MAX);
    Time(Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX))
}

/// Converts a time of a status to wall time.
pub(crate) fn millis(time: &Time) -> Millis {
    u64::try_from(time.0.as_millisecond()).unwrap_or(0)
}

/// Prints wall time for a message.
pub(crate) fn text(millis: Millis) -> String {
    time(millis).0.to_string()
}

/// Prints the day of wall time (UTC) in eight digits, which sort like the days.
pub(crate) fn compact_date(millis: Millis) -> String {
    time(millis).0.strftime("%Y%m%d").to_string()
}

/// Parses what a condition holds; a text that is no time is taken for the beginning of all.
pub(crate) fn parse(text: &str) -> Time {
    Time(text.parse().unwrap_or(Timestamp::UNIX_EPOCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_out_in_whole_seconds_and_come_back() {
        assert_eq!(text(1_761_038_042_999), "2025-10-21T09:14:02Z");
        assert_eq!(compact_date(1_767_225_600_000), "20260101");
        assert_eq!(millis(&time(1_761_038_042_999)), 1_761_038_042_000);
        assert_eq!(parse("2025-10-21T09:14:02Z"), time(1_761_038_042_000));
    }
}
