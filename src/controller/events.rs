//! Tells events: correlates them and sends them off, without anybody waiting for it.

use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tracing::debug;

use super::correlate::{Correlator, Record, Said, Verdict};
use super::write::{WriteError, Writer};
use crate::clock;
use crate::rollout::{Deployment, Event};

/// Events that may wait to be sent; further ones are dropped.
const WAITING: usize = 10_000;

/// Events sent at once.
const SENDERS: usize = 4;

/// As the built-in controller's events say, so that whoever looks for them finds them.
const SOURCE: &str = "deployment-controller";

/// An Event object to be made or counted up.
#[derive(Debug)]
struct Parcel {
    namespace: String,
    record: Record,
    again: bool,
    object: Value,
}

/// Takes events.
#[derive(Debug, Clone)]
pub struct Recorder {
    correlator: Arc<Mutex<Correlator>>,
    out: mpsc::Sender<Parcel>,
}

/// Sends what the recorder was told.
#[derive(Debug)]
pub struct Sender {
    waiting: mpsc::Receiver<Parcel>,
    writer: Writer,
}

/// A recorder, and the task behind it.
pub fn recorder(writer: Writer) -> (Recorder, Sender) {
    let (out, waiting) = mpsc::channel(WAITING);
    (Recorder { correlator: Arc::default(), out }, Sender { waiting, writer })
}

impl Recorder {
    /// Tells an event on a Deployment.
    pub fn tell(&self, deployment: &Deployment, event: &Event) {
        let now = clock::now();
        let meta = &deployment.meta;
        let said = Said {
            about: format!("{}/{} {}", meta.namespace, meta.name, meta.uid).into(),
            kind: event.kind,
            reason: event.reason,
            message: Some(event.message.clone()),
        };
        let name = format!("{}.{:x}", meta.name, now.as_nanosecond());
        let mut correlator = self.correlator.lock().unwrap_or_else(PoisonError::into_inner);
        let verdict = correlator.judge(said, name, now);
        drop(correlator);
        let Verdict::Tell { record, again, combined, message } = verdict else { return };
        let object = object(deployment, event, &record, combined, &message, now);
        let parcel = Parcel { namespace: meta.namespace.to_string(), record, again, object };
        if self.out.try_send(parcel).is_err() {
            debug!(deployment = %meta.name, "event dropped: too many are waiting");
        }
    }
}

fn object(
    deployment: &Deployment,
    event: &Event,
    record: &Record,
    combined: bool,
    message: &str,
    now: Timestamp,
) -> Value {
    let meta = &deployment.meta;
    let mut object = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": record.name, "namespace": meta.namespace},
        "involvedObject": {
            "kind": "Deployment",
            "apiVersion": "apps/v1",
            "namespace": meta.namespace,
            "name": meta.name,
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
        },
        "type": event.kind,
        "reason": event.reason,
        "message": message,
        "count": record.count,
        "firstTimestamp": seconds(record.first),
        "lastTimestamp": seconds(now),
        "source": {"component": SOURCE},
        "reportingComponent": SOURCE,
        "reportingInstance": "",
    });
    if combined {
        object["reportingComponent"] = "".into();
    }
    object
}

fn seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

impl Sender {
    /// Sends until every recorder is gone and all is sent.
    pub async fn run(self) {
        let Sender { mut waiting, writer } = self;
        let mut sending = tokio::task::JoinSet::new();
        while let Some(parcel) = waiting.recv().await {
            while sending.len() >= SENDERS {
                sending.join_next().await;
            }
            let writer = writer.clone();
            sending.spawn(async move { send(&writer, parcel).await });
        }
        while sending.join_next().await.is_some() {}
    }
}

/// Sends one event. A refusal is final: events are told as well as possible, and no better.
async fn send(writer: &Writer, parcel: Parcel) {
    let Parcel { namespace, record, again, object } = parcel;
    let sent = if again {
        let patch = json!({
            "count": record.count,
            "lastTimestamp": object["lastTimestamp"],
            "message": object["message"],
        });
        writer.patch_event(&namespace, &record.name, &patch).await
    } else {
        writer.create_event(&namespace, &object).await
    };
    let sent = match sent {
        Err(WriteError::Api(error)) if again && error.has_code(404) => {
            writer.create_event(&namespace, &object).await
        }
        sent => sent,
    };
    if let Err(error) = sent {
        debug!(event = record.name, error = &error as &dyn std::error::Error, "event not sent");
    }
}
