//! The plain port of a controller that runs alone: health and metrics.

use std::future::Future;
use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;

use super::run::Health;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Debug)]
struct Told {
    health: Health,
    registry: Registry,
}

/// Answers `/livez`, `/readyz` and `/metrics` until `stop` is done.
///
/// # Errors
/// When the port fails.
pub async fn serve(
    tcp: TcpListener,
    health: Health,
    registry: Registry,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let told = Arc::new(Told { health, registry });
    axum::serve(tcp, router(told)).with_graceful_shutdown(stop).await
}

fn router(told: Arc<Told>) -> Router {
    Router::new()
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(told)
}

async fn readyz(State(told): State<Arc<Told>>) -> Response {
    match told.health.ready() {
        Ok(()) => "ok\n".into_response(),
        Err(missing) => (StatusCode::SERVICE_UNAVAILABLE, format!("{missing}\n")).into_response(),
    }
}

async fn metrics(State(told): State<Arc<Told>>) -> Response {
    told.health.measure();
    let mut text = String::new();
    encode(&mut text, &told.registry).expect("writing to a string does not fail");
    ([(CONTENT_TYPE, OPEN_METRICS)], text).into_response()
}
