//! The working state of one round of planning: what has been decided so far, and how it becomes a plan.
//!
//! The built-in controller writes as it goes and carries the objects that come back; here the same changes
//! are noted on working copies and turned into at most one write an object at the end.

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;

use super::annotations::{DESIRED_REPLICAS, MAX_REPLICAS};
use super::observed::{Condition, Deployment, DeploymentStatus, Pod, ReplicaSet, SetStatus};
use super::step::{
    Event, Failure, Mended, NewSet, Plan, Planned, PlannedEvent, Recheck, Scale, StatusWrite, Step, Target,
};
use super::strategy::Fenceposts;
use super::why::Why;

/// What became of an attempt to create the new ReplicaSet, when it did not go well.
#[derive(Debug, Clone, Copy)]
pub enum CreateError<'a> {
    /// The name is taken by this ReplicaSet, or by one that has not been seen yet.
    NameTaken(Option<&'a ReplicaSet>),
    /// The API server refused it, in these words.
    Refused(&'a str),
}

/// A ReplicaSet as this round leaves it.
#[derive(Debug)]
pub(super) struct Set<'a> {
    /// The object seen; none when this round creates it.
    pub seen: Option<&'a ReplicaSet>,
    pub name: Cow<'a, str>,
    /// Pods wanted, as seen (or created): what the status is computed from.
    pub was: i32,
    /// Pods wanted, as changed by this round.
    pub replicas: i32,
    pub status: SetStatus,
    pub failure: Option<&'a Condition>,
    /// Annotations that differ from those seen. They are sent with the next write, which need not come.
    notes: BTreeMap<Box<str>, Box<str>>,
    /// `minReadySeconds` to give it.
    min_ready_secs: Option<i32>,
    /// Why it must be written, if it must, and whether the status is to be told even if that is refused.
    write: Option<(Why, bool)>,
}

impl<'a> Set<'a> {
    pub(super) fn of(seen: &'a ReplicaSet) -> Self {
        Set {
            seen: Some(seen),
            name: Cow::Borrowed(&seen.meta.name),
            was: seen.replicas,
            replicas: seen.replicas,
            status: seen.status,
            failure: seen.failure.as_deref(),
            notes: BTreeMap::new(),
            min_ready_secs: None,
            write: None,
        }
    }

    pub(super) fn created(new: &NewSet) -> Self {
        Set {
            seen: None,
            name: Cow::Owned(new.name.clone()),
            was: new.replicas,
            replicas: new.replicas,
            status: SetStatus::default(),
            failure: None,
            notes: new.annotations.clone(),
            min_ready_secs: None,
            write: None,
        }
    }

    /// An annotation as this round leaves it.
    pub(super) fn note(&self, key: &str) -> Option<&str> {
        self.notes
            .get(key)
            .map(|v| &**v)
            .or_else(|| self.seen.and_then(|seen| seen.meta.annotations.get(key)))
    }

    /// Notes an annotation; says whether that changes it.
    pub(super) fn annotate(&mut self, key: &str, value: &str) -> bool {
        if self.note(key) == Some(value) {
            return false;
        }
        self.notes.insert(key.into(), value.into());
        true
    }

    fn target(&self) -> Option<Target> {
        self.seen.map(target)
    }
}

pub(super) fn target(set: &ReplicaSet) -> Target {
    Target {
        name: set.meta.name.clone(),
        uid: set.meta.uid.clone(),
        resource_version: set.meta.resource_version.clone(),
    }
}

/// What must have been done for an event to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Nothing,
    Create,
    Update(usize),
    Rollback,
}

/// One round of planning.
#[derive(Debug)]
pub(super) struct Round<'a> {
    pub d: &'a Deployment,
    pub pods: &'a [&'a Pod],
    /// The time, in whole seconds where it is stamped on conditions.
    pub now: Timestamp,
    pub create_error: Option<CreateError<'a>>,
    pub posts: Fenceposts,
    /// Every claimed ReplicaSet, and one created.
    pub sets: Vec<Set<'a>>,
    /// The new one, as an index into `sets`.
    pub new: Option<usize>,
    /// The old ones, oldest first; scaling turns them round.
    pub old: Vec<usize>,
    /// The status as read, with the conditions that this round has set on the way.
    pub held: DeploymentStatus,
    /// The value of the Deployment's revision annotation, if this round changes it.
    pub revision: Option<Box<str>>,
    pub claims: Vec<Planned>,
    pub create: Option<Planned>,
    /// The sets to write, in order.
    order: Vec<usize>,
    pub deletes: Vec<Planned>,
    pub rollback: Option<Planned>,
    events: Vec<(Event, After)>,
    pub recheck: Option<Recheck>,
    pub why: Vec<Why>,
    pub diverges: Vec<Mended>,
}

