//! Compute resources: of containers, of the pod as a whole, overhead, and resource claims.
//!
//! Paths covered: `resources` of containers and of the pod, `overhead`, `resourceClaims`. The rules
//! that limits and requests share lie in `requirements`; what names mean in `names`. Reading quantities
//! is not done here. Source: kubernetes v1.37.2 `pkg/apis/core/validation`. Parity: exact, except that
//! faults come in the order of the manifest where the server's order is random.

mod claims;
mod names;
mod pod_level;
mod requirements;

use super::security::all_containers;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::{Path, Step};

pub use claims::resource_claims;
use requirements::{Level, Requirements, ResourceList};

/// Checks `resources` of one container; `path` is theirs, `spec` is its pod's.
pub fn container_resources(
    faults: &mut Faults,
    resources: View<'_>,
    path: &Path<'_>,
    spec: View<'_>,
    rules: &Rules,
) {
    Requirements::of(resources).check(faults, path, Level::Container, rules);
    claims::references(faults, resources, &path.field("claims"), spec);
}

/// Checks `resources` of the pod spec at `path`.
pub fn pod_resources(faults: &mut Faults, spec: View<'_>, path: &Path<'_>, rules: &Rules) {
    let Some(resources) = spec.opt("resources") else { return };
    let resources_path = &path.field("resources");
    if spec.opt("os").is_some_and(|os| os.str("name") == "windows") {
        faults.forbidden(resources_path, "may not be set for a windows pod");
        return;
    }
    let claims_path = &resources_path.field("claims");
    // An empty list is refused too.
    if resources.has("claims") {
        faults.forbidden(claims_path, "claims may not be set for Resources at pod-level");
    }
    let requirements = Requirements::of(resources);
    requirements.check(faults, resources_path, Level::Pod, rules);
    claims::references(faults, resources, claims_path, spec);
    pod_level::consistency(faults, &requirements, spec, path);
}

/// Checks `overhead` of the pod spec at `path`.
///
/// The server takes it for the limits of a container, and says so in the paths of its faults.
pub fn overhead(faults: &mut Faults, spec: View<'_>, path: &Path<'_>, rules: &Rules) {
    let before = faults.len();
    let requirements =
        Requirements { limits: ResourceList::of(spec, "overhead"), requests: ResourceList::default() };
    requirements.check(faults, &path.field("overhead"), Level::Container, rules);
    for fault in &mut faults.list[before..] {
        fault.place.retain(|step| !matches!(step, Step::Field(name) if name == "limits"));
    }
}

/// Whether a pod asks for huge pages in an amount that is no multiple of the page size.
pub fn has_indivisible_huge_pages(spec: View<'_>) -> bool {
    let of_containers = all_containers(spec).any(|(_, _, container)| {
        let Requirements { limits, requests } = Requirements::of(container.nested("resources"));
        limits.has_indivisible_huge_pages() || requests.has_indivisible_huge_pages()
    });
    of_containers || ResourceList::of(spec, "overhead").has_indivisible_huge_pages()
}
