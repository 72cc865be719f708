//! Resource claims: those of the pod, and what containers take of them.

use std::collections::{BTreeSet, HashSet};

use crate::kube_types::names;
use crate::schema::print::internal_json;
use crate::schema::value::View;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

/// Checks `resourceClaims` of the pod spec at `path`.
pub fn resource_claims(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let list = path.field("resourceClaims");
    let mut seen = HashSet::new();
    for (i, claim) in spec.structs("resourceClaims").enumerate() {
        let (path, name) = (&list.index(i), claim.str("name"));
        if name.is_empty() {
            faults.required(&path.field("name"), "");
        } else if !seen.insert(name) {
            faults.duplicate(&path.field("name"), name);
        } else {
            faults.invalid_each(&path.field("name"), name, &names::label(name));
        }
        source(faults, claim, path);
    }
}

/// A claim names either an existing object or a template for one.
fn source(faults: &mut Faults, claim: View<'_>, path: &Path<'_>) {
    let detail = match (claim.has("resourceClaimName"), claim.has("resourceClaimTemplateName")) {
        (true, true) => "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
        (false, false) => "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
        _ => "",
    };
    if !detail.is_empty() {
        faults.invalid(path, Shown::Json(internal_json(claim).into()), detail);
    }
    for field in ["resourceClaimName", "resourceClaimTemplateName"] {
        if let Some(name) = claim.opt_str(field) {
            faults.invalid_each(&path.field(field), name, &names::subdomain(name));
        }
    }
}

/// Checks `claims` of one set of resources, at `path`, against the claims of the pod.
pub(super) fn references(faults: &mut Faults, resources: View<'_>, path: &Path<'_>, spec: View<'_>) {
    let mut taken = HashSet::new();
    for (i, claim) in resources.structs("claims").enumerate() {
        let (path, name) = (&path.index(i), claim.str("name"));
        if name.is_empty() {
            faults.required(path, "").at(&path.field("name"));
            continue;
        }
        overlap(faults, &mut taken, (name, claim.str("request")), path);
        if spec.structs("resourceClaims").all(|known| known.str("name") != name) {
            faults.not_found(path, name, &one_of_the_pods(spec)).at(&path.field("name"));
        }
    }
}

/// Checks a request of a claim (all of it when empty) against those taken before.
fn overlap<'t>(
    faults: &mut Faults,
    taken: &mut HashSet<(&'t str, &'t str)>,
    (name, request): (&'t str, &'t str),
    path: &Path<'_>,
) {
    if taken.contains(&(name, "")) {
        faults.duplicate(path, name);
        return;
    }
    if !request.is_empty() {
        faults.invalid_each(&path.field("request"), request, &names::label(request));
        if taken.contains(&(name, request)) {
            faults.duplicate(path, format!("{name}/{request}").as_str());
        }
    } else if taken.iter().any(|(other, _)| *other == name) {
        faults.duplicate(path, name);
    }
    taken.insert((name, request));
}

fn one_of_the_pods(spec: View<'_>) -> String {
    let names: BTreeSet<_> = spec
        .structs("resourceClaims")
        .map(|claim| claim.str("name"))
        .filter(|name| !name.is_empty())
        .collect();
    let mut detail = String::from("must be one of the names in pod.spec.resourceClaims");
    if names.is_empty() {
        detail.push_str(" which is empty");
    } else {
        detail.push_str(": ");
        detail.push_str(&names.into_iter().collect::<Vec<_>>().join(", "));
    }
    detail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    #[test]
    fn a_claim_and_its_requests_overlap() {
        let spec = r#"{
            "resourceClaims": [{"name": "b"}, {"name": "a"}],
            "resources": {"claims": [
                {"name": "a", "request": "r"}, {"name": "a", "request": "r"}, {"name": "a"},
                {"name": "a", "request": "R"}, {"name": "z"}, {"name": "z"}, {"name": ""}]}}"#;
        let found = found("v1.PodSpec", spec, |faults, spec, path| {
            references(faults, spec.nested("resources"), path, spec);
        });
        let unknown = r#"Not found: "z": must be one of the names in pod.spec.resourceClaims: a, b"#;
        assert_eq!(
            found,
            [
                r#"C[1]: Duplicate value: "a/r""#.to_owned(),
                r#"C[2]: Duplicate value: "a""#.to_owned(),
                r#"C[3]: Duplicate value: "a""#.to_owned(),
                format!("C[4]: {unknown} @ C[4].name"),
                r#"C[5]: Duplicate value: "z""#.to_owned(),
                format!("C[5]: {unknown} @ C[5].name"),
                "C[6]: Required value @ C[6].name".to_owned(),
            ]
        );
    }
}
