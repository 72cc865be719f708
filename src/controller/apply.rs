//! Carries out a plan: its steps in order, its events when what they tell of is done, its status last.
//!
//! Makes no choices: a step that fails ends the round, except where the plan says otherwise. Every answer
//! goes into the caches at once, so that no later round is planned on a state older than its own writes.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::api::{ApiError, DEPLOYMENTS, REPLICA_SETS};
use super::events::Recorder;
use super::reflect::Shared;
use super::store::version;
use super::wire::text;
use super::world::{Known, Origin};
use super::write::{WriteError, Writer};
use crate::rollout::{Deployment, Failure, Plan, PlannedEvent, ReplicaSet, Request, Resource, Step, Verb};

/// Why a round did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum RoundError {
    /// This process must not write.
    #[error(transparent)]
    Withheld(#[from] super::permit::Withheld),
    /// Somebody else changed an object first.
    #[error("{object} changed since it was read")]
    Stale {
        /// Which.
        object: String,
    },
    /// The namespace is going away; there is nothing left to do.
    #[error("the namespace is being terminated")]
    NamespaceEnding,
    /// The Deployment is not the one that the caches hold, so it must not adopt.
    #[error("deployment {name} is not the one it was, or is being deleted: it may not adopt")]
    MayNotAdopt {
        /// Its name.
        name: String,
    },
    /// The API server refused a write, or could not be reached.
    #[error("could not {verb} {object}")]
    Api {
        /// What was to be done.
        verb: &'static str,
        /// With what.
        object: String,
        /// Why not.
        #[source]
        source: ApiError,
    },
    /// The new ReplicaSet could not be created; how the round ends instead is for the caller to plan.
    #[error("could not create {name}")]
    NotCreated {
        /// Its name.
        name: String,
        /// Why not.
        #[source]
        source: ApiError,
    },
    /// The plan itself fails.
    #[error(transparent)]
    Plan(#[from] Failure),
}

/// Carries out one plan.
#[derive(Debug)]
pub struct Apply<'a> {
    /// Sends.
    pub writer: &'a Writer,
    /// Takes the answers in.
    pub shared: &'a Arc<Shared>,
    /// Takes the events.
    pub recorder: &'a Recorder,
    /// The Deployment planned for.
    pub deployment: &'a Deployment,
    /// Whether the Deployment was found fit to adopt in this round.
    pub adopts: bool,
    /// The resourceVersions that this round's writes gave back, by ReplicaSet.
    pub versions: HashMap<String, String>,
    /// The same for the Deployment.
    pub version: Option<String>,
}

