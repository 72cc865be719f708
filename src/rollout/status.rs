//! The Deployment's status: counters, availability, progress, failures, and when to look again.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::Map;

use super::conditions::{
    AVAILABLE, FALSE, MINIMUM_AVAILABLE, MINIMUM_UNAVAILABLE, PAUSED, PROGRESSING, REPLICA_FAILURE, RESUMED,
    SET_AVAILABLE, SET_UPDATED, TIMED_OUT, TRUE, UNKNOWN,
};
use super::observed::{Condition, DeploymentStatus};
use super::round::{Round, Set};
use super::step::{Plan, Recheck};

const SECOND: i128 = 1_000_000_000;

impl Round<'_> {
    /// Notes in the Progressing condition that the Deployment was paused or resumed, so that the time it
    /// was paused does not count for the deadline. A rollout that has timed out stays so.
    pub(super) fn note_pause(&mut self) {
        if self.d.progress_deadline_secs().is_none() {
            return;
        }
        let reason = self.held.reason(PROGRESSING);
        let (reason, message) = match (self.d.paused, reason) {
            (_, Some(TIMED_OUT)) | (true, Some(PAUSED)) => return,
            (true, _) => (PAUSED, "Deployment is paused"),
            (false, Some(PAUSED)) => (RESUMED, "Deployment is resumed"),
            (false, _) => return,
        };
        let condition = Condition::new(PROGRESSING, UNKNOWN, reason, message, self.stamp());
        self.held.set(condition);
    }

    /// Ends the round with the counters and availability, without a word on progress.
    pub(super) fn finish_status(self) -> Plan {
        let status = self.counted();
        self.finish(Some(status), None)
    }

    /// Ends the round with the counters, availability, progress and failures.
    ///
    /// Source: kubernetes v1.37.2 `pkg/controller/deployment/progress.go`, `syncRolloutStatus`. Parity:
    /// exact.
    pub(super) fn finish_rollout(mut self) -> Plan {
        let mut status = self.counted();
        match self.d.progress_deadline_secs() {
            None => status.remove(PROGRESSING),
            Some(deadline_secs) => self.judge_progress(&mut status, deadline_secs),
        }
        match self.failure() {
            Some(failure) => status.set(failure),
            None => status.remove(REPLICA_FAILURE),
        }
        if status == self.held {
            self.recheck = self.progress_check();
        }
        self.finish(Some(status), None)
    }

    /// The status that the sets seen amount to. Sizes changed by this round do not count yet.
    fn counted(&self) -> DeploymentStatus {
        let available = self.sum(|set| set.status.available);
        let mut status = DeploymentStatus {
            observed_generation: self.d.meta.generation,
            replicas: self.sum(|set| set.status.replicas),
            updated: self.new.map_or(0, |i| self.sets[i].status.replicas),
            ready: self.sum(|set| set.status.ready),
            available,
            unavailable: self.sum(|set| set.was).wrapping_sub(available).max(0),
            terminating: self.terminating(),
            collision_count: self.held.collision_count,
            conditions: self.held.conditions.clone(),
        };
        let (condition, reason, message) = if available >= self.floor() {
            (TRUE, MINIMUM_AVAILABLE, "Deployment has minimum availability.")
        } else {
            (FALSE, MINIMUM_UNAVAILABLE, "Deployment does not have minimum availability.")
        };
        status.set(Condition::new(AVAILABLE, condition, reason, message, self.stamp()));
        status
    }

    /// Terminating pods; none when a set that its controller has looked at does not say.
    fn terminating(&self) -> Option<i32> {
        let count = |set: &Set<'_>| match set.status.terminating {
            None if set.status.observed_generation == 0 => Some(0),
            said => said,
        };
        self.old_and_new().try_fold(0, |sum: i32, i| Some(sum.wrapping_add(count(&self.sets[i])?)))
    }

    /// Whether every pod wanted is up to date and available, and none besides is there.
    pub(super) fn is_complete(&self, status: &DeploymentStatus) -> bool {
        let wanted = self.d.replicas;
        status.updated == wanted
            && status.replicas == wanted
            && status.available == wanted
            && status.observed_generation >= self.d.meta.generation
    }

    /// Sets the Progressing condition. A rollout that was complete and has no old pods is not judged again,
    /// whatever becomes of its pods (case 42).
    fn judge_progress(&self, status: &mut DeploymentStatus, deadline_secs: i32) {
        let held = self.held.condition(PROGRESSING);
        if status.replicas == status.updated && held.is_some_and(|c| c.reason == SET_AVAILABLE) {
            return;
        }
        let now = self.stamp();
        if self.is_complete(status) {
            let message = self.about_progress("has successfully progressed.");
            status.set(Condition::new(PROGRESSING, TRUE, SET_AVAILABLE, message, now));
        } else if self.progressed(status) {
            let message = self.about_progress("is progressing.");
            let mut condition = Condition::new(PROGRESSING, TRUE, SET_UPDATED, message, now);
            // Unlike other conditions, this one is renewed although its reason stays: its time is what the
            // deadline counts from.
            if let Some(held) = held.filter(|c| c.status == TRUE) {
                condition.changed = held.changed;
            }
            status.replace(condition);
        } else if self.timed_out(status, deadline_secs) {
            let message = self.about_progress("has timed out progressing.");
            status.set(Condition::new(PROGRESSING, FALSE, TIMED_OUT, message, now));
        }
    }

    fn about_progress(&self, verb: &str) -> String {
        match self.new {
            Some(i) => format!("ReplicaSet \"{}\" {verb}", self.sets[i].name),
            None => format!("Deployment \"{}\" {verb}", self.d.meta.name),
        }
    }

    /// Whether more pods are new, ready or available, or fewer are old, than the status held says.
    fn progressed(&self, status: &DeploymentStatus) -> bool {
        let held = &self.held;
        let old = |status: &DeploymentStatus| status.replicas.wrapping_sub(status.updated);
        status.updated > held.updated
            || old(status) < old(held)
            || status.ready > held.ready
            || status.available > held.available
    }

    fn timed_out(&self, status: &DeploymentStatus, deadline_secs: i32) -> bool {
        status.condition(PROGRESSING).is_some_and(|condition| match &*condition.reason {
            SET_AVAILABLE => false,
            TIMED_OUT => true,
            _ => self.left(condition.updated, deadline_secs) < 0,
        })
    }

    /// Nanoseconds until the deadline. A condition without a time is as old as can be.
    fn left(&self, updated: Option<Timestamp>, deadline_secs: i32) -> i128 {
        let updated = updated.unwrap_or(Timestamp::MIN).as_nanosecond();
        updated + i128::from(deadline_secs) * SECOND - self.now.as_nanosecond()
    }

    /// When to look whether the deadline has passed. One second late, so that it surely has.
    fn progress_check(&self) -> Option<Recheck> {
        let deadline_secs = self.d.progress_deadline_secs()?;
        let condition = self.held.condition(PROGRESSING)?;
        if self.is_complete(&self.held) || condition.reason == TIMED_OUT {
            return None;
        }
        let left = self.left(condition.updated, deadline_secs);
        if left >= SECOND {
            let nanos = u64::try_from(left + SECOND).unwrap_or(u64::MAX);
            return Some(Recheck::After(Duration::from_nanos(nanos)));
        }
        Some(if condition.reason == SET_AVAILABLE { Recheck::Idle } else { Recheck::Soon })
    }

    /// The failure of a set to create or delete pods: of the new one, else of the oldest that has one.
    fn failure(&self) -> Option<Condition> {
        let mut failures =
            self.new.into_iter().chain(self.old_and_new()).filter_map(|i| self.sets[i].failure);
        failures.next().map(|failure| Condition {
            updated: failure.changed,
            other: Map::new(),
            ..failure.clone()
        })
    }
}
