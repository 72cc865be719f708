//! Security contexts of pods and containers, Windows options, and what an operating system rules out.
//!
//! Paths covered: `securityContext` of the pod and of every container, `shareProcessNamespace`,
//! `hostUsers`, `os` and the fields that they rule out. Start with [`pod_security`] and
//! [`container_security`]. Source: kubernetes v1.37.2 `pkg/apis/core/validation`. Parity: exact.

mod os;
mod profiles;
mod sysctls;
mod windows;

use crate::kube_types::names;
use crate::schema::print::internal_json;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

pub use os::os;
pub use sysctls::has_host_sysctl;
pub use windows::host_process as windows_host_process;

/// Checks `securityContext` of the pod spec at `path`, and the host fields that go with it
/// (`shareProcessNamespace`; `hostNetwork`, `hostPID`, `hostIPC` only as the context's rules use them).
pub fn pod_security(faults: &mut Faults, spec: View<'_>, path: &Path<'_>, rules: &Rules) {
    if let Some(context) = spec.opt("securityContext") {
        pod_context(faults, context, &path.field("securityContext"), spec, rules);
    }
    if spec.bool("shareProcessNamespace") && spec.bool("hostPID") {
        faults.invalid(
            &path.field("shareProcessNamespace"),
            true,
            "ShareProcessNamespace and HostPID cannot both be enabled",
        );
    }
}

fn pod_context(faults: &mut Faults, context: View<'_>, path: &Path<'_>, spec: View<'_>, rules: &Rules) {
    for id in ["fsGroup", "runAsUser", "runAsGroup"] {
        user_id(faults, context.opt_int(id), &path.field(id));
    }
    let groups = path.field("supplementalGroups");
    for (i, group) in context.ints("supplementalGroups").enumerate() {
        user_id(faults, Some(group), &groups.index(i));
    }
    sysctls::sysctls(faults, context, &path.field("sysctls"), spec, rules);
    one_of(faults, context, path, "fsGroupChangePolicy", &["Always", "OnRootMismatch"]);
    profiles::seccomp(faults, context, path);
    windows::options(faults, context, path);
    profiles::app_armor(faults, context, path);
    one_of(faults, context, path, "supplementalGroupsPolicy", &["Merge", "Strict"]);
    one_of(faults, context, path, "seLinuxChangePolicy", &["MountOption", "Recursive"]);
}

/// Checks `securityContext` (if set) of the container at `path`; `spec` is its pod's.
pub fn container_security(
    faults: &mut Faults,
    container: View<'_>,
    path: &Path<'_>,
    spec: View<'_>,
    rules: &Rules,
) {
    let Some(context) = container.opt("securityContext") else { return };
    let path = &path.field("securityContext");
    if context.bool("privileged") && !rules.allow_privileged {
        faults.forbidden(&path.field("privileged"), "disallowed by cluster policy");
    }
    for id in ["runAsUser", "runAsGroup"] {
        user_id(faults, context.opt_int(id), &path.field(id));
    }
    proc_mount(faults, context, path, spec);
    profiles::seccomp(faults, context, path);
    escalation(faults, context, path, rules);
    windows::options(faults, context, path);
    profiles::app_armor(faults, context, path);
}

/// An unmasked `/proc` is safe only where root inside is nobody outside.
fn proc_mount(faults: &mut Faults, context: View<'_>, path: &Path<'_>, spec: View<'_>) {
    one_of(faults, context, path, "procMount", &["Default", "Unmasked"]);
    let host_users = spec.opt_bool("hostUsers").unwrap_or(true);
    if host_users && context.opt_str("procMount") == Some("Unmasked") {
        faults.invalid(
            &path.field("procMount"),
            Shown::Named("Unmasked"),
            "`hostUsers` must be false to use `Unmasked`",
        );
    }
}

