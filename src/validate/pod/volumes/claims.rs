//! Volumes by claim: `persistentVolumeClaim`, and `ephemeral` with the claim that it makes.

use std::cmp::Ordering;

use super::required;
use crate::kube_types::names;
use crate::schema::table::{Field, Type};
use crate::schema::value::{Value, View};
use crate::validate::Rules;
use crate::validate::fault::{Faults, Shown};
use crate::validate::metadata;
use crate::validate::path::Path;
use crate::validate::selector::{Spot, label_selector};

const ACCESS_MODES: &[&str] = &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES: &[&str] = &["Block", "Filesystem"];

pub(super) fn persistent_volume_claim(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "claimName", path);
}

pub(super) fn ephemeral(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    let here = path.field("volumeClaimTemplate");
    match source.opt("volumeClaimTemplate") {
        Some(template) => {
            template_metadata(faults, template.nested("metadata"), &here.field("metadata"));
            claim_spec(faults, template.nested("spec"), &here.field("spec"));
        }
        None => {
            faults.required(&here, "");
        }
    }
}

/// Only labels and annotations are taken over to the claim; everything else must not be set.
fn template_metadata(faults: &mut Faults, meta: View<'_>, path: &Path<'_>) {
    let spot = Spot { named: path, real: path };
    metadata::annotations(faults, meta, spot);
    metadata::labels(faults, meta, spot);
    for field in &meta.ty.fields {
        let set = meta.get(field.json).is_some_and(|value| is_set(field, value));
        if !set || matches!(field.json, "labels" | "annotations") {
            continue;
        }
        // The server writes the Go name with a small first letter: `uID`.
        let mut named = field.go.to_owned();
        if let Some(first) = named.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        faults.forbidden(&path.field(&named), "cannot be set").at(&path.field(field.json));
    }
}

/// Whether a field differs from Go's zero value. An empty list does: its zero value is nil.
fn is_set(field: &Field, value: &Value<'_>) -> bool {
    match value {
        // The zero time, written out, is not Go's zero value in every bit.
        Value::Str(s) => !s.is_empty() || matches!(field.ty, Type::Time),
        Value::Int(i) => field.pointer || *i != 0,
        _ => true,
    }
}

fn claim_spec(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let modes = path.field("accessModes");
    if spec.list("accessModes").is_empty() {
        faults.required(&modes, "at least 1 access mode is required");
    }
    if let Some(selector) = spec.opt("selector") {
        label_selector(faults, selector, &path.field("selector"), false);
    }
    access_modes(faults, spec, &modes);
    storage_request(faults, spec.nested("resources"), &path.field("resources"));
    class_name(faults, spec, "storageClassName", path);
    if let Some(mode) = spec.opt_str("volumeMode").filter(|mode| !VOLUME_MODES.contains(mode)) {
        faults.not_supported(&path.field("volumeMode"), mode, VOLUME_MODES);
    }
    data_sources(faults, spec, path);
    class_name(faults, spec, "volumeAttributesClassName", path);
}

fn access_modes(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let (mut single, mut shared) = (false, false);
    for (i, mode) in spec.strings("accessModes").enumerate() {
        if !ACCESS_MODES.contains(&mode) {
            faults.not_supported(path, mode, ACCESS_MODES).at(&path.index(i));
        } else if mode == "ReadWriteOncePod" {
            single = true;
        } else {
            shared = true;
        }
    }
    if single && shared {
        faults.forbidden(path, "may not use ReadWriteOncePod with other access modes");
    }
}

fn storage_request(faults: &mut Faults, resources: View<'_>, path: &Path<'_>) {
    let (named, requests) = (path.key("storage"), path.field("requests"));
    match resources.quantities("requests").find(|(name, _)| *name == "storage") {
        None => {
            faults.required(&named, "").at(&requests);
        }
        Some((_, size)) if size.sign() != Ordering::Greater => {
            faults.invalid(&named, size.text(), "must be greater than zero").at(&requests.key("storage"));
        }
        Some(_) => {}
    }
}

fn class_name(faults: &mut Faults, spec: View<'_>, field: &'static str, path: &Path<'_>) {
    let name = spec.str(field);
    if !name.is_empty() {
        faults.invalid_each(&path.field(field), name, &names::subdomain(name));
    }
}

/// Checks `dataSource` and `dataSourceRef`, which must name the same where both are given.
fn data_sources(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let (source, reference) = (spec.opt("dataSource"), spec.opt("dataSourceRef"));
    if let Some(source) = source {
        data_source(faults, source, &path.field("dataSource"));
    }
    let Some(reference) = reference else { return };
    let here = path.field("dataSourceRef");
    data_source(faults, reference, &here);
    let namespace = reference.str("namespace");
    if !namespace.is_empty() {
        faults.invalid_each(&here.field("namespace"), namespace, &names::label(namespace));
    }
    let Some(source) = source else { return };
    let detail = if !namespace.is_empty() {
        "may not be specified when dataSourceRef.namespace is specified"
    } else if !same_object(source, reference) {
        "must match dataSourceRef"
    } else {
        return;
    };
    // The server passes a path where the value belongs; paths print as an empty object.
    faults.invalid(path, Shown::Json("{}".into()), detail).at(&path.field("dataSource"));
}

/// An API group that is not given differs from an empty one here.
fn same_object(a: View<'_>, b: View<'_>) -> bool {
    a.opt_str("apiGroup") == b.opt_str("apiGroup")
        && a.str("kind") == b.str("kind")
        && a.str("name") == b.str("name")
}

fn data_source(faults: &mut Faults, source: View<'_>, path: &Path<'_>) {
    required(faults, source, "name", path);
    required(faults, source, "kind", path);
    let (group, kind) = (source.str("apiGroup"), source.str("kind"));
    if !group.is_empty() {
        faults.invalid_each(&path.field("apiGroup"), group, &names::subdomain(group));
    } else if kind != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        faults.invalid(path, kind, detail).at(&path.field("kind"));
    }
}
