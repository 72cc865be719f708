//! What the name of a resource says about it. Source: kubernetes v1.37.2 `pkg/apis/core/helper`.

use crate::kube_types::names;

/// The names without a prefix that mean something somewhere, in a container or in a quota.
const STANDARD: &[&str] = &[
    "cpu",
    "memory",
    "ephemeral-storage",
    "storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "requests.storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];

/// Standard names too, of things that are counted in whole numbers.
const COUNTED: &[&str] = &[
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

const HUGE_PAGES: &str = "hugepages-";

/// Whether the name is one of Kubernetes' own unprefixed names.
pub(super) fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name)
        || COUNTED.contains(&name)
        || is_huge_pages(name)
        || name.starts_with("requests.hugepages-")
}

/// Whether a container may ask for a resource of this unprefixed name.
pub(super) fn is_for_containers(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage") || is_huge_pages(name)
}

/// Whether a pod as a whole may ask for the resource.
pub(super) fn is_for_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || is_huge_pages(name)
}

/// Whether it is memory in pages of one size, as in `hugepages-2Mi`.
pub(super) fn is_huge_pages(name: &str) -> bool {
    name.starts_with(HUGE_PAGES)
}

/// The page size in a name of huge pages, as written.
pub(super) fn page_size(name: &str) -> Option<&str> {
    name.strip_prefix(HUGE_PAGES)
}

/// Whether the name belongs to Kubernetes: it has no prefix, or one of ours.
pub(super) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Whether the name is a legal one of somebody else's resource, such as `nvidia.com/gpu`. A quota must
/// be able to name it with `requests.` in front.
pub(super) fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && names::qualified_name(&format!("requests.{name}")).is_empty()
}

/// Whether more may be used than is requested, so that request and limit may differ.
pub(super) fn allows_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_pages(name)
}

/// Whether the resource comes in whole numbers only.
pub(super) fn is_counted(name: &str) -> bool {
    COUNTED.contains(&name) || is_extended(name)
}
