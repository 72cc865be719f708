//! rollgate on a real control plane: etcd and the API server of Kubernetes v1.37.2, real kubectl.
//!
//! Run with `ROLLGATE_CONTROL_PLANE=FOLDER cargo test --features e2e --test e2e`, where FOLDER holds
//! `etcd`, `kube-apiserver`, `kube-controller-manager` and `kubectl` (`.ci/run` builds them from
//! `tests/differential`). Each test starts a control plane of its own on free ports, runs many
//! scenarios on it, a namespace each, and stops all it started, also when it fails. What the programs
//! said is kept in a folder that the failure names.
//!
//! Start reading at [`control_plane`]; [`gate`] and [`certificates`] hold the tests of the webhooks,
//! [`engine`] those of the controller against the built-in one, [`faults`] what happens when things break,
//! [`plan`] what is said of Deployments of a cluster.

mod background;
mod certificates;
mod control_plane;
mod engine;
mod faults;
mod gate;
mod kubectl;
mod nodes;
mod plan;
mod process;
mod proxy;
mod session;
mod state;
mod workplace;
