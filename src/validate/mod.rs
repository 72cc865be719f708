//! Every rule that the API server checks on a decoded, defaulted Deployment. Pure.
//!
//! Start with [`deployment`]. The rules are those of kubernetes v1.37.2 `pkg/apis/{apps,core}/validation`;
//! each module says which paths it covers.

pub mod deployment;
pub mod exemptions;
pub mod fault;
pub mod metadata;
pub mod path;
pub mod pod;
pub mod selector;
pub mod status;
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
