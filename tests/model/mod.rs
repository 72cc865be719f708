//! A model cluster: an API server's rules for the writes that plans make, ReplicaSet controllers, kubelets,
//! and a Deployment controller that carries plans out. Time stands still unless it is moved.
//!
//! Everything is in plain sight of the test, and nothing happens by itself, so a test decides what is late,
//! what is stale and what fails.

#![allow(dead_code, unreachable_pub, reason = "each test uses its part of the model")]
#![allow(missing_docs, reason = "names say it")]

use std::collections::BTreeMap;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use rollgate::rollout::{
    CreateError, Deployment, Observed, Plan, Pod, ReplicaSet, Request, Resource, Step, Verb, plan, plan_after,
};
use serde_json::{Value, json};

pub const NAMESPACE: &str = "default";

/// Why a write is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Conflict,
    AlreadyExists,
    NotFound,
    /// The controller died before the write.
    Crash,
}

/// A pod as kubelets and ReplicaSet controllers know it.
#[derive(Debug, Clone)]
pub struct Running {
    pub name: String,
    pub set: String,
    pub set_uid: String,
    /// Since when it is ready.
    pub ready_at: Option<Timestamp>,
    pub phase: &'static str,
    pub terminating: bool,
}

/// What the API server stores.
#[derive(Debug, Clone, Default)]
pub struct Stored {
    pub deployments: BTreeMap<String, Value>,
    pub sets: BTreeMap<String, Value>,
    pub pods: Vec<Running>,
}

pub struct Cluster {
    pub now: Timestamp,
    pub stored: Stored,
    /// States before each write, oldest first: what caches may still show.
    pub history: Vec<Stored>,
    pub events: Vec<String>,
    /// Pods that may be there at most.
    pub quota: usize,
    /// Images whose pods never become ready.
    pub broken: Vec<&'static str>,
    /// Whether deleted pods stay until [`Cluster::remove_terminating`].
    pub graceful: bool,
    /// Writes that the Deployment controller may still make before it dies.
    pub writes_left: usize,
    /// Writes of the Deployment controller that were accepted.
    pub writes: usize,
    /// Called after each of them, with the stored state before and after.
    pub check: fn(&Stored, &Stored, &Plan),
    /// How long the history was when the Deployment controller last wrote.
    own: usize,
    next: u64,
}

