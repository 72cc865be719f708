//! What the API server silently drops: fields behind feature gates that are off in this release, and
//! annotations of long-gone releases. An update keeps such a field when the stored template uses it.
//!
//! Source: kubernetes v1.37.2 `pkg/api/pod`, `DropDisabledTemplateFields`. Parity: exact for the
//! default gates of 1.37.

use crate::schema::value::{Struct, Value, View};

/// Annotations that are removed from every template.
const DEAD_ANNOTATIONS: [&str; 4] = [
    "pod.beta.kubernetes.io/init-containers",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-container-statuses",
];
const CONTAINER_LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];
const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];
const HANDLERS: [&str; 2] = ["postStart", "preStop"];

/// The gated fields that a template uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    empty_dir_mode: bool,
    file_users: bool,
    bind_mount_options: bool,
    stop_signal: bool,
    http_protocol: bool,
    grpc_mode: bool,
    scheduling_group: bool,
    eviction_responders: bool,
    dead_annotations: bool,
}

impl Used {
    /// Whether it is anything at all.
    pub fn any(self) -> bool {
        self != Used::default()
    }

    /// What is used here and not in the stored template: what the server drops. Dead annotations go in
    /// any case.
    #[must_use]
    pub fn beyond(self, stored: Used) -> Used {
        Used {
            empty_dir_mode: self.empty_dir_mode && !stored.empty_dir_mode,
            file_users: self.file_users && !stored.file_users,
            bind_mount_options: self.bind_mount_options && !stored.bind_mount_options,
            stop_signal: self.stop_signal && !stored.stop_signal,
            http_protocol: self.http_protocol && !stored.http_protocol,
            grpc_mode: self.grpc_mode && !stored.grpc_mode,
            scheduling_group: self.scheduling_group && !stored.scheduling_group,
            eviction_responders: self.eviction_responders && !stored.eviction_responders,
            dead_annotations: self.dead_annotations,
        }
    }
}

/// What the template of a Deployment uses.
pub fn used(deployment: View<'_>) -> Used {
    let template = deployment.nested("spec").nested("template");
    let spec = template.nested("spec");
    let annotations = template.nested("metadata");
    let mut used = Used {
        scheduling_group: spec.has("schedulingGroup"),
        eviction_responders: !spec.list("evictionResponders").is_empty(),
        dead_annotations: annotations.texts("annotations").any(|(k, _)| DEAD_ANNOTATIONS.contains(&k)),
        ..Used::default()
    };
    for v in spec.structs("volumes") {
        used.empty_dir_mode |= v.opt("emptyDir").is_some_and(|e| e.has("mode"));
        used.file_users |= uses_file_users(v);
    }
    for list in CONTAINER_LISTS {
        for c in spec.structs(list) {
            used.in_container(c);
        }
    }
    used
}

impl Used {
    fn in_container(&mut self, c: View<'_>) {
        self.bind_mount_options |= c.structs("volumeMounts").any(|m| !m.list("bindMountOptions").is_empty());
        for probe in PROBES.into_iter().filter_map(|p| c.opt(p)) {
            self.grpc_mode |= probe.opt("grpc").is_some_and(|g| g.has("mode"));
            self.http_protocol |= probe.opt("httpGet").is_some_and(|h| h.has("protocol"));
        }
        let Some(lifecycle) = c.opt("lifecycle") else { return };
        self.stop_signal |= lifecycle.has("stopSignal");
        for handler in HANDLERS.into_iter().filter_map(|h| lifecycle.opt(h)) {
            self.http_protocol |= handler.opt("httpGet").is_some_and(|h| h.has("protocol"));
        }
    }
}

fn uses_file_users(volume: View<'_>) -> bool {
    let items = |source: View<'_>| source.structs("items").any(|i| i.has("user"));
    let with_items = |source: View<'_>| source.has("defaultUser") || items(source);
    ["secret", "configMap", "downwardAPI"].into_iter().filter_map(|k| volume.opt(k)).any(with_items)
        || volume.opt("projected").is_some_and(|p| {
            p.has("defaultUser")
                || p.structs("sources").any(|s| {
                    ["secret", "configMap", "downwardAPI"].into_iter().filter_map(|k| s.opt(k)).any(items)
                        || ["serviceAccountToken", "clusterTrustBundle", "podCertificate"]
                            .into_iter()
                            .filter_map(|k| s.opt(k))
                            .any(|t| t.has("user"))
                })
        })
}

/// Drops from the template of a Deployment what the server would not store.
pub fn drop_disabled(deployment: &mut Struct<'_>, drop: Used) {
    if !drop.any() {
        return;
    }
    let template = deployment.struct_or_new("spec").struct_or_new("template");
    if drop.dead_annotations
        && let Some(Value::Map(annotations)) = template.struct_or_new("metadata").get_mut("annotations")
    {
        annotations.retain(|(k, _)| !DEAD_ANNOTATIONS.contains(&&**k));
    }
    let spec = template.struct_or_new("spec");
    if drop.scheduling_group {
        spec.remove("schedulingGroup");
    }
    if drop.eviction_responders {
        spec.remove("evictionResponders");
    }
    for v in spec.structs_mut("volumes") {
        if drop.empty_dir_mode
            && let Some(e) = v.struct_mut("emptyDir")
        {
            e.remove("mode");
        }
        if drop.file_users {
            drop_file_users(v);
        }
    }
    for list in CONTAINER_LISTS {
        for c in spec.structs_mut(list) {
            drop_in_container(c, drop);
        }
    }
}

/// Only the first of several sources is cleared, as the server does it.
fn drop_file_users(volume: &mut Struct<'_>) {
    for kind in ["secret", "configMap", "downwardAPI"] {
        if let Some(source) = volume.struct_mut(kind) {
            source.remove("defaultUser");
            drop_item_users(source);
            return;
        }
    }
    let Some(projected) = volume.struct_mut("projected") else { return };
    projected.remove("defaultUser");
    for source in projected.structs_mut("sources") {
        let kinds = ["secret", "downwardAPI", "configMap", "serviceAccountToken", "clusterTrustBundle"];
        let kind = kinds.into_iter().chain(["podCertificate"]).find(|k| source.view().has(k));
        let Some(inner) = kind.and_then(|k| source.struct_mut(k)) else { continue };
        if inner.ty.field("items").is_some() {
            drop_item_users(inner);
        } else {
            inner.remove("user");
        }
    }
}

fn drop_item_users(source: &mut Struct<'_>) {
    for item in source.structs_mut("items") {
        item.remove("user");
    }
}

fn drop_in_container(c: &mut Struct<'_>, drop: Used) {
    if drop.bind_mount_options {
        for mount in c.structs_mut("volumeMounts") {
            mount.remove("bindMountOptions");
        }
    }
    for probe in PROBES {
        let Some(probe) = c.struct_mut(probe) else { continue };
        drop_below(probe, "grpc", "mode", drop.grpc_mode);
        drop_below(probe, "httpGet", "protocol", drop.http_protocol);
    }
    let Some(lifecycle) = c.struct_mut("lifecycle") else { return };
    for handler in HANDLERS {
        if let Some(handler) = lifecycle.struct_mut(handler) {
            drop_below(handler, "httpGet", "protocol", drop.http_protocol);
        }
    }
    if drop.stop_signal && lifecycle.remove("stopSignal").is_some() && lifecycle.fields.is_empty() {
        c.remove("lifecycle");
    }
}

fn drop_below(s: &mut Struct<'_>, inner: &'static str, field: &'static str, drop: bool) {
    if drop && let Some(inner) = s.struct_mut(inner) {
        inner.remove(field);
    }
}
