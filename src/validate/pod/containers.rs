//! Containers, init containers and ephemeral containers.

use super::volumes::Volumes;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

/// Checks `containers`, then `initContainers`, then `ephemeralContainers` of the pod spec at `path`.
pub fn containers(
    _faults: &mut Faults,
    _spec: View<'_>,
    _path: &Path<'_>,
    _volumes: &Volumes<'_>,
    _rules: &Rules,
) {
}

/// Checks that ports on the host's network are the container's own.
pub fn host_network_ports(_faults: &mut Faults, _spec: View<'_>, _path: &Path<'_>) {}

/// Checks that every `fileKeyRef` names an `emptyDir` volume.
pub fn file_key_volumes(_faults: &mut Faults, _spec: View<'_>, _path: &Path<'_>) {}
