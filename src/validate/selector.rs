//! Label selectors, wherever they occur.

use super::fault::Faults;
use super::path::Path;
use crate::schema::value::View;

/// Checks a label selector (`matchLabels`, `matchExpressions`) at `path`.
///
/// With `lax_values`, the values of expressions are not checked (an update may keep bad ones).
pub fn label_selector(_faults: &mut Faults, _selector: View<'_>, _path: &Path<'_>, _lax_values: bool) {}
