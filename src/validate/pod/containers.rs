//! Containers, init containers and ephemeral containers: which rules each kind has, in which order,
//! and the rules about names.
//!
//! The rules of single fields lie in the neighbouring modules. `command`, `args`, `workingDir`,
//! `terminationMessagePath`, `stdin` and `tty` have none. Defaulting has run: fields that it always
//! fills (`terminationMessagePolicy`, `imagePullPolicy`, …) are never looked at as missing.
//!
//! Source: kubernetes v1.37.2 `pkg/apis/core/validation`, `validateContainers`,
//! `validateInitContainers`, `validateEphemeralContainers`. Parity: exact.

use std::collections::HashSet;

use super::volumes::Volumes;
use super::{env, ephemeral, mounts, ports, probes, resources, restart, security};
use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

pub use super::env::file_key_volumes;
pub use super::ports::host_network_ports;

/// What the rules of a container depend on besides the container.
#[derive(Clone, Copy)]
pub(super) struct Pod<'p, 't> {
    pub(super) spec: View<'t>,
    pub(super) volumes: &'p Volumes<'p>,
    pub(super) rules: &'p Rules,
}

/// Checks `containers`, then `initContainers`, then `ephemeralContainers` of the pod spec at `path`.
pub fn containers(
    faults: &mut Faults,
    spec: View<'_>,
    path: &Path<'_>,
    volumes: &Volumes<'_>,
    rules: &Rules,
) {
    let pod = Pod { spec, volumes, rules };
    regular_containers(faults, &pod, &path.field("containers"));
    init_containers(faults, &pod, &path.field("initContainers"));
    ephemeral::ephemeral_containers(faults, &pod, &path.field("ephemeralContainers"));
}

fn regular_containers(faults: &mut Faults, pod: &Pod<'_, '_>, path: &Path<'_>) {
    let containers = pod.spec.structs("containers");
    if containers.len() == 0 {
        faults.required(path, "");
        return;
    }
    let mut names = HashSet::new();
    for (i, container) in containers.clone().enumerate() {
        let path = path.index(i);
        common(faults, pod, container, &path);
        // Unlike among init containers, an empty name counts as a name here.
        if !names.insert(container.str("name")) {
            faults.duplicate(&path.field("name"), container.str("name"));
        }
        probes::lifecycle_and_probes(faults, pod.spec, container, &path);
        restart::policy(faults, container, &path);
        restart::rules(faults, container, &path);
    }
    ports::host_port_conflicts(faults, containers, path, 0);
}

fn init_containers(faults: &mut Faults, pod: &Pod<'_, '_>, path: &Path<'_>) {
    let mut names: HashSet<_> = pod.spec.structs("containers").map(|c| c.str("name")).collect();
    for (i, container) in pod.spec.structs("initContainers").enumerate() {
        let here = path.index(i);
        common(faults, pod, container, &here);
        restart::policy(faults, container, &here);
        if container.has("restartPolicy") {
            restart::rules(faults, container, &here);
        }
        let name = container.str("name");
        if names.contains(name) {
            faults.duplicate(&here.field("name"), name);
        } else if !name.is_empty() {
            names.insert(name);
        }
        // Each alone, since they run one after the other.
        ports::host_port_conflicts(faults, std::iter::once(container), path, i);
        if container.opt_str("restartPolicy") == Some("Always") {
            probes::lifecycle_and_probes(faults, pod.spec, container, &here);
        } else {
            probes::none_allowed(faults, container, &here);
            if !pod.rules.exempt.init_resize_policy {
                restart::no_restart_on_resize(faults, container, &here);
            }
        }
    }
}

/// The rules that containers of every kind share.
pub(super) fn common(faults: &mut Faults, pod: &Pod<'_, '_>, container: View<'_>, path: &Path<'_>) {
    let name = container.str("name");
    if name.is_empty() {
        faults.required(&path.field("name"), "");
    } else {
        faults.invalid_each(&path.field("name"), name, &names::label(name));
    }
    // Blanks around the image are legal in a template: some tools use a lone blank as a placeholder.
    if container.str("image").is_empty() {
        faults.required(&path.field("image"), "");
    }
    one_of(faults, container, path, "terminationMessagePolicy", &["File", "FallbackToLogsOnError"]);
    ports::container_ports(faults, container, path);
    env::env(faults, container, path);
    env::env_from(faults, container, path);
    mounts::volume_mounts(faults, container, path, pod.volumes);
    mounts::volume_devices(faults, container, path, pod.volumes);
    one_of(faults, container, path, "imagePullPolicy", &["Always", "IfNotPresent", "Never"]);
    let resources = container.nested("resources");
    resources::container_resources(faults, resources, &path.field("resources"), pod.spec, pod.rules);
    restart::resize_policy(faults, container, path, pod.spec.str("restartPolicy"));
    security::container_security(faults, container, path, pod.spec, pod.rules);
}

/// Checks that `field` of the struct at `path`, of a named string type, is one of `supported`.
pub(super) fn one_of(
    faults: &mut Faults,
    holder: View<'_>,
    path: &Path<'_>,
    field: &'static str,
    supported: &[&str],
) {
    let value = holder.str(field);
    if !supported.contains(&value) {
        faults.not_supported(&path.field(field), value, supported);
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::validate::pod::testing::found;

    /// The faults in `name` fields; the containers lack nearly all else.
    fn name_faults(spec: &str) -> Vec<String> {
        let mut found = found("v1.PodSpec", spec, |faults, spec, path| {
            containers(faults, spec, path, &Volumes::default(), &Rules::default());
        });
        found.retain(|fault| fault.contains("].name: "));
        found
    }

    #[test]
    fn an_empty_name_counts_as_a_name_among_regular_containers_only() {
        let both = r#"{"containers": [{"name": ""}, {"name": ""}],
        "initContainers": [{"name": ""}, {"name": "z"}, {"name": "z"}]}"#;
        assert_eq!(
            name_faults(both),
            [
                "C.containers[0].name: Required value",
                "C.containers[1].name: Required value",
                r#"C.containers[1].name: Duplicate value: """#,
                "C.initContainers[0].name: Required value",
                r#"C.initContainers[0].name: Duplicate value: """#,
                r#"C.initContainers[2].name: Duplicate value: "z""#,
            ]
        );
        let init = r#"{"containers": [{"name": "a"}], "initContainers": [{"name": ""}, {"name": ""}, {"name": "a"}]}"#;
        assert_eq!(
            name_faults(init),
            [
                "C.initContainers[0].name: Required value",
                "C.initContainers[1].name: Required value",
                r#"C.initContainers[2].name: Duplicate value: "a""#,
            ]
        );
    }

    #[test]
    fn a_repeated_name_among_ephemeral_containers_is_no_target() {
        let spec = r#"{"containers": [{"name": "a"}],
        "ephemeralContainers": [{"name": "e"}, {"name": "e", "targetContainerName": "e"}, {"name": "a"}]}"#;
        let faults = found("v1.PodSpec", spec, |faults, spec, path| {
            containers(faults, spec, path, &Volumes::default(), &Rules::default());
        });
        let about_names: Vec<_> =
            faults.iter().filter(|fault| fault.to_lowercase().contains("name: ")).collect();
        assert_eq!(
            about_names,
            [
                r#"C.ephemeralContainers[1].name: Duplicate value: "e""#,
                r#"C.ephemeralContainers[1].targetContainerName: Not found: "e""#,
                r#"C.ephemeralContainers[2].name: Duplicate value: "a""#,
            ]
        );
    }
}