/// `allowPrivilegeEscalation: false` contradicts what grants more privileges anyway.
///
/// The server names the whole context and prints all of it.
fn escalation(faults: &mut Faults, context: View<'_>, path: &Path<'_>, rules: &Rules) {
    if context.opt_bool("allowPrivilegeEscalation") != Some(false) {
        return;
    }
    if context.bool("privileged") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        faults
            .invalid(path, Shown::Json(internal_json(context).into()), detail)
            .at(&path.field("allowPrivilegeEscalation"));
    }
    let Some(capabilities) = context.opt("capabilities") else { return };
    if rules.exempt.cap_sys_admin {
        return;
    }
    let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
    let capabilities_path = path.field("capabilities");
    let added = capabilities_path.field("add");
    for (i, _) in capabilities.strings("add").enumerate().filter(|(_, name)| *name == "CAP_SYS_ADMIN") {
        faults.invalid(path, Shown::Json(internal_json(context).into()), detail).at(&added.index(i));
    }
}

/// Checks `hostUsers: false` against the host's namespaces and volume devices.
pub fn host_users(faults: &mut Faults, spec: View<'_>, path: &Path<'_>, rules: &Rules) {
    const DETAIL: &str = "when `hostUsers` is false";
    if spec.opt_bool("hostUsers") != Some(false) {
        return;
    }
    if spec.bool("hostNetwork") && !rules.exempt.host_users_network {
        faults.forbidden(&path.field("hostNetwork"), DETAIL);
    }
    // The server names these two by their Go names.
    for (json, go) in [("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if spec.bool(json) {
            faults.forbidden(&path.field(go), DETAIL).at(&path.field(json));
        }
    }
    if rules.exempt.host_users_devices {
        return;
    }
    for (list, i, container) in all_containers(spec) {
        if !container.list("volumeDevices").is_empty() {
            faults.forbidden(&path.field(list).index(i).field("volumeDevices"), DETAIL);
        }
    }
}

/// Every container with the name of its list and its index there, in the order in which the server
/// visits them: init, regular, ephemeral.
pub(in crate::validate) fn all_containers<'t>(
    spec: View<'t>,
) -> impl Iterator<Item = (&'static str, usize, View<'t>)> {
    ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(move |list| spec.structs(list).enumerate().map(move |(i, c)| (list, i, c)))
}

fn user_id(faults: &mut Faults, id: Option<i64>, path: &Path<'_>) {
    let Some(id) = id else { return };
    for message in names::user_id(id) {
        faults.invalid(path, id, message);
    }
}

/// Checks a field behind a pointer that takes one of a few words.
fn one_of(faults: &mut Faults, owner: View<'_>, path: &Path<'_>, field: &'static str, words: &[&str]) {
    if let Some(word) = owner.opt_str(field)
        && !words.contains(&word)
    {
        faults.not_supported(&path.field(field), word, words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    #[test]
    fn forbidden_escalation_contradicts_an_added_cap_sys_admin() {
        let spec = r#"{"containers": [{"securityContext": {
            "allowPrivilegeEscalation": false, "capabilities": {"add": ["SYS_ADMIN", "CAP_SYS_ADMIN"]}}}]}"#;
        let faults = |rules: Rules| {
            found("v1.PodSpec", spec, |faults, spec, path| {
                for (_, _, container) in all_containers(spec) {
                    container_security(faults, container, path, spec, &rules);
                }
            })
        };
        let shown = concat!(
            r#"{"Capabilities":{"Add":["SYS_ADMIN","CAP_SYS_ADMIN"],"Drop":null},"Privileged":null,"#,
            r#""SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"#,
            r#""RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"#,
            r#""ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}"#,
        );
        let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        let place = "C.securityContext.capabilities.add[1]";
        assert_eq!(
            faults(Rules::default()),
            [format!("C.securityContext: Invalid value: {shown}: {detail} @ {place}")]
        );
        let mut excused = Rules::default();
        excused.exempt.cap_sys_admin = true;
        assert!(faults(excused).is_empty());
    }

    #[test]
    fn host_namespaces_are_named_as_in_go() {
        let spec = r#"{"hostUsers": false, "hostPID": true}"#;
        let found = found("v1.PodSpec", spec, |faults, spec, path| {
            host_users(faults, spec, path, &Rules::default());
        });
        assert_eq!(found, ["C.HostPID: Forbidden: when `hostUsers` is false @ C.hostPID"]);
    }
}
