//! The plain port of a controller that runs alone: health and metrics.

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

/// Answers `/livez`, `/readyz` and `/metrics` for ever.
///
/// # Errors
/// When the port fails.
pub async fn serve(tcp: TcpListener, health: Health, registry: Registry) -> io::Result<()> {
    axum::serve(tcp, router(Arc::new(Told { health, registry }))).await
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
    let mut text = String::new();
    encode(&mut text, &told.registry).expect("writing to a string does not fail");
    ([(CONTENT_TYPE, OPEN_METRICS)], text).into_response()
}
