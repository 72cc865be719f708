//! Certificates in projected volumes: `clusterTrustBundle` and `podCertificate`.

use super::files;
use super::projected::Taken;
use super::signers;
use crate::kube_types::names;
use crate::schema::print::{api_json, internal_json};
use crate::schema::value::View;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;
use crate::validate::selector::label_selector;

const KEY_TYPES: &[&str] = &["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];

const MIN_LIFETIME_SECS: i64 = 3600;
/// 91 days.
const MAX_LIFETIME_SECS: i64 = 7_862_400;
/// One day, for signers of Kubernetes itself.
const KUBERNETES_MAX_LIFETIME_SECS: i64 = 86_400;

/// The size of all annotations of one object together.
const ANNOTATIONS_MAX_BYTES: usize = 262_144;

pub(super) fn cluster_trust_bundle<'t>(
    faults: &mut Faults,
    bundle: View<'t>,
    path: &Path<'_>,
    taken: &mut Taken<'_, 't>,
) {
    match (bundle.opt_str("name"), bundle.opt_str("signerName")) {
        (Some(_), Some(_)) => {
            let shown = Shown::Json(internal_json(bundle).into());
            faults.invalid(path, shown, "only one of name and signerName may be used");
        }
        (Some(name), None) => named_bundle(faults, name, bundle, path),
        (None, Some(signer)) => signed_bundles(faults, signer, bundle, path),
        (None, None) => {
            faults.required(path, "either name or signerName must be specified");
        }
    }
    let (file, real) = (bundle.str("path"), path.field("path"));
    if file.is_empty() {
        faults.required(&real, "");
    }
    files::user(faults, bundle, "user", path);
    faults.invalid_each(&real, file, &names::local_path(file));
    // An empty path counts as claimed, unlike in the other sources.
    taken.claim(faults, file, file, &real);
}

fn named_bundle(faults: &mut Faults, name: &str, bundle: View<'_>, path: &Path<'_>) {
    let here = path.field("name");
    if name.is_empty() {
        faults.required(&here, "must be a valid object name");
    }
    for detail in signers::bundle_name(name) {
        faults.invalid(&here, name, format_args!("not a valid clustertrustbundlename: {detail}"));
    }
    if let Some(selector) = bundle.opt("labelSelector") {
        let shown = Shown::Json(api_json(selector).into());
        let detail = "labelSelector must be unset if name is specified";
        faults.invalid(&path.field("labelSelector"), shown, detail);
    }
}

fn signed_bundles(faults: &mut Faults, signer: &str, bundle: View<'_>, path: &Path<'_>) {
    let here = path.field("signerName");
    if signer.is_empty() {
        faults.required(&here, "must be a valid signer name");
    }
    signers::signer_name(faults, signer, &here);
    if let Some(selector) = bundle.opt("labelSelector") {
        label_selector(faults, selector, &path.field("labelSelector"), false);
    }
}

pub(super) fn pod_certificate<'t>(
    faults: &mut Faults,
    certificate: View<'t>,
    path: &Path<'_>,
    taken: &mut Taken<'_, 't>,
) {
    let signer = certificate.str("signerName");
    signers::signer_name(faults, signer, &path.field("signerName"));
    user_annotations(faults, certificate, &path.field("userAnnotations"));
    files::user(faults, certificate, "user", path);
    let key_type = certificate.str("keyType");
    if !KEY_TYPES.contains(&key_type) {
        faults.not_supported_shown(&path.field("keyType"), Shown::Text(key_type), KEY_TYPES);
    }
    if let Some(secs) = certificate.opt_int("maxExpirationSeconds") {
        lifetime(faults, secs, &path.field("maxExpirationSeconds"), signer);
    }
    certificate_files(faults, certificate, path, taken);
}

/// Checks keys that the signer is told; upper case is folded first.
fn user_annotations(faults: &mut Faults, certificate: View<'_>, path: &Path<'_>) {
    let mut bytes = 0;
    for (key, value) in certificate.texts("userAnnotations") {
        bytes += key.len() + value.len();
        let (real, key) = (path.key(key), names::lower(key));
        if key.is_empty() {
            faults.required(path, "").at_key(&real);
            continue;
        }
        let details = names::qualified_name(&key);
        for detail in &details {
            faults.invalid(path, &*key, detail).at_key(&real);
        }
        if details.is_empty() && !key.contains('/') {
            let detail = r#"must be a domain-prefixed key (such as "acme.io/foo")"#;
            faults.invalid(path, &*key, detail).at_key(&real);
        }
    }
    if bytes > ANNOTATIONS_MAX_BYTES {
        faults.too_long(path, ANNOTATIONS_MAX_BYTES);
    }
}

fn lifetime(faults: &mut Faults, secs: i64, path: &Path<'_>, signer: &str) {
    let max = if signers::of_kubernetes(signer) { KUBERNETES_MAX_LIFETIME_SECS } else { MAX_LIFETIME_SECS };
    if secs < MIN_LIFETIME_SECS {
        let detail = format_args!("if provided, maxExpirationSeconds must be >= {MIN_LIFETIME_SECS}");
        faults.invalid(path, secs, detail);
    }
    if secs > max {
        faults.invalid(path, secs, format_args!("if provided, maxExpirationSeconds must be <= {max}"));
    }
}

fn certificate_files<'t>(
    faults: &mut Faults,
    certificate: View<'t>,
    path: &Path<'_>,
    taken: &mut Taken<'_, 't>,
) {
    let mut any = false;
    for field in ["credentialBundlePath", "keyPath", "certificateChainPath"] {
        let (file, here) = (certificate.str(field), path.field(field));
        if !file.is_empty() {
            any = true;
            faults.invalid_each(&here, file, &names::local_path(file));
            taken.claim(faults, file, file, &here);
        }
    }
    if !any {
        let detail = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
        faults.required(path, detail);
    }
}
