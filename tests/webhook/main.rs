//! The gate: reviews through the router, without a port; and the server with its ports and
//! certificates.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is a failure")]

mod cases;
mod certificates;
mod client;
mod faults;
mod house;
mod reviews;
mod rotation;
mod running;
mod service;
mod shutdown;
mod support;
