//! `env` and `envFrom` of a container.
//!
//! Repeated names are legal here (a warning tells of them).

use std::cell::LazyCell;
use std::collections::HashMap;

use super::field_refs::{self, Use};
use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

/// The sources of a variable, in the order in which they are checked.
const SOURCES: [&str; 5] = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

/// Checks `env` of the container at `path`.
pub(super) fn env(faults: &mut Faults, container: View<'_>, path: &Path<'_>) {
    let list = path.field("env");
    for (j, variable) in container.structs("env").enumerate() {
        let path = list.index(j);
        env_name(faults, variable.str("name"), &path.field("name"));
        if let Some(source) = variable.opt("valueFrom") {
            value_from(faults, source, &path.field("valueFrom"), !variable.str("value").is_empty());
        }
    }
}

fn value_from(faults: &mut Faults, source: View<'_>, path: &Path<'_>, has_value: bool) {
    let mut count = 0;
    for kind in SOURCES {
        let Some(reference) = source.opt(kind) else { continue };
        count += 1;
        let path = path.field(kind);
        match kind {
            "fieldRef" => field_refs::field_ref(faults, reference, &path, Use::Env),
            "resourceFieldRef" => field_refs::resource_field_ref(faults, reference, &path, Use::Env),
            "fileKeyRef" => file_key_ref(faults, reference, &path),
            _ => config_key_ref(faults, reference, &path),
        }
    }
    if count == 0 {
        faults.invalid(
            path,
            "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        );
    } else if has_value {
        faults.invalid(path, "", "may not be specified when `value` is not empty");
    } else if count > 1 {
        faults.invalid(path, "", "may not have more than one field specified at a time");
    }
}

/// A key of a ConfigMap or Secret. An empty name is no special case: it is no subdomain.
fn config_key_ref(faults: &mut Faults, reference: View<'_>, path: &Path<'_>) {
    let name = reference.str("name");
    faults.invalid_each(&path.field("name"), name, &names::subdomain(name));
    let key = reference.str("key");
    if key.is_empty() {
        faults.required(&path.field("key"), "");
    } else {
        faults.invalid_each(&path.field("key"), key, &names::config_key(key));
    }
}

fn file_key_ref(faults: &mut Faults, reference: View<'_>, path: &Path<'_>) {
    env_name(faults, reference.str("key"), &path.field("key"));
    let volume = reference.str("volumeName");
    if volume.is_empty() {
        faults.required(&path.field("volumeName"), "");
    } else {
        faults.invalid_each(&path.field("volumeName"), volume, &names::label(volume));
    }
    let file = reference.str("path");
    if file.is_empty() {
        faults.required(&path.field("path"), "");
    } else if names::has_backstep(file) {
        faults.invalid(&path.field("path"), file, "must not contain '..'");
    }
}

fn env_name(faults: &mut Faults, name: &str, path: &Path<'_>) {
    if name.is_empty() {
        faults.required(path, "");
    } else {
        faults.invalid_each(path, name, &names::env_name(name));
    }
}

/// Checks `envFrom` of the container at `path`.
pub(super) fn env_from(faults: &mut Faults, container: View<'_>, path: &Path<'_>) {
    let list = path.field("envFrom");
    for (j, source) in container.structs("envFrom").enumerate() {
        let path = list.index(j);
        let prefix = source.str("prefix");
        if !prefix.is_empty() {
            faults.invalid_each(&path.field("prefix"), prefix, &names::env_name(prefix));
        }
        let mut count = 0;
        for kind in ["configMapRef", "secretRef"] {
            let Some(reference) = source.opt(kind) else { continue };
            count += 1;
            let path = path.field(kind);
            let name = reference.str("name");
            if name.is_empty() {
                faults.required(&path.field("name"), "");
            } else {
                faults.invalid_each(&path.field("name"), name, &names::subdomain_prefix(name));
            }
        }
        if count == 0 {
            faults.invalid(&list, "", "must specify one of: `configMapRef` or `secretRef`").at(&path);
        } else if count > 1 {
            faults.invalid(&list, "", "may not have more than one field specified at a time").at(&path);
        }
    }
}

/// Checks that every `fileKeyRef` in the pod spec at `path` names an `emptyDir` volume.
///
/// Other than for mounts, a volume with faults counts, and the last one of a name.
pub fn file_key_volumes(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let is_empty_dir = LazyCell::new(|| {
        let volumes = spec.structs("volumes");
        volumes.map(|v| (v.str("name"), v.has("emptyDir"))).collect::<HashMap<_, _>>()
    });
    for field in ["initContainers", "containers", "ephemeralContainers"] {
        let list = path.field(field);
        for (i, container) in spec.structs(field).enumerate() {
            for (j, variable) in container.structs("env").enumerate() {
                let source = variable.opt("valueFrom");
                let Some(reference) = source.and_then(|source| source.opt("fileKeyRef")) else { continue };
                let volume = reference.str("volumeName");
                let is_empty_dir = is_empty_dir.get(volume).copied();
                file_key_volume(faults, volume, is_empty_dir, &list.index(i).field("env").index(j));
            }
        }
    }
}

/// The volume that the variable at `path` names, and whether it is an `emptyDir`, if there is one.
fn file_key_volume(faults: &mut Faults, volume: &str, is_empty_dir: Option<bool>, path: &Path<'_>) {
    let path = path.field("valueFrom");
    let path = path.field("fileKeyRef");
    let path = path.field("volumeName");
    match is_empty_dir {
        Some(true) => {}
        Some(false) => {
            faults.invalid(&path, volume, "referenced volume must be of type emptyDir");
        }
        None => {
            faults.not_found(&path, volume, "");
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::validate::pod::testing::found;

    #[test]
    fn a_variable_has_one_source() {
        let container = r#"{"env": [
        {"name": "A=B", "value": "x", "valueFrom": {}},
        {"name": "", "value": "x", "valueFrom": {"configMapKeyRef": {"name": "c"}, "secretKeyRef": {"name": "s", "key": "..k"}}},
        {"name": "a b", "valueFrom": {"configMapKeyRef": {"name": "s", "key": "k"}, "secretKeyRef": {"name": "s", "key": "k"}}}
    ]}"#;
        assert_eq!(
            found("v1.Container", container, env),
            [
                r#"C.env[0].name: Invalid value: "A=B": a valid environment variable name must consist only of printable ASCII characters other than '='"#,
                r#"C.env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"#,
                "C.env[1].name: Required value",
                "C.env[1].valueFrom.configMapKeyRef.key: Required value",
                r#"C.env[1].valueFrom.secretKeyRef.key: Invalid value: "..k": must not start with '..'"#,
                r#"C.env[1].valueFrom: Invalid value: "": may not be specified when `value` is not empty"#,
                r#"C.env[2].valueFrom: Invalid value: "": may not have more than one field specified at a time"#,
            ]
        );
    }

    #[test]
    fn env_from_is_named_without_its_index() {
        let container = r#"{"envFrom": [{"configMapRef": {"name": "a-"}, "secretRef": {}}, {}]}"#;
        assert_eq!(
            found("v1.Container", container, env_from),
            [
                "C.envFrom[0].secretRef.name: Required value",
                r#"C.envFrom: Invalid value: "": may not have more than one field specified at a time @ C.envFrom[0]"#,
                r#"C.envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef` @ C.envFrom[1]"#,
            ]
        );
    }

    #[test]
    fn the_last_volume_of_a_name_counts_for_file_keys() {
        let spec = r#"{
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "v", "configMap": {"name": "x"}}, {"name": "Bad", "emptyDir": {}}],
        "containers": [{"env": [
            {"valueFrom": {"fileKeyRef": {"volumeName": "v"}}},
            {"valueFrom": {"fileKeyRef": {"volumeName": "Bad"}}},
            {"valueFrom": {"fileKeyRef": {"volumeName": ""}}}
        ]}],
        "initContainers": [{"env": [{"valueFrom": {"fileKeyRef": {"volumeName": "w"}}}]}]
    }"#;
        assert_eq!(
            found("v1.PodSpec", spec, file_key_volumes),
            [
                r#"C.initContainers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: "w""#,
                r#"C.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "v": referenced volume must be of type emptyDir"#,
                r#"C.containers[0].env[2].valueFrom.fileKeyRef.volumeName: Not found: """#,
            ]
        );
    }
}
