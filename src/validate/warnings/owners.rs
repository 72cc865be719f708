//! Owners that are listed more than once.

use std::collections::HashMap;

use crate::schema::equality::same;
use crate::schema::value::{Struct, Value};
use crate::validate::path::Path;
use crate::verdict::Warning;

/// Drops each owner reference that repeats an earlier one in full, and warns where there are any.
///
/// The server does this before it looks at anything else, mutating webhooks included.
///
/// Source: kubernetes v1.37.2 `apiserver/pkg/endpoints/handlers/rest.go`, `dedupOwnerReferences`.
/// Parity: exact.
pub fn drop_repeated_owners(deployment: &mut Struct<'_>) -> Option<Warning> {
    let metadata = deployment.struct_mut("metadata")?;
    let Some(Value::List(owners)) = metadata.get_mut("ownerReferences") else { return None };
    let repeated = repeated(owners);
    let first = repeated.first().copied()?;
    let uids: Vec<_> = repeated.iter().map(|at| uid(&owners[*at])).collect();
    let uids = uids.join(", ");
    let mut at = 0..owners.len();
    owners.retain(|_| at.next().is_none_or(|at| repeated.binary_search(&at).is_err()));
    let text = format!(
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {uids}"
    );
    let path = Path::root("metadata");
    let path = path.field("ownerReferences");
    Some(Warning { text, place: path.index(first).steps() })
}

/// The positions of references that equal an earlier one, in order.
fn repeated(owners: &[Value<'_>]) -> Vec<usize> {
    let mut by_uid: HashMap<&str, Vec<&Struct<'_>>> = HashMap::new();
    let mut found = Vec::new();
    for (at, owner) in owners.iter().enumerate() {
        let Value::Struct(reference) = owner else { continue };
        let kept = by_uid.entry(uid(owner)).or_default();
        if kept.iter().any(|other| same(other.view(), reference.view())) {
            found.push(at);
        } else {
            kept.push(reference);
        }
    }
    found
}

fn uid<'v>(owner: &'v Value<'_>) -> &'v str {
    match owner {
        Value::Struct(reference) => reference.view().str("uid"),
        _ => "",
    }
}
