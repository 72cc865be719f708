//! Volumes of every kind.
//!
//! Start with [`volumes`]; the rules of each kind stand in the module that its entry in `KINDS`
//! names. Whether mounts find their volume is not decided here, but with the containers.

mod certificates;
mod claims;
mod files;
mod legacy;
mod network;
mod plain;
mod projected;
mod signers;

use std::collections::HashMap;

use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

/// The volumes that mounts may refer to: those without a fault.
#[derive(Debug, Default)]
pub struct Volumes<'t> {
    by_name: HashMap<&'t str, View<'t>>,
}

impl<'t> Volumes<'t> {
    /// The volume with this name.
    pub fn named(&self, name: &str) -> Option<View<'t>> {
        self.by_name.get(name).copied()
    }
}

/// Checks `volumes` of the pod spec at `path`.
pub fn volumes<'t>(faults: &mut Faults, spec: View<'t>, path: &Path<'_>, rules: &Rules) -> Volumes<'t> {
    let mut valid = Volumes::default();
    let list = path.field("volumes");
    for (i, volume) in spec.structs("volumes").enumerate() {
        let before = faults.len();
        let here = list.index(i);
        source(faults, volume, &here, rules);
        name(faults, volume.str("name"), &here.field("name"), &valid);
        if faults.len() == before {
            valid.by_name.insert(volume.str("name"), volume);
        }
    }
    valid
}

/// Only a name that a volume without faults has taken counts as taken.
fn name(faults: &mut Faults, name: &str, path: &Path<'_>, valid: &Volumes<'_>) {
    if name.is_empty() {
        faults.required(path, "");
    } else {
        faults.invalid_each(path, name, &names::label(name));
    }
    if valid.named(name).is_some() {
        faults.duplicate(path, name);
    }
}

/// One kind of volume source.
struct Kind {
    /// Its field in the manifest.
    field: &'static str,
    /// What the server calls it when it comes as one too many.
    extra: &'static str,
    /// What the server calls it in the paths of faults within it.
    inner: &'static str,
    check: fn(&mut Faults, View<'_>, &Path<'_>, &Rules),
}

const fn kind(field: &'static str, check: fn(&mut Faults, View<'_>, &Path<'_>, &Rules)) -> Kind {
    Kind { field, extra: field, inner: field, check }
}

/// In the server's order, which decides which of several sources is the one that is checked.
const KINDS: &[Kind] = &[
    kind("emptyDir", plain::empty_dir),
    kind("hostPath", plain::host_path),
    kind("gitRepo", plain::git_repo),
    Kind { inner: "persistentDisk", ..kind("gcePersistentDisk", legacy::gce_persistent_disk) },
    kind("awsElasticBlockStore", legacy::aws_elastic_block_store),
    kind("secret", files::secret),
    kind("nfs", network::nfs),
    kind("iscsi", network::iscsi),
    kind("glusterfs", legacy::glusterfs),
    kind("flocker", legacy::flocker),
    kind("persistentVolumeClaim", claims::persistent_volume_claim),
    kind("rbd", legacy::rbd),
    kind("cinder", legacy::cinder),
    Kind { extra: "cephFS", ..kind("cephfs", legacy::cephfs) },
    kind("quobyte", network::quobyte),
    Kind { extra: "downwarAPI", ..kind("downwardAPI", files::downward_api) },
    kind("fc", network::fibre_channel),
    kind("flexVolume", legacy::flex_volume),
    kind("configMap", files::config_map),
    kind("azureFile", legacy::azure_file),
    kind("vsphereVolume", legacy::vsphere_volume),
    kind("photonPersistentDisk", legacy::photon_persistent_disk),
    kind("portworxVolume", legacy::portworx_volume),
    kind("azureDisk", legacy::azure_disk),
    kind("storageos", legacy::storage_os),
    kind("projected", projected::projected),
    kind("scaleIO", legacy::scale_io),
    kind("csi", plain::csi),
    kind("ephemeral", claims::ephemeral),
    kind("image", plain::image),
];

/// Checks the first source in full; each further one is a fault as a whole.
fn source(faults: &mut Faults, volume: View<'_>, path: &Path<'_>, rules: &Rules) {
    let mut found = false;
    for kind in KINDS {
        let Some(source) = volume.opt(kind.field) else { continue };
        let real = path.field(kind.field);
        if found {
            faults.forbidden(&path.field(kind.extra), "may not specify more than 1 volume type").at(&real);
        } else {
            found = true;
            let since = faults.len();
            let named = path.field(kind.inner);
            (kind.check)(faults, source, &named, rules);
            if kind.inner != kind.field {
                relocate(faults, since, &named, &real);
            }
        }
        if kind.field == "iscsi" {
            network::initiator_needs_short_name(faults, volume, source, path);
        }
    }
    if !found {
        faults.required(path, "must specify a volume type");
    }
}

/// Says that the faults found since then, which the server names under `named`, lie under `real`.
fn relocate(faults: &mut Faults, since: usize, named: &Path<'_>, real: &Path<'_>) {
    if since == faults.len() {
        return;
    }
    let (named, real) = (named.steps(), real.steps());
    for fault in &mut faults.list[since..] {
        if fault.place.starts_with(&named) {
            fault.place.splice(..named.len(), real.iter().cloned());
        }
    }
}

/// Reports `field` as required where its text is empty.
fn required(faults: &mut Faults, owner: View<'_>, field: &'static str, path: &Path<'_>) {
    if owner.str(field).is_empty() {
        faults.required(&path.field(field), "");
    }
}

#[cfg(test)]
mod tests;
