//! Warnings about ports of a pod that get into each other's way.

use std::collections::HashMap;

use super::{Warnings, containers, quoted};
use crate::schema::value::View;
use crate::validate::path::Path;

/// Warns about the ports of all containers of the pod spec at `path`.
pub(super) fn ports(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    conflicts(warnings, spec, path);
    repeated_names(warnings, spec, path);
}

fn conflicts(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    let mut earlier: HashMap<_, Vec<Port<'_>>> = HashMap::new();
    each(spec, path, |port, here| {
        if !port.str("hostIP").is_empty() && port.int("hostPort") == 0 {
            warnings.about(here, format_args!("hostIP set without hostPort: {}", go_struct(port)));
        }
        let others = earlier.entry((port.int("containerPort"), port.str("protocol"))).or_default();
        let port =
            Port { host_port: port.int("hostPort"), host_ip: port.str("hostIP"), at: here.to_string() };
        for other in others.iter() {
            if warnings.is_full() {
                return;
            }
            if let Some(conflict) = port.conflict(other) {
                warnings.about(here, format_args!("{conflict} port definition with {}", other.at));
            }
        }
        others.push(port);
    });
}

fn repeated_names(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    let mut first_of: HashMap<&str, String> = HashMap::new();
    each(spec, path, |port, here| {
        let name = port.str("name");
        if let Some(first) = first_of.get(name) {
            let name = quoted(name);
            warnings.about(
                here,
                format_args!("duplicate port name {name} with {first}, services and probes that select ports by name will use {first}"),
            );
        } else if !name.is_empty() {
            first_of.insert(name, here.to_string());
        }
    });
}

fn each<'t>(spec: View<'t>, path: &Path<'_>, mut visit: impl FnMut(View<'t>, &Path<'_>)) {
    containers::each(spec, path, |container, here| {
        let list = here.field("ports");
        for (i, port) in container.structs("ports").enumerate() {
            visit(port, &list.index(i));
        }
    });
}

/// A port among those with the same number and protocol.
struct Port<'t> {
    /// 0 when none is asked for.
    host_port: i64,
    /// Empty for every address of the host.
    host_ip: &'t str,
    /// Its path.
    at: String,
}

impl Port<'_> {
    /// How the port gets into the way of an earlier one.
    fn conflict(&self, other: &Port<'_>) -> Option<&'static str> {
        if self.host_port == other.host_port && self.host_ip == other.host_ip {
            Some("duplicate")
        } else if self.host_port == 0 || other.host_port == 0 {
            Some("overlapping")
        } else if self.host_port == other.host_port && self.host_ip.is_empty() != other.host_ip.is_empty() {
            Some("dangerously ambiguous")
        } else {
            None
        }
    }
}

/// The port as Go's `%+v` prints it.
fn go_struct(port: View<'_>) -> String {
    format!(
        "{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}",
        port.str("name"),
        port.int("hostPort"),
        port.int("containerPort"),
        port.str("protocol"),
        port.str("hostIP")
    )
}
