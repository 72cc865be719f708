//! `status`, as its own subresource.

use super::deployment::non_negative;
use super::fault::Faults;
use super::metadata;
use super::path::Path;
use crate::schema::value::View;

const MORE_THAN_REPLICAS: &str = "cannot be greater than status.replicas";

/// Checks a Deployment whose status is to replace that of `old`.
///
/// `new` with the spec and the labels of `old`, which the server has put in by now; the spec is not
/// looked at again.
///
/// Source: kubernetes v1.37.2 `ValidateDeploymentStatusUpdate`. Parity: exact.
pub fn update(faults: &mut Faults, new: View<'_>, old: View<'_>) {
    metadata::update(faults, new.nested("metadata"), old.nested("metadata"), &Path::root("metadata"));
    let (status, path) = (new.nested("status"), Path::root("status"));
    counts(faults, status, &path);
    let collisions = status.int("collisionCount");
    let before = old.nested("status").opt_int("collisionCount");
    if before.is_some_and(|before| collisions < before || !status.has("collisionCount")) {
        faults.invalid(&path.field("collisionCount"), collisions, "cannot be decremented");
    }
}

fn counts(faults: &mut Faults, status: View<'_>, path: &Path<'_>) {
    for field in [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ] {
        non_negative(faults, status, field, path);
    }
    for field in ["updatedReplicas", "readyReplicas", "availableReplicas"] {
        if status.int(field) > status.int("replicas") {
            faults.invalid(&path.field(field), status.int(field), MORE_THAN_REPLICAS);
        }
    }
    let available = status.int("availableReplicas");
    if available > status.int("readyReplicas") {
        faults.invalid(&path.field("availableReplicas"), available, "cannot be greater than readyReplicas");
    }
}
