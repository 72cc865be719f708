//! What an update may keep: rules that are relaxed because the stored object already breaks them.

use super::pod::security::all_containers;
use super::pod::{affinity, annotations, resources, security, spread};
use crate::kube_types::names;
use crate::schema::value::View;

/// Relaxed rules, each switched on when the old template already had the flaw. All off on create.
///
/// Source: kubernetes v1.37.2 `pkg/api/pod`, `GetValidationOptionsFromPodTemplate`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Exemptions {
    /// A hugepages quantity not divisible by its page size.
    pub indivisible_huge_pages: bool,
    /// An invalid value in the label selector of a pod (anti-)affinity term.
    pub affinity_selector_values: bool,
    /// An invalid value in a required node affinity expression.
    pub node_affinity_values: bool,
    /// An invalid label selector in a topology spread constraint.
    pub spread_selectors: bool,
    /// `matchLabelKeys` of a spread constraint that break the current rules: older rules apply.
    pub spread_match_label_keys: bool,
    /// A projected service account token path that is not local.
    pub token_paths: bool,
    /// A network or IPC sysctl together with the host's namespace.
    pub host_sysctls: bool,
    /// `hostUsers: false` with volume devices.
    pub host_users_devices: bool,
    /// `hostUsers: false` with `hostNetwork`.
    pub host_users_network: bool,
    /// An image volume with an empty reference.
    pub image_reference: bool,
    /// A container that adds `CAP_SYS_ADMIN` without `allowPrivilegeEscalation: true`.
    pub cap_sys_admin: bool,
    /// An unparsable pod deletion cost.
    pub deletion_cost: bool,
    /// `RestartContainer` in a resize policy of an init container that is no sidecar.
    pub init_resize_policy: bool,
    /// `Lt` or `Gt` in a toleration.
    pub toleration_comparison: bool,
}

/// What updates of this stored Deployment may keep.
pub fn of(old: View<'_>) -> Exemptions {
    let template = old.nested("spec").nested("template");
    let spec = template.nested("spec");
    let own_users = spec.opt_bool("hostUsers") == Some(false);
    Exemptions {
        indivisible_huge_pages: resources::has_indivisible_huge_pages(spec),
        affinity_selector_values: affinity::has_bad_selector(spec),
        node_affinity_values: affinity::has_bad_node_value(spec),
        spread_selectors: spread::has_bad_selector(spec),
        spread_match_label_keys: spread::has_bad_label_keys(spec),
        token_paths: has_bad_token_path(spec),
        host_sysctls: security::has_host_sysctl(spec),
        host_users_devices: own_users
            && all_containers(spec).any(|(.., c)| !c.list("volumeDevices").is_empty()),
        host_users_network: own_users && spec.bool("hostNetwork"),
        image_reference: spec
            .structs("volumes")
            .filter_map(|v| v.opt("image"))
            .any(|image| image.str("reference").is_empty()),
        cap_sys_admin: all_containers(spec).any(|(.., c)| adds_sys_admin(c)),
        deletion_cost: annotations::has_bad_deletion_cost(template.nested("metadata")),
        init_resize_policy: spec.structs("initContainers").any(restarts_on_resize),
        toleration_comparison: spec.structs("tolerations").any(|t| matches!(t.str("operator"), "Lt" | "Gt")),
    }
}

fn has_bad_token_path(spec: View<'_>) -> bool {
    spec.structs("volumes")
        .filter_map(|volume| volume.opt("projected"))
        .flat_map(|projected| projected.structs("sources"))
        .filter_map(|source| source.opt("serviceAccountToken"))
        .any(|token| !names::local_path(token.str("path")).is_empty())
}

fn adds_sys_admin(container: View<'_>) -> bool {
    let Some(context) = container.opt("securityContext") else { return false };
    let added = context.opt("capabilities").is_some_and(|c| c.strings("add").any(|a| a == "CAP_SYS_ADMIN"));
    added && !context.bool("allowPrivilegeEscalation")
}

/// Of an init container that is no sidecar.
fn restarts_on_resize(init: View<'_>) -> bool {
    init.str("restartPolicy") != "Always"
        && init.structs("resizePolicy").any(|p| p.str("restartPolicy") == "RestartContainer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    fn excused(template: &str) -> Exemptions {
        let text = format!(r#"{{"spec":{{"template":{template}}}}}"#);
        let mut out = Exemptions::default();
        found("v1.Deployment", &text, |_, old, _| out = of(old));
        out
    }

    fn excused_by(spec: &str) -> Exemptions {
        excused(&format!(r#"{{"spec":{spec}}}"#))
    }

    #[test]
    fn each_flaw_excuses_its_own_rule() {
        let annotation = r#"{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"x"}}}"#;
        assert!(excused(annotation).deletion_cost);
        assert!(excused_by(r#"{"tolerations":[{"operator":"Gt"}]}"#).toleration_comparison);
        assert!(excused_by(r#"{"volumes":[{"name":"v","image":{}}]}"#).image_reference);
        let token =
            r#"{"volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"../x"}}]}}]}"#;
        assert!(excused_by(token).token_paths);
        let users = excused_by(
            r#"{"hostUsers":false,"hostNetwork":true,"containers":[{"name":"a","volumeDevices":[{"name":"v","devicePath":"/d"}]}]}"#,
        );
        assert!(users.host_users_network && users.host_users_devices);
        assert!(!excused_by(r#"{"hostNetwork":true}"#).host_users_network);
    }

    #[test]
    fn a_bad_selector_excuses_values_wherever_it_stands() {
        let term =
            r#"{"topologyKey":"z","namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Is"}]}}"#;
        let preferred = format!(
            r#"{{"affinity":{{"podAntiAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":1,"podAffinityTerm":{term}}}]}}}}}}"#
        );
        assert!(excused_by(&preferred).affinity_selector_values);
        let spread = excused_by(
            r#"{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","matchLabelKeys":["a"]}]}"#,
        );
        assert!(spread.spread_match_label_keys && !spread.spread_selectors);
    }

    #[test]
    fn sidecars_and_privilege_escalation_need_no_excuse() {
        let init = |more: &str| {
            excused_by(&format!(
                r#"{{"initContainers":[{{"name":"i","resizePolicy":[{{"resourceName":"cpu","restartPolicy":"RestartContainer"}}]{more}}}]}}"#
            ))
        };
        assert!(init("").init_resize_policy);
        assert!(!init(r#","restartPolicy":"Always""#).init_resize_policy);
        let adding = |more: &str| {
            excused_by(&format!(
                r#"{{"containers":[{{"name":"a","securityContext":{{"capabilities":{{"add":["CAP_SYS_ADMIN"]}}{more}}}}}]}}"#
            ))
        };
        assert!(adding("").cap_sys_admin && adding(r#","allowPrivilegeEscalation":false"#).cap_sys_admin);
        assert!(!adding(r#","allowPrivilegeEscalation":true"#).cap_sys_admin);
    }
}
