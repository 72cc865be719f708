//! The conditions of a Deployment: their words, and the rule by which one replaces another.

use std::borrow::Cow;

use k8s_openapi::jiff::Timestamp;
use serde_json::Map;

use super::observed::{Condition, DeploymentStatus};

pub(super) const AVAILABLE: &str = "Available";
pub(super) const PROGRESSING: &str = "Progressing";
pub(super) const REPLICA_FAILURE: &str = "ReplicaFailure";

pub(super) const TRUE: &str = "True";
pub(super) const FALSE: &str = "False";
pub(super) const UNKNOWN: &str = "Unknown";

pub(super) const MINIMUM_AVAILABLE: &str = "MinimumReplicasAvailable";
pub(super) const MINIMUM_UNAVAILABLE: &str = "MinimumReplicasUnavailable";
pub(super) const SET_CREATED: &str = "NewReplicaSetCreated";
pub(super) const SET_FOUND: &str = "FoundNewReplicaSet";
pub(super) const SET_UPDATED: &str = "ReplicaSetUpdated";
pub(super) const SET_AVAILABLE: &str = "NewReplicaSetAvailable";
pub(super) const SET_CREATE_ERROR: &str = "ReplicaSetCreateError";
pub(super) const TIMED_OUT: &str = "ProgressDeadlineExceeded";
pub(super) const PAUSED: &str = "DeploymentPaused";
pub(super) const RESUMED: &str = "DeploymentResumed";

impl Condition {
    /// A condition that came about now.
    pub(super) fn new(
        kind: &'static str,
        status: &'static str,
        reason: &'static str,
        message: impl Into<Cow<'static, str>>,
        now: Timestamp,
    ) -> Self {
        Condition {
            kind: Cow::Borrowed(kind),
            status: Cow::Borrowed(status),
            reason: Cow::Borrowed(reason),
            message: message.into(),
            updated: Some(now),
            changed: Some(now),
            other: Map::new(),
        }
    }
}

impl DeploymentStatus {
    /// The condition of a type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|c| c.kind == kind)
    }

    /// The reason of the condition of a type.
    pub(super) fn reason(&self, kind: &str) -> Option<&str> {
        self.condition(kind).map(|c| &*c.reason)
    }

    /// Sets a condition.
    ///
    /// One of its type with the same status and reason stays as it is, message and times included.
    /// Otherwise the new one goes to the end of the list; while the status stays the same, so does the time
    /// of its last change.
    pub(super) fn set(&mut self, mut condition: Condition) {
        if let Some(held) = self.condition(&condition.kind)
            && held.status == condition.status
        {
            if held.reason == condition.reason {
                return;
            }
            condition.changed = held.changed;
        }
        self.replace(condition);
    }

    /// Puts a condition in place of those of its type, whatever they say.
    pub(super) fn replace(&mut self, condition: Condition) {
        self.remove(&condition.kind);
        self.conditions.push(condition);
    }

    /// Removes the conditions of a type.
    pub(super) fn remove(&mut self, kind: &str) {
        self.conditions.retain(|c| c.kind != kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn the_same_status_and_reason_leave_the_condition_alone() {
        let mut status = DeploymentStatus::default();
        status.set(Condition::new(PROGRESSING, TRUE, SET_CREATED, "a", at(1)));
        status.set(Condition::new(PROGRESSING, TRUE, SET_CREATED, "b", at(2)));
        assert_eq!(status.conditions, [Condition::new(PROGRESSING, TRUE, SET_CREATED, "a", at(1))]);
    }

    #[test]
    fn another_reason_moves_it_to_the_end_and_keeps_the_time_of_change() {
        let mut status = DeploymentStatus::default();
        status.set(Condition::new(PROGRESSING, TRUE, SET_CREATED, "", at(1)));
        status.set(Condition::new(AVAILABLE, FALSE, MINIMUM_UNAVAILABLE, "", at(1)));
        status.set(Condition::new(PROGRESSING, TRUE, SET_UPDATED, "", at(2)));
        let last = status.conditions.last().unwrap();
        assert_eq!((&*last.kind, last.changed, last.updated), (PROGRESSING, Some(at(1)), Some(at(2))));
        status.set(Condition::new(PROGRESSING, FALSE, TIMED_OUT, "", at(3)));
        assert_eq!(status.condition(PROGRESSING).unwrap().changed, Some(at(3)));
        assert_eq!(status.conditions.len(), 2);
    }
}
