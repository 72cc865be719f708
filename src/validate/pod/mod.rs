//! The pod template. Start with [`template`].

pub mod affinity;
mod annotated_tolerations;
pub mod annotations;
pub mod containers;
pub mod dns;
pub mod env;
mod ephemeral;
pub mod eviction;
pub mod field_refs;
pub mod host;
mod label_keys;
mod mounts;
mod ports;
pub mod probes;
pub mod resources;
mod restart;
pub mod scheduling;
pub mod security;
pub mod spread;
pub mod template;
#[cfg(test)]
pub(in crate::validate) mod testing;
pub mod volumes;
