//! The validation service, health and the description of it all.

use axum::body::Body;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::{Request, StatusCode};
use rollgate::webhook::lifecycle::Stage;
use rollgate::webhook::limits::Limits;
use rollgate::webhook::router;
use serde_json::json;

use super::support::{LIMITS, app, gate, get, post, send, whole};

const BAD: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: -1\n  selector: \
                   {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: \
                   {containers: [{name: a, image: b}]}\n";

async fn check(accept: &str, body: &'static str) -> super::support::Reply {
    let request = Request::post("/v1/check").header(CONTENT_TYPE, "application/yaml").header(ACCEPT, accept);
    send(&router::plain(app(gate(), LIMITS)), request.body(Body::from(body)).unwrap()).await
}

#[tokio::test]
async fn the_report_comes_in_the_format_asked_for() {
    let reply = check("application/json", BAD).await;
    assert_eq!(reply.code, StatusCode::OK);
    let report = reply.json();
    assert_eq!(report["summary"]["refused"], 1);
    let finding = &report["results"][0]["findings"][0];
    assert_eq!((&finding["line"], &finding["column"]), (&json!(6), &json!(13)));
    assert_eq!(finding["message"], "Invalid value: -1: must be greater than or equal to 0");
    let reply = check("application/sarif+json", BAD).await;
    assert_eq!(reply.headers[CONTENT_TYPE], "application/sarif+json");
    assert_eq!(reply.json()["version"], "2.1.0");
    let reply = check("text/plain", BAD).await;
    assert!(reply.text().starts_with("manifest:6:13: spec.replicas: "), "{}", reply.text());
    assert_eq!(check("image/png", BAD).await.code, StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test]
async fn unreadable_manifests_are_part_of_the_report() {
    let reply = check("application/json", "a: [").await;
    assert_eq!(reply.code, StatusCode::OK);
    assert_eq!(reply.json()["summary"]["unusable"], 1);
}

#[tokio::test]
async fn errors_say_what_is_wrong() {
    let router = whole(gate());
    let reply = post(&router, "/v1/check?x=1", "{}").await;
    assert_eq!(reply.code, StatusCode::BAD_REQUEST);
    assert_eq!(reply.headers[CONTENT_TYPE], "application/problem+json");
    assert_eq!(reply.json()["detail"], "the parameters are namespace and fieldValidation");
    assert_eq!(get(&router, "/v1/check").await.code, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(get(&router, "/nowhere").await.code, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_plain_port_has_no_webhooks() {
    let plain = router::plain(app(gate(), LIMITS));
    assert_eq!(post(&plain, "/validate", "{}").await.code, StatusCode::NOT_FOUND);
    assert_eq!(get(&plain, "/livez").await.code, StatusCode::OK);
}

#[tokio::test]
async fn readiness_ends_with_draining_and_health_does_not() {
    let app = app(gate(), LIMITS);
    let router = router::whole(app.clone());
    assert_eq!(get(&router, "/readyz").await.code, StatusCode::OK);
    app.lifecycle.advance(Stage::Draining);
    assert_eq!(get(&router, "/readyz").await.code, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(get(&router, "/livez").await.code, StatusCode::OK);
}

#[tokio::test]
async fn what_is_too_much_is_turned_away_at_once() {
    let router = router::whole(app(gate(), Limits { in_flight: 1, ..LIMITS }));
    let endless = Body::from_stream(futures::stream::pending::<Result<bytes::Bytes, std::io::Error>>());
    let request = Request::post("/validate").header(CONTENT_TYPE, "application/json").body(endless).unwrap();
    let held = tokio::spawn({
        let router = router.clone();
        async move { send(&router, request).await.code }
    });
    tokio::task::yield_now().await;
    for path in ["/validate", "/v1/check"] {
        let reply = post(&router, path, "{}").await;
        assert_eq!(reply.code, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(reply.headers[RETRY_AFTER], "1");
    }
    assert!(get(&router, "/metrics").await.text().contains("rollgate_requests_shed_total 2"));
    held.abort();
    let _ = held.await;
    assert_eq!(post(&router, "/v1/check", "{}").await.code, StatusCode::OK);
    assert!(get(&router, "/metrics").await.text().contains("rollgate_requests_in_flight 0"));
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let router = whole(gate());
    let endless = Body::from_stream(futures::stream::pending::<Result<bytes::Bytes, std::io::Error>>());
    let request = Request::post("/validate?timeout=1s").header(CONTENT_TYPE, "application/json");
    let reply = send(&router, request.body(endless).unwrap()).await;
    assert_eq!(reply.code, StatusCode::REQUEST_TIMEOUT);
}

/// What it promises is held to it by `tests/service/openapi.sh`.
#[tokio::test]
async fn the_description_names_every_open_path() {
    let router = router::plain(app(gate(), LIMITS));
    let document = get(&router, "/openapi.json").await.json();
    let paths: Vec<_> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["/v1/check", "/livez", "/readyz", "/metrics", "/openapi.json"]);
    for path in paths.into_iter().filter(|p| *p != "/v1/check") {
        assert_eq!(get(&router, path).await.code, StatusCode::OK, "{path}");
    }
}
