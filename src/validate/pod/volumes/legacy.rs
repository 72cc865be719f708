//! Volumes of storage systems that now have CSI drivers: little more than which fields are required.

use super::required;
use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

pub(super) fn gce_persistent_disk(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "pdName", path);
    partition(faults, source, path);
}

pub(super) fn aws_elastic_block_store(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "volumeID", path);
    partition(faults, source, path);
}

/// 0 is allowed, whatever the message says: it stands for the whole disk.
fn partition(faults: &mut Faults, source: View<'_>, path: &Path<'_>) {
    let number = source.int("partition");
    if !(0..=255).contains(&number) {
        faults.invalid(&path.field("partition"), number, "must be between 1 and 255, inclusive");
    }
}

pub(super) fn glusterfs(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "endpoints", path);
    required(faults, source, "path", path);
}

pub(super) fn flocker(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    let (name, uuid) = (source.str("datasetName"), source.str("datasetUUID"));
    match (name.is_empty(), uuid.is_empty()) {
        (true, true) => {
            faults.required(path, "one of datasetName and datasetUUID is required");
        }
        (false, false) => {
            let detail = "datasetName and datasetUUID can not be specified simultaneously";
            faults.invalid(path, "resource", detail);
        }
        _ => {}
    }
    if name.contains('/') {
        faults.invalid(&path.field("datasetName"), name, "must not contain '/'");
    }
}

pub(super) fn rbd(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    monitors(faults, source, path);
    required(faults, source, "image", path);
}

pub(super) fn cephfs(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    monitors(faults, source, path);
}

fn monitors(faults: &mut Faults, source: View<'_>, path: &Path<'_>) {
    if source.list("monitors").is_empty() {
        faults.required(&path.field("monitors"), "");
    }
}

pub(super) fn cinder(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "volumeID", path);
    secret_name(faults, source, path);
}

/// A reference to a secret must name it.
fn secret_name(faults: &mut Faults, source: View<'_>, path: &Path<'_>) {
    if let Some(secret) = source.opt("secretRef") {
        required(faults, secret, "name", &path.field("secretRef"));
    }
}

pub(super) fn flex_volume(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "driver", path);
    let options = path.field("options");
    for (key, _) in source.texts("options") {
        let namespace = key.split_once('/').map_or(key, |(namespace, _)| namespace);
        let namespace = format!(".{}", names::lower(namespace));
        if namespace.ends_with(".kubernetes.io") || namespace.ends_with(".k8s.io") {
            let here = options.key(key);
            let detail = "kubernetes.io and k8s.io namespaces are reserved";
            faults.invalid(&here, key, detail).at_key(&here);
        }
    }
}

pub(super) fn azure_file(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "secretName", path);
    required(faults, source, "shareName", path);
}

pub(super) fn azure_disk(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "diskName", path);
    required(faults, source, "diskURI", path);
    one_of(faults, source, "cachingMode", &["None", "ReadOnly", "ReadWrite"], path);
    one_of(faults, source, "kind", &["Dedicated", "Managed", "Shared"], path);
    let (begins, shape) = match source.opt_str("kind") {
        None => return,
        Some("Managed") => (
            "/subscriptions/",
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
        ),
        Some(_) => {
            ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
        }
    };
    let uri = source.str("diskURI");
    if !uri.starts_with(begins) {
        faults.not_supported_shown(&path.field("diskURI"), Shown::Text(uri), &[shape]);
    }
}

fn one_of(faults: &mut Faults, source: View<'_>, field: &'static str, supported: &[&str], path: &Path<'_>) {
    if let Some(value) = source.opt_str(field).filter(|value| !supported.contains(value)) {
        faults.not_supported(&path.field(field), value, supported);
    }
}

pub(super) fn vsphere_volume(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "volumePath", path);
}

pub(super) fn photon_persistent_disk(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "pdID", path);
}

pub(super) fn portworx_volume(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "volumeID", path);
}

pub(super) fn scale_io(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "gateway", path);
    required(faults, source, "system", path);
    required(faults, source, "volumeName", path);
}

pub(super) fn storage_os(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "volumeName", path);
    for field in ["volumeName", "volumeNamespace"] {
        let name = source.str(field);
        if !name.is_empty() {
            faults.invalid_each(&path.field(field), name, &names::label(name));
        }
    }
    secret_name(faults, source, path);
}
