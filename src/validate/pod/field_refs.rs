//! `fieldRef` and `resourceFieldRef`, as environment variables and downward API volumes use them.

use crate::schema::value::View;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

/// Who refers to the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// An environment variable.
    Env,
    /// A downward API volume.
    Volume,
}

/// Checks a `fieldRef` at `path`.
pub fn field_ref(_faults: &mut Faults, _field_ref: View<'_>, _path: &Path<'_>, _used_by: Use) {}

/// Checks a `resourceFieldRef` at `path`.
pub fn resource_field_ref(_faults: &mut Faults, _field_ref: View<'_>, _path: &Path<'_>, _used_by: Use) {}
