//! Security contexts of pods and containers, Windows options, and what an operating system rules out.

use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

/// Checks `securityContext` of the pod spec at `path`, and the host fields that go with it
/// (`shareProcessNamespace`; `hostNetwork`, `hostPID`, `hostIPC` only as the context's rules use them).
pub fn pod_security(_faults: &mut Faults, _spec: View<'_>, _path: &Path<'_>, _rules: &Rules) {}

/// Checks `securityContext` (if set) of the container at `path`; `spec` is its pod's.
pub fn container_security(
    _faults: &mut Faults,
    _container: View<'_>,
    _path: &Path<'_>,
    _spec: View<'_>,
    _rules: &Rules,
) {
}

/// Checks that Windows `hostProcess` is used by all containers or none.
pub fn windows_host_process(_faults: &mut Faults, _spec: View<'_>, _path: &Path<'_>, _rules: &Rules) {}

/// Checks `hostUsers: false` against the host's namespaces and volume devices.
pub fn host_users(_faults: &mut Faults, _spec: View<'_>, _path: &Path<'_>, _rules: &Rules) {}

/// Checks `os` and the fields that it rules out.
pub fn os(_faults: &mut Faults, _spec: View<'_>, _path: &Path<'_>) {}
