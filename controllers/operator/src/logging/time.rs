//! The forms of the time in a log line.

use std::fmt;

use jiff::Timestamp;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use crate::flags::logging::TimeEncoding;

/// Writes the time of a line in the form that was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock(pub(super) TimeEncoding);

impl FormatTime for Clock {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        writer.write_str(&written(self.0, Timestamp::now()))
    }
}

fn written(encoding: TimeEncoding, time: Timestamp) -> String {
    match encoding {
        TimeEncoding::Epoch => {
            let micros = time.as_microsecond();
            format!(
                "{}.{:06}",
                micros.div_euclid(1_000_000),
                micros.rem_euclid(1_000_000)
            )
        }
        TimeEncoding::Millis => time.as_millisecond().to_string(),
        TimeEncoding::Nano => time.as_nanosecond().to_string(),
        TimeEncoding::Iso8601 => time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string(),
        TimeEncoding::Rfc3339 => time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        TimeEncoding::Rfc3339nano => time.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_moment_in_every_form() {
        let time = Timestamp::from_nanosecond(1_700_000_000_123_456_789).unwrap();
        let cases = [
            (TimeEncoding::Epoch, "1700000000.123456"),
            (TimeEncoding::Millis, "1700000000123"),
            (TimeEncoding::Nano, "1700000000123456789"),
            (TimeEncoding::Iso8601, "2023-11-14T22:13:20.123Z"),
            (TimeEncoding::Rfc3339, "2023-11-14T22:13:20Z"),
            (TimeEncoding::Rfc3339nano, "2023-11-14T22:13:20.123456789Z"),
        ];
        for (encoding, expected) in cases {
            assert_eq!(written(encoding, time), expected);
        }
    }
}
