//! `volumeMounts` and `volumeDevices` of a container.
//!
//! Several of the server's paths lack the index of the mount; the faults here keep the real place
//! beside it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::volumes::Volumes;
use crate::kube_types::names;
use crate::schema::print;
use crate::schema::value::View;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

const PROPAGATIONS: &[&str] = &["Bidirectional", "HostToContainer", "None"];
const RECURSIVE_READ_ONLY: &[&str] = &["Disabled", "Enabled", "IfPossible"];
const BIND_OPTIONS: &[&str] = &["nodev", "noexec", "nosuid"];

/// The mounts or devices of a container, to compare the others with.
///
/// Of several with one name only the last one's path counts, as upstream keeps them in a map.
struct Taken<'t> {
    path_by_name: HashMap<&'t str, &'t str>,
    paths: HashSet<&'t str>,
}

impl<'t> Taken<'t> {
    fn of(container: View<'t>, list: &'static str, path: &'static str) -> Self {
        let path_by_name: HashMap<_, _> =
            container.structs(list).map(|entry| (entry.str("name"), entry.str(path))).collect();
        let paths = path_by_name.values().copied().collect();
        Taken { path_by_name, paths }
    }

    fn has_name(&self, name: &str) -> bool {
        self.path_by_name.contains_key(name)
    }

    fn has_path(&self, path: &str) -> bool {
        self.paths.contains(path)
    }
}

/// Checks `volumeMounts` of the container at `path`.
pub(super) fn volume_mounts(
    faults: &mut Faults,
    container: View<'_>,
    path: &Path<'_>,
    volumes: &Volumes<'_>,
) {
    let list = path.field("volumeMounts");
    let devices = Taken::of(container, "volumeDevices", "devicePath");
    let mut paths_seen = HashSet::new();
    for (j, mount) in container.structs("volumeMounts").enumerate() {
        let path = list.index(j);
        let (name, mount_path) = (mount.str("name"), mount.str("mountPath"));
        if name.is_empty() {
            faults.required(&path.field("name"), "");
        }
        let volume = volumes.named(name);
        if volume.is_none() {
            faults.not_found(&path.field("name"), name, "");
        }
        if mount_path.is_empty() {
            faults.required(&path.field("mountPath"), "");
        }
        if !paths_seen.insert(mount_path) {
            faults.invalid(&path.field("mountPath"), mount_path, "must be unique");
        }
        if devices.has_name(name) {
            faults.invalid(&path.field("name"), name, "must not already exist in volumeDevices");
        }
        if devices.has_path(mount_path) {
            let detail = "must not already exist as a path in volumeDevices";
            faults.invalid(&path.field("mountPath"), mount_path, detail);
        }
        sub_paths(faults, mount, &list, &path);
        propagation(faults, mount, &list, &path, is_privileged(container));
        recursive_read_only(faults, mount, &list, &path);
        let is_image = volume.is_some_and(|v| v.has("image"));
        bind_options(faults, mount, &path.field("bindMountOptions"), is_image);
    }
}

fn is_privileged(container: View<'_>) -> bool {
    container.opt("securityContext").is_some_and(|context| context.bool("privileged"))
}

fn sub_paths(faults: &mut Faults, mount: View<'_>, list: &Path<'_>, path: &Path<'_>) {
    let (sub_path, expr) = (mount.str("subPath"), mount.str("subPathExpr"));
    for message in names::relative_path(sub_path) {
        faults.invalid(&list.field("subPath"), sub_path, message).at(&path.field("subPath"));
    }
    if !expr.is_empty() && !sub_path.is_empty() {
        let detail = "subPathExpr and subPath are mutually exclusive";
        faults.invalid(&path.field("subPathExpr"), expr, detail);
    }
    for message in names::relative_path(expr) {
        faults.invalid(&list.field("subPathExpr"), expr, message).at(&path.field("subPathExpr"));
    }
}

