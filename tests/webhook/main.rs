//! The gate: reviews through the router, without a port; and the server with its ports and
//! certificates.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is a failure")]

mod cases;
mod house;
mod reviews;
mod service;
mod support;
