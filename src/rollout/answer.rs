//! Snapshots in, writes out, one JSON line each: the shape in which upstream's controller was recorded.
//!
//! A question holds one reading of the world; the answer holds what one sync writes and tells, when it
//! looks again, and whether it failed. A write is done at once, and nothing refuses it but a taken name.

use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{
    CreateError, Deployment, Event, Mended, Observed, Plan, Planned, Pod, Recheck, ReplicaSet, Request,
    Resource, Step, Verb, plan, plan_after,
};
use crate::schema::table::Table;
use crate::schema::{decode, json, write};

#[derive(Deserialize)]
struct Question {
    #[serde(default)]
    id: Value,
    now: String,
    deployment: Box<RawValue>,
    #[serde(default)]
    replica_sets: Option<Vec<Box<RawValue>>>,
    #[serde(default)]
    pods: Option<Vec<Box<RawValue>>>,
}

#[derive(Serialize)]
struct Answer {
    id: Value,
    writes: Vec<Write>,
    events: Vec<Event>,
    requeue_after_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diverges: Vec<Mended>,
}

#[derive(Serialize)]
struct Write {
    verb: &'static str,
    resource: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    subresource: &'static str,
    name: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    patch_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<Value>,
}

/// A snapshot of everything that bears on one Deployment.
#[derive(Debug)]
pub struct Snapshot {
    /// The time.
    pub now: Timestamp,
    /// The Deployment.
    pub deployment: Deployment,
    /// The ReplicaSets of its namespace.
    pub sets: Vec<ReplicaSet>,
    /// The Pods of its namespace.
    pub pods: Vec<Pod>,
    /// The ReplicaSets as they came.
    set_jsons: Vec<Box<RawValue>>,
}

/// What is wrong with a snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// It is not shaped like one.
    #[error("{object} cannot be read: {source}")]
    Shape {
        /// Which part.
        object: &'static str,
        /// In the reader's words.
        #[source]
        source: serde_json::Error,
    },
    /// Its time is none.
    #[error("{text:?} is no time")]
    Time {
        /// What stands there.
        text: String,
    },
}

impl Snapshot {
    /// Reads a snapshot from JSON: `now`, `deployment`, `replica_sets` and `pods`.
    ///
    /// # Errors
    /// [`SnapshotError`] when it is not shaped like one.
    pub fn read(json: &str) -> Result<Snapshot, SnapshotError> {
        let shape = |source| SnapshotError::Shape { object: "the snapshot", source };
        Snapshot::of(serde_json::from_str(json).map_err(shape)?)
    }

    fn of(question: Question) -> Result<Snapshot, SnapshotError> {
        let shape = |object| move |source| SnapshotError::Shape { object, source };
        let set_jsons = question.replica_sets.unwrap_or_default();
        let sets = set_jsons.iter().map(|json| serde_json::from_str(json.get()));
        let pods = question.pods.unwrap_or_default();
        let pods = pods.iter().map(|json| serde_json::from_str(json.get()));
        Ok(Snapshot {
            now: question.now.parse().map_err(|_| SnapshotError::Time { text: question.now })?,
            deployment: serde_json::from_str(question.deployment.get()).map_err(shape("the deployment"))?,
            sets: sets.collect::<Result<_, _>>().map_err(shape("a ReplicaSet"))?,
            pods: pods.collect::<Result<_, _>>().map_err(shape("a Pod"))?,
            set_jsons,
        })
    }

    /// What a plan is made from.
    pub fn observed(&self) -> Observed<'_> {
        Observed {
            deployment: &self.deployment,
            sets: self.sets.iter().collect(),
            pods: self.pods.iter().collect(),
            now: self.now,
        }
    }

    /// The plan, and how it ends where the name of the new ReplicaSet is taken.
    pub fn plan(&self) -> Plan {
        let seen = self.observed();
        let planned = plan(&seen);
        let created = planned.steps.iter().find(|p| matches!(p.step, Step::Create(_)));
        let Some(name) = created.map(|p| p.step.name()) else { return planned };
        let namespace = &self.deployment.meta.namespace;
        let Some(holder) =
            self.sets.iter().find(|set| *set.meta.name == *name && set.meta.namespace == *namespace)
        else {
            return planned;
        };
        let mut ended = plan_after(&seen, CreateError::NameTaken(Some(holder)));
        let claims: Vec<_> = planned.steps.into_iter().take_while(|p| p.step.is_claim()).collect();
        for event in &mut ended.events {
            event.after = event.after.map(|at| at + claims.len());
        }
        ended.steps.splice(0..0, claims);
        ended
    }

    /// A part of a ReplicaSet as it came.
    fn part(&self, name: &str, pointer: &str) -> Option<Value> {
        let at = self.sets.iter().position(|set| *set.meta.name == *name)?;
        let mut set: Value = serde_json::from_str(self.set_jsons[at].get()).ok()?;
        Some(set.pointer_mut(pointer)?.take())
    }

    /// The calls that a plan amounts to, in order.
    pub fn requests(&self, plan: &Plan) -> Vec<Request> {
        let steps = plan.steps.iter().map(|planned| {
            let template = match &planned.step {
                Step::Rollback { to: Some(set), .. } => self.part(&set.name, "/spec/template"),
                _ => None,
            };
            planned.step.request(&self.deployment, template.as_ref(), None)
        });
        steps.chain(plan.status.iter().map(|write| write.request(&self.deployment, None))).collect()
    }
}