fn propagation(faults: &mut Faults, mount: View<'_>, list: &Path<'_>, path: &Path<'_>, privileged: bool) {
    let Some(mode) = mount.opt_str("mountPropagation") else { return };
    let (named, real) = (list.field("mountPropagation"), path.field("mountPropagation"));
    if !PROPAGATIONS.contains(&mode) {
        faults.not_supported(&named, mode, PROPAGATIONS).at(&real);
    }
    if mode == "Bidirectional" && !privileged {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        faults.forbidden(&named, detail).at(&real);
    }
}

fn recursive_read_only(faults: &mut Faults, mount: View<'_>, list: &Path<'_>, path: &Path<'_>) {
    let (named, real) = (list.field("recursiveReadOnly"), path.field("recursiveReadOnly"));
    match mount.opt_str("recursiveReadOnly") {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if !mount.bool("readOnly") {
                faults.forbidden(&named, "may only be specified when readOnly is true").at(&real);
            }
            if mount.opt_str("mountPropagation").is_some_and(|mode| mode != "None") {
                let detail = "may only be specified when mountPropagation is None or not specified";
                faults.forbidden(&named, detail).at(&real);
            }
        }
        Some(other) => {
            faults.not_supported(&named, other, RECURSIVE_READ_ONLY).at(&real);
        }
    }
}

/// `bindMountOptions`, which only an update can bring: their gate is off.
fn bind_options(faults: &mut Faults, mount: View<'_>, path: &Path<'_>, is_image: bool) {
    let options = mount.strings("bindMountOptions");
    let mut seen = HashSet::new();
    for (k, option) in options.clone().enumerate() {
        if !BIND_OPTIONS.contains(&option) {
            faults.not_supported_shown(&path.index(k), Shown::Text(option), BIND_OPTIONS);
        }
        if !seen.insert(option) {
            faults.duplicate(&path.index(k), option);
        }
    }
    if is_image && options.len() > 0 {
        let given = Shown::Json(Cow::Owned(print::value_json(mount.get("bindMountOptions"))));
        faults.invalid(path, given, "bindMountOptions may not be used with image volumes");
    }
}

/// Checks `volumeDevices` of the container at `path`.
pub(super) fn volume_devices(
    faults: &mut Faults,
    container: View<'_>,
    path: &Path<'_>,
    volumes: &Volumes<'_>,
) {
    if container.list("volumeDevices").is_empty() {
        return;
    }
    let list = path.field("volumeDevices");
    let mounts = Taken::of(container, "volumeMounts", "mountPath");
    let (mut names_seen, mut paths_seen) = (HashSet::new(), HashSet::new());
    for (j, device) in container.structs("volumeDevices").enumerate() {
        let path = list.index(j);
        let (name, device_path) = (device.str("name"), device.str("devicePath"));
        device_name(faults, name, &path.field("name"), volumes, names_seen.contains(name));
        device_path_rules(faults, device_path, &path.field("devicePath"), paths_seen.contains(device_path));
        if mounts.has_name(name) {
            faults.invalid(&path.field("name"), name, "must not already exist in volumeMounts");
        }
        if mounts.has_path(device_path) {
            let detail = "must not already exist as a path in volumeMounts";
            faults.invalid(&path.field("devicePath"), device_path, detail);
        }
        if !name.is_empty() {
            names_seen.insert(name);
        }
        if !names::has_backstep(device_path) {
            paths_seen.insert(device_path);
        }
    }
}

fn device_name(faults: &mut Faults, name: &str, path: &Path<'_>, volumes: &Volumes<'_>, repeated: bool) {
    if name.is_empty() {
        faults.required(path, "");
    }
    if repeated {
        faults.invalid(path, name, "must be unique");
    }
    match volumes.named(name) {
        None => {
            faults.not_found(path, name, "");
        }
        Some(volume) if volume.has("persistentVolumeClaim") || volume.has("ephemeral") => {}
        Some(_) => {
            let detail =
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
            faults.invalid(path, name, detail);
        }
    }
}

