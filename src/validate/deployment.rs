//! The Deployment itself: the order of everything, and the fields of `spec` outside the template.
//!
//! Source: kubernetes v1.37.2 `pkg/apis/apps/validation`. Parity: exact.

use super::fault::{Faults, Shown};
use super::path::Path;
use super::{Rules, metadata, pod, selector, strategy};
use crate::kube_types::names::NON_NEGATIVE;
use crate::schema::print;
use crate::schema::value::View;

/// Checks a Deployment that is to be created.
pub fn create(faults: &mut Faults, new: View<'_>, rules: &Rules) {
    metadata::create(faults, new.nested("metadata"), &Path::root("metadata"));
    spec(faults, new.nested("spec"), rules);
    rollback(faults, new);
}

/// Checks a Deployment that is to replace `old`. `rules.exempt` must come from `old`.
pub fn update(faults: &mut Faults, new: View<'_>, old: View<'_>, rules: &Rules) {
    metadata::update(faults, new.nested("metadata"), old.nested("metadata"), &Path::root("metadata"));
    let (new_spec, old_spec) = (new.nested("spec"), old.nested("spec"));
    spec(faults, new_spec, rules);
    rollback(faults, new);
    selector_is_kept(faults, new_spec, old_spec);
    pod::eviction::responders(faults, pod_spec(new_spec), pod_spec(old_spec));
}

fn pod_spec(spec: View<'_>) -> View<'_> {
    spec.nested("template").nested("spec")
}

fn spec(faults: &mut Faults, spec: View<'_>, rules: &Rules) {
    let path = Path::root("spec");
    non_negative(faults, spec, "replicas", &path);
    selector_and_template(faults, spec, &path, rules);
    strategy::strategy(faults, spec.nested("strategy"), &path.field("strategy"));
    non_negative(faults, spec, "minReadySeconds", &path);
    non_negative(faults, spec, "revisionHistoryLimit", &path);
    non_negative(faults, spec, "progressDeadlineSeconds", &path);
    if let Some(deadline) = spec.opt_int("progressDeadlineSeconds")
        && deadline <= spec.int("minReadySeconds")
    {
        let at = path.field("progressDeadlineSeconds");
        faults.invalid(&at, deadline, "must be greater than minReadySeconds");
    }
}

/// Checks that the integer in a field, if set, is not negative.
pub(super) fn non_negative(faults: &mut Faults, owner: View<'_>, field: &'static str, path: &Path<'_>) {
    if let Some(value) = owner.opt_int(field)
        && value < 0
    {
        faults.invalid(&path.field(field), value, NON_NEGATIVE);
    }
}

/// The template is only looked at when the selector can be used.
fn selector_and_template(faults: &mut Faults, spec: View<'_>, path: &Path<'_>, rules: &Rules) {
    let at = path.field("selector");
    let template = spec.nested("template");
    let Some(given) = spec.opt("selector") else {
        faults.required(&at, "").at(path);
        template_is_unselected(faults, template, path);
        return pod::template::template(faults, template, &path.field("template"), rules);
    };
    selector::label_selector(faults, given, &at, false);
    let shown = || Shown::Json(print::api_json(given).into());
    let Ok(compiled) = selector::compile(given) else {
        faults.invalid(&at, shown(), "invalid label selector");
        return;
    };
    if compiled.is_empty() {
        faults.invalid(&at, shown(), "empty selector is invalid for deployment");
    }
    let labels = template.nested("metadata");
    if !compiled.matches(|key| labels.text("labels", key)) {
        template_is_unselected(faults, template, path);
    }
    pod::template::template(faults, template, &path.field("template"), rules);
}

fn template_is_unselected(faults: &mut Faults, template: View<'_>, path: &Path<'_>) {
    let labels = print::value_json(template.nested("metadata").get("labels"));
    let (template, metadata) = (path.field("template"), "metadata");
    let at = template.field(metadata);
    let detail = "`selector` does not match template `labels`";
    faults.invalid(&at.field("labels"), Shown::Json(labels.into()), detail);
}

/// The rollback that the annotation asks for; the server holds it as a field of the spec.
fn rollback(faults: &mut Faults, new: View<'_>) {
    let revision = new.nested("metadata").text("annotations", metadata::ROLLBACK_ANNOTATION);
    // One that is no number has been refused while decoding.
    let Some(Ok(revision)) = revision.map(str::parse::<i64>) else { return };
    if revision < 0 {
        let (spec, meta) = (Path::root("spec"), Path::root("metadata"));
        let (rollback, annotations) = (spec.field("rollback"), meta.field("annotations"));
        faults
            .invalid(&rollback.field("version"), revision, NON_NEGATIVE)
            .at(&annotations.key(metadata::ROLLBACK_ANNOTATION));
    }
}

/// Two selectors are the same when they print the same: empty lists and maps count as unset.
fn selector_is_kept(faults: &mut Faults, new: View<'_>, old: View<'_>) {
    let json = |spec: View<'_>| spec.opt("selector").map(print::api_json);
    let (new, old) = (json(new), json(old));
    if new != old {
        let shown = Shown::Json(new.unwrap_or_else(|| "null".to_owned()).into());
        faults.invalid(&Path::root("spec").field("selector"), shown, "field is immutable");
    }
}
