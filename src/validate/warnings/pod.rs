//! Warnings about a pod template, in the server's order.

use std::collections::HashSet;
use std::net::Ipv6Addr;

use super::containers::ProfileAnnotations;
use super::{Warnings, containers, files, ports, quoted, scheduling, volumes};
use crate::schema::value::View;
use crate::validate::path::Path;

/// Annotations that no longer do anything.
const DEAD_ANNOTATIONS: &[(&str, &str)] = &[
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        r#"non-functional in v1.16+; use the "priorityClassName" field instead"#,
    ),
    ("security.alpha.kubernetes.io/sysctls", r#"non-functional in v1.11+; use the "sysctls" field instead"#),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        r#"non-functional in v1.11+; use the "sysctls" field instead"#,
    ),
];

const SECCOMP_ANNOTATION: &str = "seccomp.security.alpha.kubernetes.io/pod";

/// What is said of a seccomp annotation where the field is not set.
pub(super) const SECCOMP_DETAIL: &str = r#"non-functional in v1.27+; use the "seccompProfile" field instead"#;

/// Warns about the template at `path`.
pub(super) fn template(warnings: &mut Warnings, template: View<'_>, path: &Path<'_>) {
    let (metadata, spec) = (template.nested("metadata"), template.nested("spec"));
    let annotations = path.field("metadata");
    let annotations = annotations.field("annotations");
    let path = path.field("spec");
    scheduling::node_labels(warnings, spec, &path);
    for (key, detail) in DEAD_ANNOTATIONS {
        if metadata.text("annotations", key).is_some() {
            warnings.about(&annotations.key(key), detail);
        }
    }
    volumes::volumes(warnings, spec, &path);
    files::overlapping(warnings, spec, &path);
    repeated_host_aliases(warnings, spec, &path.field("hostAliases"));
    pull_secrets(warnings, spec, &path.field("imagePullSecrets"));
    for resource in ["memory", "ephemeral-storage"] {
        fractional(warnings, spec, "overhead", resource, &path);
    }
    let profiled = spec.opt("securityContext").is_some_and(|context| context.has("seccompProfile"));
    if !profiled && metadata.text("annotations", SECCOMP_ANNOTATION).is_some() {
        warnings.about(&annotations.key(SECCOMP_ANNOTATION), SECCOMP_DETAIL);
    }
    let profiles = ProfileAnnotations::of(template, &annotations);
    containers::each(spec, &path, |container, here| {
        containers::container(warnings, container, here, &profiles);
    });
    ports::ports(warnings, spec, &path);
    if spec.int("terminationGracePeriodSeconds") < 0 {
        let detail = "must be >= 0; negative values are invalid and will be treated as 1";
        warnings.about(&path.field("terminationGracePeriodSeconds"), detail);
    }
    scheduling::pod_affinity(warnings, spec, &path);
    addresses(warnings, spec, &path);
}

/// Warns about bytes that are no whole number, in the entry for `resource` of a resource list.
pub(super) fn fractional(
    warnings: &mut Warnings,
    owner: View<'_>,
    field: &'static str,
    resource: &str,
    path: &Path<'_>,
) {
    for (_, quantity) in owner.quantities(field).filter(|(name, _)| *name == resource) {
        if !quantity.is_whole() {
            let list = path.field(field);
            let detail = format_args!(
                "fractional byte value {} is invalid, must be an integer",
                quoted(quantity.text())
            );
            warnings.about(&list.key(resource), detail);
        }
    }
}

fn repeated_host_aliases(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    let mut seen = HashSet::new();
    for (i, alias) in spec.structs("hostAliases").enumerate() {
        let ip = alias.str("ip");
        if !seen.insert(ip) {
            let here = path.index(i);
            warnings.about(&here.field("ip"), format_args!("duplicate ip {}", quoted(ip)));
        }
    }
}

fn pull_secrets(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    let mut seen = HashSet::new();
    for (i, secret) in spec.structs("imagePullSecrets").enumerate() {
        let name = secret.str("name");
        if !seen.insert(name) {
            let here = path.index(i);
            warnings.about(&here.field("name"), format_args!("duplicate name {}", quoted(name)));
        }
    }
    for (i, secret) in spec.structs("imagePullSecrets").enumerate() {
        if secret.str("name").is_empty() {
            let here = path.index(i);
            warnings.about(&here.field("name"), r#"invalid empty name """#);
        }
    }
}

fn addresses(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    if let Some(dns) = spec.opt("dnsConfig") {
        let servers = path.field("dnsConfig");
        let servers = servers.field("nameservers");
        for (i, server) in dns.strings("nameservers").enumerate() {
            canonical(warnings, server, &servers.index(i));
        }
    }
    let aliases = path.field("hostAliases");
    for (i, alias) in spec.structs("hostAliases").enumerate() {
        canonical(warnings, alias.str("ip"), &aliases.index(i).field("ip"));
    }
}

/// Warns about an IPv6 address that could be written shorter or in lower case.
fn canonical(warnings: &mut Warnings, address: &str, path: &Path<'_>) {
    let Ok(parsed) = address.parse::<Ipv6Addr>() else { return };
    let canonical = parsed.to_string();
    if canonical != address {
        let (address, canonical) = (quoted(address), quoted(&canonical));
        warnings.about(
            path,
            format_args!("IPv6 address {address} should be in RFC 5952 canonical format ({canonical})"),
        );
    }
}
