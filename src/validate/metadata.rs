//! `metadata`: of the Deployment itself, and the parts of it that other places share.
//!
//! Source: kubernetes v1.37.2 `apimachinery/pkg/api/validation/objectmeta.go`. Parity: exact; rules that
//! the server's own filling in makes unreachable (a missing namespace, a lower generation) are left out.

use super::fault::{Faults, Shown};
use super::path::Path;
use super::selector::{self, Spot};
use crate::kube_types::names;
use crate::schema::print;
use crate::schema::value::View;

/// Holds the revision of a rollback that the first API of Deployments asked for. The server takes it
/// out of the annotations before it validates them.
pub const ROLLBACK_ANNOTATION: &str = "deprecated.deployment.rollback.to";

/// The most bytes that all annotations of an object may have together.
const MAX_ANNOTATION_BYTES: usize = 256 * 1024;
/// The most bytes of a field manager's name.
const MAX_MANAGER_BYTES: usize = 128;
/// The most bytes of a managed subresource's name.
const MAX_SUBRESOURCE_BYTES: usize = 256;

const IMMUTABLE: &str = "field is immutable";
const NOT_EMPTY: &str = "must not be empty";

/// Checks the metadata of a new Deployment.
pub fn create(faults: &mut Faults, meta: View<'_>, path: &Path<'_>) {
    let generate_name = meta.str("generateName");
    if !generate_name.is_empty() {
        let messages = names::subdomain_prefix(generate_name);
        faults.invalid_each(&path.field("generateName"), generate_name, &messages);
    }
    let name = meta.str("name");
    if name.is_empty() {
        name_required(faults, path);
    } else {
        faults.invalid_each(&path.field("name"), name, &names::subdomain(name));
    }
    common(faults, meta, path);
    finalizer_names(faults, meta, path);
}

/// Checks the metadata of a Deployment that is to replace one with `old` metadata.
pub fn update(faults: &mut Faults, new: View<'_>, old: View<'_>, path: &Path<'_>) {
    path_segments(faults, new, path);
    common(faults, new, path);
    no_new_finalizers(faults, new, old, path);
    immutable(faults, new, old, path);
    finalizer_names(faults, new, path);
}

fn name_required(faults: &mut Faults, path: &Path<'_>) {
    faults.required(&path.field("name"), "name or generateName is required").at(path);
}

/// On an update a name only has to be usable in a URL.
fn path_segments(faults: &mut Faults, meta: View<'_>, path: &Path<'_>) {
    let generate_name = meta.str("generateName");
    for bad in ['/', '%'] {
        if generate_name.contains(bad) {
            let detail = format_args!("may not contain '{bad}'");
            faults.invalid(&path.field("generateName"), generate_name, detail);
        }
    }
    let (name, at) = (meta.str("name"), path.field("name"));
    if name.is_empty() {
        return name_required(faults, path);
    }
    if name == "." || name == ".." {
        faults.invalid(&at, name, format_args!("may not be '{name}'"));
        return;
    }
    for bad in ['/', '%'] {
        if name.contains(bad) {
            faults.invalid(&at, name, format_args!("may not contain '{bad}'"));
        }
    }
}

/// What create and update check alike.
fn common(faults: &mut Faults, meta: View<'_>, path: &Path<'_>) {
    let namespace = meta.str("namespace");
    faults.invalid_each(&path.field("namespace"), namespace, &names::label(namespace));
    labels(faults, meta, Spot { named: path, real: path });
    let at = path.field("annotations");
    let kept = meta.texts("annotations").filter(|(k, v)| *k != ROLLBACK_ANNOTATION || v.is_empty());
    annotation_map(faults, kept, Spot { named: &at, real: &at });
    owner_references(faults, meta, path);
    finalizers(faults, meta, path);
    managed_fields(faults, meta, path);
}

/// Checks `labels` of the metadata at `spot`.
pub fn labels(faults: &mut Faults, meta: View<'_>, spot: Spot<'_>) {
    let spot = Spot { named: &spot.named.field("labels"), real: &spot.real.field("labels") };
    selector::labels_at(faults, meta.texts("labels"), spot);
}

/// Checks `annotations` of the metadata at `spot`.
pub fn annotations(faults: &mut Faults, meta: View<'_>, spot: Spot<'_>) {
    let spot = Spot { named: &spot.named.field("annotations"), real: &spot.real.field("annotations") };
    annotation_map(faults, meta.texts("annotations"), spot);
}

fn annotation_map<'v>(
    faults: &mut Faults,
    entries: impl Iterator<Item = (&'v str, &'v str)>,
    spot: Spot<'_>,
) {
    let mut bytes = 0;
    for (key, value) in entries {
        bytes += key.len() + value.len();
        for message in names::qualified_name(&names::lower(key)) {
            faults.invalid(spot.named, key, message).at_key(&spot.real.key(key));
        }
    }
    if bytes > MAX_ANNOTATION_BYTES {
        faults.too_long(spot.named, MAX_ANNOTATION_BYTES).at(spot.real);
    }
}

fn owner_references(faults: &mut Faults, meta: View<'_>, path: &Path<'_>) {
    let path = path.field("ownerReferences");
    let mut controller: Option<String> = None;
    for (i, owner) in meta.structs("ownerReferences").enumerate() {
        owner_reference(faults, owner, &path.index(i));
        if !owner.bool("controller") {
            continue;
        }
        let this = format!("{}/{}", owner.str("kind"), owner.str("name"));
        if let Some(first) = &controller {
            let list = Shown::Json(print::value_json(meta.get("ownerReferences")).into());
            let detail = format_args!(
                "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
            );
            faults.invalid(&path, list, detail).at(&path.index(i).field("controller"));
        } else {
            controller = Some(this);
        }
    }
}

