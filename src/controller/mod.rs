//! The controller: watches, queue, workers, writes, leadership. The thin shell around [`crate::rollout`].
//!
//! What it does, in the order of the data: [`watch`] follows the API server, by way of [`api`] and
//! [`transport`] and [`wire`]; [`reflect`] puts what comes into the caches ([`world`], [`store`]) and the Deployments
//! concerned into the [`queue`]; each [`worker`] takes one, plans, and lets [`apply`] carry the plan out
//! through [`mod@write`], which asks [`permit`] first; [`events`] go off to the side. [`pace`] says when a
//! status is written, [`backoff`] when a failure is tried again. [`leader`] (with [`lease`]) and
//! [`takeover`] (with [`rivals`]) keep the permit. [`mod@gather`] serves `rollgate plan`, which runs none of
//! this.
//!
//! It never decides what a Deployment needs; that is [`crate::rollout::plan`]'s.

pub mod api;
pub mod apply;
pub mod backoff;
pub mod correlate;
pub mod events;
pub mod gather;
pub mod key;
pub mod leader;
pub mod lease;
pub mod metrics;
pub mod pace;
pub mod permit;
pub mod port;
pub mod queue;
pub mod reflect;
pub mod rivals;
pub mod run;
pub mod store;
pub mod takeover;
pub mod transport;
pub mod watch;
pub mod wire;
pub mod worker;
pub mod world;
pub mod write;

pub use run::{Controller, ControllerError, Options};
