//! The engine's decisions: what to do next about a Deployment, given what is seen.
//!
//! [`plan`] takes one reading of the world ([`Observed`]) and gives a [`Plan`]: steps (each one write, with
//! what it saw and why), the status to write, events, and when to look again. It does no I/O, reads no
//! clock, and gives the same plan for the same input. Carried out, a plan leaves the state behind that one
//! sync of the built-in controller leaves, in fewer writes.
//!
//! The controller, `rollgate plan`, the simulator and `rollgate answer rollout` all call it:
//!
//! 1. Gather: read [`Deployment`]s, [`ReplicaSet`]s and [`Pod`]s (all `Deserialize` from the API server's
//!    JSON; they keep only what decisions need), and make an [`Observed`].
//! 2. Decide: [`plan`]. When the creation of the new ReplicaSet failed, [`plan_after`] says how the round
//!    ends instead: at most a write of status and an event, or, where the name is taken by an equal
//!    ReplicaSet of the same Deployment, a plan that goes on with that one.
//! 3. Act: for each step [`Step::request`] gives the API call, and [`StatusWrite::request`] that of the
//!    status. See [`Plan`] for what failures mean.
//!
//! Start reading at [`plan`], then `rolling.rs`. A round's state is in `round.rs`.
//!
//! It is never decided here whether we may write at all (leadership, take-over), and never when.

mod annotations;
mod answer;
mod claim;
mod cleanup;
mod conditions;
mod create;
mod explain;
mod observed;
mod read;
mod recreate;
mod request;
mod revision;
mod rollback;
mod rolling;
mod round;
mod scaling;
mod selector;
mod status;
mod step;
mod strategy;
mod text_map;
mod why;

pub use annotations::{
    DESIRED_REPLICAS, LAST_APPLIED, MAX_REPLICAS, REVISION, REVISION_HISTORY, ROLLBACK_TO,
};
pub use answer::{Snapshot, SnapshotError, answer};
pub use explain::{explain, plan_json};
pub use observed::{
    Condition, Controller, Deployment, DeploymentStatus, Meta, Observed, OwnerKind, Pod, ReplicaSet,
    SetStatus,
};
pub use read::Text;
pub use request::{HASH_LABEL, Request, Resource, Verb};
pub use round::CreateError;
pub use selector::{Operator, Requirement, Selector};
pub use step::{
    Event, Failure, Mended, NewSet, Plan, Planned, PlannedEvent, Recheck, Scale, StatusWrite, Step, Target,
};
pub use strategy::{BadBound, Bound, Fenceposts, Strategy};
pub use text_map::TextMap;
pub use why::Why;

use round::{After, Round};

/// Decides what to do about a Deployment.
///
/// Source: kubernetes v1.37.2 `pkg/controller/deployment`, `syncDeployment`. Parity: exact by the state
/// that is left behind; differences are named where they are made, and in [`Plan::diverges`].
pub fn plan(seen: &Observed<'_>) -> Plan {
    decide(seen, None)
}

/// Decides how a round ends in which the new ReplicaSet could not be created. What the plan before did up to
/// its [`Step::Create`] counts as done and is not asked for again.
///
/// Not to be called when the namespace is being terminated: then the round just ends.
pub fn plan_after(seen: &Observed<'_>, error: CreateError<'_>) -> Plan {
    let mut plan = decide(seen, Some(error));
    let claims = plan.steps.iter().take_while(|p| p.step.is_claim()).count();
    plan.steps.drain(..claims);
    for event in &mut plan.events {
        event.after = event.after.map(|at| at - claims);
    }
    plan
}

fn decide<'a>(seen: &Observed<'a>, error: Option<CreateError<'a>>) -> Plan {
    let d = seen.deployment;
    let mut round = Round::new(d, &seen.pods, seen.now, error);
    if d.selector.selects_everything() {
        return refuse_to_select_everything(round);
    }
    if let Some(operator) = d.selector.unknown_operator() {
        let (namespace, name) = (d.meta.namespace.clone(), d.meta.name.clone());
        return round.finish(None, Some(Failure::Selector { namespace, name, operator: operator.into() }));
    }
    round.claim(seen);
    if d.meta.deleting {
        round.why.push(Why::Deleting);
        round.resolve();
        return round.finish_status();
    }
    round.note_pause();
    round.resolve();
    if d.paused {
        round.why.push(Why::Paused);
        return round.keep_sizes();
    }
    if let Some(revision) = annotations::rollback_to(&d.meta.annotations) {
        return round.roll_back(revision);
    }
    if let Some(why) = round.scaling() {
        round.why.push(why);
        return round.keep_sizes();
    }
    match &d.strategy {
        Strategy::RollingUpdate { .. } => round.roll(),
        Strategy::Recreate => round.recreate(),
        Strategy::Unknown(kind) => round.finish(None, Some(Failure::Strategy(kind.clone()))),
    }
}

fn refuse_to_select_everything(mut round: Round<'_>) -> Plan {
    let message = "This deployment is selecting all pods. A non-empty selector is required.";
    round.why.push(Why::SelectsEverything);
    round.tell(Event::warning("SelectingAll", message.into()), After::Nothing);
    round.held.observed_generation = round.held.observed_generation.max(round.d.meta.generation);
    round.finish(None, None)
}
