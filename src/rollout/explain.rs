//! Plans in words, and as JSON for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::observed::{Deployment, DeploymentStatus};
use super::request::StatusJson;
use super::step::{Plan, Planned, Recheck, Step};

/// Says in words what a plan does to a Deployment, and why.
pub fn explain(d: &Deployment, plan: &Plan) -> String {
    let mut text = String::new();
    let pods = counted(d.replicas, "pod");
    line(&mut text, &format!("Deployment {}/{} wants {pods}.", d.meta.namespace, d.meta.name));
    for why in &plan.why {
        line(&mut text, &sentence(&why.to_string()));
    }
    if plan.is_empty() {
        line(&mut text, "Nothing to do.");
    }
    for (i, planned) in plan.steps.iter().enumerate() {
        line(&mut text, &format!("{}. {}, because {}.", i + 1, deed(&planned.step), planned.why));
    }
    if let Some(write) = &plan.status {
        line(&mut text, &format!("{}. Update the status: {}.", plan.steps.len() + 1, summary(&write.status)));
        let old = &d.status.conditions;
        for condition in write.status.conditions.iter().filter(|c| !old.contains(c)) {
            let (kind, status, reason) = (&condition.kind, &condition.status, &condition.reason);
            line(&mut text, &format!("   {kind} becomes {status} ({reason}): {}", condition.message));
        }
    }
    for told in &plan.events {
        line(&mut text, &format!("Event {} {}: {}", told.event.kind, told.event.reason, told.event.message));
    }
    for mended in &plan.diverges {
        line(&mut text, &format!("The built-in controller would not do this ({mended})."));
    }
    if let Some(failure) = &plan.failure {
        line(&mut text, &format!("The round fails and is tried again: {failure}."));
    }
    if let Some(Recheck::After(time)) = plan.recheck {
        line(
            &mut text,
            &format!("Looks again in {} s to see whether the deadline has passed.", time.as_secs()),
        );
    }
    text
}

fn line(text: &mut String, words: &str) {
    text.push_str(words);
    text.push('\n');
}

fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(chars).chain(['.']).collect()
}

fn counted(count: i32, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What a step does, as an order.
fn deed(step: &Step) -> String {
    let name = step.name();
    match step {
        Step::Adopt { .. } => format!("Adopt ReplicaSet {name}"),
        Step::Release { .. } => format!("Let go of ReplicaSet {name}"),
        Step::Create(new) => format!("Create ReplicaSet {name} with {}", counted(new.replicas, "pod")),
        Step::Update { scale: Some(scale), .. } => {
            let way = if scale.from < scale.to { "up" } else { "down" };
            format!("Scale ReplicaSet {name} {way} from {} to {}", scale.from, scale.to)
        }
        Step::Update { annotations, min_ready_secs, .. } => {
            let mut what: Vec<String> =
                annotations.iter().map(|(key, value)| format!("{key}={value}")).collect();
            what.extend(min_ready_secs.map(|secs| format!("minReadySeconds={secs}")));
            format!("Set {} on ReplicaSet {name}", what.join(", "))
        }
        Step::Delete { .. } => format!("Delete ReplicaSet {name}"),
        Step::Rollback { to: Some(_), .. } => format!("Give the Deployment the pod template of {name}"),
        Step::Rollback { to: None, .. } => "Drop the annotation that asks for a rollback".to_owned(),
    }
}

fn summary(status: &DeploymentStatus) -> String {
    let mut text = counted(status.replicas, "pod");
    let parts = [
        (status.updated, "up to date"),
        (status.ready, "ready"),
        (status.available, "available"),
        (status.unavailable, "unavailable"),
    ];
    for (count, what) in parts {
        let _ = write!(text, ", {count} {what}");
    }
    if let Some(terminating @ 1..) = status.terminating {
        let _ = write!(text, ", {terminating} terminating");
    }
    text
}

/// A plan as JSON.
pub fn plan_json(d: &Deployment, plan: &Plan) -> Value {
    let events = plan.events.iter().map(|told| json!({"event": told.event, "afterStep": told.after}));
    json!({
        "namespace": d.meta.namespace,
        "name": d.meta.name,
        "why": plan.why.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "steps": plan.steps.iter().map(step_json).collect::<Vec<_>>(),
        "status": plan.status.as_ref().map(|write| StatusJson::of(&write.status)),
        "revision": plan.status.as_ref().and_then(|write| write.revision.as_deref()),
        "events": events.collect::<Vec<_>>(),
        "recheckAfterSeconds": plan.recheck.and_then(|recheck| match recheck {
            Recheck::Soon => Some(0.0),
            Recheck::Idle => None,
            Recheck::After(time) => Some(time.as_secs_f64()),
        }),
        "failure": plan.failure.as_ref().map(ToString::to_string),
        "diverges": plan.diverges,
    })
}

fn step_json(planned: &Planned) -> Value {
    let (verb, detail) = match &planned.step {
        Step::Adopt { .. } => ("adopt", json!({})),
        Step::Release { .. } => ("release", json!({})),
        Step::Create(new) => ("create", json!({"replicas": new.replicas, "annotations": new.annotations})),
        Step::Update { scale, annotations, min_ready_secs, .. } => {
            let scale = scale.map(|scale| json!({"from": scale.from, "to": scale.to}));
            let verb = if scale.is_some() { "scale" } else { "annotate" };
            (verb, json!({"scale": scale, "annotations": annotations, "minReadySeconds": min_ready_secs}))
        }
        Step::Delete { .. } => ("delete", json!({})),
        Step::Rollback { annotations, .. } => ("rollback", json!({"annotations": annotations})),
    };
    let mut step = json!({"do": verb, "replicaSet": planned.step.name(), "why": planned.why.to_string()});
    if let (Some(step), Value::Object(detail)) = (step.as_object_mut(), detail) {
        step.extend(detail);
    }
    step
}
