//! What holds of rollouts whatever happens: on a model cluster with late, failing and stale parts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod model;

use std::cell::Cell;

use model::{Cluster, Refusal, Stored};
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, TestRunner};
use rollgate::rollout::{Plan, Why};
use serde_json::{Value, json};

/// Something that happens.
#[derive(Debug, Clone)]
enum Act {
    /// A round, from caches so many writes behind.
    Sync {
        deployments_behind: usize,
        sets_behind: usize,
    },
    /// A round, and death after so many writes.
    Crash {
        writes: usize,
    },
    /// One sync of one ReplicaSet.
    Set(usize),
    /// So many pods become ready.
    Ready(usize),
    /// A pod that was ready no longer is.
    Fail(usize),
    /// A pod is evicted.
    Evict(usize),
    /// Terminating pods are gone.
    Gone,
    Wait(i64),
    Image(usize),
    Scale(i32),
    Pause(bool),
    Strategy(usize),
    /// No more pods than there are, or any number.
    Quota(bool),
}

const IMAGES: [&str; 4] = ["v1", "v2", "v3", "broken"];

fn strategies() -> [Value; 6] {
    let rolling = |surge: Value, unavailable: Value| json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
    [
        rolling("25%".into(), "25%".into()),
        rolling(1.into(), 0.into()),
        rolling(0.into(), 1.into()),
        rolling("100%".into(), "0%".into()),
        rolling(3.into(), "50%".into()),
        json!({"type": "Recreate", "rollingUpdate": null}),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        10 => (0..3_usize, 0..4_usize)
            .prop_map(|(deployments_behind, sets_behind)| Act::Sync { deployments_behind, sets_behind }),
        2 => (0..4_usize).prop_map(|writes| Act::Crash { writes }),
        8 => (0..6_usize).prop_map(Act::Set),
        4 => (1..8_usize).prop_map(Act::Ready),
        1 => (0..20_usize).prop_map(Act::Fail),
        1 => (0..20_usize).prop_map(Act::Evict),
        2 => Just(Act::Gone),
        1 => prop_oneof![Just(1_i64), Just(30), Just(700)].prop_map(Act::Wait),
        2 => (0..IMAGES.len()).prop_map(Act::Image),
        1 => (0..13_i32).prop_map(Act::Scale),
        1 => any::<bool>().prop_map(Act::Pause),
        1 => (0..6_usize).prop_map(Act::Strategy),
        1 => any::<bool>().prop_map(Act::Quota),
    ]
}

/// Lets something happen; gives the refusal that a round came to.
fn happen(cluster: &mut Cluster, act: &Act) -> Option<Refusal> {
    let sets: Vec<String> = cluster.stored.sets.keys().cloned().collect();
    let pods = cluster.stored.pods.len().max(1);
    match *act {
        Act::Sync { deployments_behind, sets_behind } => {
            let deployments = cluster.seen_with_own_writes(deployments_behind).clone();
            let sets = cluster.seen_with_own_writes(sets_behind).clone();
            return cluster.sync_seeing("web", &deployments, &sets).err();
        }
        Act::Crash { writes } => {
            cluster.writes_left = writes;
            let refusal = cluster.sync("web").err();
            cluster.writes_left = usize::MAX;
            return refusal;
        }
        Act::Set(i) if !sets.is_empty() => cluster.run_set(&sets[i % sets.len()]),
        Act::Set(_) => {}
        Act::Ready(most) => cluster.make_ready(most),
        Act::Fail(i) => {
            if let Some(pod) = cluster.stored.pods.get_mut(i % pods) {
                pod.ready_at = None;
            }
        }
        Act::Evict(i) => {
            if let Some(pod) = cluster.stored.pods.get_mut(i % pods) {
                pod.phase = "Failed";
            }
        }
        Act::Gone => cluster.remove_terminating(),
        Act::Wait(secs) => cluster.wait(secs),
        Act::Image(i) => cluster.set_image("web", IMAGES[i]),
        Act::Scale(replicas) => cluster.scale("web", replicas),
        Act::Pause(paused) => cluster.edit("web", json!({"spec": {"paused": paused}})),
        Act::Strategy(i) => cluster.edit("web", json!({"spec": {"strategy": strategies()[i]}})),
        Act::Quota(tight) => cluster.quota = if tight { cluster.stored.pods.len() } else { usize::MAX },
    }
    None
}

