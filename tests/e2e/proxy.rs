//! A proxy before the API server that counts what goes by, and may answer some requests itself: with
//! errors as a server in trouble gives them, and with watches that have expired.
//!
//! Which ones is decided by counting and mixing, so that nothing that repeats itself meets the same
//! answer every time.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode, header};
use kube::Client;
use serde_json::json;

use crate::background::{Background, config_of};

/// How writes fail, each as often as one goes through.
const TROUBLES: [(u16, &str); 3] = [(409, "Conflict"), (429, "TooManyRequests"), (500, "InternalError")];

/// Every how manieth watch has expired.
const EXPIRED_EVERY: usize = 2;

/// Larger than any request of the tests.
const BODY_LIMIT_BYTES: usize = 16 << 20;

/// The running proxy; it ends when dropped.
pub(crate) struct Proxy {
    /// Where it listens, without TLS.
    pub(crate) port: u16,
    counts: Arc<Counts>,
    _run: Background,
}

/// What the proxy does to requests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weather {
    /// Passes all on.
    Calm,
    /// Answers most writes with an error, and many a watch with its end.
    Storm,
}

/// What went by.
#[derive(Default)]
struct Counts {
    /// All but reads.
    calls: AtomicUsize,
    /// Accepted ones of Deployments and ReplicaSets; not of events, which tell of earlier writes, nor of
    /// Leases.
    writes: AtomicUsize,
    watches: AtomicUsize,
}

struct Behind {
    client: Client,
    weather: Weather,
    counts: Arc<Counts>,
}

impl Proxy {
    /// Starts a proxy to the API server of a kubeconfig.
    pub(crate) fn start(kubeconfig: PathBuf, weather: Weather) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback has free ports");
        listener.set_nonblocking(true).expect("a socket can be set so");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let counts = Arc::<Counts>::default();
        let shared = Arc::clone(&counts);
        Self { port, counts, _run: Background::run(move || serve(listener, kubeconfig, weather, shared)) }
    }

    /// How many writes were accepted, and how many watches asked for.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.counts.writes.load(Ordering::Relaxed), self.counts.watches.load(Ordering::Relaxed))
    }
}

async fn serve(listener: TcpListener, kubeconfig: PathBuf, weather: Weather, counts: Arc<Counts>) {
    let mut config = config_of(kubeconfig).await;
    // A watch may be silent for longer than any patience.
    config.read_timeout = None;
    let client = Client::try_from(config).expect("the test's credentials are usable");
    let router = Router::new().fallback(answer).with_state(Arc::new(Behind { client, weather, counts }));
    let listener = tokio::net::TcpListener::from_std(listener).expect("a bound socket can be served");
    axum::serve(listener, router).await.expect("serving goes on until it is dropped");
}

async fn answer(State(behind): State<Arc<Behind>>, request: Request) -> Response {
    let stormy = behind.weather == Weather::Storm;
    let is_write = request.method() != Method::GET;
    if is_write {
        let number = behind.counts.calls.fetch_add(1, Ordering::Relaxed);
        if stormy && let Some((code, reason)) = TROUBLES.get(mixed(number) % (TROUBLES.len() + 1)) {
            return trouble(*code, reason);
        }
    } else if request.uri().query().is_some_and(|query| query.contains("watch=")) {
        let number = behind.counts.watches.fetch_add(1, Ordering::Relaxed);
        if stormy && number.is_multiple_of(EXPIRED_EVERY) {
            return expired();
        }
    }
    let counts = is_write && request.uri().path().starts_with("/apis/apps/");
    let answer = forward(&behind.client, request).await;
    let counted = counts && answer.status().is_success();
    behind.counts.writes.fetch_add(counted.into(), Ordering::Relaxed);
    answer
}

/// A number without a pattern: multiplied with the golden ratio, of which the upper bits are taken.
fn mixed(number: usize) -> usize {
    (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(16) as usize & 0xffff
}

/// An error in the form that the API server gives it.
fn trouble(code: u16, reason: &str) -> Response {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "trouble made by a test", "reason": reason, "code": code,
    });
    let code = StatusCode::from_u16(code).expect("a code of the table");
    (code, [(header::CONTENT_TYPE, "application/json")], status.to_string()).into_response()
}

/// A watch whose resource version is too old.
fn expired() -> Response {
    let event = json!({"type": "ERROR", "object": {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version", "reason": "Expired", "code": 410,
    }});
    ([(header::CONTENT_TYPE, "application/json")], format!("{event}\n")).into_response()
}

async fn forward(client: &Client, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    // The client sets its own.
    parts.headers.remove(header::HOST);
    parts.headers.remove(header::AUTHORIZATION);
    let uri = parts.uri.path_and_query().expect("a request names a path").as_str().to_owned();
    parts.uri = uri.parse().expect("a path is a URI");
    let Ok(body) = to_bytes(body, BODY_LIMIT_BYTES).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    match client.send(Request::from_parts(parts, body.into())).await {
        Ok(response) => response.map(Body::new),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}
