//! Compute resources: of containers, of the pod as a whole, overhead, and resource claims.

use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

/// Checks `resources` of one container at `path`; `spec` is its pod's.
pub fn container_resources(
    _faults: &mut Faults,
    _resources: View<'_>,
    _path: &Path<'_>,
    _spec: View<'_>,
    _rules: &Rules,
) {
}

/// Checks `resources` of the pod spec at `path`.
pub fn pod_resources(_faults: &mut Faults, _spec: View<'_>, _path: &Path<'_>, _rules: &Rules) {}

/// Checks `resourceClaims` of the pod spec at `path`.
pub fn resource_claims(_faults: &mut Faults, _spec: View<'_>, _path: &Path<'_>) {}

/// Checks `overhead` of the pod spec at `path`.
pub fn overhead(_faults: &mut Faults, _spec: View<'_>, _path: &Path<'_>, _rules: &Rules) {}
