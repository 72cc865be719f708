//! Puts the parts together and runs them until told to stop.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::registry::Registry;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tracing::info;

use super::api::{Api, DEPLOYMENTS, Form, Kind, PODS, REPLICA_SETS};
use super::backoff::Backoff;
use super::events;
use super::leader::Leader;
use super::metrics::Metrics;
use super::pace::Pace;
use super::permit::{Field, Lead, Permit, Standing};
use super::reflect::{Reflector, Shared, Witness};
use super::takeover::Takeover;
use super::watch::{Subject, Watch};
use super::worker::Workshop;
use super::world::{Known, Scope};
use super::write::Writer;
use crate::rollout::{Deployment, Pod, ReplicaSet};

/// How long events may still be sent after the last round.
const LAST_EVENTS: Duration = Duration::from_secs(2);

/// How often the gauges are brought up to date.
const MEASURE_EVERY: Duration = Duration::from_secs(1);

/// Decisions read of Pods who owns them, and pass over those that have ended. So only metadata is asked
/// for, a Pod's smaller half, and a Pod that ends is told of as if it were gone.
const LASTING_PODS: Subject = Subject {
    kind: PODS,
    which: "&fieldSelector=status.phase!%3DFailed,status.phase!%3DSucceeded",
    form: Form::Metadata,
};

/// What a controller is made from.
#[derive(Debug, Clone)]
pub struct Options {
    /// The namespaces to work in; none means all.
    pub namespaces: Vec<String>,
    /// Deployments worked on at once.
    pub workers: usize,
    /// Whether to work only while holding the Lease.
    pub leader_elect: bool,
    /// Whether to make sure that nobody else does this work.
    pub takeover_check: bool,
    /// Where the Lease and the probe are: the namespace that this process lives in.
    pub home: String,
}

/// Why a controller ended before it was told to.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// The way to the API server cannot be prepared.
    #[error(transparent)]
    Transport(#[from] super::transport::TransportError),
    /// A part ended by itself.
    #[error("a part of the controller ended unexpectedly")]
    Ended(#[source] Option<JoinError>),
}

/// A controller that is ready to run.
#[derive(Debug)]
pub struct Controller {
    options: Options,
    writer: Writer,
    health: Health,
}

/// What can be told about a controller while it runs.
#[derive(Debug, Clone)]
pub struct Health {
    shared: Arc<Shared>,
    permit: Permit,
    metrics: Metrics,
    synced: watch::Sender<usize>,
    watches: usize,
}

impl Health {
    /// Whether its caches are filled and nobody else does its work. Leadership does not matter: a replica
    /// that waits for its turn is as ready as can be.
    ///
    /// # Errors
    /// What is missing.
    pub fn ready(&self) -> Result<(), &'static str> {
        if *self.synced.borrow() < self.watches {
            return Err("the caches are not filled yet");
        }
        if self.permit.standing().field == Field::Taken {
            return Err("another Deployment controller is running");
        }
        Ok(())
    }

    /// Keeps the gauges up to date, for ever.
    async fn measure(self) {
        loop {
            let queue = self.shared.queue.depth();
            self.metrics.measure(&self.shared.world(), queue, self.permit.standing());
            tokio::time::sleep(MEASURE_EVERY).await;
        }
    }
}

impl Controller {
    /// Prepares a controller; nothing is read or written yet. What it counts goes into the registry.
    ///
    /// # Errors
    /// [`ControllerError::Transport`].
    pub fn new(
        config: kube::Config,
        options: Options,
        registry: &mut Registry,
    ) -> Result<Controller, ControllerError> {
        let permit = Permit::new(Standing {
            lead: if options.leader_elect { Lead::None } else { Lead::Always },
            field: if options.takeover_check { Field::Unchecked } else { Field::Clear },
        });
        let metrics = Metrics::default();
        metrics.register(registry);
        let health = Health {
            shared: Arc::default(),
            permit: permit.clone(),
            metrics: metrics.clone(),
            synced: watch::Sender::new(0),
            watches: options.namespaces.len().max(1) * 2,
        };
        Ok(Controller { options, writer: Writer { api: Api::new(config)?, permit, metrics }, health })
    }

    /// What can be told about it.
    pub fn health(&self) -> Health {
        self.health.clone()
    }