#[derive(Deserialize)]
struct Answered {
    metadata: AnsweredMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnsweredMeta {
    #[serde(default)]
    uid: String,
    deletion_timestamp: Option<String>,
}

impl Apply<'_> {
    /// Does the steps, tells the events, and writes the status if `with_status`.
    ///
    /// # Errors
    /// The first thing that went wrong; a refusal that the status does not wait for is told after it.
    pub async fn run(&mut self, plan: &Plan, with_status: bool) -> Result<(), RoundError> {
        self.tell(&plan.events, None);
        let mut dropped = None;
        for (i, planned) in plan.steps.iter().enumerate() {
            if dropped.is_some() && planned.status_even_if_refused {
                continue;
            }
            match self.step(&planned.step).await {
                Ok(()) => self.tell(&plan.events, Some(i)),
                Err(error @ RoundError::Api { .. }) if planned.status_even_if_refused => {
                    dropped = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if with_status && let Some(write) = &plan.status {
            match self.send(write.request(self.deployment, self.version.as_deref())).await {
                Err(error) if error.has_code(404) => {} // the Deployment is gone, and its end will be seen
                sent => sent?,
            }
        }
        match (dropped, &plan.failure) {
            (Some(error), _) => Err(error),
            (None, Some(failure)) => Err(failure.clone().into()),
            (None, None) => Ok(()),
        }
    }

    fn tell(&self, events: &[PlannedEvent], after: Option<usize>) {
        for told in events.iter().filter(|told| told.after == after) {
            self.recorder.tell(self.deployment, &told.event);
        }
    }

    async fn step(&mut self, step: &Step) -> Result<(), RoundError> {
        let mut template = None;
        match step {
            Step::Adopt { .. } => self.make_sure_it_may_adopt().await?,
            Step::Rollback { to: Some(set), .. } => template = Some(self.template_of(&set.name).await?),
            _ => {}
        }
        let version = match step {
            Step::Rollback { .. } => self.version.as_deref(),
            _ => self.versions.get(step.name()).map(String::as_str),
        };
        match (step, self.send(step.request(self.deployment, template.as_ref(), version)).await) {
            (Step::Adopt { .. } | Step::Delete { .. }, Err(error)) if error.has_code(404) => Ok(()),
            (Step::Release { .. }, Err(error)) if error.has_code(404) || error.has_code(422) => Ok(()),
            (Step::Create(new), Err(RoundError::Api { source, .. })) => {
                Err(RoundError::NotCreated { name: new.name.clone(), source })
            }
            (_, sent) => sent,
        }
    }

    /// Sends a write and takes the answer in.
    async fn send(&mut self, request: Request) -> Result<(), RoundError> {
        let namespace = &*self.deployment.meta.namespace;
        match self.writer.send(namespace, &request).await {
            Ok(answer) => self.take_in(&request, &answer),
            Err(WriteError::Withheld(withheld)) => Err(withheld.into()),
            Err(WriteError::Api(error)) => {
                if error.refusal().is_some_and(super::api::Refusal::is_namespace_ending) {
                    return Err(RoundError::NamespaceEnding);
                }
                if error.is("Conflict") {
                    self.look_again(&request).await;
                    return Err(RoundError::Stale { object: object(&request) });
                }
                Err(RoundError::Api { verb: verb(&request), object: object(&request), source: error })
            }
        }
    }

    fn take_in(&mut self, request: &Request, answer: &Bytes) -> Result<(), RoundError> {
        let garbled = |source: serde_json::Error| RoundError::Api {
            verb: verb(request),
            object: object(request),
            source: source.into(),
        };
        match (request.resource, request.verb) {
            (Resource::ReplicaSet, Verb::Delete) => {
                if let Some(held) = self.held::<ReplicaSet>(&request.name) {
                    self.shared.gone(&*held, version(&held.meta.resource_version));
                }
            }
            (Resource::ReplicaSet, _) => {
                let held = self.held::<ReplicaSet>(&request.name);
                let set = ReplicaSet::read(text(answer), held.as_deref()).map_err(garbled)?;
                self.versions.insert(request.name.clone(), set.meta.resource_version.to_string());
                self.shared.seen(set, Origin::Answer);
            }
            (Resource::Deployment | Resource::DeploymentStatus, _) => {
                let deployment = Deployment::read(text(answer), Some(self.deployment)).map_err(garbled)?;
                self.version = Some(deployment.meta.resource_version.to_string());
                self.shared.seen(deployment, Origin::Answer);
            }
        }
        Ok(())
    }

    /// The object of a name in the Deployment's namespace, from the caches.
    fn held<T: Known>(&self, name: &str) -> Option<Arc<T>> {
        T::store(&mut self.shared.world()).get(&self.deployment.meta.namespace, name).cloned()
    }

    /// Reads an object live that turned out to be newer than the caches, so that the next round is planned
    /// on what is. If that fails, the watch will bring it.
    async fn look_again(&self, request: &Request) {
        let namespace = &*self.deployment.meta.namespace;
        if request.resource == Resource::ReplicaSet {
            if let Ok(json) = self.writer.api.get(&REPLICA_SETS.one(namespace, &request.name)).await
                && let Ok(set) = serde_json::from_slice::<ReplicaSet>(&json)
            {
                self.shared.seen(set, Origin::Answer);
            }
        } else if let Ok(json) = self.writer.api.get(&DEPLOYMENTS.one(namespace, &request.name)).await
            && let Ok(deployment) = serde_json::from_slice::<Deployment>(&json)
        {
            self.shared.seen(deployment, Origin::Answer);
        }
    }

    /// Before the first adoption of a round: is the Deployment still there, the same, and to stay?
    async fn make_sure_it_may_adopt(&mut self) -> Result<(), RoundError> {
        if self.adopts {
            return Ok(());
        }
        let meta = &self.deployment.meta;
        let answer = self.read(DEPLOYMENTS.one(&meta.namespace, &meta.name), &meta.name).await?;
        let live: Answered = serde_json::from_slice(&answer).map_err(|source| RoundError::Api {
            verb: "read",
            object: format!("deployment {}", meta.name),
            source: source.into(),
        })?;
        if *live.metadata.uid != *meta.uid || live.metadata.deletion_timestamp.is_some() {
            return Err(RoundError::MayNotAdopt { name: meta.name.to_string() });
        }
        self.adopts = true;
        Ok(())
    }

    /// A ReplicaSet's template, read live: the caches hold only its fingerprint.
    async fn template_of(&self, set: &str) -> Result<Value, RoundError> {
        let answer = self.read(REPLICA_SETS.one(&self.deployment.meta.namespace, set), set).await?;
        let mut live: Value = serde_json::from_slice(&answer).map_err(|source| RoundError::Api {
            verb: "read",
            object: format!("replicaset {set}"),
            source: source.into(),
        })?;
        Ok(live.pointer_mut("/spec/template").map(Value::take).unwrap_or_default())
    }

    async fn read(&self, path: String, name: &str) -> Result<Bytes, RoundError> {
        self.writer.api.get(&path).await.map_err(|source| RoundError::Api {
            verb: "read",
            object: name.to_owned(),
            source,
        })
    }
}

impl RoundError {
    fn has_code(&self, code: u16) -> bool {
        matches!(self, RoundError::Api { source, .. } if source.has_code(code))
    }
}

fn verb(request: &Request) -> &'static str {
    match request.verb {
        Verb::Create => "create",
        Verb::MergePatch | Verb::StrategicPatch => "patch",
        Verb::Delete => "delete",
    }
}

fn object(request: &Request) -> String {
    let kind = match request.resource {
        Resource::Deployment => "deployment",
        Resource::DeploymentStatus => "status of deployment",
        Resource::ReplicaSet => "replicaset",
    };
    format!("{kind} {}", request.name)
}
