//! Kernel parameters of a pod.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

const NAME_MAX_BYTES: usize = 253;

const NAME_TEXT: &str = r"must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

/// The parameters that the kernel keeps per IPC namespace; `kernel.shm` and `kernel.msg` stand for
/// the old wildcards `kernel.shm*` and `kernel.msg*`.
const IPC_NAMES: &[&str] = &[
    "kernel.sem",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.shmmni",
    "kernel.shm_rmid_forced",
    "kernel.shm",
    "kernel.msgmax",
    "kernel.msgmnb",
    "kernel.msgmni",
    "kernel.msg",
];

/// Checks `sysctls` of the pod security context; `path` is theirs.
pub(super) fn sysctls(
    faults: &mut Faults,
    context: View<'_>,
    path: &Path<'_>,
    spec: View<'_>,
    rules: &Rules,
) {
    let mut seen = HashSet::new();
    for (i, sysctl) in context.structs("sysctls").enumerate() {
        let (entry, name) = (path.index(i), sysctl.str("name"));
        let path = &entry.field("name");
        let repeated = !seen.insert(name);
        if name.is_empty() {
            faults.required(path, "");
        } else if !is_sysctl_name(name) {
            faults.invalid(path, name, NAME_TEXT);
        } else if repeated {
            faults.duplicate(path, name);
        }
        if !rules.exempt.host_sysctls {
            host_namespace(faults, name, path, spec);
        }
    }
}

/// A parameter of a namespace that the pod shares with the host would change the host.
fn host_namespace(faults: &mut Faults, name: &str, path: &Path<'_>, spec: View<'_>) {
    match shared_namespace(name, spec) {
        Some(Namespace::Net) => {
            faults.invalid(path, name, "may not be specified when 'hostNetwork' is true");
        }
        Some(Namespace::Ipc) => {
            faults.invalid(path, name, "may not be specified when 'hostIPC' is true");
        }
        None => {}
    }
}

/// Whether a pod sets a kernel parameter of a namespace that it shares with the host.
pub fn has_host_sysctl(spec: View<'_>) -> bool {
    spec.opt("securityContext").is_some_and(|context| {
        context.structs("sysctls").any(|sysctl| shared_namespace(sysctl.str("name"), spec).is_some())
    })
}

/// The namespace of a kernel parameter, where the pod shares it with the host.
fn shared_namespace(name: &str, spec: View<'_>) -> Option<Namespace> {
    namespace(name).filter(|namespace| match namespace {
        Namespace::Net => spec.bool("hostNetwork"),
        Namespace::Ipc => spec.bool("hostIPC"),
    })
}

/// The namespaces that a pod can share with the host.
#[derive(Debug, PartialEq, Eq)]
enum Namespace {
    Net,
    Ipc,
}

/// The namespace that a parameter belongs to, if it is one of those. A wildcard counts by what comes
/// before its first `*`.
fn namespace(name: &str) -> Option<Namespace> {
    let dotted = dotted(name);
    let stem = dotted.split('*').next().unwrap_or("");
    if stem.starts_with("net.") {
        Some(Namespace::Net)
    } else if stem.starts_with("fs.mqueue.") || IPC_NAMES.contains(&stem) {
        Some(Namespace::Ipc)
    } else {
        None
    }
}

/// The name with dots between its segments. Of the two ways to write one, `net.ipv4.conf.eth0/1` and
/// `net/ipv4/conf/eth0.1`, the first separator tells.
fn dotted(name: &str) -> Cow<'_, str> {
    match name.find(['.', '/']) {
        Some(at) if name.as_bytes()[at] == b'/' => {
            let swap = |c| match c {
                '.' => '/',
                '/' => '.',
                c => c,
            };
            Cow::Owned(name.chars().map(swap).collect())
        }
        _ => Cow::Borrowed(name),
    }
}

fn is_sysctl_name(name: &str) -> bool {
    name.len() <= NAME_MAX_BYTES && name.split(['.', '/']).all(is_segment)
}

fn is_segment(segment: &str) -> bool {
    let alnum = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = segment.as_bytes();
    bytes.first().is_some_and(alnum)
        && bytes.last().is_some_and(alnum)
        && bytes.iter().all(|b| alnum(b) || matches!(b, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_separator_tells_how_a_name_is_written() {
        assert_eq!(namespace("net.ipv4.conf.eth0/1.x"), Some(Namespace::Net));
        assert_eq!(namespace("net/ipv4/conf/eth0.1/x"), Some(Namespace::Net));
        assert_eq!(namespace("net"), None);
        assert_eq!(namespace("netx.a"), None);
        assert_eq!(namespace("fs/mqueue/msg_max"), Some(Namespace::Ipc));
        assert_eq!(namespace("kernel/shm*"), Some(Namespace::Ipc));
        assert_eq!(namespace("kernel.shmall.x"), None);
        assert_eq!(namespace("kernel.domainname"), None);
    }

    #[test]
    fn segments_start_and_end_alphanumeric() {
        assert!(is_sysctl_name("a"));
        assert!(is_sysctl_name("net.ipv4/conf.eth0-1_2"));
        for bad in ["", "a.", ".a", "a..b", "a._b", "a-", "A.b", "a*", "kernel.shm*"] {
            assert!(!is_sysctl_name(bad), "{bad}");
        }
        assert!(is_sysctl_name(&"a".repeat(253)));
        assert!(!is_sysctl_name(&"a".repeat(254)));
    }
}
