//! The pod template.

pub mod containers;
mod env;
mod ephemeral;
pub mod field_refs;
mod mounts;
mod ports;
mod probes;
pub mod resources;
mod restart;
pub mod scheduling;
pub mod security;
#[cfg(test)]
mod testing;
pub mod volumes;