impl Cluster {
    pub fn new() -> Cluster {
        Cluster {
            now: "2026-01-01T12:00:00Z".parse().unwrap(),
            stored: Stored::default(),
            history: Vec::new(),
            events: Vec::new(),
            quota: usize::MAX,
            broken: vec!["broken"],
            graceful: false,
            writes_left: usize::MAX,
            writes: 0,
            check: |_, _, _| {},
            own: 0,
            next: 1,
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub fn wait(&mut self, secs: i64) {
        self.now += SignedDuration::from_secs(secs);
    }

    // ----- users ---------------------------------------------------------------------------------

    /// A Deployment with the API server's defaults; `spec` is merged over them.
    pub fn create(&mut self, name: &str, image: &str, spec: Value) {
        let labels = json!({"app": "x"});
        let mut d = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": NAMESPACE, "generation": 1},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": template(image),
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
            },
            "status": {},
        });
        merge(&mut d["spec"], &spec);
        self.stamp(&mut d);
        self.stored.deployments.insert(name.into(), d);
    }

    /// A ReplicaSet without owner.
    pub fn create_set(&mut self, name: &str, labels: Value, template: Value, replicas: i32, revision: &str) {
        let mut set = json!({
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": name, "namespace": NAMESPACE, "generation": 1, "labels": labels,
                "annotations": {REVISION: revision}},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
            "status": {"replicas": 0},
        });
        self.stamp(&mut set);
        self.stored.sets.insert(name.into(), set);
    }

    fn stamp(&mut self, object: &mut Value) {
        let number = self.number();
        object["metadata"]["uid"] = format!("uid-{number}").into();
        object["metadata"]["resourceVersion"] = number.to_string().into();
        object["metadata"]["creationTimestamp"] = self.now.to_string().into();
    }

    /// What a user changes about a Deployment.
    pub fn edit(&mut self, name: &str, patch: Value) {
        let mut d = self.stored.deployments[name].clone();
        let before = (d["spec"].clone(), d["metadata"]["annotations"].clone());
        merge(&mut d, &patch);
        if before != (d["spec"].clone(), d["metadata"]["annotations"].clone()) {
            d["metadata"]["generation"] = (d["metadata"]["generation"].as_i64().unwrap() + 1).into();
        }
        self.store_deployment(name, d);
    }

    pub fn set_image(&mut self, name: &str, image: &str) {
        self.edit(name, json!({"spec": {"template": template(image)}}));
    }

    pub fn scale(&mut self, name: &str, replicas: i32) {
        self.edit(name, json!({"spec": {"replicas": replicas}}));
    }

    /// Deletes a Deployment and leaves its ReplicaSets without owner.
    pub fn delete_orphaning(&mut self, name: &str) {
        let d = self.stored.deployments.remove(name).unwrap();
        let uid = &d["metadata"]["uid"];
        for set in self.stored.sets.values_mut() {
            if let Some(owners) = set["metadata"]["ownerReferences"].as_array_mut() {
                owners.retain(|o| o["uid"] != *uid);
            }
        }
    }

    fn store_deployment(&mut self, name: &str, mut d: Value) {
        self.history.push(self.stored.clone());
        d["metadata"]["resourceVersion"] = self.number().to_string().into();
        self.stored.deployments.insert(name.into(), d);
    }

    /// Changes a ReplicaSet in some other way than the Deployment controller does.
    pub fn edit_set(&mut self, name: &str, patch: Value) {
        let mut set = self.stored.sets[name].clone();
        let spec = set["spec"].clone();
        merge(&mut set, &patch);
        if set["spec"] != spec {
            set["metadata"]["generation"] = (set["metadata"]["generation"].as_i64().unwrap() + 1).into();
        }
        self.store_set(name, set);
    }

    fn store_set(&mut self, name: &str, mut set: Value) {
        if set != self.stored.sets[name] {
            self.history.push(self.stored.clone());
            set["metadata"]["resourceVersion"] = self.number().to_string().into();
            self.stored.sets.insert(name.into(), set);
        }
    }

    // ----- ReplicaSet controllers and kubelets -----------------------------------------------------

    pub fn run_sets(&mut self) {
        for name in self.stored.sets.keys().cloned().collect::<Vec<_>>() {
            self.run_set(&name);
        }
    }

    /// One sync of one ReplicaSet: pods are created or deleted, and the status says what was there before.
    pub fn run_set(&mut self, name: &str) {
        let set = self.stored.sets[name].clone();
        let wanted = set["spec"]["replicas"].as_i64().unwrap() as usize;
        let mut failure = None;
        while self.pods_of(name).count() < wanted {
            if self.stored.pods.iter().filter(|p| p.phase == "Running").count() >= self.quota {
                failure = Some("exceeded quota");
                break;
            }
            let number = self.number();
            self.stored.pods.push(Running {
                name: format!("{name}-{number}"),
                set: name.into(),
                set_uid: set["metadata"]["uid"].as_str().unwrap().into(),
                ready_at: None,
                phase: "Running",
                terminating: false,
            });
        }
        while self.pods_of(name).count() > wanted {
            // The ones that are not ready first, then the youngest.
            let victim = self.pods_of(name).max_by_key(|p| (p.ready_at.is_none(), p.ready_at)).unwrap();
            let victim = victim.name.clone();
            self.delete_pod(&victim);
        }
        let mut status = self.set_status(name, &set);
        if let Some(message) = failure {
            status["conditions"] = json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
                "message": message, "lastTransitionTime": self.now.to_string()}]);
        }
        let mut set = set;
        set["status"] = status;
        self.store_set(name, set);
    }

    pub fn delete_pod(&mut self, name: &str) {
        let graceful = self.graceful;
        self.stored.pods.retain_mut(|p| {
            p.terminating |= p.name == name;
            p.name != name || graceful
        });
    }

    fn pods_of(&self, set: &str) -> impl Iterator<Item = &Running> + Clone {
        self.stored.pods.iter().filter(move |p| p.set == set && !p.terminating && p.phase == "Running")
    }

    fn set_status(&self, name: &str, set: &Value) -> Value {
        let min_ready = set["spec"]["minReadySeconds"].as_i64().unwrap_or(0);
        let ready = self.pods_of(name).filter_map(|p| p.ready_at);
        let available = |at: &Timestamp| self.now.as_second() - at.as_second() >= min_ready;
        let terminating =
            self.stored.pods.iter().filter(|p| p.set == name && p.terminating && p.phase == "Running");
        json!({
            "observedGeneration": set["metadata"]["generation"],
            "replicas": self.pods_of(name).count(),
            "readyReplicas": ready.clone().count(),
            "availableReplicas": ready.filter(available).count(),
            "terminatingReplicas": terminating.count(),
        })
    }

    /// Makes pods ready, up to so many, except those of broken images.
    pub fn make_ready(&mut self, mut most: usize) {
        let (sets, broken, now) = (&self.stored.sets, &self.broken, self.now);
        for pod in self.stored.pods.iter_mut().filter(|p| p.ready_at.is_none() && !p.terminating) {
            let image = sets.get(&pod.set).map(|set| image_of(&set["spec"]["template"]).to_owned());
            if most > 0 && !image.is_some_and(|image| broken.iter().any(|b| *b == image)) {
                pod.ready_at = Some(now);
                most -= 1;
            }
        }
    }

    pub fn remove_terminating(&mut self) {
        self.stored.pods.retain(|p| !p.terminating || p.phase != "Running");
    }

    // ----- API server ------------------------------------------------------------------------------

    /// Carries out a write of the Deployment controller and gives the resourceVersion it leads to.
    fn write(&mut self, request: &Request, plan: &Plan) -> Result<String, Refusal> {
        if self.writes_left == 0 {
            return Err(Refusal::Crash);
        }
        let before = self.stored.clone();
        let version = self.accept(request)?;
        self.writes_left -= 1;
        self.writes += 1;
        (self.check)(&before, &self.stored, plan);
        self.history.push(before);
        self.own = self.history.len();
        Ok(version)
    }

    fn accept(&mut self, request: &Request) -> Result<String, Refusal> {
        let body: Value = serde_json::from_str(&request.body).unwrap();
        let (name, number) = (&request.name, self.number());
        if request.verb == Verb::Create {
            if self.stored.sets.contains_key(name) {
                return Err(Refusal::AlreadyExists);
            }
            let mut set = body;
            set["status"] = json!({"replicas": 0});
            set["metadata"]["generation"] = 1.into();
            self.stamp(&mut set);
            let version = set["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
            self.stored.sets.insert(name.clone(), set);
            return Ok(version);
        }
        let objects = match request.resource {
            Resource::ReplicaSet => &mut self.stored.sets,
            Resource::Deployment | Resource::DeploymentStatus => &mut self.stored.deployments,
        };
        let held = objects.get_mut(name).ok_or(Refusal::NotFound)?;
        let mut object = held.clone();
        match request.verb {
            Verb::Create => unreachable!(),
            Verb::Delete => {
                let asked = &body["preconditions"];
                if asked["uid"] != held["metadata"]["uid"]
                    || asked["resourceVersion"] != held["metadata"]["resourceVersion"]
                {
                    return Err(Refusal::Conflict);
                }
                let uid = held["metadata"]["uid"].clone();
                objects.remove(name);
                self.stored.pods.retain(|p| p.set_uid != uid);
                return Ok(String::new());
            }
            Verb::StrategicPatch => {
                if body["metadata"]["uid"] != held["metadata"]["uid"] {
                    return Err(Refusal::Conflict);
                }
                patch_owners(&mut object, &body);
            }
            Verb::MergePatch => {
                let asked = &body["metadata"]["resourceVersion"];
                assert!(asked.is_string(), "a patch without resourceVersion: {}", body);
                if *asked != held["metadata"]["resourceVersion"] {
                    return Err(Refusal::Conflict);
                }
                merge(&mut object, &body);
                assert_ne!(object, *held, "a write that changes nothing");
                judge(request.resource, held, &mut object);
            }
        }
        object["metadata"]["resourceVersion"] = number.to_string().into();
        *held = object;
        Ok(number.to_string())
    }

    // ----- Deployment controller ---------------------------------------------------------------------

    /// What a cache holds that is so many writes behind.
    pub fn seen(&self, behind: usize) -> &Stored {
        let at = self.history.len().saturating_sub(behind);
        self.history.get(at).unwrap_or(&self.stored)
    }

    /// The same, but with all of the Deployment controller's own writes, which its caches wait for.
    pub fn seen_with_own_writes(&self, behind: usize) -> &Stored {
        self.seen(behind.min(self.history.len() - self.own))
    }

    /// The plan for a Deployment, from caches that are up to date.
    pub fn plan(&self, name: &str) -> Plan {
        let read = Read::of(&self.stored, &self.stored);
        plan(&read.observed(name, self.now).unwrap())
    }

    /// One round for a Deployment.
    pub fn sync(&mut self, name: &str) -> Result<Plan, Refusal> {
        let stored = self.stored.clone();
        self.sync_seeing(name, &stored, &stored)
    }

    /// One round for a Deployment that is seen in one state, and its ReplicaSets and pods in another.
    pub fn sync_seeing(&mut self, name: &str, deployments: &Stored, sets: &Stored) -> Result<Plan, Refusal> {
        let read = Read::of(deployments, sets);
        let Some(seen) = read.observed(name, self.now) else { return Ok(Plan::default()) };
        let planned = plan(&seen);
        self.carry_out(&seen, &planned)?;
        Ok(planned)
    }

    fn carry_out(&mut self, seen: &Observed<'_>, plan: &Plan) -> Result<(), Refusal> {
        let d = seen.deployment;
        let mut versions: BTreeMap<(bool, String), String> = BTreeMap::new();
        for (at, planned) in plan.steps.iter().enumerate() {
            if let Step::Adopt { .. } = planned.step {
                let live = self.stored.deployments.get(&*d.meta.name).ok_or(Refusal::NotFound)?;
                if live["metadata"]["uid"] != *d.meta.uid {
                    return Err(Refusal::Conflict);
                }
            }
            let template = match &planned.step {
                Step::Rollback { to: Some(set), .. } => {
                    Some(self.stored.sets[&*set.name]["spec"]["template"].clone())
                }
                _ => None,
            };
            let version = match &planned.step {
                Step::Rollback { .. } => versions.get(&(false, d.meta.name.to_string())),
                step => versions.get(&(true, step.name().to_owned())),
            };
            let request = planned.step.request(d, template.as_ref(), version.map(String::as_str));
            match self.send(request, plan, &mut versions) {
                Ok(()) => self.tell(plan, Some(at)),
                Err(Refusal::AlreadyExists) => return self.name_taken(seen, planned.step.name()),
                Err(Refusal::NotFound)
                    if matches!(planned.step, Step::Delete { .. } | Step::Release { .. }) => {}
                Err(refusal) => return Err(refusal),
            }
        }
        self.tell(plan, None);
        if let Some(status) = &plan.status {
            let version = versions.get(&(false, d.meta.name.to_string()));
            let request = status.request(d, version.map(String::as_str));
            self.send(request, plan, &mut versions)?;
        }
        if plan.failure.is_some() { Err(Refusal::Conflict) } else { Ok(()) }
    }

    fn send(
        &mut self,
        request: Request,
        plan: &Plan,
        versions: &mut BTreeMap<(bool, String), String>,
    ) -> Result<(), Refusal> {
        let version = self.write(&request, plan)?;
        let key = (request.resource == Resource::ReplicaSet, request.name);
        versions.insert(key, version);
        Ok(())
    }

    fn name_taken(&mut self, seen: &Observed<'_>, name: &str) -> Result<(), Refusal> {
        // As the cache has it, which may not know the set yet.
        let holder = seen.sets.iter().find(|set| &*set.meta.name == name).copied();
        let ended = plan_after(seen, CreateError::NameTaken(holder));
        self.carry_out(seen, &ended)
    }

    fn tell(&mut self, plan: &Plan, after: Option<usize>) {
        let told = plan.events.iter().filter(|told| told.after == after);
        self.events.extend(told.map(|told| told.event.message.clone()));
    }

    /// Lets everything happen at once and in order until nothing changes any more.
    pub fn settle(&mut self) {
        for _ in 0..200 {
            let before = self.next;
            let changed = self.writes;
            for name in self.stored.deployments.keys().cloned().collect::<Vec<_>>() {
                let _ = self.sync(&name);
            }
            self.run_sets();
            if !self.graceful {
                self.remove_terminating();
            }
            self.make_ready(usize::MAX);
            self.run_sets();
            let quiet = self.writes == changed;
            if quiet && self.stored.deployments.keys().all(|name| self.plan(name).is_empty()) && before > 0 {
                return;
            }
        }
        panic!("does not settle: {:#?}", self.sizes());
    }

    // ----- looks ---------------------------------------------------------------------------------------

    /// Wanted pods by image, those without pods left out.
    pub fn sizes(&self) -> Vec<(String, i64)> {
        let sets = self.stored.sets.values();
        let mut sizes: Vec<_> = sets
            .map(|set| {
                (image_of(&set["spec"]["template"]).to_owned(), set["spec"]["replicas"].as_i64().unwrap())
            })
            .filter(|(_, size)| *size > 0)
            .collect();
        sizes.sort();
        sizes
    }

    /// The ReplicaSet of an image.
    pub fn set_of(&self, image: &str) -> &Value {
        let mut sets = self.stored.sets.values();
        sets.find(|set| image_of(&set["spec"]["template"]) == image).unwrap_or(&Value::Null)
    }

    pub fn status(&self, deployment: &str) -> &Value {
        &self.stored.deployments[deployment]["status"]
    }

    /// `Status/Reason` of a condition.
    pub fn condition(&self, deployment: &str, kind: &str) -> String {
        let none = Vec::new();
        let conditions = self.status(deployment)["conditions"].as_array().unwrap_or(&none);
        let found = conditions.iter().find(|c| c["type"] == *kind);
        found.map_or(String::new(), |c| {
            format!("{}/{}", c["status"].as_str().unwrap(), c["reason"].as_str().unwrap())
        })
    }
}

