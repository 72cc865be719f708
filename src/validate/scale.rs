//! The `autoscaling/v1` Scale that a request to `/scale` carries.

use super::fault::Faults;
use super::metadata;
use super::path::Path;
use crate::kube_types::names::NON_NEGATIVE;
use crate::schema::value::View;

/// Checks a Scale: its `metadata` (a `v1.ObjectMeta`) and its `spec.replicas`.
///
/// The faults belong into a refusal of kind `Scale.autoscaling`, and with any the server stops.
/// Otherwise it goes on with the update of the Deployment that the new number makes.
pub fn update(faults: &mut Faults, metadata: View<'_>, replicas: i64) {
    metadata::managed_fields(faults, metadata, &Path::root("metadata"));
    if replicas < 0 {
        faults.invalid(&Path::root("spec").field("replicas"), replicas, NON_NEGATIVE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    #[test]
    fn only_the_number_and_the_managed_fields_count() {
        let metadata = r#"{"name":"No name","labels":{"a b":"c d"},"managedFields":[{}]}"#;
        assert_eq!(
            found("v1.ObjectMeta", metadata, |faults, metadata, _| update(faults, metadata, -1)),
            [
                "metadata.managedFields[0].operation: Required value: must not be empty",
                "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            ]
        );
    }
}
