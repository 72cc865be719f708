//! Windows options of security contexts, and pods of Windows host processes.

use super::all_containers;
use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

const CREDENTIAL_SPEC_MAX_BYTES: usize = 64 * 1024;
/// First length in bytes that a domain may not have.
const DOMAIN_LIMIT_BYTES: usize = 256;
const USER_MAX_BYTES: usize = 104;

/// Checks `windowsOptions` (if set) of the security context at `path`.
pub(super) fn options(faults: &mut Faults, context: View<'_>, path: &Path<'_>) {
    let Some(options) = context.opt("windowsOptions") else { return };
    let path = &path.field("windowsOptions");
    // These fields are pointers, so the server prints them as JSON.
    let mut refuse = |field, value, message: &str| {
        faults.invalid(&path.field(field), Shown::Named(value), message);
    };
    if let Some(name) = options.opt_str("gmsaCredentialSpecName") {
        for message in names::subdomain(name) {
            refuse("gmsaCredentialSpecName", name, &message);
        }
    }
    if let Some(spec) = options.opt_str("gmsaCredentialSpec") {
        if spec.is_empty() {
            refuse("gmsaCredentialSpec", spec, "gmsaCredentialSpec cannot be an empty string");
        } else if spec.len() > CREDENTIAL_SPEC_MAX_BYTES {
            refuse("gmsaCredentialSpec", spec, "gmsaCredentialSpec size must be under 64 KiB");
        }
    }
    if let Some(name) = options.opt_str("runAsUserName") {
        for message in run_as_user_name(name) {
            refuse("runAsUserName", name, message);
        }
    }
}

/// What is wrong with a `runAsUserName`, which is `USER` or `DOMAIN\USER`.
fn run_as_user_name(name: &str) -> Vec<&'static str> {
    if name.is_empty() {
        return vec!["runAsUserName cannot be an empty string"];
    }
    if name.bytes().any(|b| b.is_ascii_control()) {
        return vec!["runAsUserName cannot contain control characters"];
    }
    let (domain, user) = match name.split_once('\\') {
        Some((_, rest)) if rest.contains('\\') => {
            return vec!["runAsUserName cannot contain more than one backslash"];
        }
        Some((domain, user)) => (Some(domain), user),
        None => (None, name),
    };
    let mut messages = domain.map(domain_messages).unwrap_or_default();
    messages.extend(user_messages(user));
    messages
}

fn domain_messages(domain: &str) -> Vec<&'static str> {
    let mut messages = Vec::new();
    if domain.len() >= DOMAIN_LIMIT_BYTES {
        messages.push("runAsUserName's Domain length must be under 256 characters");
    }
    if !is_net_bios_name(domain) && !is_dns_name(domain) {
        messages.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
    }
    messages
}

fn user_messages(user: &str) -> Vec<&'static str> {
    let mut messages = Vec::new();
    if user.is_empty() {
        messages.push("runAsUserName's User cannot be empty");
    } else if user.len() > USER_MAX_BYTES {
        messages.push("runAsUserName's User length must not be longer than 104 characters");
    }
    if !user.is_empty() && user.bytes().all(|b| matches!(b, b'.' | b' ')) {
        messages.push("runAsUserName's User cannot contain only periods or spaces");
    }
    if user.contains(['"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']']) {
        messages.push(r#"runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]"#);
    }
    messages
}

fn is_net_bios_name(domain: &str) -> bool {
    (1..=15).contains(&domain.chars().count())
        && !domain.starts_with('.')
        && !domain.contains(['\\', '/', ':', '*', '?', '"', '<', '>', '|'])
}

fn is_dns_name(domain: &str) -> bool {
    domain.split('.').all(|label| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    })
}

/// Checks that Windows `hostProcess` is used by all containers or none.
pub fn host_process(faults: &mut Faults, spec: View<'_>, path: &Path<'_>, rules: &Rules) {
    let of_pod = spec.opt("securityContext").and_then(flag);
    let (mut containers, mut host_processes) = (0, 0);
    for (list, i, container) in all_containers(spec) {
        let own = container.opt("securityContext").and_then(flag);
        if let (Some(of_pod), Some(own)) = (of_pod, own)
            && of_pod != own
        {
            faults.invalid(
                &path
                    .field(list)
                    .index(i)
                    .field("securityContext")
                    .field("windowsOptions")
                    .field("hostProcess"),
                own,
                format_args!("pod hostProcess value must be identical if both are specified, was {of_pod}"),
            );
        }
        containers += 1;
        host_processes += usize::from(own.or(of_pod) == Some(true));
    }
    if host_processes == 0 {
        return;
    }
    if host_processes != containers {
        let detail =
            "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        faults.invalid(path, "", detail);
    }
    if !spec.bool("hostNetwork") {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        faults.invalid(&path.field("hostNetwork"), false, detail);
    }
    if !rules.allow_privileged {
        faults.forbidden(path, "hostProcess containers are disallowed by cluster policy");
    }
}

/// `windowsOptions.hostProcess` of a security context.
fn flag(context: View<'_>) -> Option<bool> {
    context.opt("windowsOptions").and_then(|options| options.opt_bool("hostProcess"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_three_flaws_of_a_user_name_hide_the_rest() {
        assert_eq!(run_as_user_name(""), ["runAsUserName cannot be an empty string"]);
        assert_eq!(run_as_user_name("a\tb\\c\\d"), ["runAsUserName cannot contain control characters"]);
        assert_eq!(run_as_user_name(r"a\b\c"), ["runAsUserName cannot contain more than one backslash"]);
    }

    #[test]
    fn domain_and_user_are_judged_apart() {
        assert!(run_as_user_name("ContainerAdministrator").is_empty());
        assert!(run_as_user_name(r"NT AUTHORITY\SYSTEM").is_empty(), "15 characters, one of them blank");
        assert!(run_as_user_name(r"corp.example-domain.com\web").is_empty());
        assert_eq!(
            run_as_user_name(r"\"),
            [
                "runAsUserName's Domain doesn't match the NetBios nor the DNS format",
                "runAsUserName's User cannot be empty",
            ]
        );
        assert_eq!(
            run_as_user_name(r"some.example.domain-\. ."),
            [
                "runAsUserName's Domain doesn't match the NetBios nor the DNS format",
                "runAsUserName's User cannot contain only periods or spaces",
            ]
        );
        assert_eq!(
            run_as_user_name("a@b"),
            [r#"runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]"#]
        );
    }

    #[test]
    fn lengths_are_in_bytes_except_of_net_bios_names() {
        assert!(run_as_user_name(&"u".repeat(104)).is_empty());
        assert_eq!(
            run_as_user_name(&"é".repeat(53)),
            ["runAsUserName's User length must not be longer than 104 characters"]
        );
        assert!(run_as_user_name(&format!("{}\\u", "é".repeat(15))).is_empty());
        let long = vec!["a".repeat(63); 4].join(".");
        assert!(run_as_user_name(&format!("{long}\\u")).is_empty(), "255 bytes");
        assert_eq!(
            run_as_user_name(&format!("{long}a\\u")),
            [
                "runAsUserName's Domain length must be under 256 characters",
                "runAsUserName's Domain doesn't match the NetBios nor the DNS format",
            ]
        );
    }
}
