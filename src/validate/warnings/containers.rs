//! Warnings about containers: annotations that have become fields, parts of bytes, hidden variables.

use std::collections::{HashMap, HashSet};

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

/// The annotations of a template that stand for fields of its containers, by container name.
pub(super) struct ProfileAnnotations<'t> {
    /// Where annotations lie.
    path: &'t Path<'t>,
    seccomp: HashSet<&'t str>,
    app_armor: HashMap<&'t str, &'t str>,
    /// The AppArmor profile of the pod, which an annotation may repeat.
    of_pod: Option<View<'t>>,
}

impl<'t> ProfileAnnotations<'t> {
    /// Those of `template`, whose annotations lie at `path`.
    pub(super) fn of(template: View<'t>, path: &'t Path<'t>) -> Self {
        let context = template.nested("spec").opt("securityContext");
        let of_pod = context.and_then(|context| context.opt("appArmorProfile"));
        let annotations = template.nested("metadata").texts("annotations");
        ProfileAnnotations {
            path,
            seccomp: annotations.clone().filter_map(|(key, _)| key.strip_prefix(SECCOMP_PREFIX)).collect(),
            app_armor: annotations
                .filter_map(|(key, value)| Some((key.strip_prefix(APP_ARMOR_PREFIX)?, value)))
                .collect(),
            of_pod,
        }
    }

    /// Warns about those of one container that the field in its security context does not replace.
    fn warn(&self, warnings: &mut Warnings, container: View<'_>) {
        let name = container.str("name");
        let context = container.opt("securityContext");
        let has = |field| context.is_some_and(|context| context.has(field));
        if self.seccomp.contains(name) && !has("seccompProfile") {
            warnings.about(&self.path.key(&format!("{SECCOMP_PREFIX}{name}")), SECCOMP_DETAIL);
        }
        let Some(annotation) = self.app_armor.get(name) else { return };
        let repeats = self.of_pod.is_some_and(|profile| means_profile(annotation, profile));
        if !repeats && !has("appArmorProfile") {
            let detail = r#"deprecated since v1.30; use the "appArmorProfile" field instead"#;
            warnings.about(&self.path.key(&format!("{APP_ARMOR_PREFIX}{name}")), detail);
        }
    }
}

/// Warns about the container at `path`, and about the `annotations` that are for it.
pub(super) fn container(
    warnings: &mut Warnings,
    container: View<'_>,
    path: &Path<'_>,
    annotations: &ProfileAnnotations<'_>,
) {
    annotations.warn(warnings, container);
    let (resources, here) = (container.nested("resources"), path.field("resources"));
    for resource in ["memory", "ephemeral-storage"] {
        for field in ["limits", "requests"] {
            fractional(warnings, resources, field, resource, &here);
        }
    }
    hidden_variables(warnings, container, &path.field("env"));
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
