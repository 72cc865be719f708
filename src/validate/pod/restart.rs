//! When a container restarts: `restartPolicy`, `restartPolicyRules` and `resizePolicy`.

use std::collections::HashSet;

use super::containers::one_of;
use crate::schema::value::View;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

const POLICIES: &[&str] = &["Always", "Never", "OnFailure"];
const RESIZABLE: &[&str] = &["cpu", "memory"];
const RESIZE_POLICIES: &[&str] = &["NotRequired", "RestartContainer"];

/// Upstream's bounds on the rules of one container and on the exit codes of one rule.
const MAX_RULES: usize = 20;
const MAX_EXIT_CODES: usize = 255;

/// Checks `restartPolicy` of the container at `path`.
pub(super) fn policy(faults: &mut Faults, container: View<'_>, path: &Path<'_>) {
    let path = path.field("restartPolicy");
    match container.opt_str("restartPolicy") {
        Some(policy) if POLICIES.contains(&policy) => {}
        Some(policy) => {
            faults.not_supported(&path, policy, POLICIES);
        }
        None if container.list("restartPolicyRules").is_empty() => {}
        None => {
            faults.required(&path, "must specify restartPolicy when restart rules are used");
        }
    }
}

/// Checks `restartPolicyRules` of the container at `path`.
pub(super) fn rules(faults: &mut Faults, container: View<'_>, path: &Path<'_>) {
    let list = path.field("restartPolicyRules");
    let rules = container.structs("restartPolicyRules");
    if rules.len() > MAX_RULES {
        faults.too_many(&list, rules.len(), MAX_RULES);
    }
    for (k, rule) in rules.enumerate() {
        let path = list.index(k);
        one_of(faults, rule, &path, "action", &["Restart", "RestartAllContainers"]);
        let path = path.field("exitCodes");
        let Some(exit_codes) = rule.opt("exitCodes") else {
            faults.required(&path, "must be specified");
            continue;
        };
        one_of(faults, exit_codes, &path, "operator", &["In", "NotIn"]);
        let count = exit_codes.list("values").len();
        if count > MAX_EXIT_CODES {
            faults.too_many(&path.field("values"), count, MAX_EXIT_CODES);
        }
    }
}

/// Checks `resizePolicy` of the container at `path`. The server's paths lack the index of the entry,
/// except for a repeated resource.
pub(super) fn resize_policy(
    faults: &mut Faults,
    container: View<'_>,
    path: &Path<'_>,
    pod_restart_policy: &str,
) {
    let list = path.field("resizePolicy");
    let mut seen = HashSet::new();
    for (j, entry) in container.structs("resizePolicy").enumerate() {
        let path = list.index(j);
        let (resource, policy) = (entry.str("resourceName"), entry.str("restartPolicy"));
        if !seen.insert(resource) {
            faults.duplicate(&path, Shown::Named(resource)).at(&path.field("resourceName"));
        }
        given_and_one_of(faults, resource, RESIZABLE, &list, &path.field("resourceName"));
        given_and_one_of(faults, policy, RESIZE_POLICIES, &list, &path.field("restartPolicy"));
        if pod_restart_policy == "Never" && policy != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            faults.invalid(&list, Shown::Named(policy), detail).at(&path.field("restartPolicy"));
        }
    }
}

fn given_and_one_of(faults: &mut Faults, value: &str, supported: &[&str], named: &Path<'_>, real: &Path<'_>) {
    if value.is_empty() {
        faults.required(named, "").at(real);
    } else if !supported.contains(&value) {
        faults.not_supported(named, value, supported).at(real);
    }
}

/// Checks that no `resizePolicy` of the init container at `path` restarts it: it is no sidecar.
pub(super) fn no_restart_on_resize(faults: &mut Faults, container: View<'_>, path: &Path<'_>) {
    let list = path.field("resizePolicy");
    for (j, entry) in container.structs("resizePolicy").enumerate() {
        let policy = entry.str("restartPolicy");
        if policy == "RestartContainer" {
            let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
            faults.invalid(&list.index(j).field("restartPolicy"), Shown::Named(policy), detail);
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::validate::pod::testing::found;

    #[test]
    fn resize_policies_are_named_without_their_index() {
        let container = r#"{"resizePolicy": [
        {"resourceName": "cpu", "restartPolicy": "RestartContainer"},
        {"resourceName": "cpu", "restartPolicy": ""},
        {"resourceName": "disk", "restartPolicy": "NotRequired"}
    ]}"#;
        let check = |faults: &mut Faults, container: View<'_>, path: &Path<'_>| {
            resize_policy(faults, container, path, "Never");
        };
        assert_eq!(
            found("v1.Container", container, check),
            [
                r#"C.resizePolicy: Invalid value: "RestartContainer": must be 'NotRequired' when pod `restartPolicy` is 'Never' @ C.resizePolicy[0].restartPolicy"#,
                r#"C.resizePolicy[1]: Duplicate value: "cpu" @ C.resizePolicy[1].resourceName"#,
                "C.resizePolicy: Required value @ C.resizePolicy[1].restartPolicy",
                r#"C.resizePolicy: Invalid value: "": must be 'NotRequired' when pod `restartPolicy` is 'Never' @ C.resizePolicy[1].restartPolicy"#,
                r#"C.resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory" @ C.resizePolicy[2].resourceName"#,
            ]
        );
    }

    #[test]
    fn rules_need_a_policy_and_exit_codes() {
        let container = r#"{"restartPolicyRules": [{"action": "x"}]}"#;
        let check = |faults: &mut Faults, container: View<'_>, path: &Path<'_>| {
            policy(faults, container, path);
            rules(faults, container, path);
        };
        assert_eq!(
            found("v1.Container", container, check),
            [
                "C.restartPolicy: Required value: must specify restartPolicy when restart rules are used",
                r#"C.restartPolicyRules[0].action: Unsupported value: "x": supported values: "Restart", "RestartAllContainers""#,
                "C.restartPolicyRules[0].exitCodes: Required value: must be specified",
            ]
        );
    }

    #[test]
    fn rules_and_exit_codes_are_bounded() {
        let rule = |codes: usize| {
            let values = vec!["1"; codes].join(",");
            format!(r#"{{"action": "Restart", "exitCodes": {{"operator": "In", "values": [{values}]}}}}"#)
        };
        let mut all = vec![rule(255); 20];
        let at_the_bounds = format!(r#"{{"restartPolicyRules": [{}]}}"#, all.join(","));
        assert!(found("v1.Container", &at_the_bounds, rules).is_empty());
        all.push(rule(256));
        let beyond = format!(r#"{{"restartPolicyRules": [{}]}}"#, all.join(","));
        assert_eq!(
            found("v1.Container", &beyond, rules),
            [
                "C.restartPolicyRules: Too many: 21: must have at most 20 items",
                "C.restartPolicyRules[20].exitCodes.values: Too many: 256: must have at most 255 items",
            ]
        );
    }
}
