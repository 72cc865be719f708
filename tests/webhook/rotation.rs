//! Years of rotations in one cluster, with two replicas and a clock that is stepped: at no time does
//! the API server meet a certificate that it does not trust, or that has expired.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use rollgate::certs::keyring::{Keyring, lifetime};
use rollgate::certs::pair::{Pair, authorities};
use rollgate::certs::rotation::{Lifetimes, Seen, Step, carry_out, plan};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier as _;
use rustls_pki_types::{ServerName, UnixTime};

const NAME: &str = "rollgate.rollgate.svc";

/// The objects that replicas share, and what the API server makes of them.
struct Cluster {
    /// The Secret's data and its resource version.
    secret: Option<(u64, BTreeMap<String, ByteString>)>,
    /// The bundle in the webhook configurations.
    published: String,
    /// The bundle that the API server goes by: it learns of a change only with the next step.
    trusted: String,
}

struct Replica {
    names: Vec<String>,
    serves: Option<Keyring>,
    steps: Vec<Step>,
}

/// What a replica read before it decided; another may have written since.
struct Glance {
    secret: Option<(u64, BTreeMap<String, ByteString>)>,
    published: String,
}

impl Cluster {
    fn new() -> Self {
        Cluster { secret: None, published: String::new(), trusted: String::new() }
    }

    fn glance(&self) -> Glance {
        Glance { secret: self.secret.clone(), published: self.published.clone() }
    }

    /// As the API server does: a write that was made from another version is refused.
    fn write(&mut self, seen: &Glance, ring: &Keyring) -> bool {
        let version = |s: &Option<(u64, _)>| s.as_ref().map_or(0, |(v, _)| *v);
        if version(&self.secret) != version(&seen.secret) {
            return false;
        }
        self.secret = Some((version(&self.secret) + 1, ring.to_data()));
        true
    }
}

impl Replica {
    fn new() -> Self {
        Replica { names: vec![NAME.to_owned()], serves: None, steps: Vec::new() }
    }

    /// One look at what `seen` shows; says whether there is nothing left to do.
    fn look(&mut self, cluster: &mut Cluster, seen: &Glance, life: &Lifetimes, now: Timestamp) -> bool {
        let ring = seen.secret.as_ref().and_then(|(_, data)| Keyring::from_data(data));
        let published = ring.as_ref().is_some_and(|r| r.bundle() == seen.published);
        if let Some(ring) = ring.as_ref().filter(|_| !published) {
            // The configurations are read before the Secret, and their version guards the write.
            if cluster.published == seen.published {
                cluster.published = ring.bundle();
            }
        }
        let seen_by_plan = Seen { keyring: ring.as_ref(), published, names: &self.names, now };
        let step = plan(&seen_by_plan, life);
        if step == Step::Keep {
            self.serves = ring;
            return true;
        }
        let next = carry_out(step, &seen_by_plan, life).unwrap();
        if cluster.write(seen, &next) {
            self.steps.push(step);
        }
        false
    }

    fn round(&mut self, cluster: &mut Cluster, life: &Lifetimes, now: Timestamp) {
        for _ in 0..10 {
            let seen = cluster.glance();
            if self.look(cluster, &seen, life, now) {
                return;
            }
        }
        panic!("the replica found no end");
    }
}

/// Whether the API server would talk to a replica that serves this.
fn verifies(ring: &Keyring, trusted: &str, now: Timestamp) -> Result<(), rustls::Error> {
    let pair = Pair::from_pem(ring.leaf.certificate.as_bytes(), ring.leaf.key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = authorities(trusted.as_bytes()).unwrap();
    let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider).build().unwrap();
    let time = UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(now.as_second()).unwrap()));
    let (leaf, rest) = pair.chain().split_first().unwrap();
    verifier.verify_server_cert(leaf, rest, &ServerName::try_from(NAME).unwrap(), &[], time).map(|_| ())
}

fn start() -> Timestamp {
    "2026-12-01T00:00:00Z".parse().unwrap()
}

fn hours(n: i64) -> SignedDuration {
    SignedDuration::from_hours(n)
}

/// Steps the clock; `awake` says whether a replica looks at that hour.
fn live(years: i64, every_hours: i64, awake: impl Fn(usize, i64) -> bool) -> (Cluster, [Replica; 2]) {
    let life = Lifetimes::default();
    let mut cluster = Cluster::new();
    let mut replicas = [Replica::new(), Replica::new()];
    for hour in (0..years * 365 * 24).step_by(usize::try_from(every_hours).unwrap()) {
        let now = start() + hours(hour);
        for (i, replica) in replicas.iter_mut().enumerate() {
            if hour == 0 || awake(i, hour) {
                replica.round(&mut cluster, &life, now);
            }
            if hour == 0 {
                // At the very first start nothing is ready before the bundle is known.
                cluster.trusted = cluster.published.clone();
            }
        }
        for (i, replica) in replicas.iter().enumerate() {
            let ring = replica.serves.as_ref().unwrap();
            if let Err(error) = verifies(ring, &cluster.trusted, now) {
                panic!("replica {i} cannot be reached at hour {hour}: {error}");
            }
        }
        cluster.trusted = cluster.published.clone();
    }
    (cluster, replicas)
}

