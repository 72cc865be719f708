//! Label selectors and label maps, wherever they occur.

use super::fault::{Faults, Shown};
use super::path::Path;
use crate::kube_types::names;
use crate::kube_types::selector::{BadSelector, Selector};
use crate::schema::value::View;

/// `In` or `NotIn` without values; node affinity has the same rule.
pub const VALUES_REQUIRED: &str = "must be specified when `operator` is 'In' or 'NotIn'";
/// `Exists` or `DoesNotExist` with values; node affinity has the same rule.
pub const VALUES_FORBIDDEN: &str = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
/// An operator that is none; node affinity has the same rule.
pub const BAD_OPERATOR: &str = "not a valid selector operator";

/// Checks a label selector (`matchLabels`, `matchExpressions`) at `path`.
///
/// With `lax_values`, the values of expressions are not checked (an update may keep bad ones).
pub fn label_selector(faults: &mut Faults, selector: View<'_>, path: &Path<'_>, lax_values: bool) {
    labels(faults, selector.texts("matchLabels"), &path.field("matchLabels"));
    let list = path.field("matchExpressions");
    for (i, expression) in selector.structs("matchExpressions").enumerate() {
        requirement(faults, expression, &list.index(i), lax_values);
    }
}

fn requirement(faults: &mut Faults, expression: View<'_>, path: &Path<'_>, lax_values: bool) {
    let values = path.field("values");
    let any = expression.strings("values").len() > 0;
    match expression.str("operator") {
        "In" | "NotIn" if !any => {
            faults.required(&values, VALUES_REQUIRED);
        }
        "Exists" | "DoesNotExist" if any => {
            faults.forbidden(&values, VALUES_FORBIDDEN);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => {
            faults.invalid(&path.field("operator"), Shown::Named(other), BAD_OPERATOR);
        }
    }
    let key = expression.str("key");
    faults.invalid_each(&path.field("key"), key, &names::qualified_name(key));
    if !lax_values {
        for (i, value) in expression.strings("values").enumerate() {
            faults.invalid_each(&values.index(i), value, &names::label_value(value));
        }
    }
}

/// Checks the keys and values of a map of labels at `path`.
pub fn labels<'v>(faults: &mut Faults, entries: impl Iterator<Item = (&'v str, &'v str)>, path: &Path<'_>) {
    labels_at(faults, entries, Spot { named: path, real: path });
}

/// A map that messages name in another place than where it stands in the manifest.
#[derive(Debug, Clone, Copy)]
pub struct Spot<'p> {
    /// The path in messages.
    pub named: &'p Path<'p>,
    /// The path in the manifest.
    pub real: &'p Path<'p>,
}

/// As [`labels`], for a map that messages name in another place.
pub fn labels_at<'v>(faults: &mut Faults, entries: impl Iterator<Item = (&'v str, &'v str)>, spot: Spot<'_>) {
    for (key, value) in entries {
        for message in names::qualified_name(key) {
            faults.invalid(spot.named, key, message).at_key(&spot.real.key(key));
        }
        for message in names::label_value(value) {
            faults.invalid(spot.named, value, message).at(&spot.real.key(key));
        }
    }
}

/// Makes a label selector ready to match.
///
/// # Errors
/// [`BadSelector`] when [`label_selector`] finds a fault in it.
pub fn compile(selector: View<'_>) -> Result<Selector<'_>, BadSelector> {
    let mut out = Selector::default();
    for (key, value) in selector.texts("matchLabels") {
        out.add_label(key, value)?;
    }
    for e in selector.structs("matchExpressions") {
        out.add_expression(e.str("key"), e.str("operator"), e.strings("values"))?;
    }
    Ok(out)
}
