//! Routers to send requests to, and reviews to send.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use rollgate::review::{Gate, House};
use rollgate::schema::json as reader;
use rollgate::verdict::Server;
use rollgate::webhook::lifecycle::{Lifecycle, Stage};
use rollgate::webhook::limits::{Limits, Room};
use rollgate::webhook::metrics::Metrics;
use rollgate::webhook::router::{self, App};
use serde_json::{Value, json};
use tower::ServiceExt as _;

pub(crate) const LIMITS: Limits = Limits {
    body_bytes: 8 << 20,
    held_bytes: (32 << 20) + 1024,
    in_flight: 512,
    connections: 256,
    deadline: Duration::from_secs(8),
};

pub(crate) fn server() -> Server {
    Server::new(true)
}

pub(crate) fn gate() -> Gate {
    Gate { server: server(), house: House::default(), refuse_early: false }
}

pub(crate) fn house(defaults: &Value) -> House {
    let text = defaults.to_string();
    House::read(&server(), &reader::read(text.as_bytes()).unwrap()).expect("usable defaults")
}

pub(crate) fn app(gate: Gate, limits: Limits) -> Arc<App> {
    let lifecycle = Lifecycle::default();
    lifecycle.advance(Stage::Serving);
    Arc::new(App { gate, metrics: Arc::new(Metrics::new()), room: Room::new(limits), lifecycle })
}

pub(crate) fn whole(gate: Gate) -> Router {
    router::whole(app(gate, LIMITS))
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) code: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }
}

pub(crate) async fn send(router: &Router, request: Request<Body>) -> Reply {
    let response = router.clone().oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    Reply { code: head.status, headers: head.headers, body }
}

pub(crate) async fn post(router: &Router, path: &str, body: impl Into<Body>) -> Reply {
    let request = Request::post(path).header(CONTENT_TYPE, "application/json").body(body.into()).unwrap();
    send(router, request).await
}

pub(crate) async fn get(router: &Router, path: &str) -> Reply {
    send(router, Request::get(path).body(Body::empty()).unwrap()).await
}

/// Sends a review that must be answered by one, and gives back the `response` in it.
pub(crate) async fn ask(router: &Router, path: &str, review: &Value) -> Value {
    let reply = post(router, path, review.to_string()).await;
    assert_eq!(reply.code, StatusCode::OK, "{}", reply.text());
    let answer = reply.json();
    assert_eq!(answer["apiVersion"], "admission.k8s.io/v1");
    assert_eq!(answer["kind"], "AdmissionReview");
    assert_eq!(answer["response"]["uid"], review["request"]["uid"]);
    answer["response"].clone()
}

/// The operations of the patch in a response; none when there is none.
pub(crate) fn patch(response: &Value) -> Vec<json_patch::PatchOperation> {
    let Some(patch) = response.get("patch") else {
        assert_eq!(response.get("patchType"), None, "a type needs a patch");
        return Vec::new();
    };
    assert_eq!(response["patchType"], "JSONPatch");
    serde_json::from_slice(&STANDARD.decode(patch.as_str().unwrap()).unwrap()).unwrap()
}

/// The object with the patch of a response applied.
pub(crate) fn patched(object: &Value, response: &Value) -> Value {
    let mut object = object.clone();
    json_patch::patch(&mut object, &patch(response)).expect("the patch applies");
    object
}

/// A Deployment that says no more than it must.
pub(crate) fn deployment() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "registry.example/web:1.0"}]}}}})
}

/// A review of something done to a Deployment.
pub(crate) fn review(operation: &str, object: &Value, old: &Value) -> Value {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "operation": operation,
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
        "name": "web", "namespace": "shop", "userInfo": {"username": "jane"},
        "object": object, "oldObject": old, "dryRun": false}})
}

pub(crate) fn data(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/reviews").join(path)
}

/// The reviews that a real API server sent, by name.
pub(crate) fn recorded() -> Vec<(String, Value)> {
    let files = fs::read_dir(data("recorded")).unwrap().map(|entry| entry.unwrap().path());
    let mut reviews: Vec<_> = files
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
        })
        .collect();
    reviews.sort_by(|a: &(String, Value), b| a.0.cmp(&b.0));
    reviews
}

/// Absent, null and empty mean the same.
pub(crate) fn prune(value: &Value) -> Value {
    let empty = |v: &Value| match v {
        Value::Null => true,
        Value::String(s) => s.is_empty(),
        Value::Array(a) => a.is_empty(),
        Value::Object(o) => o.is_empty(),
        _ => false,
    };
    match value {
        Value::Object(members) => {
            let pruned = members.iter().map(|(k, v)| (k.clone(), prune(v)));
            Value::Object(pruned.filter(|(_, v)| !empty(v)).collect())
        }
        Value::Array(items) => items.iter().map(prune).collect(),
        other => other.clone(),
    }
}
