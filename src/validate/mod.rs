//! Every rule that the API server checks on a decoded, defaulted Deployment. Pure.
//!
//! Start with [`deployment`]. The rules are those of kubernetes v1.37.2 `pkg/apis/{apps,core}/validation`;
//! each function says which paths it covers.

pub mod exemptions;
pub mod fault;
pub mod path;
