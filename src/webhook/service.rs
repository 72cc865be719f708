//! The validation service: `POST /v1/check` takes manifests as `rollgate check` does, and answers with
//! the same report.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Request, StatusCode};
use serde_json::json;

use super::limits::{Admitted, Rejected};
use super::metrics::{Counted, Endpoint};
use super::reviews::see_off;
use super::router::App;
use crate::check::encoding;
use crate::check::manifest::{self, FieldValidation, Part, Settings};
use crate::check::output::{self, Format};
use crate::check::report::Summary;
use crate::verdict::Server;

/// The media types that manifests may come as. What they are is told by their content, as in files.
const MANIFESTS: &[&str] =
    &["application/yaml", "application/json", "application/x-yaml", "text/yaml", "text/plain"];

/// The same for an error message.
const MANIFESTS_LISTED: &str =
    "application/yaml, application/json, application/x-yaml, text/yaml, text/plain";

/// What reports call the body, where files have their name.
const BODY: &str = "manifest";

/// The media types of reports, the default first.
const REPORTS: [(&str, Format); 3] = [
    ("application/json", Format::Json),
    ("application/sarif+json", Format::Sarif),
    ("text/plain", Format::Text { color: false }),
];

/// How to judge, from the query.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Query {
    namespace: Option<String>,
    field_validation: FieldValidation,
}

/// Why a request gets no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error("{0}")]
    Rejected(#[from] Rejected),
    #[error("the Accept header must allow application/json, application/sarif+json or text/plain")]
    NotAcceptable,
    #[error("{0}")]
    Query(String),
    #[error("judging took longer than {} s", .0.as_secs())]
    TooLong(Duration),
    #[error("rollgate failed while judging; this is a fault of rollgate")]
    Fault,
}

/// `POST /v1/check`.
pub async fn check(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    let start = Instant::now();
    let _in_flight = Counted::new(&app.metrics.in_flight);
    let version = request.version();
    let response = match report(&app, request).await {
        Ok(response) => response,
        Err(problem) => {
            if problem == Problem::Rejected(Rejected::Busy) {
                app.metrics.shed();
            }
            problem.into_response()
        }
    };
    app.metrics.answered(Endpoint::check, response.status().as_u16(), start.elapsed());
    see_off(&app, version, response)
}

/// Any other method on that path.
pub async fn wrong_method() -> Response {
    (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")], "use POST\n").into_response()
}

async fn report(app: &App, request: Request<Body>) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let (media_type, format) = acceptable(&head.headers).ok_or(Problem::NotAcceptable)?;
    let query = query(head.uri.query().unwrap_or("")).map_err(Problem::Query)?;
    let deadline = app.room.limits().deadline;
    let admitted = app.room.admit(&head.headers, body, MANIFESTS, MANIFESTS_LISTED, deadline).await?;
    let server = app.gate.server;
    let turn = app.room.turn(deadline).await?;
    // The thread holds on to its turn and its room, also when nobody waits for it any more.
    let judging = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        print(&server, &admitted, &query, format)
    });
    match tokio::time::timeout(deadline, judging).await {
        Ok(Ok(text)) => Ok((StatusCode::OK, [(CONTENT_TYPE, media_type)], text).into_response()),
        Ok(Err(_)) => Err(Problem::Fault),
        Err(_) => Err(Problem::TooLong(deadline)),
    }
}

fn print(server: &Server, admitted: &Admitted, query: &Query, format: Format) -> String {
    let text = encoding::decode(admitted.body.to_vec());
    let settings = Settings {
        server: *server,
        namespace: query.namespace.as_deref(),
        field_validation: query.field_validation,
        old: None,
    };
    let entries = manifest::check(&text, Part::Whole, 1, &settings);
    let mut summary = Summary { files: 1, ..Summary::default() };
    summary.count(&entries);
    let mut printer = output::printer(format, server.table.release);
    let mut out = String::new();
    printer.begin(&mut out);
    printer.entries(BODY, &entries, &mut out);
    printer.end(&summary, &mut out);
    out
}

/// The first of our media types that the caller accepts, by the caller's order; qualities other than
/// zero are not weighed.
fn acceptable(headers: &HeaderMap) -> Option<(&'static str, Format)> {
    let given: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|v| v.to_str().ok()).collect();
    if given.is_empty() {
        return Some(REPORTS[0]);
    }
    given.iter().flat_map(|v| v.split(',')).find_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let wanted = parts.next()?.to_ascii_lowercase();
        if parts.any(|p| matches!(p, "q=0" | "q=0.0" | "q=0.00" | "q=0.000")) {
            return None;
        }
        REPORTS.into_iter().find(|(name, _)| {
            wanted == *name
                || wanted == "*/*"
                || wanted.strip_suffix("/*").is_some_and(|t| name.split('/').next() == Some(t))
        })
    })
}

fn query(text: &str) -> Result<Query, String> {
    let mut query = Query { namespace: None, field_validation: FieldValidation::Strict };
    for pair in text.split('&').filter(|p| !p.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match name {
            // A namespace is a DNS label, which needs no percent-encoding.
            "namespace" if is_label(value) => query.namespace = Some(value.to_owned()),
            "namespace" => return Err("namespace must be the name of a namespace".to_owned()),
            "fieldValidation" => {
                query.field_validation = match value {
                    "Strict" => FieldValidation::Strict,
                    "Warn" => FieldValidation::Warn,
                    "Ignore" => FieldValidation::Ignore,
                    _ => return Err("fieldValidation must be Strict, Warn or Ignore".to_owned()),
                }
            }
            _ => return Err("the parameters are namespace and fieldValidation".to_owned()),
        }
    }
    Ok(query)
}

fn is_label(text: &str) -> bool {
    crate::kube_types::names::label(text).is_empty()
}

impl IntoResponse for Problem {
    /// As RFC 9457 has it.
    fn into_response(self) -> Response {
        let code = match &self {
            Problem::Rejected(rejected) => rejected.code(),
            Problem::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Problem::Query(_) => StatusCode::BAD_REQUEST,
            Problem::TooLong(_) => StatusCode::SERVICE_UNAVAILABLE,
            Problem::Fault => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let title = code.canonical_reason().unwrap_or("error");
        let body = json!({"title": title, "status": code.as_u16(), "detail": self.to_string()});
        let mut response =
            (code, [(CONTENT_TYPE, "application/problem+json")], body.to_string()).into_response();
        if self == Problem::Rejected(Rejected::Busy) {
            response.headers_mut().insert(RETRY_AFTER, http::HeaderValue::from_static("1"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(accept: &str) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        acceptable(&headers).map(|(name, _)| name)
    }

    #[test]
    fn the_report_is_what_the_caller_accepts() {
        assert_eq!(acceptable(&HeaderMap::new()).map(|(n, _)| n), Some("application/json"));
        assert_eq!(chosen("*/*"), Some("application/json"));
        assert_eq!(chosen("text/html, text/*;q=0.5"), Some("text/plain"));
        assert_eq!(chosen("application/sarif+json"), Some("application/sarif+json"));
        assert_eq!(chosen("application/json;q=0, text/plain"), Some("text/plain"));
        assert_eq!(chosen("image/png"), None);
    }

    #[test]
    fn unknown_parameters_and_values_are_told() {
        assert_eq!(query("").unwrap().field_validation, FieldValidation::Strict);
        assert_eq!(query("namespace=shop&fieldValidation=Warn").unwrap().namespace.as_deref(), Some("shop"));
        assert!(query("namespace=No").is_err());
        assert!(query("fieldValidation=warn").is_err());
        assert!(query("x=1").is_err());
    }
}