    /// Works until `stop` is done, finishes the rounds that are under way, lets go of the lease, and
    /// returns.
    ///
    /// # Errors
    /// [`ControllerError::Ended`] when a part ends that should not.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), ControllerError> {
        let (recorder, sender) = events::recorder(self.writer.clone());
        let workshop = Arc::new(Workshop {
            shared: self.health.shared.clone(),
            writer: self.writer.clone(),
            recorder,
            backoff: Backoff::default(),
            pace: Pace::default(),
        });
        let telling = tokio::spawn(sender.run());
        let mut lasting = JoinSet::new();
        self.follow_all(&mut lasting);
        lasting.spawn(self.health().measure());
        let leading = Stoppable::start(|stop| self.lead(stop));
        let mut workers = JoinSet::new();
        let (stopping, stopped) = watch::channel(false);
        let ended = tokio::select! {
            () = stop => None,
            ended = lasting.join_next() => ended,
            ended = async {
                self.filled().await;
                for _ in 0..self.options.workers {
                    workers.spawn(workshop.clone().work(stopped.clone()));
                }
                workers.join_next().await
            } => ended,
        };
        stopping.send_replace(true);
        while workers.join_next().await.is_some() {}
        drop(workshop); // with it goes the last recorder, and the sender ends when all is sent
        let _ = tokio::time::timeout(LAST_EVENTS, telling).await;
        leading.stop().await;
        lasting.shutdown().await;
        match ended {
            None => Ok(()),
            Some(ended) => Err(ControllerError::Ended(ended.err())),
        }
    }

    async fn filled(&self) {
        let mut synced = self.health.synced.subscribe();
        let _ = synced.wait_for(|count| *count >= self.health.watches).await;
        info!(workers = self.options.workers, "caches are filled");
    }

    /// Keeps the lease, if one is to be kept, until told to stop.
    fn lead(&self, mut stop: watch::Receiver<bool>) -> impl Future<Output = ()> + Send + use<> {
        let Writer { api, permit, .. } = self.writer.clone();
        let (elect, home) = (self.options.leader_elect, self.options.home.clone());
        async move {
            if elect {
                Leader::new(api, permit, home).run(stop).await;
            } else {
                let _ = stop.wait_for(|stop| *stop).await;
            }
        }
    }

    /// Starts all watches, and the guard against rivals, who looks at what they bring.
    fn follow_all(&self, tasks: &mut JoinSet<()>) {
        let mut lookout = None;
        if self.options.takeover_check {
            let Writer { api, permit, .. } = self.writer.clone();
            let guard = Takeover::new(api, permit, self.options.home.clone());
            lookout = Some(guard.lookout());
            tasks.spawn(guard.run());
        }
        let scopes: Vec<Scope> = match &*self.options.namespaces {
            [] => vec![None],
            named => named.iter().map(|name| Some(name.as_str().into())).collect(),
        };
        for scope in scopes {
            let witness = lookout
                .clone()
                .map(|lookout| -> Witness { Box::new(move |deployment| lookout.look(deployment)) });
            self.follow::<Deployment>(tasks, DEPLOYMENTS, scope.clone(), witness);
            self.follow::<ReplicaSet>(tasks, REPLICA_SETS, scope.clone(), None);
            self.follow_pods_where_they_matter(tasks, scope);
        }
    }

    fn follow<T: Known + 'static>(
        &self,
        tasks: &mut JoinSet<()>,
        kind: Kind,
        scope: Scope,
        witness: Option<Witness>,
    ) {
        let api = self.writer.api.clone();
        let Health { shared, synced, .. } = self.health.clone();
        let mut sink = Reflector::<T>::new(shared, scope.clone(), Some(synced));
        sink.witness = witness;
        let subject = Subject { kind, which: "", form: Form::Whole };
        tasks.spawn(async move { Watch::new(&api, subject, scope.as_deref(), &mut sink).run().await });
    }

    /// Follows the Pods as long as some Deployment uses Recreate. There are more of them, and they change more
    /// often, than all else together.
    fn follow_pods_where_they_matter(&self, tasks: &mut JoinSet<()>, scope: Scope) {
        let (api, shared) = (self.writer.api.clone(), self.health.shared.clone());
        let mut recreating = shared.world().recreating();
        tasks.spawn(async move {
            // The sender is in the world, and stays as long as this does.
            while recreating.wait_for(|count| *count > 0).await.is_ok() {
                let mut sink = Reflector::<Pod>::new(shared.clone(), scope.clone(), None);
                tokio::select! {
                    () = Watch::new(&api, LASTING_PODS, scope.as_deref(), &mut sink).run() => {}
                    _ = recreating.wait_for(|count| *count == 0) => {}
                }
                shared.world().forget_pods(&scope);
            }
        });
    }
}

/// A task that ends when it is told to.
struct Stoppable {
    stop: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

impl Stoppable {
    fn start<F: Future<Output = ()> + Send + 'static>(
        task: impl FnOnce(watch::Receiver<bool>) -> F,
    ) -> Stoppable {
        let (stop, stopped) = watch::channel(false);
        Stoppable { stop, task: tokio::spawn(task(stopped)) }
    }

    async fn stop(self) {
        self.stop.send_replace(true);
        let _ = self.task.await;
    }
}
