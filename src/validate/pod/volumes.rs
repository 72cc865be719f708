//! Volumes of every kind.

use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

/// The volumes that mounts may refer to: those without a fault.
#[derive(Debug, Default)]
pub struct Volumes<'t> {
    /// Each with its name, in the order given.
    pub valid: Vec<(&'t str, View<'t>)>,
}

impl<'t> Volumes<'t> {
    /// The volume with this name.
    pub fn named(&self, name: &str) -> Option<View<'t>> {
        self.valid.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)
    }
}

/// Checks `volumes` of the pod spec at `path`.
pub fn volumes<'t>(_faults: &mut Faults, _spec: View<'t>, _path: &Path<'_>, _rules: &Rules) -> Volumes<'t> {
    Volumes::default()
}
