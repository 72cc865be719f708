//! What the pod is called, whom it acts as, which node it is bound to and how long it may run.

use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

/// What the kernel takes as a host name.
const MAX_HOSTNAME_BYTES: usize = 64;

/// Checks `hostnameOverride` of the pod spec at `path`.
pub fn hostname_override(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let Some(name) = spec.opt_str("hostnameOverride") else { return };
    let at = path.field("hostnameOverride");
    for (field, detail) in [
        ("setHostnameAsFQDN", "may not be specified when setHostnameAsFQDN is true"),
        ("hostNetwork", "may not be specified when hostNetwork is true"),
    ] {
        if spec.bool(field) {
            faults.forbidden(&at, detail);
        }
    }
    if name.len() > MAX_HOSTNAME_BYTES {
        faults.too_long(&at, MAX_HOSTNAME_BYTES);
    }
    faults.invalid_each(&at, name, &names::subdomain(name));
}

/// Checks the names in the pod spec at `path`, and the range of `activeDeadlineSeconds`.
pub fn names(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    name(faults, spec, "serviceAccountName", path, names::subdomain);
    name(faults, spec, "nodeName", path, names::subdomain);
    if let Some(seconds) = spec.opt_int("activeDeadlineSeconds")
        && !(1..=i64::from(i32::MAX)).contains(&seconds)
    {
        let at = path.field("activeDeadlineSeconds");
        faults.invalid(&at, seconds, "must be between 1 and 2147483647, inclusive");
    }
    name(faults, spec, "hostname", path, names::label);
    name(faults, spec, "subdomain", path, names::label);
}

fn name(
    faults: &mut Faults,
    spec: View<'_>,
    field: &'static str,
    path: &Path<'_>,
    rule: fn(&str) -> names::Messages,
) {
    let value = spec.str(field);
    if !value.is_empty() {
        faults.invalid_each(&path.field(field), value, &rule(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    #[test]
    fn an_override_excludes_other_names_and_is_short() {
        let name = "a".repeat(65);
        assert_eq!(
            found(
                "v1.PodSpec",
                &format!(r#"{{"hostnameOverride":"{name}","hostNetwork":true,"setHostnameAsFQDN":true}}"#),
                hostname_override
            ),
            [
                "C.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true",
                "C.hostnameOverride: Forbidden: may not be specified when hostNetwork is true",
                "C.hostnameOverride: Too long: may not be more than 64 bytes",
            ]
        );
        assert_eq!(found("v1.PodSpec", r#"{"hostnameOverride":""}"#, hostname_override).len(), 1);
    }

    #[test]
    fn node_names_may_have_dots_and_hostnames_not() {
        assert_eq!(
            found(
                "v1.PodSpec",
                r#"{"nodeName":"a.b","hostname":"a.b","subdomain":"","activeDeadlineSeconds":0}"#,
                names
            ),
            [
                "C.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
                "C.hostname: Invalid value: \"a.b\": must not contain dots",
            ]
        );
    }
}
