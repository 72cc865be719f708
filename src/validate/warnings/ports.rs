//! Warnings about ports of a pod that get into each other's way.

use std::collections::{HashMap, HashSet};

use super::{Warnings, containers, quoted};
use crate::schema::value::View;
use crate::validate::path::Path;

/// Warns about the ports of all containers of the pod spec at `path`.
pub(super) fn ports(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    conflicts(warnings, spec, path);
    repeated_names(warnings, spec, path);
}

fn conflicts(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    let mut numbers = Vec::new();
    each(spec, path, |port, _| numbers.push((port.int("containerPort"), port.str("protocol"))));
    numbers.sort_unstable();
    let repeated: HashSet<_> = numbers.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]).collect();
    let mut earlier: HashMap<_, Ports<'_>> = HashMap::new();
    each(spec, path, |port, here| {
        if warnings.is_full() {
            return;
        }
        let host = (port.int("hostPort"), port.str("hostIP"));
        if !host.1.is_empty() && host.0 == 0 {
            warnings.about(here, format_args!("hostIP set without hostPort: {}", go_struct(port)));
        }
        let number = (port.int("containerPort"), port.str("protocol"));
        if !repeated.contains(&number) {
            return;
        }
        let others = earlier.entry(number).or_default();
        let port = Port { host_port: host.0, host_ip: host.1, at: here.to_string() };
        for at in others.meeting(&port) {
            let other = &others.list[at];
            let conflict = port.conflict(other);
            warnings.about(here, format_args!("{conflict} port definition with {}", other.at));
        }
        others.add(port);
    });
}

fn repeated_names(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    let mut named = 0;
    each(spec, path, |port, _| named += usize::from(port.has("name")));
    if named < 2 {
        return;
    }
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
    /// How the port gets into the way of an earlier one that it meets.
    fn conflict(&self, other: &Port<'_>) -> &'static str {
        if self.host_port == other.host_port && self.host_ip == other.host_ip {
            "duplicate"
        } else if self.host_port == 0 || other.host_port == 0 {
            "overlapping"
        } else {
            "dangerously ambiguous"
        }
    }
}

/// The ports so far with one number and protocol.
#[derive(Default)]
struct Ports<'t> {
    list: Vec<Port<'t>>,
    /// Positions in `list`, by host port and address: thousands of ports that do not meet must not
    /// be held against each other one by one.
    by_host: HashMap<i64, HashMap<&'t str, Vec<usize>>>,
}

impl<'t> Ports<'t> {
    fn add(&mut self, port: Port<'t>) {
        let at = self.list.len();
        self.by_host.entry(port.host_port).or_default().entry(port.host_ip).or_default().push(at);
        self.list.push(port);
    }

    /// The ports that `port` meets, in the order added: all, when it asks for no host port; else
    /// those that ask for none, or for the same one at the same address or where one of both asks for
    /// every address.
    fn meeting(&self, port: &Port<'_>) -> Vec<usize> {
        if port.host_port == 0 {
            return (0..self.list.len()).collect();
        }
        let anywhere = self.by_host.get(&0).into_iter().flat_map(HashMap::values);
        let same = self.by_host.get(&port.host_port);
        let every = same.filter(|_| port.host_ip.is_empty()).into_iter().flat_map(HashMap::values);
        let one = same.filter(|_| !port.host_ip.is_empty());
        let one = one.into_iter().flat_map(|by_ip| [by_ip.get(port.host_ip), by_ip.get("")]).flatten();
        let mut met: Vec<usize> = anywhere.chain(every).chain(one).flatten().copied().collect();
        met.sort_unstable();
        met
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
