//! `fieldRef` and `resourceFieldRef`, as environment variables and downward API volumes use them.
//!
//! Source: kubernetes v1.37.2 `pkg/apis/core/validation`, `validateObjectFieldSelector` and
//! `validateContainerResourceFieldSelector`; `pkg/fieldpath`. Parity: exact.

use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

/// Who refers to the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// An environment variable.
    Env,
    /// A downward API volume.
    Volume,
}

/// The field paths that an environment variable may use.
const ENV_FIELDS: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// The field paths that a downward API volume may use.
const VOLUME_FIELDS: &[&str] =
    &["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/// Field paths that are known but that neither use allows everywhere.
const OTHER_FIELDS: &[&str] = &["spec.restartPolicy", "spec.schedulerName", "status.phase"];

const RESOURCES: &[&str] = &[
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

const CPU_DIVISORS: &[&str] = &["1m", "1"];
const BYTE_DIVISORS: &[&str] =
    &["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// Checks a `fieldRef` at `path`.
pub fn field_ref(faults: &mut Faults, field_ref: View<'_>, path: &Path<'_>, used_by: Use) {
    let given = field_ref.str("fieldPath");
    let field_path = path.field("fieldPath");
    if given.is_empty() {
        faults.required(&field_path, "");
        return;
    }
    let version = field_ref.str("apiVersion");
    if version != "v1" {
        let detail = format!("error converting fieldPath: unsupported pod version: {version}");
        faults.invalid(&field_path, given, detail);
        return;
    }
    match subscripted(given) {
        Some(("metadata.annotations", key)) => {
            let key = names::lower(key);
            for message in names::qualified_name(&key) {
                faults.invalid(path, &*key, message).at(&field_path);
            }
        }
        Some(("metadata.labels", key)) => {
            for message in names::qualified_name(key) {
                faults.invalid(path, key, message).at(&field_path);
            }
        }
        Some(_) => {
            let detail =
                format!("error converting fieldPath: field label does not support subscript: {given}");
            faults.invalid(&field_path, given, detail);
        }
        None => plain_field(faults, given, &field_path, used_by),
    }
}

/// A field path without a subscript.
fn plain_field(faults: &mut Faults, given: &str, field_path: &Path<'_>, used_by: Use) {
    // Old clients send `spec.host`; the server reads it as the field's present name.
    let field = if given == "spec.host" { "spec.nodeName" } else { given };
    if ![ENV_FIELDS, VOLUME_FIELDS, OTHER_FIELDS].iter().any(|known| known.contains(&field)) {
        let detail = format!("error converting fieldPath: field label not supported: {given}");
        faults.invalid(field_path, given, detail);
        return;
    }
    let supported = match used_by {
        Use::Env => ENV_FIELDS,
        Use::Volume => VOLUME_FIELDS,
    };
    if !supported.contains(&field) {
        faults.not_supported_shown(field_path, Shown::Text(field), supported);
    }
}

/// Splits `metadata.labels['app']` into path and key: at the first `['`, when it ends in `']`.
fn subscripted(field_path: &str) -> Option<(&str, &str)> {
    let (path, key) = field_path.strip_suffix("']")?.split_once("['")?;
    (!path.is_empty()).then_some((path, key))
}

/// Checks a `resourceFieldRef` at `path`.
pub fn resource_field_ref(faults: &mut Faults, field_ref: View<'_>, path: &Path<'_>, used_by: Use) {
    let resource = field_ref.str("resource");
    if used_by == Use::Volume && field_ref.str("containerName").is_empty() {
        faults.required(&path.field("containerName"), "");
    } else if resource.is_empty() {
        faults.required(&path.field("resource"), "");
    } else if !RESOURCES.contains(&resource) && !is_huge_pages(resource) {
        faults.not_supported_shown(&path.field("resource"), Shown::Text(resource), RESOURCES);
    }
    divisor(faults, field_ref, path, resource);
}

/// The divisor, by its text: `1000m` is refused where `1` is not. An unknown resource takes any.
fn divisor(faults: &mut Faults, field_ref: View<'_>, path: &Path<'_>, resource: &str) {
    let Some(divisor) = field_ref.quantity("divisor") else { return };
    if divisor.sign().is_eq() {
        return;
    }
    let (allowed, noun) = match resource {
        "limits.cpu" | "requests.cpu" => (CPU_DIVISORS, "cpu"),
        "limits.memory" | "requests.memory" => (BYTE_DIVISORS, "memory"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => {
            (BYTE_DIVISORS, "local ephemeral storage")
        }
        other if is_huge_pages(other) => (BYTE_DIVISORS, "hugepages"),
        _ => return,
    };
    if allowed.contains(&divisor.text()) {
        return;
    }
    let values = if noun == "cpu" { "1m and 1".to_owned() } else { BYTE_DIVISORS.join(", ") };
    let detail = format!("only divisor's values {values} are supported with the {noun} resource");
    faults.invalid(&path.field("divisor"), resource, detail);
}

fn is_huge_pages(resource: &str) -> bool {
    resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-")
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::validate::pod::testing::found;

    fn of_field(field_path: &str, used_by: Use) -> Vec<String> {
        let text = format!(r#"{{"apiVersion": "v1", "fieldPath": "{field_path}"}}"#);
        found("v1.ObjectFieldSelector", &text, |faults, view, path| field_ref(faults, view, path, used_by))
    }

    fn of_resource(resource: &str, divisor: &str) -> Vec<String> {
        let text = format!(r#"{{"resource": "{resource}", "divisor": "{divisor}"}}"#);
        let check = |faults: &mut Faults, view: View<'_>, path: &Path<'_>| {
            resource_field_ref(faults, view, path, Use::Env);
        };
        found("v1.ResourceFieldSelector", &text, check)
    }

    #[test]
    fn only_labels_and_annotations_have_subscripts() {
        assert!(of_field("metadata.labels['app']", Use::Env).is_empty());
        assert_eq!(
            of_field("spec.nodeName['x']", Use::Env),
            [
                "C.fieldPath: Invalid value: \"spec.nodeName['x']\": error converting fieldPath: field label does not support subscript: spec.nodeName['x']"
            ]
        );
        assert_eq!(
            of_field("['x']", Use::Env),
            [
                "C.fieldPath: Invalid value: \"['x']\": error converting fieldPath: field label not supported: ['x']"
            ]
        );
    }

    #[test]
    fn annotation_keys_are_lowered_and_at_fault_one_level_up() {
        assert_eq!(
            of_field("metadata.annotations['/A']", Use::Volume),
            [r#"C: Invalid value: "/a": prefix part must be non-empty @ C.fieldPath"#]
        );
        assert_eq!(
            of_field("metadata.labels['/A']", Use::Env),
            [r#"C: Invalid value: "/A": prefix part must be non-empty @ C.fieldPath"#]
        );
    }

    #[test]
    fn the_old_name_of_node_name_is_known() {
        assert!(of_field("spec.host", Use::Env).is_empty());
        assert_eq!(
            of_field("spec.host", Use::Volume),
            [
                r#"C.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid""#
            ]
        );
    }

    #[test]
    fn divisors_go_by_their_text_and_only_for_known_resources() {
        assert!(of_resource("limits.cpu", "1000m").is_empty());
        assert!(of_resource("limits.cpu", "0m").is_empty());
        assert!(of_resource("requests.memory", "1024Ki").is_empty());
        assert_eq!(
            of_resource("limits.cpu", "2"),
            [
                r#"C.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource"#
            ]
        );
        assert_eq!(
            of_resource("requests.memory", "1024"),
            [
                r#"C.divisor: Invalid value: "requests.memory": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource"#
            ]
        );
        assert_eq!(
            of_resource("limits.foo", "2"),
            [
                r#"C.resource: Unsupported value: "limits.foo": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory""#
            ]
        );
    }

    #[test]
    fn a_volume_must_name_the_container_before_the_resource_counts() {
        let check = |faults: &mut Faults, view: View<'_>, path: &Path<'_>| {
            resource_field_ref(faults, view, path, Use::Volume);
        };
        assert_eq!(found("v1.ResourceFieldSelector", "{}", check), ["C.containerName: Required value"]);
    }
}
