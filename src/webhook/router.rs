//! Which path is answered by what.
//!
//! The TLS port has all of it. The plain port leaves out the webhooks, so that only callers who
//! speak TLS (and, with a client CA, only the API server) can be mistaken for it.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::StatusCode;
use http::header::CONTENT_TYPE;

use super::lifecycle::Lifecycle;
use super::limits::Room;
use super::metrics::{self, Metrics};
use super::{openapi, reviews, service};
use crate::review::Gate;

/// What the handlers share.
#[derive(Debug)]
pub struct App {
    /// Decides.
    pub gate: Gate,
    /// Counts.
    pub metrics: Arc<Metrics>,
    /// Bounds.
    pub room: Room,
    /// Says whether to be ready, and whether to see callers off.
    pub lifecycle: Lifecycle,
}

/// Everything.
pub fn whole(app: Arc<App>) -> Router {
    let webhooks =
        Router::new().route("/mutate", post(reviews::mutate)).route("/validate", post(reviews::validate));
    finish(webhooks.merge(open()), app)
}

/// Everything but the webhooks.
pub fn plain(app: Arc<App>) -> Router {
    finish(open(), app)
}

fn open() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/check", post(service::check).fallback(service::wrong_method))
        .route("/openapi.json", get(openapi::document))
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics_text))
}

fn finish(router: Router<Arc<App>>, app: Arc<App>) -> Router {
    router.fallback(not_found).with_state(app)
}

/// Alive as long as it can answer. A process that cannot is what this probe is for.
async fn livez() -> &'static str {
    "ok\n"
}

async fn readyz(State(app): State<Arc<App>>) -> Response {
    match app.lifecycle.ready() {
        Ok(()) => "ok\n".into_response(),
        Err(missing) => (StatusCode::SERVICE_UNAVAILABLE, format!("{missing}\n")).into_response(),
    }
}

async fn metrics_text(State(app): State<Arc<App>>) -> Response {
    ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], app.metrics.text()).into_response()
}

async fn not_found() -> Response {
    (StatusCode::NOT_FOUND, "no such path; see /openapi.json\n").into_response()
}
