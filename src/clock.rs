//! The wall clock. The only file that reads it: everything else takes the time as a value, so that
//! tests step it instead of sleeping.

use k8s_openapi::jiff::Timestamp;

/// What time it is.
#[expect(clippy::disallowed_methods, reason = "this is the one place that the ban sends readers to")]
pub fn now() -> Timestamp {
    Timestamp::now()
}