fn device_path_rules(faults: &mut Faults, device_path: &str, path: &Path<'_>, repeated: bool) {
    if device_path.is_empty() {
        faults.required(path, "");
    }
    if repeated {
        faults.invalid(path, device_path, "must be unique");
    }
    if names::has_backstep(device_path) {
        faults.invalid(path, device_path, "can not contain backsteps ('..')");
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::validate::Rules;
    use crate::validate::pod::testing::found;
    use crate::validate::pod::volumes;

    /// What both rules find in a container of a pod with these volumes.
    fn faults_of(volumes: &str, container: &str) -> Vec<String> {
        let text = format!(r#"{{"volumes": {volumes}, "containers": [{container}]}}"#);
        found("v1.PodSpec", &text, |faults, spec, path| {
            let volumes = volumes::volumes(faults, spec, path, &Rules::default());
            let container = spec.structs("containers").next().expect("there is one");
            volume_mounts(faults, container, path, &volumes);
            volume_devices(faults, container, path, &volumes);
        })
    }

    const VOLUMES: &str =
        r#"[{"name": "v", "emptyDir": {}}, {"name": "d", "persistentVolumeClaim": {"claimName": "x"}}]"#;

    #[test]
    fn of_several_mounts_of_a_volume_only_the_last_is_compared_with_devices() {
        let container = r#"{
        "volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}],
        "volumeDevices": [{"name": "d", "devicePath": "/a"}, {"name": "d", "devicePath": "/b"}]
    }"#;
        assert_eq!(
            faults_of(VOLUMES, container),
            [
                r#"C.volumeMounts[1].mountPath: Invalid value: "/b": must not already exist as a path in volumeDevices"#,
                r#"C.volumeDevices[1].name: Invalid value: "d": must be unique"#,
                r#"C.volumeDevices[1].devicePath: Invalid value: "/b": must not already exist as a path in volumeMounts"#,
            ]
        );
    }

    #[test]
    fn paths_without_index_keep_the_real_place() {
        let container = r#"{"volumeMounts": [
        {"name": "v", "mountPath": "/a"},
        {"name": "v", "mountPath": "/b", "subPath": "/../x", "subPathExpr": "..y"},
        {"name": "", "mountPath": "", "mountPropagation": "", "recursiveReadOnly": "Enabled"}
    ]}"#;
        assert_eq!(
            faults_of(VOLUMES, container),
            [
                r#"C.volumeMounts.subPath: Invalid value: "/../x": must be a relative path @ C.volumeMounts[1].subPath"#,
                r#"C.volumeMounts.subPath: Invalid value: "/../x": must not contain '..' @ C.volumeMounts[1].subPath"#,
                r#"C.volumeMounts[1].subPathExpr: Invalid value: "..y": subPathExpr and subPath are mutually exclusive"#,
                "C.volumeMounts[2].name: Required value",
                r#"C.volumeMounts[2].name: Not found: """#,
                "C.volumeMounts[2].mountPath: Required value",
                r#"C.volumeMounts.mountPropagation: Unsupported value: "": supported values: "Bidirectional", "HostToContainer", "None" @ C.volumeMounts[2].mountPropagation"#,
                "C.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true @ C.volumeMounts[2].recursiveReadOnly",
                "C.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified @ C.volumeMounts[2].recursiveReadOnly",
            ]
        );
    }

    #[test]
    fn a_device_path_with_a_backstep_is_not_remembered_and_an_empty_one_is() {
        let container = r#"{"volumeDevices": [
        {"name": "d", "devicePath": "/../b"},
        {"name": "", "devicePath": "/../b"},
        {"name": "", "devicePath": ""},
        {"name": "v", "devicePath": ""}
    ]}"#;
        assert_eq!(
            faults_of(VOLUMES, container),
            [
                r#"C.volumeDevices[0].devicePath: Invalid value: "/../b": can not contain backsteps ('..')"#,
                "C.volumeDevices[1].name: Required value",
                r#"C.volumeDevices[1].name: Not found: """#,
                r#"C.volumeDevices[1].devicePath: Invalid value: "/../b": can not contain backsteps ('..')"#,
                "C.volumeDevices[2].name: Required value",
                r#"C.volumeDevices[2].name: Not found: """#,
                "C.volumeDevices[2].devicePath: Required value",
                r#"C.volumeDevices[3].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"#,
                "C.volumeDevices[3].devicePath: Required value",
                r#"C.volumeDevices[3].devicePath: Invalid value: "": must be unique"#,
            ]
        );
    }
}
