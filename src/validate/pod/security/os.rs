//! The operating system of a pod, and the fields that it rules out.

use super::all_containers;
use crate::schema::value::{Value, View};
use crate::validate::fault::Faults;
use crate::validate::path::Path;

const NOT_ON_LINUX: &str = "windows options cannot be set for a linux pod";
const NOT_ON_WINDOWS: &str = "cannot be set for a windows pod";

/// The fields of a pod's security context that Windows has no use for, in the server's order.
const LINUX_ONLY_IN_POD_CONTEXT: &[&str] = &[
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
];

/// Likewise those of a container's security context.
const LINUX_ONLY_IN_CONTEXT: &[&str] = &[
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// Checks `os` and the fields that it rules out.
pub fn os(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let Some(os) = spec.opt("os") else { return };
    let os_path = path.field("os");
    match os.str("name") {
        "" => {
            faults.required(&os_path.field("name"), "");
        }
        "linux" => linux(faults, spec, path),
        "windows" => windows(faults, spec, path),
        name => {
            faults.not_supported(&os_path, name, &["linux", "windows"]).at(&os_path.field("name"));
        }
    }
}

fn linux(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    if let Some(context) = spec.opt("securityContext") {
        forbid_set(faults, context, &path.field("securityContext"), &["windowsOptions"], NOT_ON_LINUX);
    }
    forbid_in_containers(faults, spec, path, &["windowsOptions"], NOT_ON_LINUX);
}

fn windows(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    if let Some(context) = spec.opt("securityContext") {
        let path = path.field("securityContext");
        forbid_set(faults, context, &path, LINUX_ONLY_IN_POD_CONTEXT, NOT_ON_WINDOWS);
    }
    forbid_set(faults, spec, path, &["hostUsers"], NOT_ON_WINDOWS);
    // These two are no pointers: false is the same as unset.
    for field in ["hostPID", "hostIPC"] {
        if spec.bool(field) {
            faults.forbidden(&path.field(field), NOT_ON_WINDOWS);
        }
    }
    forbid_set(faults, spec, path, &["shareProcessNamespace"], NOT_ON_WINDOWS);
    forbid_in_containers(faults, spec, path, LINUX_ONLY_IN_CONTEXT, NOT_ON_WINDOWS);
}

fn forbid_in_containers(
    faults: &mut Faults,
    spec: View<'_>,
    path: &Path<'_>,
    fields: &[&'static str],
    detail: &str,
) {
    for (list, i, container) in all_containers(spec) {
        if let Some(context) = container.opt("securityContext") {
            let list = path.field(list);
            let container = list.index(i);
            forbid_set(faults, context, &container.field("securityContext"), fields, detail);
        }
    }
}

/// Refuses each of these fields that is set. An empty `sysctls` counts as unset, an empty
/// `supplementalGroups` as set.
fn forbid_set(faults: &mut Faults, owner: View<'_>, path: &Path<'_>, fields: &[&'static str], detail: &str) {
    for field in fields {
        let set = match owner.get(field) {
            Some(Value::List(list)) if *field == "sysctls" => !list.is_empty(),
            value => value.is_some(),
        };
        if set {
            faults.forbidden(&path.field(field), detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    #[test]
    fn of_empty_lists_only_supplemental_groups_count_as_set() {
        let spec = r#"{"os": {"name": "windows"}, "hostPID": false,
            "securityContext": {"sysctls": [], "supplementalGroups": []}}"#;
        assert_eq!(
            found("v1.PodSpec", spec, os),
            ["C.securityContext.supplementalGroups: Forbidden: cannot be set for a windows pod"]
        );
    }
}
