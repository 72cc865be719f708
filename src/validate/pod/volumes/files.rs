//! Volumes made of files with given paths: `secret`, `configMap`, `downwardAPI`; and the rules for
//! such files that projected volumes share.

use super::{relocate, required};
use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::Path;
use crate::validate::pod::field_refs::{self, Use};

pub(super) fn secret(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "secretName", path);
    keyed_files(faults, source, path);
}

pub(super) fn config_map(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "name", path);
    keyed_files(faults, source, path);
}

pub(super) fn downward_api(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    defaults(faults, source, path);
    let items = path.field("items");
    for (i, file) in source.structs("items").enumerate() {
        downward_file(faults, file, path, &items.index(i));
    }
}

fn keyed_files(faults: &mut Faults, source: View<'_>, path: &Path<'_>) {
    defaults(faults, source, path);
    let items = path.field("items");
    for (i, item) in source.structs("items").enumerate() {
        keyed_file(faults, item, &items.index(i));
    }
}

/// Checks what holds for every file that does not say otherwise.
pub(super) fn defaults(faults: &mut Faults, source: View<'_>, path: &Path<'_>) {
    mode(faults, source, "defaultMode", path);
    user(faults, source, "defaultUser", path);
}

/// Checks a key that becomes a file.
pub(super) fn keyed_file(faults: &mut Faults, item: View<'_>, path: &Path<'_>) {
    required(faults, item, "key", path);
    local_path(faults, item.str("path"), &path.field("path"));
    mode(faults, item, "mode", path);
    user(faults, item, "user", path);
}

/// Checks a field of the pod that becomes a file. The server's `path` for it leaves out which item it
/// is; `real` is where it stands.
pub(super) fn downward_file(faults: &mut Faults, file: View<'_>, path: &Path<'_>, real: &Path<'_>) {
    let since = faults.len();
    local_path(faults, file.str("path"), &path.field("path"));
    match (file.opt("fieldRef"), file.opt("resourceFieldRef")) {
        (Some(field), resource) => {
            field_refs::field_ref(faults, field, &path.field("fieldRef"), Use::Volume);
            if resource.is_some() {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                faults.invalid(path, "resource", detail);
            }
        }
        (None, Some(resource)) => {
            let path = path.field("resourceFieldRef");
            field_refs::resource_field_ref(faults, resource, &path, Use::Volume);
        }
        (None, None) => {
            faults.required(path, "one of fieldRef and resourceFieldRef is required");
        }
    }
    mode(faults, file, "mode", path);
    user(faults, file, "user", path);
    relocate(faults, since, path, real);
}

/// Checks where in the volume a file goes: it must say so, and stay inside.
pub(super) fn local_path(faults: &mut Faults, file: &str, path: &Path<'_>) {
    if file.is_empty() {
        faults.required(path, "");
    }
    faults.invalid_each(path, file, &names::local_path(file));
}

/// Checks permission bits.
fn mode(faults: &mut Faults, owner: View<'_>, field: &'static str, path: &Path<'_>) {
    if let Some(mode) = owner.opt_int(field).filter(|mode| !(0..=0o777).contains(mode)) {
        let detail = "must be a number between 0 and 0777 (octal), both inclusive";
        faults.invalid(&path.field(field), mode, detail);
    }
}

/// Checks the owner of a file.
pub(super) fn user(faults: &mut Faults, owner: View<'_>, field: &'static str, path: &Path<'_>) {
    let Some(id) = owner.opt_int(field) else { return };
    for detail in names::user_id(id) {
        faults.invalid(&path.field(field), id, detail);
    }
}
