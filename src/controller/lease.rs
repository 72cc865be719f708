//! Leader election by a Lease: what to do about what it says.
//!
//! The rules are those of Kubernetes' own components. A lease is taken when nobody holds it, or when it has
//! not changed for as long as it lasts, by one's own monotonic clock: the times written in it are those of
//! other machines and are not compared. Decides only; [`super::leader`] reads and writes.

use std::time::{Duration, Instant};

use k8s_openapi::jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

/// How long a lease lasts unless it is renewed.
pub const LASTS: Duration = Duration::from_secs(15);

/// How long its holder counts on it. The difference is what clocks and networks may be off by.
pub const COUNTED_ON: Duration = Duration::from_secs(10);

/// How often it is renewed, or looked at.
pub const EVERY: Duration = Duration::from_secs(2);

/// A Lease as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Lease {
    metadata: LeaseMeta,
    #[serde(default)]
    spec: LeaseSpec,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LeaseMeta {
    resource_version: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LeaseSpec {
    holder_identity: Option<String>,
    lease_duration_seconds: Option<u64>,
    renew_time: Option<String>,
    lease_transitions: Option<i32>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Move {
    /// Make a lease and hold it: this is its content.
    Create(Value),
    /// Hold it, or go on holding it, by this patch.
    Hold(Value),
    /// Another one holds it.
    Wait {
        /// Who.
        holder: String,
    },
}

/// One candidate's view of the lease.
#[derive(Debug)]
pub struct Candidate {
    /// Its name, which no other candidate has.
    pub identity: String,
    seen: Option<(Lease, Instant)>,
}

impl Candidate {
    /// With a name.
    pub fn new(identity: String) -> Candidate {
        Candidate { identity, seen: None }
    }

    /// What to do about the lease as it is (none: there is none), at `now`, which is `time` on the wall.
    pub fn consider(&mut self, lease: Option<Lease>, now: Instant, time: Timestamp) -> Move {
        let Some(lease) = lease else {
            return Move::Create(json!({
                "holderIdentity": self.identity,
                "leaseDurationSeconds": LASTS.as_secs(),
                "acquireTime": micros(time),
                "renewTime": micros(time),
                "leaseTransitions": 0,
            }));
        };
        let since = match &self.seen {
            Some((seen, since)) if *seen == lease => *since,
            _ => now,
        };
        self.seen = Some((lease.clone(), since));
        let holder = lease.spec.holder_identity.clone().unwrap_or_default();
        let lasts = lease.spec.lease_duration_seconds.map_or(LASTS, Duration::from_secs);
        if holder == self.identity {
            return Move::Hold(patch(&lease, json!({"renewTime": micros(time)})));
        }
        if !holder.is_empty() && now.duration_since(since) < lasts {
            return Move::Wait { holder };
        }
        let spec = json!({
            "holderIdentity": self.identity,
            "leaseDurationSeconds": LASTS.as_secs(),
            "acquireTime": micros(time),
            "renewTime": micros(time),
            "leaseTransitions": lease.spec.lease_transitions.unwrap_or(0).saturating_add(1),
        });
        Move::Hold(patch(&lease, spec))
    }

    /// The patch that lets go of the lease, if this candidate holds it.
    pub fn release(&self, lease: &Lease, time: Timestamp) -> Option<Value> {
        let held = lease.spec.holder_identity.as_deref() == Some(&self.identity);
        let spec = json!({"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": micros(time)});
        held.then(|| patch(lease, spec))
    }
}

/// Only if nobody else was faster.
fn patch(lease: &Lease, spec: Value) -> Value {
    json!({"metadata": {"resourceVersion": lease.metadata.resource_version}, "spec": spec})
}

/// As the API writes times of leases.
fn micros(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(holder: &str, version: &str) -> Lease {
        let json = json!({
            "metadata": {"resourceVersion": version},
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 3},
        });
        serde_json::from_value(json).unwrap()
    }

    fn time() -> Timestamp {
        "2026-12-01T10:00:00.25Z".parse().unwrap()
    }

    #[test]
    fn a_lease_that_nobody_has_made_is_made() {
        let Move::Create(spec) = Candidate::new("a".into()).consider(None, Instant::now(), time()) else {
            panic!("not made");
        };
        assert_eq!(spec["holderIdentity"], "a");
        assert_eq!(spec["renewTime"], "2026-12-01T10:00:00.250000Z");
    }

    #[test]
    fn another_ones_lease_is_taken_only_after_it_has_stood_still_for_as_long_as_it_lasts() {
        let (mut candidate, start) = (Candidate::new("a".into()), Instant::now());
        let wait = Move::Wait { holder: "b".into() };
        let mut at = |secs, version| {
            candidate.consider(Some(lease("b", version)), start + Duration::from_secs(secs), time())
        };
        assert_eq!(at(0, "1"), wait);
        assert_eq!(at(14, "1"), wait);
        assert_eq!(at(20, "2"), wait, "renewed while nobody looked: the time counts anew");
        assert_eq!(at(34, "2"), wait);
        let Move::Hold(patch) = at(35, "2") else { panic!("not taken") };
        assert_eq!(patch["metadata"]["resourceVersion"], "2");
        assert_eq!(patch["spec"]["leaseTransitions"], 4);
    }

    #[test]
    fn a_released_lease_is_taken_at_once_and_only_its_holder_releases_it() {
        let mut candidate = Candidate::new("a".into());
        let taken = candidate.consider(Some(lease("", "1")), Instant::now(), time());
        assert!(matches!(taken, Move::Hold(patch) if patch["spec"]["holderIdentity"] == "a"));
        assert_eq!(candidate.release(&lease("b", "2"), time()), None);
        assert_eq!(candidate.release(&lease("a", "2"), time()).unwrap()["spec"]["holderIdentity"], "");
    }

    #[test]
    fn a_holder_renews_and_leaves_the_rest_alone() {
        let mut candidate = Candidate::new("a".into());
        let Move::Hold(patch) = candidate.consider(Some(lease("a", "7")), Instant::now(), time()) else {
            panic!("not renewed");
        };
        assert_eq!(patch["spec"], json!({"renewTime": "2026-12-01T10:00:00.250000Z"}));
    }
}
