//! The Deployment itself: the order of everything, and the fields of `spec` outside the template.

use super::Rules;
use super::fault::Faults;
use crate::schema::value::View;

/// Checks a Deployment that is to be created.
pub fn create(_faults: &mut Faults, _new: View<'_>, _rules: &Rules) {}

/// Checks a Deployment that is to replace `old`. `rules.exempt` must come from `old`.
pub fn update(_faults: &mut Faults, _new: View<'_>, _old: View<'_>, _rules: &Rules) {}