fn count(replicas: &[Replica], step: Step) -> usize {
    replicas.iter().flat_map(|r| &r.steps).filter(|s| **s == step).count()
}

#[test]
fn two_replicas_are_reachable_for_ten_years() {
    let (cluster, replicas) = live(10, 24, |_, _| true);
    assert_eq!(count(&replicas, Step::Found), 1, "they agree on one beginning");
    // An authority is due after 243 of its 365 days and signs some days later: 14 times in 10 years.
    assert_eq!(count(&replicas, Step::Promote), 14);
    assert_eq!(count(&replicas, Step::Announce), 14);
    // A serving certificate is due after 20 days: some 182 times, a few of them by a promotion.
    let renewed = count(&replicas, Step::Renew);
    assert!((160..190).contains(&renewed), "{renewed}");
    let ring = Keyring::from_data(&cluster.secret.unwrap().1).unwrap();
    assert!(ring.retired.len() <= 1, "expired authorities are forgotten");
}

#[test]
fn a_replica_that_looks_once_a_week_keeps_up() {
    live(3, 24, |replica, hour| replica == 0 || hour % (7 * 24) == 0);
}

#[test]
fn of_two_that_decide_at_once_one_wins_and_both_serve_it() {
    let life = Lifetimes::default();
    let (mut cluster, mut a, mut b) = (Cluster::new(), Replica::new(), Replica::new());
    for hour in [0, 21 * 24, 244 * 24, 246 * 24] {
        let now = start() + hours(hour);
        // Both look before either writes.
        let seen = [cluster.glance(), cluster.glance()];
        a.look(&mut cluster, &seen[0], &life, now);
        b.look(&mut cluster, &seen[1], &life, now);
        a.round(&mut cluster, &life, now);
        b.round(&mut cluster, &life, now);
        assert_eq!(a.serves, b.serves);
    }
    assert_eq!(a.steps, [Step::Found, Step::Renew, Step::Announce, Step::Renew, Step::Promote]);
    assert_eq!(b.steps, [], "the slower one never won");
}

#[test]
fn other_names_are_a_reason_to_renew() {
    let (life, mut cluster, mut replica) = (Lifetimes::default(), Cluster::new(), Replica::new());
    replica.round(&mut cluster, &life, start());
    let before = replica.serves.clone().unwrap();
    replica.names.push("rollgate.example".to_owned());
    replica.round(&mut cluster, &life, start());
    let after = replica.serves.unwrap();
    assert_eq!((before.signing, after.names.len()), (after.signing, 2));
    assert_eq!(replica.steps, [Step::Found, Step::Renew]);
}

#[test]
fn after_a_year_asleep_the_cluster_begins_anew() {
    let (life, mut cluster, mut replica) = (Lifetimes::default(), Cluster::new(), Replica::new());
    replica.round(&mut cluster, &life, start());
    let now = start() + hours(366 * 24);
    replica.round(&mut cluster, &life, now);
    assert_eq!(replica.steps, [Step::Found, Step::Found]);
    let ring = replica.serves.unwrap();
    assert!(verifies(&ring, &cluster.published, now).is_ok());
}

#[test]
fn an_unpublished_authority_does_not_sign_until_the_last_expires() {
    let life = Lifetimes::default();
    let names = [NAME.to_owned()];
    let seen = |keyring, published, now| Seen { keyring, published, names: &names, now };
    let ring = carry_out(Step::Found, &seen(None, false, start()), &life).unwrap();
    let later = start() + hours(250 * 24);
    let ring = carry_out(Step::Announce, &seen(Some(&ring), true, later), &life).unwrap();
    let days = |n: i64| start() + hours(n * 24);
    let ring = carry_out(Step::Renew, &seen(Some(&ring), true, days(251)), &life).unwrap();
    assert_eq!(plan(&seen(Some(&ring), true, days(252)), &life), Step::Promote);
    assert_eq!(plan(&seen(Some(&ring), false, days(252)), &life), Step::Keep);
    let (_, ends) = lifetime(&ring.signing.certificate).unwrap();
    assert_eq!(plan(&seen(Some(&ring), false, ends), &life), Step::Promote);
}

#[test]
fn a_keyring_survives_the_secret() {
    let (life, mut cluster, mut replica) = (Lifetimes::default(), Cluster::new(), Replica::new());
    for day in [0, 244, 246] {
        replica.round(&mut cluster, &life, start() + hours(day * 24));
    }
    let ring = replica.serves.unwrap();
    assert_eq!(ring.retired.len(), 1);
    assert_eq!(Keyring::from_data(&ring.to_data()), Some(ring));
    assert_eq!(Keyring::from_data(&BTreeMap::new()), None);
}
