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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    fn counted(text: &str) -> Vec<String> {
        found("v1.DeploymentStatus", text, counts)
    }

    #[test]
    fn no_count_is_negative_and_parts_fit_the_whole() {
        assert!(
            counted(r#"{"replicas":3,"readyReplicas":3,"availableReplicas":3,"updatedReplicas":3}"#)
                .is_empty()
        );
        assert_eq!(
            counted(r#"{"availableReplicas":3,"replicas":2,"readyReplicas":1,"terminatingReplicas":-2}"#),
            [
                "C.terminatingReplicas: Invalid value: -2: must be greater than or equal to 0",
                "C.availableReplicas: Invalid value: 3: cannot be greater than status.replicas",
                "C.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas",
            ]
        );
    }

    #[test]
    fn the_collision_count_neither_falls_nor_vanishes() {
        let meta = r#""metadata":{"name":"web","namespace":"default"}"#;
        let after = |status: &str| {
            let old = format!(r#"{{{meta},"status":{{"collisionCount":2}}}}"#);
            let new = format!(r#"{{{meta},"status":{status}}}"#);
            let mut list = Vec::new();
            found("v1.Deployment", &old, |_, old, _| {
                list = found("v1.Deployment", &new, |faults, new, _| update(faults, new, old));
            });
            list
        };
        assert!(after(r#"{"collisionCount":2}"#).is_empty());
        assert_eq!(
            after(r#"{"collisionCount":1}"#),
            ["status.collisionCount: Invalid value: 1: cannot be decremented"]
        );
        assert_eq!(after("{}"), ["status.collisionCount: Invalid value: 0: cannot be decremented"]);
    }
}
