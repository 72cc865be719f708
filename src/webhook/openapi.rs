//! The description of the HTTP interface, as `/openapi.json`.

use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;

/// OpenAPI 3.1.
pub const DOCUMENT: &str = include_str!("../../data/openapi.json");

/// `GET /openapi.json`.
pub async fn document() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
