//! The API calls that steps and status writes amount to.
//!
//! Every change to an object that exists is a patch of just that change, with the resourceVersion that it
//! was decided on; so no field is lost that this build does not know, and a stale write is refused.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::annotations::REVISION;
use super::observed::{Condition, Deployment, DeploymentStatus};
use super::step::{NewSet, StatusWrite, Step, Target};

/// The label that tells the ReplicaSets of one Deployment apart.
pub const HASH_LABEL: &str = "pod-template-hash";

/// What to ask of the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// POST.
    Create,
    /// PATCH as `application/merge-patch+json`.
    MergePatch,
    /// PATCH as `application/strategic-merge-patch+json`.
    StrategicPatch,
    /// DELETE with the body as options.
    Delete,
}

/// The object that a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// `deployments`.
    Deployment,
    /// `deployments/status`.
    DeploymentStatus,
    /// `replicasets`.
    ReplicaSet,
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What to do.
    pub verb: Verb,
    /// To which kind of object.
    pub resource: Resource,
    /// Name of the object.
    pub name: String,
    /// The object, the patch, or the options.
    pub body: Value,
}

impl Request {
    /// Puts in the resourceVersion that an earlier write of the same round gave back.
    pub fn at_version(&mut self, resource_version: &str) {
        let place = match self.verb {
            Verb::MergePatch => "/metadata/resourceVersion",
            Verb::Delete => "/preconditions/resourceVersion",
            Verb::Create | Verb::StrategicPatch => return,
        };
        if let Some(held) = self.body.pointer_mut(place) {
            *held = resource_version.into();
        }
    }
}

impl Step {
    /// The name of the ReplicaSet that the step is about; empty for a rollback that has none.
    pub fn name(&self) -> &str {
        match self {
            Step::Create(new) => &new.name,
            Step::Rollback { to, .. } => to.as_ref().map_or("", |set| &set.name),
            Step::Adopt { set } | Step::Release { set } | Step::Delete { set } | Step::Update { set, .. } => {
                &set.name
            }
        }
    }

    /// The call. A rollback to a set takes the JSON of that set's pod template, read live.
    pub fn request(&self, d: &Deployment, template: Option<&Value>) -> Request {
        match self {
            Step::Adopt { set } => of_set(Verb::StrategicPatch, set, adoption(d, set)),
            Step::Release { set } => {
                let gone = json!({"$patch": "delete", "uid": d.meta.uid});
                let body = json!({"metadata": {"uid": set.uid, "ownerReferences": [gone]}});
                of_set(Verb::StrategicPatch, set, body)
            }
            Step::Create(new) => Request {
                verb: Verb::Create,
                resource: Resource::ReplicaSet,
                name: new.name.clone(),
                body: replica_set(d, new),
            },
            Step::Update { set, scale, annotations, min_ready_secs } => {
                let mut spec = Map::new();
                if let Some(scale) = scale {
                    spec.insert("replicas".into(), scale.to.into());
                }
                if let Some(secs) = min_ready_secs {
                    spec.insert("minReadySeconds".into(), present(*secs));
                }
                let mut body = json!({"metadata": {"resourceVersion": set.resource_version}});
                if !annotations.is_empty() {
                    body["metadata"]["annotations"] = json!(annotations);
                }
                if !spec.is_empty() {
                    body["spec"] = spec.into();
                }
                of_set(Verb::MergePatch, set, body)
            }
            Step::Delete { set } => {
                let seen = json!({"uid": set.uid, "resourceVersion": set.resource_version});
                of_set(Verb::Delete, set, json!({"preconditions": seen}))
            }
            Step::Rollback { annotations, .. } => {
                let metadata =
                    json!({"resourceVersion": d.meta.resource_version, "annotations": annotations});
                let mut body = json!({"metadata": metadata});
                if let Some(template) = template {
                    body["spec"] = json!({"template": template_change(d, template)});
                }
                Request {
                    verb: Verb::MergePatch,
                    resource: Resource::Deployment,
                    name: d.meta.name.to_string(),
                    body,
                }
            }
        }
    }
}

fn of_set(verb: Verb, set: &Target, body: Value) -> Request {
    Request { verb, resource: Resource::ReplicaSet, name: set.name.to_string(), body }
}

