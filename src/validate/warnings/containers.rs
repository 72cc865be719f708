//! Warnings about containers: annotations that have become fields, parts of bytes, hidden variables.

use std::collections::HashSet;

use super::pod::{SECCOMP_DETAIL, fractional};
use super::{Warnings, quoted};
use crate::schema::value::View;
use crate::validate::path::Path;

const SECCOMP_PREFIX: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR_PREFIX: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Visits every container of the pod spec at `path`, in the server's order.
pub(super) fn each<'t>(spec: View<'t>, path: &Path<'_>, mut visit: impl FnMut(View<'t>, &Path<'_>)) {
    for field in ["initContainers", "containers", "ephemeralContainers"] {
        let list = path.field(field);
        for (i, container) in spec.structs(field).enumerate() {
            visit(container, &list.index(i));
        }
    }
}

/// Warns about the container at `path`, and about the annotations of `template` that are for it.
pub(super) fn container(
    warnings: &mut Warnings,
    container: View<'_>,
    path: &Path<'_>,
    template: View<'_>,
    annotations: &Path<'_>,
) {
    profile_annotations(warnings, container, template, annotations);
    let (resources, here) = (container.nested("resources"), path.field("resources"));
    for resource in ["memory", "ephemeral-storage"] {
        for field in ["limits", "requests"] {
            fractional(warnings, resources, field, resource, &here);
        }
    }
    hidden_variables(warnings, container, &path.field("env"));
}

fn profile_annotations(warnings: &mut Warnings, container: View<'_>, template: View<'_>, path: &Path<'_>) {
    let name = container.str("name");
    let metadata = template.nested("metadata");
    let context = container.opt("securityContext");
    let key = format!("{SECCOMP_PREFIX}{name}");
    let profiled = context.is_some_and(|context| context.has("seccompProfile"));
    if !profiled && metadata.text("annotations", &key).is_some() {
        warnings.about(&path.key(&key), SECCOMP_DETAIL);
    }
    let key = format!("{APP_ARMOR_PREFIX}{name}");
    let profiled = context.is_some_and(|context| context.has("appArmorProfile"));
    let Some(annotation) = metadata.text("annotations", &key).filter(|_| !profiled) else { return };
    let of_pod = template.nested("spec").opt("securityContext").and_then(|c| c.opt("appArmorProfile"));
    if !of_pod.is_some_and(|profile| means_profile(annotation, profile)) {
        let detail = r#"deprecated since v1.30; use the "appArmorProfile" field instead"#;
        warnings.about(&path.key(&key), detail);
    }
}

/// Whether an AppArmor annotation says the same as a profile.
fn means_profile(annotation: &str, profile: View<'_>) -> bool {
    let meant = match annotation {
        "unconfined" => ("Unconfined", None),
        "runtime/default" => ("RuntimeDefault", None),
        _ => match annotation.strip_prefix("localhost/") {
            Some(name) if !name.is_empty() => ("Localhost", Some(name)),
            _ => return false,
        },
    };
    meant == (profile.str("type"), profile.opt_str("localhostProfile"))
}

/// A variable may be given twice when the later value builds on the earlier one: `$(PATH):/opt/bin`.
fn hidden_variables(warnings: &mut Warnings, container: View<'_>, path: &Path<'_>) {
    let mut seen = HashSet::new();
    for (i, variable) in container.structs("env").enumerate() {
        let (name, value) = (variable.str("name"), variable.str("value"));
        if seen.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        let builds_on = !variable.has("valueFrom") && value != reference && value.contains(&reference);
        if !builds_on {
            let name = quoted(name);
            warnings.about(
                &path.index(i),
                format_args!("hides previous definition of {name}, which may be dropped when using apply"),
            );
        }
    }
}
