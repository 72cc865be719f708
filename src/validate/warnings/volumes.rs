//! Warnings about volumes: plugins that are gone or going, claims for part of a byte.

use super::{Warnings, pod};
use crate::schema::value::View;
use crate::validate::path::Path;

/// What has become of a volume plugin.
struct Plugin {
    /// Its field in the manifest.
    field: &'static str,
    /// What the warning calls it.
    named: &'static str,
    detail: &'static str,
}

const fn plugin(field: &'static str, detail: &'static str) -> Plugin {
    Plugin { field, named: field, detail }
}

/// Which comes first does not matter: a volume that has passed validation has one source.
const PLUGINS: &[Plugin] = &[
    plugin("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    plugin("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    plugin("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    plugin("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    Plugin { named: "storageOS", ..plugin("storageos", "deprecated in v1.22, non-functional in v1.25+") },
    plugin("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    plugin("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    plugin("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    plugin("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// Warns about the volumes of the pod spec at `path`.
pub(super) fn volumes(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    let list = path.field("volumes");
    for (i, volume) in spec.structs("volumes").enumerate() {
        let here = list.index(i);
        for plugin in PLUGINS.iter().filter(|plugin| volume.has(plugin.field)) {
            let text = format!("{}: {}", here.field(plugin.named), plugin.detail);
            warnings.say(text, &here.field(plugin.field));
        }
        if let Some(template) = volume.opt("ephemeral").and_then(|e| e.opt("volumeClaimTemplate")) {
            let here = here.field("ephemeral");
            let here = here.field("volumeClaimTemplate");
            claim(warnings, template.nested("spec"), &here.field("spec"));
        }
    }
}

fn claim(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    let (resources, here) = (spec.nested("resources"), path.field("resources"));
    for field in ["requests", "limits"] {
        pod::fractional(warnings, resources, field, "storage", &here);
    }
}
