//! Names of certificate signers (`example.com/name`) and of the trust bundles that belong to them
//! (`example.com:name:rest`).
//!
//! Source: kubernetes v1.37.2 `pkg/apis/core/validation/names.go`. Parity: exact.

use std::borrow::Cow;

use crate::kube_types::names::{self, Messages};
use crate::schema::print::quoted;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

const DOMAIN_MAX_BYTES: usize = 253;
/// A domain, `/`, a label, `.` and a domain.
const SIGNER_MAX_BYTES: usize = DOMAIN_MAX_BYTES + 1 + 63 + 1 + DOMAIN_MAX_BYTES;

/// Whether the signer is one of Kubernetes' own.
pub(super) fn of_kubernetes(signer: &str) -> bool {
    let domain = signer.split('/').next().unwrap_or(signer);
    domain == "kubernetes.io" || domain.ends_with(".kubernetes.io")
}

/// Checks the name of a signer: a domain, a slash, and a name within that domain.
pub(super) fn signer_name(faults: &mut Faults, signer: &str, path: &Path<'_>) {
    if signer.is_empty() {
        faults.required(path, "");
        return;
    }
    let (domain, name) = match signer.split_once('/') {
        Some((domain, name)) if !name.contains('/') => (domain, name),
        _ => {
            let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
            faults.invalid(path, signer, detail);
            return;
        }
    };
    if domain.len() > DOMAIN_MAX_BYTES {
        faults.too_long(path, DOMAIN_MAX_BYTES);
    }
    pieces(faults, domain, path, names::label);
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        faults.invalid(path, domain, detail);
    }
    pieces(faults, name, path, names::subdomain);
    if signer.len() > SIGNER_MAX_BYTES {
        faults.too_long(path, SIGNER_MAX_BYTES);
    }
}

/// Reports the first bad piece between the dots of `part`.
fn pieces(faults: &mut Faults, part: &str, path: &Path<'_>, check: fn(&str) -> Messages) {
    let bad = part.split('.').map(|piece| (piece, check(piece))).find(|(_, details)| !details.is_empty());
    let Some((piece, details)) = bad else { return };
    let piece = quoted(piece);
    for detail in details {
        faults.invalid(path, part, format_args!("validating label {piece}: {detail}"));
    }
}

/// What is wrong with the name of a trust bundle. One that belongs to a signer begins with the
/// signer's name, `:` for `/`, and a further `:`.
pub(super) fn bundle_name(name: &str) -> Messages {
    let Some((signer, rest)) = name.rsplit_once(':') else {
        return names::subdomain(name);
    };
    if signer.is_empty() {
        return vec![r#"ClusterTrustBundle without signer name must not have ":" in its name"#.into()];
    }
    if signer.contains('/') {
        let (signer, prefix) = (signer.replace(':', "/"), signer.replace('/', ":"));
        let text = format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}:");
        return vec![Cow::Owned(text)];
    }
    names::subdomain(rest)
}