pub const REVISION: &str = "deployment.kubernetes.io/revision";
pub const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub const MAX: &str = "deployment.kubernetes.io/max-replicas";

pub fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "x"}},
        "spec": {"containers": [{"name": "web", "image": image}], "securityContext": {}},
    })
}

pub fn image_of(template: &Value) -> &str {
    template["spec"]["containers"][0]["image"].as_str().unwrap()
}

/// Objects as the controller reads them.
struct Read {
    deployments: Vec<Deployment>,
    sets: Vec<ReplicaSet>,
    pods: Vec<Pod>,
}

impl Read {
    fn of(deployments: &Stored, sets: &Stored) -> Read {
        let pods = sets.pods.iter().map(|p| {
            let owner = json!({"kind": "ReplicaSet", "name": p.set, "uid": p.set_uid, "controller": true});
            json!({
                "metadata": {"name": p.name, "namespace": NAMESPACE, "ownerReferences": [owner]},
                "status": {"phase": p.phase},
            })
        });
        Read {
            deployments: deployments.deployments.values().map(read).collect(),
            sets: sets.sets.values().map(read).collect(),
            pods: pods.map(|pod| read(&pod)).collect(),
        }
    }

    fn observed(&self, name: &str, now: Timestamp) -> Option<Observed<'_>> {
        let deployment = self.deployments.iter().find(|d| &*d.meta.name == name)?;
        Some(Observed { deployment, sets: self.sets.iter().collect(), pods: self.pods.iter().collect(), now })
    }
}

