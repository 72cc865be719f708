//! The server behind `rollgate serve`: TLS, HTTP, limits, health and metrics around
//! [`crate::review::answer()`] and the checks.
//!
//! Start with [`server`], which puts the parts together: [`listener`] accepts connections,
//! [`router`] says which path is answered by what, [`reviews`] holds the webhooks, [`service`] the
//! validation service, [`limits`] the bounds, [`lifecycle`] start and end.
//!
//! Decides nothing about objects.

pub mod lifecycle;
pub mod limits;
pub mod listener;
pub mod metrics;
pub mod openapi;
pub mod reviews;
pub mod router;
pub mod server;
pub mod service;