fn owner_reference(faults: &mut Faults, owner: View<'_>, path: &Path<'_>) {
    let api_version = owner.str("apiVersion");
    let at = path.field("apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    if api_version.is_empty() {
        faults.required(&at, NOT_EMPTY).at(path);
    } else if version.is_empty() || version.contains('/') {
        faults.invalid(&at, api_version, "must be <group>/<version> or <version>");
    }
    for field in ["kind", "name", "uid"] {
        if owner.str(field).is_empty() {
            faults.required(&path.field(field), NOT_EMPTY).at(path);
        }
    }
    if (group, version, owner.str("kind")) == ("", "v1", "Event") {
        let shown = Shown::Json(print::api_json(owner).into());
        faults.invalid(path, shown, "/v1, Kind=Event is disallowed from being an owner");
    }
}

fn finalizers(faults: &mut Faults, meta: View<'_>, path: &Path<'_>) {
    let path = path.field("finalizers");
    let (mut orphan, mut foreground) = (false, false);
    for (i, finalizer) in meta.strings("finalizers").enumerate() {
        for message in names::qualified_name(finalizer) {
            faults.invalid(&path, finalizer, message).at(&path.index(i));
        }
        orphan |= finalizer == "orphan";
        foreground |= finalizer == "foregroundDeletion";
    }
    if orphan && foreground {
        let list = Shown::Json(print::value_json(meta.get("finalizers")).into());
        faults.invalid(&path, list, "finalizer orphan and foregroundDeletion cannot be both set");
    }
}

fn finalizer_names(faults: &mut Faults, meta: View<'_>, path: &Path<'_>) {
    let path = path.field("finalizers");
    for (i, finalizer) in meta.strings("finalizers").enumerate() {
        let standard = matches!(finalizer, "kubernetes" | "orphan" | "foregroundDeletion");
        if !standard && !finalizer.contains('/') {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            faults.invalid(&path.index(i), finalizer, detail);
        }
    }
}

fn no_new_finalizers(faults: &mut Faults, meta: View<'_>, old: View<'_>, path: &Path<'_>) {
    if !old.has("deletionTimestamp") {
        return;
    }
    let mut added: Vec<&str> =
        meta.strings("finalizers").filter(|f| !old.strings("finalizers").any(|o| o == *f)).collect();
    added.sort_unstable();
    added.dedup();
    if added.is_empty() {
        return;
    }
    let mut list = String::new();
    for (i, finalizer) in added.into_iter().enumerate() {
        list.push_str(if i > 0 { ", " } else { "" });
        print::go_quote(&mut list, finalizer);
    }
    let detail = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{list}}}"
    );
    faults.forbidden(&path.field("finalizers"), &detail);
}

/// What an update may not change. The server keeps what is not sent, and the creation time always.
fn immutable(faults: &mut Faults, meta: View<'_>, old: View<'_>, path: &Path<'_>) {
    for field in ["name", "namespace"] {
        if meta.str(field) != old.str(field) {
            faults.invalid(&path.field(field), meta.str(field), IMMUTABLE);
        }
    }
    let uid = meta.str("uid");
    if !uid.is_empty() && uid != old.str("uid") {
        faults.invalid(&path.field("uid"), Shown::Named(uid), IMMUTABLE);
    }
    if meta.has("deletionTimestamp") && !old.has("deletionTimestamp") {
        let shown = Shown::Named(meta.str("deletionTimestamp"));
        faults.invalid(&path.field("deletionTimestamp"), shown, IMMUTABLE);
    }
    let field = "deletionGracePeriodSeconds";
    if let Some(seconds) = meta.opt_int(field)
        && old.opt_int(field) != Some(seconds)
    {
        faults.invalid(&path.field(field), seconds, IMMUTABLE);
    }
}

/// Checks `managedFields` of the metadata at `path`.
pub fn managed_fields(faults: &mut Faults, meta: View<'_>, path: &Path<'_>) {
    let list = path.field("managedFields");
    for (i, entry) in meta.structs("managedFields").enumerate() {
        let path = list.index(i);
        match entry.str("operation") {
            "Apply" | "Update" => {}
            "" => {
                faults.required(&path.field("operation"), NOT_EMPTY).at(&path);
            }
            other => {
                faults.not_supported(&path.field("operation"), other, &["Apply", "Update"]);
            }
        }
        let fields_type = entry.str("fieldsType");
        if !matches!(fields_type, "" | "FieldsV1") {
            faults.invalid(&path.field("fieldsType"), fields_type, "must be `FieldsV1`");
        }
        manager(faults, entry.str("manager"), &path.field("manager"));
        if entry.str("subresource").len() > MAX_SUBRESOURCE_BYTES {
            faults.too_long(&path.field("subresource"), MAX_SUBRESOURCE_BYTES);
        }
    }
}

fn manager(faults: &mut Faults, manager: &str, path: &Path<'_>) {
    if manager.len() > MAX_MANAGER_BYTES {
        faults.too_long(path, MAX_MANAGER_BYTES);
    }
    for (i, c) in manager.char_indices().filter(|(_, c)| !print::is_go_printable(*c)) {
        let code = u32::from(c);
        faults.invalid(path, manager, format_args!("invalid character U+{code:04X} (at position {i})"));
    }
}
