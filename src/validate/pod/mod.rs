//! The pod template.

pub mod containers;
pub mod env;
pub mod field_refs;
pub mod probes;
pub mod resources;
pub mod scheduling;
pub mod security;
pub mod volumes;
