//! Ports of containers: their own rules, and conflicts over ports of the node.

use std::collections::HashSet;

use super::containers::one_of;
use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

/// Checks `ports` of the container at `path`.
pub(super) fn container_ports(faults: &mut Faults, container: View<'_>, path: &Path<'_>) {
    let list = path.field("ports");
    let mut names_seen = HashSet::new();
    for (j, port) in container.structs("ports").enumerate() {
        let path = list.index(j);
        let name = port.str("name");
        if !name.is_empty() {
            let messages = names::port_name(name);
            faults.invalid_each(&path.field("name"), name, &messages);
            // Only valid names are remembered, and only they can repeat.
            if messages.is_empty() && !names_seen.insert(name) {
                faults.duplicate(&path.field("name"), name);
            }
        }
        match port.int("containerPort") {
            0 => {
                faults.required(&path.field("containerPort"), "");
            }
            number => port_number(faults, number, &path.field("containerPort")),
        }
        match port.int("hostPort") {
            0 => {}
            number => port_number(faults, number, &path.field("hostPort")),
        }
        one_of(faults, port, &path, "protocol", &["SCTP", "TCP", "UDP"]);
    }
}

/// Checks that a number is one of a port.
pub(super) fn port_number(faults: &mut Faults, number: i64, path: &Path<'_>) {
    for message in names::port_number(number) {
        faults.invalid(path, number, message);
    }
}

/// Checks that no two of these containers claim the same port of the node.
///
/// They lie in the list at `path` from index `first` on. The server numbers those that it compares
/// from 0 all the same, so that its path names the wrong init container.
pub(super) fn host_port_conflicts<'t>(
    faults: &mut Faults,
    containers: impl Iterator<Item = View<'t>>,
    path: &Path<'_>,
    first: usize,
) {
    let mut claimed = HashSet::new();
    for (i, container) in containers.enumerate() {
        let (named, real) = (path.index(i), path.index(first + i));
        for (j, port) in container.structs("ports").enumerate() {
            let number = port.int("hostPort");
            if number == 0 {
                continue;
            }
            let claim = format!("{}/{}/{number}", port.str("protocol"), port.str("hostIP"));
            if claimed.contains(&claim) {
                faults
                    .duplicate(&named.field("ports").index(j).field("hostPort"), claim.as_str())
                    .at(&real.field("ports").index(j).field("hostPort"));
            } else {
                claimed.insert(claim);
            }
        }
    }
}

/// Checks that ports on the host's network are the container's own, in the pod spec at `path`.
///
/// A template may leave `hostPort` out: it is filled in when the pod is made.
pub fn host_network_ports(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    if !spec.bool("hostNetwork") {
        return;
    }
    let list = path.field("containers");
    for (i, container) in spec.structs("containers").enumerate() {
        for (j, port) in container.structs("ports").enumerate() {
            let host_port = port.int("hostPort");
            if host_port != 0 && host_port != port.int("containerPort") {
                faults.invalid(
                    &list.index(i).field("ports").index(j).field("hostPort"),
                    host_port,
                    "must match `containerPort` when `hostNetwork` is true",
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::validate::pod::testing::found;

    #[test]
    fn only_valid_names_can_repeat() {
        let ports = r#"{"ports": [
        {"name": "a--b", "containerPort": 80, "protocol": "TCP"},
        {"name": "a--b", "protocol": "TCP"},
        {"name": "x", "containerPort": 70000, "hostPort": -1, "protocol": "TCP"},
        {"name": "x", "containerPort": 1, "protocol": "tcp"}
    ]}"#;
        assert_eq!(
            found("v1.Container", ports, container_ports),
            [
                r#"C.ports[0].name: Invalid value: "a--b": must not contain consecutive hyphens"#,
                r#"C.ports[1].name: Invalid value: "a--b": must not contain consecutive hyphens"#,
                "C.ports[1].containerPort: Required value",
                "C.ports[2].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
                "C.ports[2].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive",
                r#"C.ports[3].name: Duplicate value: "x""#,
                r#"C.ports[3].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP""#,
            ]
        );
    }

    #[test]
    fn a_conflict_within_any_init_container_is_named_after_the_first() {
        let container = r#"{"ports": [
        {"containerPort": 1, "hostPort": 80, "protocol": "TCP"},
        {"containerPort": 2, "hostPort": 80, "protocol": "UDP"},
        {"containerPort": 2, "hostPort": 80, "protocol": "TCP"}
    ]}"#;
        let check = |faults: &mut Faults, container: View<'_>, path: &Path<'_>| {
            host_port_conflicts(faults, std::iter::once(container), path, 1);
        };
        assert_eq!(
            found("v1.Container", container, check),
            [r#"C[0].ports[2].hostPort: Duplicate value: "TCP//80" @ C[1].ports[2].hostPort"#]
        );
    }

    #[test]
    fn ports_on_the_hosts_network_may_be_left_out() {
        let spec = r#"{"hostNetwork": true, "containers": [{"ports": [
        {"containerPort": 80}, {"containerPort": 80, "hostPort": 80}, {"containerPort": 80, "hostPort": 8080}
    ]}]}"#;
        assert_eq!(
            found("v1.PodSpec", spec, host_network_ports),
            [
                "C.containers[0].ports[2].hostPort: Invalid value: 8080: must match `containerPort` when `hostNetwork` is true"
            ]
        );
    }
}
