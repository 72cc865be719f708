//! The two webhooks: decode, call the one deciding function, encode.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Request, StatusCode, Uri, Version};
use tokio::sync::OwnedSemaphorePermit;
use tracing::{debug, error, info};

use super::lifecycle::Stage;
use super::limits::{Admitted, Rejected};
use super::metrics::{Counted, Endpoint};
use super::router::App;
use crate::review::{self, Answer, Decision, Gate, Phase, Review, response};

/// Bodies from this size on are judged on a thread of their own, so that others on the same
/// connection or core do not wait the milliseconds that it takes.
const LARGE_BYTES: usize = 256 * 1024;

/// How long before the caller gives up we do, so that it still gets to read why.
const MARGIN: Duration = Duration::from_millis(500);

/// `POST /mutate`.
pub async fn mutate(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    review(app, Phase::Mutate, request).await
}

/// `POST /validate`.
pub async fn validate(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    review(app, Phase::Validate, request).await
}

async fn review(app: Arc<App>, phase: Phase, request: Request<Body>) -> Response {
    let start = Instant::now();
    let _in_flight = Counted::new(&app.metrics.in_flight);
    let version = request.version();
    let response = admit_and_answer(&app, phase, request).await;
    app.metrics.answered(phase.into(), response.status().as_u16(), start.elapsed());
    see_off(&app, version, response)
}

async fn admit_and_answer(app: &Arc<App>, phase: Phase, request: Request<Body>) -> Response {
    let within = deadline(request.uri(), app.room.limits().deadline);
    let (head, body) = request.into_parts();
    let begin = Instant::now();
    let admitted =
        app.room.admit(&head.headers, body, &["application/json"], "application/json", within).await;
    match admitted {
        Ok(admitted) if admitted.body.len() < LARGE_BYTES => reply(app, phase, &admitted.body),
        Ok(admitted) => match app.room.turn(within.saturating_sub(begin.elapsed())).await {
            Ok(turn) => apart(app.clone(), phase, admitted, turn).await,
            Err(rejected) => turn_away(app, phase.into(), rejected),
        },
        Err(rejected) => turn_away(app, phase.into(), rejected),
    }
}

async fn apart(app: Arc<App>, phase: Phase, admitted: Admitted, turn: OwnedSemaphorePermit) -> Response {
    let judged = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        reply(&app, phase, &admitted.body)
    });
    judged.await.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

/// The API server tells how long it waits in the `timeout` parameter (`10s`).
fn deadline(uri: &Uri, default: Duration) -> Duration {
    let query = uri.query().unwrap_or("");
    let given = query.split('&').find_map(|pair| pair.strip_prefix("timeout="));
    match given.and_then(|t| t.strip_suffix('s')).and_then(|t| t.parse::<u64>().ok()) {
        Some(secs) => default.min(Duration::from_secs(secs).saturating_sub(MARGIN)),
        None => default,
    }
}

/// Answers a request that gets no further, and counts it where it was for want of room.
pub(super) fn turn_away(app: &App, endpoint: Endpoint, rejected: Rejected) -> Response {
    debug!(?endpoint, %rejected, "request turned away");
    let mut response = (rejected.code(), format!("{rejected}\n")).into_response();
    if rejected == Rejected::Busy {
        app.metrics.shed();
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Asks the caller to come back on another connection when this process is going away. HTTP/2 says
/// the same by itself, when the connection is closed.
pub(super) fn see_off(app: &App, version: Version, mut response: Response) -> Response {
    if version < Version::HTTP_2 && app.lifecycle.stage() >= Stage::Draining {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// A fault of ours in one review must not take the connection, and others' reviews, with it.
fn reply(app: &App, phase: Phase, body: &Bytes) -> Response {
    match catch_unwind(AssertUnwindSafe(|| judged(app, phase, body))) {
        Ok(response) => response,
        Err(_) => {
            error!(?phase, bytes = body.len(), "a review could not be judged: rollgate has a fault");
            let told = "rollgate failed while judging this review; this is a fault of rollgate\n";
            (StatusCode::INTERNAL_SERVER_ERROR, told).into_response()
        }
    }
}

fn judged(app: &App, phase: Phase, body: &Bytes) -> Response {
    match answered(&app.gate, phase, body) {
        Ok((answer, written)) => {
            app.metrics.decided(phase, answer.decision);
            (StatusCode::OK, [(CONTENT_TYPE, HeaderValue::from_static("application/json"))], written)
                .into_response()
        }
        Err(unreadable) => (StatusCode::BAD_REQUEST, format!("{unreadable}\n")).into_response(),
    }
}

fn answered(gate: &Gate, phase: Phase, body: &Bytes) -> Result<(Answer, Vec<u8>), review::Unreadable> {
    let review = Review::read(body)?;
    let request = review.request()?;
    let answer = review::answer(gate, phase, &request);
    log(phase, &request, &answer);
    let written = response::write(request.uid, &answer);
    Ok((answer, written))
}

/// Who, what and why; never the object.
fn log(phase: Phase, request: &review::Request<'_, '_>, answer: &Answer) {
    let (namespace, name, user) = (request.namespace, request.name, request.user);
    let (operation, dry_run) = (request.operation, request.dry_run);
    match answer.decision {
        Decision::Invalid | Decision::BadRequest => {
            let why = answer.status.as_ref().and_then(|s| s.get("message")).and_then(|m| m.as_str());
            let why = why.unwrap_or("");
            info!(?phase, namespace, name, user, ?operation, dry_run, why, "refused");
        }
        decision => debug!(?phase, namespace, name, user, ?operation, dry_run, ?decision, "let through"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_lies_below_what_the_caller_waits() {
        let default = Duration::from_secs(8);
        let at = |uri: &str| deadline(&uri.parse().unwrap(), default);
        assert_eq!(at("/validate?timeout=5s"), Duration::from_millis(4500));
        assert_eq!(at("/validate?timeout=30s"), default);
        assert_eq!(at("/validate?timeout=x"), default);
        assert_eq!(at("/validate"), default);
    }
}
