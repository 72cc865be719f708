//! Defaults of a pod template's spec.

use std::borrow::Cow;

use super::{image, int, non_zero, pointer, text};
use crate::schema::value::{Struct, Value};

/// 0644, the mode of files in volumes.
const FILE_MODE: i64 = 0o644;
/// How long a projected service account token is valid.
const TOKEN_SECS: i64 = 3600;

pub(super) fn apply(spec: &mut Struct<'_>) {
    service_account(spec);
    text(spec, "dnsPolicy", "ClusterFirst");
    text(spec, "restartPolicy", "Always");
    spec.struct_or_new("securityContext");
    int(spec, "terminationGracePeriodSeconds", 30);
    text(spec, "schedulerName", "default-scheduler");
    quantities(spec, "overhead");
    if let Some(resources) = spec.struct_mut("resources") {
        resource_lists(resources);
    }
    for v in spec.structs_mut("volumes") {
        volume(v);
    }
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for c in spec.structs_mut(list) {
            container(c);
        }
    }
}

/// `serviceAccount` is an old name of `serviceAccountName`; both come out the same.
fn service_account(spec: &mut Struct<'_>) {
    let view = spec.view();
    let name =
        if view.str("serviceAccountName").is_empty() { "serviceAccount" } else { "serviceAccountName" };
    let name = view.str(name).to_owned();
    for field in ["serviceAccountName", "serviceAccount"] {
        if spec.view().str(field) != name {
            spec.set(field, Value::Str(Cow::Owned(name.clone())));
        }
    }
}

fn container(c: &mut Struct<'_>) {
    if c.view().str("imagePullPolicy").is_empty() {
        c.set("imagePullPolicy", pull_policy(c.view().str("image")));
    }
    text(c, "terminationMessagePath", "/dev/termination-log");
    text(c, "terminationMessagePolicy", "File");
    for port in c.structs_mut("ports") {
        text(port, "protocol", "TCP");
    }
    for env in c.structs_mut("env") {
        let Some(from) = env.struct_mut("valueFrom") else { continue };
        if let Some(r) = from.struct_mut("fieldRef") {
            text(r, "apiVersion", "v1");
        }
        if let Some(r) = from.struct_mut("fileKeyRef") {
            pointer(r, "optional", Value::Bool(false));
        }
    }
    if let Some(resources) = c.struct_mut("resources") {
        resource_lists(resources);
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(p) = c.struct_mut(name) {
            probe(p);
        }
    }
    if let Some(lifecycle) = c.struct_mut("lifecycle") {
        for name in ["postStart", "preStop"] {
            if let Some(get) = lifecycle.struct_mut(name).and_then(|h| h.struct_mut("httpGet")) {
                http_get(get);
            }
        }
    }
}

fn pull_policy(reference: &str) -> Value<'static> {
    Value::Str(Cow::Borrowed(if image::is_latest(reference) { "Always" } else { "IfNotPresent" }))
}

fn probe(p: &mut Struct<'_>) {
    non_zero(p, "timeoutSeconds", 1);
    non_zero(p, "periodSeconds", 10);
    non_zero(p, "successThreshold", 1);
    non_zero(p, "failureThreshold", 3);
    if let Some(get) = p.struct_mut("httpGet") {
        http_get(get);
    }
    if let Some(grpc) = p.struct_mut("grpc") {
        pointer(grpc, "service", Value::Str(Cow::Borrowed("")));
    }
}

fn http_get(get: &mut Struct<'_>) {
    text(get, "path", "/");
    text(get, "scheme", "HTTP");
}

fn resource_lists(resources: &mut Struct<'_>) {
    quantities(resources, "limits");
    quantities(resources, "requests");
}

/// Rounds every entry of a resource list up to thousandths.
fn quantities(s: &mut Struct<'_>, field: &'static str) {
    if let Some(Value::Map(entries)) = s.get_mut(field) {
        for (_, value) in entries {
            if let Value::Quantity(q) = value {
                q.round_up_to_milli();
            }
        }
    }
}

fn volume(v: &mut Struct<'_>) {
    if v.fields.iter().all(|(f, _)| f.embedded_in.is_none()) {
        v.struct_or_new("emptyDir");
    }
    for i in 0..v.fields.len() {
        let (field, Value::Struct(source)) = &mut v.fields[i] else { continue };
        volume_source(field.json, source);
    }
}

fn volume_source(kind: &str, source: &mut Struct<'_>) {
    match kind {
        "hostPath" => pointer(source, "type", Value::Str(Cow::Borrowed(""))),
        "secret" | "configMap" => int(source, "defaultMode", FILE_MODE),
        "downwardAPI" => {
            int(source, "defaultMode", FILE_MODE);
            downward_items(source);
        }
        "projected" => projected(source),
        "image" if source.view().str("pullPolicy").is_empty() => {
            source.set("pullPolicy", pull_policy(source.view().str("reference")));
        }
        "iscsi" => text(source, "iscsiInterface", "default"),
        "rbd" => {
            text(source, "pool", "rbd");
            text(source, "user", "admin");
            text(source, "keyring", "/etc/ceph/keyring");
        }
        "azureDisk" => {
            for (field, value) in [("cachingMode", "ReadWrite"), ("fsType", "ext4"), ("kind", "Shared")] {
                pointer(source, field, Value::Str(Cow::Borrowed(value)));
            }
            pointer(source, "readOnly", Value::Bool(false));
        }
        "scaleIO" => {
            text(source, "storageMode", "ThinProvisioned");
            text(source, "fsType", "xfs");
        }
        "ephemeral" => {
            if let Some(template) = source.struct_mut("volumeClaimTemplate") {
                let spec = template.struct_or_new("spec");
                pointer(spec, "volumeMode", Value::Str(Cow::Borrowed("Filesystem")));
                if let Some(resources) = spec.struct_mut("resources") {
                    resource_lists(resources);
                }
            }
        }
        _ => {}
    }
}

fn downward_items(source: &mut Struct<'_>) {
    for item in source.structs_mut("items") {
        if let Some(r) = item.struct_mut("fieldRef") {
            text(r, "apiVersion", "v1");
        }
    }
}

fn projected(source: &mut Struct<'_>) {
    int(source, "defaultMode", FILE_MODE);
    for projection in source.structs_mut("sources") {
        if let Some(token) = projection.struct_mut("serviceAccountToken") {
            int(token, "expirationSeconds", TOKEN_SECS);
        }
        if let Some(downward) = projection.struct_mut("downwardAPI") {
            downward_items(downward);
        }
    }
}
