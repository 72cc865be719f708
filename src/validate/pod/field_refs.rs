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
            let key = lower(key);
            for message in names::qualified_name(&key) {
                faults.invalid(path, key.as_str(), message).at(&field_path);
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

/// Go's `strings.ToLower`: one character for one, regardless of its neighbours.
fn lower(s: &str) -> String {
    s.chars().filter_map(|c| c.to_lowercase().next()).collect()
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
