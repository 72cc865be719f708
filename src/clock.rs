//! The wall clock. The only file that reads it: everything else takes the time as a value, so that
//! tests step it instead of sleeping.

use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::fmt::temporal::DateTimePrinter;

/// What time it is.
#[expect(clippy::disallowed_methods, reason = "this is the one place that the ban sends readers to")]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// A time in whole seconds, as objects of the API hold most times: `2006-01-02T15:04:05Z`. What is left of a
/// second is cut off.
pub fn rfc3339(at: Timestamp) -> String {
    DateTimePrinter::new().precision(Some(0)).timestamp_to_string(&at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_whole_seconds() {
        for (at, text) in [
            ("2026-12-01T06:35:09Z", "2026-12-01T06:35:09Z"),
            ("2026-12-01T06:35:09.999999999Z", "2026-12-01T06:35:09Z"),
            ("2026-12-01T06:35:09.5+02:00", "2026-12-01T04:35:09Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(at.parse().unwrap()), text);
        }
    }
}
