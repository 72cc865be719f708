//! What the controller counts. Every label has a fixed set of values.

use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::apply::RoundError;
use super::permit::{Field, Standing};
use super::world::World;
use crate::rollout::Deployment;

/// Upper bounds in seconds of waits and rounds: from a tenth of a millisecond to the longest call.
const BUCKETS: [f64; 12] = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 10.0, 60.0];

type Number = Gauge<i64, AtomicI64>;
type Seconds = Gauge<f64, AtomicU64>;

/// The counters and gauges of one controller.
#[derive(Debug, Clone)]
pub struct Metrics {
    rounds: Family<RoundLabels, Counter>,
    round_secs: Histogram,
    wait_secs: Histogram,
    queue_depth: Number,
    queue_age: Seconds,
    writes: Family<WriteLabels, Counter>,
    conflicts: Counter,
    deployments: Number,
    replica_sets: Number,
    pods: Number,
    in_progress: Number,
    stuck: Number,
    leading: Number,
    rival: Number,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RoundLabels {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WriteLabels {
    verb: &'static str,
    resource: &'static str,
    result: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics {
            rounds: Family::default(),
            round_secs: Histogram::new(BUCKETS),
            wait_secs: Histogram::new(BUCKETS),
            queue_depth: Gauge::default(),
            queue_age: Gauge::default(),
            writes: Family::default(),
            conflicts: Counter::default(),
            deployments: Gauge::default(),
            replica_sets: Gauge::default(),
            pods: Gauge::default(),
            in_progress: Gauge::default(),
            stuck: Gauge::default(),
            leading: Gauge::default(),
            rival: Gauge::default(),
        }
    }
}

impl Metrics {
    /// Puts all of them into a registry.
    pub fn register(&self, registry: &mut Registry) {
        let r = registry.sub_registry_with_prefix("controller");
        r.register("syncs", "Rounds done, by how they ended", self.rounds.clone());
        let help = "Time that a round took";
        r.register_with_unit("sync_duration", help, Unit::Seconds, self.round_secs.clone());
        let help = "Time that a Deployment waited for its round";
        r.register_with_unit("queue_wait", help, Unit::Seconds, self.wait_secs.clone());
        r.register("queue_depth", "Deployments that wait for their round", self.queue_depth.clone());
        let help = "How long the oldest of them has waited";
        r.register_with_unit("queue_age", help, Unit::Seconds, self.queue_age.clone());
        r.register("writes", "Writes sent, by verb, resource and result", self.writes.clone());
        let help = "Writes refused because somebody else was faster";
        r.register("conflicts", help, self.conflicts.clone());
        r.register("deployments", "Deployments known", self.deployments.clone());
        r.register("replica_sets", "ReplicaSets known", self.replica_sets.clone());
        let help = "Pods of ReplicaSets known; they are followed while a Deployment uses Recreate";
        r.register("pods", help, self.pods.clone());
        let help = "Deployments whose status is not complete";
        r.register("rollouts_in_progress", help, self.in_progress.clone());
        let help = "Deployments that have exceeded their progress deadline";
        r.register("rollouts_stuck", help, self.stuck.clone());
        r.register("leading", "1 when this replica leads", self.leading.clone());
        r.register("rival", "1 when another Deployment controller is running", self.rival.clone());
    }

    /// Counts a round, how long its Deployment had waited, and how long it took.
    pub fn rounded(&self, waited: Duration, took: Duration, error: Option<&RoundError>) {
        let result = match error {
            None => "success",
            Some(RoundError::Stale { .. }) => "stale",
            Some(RoundError::Withheld(_)) => "withheld",
            Some(RoundError::NamespaceEnding) => "namespace_ending",
            Some(_) => "failure",
        };
        self.rounds.get_or_create(&RoundLabels { result }).inc();
        self.wait_secs.observe(waited.as_secs_f64());
        self.round_secs.observe(took.as_secs_f64());
    }

    /// Counts a write; `code` is that of a refusal, and none where there was no answer.
    pub fn wrote(&self, verb: &'static str, resource: &'static str, result: Result<(), Option<u16>>) {
        let result = match result {
            Ok(()) => "success",
            Err(Some(409)) => "conflict",
            Err(Some(_)) => "refused",
            Err(None) => "unreachable",
        };
        self.writes.get_or_create(&WriteLabels { verb, resource, result }).inc();
        if result == "conflict" {
            self.conflicts.inc();
        }
    }

    /// Brings the gauges up to date.
    pub fn measure(&self, world: &World, queue: (usize, Duration), standing: Standing) {
        let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let leading = standing.lead.holds_at(std::time::Instant::now());
        self.queue_depth.set(count(queue.0));
        // What waits on a replica that waits itself is no reason for alarm.
        self.queue_age.set(if leading { queue.1.as_secs_f64() } else { 0.0 });
        self.deployments.set(count(world.deployments.len()));
        self.replica_sets.set(count(world.sets.len()));
        self.pods.set(count(world.pods.len()));
        self.in_progress.set(count(world.deployments.iter().filter(|d| !is_complete(d)).count()));
        self.stuck.set(count(world.deployments.iter().filter(|d| is_stuck(d)).count()));
        self.leading.set(i64::from(leading));
        self.rival.set(i64::from(standing.field == Field::Taken));
    }
}

fn is_complete(d: &Deployment) -> bool {
    let status = &d.status;
    [status.updated, status.replicas, status.available] == [d.replicas; 3]
        && status.observed_generation >= d.meta.generation
}

fn is_stuck(d: &Deployment) -> bool {
    d.status.conditions.iter().any(|c| c.kind == "Progressing" && c.reason == "ProgressDeadlineExceeded")
}