impl Snapshot {
    /// The calls of a plan, as upstream's would be recorded.
    ///
    /// Upstream writes a ReplicaSet that it has adopted or released as it was seen before, so with its old
    /// owners. An API server refuses that as stale, and the next sync goes on; but the recorded one refuses
    /// nothing, and there the change of owner is undone. Only here is this done likewise.
    fn recorded_writes(&self, plan: &Plan) -> Vec<Write> {
        let mut writes: Vec<_> = self.requests(plan).into_iter().map(Write::from).collect();
        for (planned, write) in plan.steps.iter().zip(&mut writes) {
            let name = planned.step.name();
            let claimed = |p: &Planned| p.step.is_claim() && p.step.name() == name;
            if let (Step::Update { .. }, Some(patch)) = (&planned.step, &mut write.patch)
                && plan.steps.iter().any(claimed)
            {
                patch["metadata"]["ownerReferences"] =
                    self.part(name, "/metadata/ownerReferences").unwrap_or_default();
            }
            if let Some(template) = write.object.as_mut().and_then(|set| set.pointer_mut("/spec/template")) {
                *template = as_go_writes(template);
            }
        }
        writes
    }
}

/// A pod template as Go writes what it has read: fields in their order, zero values left out, quantities in
/// normal form. An API server gives templates in this form already.
fn as_go_writes(template: &Value) -> Value {
    let text = template.to_string();
    let Ok(node) = json::read(text.as_bytes()) else { return template.clone() };
    match decode::decode(&node, Table::newest().of("v1.PodTemplateSpec")).object {
        Ok(object) => serde_json::from_str(&write::structure(&object)).unwrap_or_else(|_| template.clone()),
        Err(_) => template.clone(),
    }
}

/// Answers one question of `rollgate answer rollout`. What cannot be read is answered with an error.
pub fn answer(line: &str) -> String {
    let (id, answered) = match serde_json::from_str::<Question>(line) {
        Ok(question) => (question.id.clone(), Snapshot::of(question)),
        Err(source) => (Value::Null, Err(SnapshotError::Shape { object: "the snapshot", source })),
    };
    let answer = match answered {
        Ok(snapshot) => answer_to(id, &snapshot),
        Err(error) => Answer {
            id,
            writes: Vec::new(),
            events: Vec::new(),
            requeue_after_seconds: None,
            error: Some(error.to_string()),
            diverges: Vec::new(),
        },
    };
    serde_json::to_string(&answer).expect("an answer holds only what JSON can")
}

fn answer_to(id: Value, snapshot: &Snapshot) -> Answer {
    let plan = snapshot.plan();
    Answer {
        id,
        writes: snapshot.recorded_writes(&plan),
        requeue_after_seconds: plan.recheck.map(|recheck| match recheck {
            Recheck::Soon | Recheck::Idle => 0.0,
            Recheck::After(time) => time.as_secs_f64(),
        }),
        error: plan.failure.map(|failure| failure.to_string()),
        diverges: plan.diverges,
        events: plan.events.into_iter().map(|told| told.event).collect(),
    }
}

impl From<Request> for Write {
    fn from(request: Request) -> Self {
        let (resource, subresource) = match request.resource {
            Resource::Deployment => ("deployments", ""),
            Resource::DeploymentStatus => ("deployments", "status"),
            Resource::ReplicaSet => ("replicasets", ""),
        };
        let (verb, patch_type) = match request.verb {
            Verb::Create => ("create", ""),
            Verb::Delete => ("delete", ""),
            Verb::MergePatch => ("patch", "application/merge-patch+json"),
            Verb::StrategicPatch => ("patch", "application/strategic-merge-patch+json"),
        };
        let body = serde_json::from_str(&request.body).ok();
        let (patch, object) = match request.verb {
            Verb::Create => (None, body),
            Verb::Delete => (None, None),
            Verb::MergePatch | Verb::StrategicPatch => (body, None),
        };
        Write { verb, resource, subresource, name: request.name, patch_type, patch, object }
    }
}
