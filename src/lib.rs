//! rollgate: a gate in front of every Kubernetes Deployment, and the engine behind it.
//!
//! # Bird's-eye view
//! The **gate** says what the API server would say about a Deployment. Bytes become positioned data,
//! these become a typed object by the type table, which is then defaulted and validated; out comes one
//! [`verdict`]. The command line, the HTTP service and the webhooks all call [`verdict::judge`].
//!
//! The **engine** is a Deployment controller. One reading of the world becomes a plan by
//! [`rollout`]; a thin shell gathers the one and carries out the other.
//!
//! # Map, in reading order
//! Pure: values in, values out; no clock, no files, no network, no tasks.
//!
//! | module | decides or owns |
//! |---|---|
//! | [`kube_types`] | names, quantities, selectors, times, IP addresses: small rules that many parts share |
//! | [`schema`] | the type table, and what it drives: strict decoding, printing, equality, hashes |
//! | [`defaults`] | what the server fills in, and which fields it drops |
//! | [`validate`] | every fault of an object, with field paths, and what is warned about |
//! | [`verdict`] | the order of it all: what the server would answer to one request |
//! | [`check`] | manifests with places in, reports out: text, JSON, SARIF, JUnit, annotations |
//! | [`review`] | AdmissionReviews in, answers out: the smallest patch, a site's own defaults |
//! | [`rollout`] | one look at a Deployment and its ReplicaSets in, a plan with reasons out |
//! | [`answer`] | recorded questions in, answers out, for comparing with upstream |
//!
//! Shells, which gather, call and write:
//!
//! | module | does |
//! |---|---|
//! | [`certs`] | certificates: making, loading, renewing |
//! | [`controller`] | the engine's watches, queue, writes, leadership and metrics |
//! | [`webhook`] | the listeners, routes, limits and metrics of the gate |
//! | [`cli`] | one file per subcommand |
//! | [`clock`] | the only reader of the wall clock |
//!
//! # What is deliberately absent
//! No second opinion: nothing but [`verdict::judge`] decides about an object. No lossy writes: an object
//! is never sent back from a type that may not know all its fields. No Kubernetes version in the code:
//! it is a value, the type table of a release.

pub mod answer;
pub mod certs;
pub mod check;
pub mod cli;
pub mod clock;
pub mod controller;
pub mod defaults;
pub mod kube_types;
pub mod review;
pub mod rollout;
pub mod schema;
pub mod validate;
pub mod verdict;
pub mod webhook;
