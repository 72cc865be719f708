//! `dnsPolicy`, `dnsConfig` and `hostAliases`: how the pod's containers resolve names.

use crate::kube_types::{ip, names};
use crate::schema::print;
use crate::schema::value::View;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

/// Resolvers in C libraries read no more.
const MAX_NAMESERVERS: usize = 3;
const MAX_SEARCHES: usize = 32;
/// Of all search paths with one blank between each.
const MAX_SEARCH_BYTES: usize = 2048;

/// Checks `dnsPolicy` of the pod spec at `path`.
pub fn policy(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let supported = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    let policy = spec.str("dnsPolicy");
    if !supported.contains(&policy) {
        faults.not_supported(&path.field("dnsPolicy"), policy, &supported);
    }
}

/// Checks `dnsConfig` of the pod spec at `path`.
pub fn config(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let at = path.field("dnsConfig");
    let none = spec.str("dnsPolicy") == "None";
    let Some(config) = spec.opt("dnsConfig") else {
        if none {
            faults.required(&at, "must provide `dnsConfig` when `dnsPolicy` is None");
        }
        return;
    };
    if none && config.list("nameservers").is_empty() {
        let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
        faults.required(&at.field("nameservers"), detail);
        return;
    }
    nameservers(faults, config, &at.field("nameservers"));
    searches(faults, config, &at.field("searches"));
    let list = at.field("options");
    for (i, option) in config.structs("options").enumerate() {
        if option.str("name").is_empty() {
            faults.required(&list.index(i), "must not be empty");
        }
    }
}

fn nameservers(faults: &mut Faults, config: View<'_>, path: &Path<'_>) {
    if config.list("nameservers").len() > MAX_NAMESERVERS {
        let list = Shown::Json(print::value_json(config.get("nameservers")).into());
        faults.invalid(path, list, format_args!("must not have more than {MAX_NAMESERVERS} nameservers"));
    }
    for (i, server) in config.strings("nameservers").enumerate() {
        address(faults, server, &path.index(i));
    }
}

fn searches(faults: &mut Faults, config: View<'_>, path: &Path<'_>) {
    let count = config.list("searches").len();
    let list = || Shown::Json(print::value_json(config.get("searches")).into());
    if count > MAX_SEARCHES {
        faults.invalid(path, list(), format_args!("must not have more than {MAX_SEARCHES} search paths"));
    }
    let bytes = config.strings("searches").map(str::len).sum::<usize>() + count.saturating_sub(1);
    if bytes > MAX_SEARCH_BYTES {
        let detail = format_args!(
            "must not have more than {MAX_SEARCH_BYTES} characters (including spaces) in the search list"
        );
        faults.invalid(path, list(), detail);
    }
    for (i, search) in config.strings("searches").enumerate().filter(|(_, s)| *s != ".") {
        let search = search.strip_suffix('.').unwrap_or(search);
        faults.invalid_each(&path.index(i), search, &names::search_domain(search));
    }
}

/// Checks `hostAliases` of the pod spec at `path`.
pub fn host_aliases(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let list = path.field("hostAliases");
    for (i, alias) in spec.structs("hostAliases").enumerate() {
        let at = list.index(i);
        address(faults, alias.str("ip"), &at.field("ip"));
        let names_at = at.field("hostnames");
        for (j, hostname) in alias.strings("hostnames").enumerate() {
            faults.invalid_each(&names_at.index(j), hostname, &names::subdomain(hostname));
        }
    }
}

fn address(faults: &mut Faults, text: &str, path: &Path<'_>) {
    if let Some(message) = ip::fault(text) {
        faults.invalid(path, text, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    fn checked(text: &str) -> Vec<String> {
        found("v1.PodSpec", text, config)
    }

    #[test]
    fn no_policy_needs_a_nameserver() {
        assert_eq!(
            checked(r#"{"dnsPolicy":"None"}"#),
            ["C.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"]
        );
        assert_eq!(
            checked(r#"{"dnsPolicy":"None","dnsConfig":{"searches":["-"]}}"#),
            [
                "C.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None"
            ]
        );
    }

    #[test]
    fn lists_are_no_longer_than_resolvers_read() {
        assert_eq!(
            checked(
                r#"{"dnsConfig":{"nameservers":["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"],"options":[{}]}}"#
            ),
            [
                "C.dnsConfig.nameservers: Invalid value: [\"1.1.1.1\",\"1.1.1.2\",\"1.1.1.3\",\"1.1.1.4\"]: must not have more than 3 nameservers",
                "C.dnsConfig.options[0]: Required value: must not be empty",
            ]
        );
        let search = "a".repeat(204);
        let list = |count: usize| vec![format!("\"{search}\""); count].join(",");
        let searched = |list: &str| checked(&format!(r#"{{"dnsConfig":{{"searches":[{list}]}}}}"#));
        // Ten of 204 bytes and nine blanks are 2049.
        assert!(searched(&list(9)).is_empty());
        assert_eq!(
            searched(&list(10)),
            [format!(
                "C.dnsConfig.searches: Invalid value: [{}]: must not have more than 2048 characters (including spaces) in the search list",
                list(10)
            )]
        );
    }

    #[test]
    fn one_trailing_dot_of_a_search_is_let_go() {
        assert!(checked(r#"{"dnsConfig":{"searches":[".","a.b.","_x.y_z"]}}"#).is_empty());
        let faults = checked(r#"{"dnsConfig":{"searches":["a.."]}}"#);
        assert!(faults[0].starts_with("C.dnsConfig.searches[0]: Invalid value: \"a.\": "), "{}", faults[0]);
    }

    #[test]
    fn aliases_have_an_address_and_names() {
        assert_eq!(
            found("v1.PodSpec", r#"{"hostAliases":[{"ip":"01.2.3.4","hostnames":["a.b"]}]}"#, host_aliases),
            ["C.hostAliases[0].ip: Invalid value: \"01.2.3.4\": must not have leading 0s"]
        );
    }
}
