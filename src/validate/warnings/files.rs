//! Warnings about files of one volume that would overwrite each other, or need a directory where
//! another puts a file.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;

use super::{Warnings, quoted};
use crate::schema::value::View;
use crate::validate::path::Path;

/// Warns about every volume of the pod spec at `path`.
pub(super) fn overlapping(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    let list = path.field("volumes");
    for (i, volume) in spec.structs("volumes").enumerate() {
        let (here, name) = (list.index(i), volume.str("name"));
        if let Some(source) = volume.opt("configMap") {
            let kind = Source { kind: "ConfigMap", name: Some(source.str("name")) };
            let mut files = Files::new(name, kind);
            files.add_items(warnings, source, None, &here.field("configMap"));
        }
        if let Some(source) = volume.opt("secret") {
            let kind = Source { kind: "Secret", name: Some(source.str("secretName")) };
            let mut files = Files::new(name, kind);
            files.add_items(warnings, source, None, &here.field("secret"));
        }
        if let Some(source) = volume.opt("downwardAPI") {
            let mut files = Files::new(name, Source { kind: "DownwardAPI", name: None });
            files.add_items(warnings, source, None, &here.field("downwardAPI"));
        }
        if let Some(source) = volume.opt("projected") {
            projected(warnings, name, source, &here.field("projected"));
        }
    }
}

fn projected(warnings: &mut Warnings, name: &str, volume: View<'_>, path: &Path<'_>) {
    let mut files = Files::new(name, Source { kind: "Projected", name: None });
    let list = path.field("sources");
    for (i, source) in volume.structs("sources").enumerate() {
        projection(warnings, &mut files, source, &list.index(i));
    }
}

/// A source that has passed validation has one kind or none.
fn projection<'t>(warnings: &mut Warnings, files: &mut Files<'t>, source: View<'t>, path: &Path<'_>) {
    if let Some(keys) = source.opt("configMap") {
        let from = Source { kind: "ConfigMap", name: Some(keys.str("name")) };
        files.add_items(warnings, keys, Some(from), &path.field("configMap"));
    } else if let Some(keys) = source.opt("secret") {
        let from = Source { kind: "Secret", name: Some(keys.str("name")) };
        files.add_items(warnings, keys, Some(from), &path.field("secret"));
    } else if let Some(fields) = source.opt("downwardAPI") {
        let from = Source { kind: "DownwardAPI", name: None };
        files.add_items(warnings, fields, Some(from), &path.field("downwardAPI"));
    } else if let Some(token) = source.opt("serviceAccountToken") {
        let from = Source { kind: "ServiceAccountToken", name: None };
        files.add(warnings, token.str("path"), Some(from), &path.field("serviceAccountToken").field("path"));
    } else if let Some(bundle) = source.opt("clusterTrustBundle") {
        let name = bundle.opt_str("name").unwrap_or(bundle.str("signerName"));
        let from = Source { kind: "ClusterTrustBundle", name: Some(name) };
        files.add(warnings, bundle.str("path"), Some(from), &path.field("clusterTrustBundle").field("path"));
    } else if let Some(certificate) = source.opt("podCertificate") {
        let here = path.field("podCertificate");
        for (field, kind) in [
            ("certificateChainPath", "PodCertificate chain"),
            ("keyPath", "PodCertificate key"),
            ("credentialBundlePath", "PodCertificate credential bundle"),
        ] {
            let from = Source { kind, name: None };
            files.add(warnings, certificate.str(field), Some(from), &here.field(field));
        }
    } else {
        warnings.say(format!("volume {} (Projected) has no sources provided", quoted(files.volume)), path);
    }
}

/// What a file comes from: `ConfigMap "web"`.
#[derive(Clone, Copy)]
struct Source<'t> {
    kind: &'static str,
    name: Option<&'t str>,
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        self.name.map_or(Ok(()), |name| write!(f, " {}", quoted(name)))
    }
}

/// One file, and where it comes from if that is not the same for all of the volume.
struct File<'t> {
    path: &'t str,
    from: Option<Source<'t>>,
}

impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(self.path))?;
        self.from.map_or(Ok(()), |from| write!(f, " ({from})"))
    }
}

/// The files of one volume so far.
struct Files<'t> {
    volume: &'t str,
    kind: Source<'t>,
    list: Vec<File<'t>>,
    /// Positions in `list`. Ordered, so that what lies below a path stands together.
    by_path: BTreeMap<&'t str, Vec<usize>>,
}

impl<'t> Files<'t> {
    fn new(volume: &'t str, kind: Source<'t>) -> Self {
        Files { volume, kind, list: Vec::new(), by_path: BTreeMap::new() }
    }

    /// Adds the `items` of the source at `path`.
    fn add_items(
        &mut self,
        warnings: &mut Warnings,
        source: View<'t>,
        from: Option<Source<'t>>,
        path: &Path<'_>,
    ) {
        let items = path.field("items");
        for (i, item) in source.structs("items").enumerate() {
            let here = items.index(i);
            self.add(warnings, item.str("path"), from, &here.field("path"));
        }
    }

    /// Adds a file, given in the field at `place`, and warns where it meets one that is there.
    fn add(&mut self, warnings: &mut Warnings, path: &'t str, from: Option<Source<'t>>, place: &Path<'_>) {
        let file = File { path: path.trim_end_matches('/'), from };
        if file.path.is_empty() || warnings.is_full() {
            return;
        }
        for at in self.meeting(file.path) {
            let (volume, kind, other) = (quoted(self.volume), self.kind, &self.list[at]);
            let text = format!("volume {volume} ({kind}): overlapping paths: {file} with {other}");
            warnings.say(text, place);
        }
        self.by_path.entry(file.path).or_default().push(self.list.len());
        self.list.push(file);
    }

    /// The files at this path, at a directory that it needs, or below it; in the order added.
    fn meeting(&self, path: &str) -> Vec<usize> {
        let parents = path.match_indices('/').map(|(end, _)| &path[..end]);
        let above = parents.chain([path]).filter_map(|path| self.by_path.get(path));
        let directory = format!("{path}/");
        let from = (Bound::Included(directory.as_str()), Bound::Unbounded);
        let below = self.by_path.range::<str, _>(from).take_while(|(path, _)| path.starts_with(&directory));
        let mut found: Vec<usize> = above.chain(below.map(|(_, at)| at)).flatten().copied().collect();
        found.sort_unstable();
        found
    }
}