fn begin(replicas: i32, strategy: usize) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.graceful = true;
    cluster.create("web", "v1", json!({"replicas": replicas, "strategy": strategies()[strategy]}));
    cluster
}

/// Pods wanted of all ReplicaSets.
fn wanted(stored: &Stored) -> i64 {
    stored.sets.values().map(|set| set["spec"]["replicas"].as_i64().unwrap()).sum()
}

/// Available pods that no ReplicaSet has been told to delete.
fn kept(stored: &Stored) -> i64 {
    let number = |v: &Value| v.as_i64().unwrap_or(0);
    let sets = stored.sets.values();
    sets.map(|set| number(&set["spec"]["replicas"]).min(number(&set["status"]["availableReplicas"]))).sum()
}

/// What a rolling update must never do, checked after each write.
fn stays_within_bounds(before: &Stored, after: &Stored, plan: &Plan) {
    let Some(Why::Rolling { ceiling, .. }) = plan.why.iter().find(|w| matches!(w, Why::Rolling { .. }))
    else {
        return;
    };
    let (was, is) = (wanted(before), wanted(after));
    assert!(is <= was.max(i64::from(*ceiling)), "{was} -> {is} pods with a ceiling of {ceiling}: {plan:#?}");
}

/// The same for what is left available, where the ReplicaSets have caught up with their sizes.
fn stays_available(before: &Stored, after: &Stored, plan: &Plan) {
    stays_within_bounds(before, after, plan);
    let Some(Why::Rolling { floor, .. }) = plan.why.iter().find(|w| matches!(w, Why::Rolling { .. })) else {
        return;
    };
    let (was, is) = (kept(before), kept(after));
    assert!(is >= was.min(i64::from(*floor)), "{was} -> {is} available with a floor of {floor}: {plan:#?}");
}

/// Lets all come to rest with a good image, and checks that it is the rest wanted.
fn comes_to_rest(cluster: &mut Cluster) {
    cluster.quota = usize::MAX;
    cluster.graceful = false;
    cluster.remove_terminating();
    cluster.edit("web", json!({"spec": {"paused": false}}));
    cluster.set_image("web", "v2");
    cluster.settle();
    let replicas = cluster.stored.deployments["web"]["spec"]["replicas"].as_i64().unwrap();
    let expected = if replicas > 0 { vec![("v2".to_owned(), replicas)] } else { vec![] };
    assert_eq!(cluster.sizes(), expected);
    assert_eq!(cluster.condition("web", "Progressing"), "True/NewReplicaSetAvailable");
    assert_eq!(cluster.condition("web", "Available"), "True/MinimumReplicasAvailable");
    assert_eq!(cluster.status("web")["updatedReplicas"].as_i64().unwrap_or(0), replicas);
    let before = cluster.stored.clone();
    assert!(cluster.plan("web").is_empty());
    cluster.sync("web").unwrap();
    assert_eq!(cluster.stored.sets, before.sets);
    assert_eq!(cluster.stored.deployments, before.deployments);
}

/// What came up in all runs of a property, so that a property of nothing is not taken for one that holds.
#[derive(Debug, Default)]
struct Reached {
    conflicts: Cell<usize>,
    crashes: Cell<usize>,
    writes: Cell<usize>,
}

impl Reached {
    fn count(&self, refusal: Option<Refusal>) {
        self.conflicts.set(self.conflicts.get() + usize::from(refusal == Some(Refusal::Conflict)));
        self.crashes.set(self.crashes.get() + usize::from(refusal == Some(Refusal::Crash)));
    }
}

/// Checks a property for many beginnings and courses of events.
fn hold(strategies: std::ops::Range<usize>, run: impl Fn(&mut Cluster, &[Act], &Reached)) -> Reached {
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 128,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/rollout_properties.seeds"))),
        ..ProptestConfig::default()
    });
    let reached = Reached::default();
    let inputs = (0..13_i32, strategies, prop::collection::vec(act(), 0..60));
    let result = runner.run(&inputs, |(replicas, strategy, acts)| {
        let mut cluster = begin(replicas, strategy);
        run(&mut cluster, &acts, &reached);
        reached.writes.set(reached.writes.get() + cluster.writes);
        comes_to_rest(&mut cluster);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}\n{runner}");
    }
    assert!(reached.writes.get() > 500 && reached.crashes.get() > 10, "{reached:?}");
    reached
}

