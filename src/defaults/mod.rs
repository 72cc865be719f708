//! What the API server fills in where a Deployment says nothing. Pure.
//!
//! Start with [`apply`]; it is idempotent. [`gates`] then removes what the server does not keep.
//! House defaults (a site's own wishes) are not made here.
//!
//! Source: kubernetes v1.37.2 `pkg/apis/{apps,core}/v1/defaults.go`. Parity: exact.

pub mod gates;
mod image;
mod pod;

use std::borrow::Cow;

use crate::schema::value::{Struct, Value};

/// Fills in every default of a decoded Deployment.
pub fn apply(deployment: &mut Struct<'_>) {
    let spec = deployment.struct_or_new("spec");
    int(spec, "replicas", 1);
    strategy(spec.struct_or_new("strategy"));
    int(spec, "revisionHistoryLimit", 10);
    int(spec, "progressDeadlineSeconds", 600);
    pod::apply(spec.struct_or_new("template").struct_or_new("spec"));
}

fn strategy(strategy: &mut Struct<'_>) {
    text(strategy, "type", "RollingUpdate");
    if strategy.view().str("type") == "RollingUpdate" {
        let rolling = strategy.struct_or_new("rollingUpdate");
        pointer(rolling, "maxUnavailable", Value::Str(Cow::Borrowed("25%")));
        pointer(rolling, "maxSurge", Value::Str(Cow::Borrowed("25%")));
    }
}

/// Sets text where there is none, or the empty one.
fn text(s: &mut Struct<'_>, field: &'static str, value: &'static str) {
    if s.view().str(field).is_empty() {
        s.set(field, Value::Str(Cow::Borrowed(value)));
    }
}

/// Sets a pointer field where it is nil.
fn pointer<'a>(s: &mut Struct<'a>, field: &'static str, value: Value<'a>) {
    if !s.view().has(field) {
        s.set(field, value);
    }
}

/// Sets a pointer to an integer where it is nil.
fn int(s: &mut Struct<'_>, field: &'static str, value: i64) {
    pointer(s, field, Value::Int(value));
}

/// Sets a plain integer where it is zero.
fn non_zero(s: &mut Struct<'_>, field: &'static str, value: i64) {
    if s.view().int(field) == 0 {
        s.set(field, Value::Int(value));
    }
}
