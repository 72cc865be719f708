//! Ephemeral containers: what they may not have.
//!
//! That a template may not have any is a rule of the template.

use std::collections::HashSet;

use super::containers::{Pod, common};
use crate::schema::value::View;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

/// What an ephemeral container may not set, in declaration order: nothing should rely on it.
const NOT_ALLOWED: [&str; 9] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

/// Checks the ephemeral containers at `path`.
pub(super) fn ephemeral_containers(faults: &mut Faults, pod: &Pod<'_, '_>, path: &Path<'_>) {
    let containers = pod.spec.structs("ephemeralContainers");
    if containers.len() == 0 {
        return;
    }
    let others = ["containers", "initContainers"].into_iter().flat_map(|list| pod.spec.structs(list));
    let targets: HashSet<_> = others.map(|c| c.str("name")).collect();
    let mut names = targets.clone();
    for (i, container) in containers.enumerate() {
        let path = path.index(i);
        common(faults, pod, container, &path);
        let image = container.str("image");
        if image.trim().len() != image.len() {
            faults.invalid(&path.field("image"), image, "must not have leading or trailing whitespace");
        }
        let name = container.str("name");
        if !names.insert(name) {
            faults.duplicate(&path.field("name"), name);
        }
        let target = container.str("targetContainerName");
        if !target.is_empty() && !targets.contains(target) {
            faults.not_found(&path.field("targetContainerName"), target, "");
        }
        not_allowed(faults, container, &path);
    }
}

fn not_allowed(faults: &mut Faults, container: View<'_>, path: &Path<'_>) {
    const DETAIL: &str = "cannot be set for an Ephemeral Container";
    for field in NOT_ALLOWED {
        if is_set(container, field) {
            faults.forbidden(&path.field(field), DETAIL);
        }
    }
    let list = path.field("volumeMounts");
    for (j, mount) in container.structs("volumeMounts").enumerate() {
        for field in ["subPath", "subPathExpr"] {
            if !mount.str(field).is_empty() {
                faults.forbidden(&list.index(j).field(field), DETAIL);
            }
        }
    }
}

/// Whether a field differs from Go's zero value: an empty list or map does, an empty struct does not.
fn is_set(container: View<'_>, field: &'static str) -> bool {
    match field {
        "resources" => container.nested("resources").set_fields().next().is_some(),
        _ => container.has(field),
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::validate::pod::testing::found;

    #[test]
    fn an_empty_list_or_map_is_set_and_an_empty_struct_is_not() {
        let first = r#"{"name": "e", "ports": [], "resources": {}}"#;
        assert_eq!(
            found("v1.EphemeralContainer", first, not_allowed),
            ["C.ports: Forbidden: cannot be set for an Ephemeral Container"]
        );
        let second =
            r#"{"name": "e", "resources": {"limits": {}}, "restartPolicyRules": [], "lifecycle": {}}"#;
        assert_eq!(
            found("v1.EphemeralContainer", second, not_allowed),
            [
                "C.resources: Forbidden: cannot be set for an Ephemeral Container",
                "C.restartPolicyRules: Forbidden: cannot be set for an Ephemeral Container",
                "C.lifecycle: Forbidden: cannot be set for an Ephemeral Container",
            ]
        );
    }
}