impl<'a> Round<'a> {
    pub(super) fn new(
        d: &'a Deployment,
        pods: &'a [&'a Pod],
        now: Timestamp,
        create_error: Option<CreateError<'a>>,
    ) -> Self {
        Round {
            d,
            pods,
            now,
            create_error,
            posts: d.strategy.fenceposts(d.replicas),
            sets: Vec::new(),
            new: None,
            old: Vec::new(),
            held: d.status.clone(),
            revision: None,
            claims: Vec::new(),
            create: None,
            order: Vec::new(),
            deletes: Vec::new(),
            rollback: None,
            events: Vec::new(),
            recheck: None,
            why: Vec::new(),
            diverges: Vec::new(),
        }
    }

    /// The time to stamp on conditions: the API keeps whole seconds.
    pub(super) fn stamp(&self) -> Timestamp {
        Timestamp::from_second(self.now.as_second()).unwrap_or(self.now)
    }

    /// The old sets that want pods, in the order that `old` has.
    pub(super) fn active_old(&self) -> Vec<usize> {
        self.old.iter().copied().filter(|i| self.sets[*i].replicas > 0).collect()
    }

    /// The old sets, then the new one.
    pub(super) fn old_and_new(&self) -> impl Iterator<Item = usize> {
        self.old.iter().copied().chain(self.new)
    }

    /// Adds up a number over the old sets and the new one, in 32 bits as Go does.
    pub(super) fn sum(&self, of: impl Fn(&Set<'_>) -> i32) -> i32 {
        self.old_and_new().fold(0, |sum: i32, i| sum.wrapping_add(of(&self.sets[i])))
    }

    /// Most pods at any time.
    pub(super) fn ceiling(&self) -> i32 {
        self.d.replicas.wrapping_add(self.posts.surge)
    }

    /// Least available pods at any time.
    pub(super) fn floor(&self) -> i32 {
        self.d.replicas.wrapping_sub(self.posts.unavailable)
    }

    pub(super) fn tell(&mut self, event: Event, after: After) {
        self.events.push((event, after));
    }

    /// Gives a set a size, and says whether that changes it.
    ///
    /// The annotations that remember what it was sized for are put right whenever it is written; with
    /// `force` they are reason enough for a write.
    pub(super) fn size(&mut self, i: usize, to: i32, force: bool, why: Why) -> bool {
        let (desired, max) = (self.d.replicas.to_string(), self.ceiling().to_string());
        let set = &mut self.sets[i];
        let from = set.replicas;
        if from == to && !force {
            return false;
        }
        let noted = [set.annotate(DESIRED_REPLICAS, &desired), set.annotate(MAX_REPLICAS, &max)];
        if from == to && noted == [false, false] {
            return false;
        }
        set.replicas = to;
        let name = set.name.clone();
        self.write(i, why);
        if from == to {
            return false;
        }
        let way = if from < to { "up" } else { "down" };
        let message = format!("Scaled {way} replica set {name} from {from} to {to}");
        self.tell(Event::normal("ScalingReplicaSet", message), After::Update(i));
        true
    }

    /// Asks for a set to be written. A set that is written anyway goes to the end of the queue, so that no
    /// change is sent before one that it came after; the first reason stands unless it was about
    /// annotations only.
    fn write(&mut self, i: usize, why: Why) {
        self.order.retain(|j| *j != i);
        self.order.push(i);
        let held = &mut self.sets[i].write;
        if !held.as_ref().is_some_and(|(held, _)| *held != Why::NotesBehind) {
            *held = Some((why, false));
        }
    }

    /// Marks the writes asked for so far, so that a refusal does not keep the status from being told.
    pub(super) fn make_lenient(&mut self, sets: &[usize]) {
        for i in sets {
            if let Some((_, lenient)) = &mut self.sets[*i].write {
                *lenient = true;
            }
        }
    }

    /// Asks for the new set to follow the Deployment.
    pub(super) fn follow(&mut self, i: usize, min_ready_secs: Option<i32>) {
        self.sets[i].min_ready_secs = min_ready_secs;
        self.write(i, Why::NotesBehind);
    }

    /// The plan, with the status that the Deployment should have, or (none) the one held.
    pub(super) fn finish(mut self, status: Option<DeploymentStatus>, failure: Option<Failure>) -> Plan {
        let status = status.unwrap_or_else(|| std::mem::take(&mut self.held));
        let changed = self.revision.is_some() || status != self.d.status;
        let status = changed.then(|| StatusWrite { revision: self.revision.take(), status });

        let mut steps = std::mem::take(&mut self.claims);
        let create_at = self.create.take().map(|create| push(&mut steps, create));
        let mut update_at: Vec<Option<usize>> = vec![None; self.sets.len()];
        for i in std::mem::take(&mut self.order) {
            if let Some(update) = self.update(i) {
                update_at[i] = Some(push(&mut steps, update));
            }
        }
        steps.append(&mut self.deletes);
        let rollback_at = self.rollback.take().map(|rollback| push(&mut steps, rollback));

        let events = self.events.into_iter().map(|(event, after)| PlannedEvent {
            event,
            after: match after {
                After::Nothing => None,
                After::Create => create_at,
                After::Update(i) => update_at[i],
                After::Rollback => rollback_at,
            },
        });
        Plan {
            steps,
            status,
            events: events.collect(),
            recheck: self.recheck,
            failure,
            why: self.why,
            diverges: self.diverges,
        }
    }

    fn update(&mut self, i: usize) -> Option<Planned> {
        let set = &mut self.sets[i];
        let (why, lenient) = set.write.take()?;
        let scale = (set.replicas != set.was).then_some(Scale { from: set.was, to: set.replicas });
        let step = Step::Update {
            set: set.target()?,
            scale,
            annotations: std::mem::take(&mut set.notes),
            min_ready_secs: set.min_ready_secs,
        };
        Some(Planned { step, why, status_even_if_refused: lenient })
    }
}

/// Appends a step and says where.
fn push(steps: &mut Vec<Planned>, step: Planned) -> usize {
    steps.push(step);
    steps.len() - 1
}
