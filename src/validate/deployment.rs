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
        faults.required(&at, "");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::defaults;
    use crate::schema::table::Table;
    use crate::schema::value::Struct;
    use crate::schema::{decode, json};

    const VALUE_TEXT: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

    /// Runs `check` on a Deployment with this selector (and more of its spec) and the label `app: web`
    /// in its template.
    fn with_spec<T>(selector_and_more: &str, check: impl FnOnce(View<'_>) -> T) -> T {
        let text = format!(
            r#"{{"metadata":{{"name":"web","namespace":"default"}},"spec":{{"selector":{selector_and_more},"template":{{
                "metadata":{{"labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"app","image":"nginx:1.25"}}]}}}}}}}}"#
        );
        let node = json::read(text.as_bytes()).expect("the case is JSON");
        let decoded = decode::decode(&node, Table::newest().of("v1.Deployment"));
        let mut object: Struct<'_> = decoded.object.expect("the case is a Deployment");
        defaults::apply(&mut object);
        check(object.view())
    }

    fn texts(check: impl FnOnce(&mut Faults)) -> Vec<String> {
        let mut faults = Faults::default();
        check(&mut faults);
        faults.list.iter().map(|f| format!("{}: {}", f.field, f.message)).collect()
    }

    fn created(selector_and_more: &str) -> Vec<String> {
        with_spec(selector_and_more, |new| texts(|faults| create(faults, new, &Rules::default())))
    }

    fn updated(new: &str, old: &str) -> Vec<String> {
        with_spec(old, |old| {
            with_spec(new, |new| texts(|faults| update(faults, new, old, &Rules::default())))
        })
    }

    const MATCHING: &str = r#"{"matchLabels":{"app":"web"}}"#;
    const UNSELECTED: &str = "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`";

    #[test]
    fn a_selector_must_say_something_that_the_template_meets() {
        assert!(created(MATCHING).is_empty());
        assert_eq!(created("null"), ["spec.selector: Required value", UNSELECTED]);
        assert_eq!(created(r#"{"matchLabels":{"app":"api"}}"#), [UNSELECTED]);
        assert_eq!(
            created("{}"),
            ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"]
        );
    }

    #[test]
    fn a_bad_selector_hides_the_template() {
        assert_eq!(
            created(r#"{"matchLabels":{"app":"a b"}},"replicas":-1"#),
            [
                "spec.replicas: Invalid value: -1: must be greater than or equal to 0".to_owned(),
                format!("spec.selector.matchLabels: Invalid value: \"a b\": {VALUE_TEXT}"),
                "spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"a b\"}}: invalid label selector"
                    .to_owned(),
            ]
        );
        assert_eq!(
            created(r#"{"matchExpressions":[{"key":"app","operator":"Equals","values":["web"]}]}"#),
            [
                "spec.selector.matchExpressions[0].operator: Invalid value: \"Equals\": not a valid selector operator",
                "spec.selector: Invalid value: {\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"Equals\",\"values\":[\"web\"]}]}: invalid label selector",
            ]
        );
    }

    #[test]
    fn a_selector_is_kept_and_empty_lists_do_not_count() {
        assert!(updated(r#"{"matchLabels":{"app":"web"},"matchExpressions":[]}"#, MATCHING).is_empty());
        assert_eq!(
            updated(
                r#"{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app","operator":"Exists"}]}"#,
                MATCHING
            ),
            [
                "spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"Exists\"}]}: field is immutable"
            ]
        );
        assert_eq!(
            updated("null", MATCHING),
            [
                "spec.selector: Required value",
                UNSELECTED,
                "spec.selector: Invalid value: null: field is immutable"
            ]
        );
    }

    #[test]
    fn the_deadline_lies_beyond_min_ready() {
        let spec = |more: &str| created(&format!("{MATCHING},{more}"));
        assert!(spec(r#""minReadySeconds":599"#).is_empty());
        assert_eq!(
            spec(r#""minReadySeconds":600"#),
            ["spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"]
        );
    }
}
