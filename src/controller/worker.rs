//! Takes Deployments from the queue and brings each a step further: gather, plan, apply.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::{debug, info, warn};

use super::apply::{Apply, RoundError};
use super::backoff::{Backoff, Trouble};
use super::events::Recorder;
use super::key::Key;
use super::pace::Pace;
use super::queue::Lane;
use super::reflect::Shared;
use super::world::View;
use super::write::Writer;
use crate::clock;
use crate::rollout::{CreateError, Observed, Plan, Recheck, plan, plan_after};

/// What all workers share.
#[derive(Debug)]
pub struct Workshop {
    /// The caches and the queue.
    pub shared: Arc<Shared>,
    /// Sends.
    pub writer: Writer,
    /// Takes the events.
    pub recorder: Recorder,
    /// When to try again.
    pub backoff: Backoff,
    /// When to write statuses.
    pub pace: Pace,
}

impl Workshop {
    /// Works until told to stop; a round that has begun is finished.
    pub async fn work(self: Arc<Self>, mut stop: tokio::sync::watch::Receiver<bool>) {
        loop {
            let (key, since) = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                next = self.next() => next,
            };
            // From here to the end of the round nothing is cancelled.
            let started = Instant::now();
            let done = self.round(&key).await;
            let metrics = &self.writer.metrics;
            metrics.rounded(started - since, started.elapsed(), done.as_ref().err());
            self.finish(&key, done);
            self.shared.queue.done(&key);
        }
    }

    async fn next(&self) -> (Key, Instant) {
        self.writer.permit.granted().await;
        self.shared.queue.take().await
    }

    fn finish(&self, key: &Key, done: Result<Option<Duration>, RoundError>) {
        match done {
            Ok(recheck) => {
                self.backoff.succeeded(key);
                if let Some(delay) = recheck {
                    self.shared.queue.add_after(key.clone(), delay);
                }
            }
            Err(RoundError::NamespaceEnding) => self.backoff.succeeded(key),
            Err(RoundError::Withheld(why)) => {
                debug!(deployment = %key, %why, "not allowed to write, put back");
                self.shared.queue.add([key.clone()], Lane::Begun);
            }
            Err(error) => {
                let delay = self.backoff.failed(key, trouble(&error));
                self.report(key, &error, delay);
                self.shared.queue.add_after(key.clone(), delay);
            }
        }
    }

    fn report(&self, key: &Key, error: &RoundError, delay: Duration) {
        let again_ms = delay.as_millis();
        let stale = matches!(error, RoundError::Stale { .. });
        let error: &dyn std::error::Error = error;
        if stale {
            info!(deployment = %key, error, again_ms, "round failed");
        } else {
            warn!(deployment = %key, error, again_ms, "round failed");
        }
    }

    /// One round. Says when to look again although nothing may have changed by then.
    async fn round(&self, key: &Key) -> Result<Option<Duration>, RoundError> {
        let view = self.shared.world().view(key);
        let Some(view) = view else {
            self.pace.settled(key);
            return Ok(None); // deleted while it waited, or its Pods are yet to come
        };
        let seen = view.observed();
        let plan = plan(&seen);
        debug!(deployment = %key, steps = plan.steps.len(), status = plan.status.is_some(), why = ?plan.why, "planned");
        let mut apply = Apply {
            writer: &self.writer,
            shared: &self.shared,
            recorder: &self.recorder,
            deployment: &view.deployment,
            adopts: false,
            versions: HashMap::new(),
            version: None,
        };
        let later = self.put_off(key, &view, &plan);
        match apply.run(&plan, later.is_none()).await {
            Ok(()) => {}
            Err(RoundError::NotCreated { name, source }) => {
                return self.after_failed_creation(&mut apply, &seen, &name, source).await;
            }
            Err(error) => return Err(error),
        }
        Ok(later.or_else(|| recheck(&plan)))
    }

    /// How long to put the plan's status off, if it is put off at all.
    fn put_off(&self, key: &Key, view: &View, plan: &Plan) -> Option<Duration> {
        match &plan.status {
            Some(write) if plan.failure.is_none() => {
                self.pace.put_off(key, &view.deployment.status, write, Instant::now())
            }
            _ => {
                self.pace.settled(key);
                None
            }
        }
    }

    /// Ends a round in which the new ReplicaSet could not be created.
    async fn after_failed_creation(
        &self,
        apply: &mut Apply<'_>,
        seen: &Observed<'_>,
        name: &str,
        source: super::api::ApiError,
    ) -> Result<Option<Duration>, RoundError> {
        let failed = |source| RoundError::NotCreated { name: name.to_owned(), source };
        let Some(refusal) = source.refusal().filter(|refusal| !refusal.is_passing()) else {
            return Err(failed(source)); // says nothing about the ReplicaSet
        };
        let taken = source.is("AlreadyExists");
        let namespace = &seen.deployment.meta.namespace;
        let held = if taken { self.shared.world().sets.get(namespace, name).cloned() } else { None };
        let error = match taken {
            true => CreateError::NameTaken(held.as_deref()),
            false => CreateError::Refused(&refusal.message),
        };
        let plan = plan_after(seen, error);
        match apply.run(&plan, true).await {
            Ok(()) => Ok(recheck(&plan)),
            // The refusal is what matters; it has been told.
            Err(RoundError::Plan(_)) if !taken => Err(failed(source)),
            Err(error) => Err(error),
        }
    }
}

impl View {
    /// What a plan is made from, now.
    fn observed(&self) -> Observed<'_> {
        Observed {
            deployment: &self.deployment,
            sets: self.sets.iter().map(|set| &**set).collect(),
            pods: self.pods.iter().map(|pod| &**pod).collect(),
            now: clock::now(),
        }
    }
}

fn recheck(plan: &Plan) -> Option<Duration> {
    match plan.recheck? {
        Recheck::After(delay) => Some(delay),
        // The deadline lies within the next second, or has just passed.
        Recheck::Soon => Some(Duration::from_millis(250)),
        Recheck::Idle => None,
    }
}

/// What a failure says about when to try again.
fn trouble(error: &RoundError) -> Trouble {
    let source = match error {
        RoundError::Api { source, .. } | RoundError::NotCreated { source, .. } => source,
        RoundError::Stale { .. } => return Trouble::Passing(None),
        _ => return Trouble::Refused,
    };
    match source.refusal() {
        None => Trouble::Passing(None),
        Some(refusal) if refusal.is_passing() || refusal.code >= 500 => {
            let secs = refusal.details.retry_after_seconds;
            Trouble::Passing((secs > 0).then(|| Duration::from_secs(secs)))
        }
        Some(_) => Trouble::Refused,
    }
}