/// With caches that show our own writes, but may be behind otherwise.
#[test]
fn rollouts_stay_below_the_ceiling_and_come_to_rest() {
    let reached = hold(0..6, |cluster, acts, reached| {
        cluster.check = stays_within_bounds;
        for act in acts {
            let refusal = happen(cluster, act);
            reached.count(refusal);
        }
    });
    assert!(reached.conflicts.get() > 5, "{reached:?}");
}

/// With ReplicaSets that have caught up with their sizes and pods.
#[test]
fn rolling_updates_leave_enough_pods_available() {
    hold(0..5, |cluster, acts, reached| {
        cluster.check = stays_available;
        for act in acts {
            let refusal = match act {
                Act::Sync { .. } | Act::Crash { .. } => {
                    cluster.run_sets();
                    let writes = if let Act::Crash { writes } = act { *writes } else { usize::MAX };
                    happen(cluster, &Act::Crash { writes })
                }
                _ => happen(cluster, act),
            };
            reached.count(refusal);
        }
    });
}

/// With caches that are behind in any way.
#[test]
fn stale_caches_delay_rollouts_but_do_not_stop_them() {
    let reached = hold(0..6, |cluster, acts, reached| {
        for act in acts {
            let refusal = if let Act::Sync { deployments_behind, sets_behind } = *act {
                let deployments = cluster.seen(deployments_behind).clone();
                let sets = cluster.seen(sets_behind * 3).clone();
                cluster.sync_seeing("web", &deployments, &sets).err()
            } else {
                happen(cluster, act)
            };
            reached.count(refusal);
        }
    });
    assert!(reached.conflicts.get() > 50, "{reached:?}");
}

/// What is left of a rollout when all is done: times, versions and the number of changes aside.
fn rest(cluster: &Cluster) -> Value {
    let sets = cluster.stored.sets.values();
    let sets: Vec<Value> = sets
        .map(|set| {
            json!([
                set["metadata"]["name"],
                set["metadata"]["annotations"],
                set["spec"],
                set["status"]["replicas"]
            ])
        })
        .collect();
    let d = &cluster.stored.deployments["web"];
    let mut status = d["status"].clone();
    for condition in status["conditions"].as_array_mut().unwrap() {
        // How far a round got before the crash shows in nothing but times and the order of change.
        condition
            .as_object_mut()
            .unwrap()
            .retain(|key, _| key == "type" || key == "status" || key == "reason");
    }
    status["conditions"].as_array_mut().unwrap().sort_by_key(ToString::to_string);
    json!([sets, d["metadata"]["annotations"], d["spec"], status])
}

fn rolled_out(strategy: usize, crash_after: usize) -> (Cluster, Value) {
    let mut cluster = begin(5, strategy);
    cluster.graceful = false;
    cluster.settle();
    cluster.set_image("web", "v2");
    cluster.settle();
    cluster.set_image("web", "v1");
    cluster.writes = 0;
    cluster.writes_left = crash_after;
    for _ in 0..100 {
        match cluster.sync("web") {
            Err(Refusal::Crash) => cluster.writes_left = usize::MAX,
            Ok(plan) if plan.is_empty() && cluster.condition("web", "Available").starts_with("True") => {
                let quiet = cluster.stored.pods.iter().all(|pod| pod.ready_at.is_some());
                if quiet {
                    break;
                }
            }
            _ => {}
        }
        cluster.run_sets();
        cluster.make_ready(1);
        cluster.run_sets();
    }
    let rest = rest(&cluster);
    (cluster, rest)
}

/// An undo, cut off after each number of writes: all come to the same end.
#[test]
fn a_crash_between_any_two_writes_does_no_harm() {
    for strategy in 0..strategies().len() {
        let (whole, expected) = rolled_out(strategy, usize::MAX);
        assert!(whole.writes > 4, "{}", whole.writes);
        assert_eq!(whole.sizes(), [("v1".to_owned(), 5)]);
        for writes in 0..whole.writes {
            let (_, rest) = rolled_out(strategy, writes);
            assert_eq!(rest, expected, "strategy {strategy}, cut off after {writes} writes");
        }
    }
}

/// A new image for three pods, each ready at once: 1 create, 5 scalings, and the status.
#[test]
fn a_rollout_of_three_pods_takes_few_writes() {
    let mut cluster = begin(3, 0);
    cluster.graceful = false;
    cluster.settle();
    cluster.set_image("web", "v2");
    cluster.writes = 0;
    cluster.settle();
    assert!(cluster.writes <= 16, "{}", cluster.writes);
    assert_eq!(cluster.sizes(), [("v2".to_owned(), 3)]);
}
