//! `projected` volumes: files from several sources in one directory.

use std::collections::HashSet;

use super::{certificates, files};
use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

pub(super) fn projected(faults: &mut Faults, volume: View<'_>, path: &Path<'_>, rules: &Rules) {
    files::defaults(faults, volume, path);
    let sources = path.field("sources");
    let mut taken = Taken { volume: path, paths: HashSet::new() };
    for (i, source) in volume.structs("sources").enumerate() {
        let here = sources.index(i);
        let kinds = one_source(faults, source, &here, &mut taken, rules);
        if kinds > 1 {
            faults.forbidden(&here, "may not specify more than 1 volume type per source");
        }
    }
}

/// Checks every kind that the source has, and counts them. None at all is only warned about.
fn one_source<'t>(
    faults: &mut Faults,
    source: View<'t>,
    path: &Path<'_>,
    taken: &mut Taken<'_, 't>,
    rules: &Rules,
) -> usize {
    let mut kinds = 0;
    for field in ["secret", "configMap"] {
        if let Some(keys) = source.opt(field) {
            kinds += 1;
            keyed_files(faults, keys, &path.field(field), taken);
        }
    }
    if let Some(downward) = source.opt("downwardAPI") {
        kinds += 1;
        downward_files(faults, downward, &path.field("downwardAPI"), taken);
    }
    if let Some(token) = source.opt("serviceAccountToken") {
        kinds += 1;
        token_file(faults, token, &path.field("serviceAccountToken"), taken.volume, rules);
    }
    if let Some(bundle) = source.opt("clusterTrustBundle") {
        kinds += 1;
        certificates::cluster_trust_bundle(faults, bundle, &path.field("clusterTrustBundle"), taken);
    }
    if let Some(certificate) = source.opt("podCertificate") {
        kinds += 1;
        certificates::pod_certificate(faults, certificate, &path.field("podCertificate"), taken);
    }
    kinds
}

/// The paths that sources of one volume have claimed so far.
pub(super) struct Taken<'p, 't> {
    /// The path of the volume source, which the server names when two files collide.
    volume: &'p Path<'p>,
    paths: HashSet<&'t str>,
}

impl<'t> Taken<'_, 't> {
    /// Claims `file` for the field at `real`. When it is claimed already, the fault shows `shown`.
    pub(super) fn claim(&mut self, faults: &mut Faults, file: &'t str, shown: &str, real: &Path<'_>) {
        if !self.paths.insert(file) {
            faults.invalid(self.volume, shown, "conflicting duplicate paths").at(real);
        }
    }
}

fn keyed_files<'t>(faults: &mut Faults, source: View<'t>, path: &Path<'_>, taken: &mut Taken<'_, 't>) {
    super::required(faults, source, "name", path);
    let items = path.field("items");
    for (i, item) in source.structs("items").enumerate() {
        let here = items.index(i);
        files::keyed_file(faults, item, &here);
        let file = item.str("path");
        if !file.is_empty() {
            taken.claim(faults, file, source.str("name"), &here.field("path"));
        }
    }
}

fn downward_files<'t>(faults: &mut Faults, source: View<'t>, path: &Path<'_>, taken: &mut Taken<'_, 't>) {
    let items = path.field("items");
    for (i, item) in source.structs("items").enumerate() {
        let here = items.index(i);
        files::downward_file(faults, item, path, &here);
        let file = item.str("path");
        if !file.is_empty() {
            taken.claim(faults, file, file, &here.field("path"));
        }
    }
}

/// A token's path does not count as claimed. The lifetime has been defaulted where it is not given.
fn token_file(faults: &mut Faults, token: View<'_>, path: &Path<'_>, volume: &Path<'_>, rules: &Rules) {
    let lifetime = path.field("expirationSeconds");
    match token.opt_int("expirationSeconds") {
        None => {
            faults.required(&lifetime, "");
        }
        Some(secs) if secs < 600 => {
            faults.invalid(&lifetime, secs, "may not specify a duration less than 10 minutes");
        }
        Some(secs) if secs > 1 << 32 => {
            faults.invalid(&lifetime, secs, "may not specify a duration larger than 2^32 seconds");
        }
        Some(_) => {}
    }
    // The server names a `path` of the volume source, which does not exist.
    let (named, real, file) = (volume.field("path"), path.field("path"), token.str("path"));
    if file.is_empty() {
        faults.required(&named, "").at(&real);
    } else if !rules.exempt.token_paths {
        for detail in names::local_path(file) {
            faults.invalid(&named, file, detail).at(&real);
        }
    }
    files::user(faults, token, "user", path);
}
