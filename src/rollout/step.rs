//! What a plan consists of: steps, the status to write, events, and why.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::observed::DeploymentStatus;
use super::strategy::BadBound;
use super::why::Why;

/// What to do about a Deployment. No steps and no status mean that the work is done for now.
///
/// Carrying a plan out: do the steps in order; tell each event when the step that it belongs to has been
/// done; write the status last. A step that fails ends the round, which is then tried again from a fresh
/// look, except where [`Planned::status_even_if_refused`] says that the status should be written first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// Writes to ReplicaSets, and to the Deployment's spec when it is rolled back, in order.
    pub steps: Vec<Planned>,
    /// The write to the Deployment's status, if anything in it changes.
    pub status: Option<StatusWrite>,
    /// Events on the Deployment, in order.
    pub events: Vec<PlannedEvent>,
    /// When to look again although nothing may have changed by then.
    pub recheck: Option<Recheck>,
    /// Why the round counts as failed although its steps may all be done; it is then tried again.
    pub failure: Option<Failure>,
    /// What the plan as a whole was decided by.
    pub why: Vec<Why>,
    /// Faults of the built-in controller that this plan mends where the built-in one would not.
    pub diverges: Vec<Mended>,
}

impl Plan {
    /// Whether carrying it out changes nothing.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.status.is_none() && self.events.is_empty() && self.failure.is_none()
    }
}

/// One step and its reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// What to do.
    pub step: Step,
    /// Why.
    pub why: Why,
    /// Whether a refusal of this step must not keep the status from being told. So for the scaling down of
    /// old ReplicaSets in a rolling update, where the built-in controller drops the error and goes on; here
    /// the round is tried again as well.
    pub status_even_if_refused: bool,
}

/// One write. [`Step::request`] gives it as a call to the API server.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Make a ReplicaSet without a controller ours. Before the first one of a round, the shell reads the
    /// Deployment live and goes on only if it is still the same and not being deleted.
    Adopt {
        /// Which.
        set: Target,
    },
    /// Let go of a ReplicaSet that the selector no longer matches. That it is gone (404) or was let go
    /// already (422) is fine.
    Release {
        /// Which.
        set: Target,
    },
    /// Create the ReplicaSet for the current template. When its name is taken, or the server refuses it
    /// otherwise, [`super::plan_after`] says how the round ends.
    Create(NewSet),
    /// Change a ReplicaSet: its size, its annotations, `minReadySeconds`, in one write.
    Update {
        /// Which.
        set: Target,
        /// The size to give it, if that changes.
        scale: Option<Scale>,
        /// Annotations to set.
        annotations: BTreeMap<Box<str>, Box<str>>,
        /// `minReadySeconds` to give it, if that changes.
        min_ready_secs: Option<i32>,
    },
    /// Delete an old ReplicaSet that is empty. That it is gone already (404) is fine.
    Delete {
        /// Which.
        set: Target,
    },
    /// End a rollback that was asked for by annotation: the annotation goes, and if `to` is given, the
    /// Deployment takes on that ReplicaSet's template, which the shell reads live, and its annotations.
    Rollback {
        /// The ReplicaSet to go back to; none when there is nothing to go back to.
        to: Option<Target>,
        /// Annotations of the Deployment to set, and (none) to remove.
        annotations: BTreeMap<Box<str>, Option<Box<str>>>,
    },
}

/// A ReplicaSet as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub name: Box<str>,
    /// Its identity.
    pub uid: Box<str>,
    /// Its state. After another write of the same round to the same object, the one which that write gave
    /// back takes its place.
    pub resource_version: Box<str>,
}

/// A change of size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// The size seen.
    pub from: i32,
    /// The size to give.
    pub to: i32,
}

/// A ReplicaSet to be created.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSet {
    /// Its name: the Deployment's, and the hash.
    pub name: String,
    /// The value of its `pod-template-hash` label.
    pub hash: String,
    /// Its size.
    pub replicas: i32,
    /// Its annotations.
    pub annotations: BTreeMap<Box<str>, Box<str>>,
}

/// A write of a Deployment's status, and of the annotation that goes with it.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusWrite {
    /// The value to give the annotation `deployment.kubernetes.io/revision`, if that changes.
    pub revision: Option<Box<str>>,
    /// The whole status.
    pub status: DeploymentStatus,
}

/// An event and the step that it tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedEvent {
    /// The event.
    pub event: Event,
    /// The index of the step that must have been done for it to be told; none if it is told in any case.
    pub after: Option<usize>,
}

/// An event on a Deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// `Normal` or `Warning`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// In one word.
    pub reason: &'static str,
    /// In a sentence.
    pub message: String,
}

/// When to look at a Deployment again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recheck {
    /// As soon as the queue's rate limit lets it.
    Soon,
    /// As soon as the queue's rate limit lets it in the built-in controller, though nothing can come of it;
    /// better not.
    Idle,
    /// After this time.
    After(Duration),
}

/// Why a round fails by itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The strategy is none.
    #[error("unexpected deployment strategy type: {0}")]
    Strategy(Box<str>),
    /// The strategy is none, and a ReplicaSet was to be created.
    #[error("deployment type {0} isn't supported")]
    StrategyOfNewSet(Box<str>),
    /// `maxSurge` cannot be read.
    #[error(transparent)]
    MaxSurge(#[from] BadBound),
    /// The selector cannot be read.
    #[error(
        "deployment {namespace}/{name} has invalid label selector: {operator:?} is not a valid label selector operator"
    )]
    Selector {
        /// The Deployment's namespace.
        namespace: Box<str>,
        /// Its name.
        name: Box<str>,
        /// What is no operator.
        operator: Box<str>,
    },
    /// The name of the new ReplicaSet is taken, by another one; the next round tries another name.
    #[error("replicasets.apps \"{0}\" already exists")]
    NameTaken(String),
    /// The name of the new ReplicaSet is taken, by one that has not been seen yet.
    #[error("replicaset.apps \"{0}\" not found")]
    NotSeenYet(String),
    /// The API server refused the new ReplicaSet.
    #[error("{0}")]
    Refused(String),
}

/// A fault of the built-in controller that is mended here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mended {
    /// kubernetes#138840: a ReplicaSet has the right size, but its `desired-replicas` annotation says
    /// otherwise. The built-in controller sees a scaling for ever and so never rolls out.
    StaleDesiredReplicas,
}

impl fmt::Display for Mended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mended::StaleDesiredReplicas => "stale-desired-replicas",
        })
    }
}

impl Event {
    /// An event of type Normal.
    pub(super) fn normal(reason: &'static str, message: String) -> Self {
        Event { kind: "Normal", reason, message }
    }

    /// An event of type Warning.
    pub(super) fn warning(reason: &'static str, message: String) -> Self {
        Event { kind: "Warning", reason, message }
    }
}

impl Step {
    /// Whether it is about whose a ReplicaSet is.
    pub fn is_claim(&self) -> bool {
        matches!(self, Step::Adopt { .. } | Step::Release { .. })
    }
}
