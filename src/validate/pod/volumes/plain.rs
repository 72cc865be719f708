//! Volumes that come from the node, an image or a driver: `emptyDir`, `hostPath`, `gitRepo`, `image`,
//! `csi`.

use std::cmp::Ordering;

use super::required;
use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

/// In the server's order, that of their values.
const HOST_PATH_TYPES: &[&str] =
    &["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];

const PULL_POLICIES: &[&str] = &["Always", "IfNotPresent", "Never"];

pub(super) fn empty_dir(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    if source.quantity("sizeLimit").is_some_and(|size| size.sign() == Ordering::Less) {
        faults.forbidden(&path.field("sizeLimit"), "SizeLimit field must be a valid resource quantity");
    }
    if let Some(mode) = source.opt_int("mode").filter(|mode| !(0..=0o1777).contains(mode)) {
        let detail = "must be a number between 0 and 01777 (octal), both inclusive";
        faults.invalid(&path.field("mode"), mode, detail);
    }
}

pub(super) fn host_path(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    let target = source.str("path");
    if target.is_empty() {
        faults.required(&path.field("path"), "");
        return;
    }
    if names::has_backstep(target) {
        faults.invalid(&path.field("path"), target, "must not contain '..'");
    }
    if let Some(kind) = source.opt_str("type").filter(|kind| !HOST_PATH_TYPES.contains(kind)) {
        faults.not_supported(&path.field("type"), kind, HOST_PATH_TYPES);
    }
}

pub(super) fn git_repo(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    required(faults, source, "repository", path);
    let directory = source.str("directory");
    faults.invalid_each(&path.field("directory"), directory, &names::relative_path(directory));
}

/// A policy that is not given has been defaulted.
pub(super) fn image(faults: &mut Faults, source: View<'_>, path: &Path<'_>, rules: &Rules) {
    if !rules.exempt.image_reference {
        required(faults, source, "reference", path);
    }
    let policy = source.str("pullPolicy");
    if !PULL_POLICIES.contains(&policy) {
        faults.not_supported(&path.field("pullPolicy"), policy, PULL_POLICIES);
    }
}

pub(super) fn csi(faults: &mut Faults, source: View<'_>, path: &Path<'_>, _: &Rules) {
    csi_driver(faults, source.str("driver"), &path.field("driver"));
    let Some(secret) = source.opt("nodePublishSecretRef") else { return };
    let (name, reference) = (secret.str("name"), path.field("nodePublishSecretRef"));
    let real = reference.field("name");
    if name.is_empty() {
        faults.required(&real, "");
    }
    for detail in names::subdomain(name).iter().filter(|_| !name.is_empty()) {
        // The server names the volume source's own `name`, which does not exist.
        faults.invalid(&path.field("name"), name, detail).at(&real);
    }
}

fn csi_driver(faults: &mut Faults, driver: &str, path: &Path<'_>) {
    if driver.is_empty() {
        faults.required(path, "");
        return;
    }
    if driver.len() > 63 {
        faults.too_long(path, 63);
    }
    faults.invalid_each(path, driver, &names::subdomain(&names::lower(driver)));
}
