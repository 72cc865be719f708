//! Times as text.

use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::fmt::temporal::DateTimePrinter;

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
