//! How long to wait before a Deployment is tried again after a failure.
//!
//! Like the built-in controller's: 5 ms, doubled with every failure in a row. Unlike there, a Deployment is
//! never given up, the wait ends at a bound, and after what says nothing about the Deployment (an API server
//! that cannot be reached or has too much to do, a write that came second) it is within a second or two.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::key::Key;

/// The first wait.
const FIRST: Duration = Duration::from_millis(5);

/// The longest wait after a refusal. The built-in controller's last wait is 82 s, then it gives up.
const LONGEST: Duration = Duration::from_secs(60);

/// The longest wait after a trouble that passes by itself.
const PASSING: Duration = Duration::from_secs(1);

/// What a failure was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// What was asked for was refused, and likely will be again.
    Refused,
    /// The API server cannot serve just now, and may have said when to come again; or somebody else wrote
    /// first, and the caches will show it.
    Passing(Option<Duration>),
}

/// Counts failures in a row.
#[derive(Debug, Default)]
pub struct Backoff {
    failures: Mutex<HashMap<Key, u32>>,
}

impl Backoff {
    /// Notes a failure; says how long to wait.
    pub fn failed(&self, key: &Key, trouble: Trouble) -> Duration {
        let mut failures = self.failures();
        let count = failures.entry(key.clone()).or_insert(0);
        *count = count.saturating_add(1);
        let wait = FIRST.saturating_mul(1 << (*count - 1).min(20));
        match trouble {
            Trouble::Refused => wait.min(LONGEST),
            Trouble::Passing(Some(asked)) => wait.min(PASSING).max(asked.min(LONGEST)),
            Trouble::Passing(None) => wait.min(PASSING),
        }
    }

    /// Notes a success.
    pub fn succeeded(&self, key: &Key) {
        self.failures().remove(key);
    }

    fn failures(&self) -> MutexGuard<'_, HashMap<Key, u32>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound_and_a_success_ends_them() {
        let (backoff, key) = (Backoff::default(), Key::new("a", "b"));
        let waits: Vec<_> = (0..40).map(|_| backoff.failed(&key, Trouble::Refused).as_millis()).collect();
        assert_eq!(waits[..4], [5, 10, 20, 40]);
        assert_eq!(waits[39], 60_000);
        backoff.succeeded(&key);
        assert_eq!(backoff.failed(&key, Trouble::Refused), FIRST);
    }

    #[test]
    fn what_passes_is_waited_for_in_short_steps_or_as_the_server_asks() {
        let (backoff, key) = (Backoff::default(), Key::new("a", "b"));
        for _ in 0..30 {
            backoff.failed(&key, Trouble::Passing(None));
        }
        assert_eq!(backoff.failed(&key, Trouble::Passing(None)), PASSING);
        let asked = Some(Duration::from_secs(3));
        assert_eq!(backoff.failed(&key, Trouble::Passing(asked)), Duration::from_secs(3));
    }
}