fn read<T: serde::de::DeserializeOwned>(object: &Value) -> T {
    serde_json::from_str(&object.to_string()).unwrap()
}

/// The rules for what a patch may change, and when the generation moves.
fn judge(resource: Resource, held: &Value, object: &mut Value) {
    if resource == Resource::DeploymentStatus {
        assert_eq!(object["spec"], held["spec"]);
        let number = |field: &str| object["status"][field].as_i64().unwrap_or(0);
        assert!(number("updatedReplicas") <= number("replicas"), "{}", object["status"]);
        assert!(number("availableReplicas") <= number("readyReplicas"), "{}", object["status"]);
        return;
    }
    assert_eq!(object["status"], held["status"]);
    let annotated = resource == Resource::Deployment
        && object["metadata"]["annotations"] != held["metadata"]["annotations"];
    if annotated || object["spec"] != held["spec"] {
        object["metadata"]["generation"] = (held["metadata"]["generation"].as_i64().unwrap() + 1).into();
    }
}

pub fn patch_owners(object: &mut Value, patch: &Value) {
    let mut owners = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
    for owner in patch["metadata"]["ownerReferences"].as_array().unwrap() {
        owners.retain(|o| o["uid"] != owner["uid"]);
        if owner["$patch"] != "delete" {
            owners.push(owner.clone());
        }
    }
    object["metadata"]["ownerReferences"] = owners.into();
}

/// RFC 7386.
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let target = target.as_object_mut().unwrap();
    for (key, value) in patch {
        if value.is_null() {
            target.shift_remove(key);
        } else {
            merge(target.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}
