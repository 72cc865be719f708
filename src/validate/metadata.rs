//! `metadata`: of the Deployment itself, and the parts of it that other places share.
//!
//! Source: kubernetes v1.37.2 `apimachinery/pkg/api/validation/objectmeta.go`. Parity: exact; rules that
//! the server's own filling in makes unreachable (a missing namespace) are left out.

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
    generation(faults, new, old, path);
    common(faults, new, path);
    no_new_finalizers(faults, new, old, path);
    immutable(faults, new, old, path);
    finalizer_names(faults, new, path);
}

/// The server counts by itself, so these tell of a stored object that is broken.
fn generation(faults: &mut Faults, new: View<'_>, old: View<'_>, path: &Path<'_>) {
    let (generation, path) = (new.int("generation"), path.field("generation"));
    if generation < 0 {
        faults.invalid(&path, generation, names::NON_NEGATIVE);
    }
    if generation < old.int("generation") {
        faults.invalid(&path, generation, "must not be decremented");
    }
}

fn name_required(faults: &mut Faults, path: &Path<'_>) {
    faults.required(&path.field("name"), "name or generateName is required");
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
        faults.required(&at, NOT_EMPTY);
    } else if version.is_empty() || version.contains('/') {
        faults.invalid(&at, api_version, "must be <group>/<version> or <version>");
    }
    for field in ["kind", "name", "uid"] {
        if owner.str(field).is_empty() {
            faults.required(&path.field(field), NOT_EMPTY);
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
    let list = print::quoted_list(added);
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
        let shown = match meta.str("deletionTimestamp") {
            // Go's zero time.
            "" => Shown::Json("null".into()),
            time => Shown::Named(time),
        };
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
                faults.required(&path.field("operation"), NOT_EMPTY);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    fn created(text: &str) -> Vec<String> {
        found("v1.ObjectMeta", text, create)
    }

    fn updated(new: &str, old: &str) -> Vec<String> {
        let mut list = Vec::new();
        found("v1.ObjectMeta", old, |_, old, _| {
            list = found("v1.ObjectMeta", new, |faults, new, path| update(faults, new, old, path));
        });
        list
    }

    #[test]
    fn a_name_is_needed_and_a_namespace_is_no_subdomain() {
        assert_eq!(
            created(r#"{"namespace":"a.b"}"#),
            [
                "C.name: Required value: name or generateName is required",
                "C.namespace: Invalid value: \"a.b\": must not contain dots",
            ]
        );
        assert!(created(r#"{"name":"a.b","namespace":"default","generateName":"web-"}"#).is_empty());
    }

    #[test]
    fn case_does_not_count_in_annotation_keys_and_all_bytes_count() {
        let annotations =
            |text: &str| created(&format!(r#"{{"name":"a","namespace":"b","annotations":{text}}}"#));
        assert!(annotations(r#"{"EXAMPLE.com/A":"x","İ":"x"}"#).is_empty());
        assert_eq!(
            annotations(r#"{"A//b":"x"}"#)[0].split(" @ ").last(),
            Some("C.annotations[A//b]"),
            "the key is where the fault lies"
        );
        let full = "x".repeat(256 * 1024 - 1);
        assert!(annotations(&format!(r#"{{"a":"{full}"}}"#)).is_empty());
        assert_eq!(
            annotations(&format!(r#"{{"ab":"{full}"}}"#)),
            ["C.annotations: Too long: may not be more than 262144 bytes"]
        );
        assert!(
            annotations(&format!(r#"{{"ab":"{}","{ROLLBACK_ANNOTATION}":"1"}}"#, &full[1..])).is_empty(),
            "the server keeps the rollback elsewhere"
        );
    }

    #[test]
    fn owners_need_all_their_fields_and_one_controller() {
        assert_eq!(
            created(
                r#"{"name":"a","namespace":"b","ownerReferences":[
                    {"apiVersion":"/","kind":"Pod","name":"n","uid":"u","controller":true},
                    {"apiVersion":"/v1","kind":"Event","name":"<","uid":"u","controller":true}]}"#
            ),
            [
                "C.ownerReferences[0].apiVersion: Invalid value: \"/\": must be <group>/<version> or <version>",
                "C.ownerReferences[1]: Invalid value: {\"apiVersion\":\"/v1\",\"kind\":\"Event\",\"name\":\"\\u003c\",\"uid\":\"u\",\"controller\":true}: /v1, Kind=Event is disallowed from being an owner",
                "C.ownerReferences: Invalid value: [{\"apiVersion\":\"/\",\"kind\":\"Pod\",\"name\":\"n\",\"uid\":\"u\",\"controller\":true},{\"apiVersion\":\"/v1\",\"kind\":\"Event\",\"name\":\"\\u003c\",\"uid\":\"u\",\"controller\":true}]: Only one reference can have Controller set to true. Found \"true\" in references for Pod/n and Event/< @ C.ownerReferences[1].controller",
            ]
        );
        assert_eq!(
            created(r#"{"name":"a","namespace":"b","ownerReferences":[{}]}"#),
            ["apiVersion", "kind", "name", "uid"]
                .map(|field| format!("C.ownerReferences[0].{field}: Required value: must not be empty"))
        );
    }

    #[test]
    fn finalizers_are_standard_or_qualified() {
        assert_eq!(
            created(
                r#"{"name":"a","namespace":"b","finalizers":["orphan","foregroundDeletion","foo","a/b"]}"#
            ),
            [
                "C.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\",\"foo\",\"a/b\"]: finalizer orphan and foregroundDeletion cannot be both set",
                "C.finalizers[2]: Invalid value: \"foo\": name is neither a standard finalizer name nor is it fully qualified",
            ]
        );
    }

    #[test]
    fn managers_are_printable_and_operations_known() {
        assert_eq!(
            created(
                r#"{"name":"a","namespace":"b","managedFields":[{"operation":"x\"<","manager":"a\u0007b\u200b"},{"fieldsType":"y"}]}"#
            ),
            [
                "C.managedFields[0].operation: Unsupported value: \"x\\\"\\u003c\": supported values: \"Apply\", \"Update\"",
                "C.managedFields[0].manager: Invalid value: \"a\\ab\\u200b\": invalid character U+0007 (at position 1)",
                "C.managedFields[0].manager: Invalid value: \"a\\ab\\u200b\": invalid character U+200B (at position 3)",
                "C.managedFields[1].operation: Required value: must not be empty",
                "C.managedFields[1].fieldsType: Invalid value: \"y\": must be `FieldsV1`",
            ]
        );
    }

    #[test]
    fn an_update_may_keep_a_bad_name_but_change_none() {
        let old = r#"{"name":"A_b","namespace":"default","uid":"1"}"#;
        assert!(updated(r#"{"name":"A_b","namespace":"default"}"#, old).is_empty());
        assert_eq!(
            updated(r#"{"name":"a/%","namespace":"default","uid":"2"}"#, old),
            [
                "C.name: Invalid value: \"a/%\": may not contain '/'",
                "C.name: Invalid value: \"a/%\": may not contain '%'",
                "C.name: Invalid value: \"a/%\": field is immutable",
                "C.uid: Invalid value: \"2\": field is immutable",
            ]
        );
    }

    #[test]
    fn no_finalizer_joins_a_deletion() {
        let old = r#"{"name":"a","namespace":"b","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["orphan"]}"#;
        assert_eq!(
            updated(r#"{"name":"a","namespace":"b","finalizers":["z/a","orphan","a/b","z/a"]}"#, old),
            [
                "C.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"a/b\", \"z/a\"}"
            ]
        );
    }
}
