//! What an update may keep: rules that are relaxed because the stored object already breaks them.

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
    /// Fields behind gates that are off are kept, since the old template used them.
    pub stop_signals: bool,
}

/// What updates of this stored Deployment may keep.
pub fn of(_old: View<'_>) -> Exemptions {
    Exemptions::default()
}
