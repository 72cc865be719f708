//! When a status is written: at once where it says something that must not be lost or waited for, else a
//! little later, so that what changes in quick succession becomes one write.
//!
//! In a rollout the pods of two ReplicaSets come and go, and every step of theirs changes a counter of the
//! Deployment's status. Waiting up to [`DELAY`] makes one write of several. What is put off is only
//! counters and steps of progress; that a rollout is complete, and everything that leaves a trace in the final
//! state (conditions that come, go or turn, revisions, collisions, generations), is written at once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::key::Key;
use crate::rollout::{Condition, DeploymentStatus, StatusWrite};

/// How long counters may wait to be written: with the milliseconds that the timer and a thread that sleeps add,
/// no status is more than 250 ms behind for it.
pub const DELAY: Duration = Duration::from_millis(235);

/// Since when statuses wait to be written.
#[derive(Debug, Default)]
pub struct Pace {
    waiting: Mutex<HashMap<Key, Instant>>,
}

impl Pace {
    /// Whether to put off a write that is wanted at `now`, and if so for how long.
    pub fn put_off(
        &self,
        key: &Key,
        held: &DeploymentStatus,
        write: &StatusWrite,
        now: Instant,
    ) -> Option<Duration> {
        let mut waiting = self.waiting();
        if is_urgent(held, write) {
            waiting.remove(key);
            return None;
        }
        let due = *waiting.entry(key.clone()).or_insert(now) + DELAY;
        if due <= now {
            waiting.remove(key);
            return None;
        }
        Some(due - now)
    }

    /// Notes that a status is as it should be.
    pub fn settled(&self, key: &Key) {
        self.waiting().remove(key);
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<Key, Instant>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a write says more than counters and progress.
fn is_urgent(held: &DeploymentStatus, write: &StatusWrite) -> bool {
    let status = &write.status;
    write.revision.is_some()
        || status.observed_generation != held.observed_generation
        || status.collision_count != held.collision_count
        || status.conditions.len() != held.conditions.len()
        || status.conditions.iter().any(|condition| {
            let held = held.conditions.iter().find(|held| held.kind == condition.kind);
            !held.is_some_and(|held| may_wait(held, condition))
        })
}

/// Whether a condition's change may be skipped or come later: it is the same, or a rollout gets on. That one is
/// complete is what people and scripts wait for, and it leaves little to be written afterwards.
fn may_wait(from: &Condition, to: &Condition) -> bool {
    if from.status != to.status {
        return false;
    }
    let on_the_way = ["NewReplicaSetCreated", "FoundNewReplicaSet", "ReplicaSetUpdated"];
    from.reason == to.reason || on_the_way.contains(&&*from.reason) && to.reason == "ReplicaSetUpdated"
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn condition(kind: &'static str, status: &'static str, reason: &'static str) -> Condition {
        Condition {
            kind: Cow::Borrowed(kind),
            status: Cow::Borrowed(status),
            reason: Cow::Borrowed(reason),
            message: Cow::Borrowed(""),
            updated: None,
            changed: None,
            other: serde_json::Map::new(),
        }
    }

    fn status(ready: i32, reason: &'static str, available: &'static str) -> DeploymentStatus {
        DeploymentStatus {
            ready,
            conditions: vec![
                condition("Progressing", "True", reason),
                condition("Available", available, "Whatever"),
            ],
            ..DeploymentStatus::default()
        }
    }

    fn write(status: DeploymentStatus) -> StatusWrite {
        StatusWrite { revision: None, status }
    }

    #[test]
    fn counters_wait_once_and_then_are_written() {
        let (pace, key, start) = (Pace::default(), Key::new("a", "b"), Instant::now());
        let held = status(0, "NewReplicaSetCreated", "True");
        let at = |ms| start + Duration::from_millis(ms);
        let next = |ready| write(status(ready, "ReplicaSetUpdated", "True"));
        assert_eq!(pace.put_off(&key, &held, &next(1), at(0)), Some(DELAY));
        assert_eq!(pace.put_off(&key, &held, &next(2), at(150)), Some(Duration::from_millis(85)));
        assert_eq!(pace.put_off(&key, &held, &next(3), at(235)), None);
        assert_eq!(pace.put_off(&key, &held, &next(3), at(250)), Some(DELAY));
        pace.settled(&key);
        assert_eq!(pace.put_off(&key, &held, &next(3), at(405)), Some(DELAY));
    }

    #[test]
    fn what_leaves_a_trace_is_written_at_once() {
        let held = status(0, "NewReplicaSetAvailable", "True");
        assert!(is_urgent(&held, &write(status(1, "ReplicaSetUpdated", "True"))));
        assert!(is_urgent(&held, &write(status(0, "NewReplicaSetAvailable", "False"))));
        assert!(!is_urgent(&held, &write(status(1, "NewReplicaSetAvailable", "True"))));
        let moving = status(2, "ReplicaSetUpdated", "True");
        assert!(!is_urgent(&moving, &write(status(3, "ReplicaSetUpdated", "True"))));
        assert!(is_urgent(&moving, &write(held.clone())), "complete");
        let with_revision = StatusWrite { revision: Some("2".into()), status: held.clone() };
        assert!(is_urgent(&held, &with_revision));
        let seen = DeploymentStatus { observed_generation: 1, ..held.clone() };
        assert!(is_urgent(&held, &write(seen)));
    }
}
