//! rollgate: a gate in front of every Kubernetes Deployment, and the engine behind it.

pub mod answer;
pub mod certs;
pub mod check;
pub mod cli;
pub mod clock;
pub mod defaults;
pub mod kube_types;
pub mod review;
pub mod rollout;
pub mod schema;
pub mod validate;
pub mod verdict;
pub mod webhook;
