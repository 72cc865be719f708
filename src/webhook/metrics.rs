//! What `/metrics` tells. Every label has a fixed set of values, so that no caller can make the
//! series grow.

use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::review::{Decision, Phase};

/// The content type of [`Metrics::text`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds in seconds: a small review takes a fraction of a millisecond, the largest some
/// 50 ms, and beyond 10 s no API server waits.
const BUCKETS: [f64; 14] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0];

/// The counters and gauges of one process.
#[derive(Debug)]
pub struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<RequestLabels, Counter>,
    verdicts: Family<VerdictLabels, Counter>,
    seconds: Family<EndpointLabels, Histogram, fn() -> Histogram>,
    shed: Counter,
    reloads: Family<ReloadLabels, Counter>,
    expiry: Gauge<i64, AtomicI64>,
    failed_handshakes: Counter,
    /// Requests that are being read or answered.
    pub in_flight: Gauge<i64, AtomicI64>,
    /// Connections that are open, on both ports.
    pub connections: Gauge<i64, AtomicI64>,
}

/// Adds one to a gauge for as long as it lives, so that a caller who goes away is not counted for ever.
#[derive(Debug)]
pub struct Counted<'g>(&'g Gauge<i64, AtomicI64>);

impl<'g> Counted<'g> {
    /// Counts one more.
    pub fn new(gauge: &'g Gauge<i64, AtomicI64>) -> Self {
        gauge.inc();
        Counted(gauge)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The endpoints that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
#[allow(missing_docs, non_camel_case_types, reason = "the names are the label's values")]
pub enum Endpoint {
    mutate,
    validate,
    check,
}

impl From<Phase> for Endpoint {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Mutate => Endpoint::mutate,
            Phase::Validate => Endpoint::validate,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndpointLabels {
    endpoint: Endpoint,
}

/// `code` is one of the codes that the server answers with.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    endpoint: Endpoint,
    code: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct VerdictLabels {
    endpoint: Endpoint,
    decision: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReloadLabels {
    result: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics::new()
    }
}

impl Metrics {
    /// All at zero.
    pub fn new() -> Self {
        let histogram: fn() -> Histogram = || Histogram::new(BUCKETS);
        let metrics = Metrics {
            registry: Mutex::new(Registry::with_prefix("rollgate")),
            requests: Family::default(),
            verdicts: Family::default(),
            seconds: Family::new_with_constructor(histogram),
            shed: Counter::<u64, AtomicU64>::default(),
            reloads: Family::default(),
            expiry: Gauge::default(),
            failed_handshakes: Counter::default(),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&self) {
        let r = &mut *self.registry();
        r.register("requests", "Requests answered, by endpoint and HTTP status code", self.requests.clone());
        r.register("verdicts", "Reviews answered, by webhook and what became of them", self.verdicts.clone());
        let seconds = self.seconds.clone();
        let help = "Time from the end of a request's head to its answer";
        r.register_with_unit("request_duration", help, Unit::Seconds, seconds);
        r.register(
            "requests_shed",
            "Requests turned away because too many were in flight",
            self.shed.clone(),
        );
        r.register("requests_in_flight", "Requests being read or answered", self.in_flight.clone());
        r.register("connections", "Open connections", self.connections.clone());
        let help = "Connections that ended before TLS was up";
        r.register("tls_handshakes_failed", help, self.failed_handshakes.clone());
        let help = "When the serving certificate expires, as a Unix time";
        r.register_with_unit("certificate_expiry_timestamp", help, Unit::Seconds, self.expiry.clone());
        let help = "Attempts to take up another serving certificate, by result";
        r.register("certificate_reloads", help, self.reloads.clone());
    }

    /// Counts one answer and the time it took.
    pub fn answered(&self, endpoint: Endpoint, code: u16, took: Duration) {
        self.requests.get_or_create(&RequestLabels { endpoint, code }).inc();
        self.seconds.get_or_create(&EndpointLabels { endpoint }).observe(took.as_secs_f64());
    }

    /// Counts what became of one review.
    pub fn decided(&self, phase: Phase, decision: Decision) {
        let decision = match decision {
            Decision::Accepted => "accepted",
            Decision::Changed => "changed",
            Decision::Passed => "passed",
            Decision::BadRequest => "bad_request",
            Decision::Invalid => "invalid",
            Decision::NotJudged => "not_judged",
            Decision::Foreign => "foreign",
        };
        self.verdicts.get_or_create(&VerdictLabels { endpoint: phase.into(), decision }).inc();
    }

    /// Counts a request that was turned away.
    pub fn shed(&self) {
        self.shed.inc();
    }

    /// Counts a connection that never got as far as HTTP.
    pub fn handshake_failed(&self) {
        self.failed_handshakes.inc();
    }

    /// Notes the certificate in use.
    pub fn serving_until(&self, not_after: Timestamp) {
        self.expiry.set(not_after.as_second());
    }

    /// Counts an attempt to take up another certificate.
    pub fn reloaded(&self, fine: bool) {
        let result = if fine { "success" } else { "failure" };
        self.reloads.get_or_create(&ReloadLabels { result }).inc();
    }

    /// Lets another part of the process have its counters told along with these.
    pub fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them in the OpenMetrics text format, which Prometheus reads.
    pub fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry()).expect("writing to a string does not fail");
        text
    }
}
