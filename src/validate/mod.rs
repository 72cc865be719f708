//! Every rule that the API server checks on a decoded, defaulted Deployment. Pure.
//!
//! Four ways in, all of which only add to a list of [`fault::Faults`]:
//!
//! | Request | Call |
//! |---|---|
//! | create | [`deployment::create`] |
//! | update | [`exemptions::of`] the stored object, then [`deployment::update`] |
//! | update of `/status` | [`status::update`] |
//! | update of `/scale` | [`scale::update`]; when that finds nothing, set `spec.replicas` in the stored object and [`deployment::update`] it |
//!
//! What comes in is what the server has at that point: defaulted, fields behind gates that are off
//! dropped, the request's namespace and a generated name filled in. Nothing here removes repeated
//! faults; [`fault::Faults::dedup`] does. The rules are those of kubernetes v1.37.2
//! `pkg/apis/{apps,core}/validation`; each module says which paths it covers.

pub mod deployment;
pub mod exemptions;
pub mod fault;
pub mod metadata;
pub mod path;
pub mod pod;
pub mod scale;
pub mod selector;
pub mod status;
pub mod strategy;
pub mod warnings;

use exemptions::Exemptions;

/// What the rules depend on besides the object.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules {
    /// Whether the server runs with `--allow-privileged`.
    pub allow_privileged: bool,
    /// What the stored object excuses. Nothing on create.
    pub exempt: Exemptions,
}