fn adoption(d: &Deployment, set: &Target) -> Value {
    json!({"metadata": {"ownerReferences": [owner(d)], "uid": set.uid}})
}

fn owner(d: &Deployment) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": d.meta.name,
        "uid": d.meta.uid,
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// The new ReplicaSet: the Deployment's selector and template, each with the hash label.
fn replica_set(d: &Deployment, new: &NewSet) -> Value {
    let mut template = parsed(d.template_json.get());
    label(&mut template, "metadata", "labels", &new.hash);
    let labels = template["metadata"]["labels"].clone();
    let mut selector =
        json!({"selector": d.selector_json.as_ref().map_or(Value::Null, |json| parsed(json.get()))});
    label(&mut selector, "selector", "matchLabels", &new.hash);
    let mut spec = json!({
        "replicas": new.replicas,
        "selector": selector["selector"],
        "template": template,
    });
    if d.min_ready_secs != 0 {
        spec["minReadySeconds"] = d.min_ready_secs.into();
    }
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": new.name,
            "namespace": d.meta.namespace,
            "labels": labels,
            "annotations": new.annotations,
            "ownerReferences": [owner(d)],
        },
        "spec": spec,
    })
}

/// JSON that was read as JSON before.
fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

/// Adds the hash label to `object.outer.inner`, made where it is missing.
fn label(object: &mut Value, outer: &str, inner: &str, hash: &str) {
    let mut place = object;
    for key in [outer, inner] {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[key];
    }
    if !place.is_object() {
        *place = json!({});
    }
    place[HASH_LABEL] = hash.into();
}

/// The merge patch that turns the Deployment's template into a ReplicaSet's, its hash label aside.
fn template_change(d: &Deployment, template: &Value) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.shift_remove(HASH_LABEL);
    }
    merge_patch(&parsed(d.template_json.get()), &template)
}

/// The merge patch (RFC 7386) that turns `from` into `to`.
fn merge_patch(from: &Value, to: &Value) -> Value {
    let (Value::Object(from), Value::Object(to)) = (from, to) else { return to.clone() };
    let mut patch = Map::new();
    for (key, _) in from.iter().filter(|(key, _)| !to.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in to {
        match from.get(key) {
            Some(held) if held == value => {}
            Some(held) => {
                patch.insert(key.clone(), merge_patch(held, value));
            }
            None => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    patch.into()
}

impl StatusWrite {
    /// The call. The whole status is given, counters of 0 as null, so that what is stored does not depend
    /// on what was there.
    pub fn request(&self, d: &Deployment) -> Request {
        let mut metadata = json!({"resourceVersion": d.meta.resource_version});
        if let Some(revision) = &self.revision {
            metadata["annotations"] = json!({REVISION: revision});
        }
        Request {
            verb: Verb::MergePatch,
            resource: Resource::DeploymentStatus,
            name: d.meta.name.to_string(),
            body: json!({"metadata": metadata, "status": status_json(&self.status)}),
        }
    }
}

/// A status as a merge patch: what is not there is null.
pub(super) fn status_json(status: &DeploymentStatus) -> Value {
    let generation = match status.observed_generation {
        0 => Value::Null,
        generation => generation.into(),
    };
    json!({
        "observedGeneration": generation,
        "replicas": present(status.replicas),
        "updatedReplicas": present(status.updated),
        "readyReplicas": present(status.ready),
        "availableReplicas": present(status.available),
        "unavailableReplicas": present(status.unavailable),
        "terminatingReplicas": status.terminating,
        "collisionCount": status.collision_count,
        "conditions": status.conditions.iter().map(condition_json).collect::<Vec<_>>(),
    })
}

fn present(number: i32) -> Value {
    if number == 0 { Value::Null } else { number.into() }
}

fn condition_json(condition: &Condition) -> Value {
    let mut fields = condition.other.clone();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("type", (*condition.kind).into());
    put("status", (*condition.status).into());
    put("lastUpdateTime", time(condition.updated));
    put("lastTransitionTime", time(condition.changed));
    for (key, text) in [("reason", &condition.reason), ("message", &condition.message)] {
        if !text.is_empty() {
            put(key, (**text).into());
        }
    }
    fields.into()
}

/// RFC 3339 in whole seconds, as the API writes times.
fn time(at: Option<Timestamp>) -> Value {
    match at {
        Some(at) => at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into(),
        None => Value::Null,
    }
}
