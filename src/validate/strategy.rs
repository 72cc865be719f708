//! `spec.strategy`.

use super::fault::{Faults, Shown};
use super::path::Path;
use crate::kube_types::names::NON_NEGATIVE;
use crate::schema::print;
use crate::schema::value::{Value, View};

const BAD_PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/// Checks the strategy at `path`.
pub fn strategy(faults: &mut Faults, strategy: View<'_>, path: &Path<'_>) {
    let rolling_path = path.field("rollingUpdate");
    let rolling = strategy.opt("rollingUpdate");
    match (strategy.str("type"), rolling) {
        ("Recreate", None) => {}
        ("Recreate", Some(_)) => {
            let detail = "may not be specified when strategy `type` is 'Recreate'";
            faults.forbidden(&rolling_path, detail);
        }
        ("RollingUpdate", Some(rolling)) => rolling_update(faults, rolling, &rolling_path),
        ("RollingUpdate", None) => {
            faults.required(&rolling_path, "this should be defaulted and never be nil");
        }
        _ => {
            let shown = Shown::Json(print::internal_json(strategy).into());
            faults.not_supported_shown(path, shown, &["Recreate", "RollingUpdate"]).at(&path.field("type"));
        }
    }
}

fn rolling_update(faults: &mut Faults, rolling: View<'_>, path: &Path<'_>) {
    let unavailable = Amount::of(rolling.get("maxUnavailable"));
    let surge = Amount::of(rolling.get("maxSurge"));
    let at = path.field("maxUnavailable");
    unavailable.check(faults, &at);
    surge.check(faults, &path.field("maxSurge"));
    if unavailable.number() == 0 && surge.number() == 0 {
        faults.invalid(&at, unavailable.shown(), "may not be 0 when `maxSurge` is 0");
    }
    if matches!(unavailable, Amount::Percent(percent, _) if percent > 100) {
        faults.invalid(&at, unavailable.shown(), "must not be greater than 100%");
    }
}

/// A number of pods, as an int-or-string says it.
#[derive(Clone, Copy)]
enum Amount<'v> {
    Pods(i32),
    /// With the text that says it.
    Percent(i64, &'v str),
    /// A text that is no percentage.
    Text(&'v str),
}

impl<'v> Amount<'v> {
    fn of(value: Option<&'v Value<'v>>) -> Amount<'v> {
        match value {
            Some(Value::Number(pods)) => Amount::Pods(*pods),
            Some(Value::Str(text)) => match text.strip_suffix('%') {
                Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                    Amount::Percent(number_in(digits), text)
                }
                _ => Amount::Text(text),
            },
            _ => Amount::Pods(0),
        }
    }

    fn check(self, faults: &mut Faults, path: &Path<'_>) {
        match self {
            Amount::Pods(pods) if pods < 0 => {
                faults.invalid(path, i64::from(pods), NON_NEGATIVE);
            }
            Amount::Text(_) => {
                faults.invalid(path, self.shown(), BAD_PERCENT);
            }
            Amount::Pods(_) | Amount::Percent(..) => {}
        }
    }

    /// What counts when the two amounts are compared with 0.
    fn number(self) -> i64 {
        match self {
            Amount::Pods(pods) => i64::from(pods),
            Amount::Percent(percent, _) => percent,
            Amount::Text(text) => number_in(text),
        }
    }

    fn shown(self) -> Shown<'v> {
        match self {
            Amount::Pods(pods) => Shown::Int(i64::from(pods)),
            Amount::Percent(_, text) | Amount::Text(text) => Shown::Named(text),
        }
    }
}

/// The number that a text is, as Go's `Atoi` with its error ignored: the nearest of 64 bits when it
/// does not fit, 0 when it is none.
fn number_in(text: &str) -> i64 {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    match text.parse::<i64>() {
        Ok(n) => n,
        Err(e) if *e.kind() == PosOverflow => i64::MAX,
        Err(e) if *e.kind() == NegOverflow => i64::MIN,
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    fn rolling(unavailable: &str, surge: &str) -> Vec<String> {
        let text = format!(
            r#"{{"type":"RollingUpdate","rollingUpdate":{{"maxUnavailable":{unavailable},"maxSurge":{surge}}}}}"#
        );
        found("v1.DeploymentStrategy", &text, strategy)
            .into_iter()
            .map(|fault| fault.replace(BAD_PERCENT, "PERCENT").replace("C.rollingUpdate.", ""))
            .collect()
    }

    const BOTH_ZERO: &str = "may not be 0 when `maxSurge` is 0";

    #[test]
    fn both_zero_is_told_whatever_says_so() {
        assert!(rolling("0", "1").is_empty());
        assert!(rolling("\"0%\"", "\"1%\"").is_empty());
        assert_eq!(rolling("0", "\"0%\""), [format!("maxUnavailable: Invalid value: 0: {BOTH_ZERO}")]);
        assert_eq!(
            rolling("\"abc\"", "0"),
            [
                "maxUnavailable: Invalid value: \"abc\": PERCENT".to_owned(),
                format!("maxUnavailable: Invalid value: \"abc\": {BOTH_ZERO}"),
            ]
        );
        assert_eq!(rolling("0", "\"25\""), ["maxSurge: Invalid value: \"25\": PERCENT"]);
    }

    #[test]
    fn only_unavailable_pods_end_at_a_hundred_percent() {
        assert!(rolling("\"100%\"", "\"900%\"").is_empty());
        for percent in ["101%", "99999999999999999999%"] {
            assert_eq!(
                rolling(&format!("\"{percent}\""), "0"),
                [format!("maxUnavailable: Invalid value: \"{percent}\": must not be greater than 100%")]
            );
        }
    }

    #[test]
    fn numbers_are_not_negative_and_do_not_count_as_zero() {
        assert_eq!(
            rolling("-1", "\"-99999999999999999999\""),
            [
                "maxUnavailable: Invalid value: -1: must be greater than or equal to 0",
                "maxSurge: Invalid value: \"-99999999999999999999\": PERCENT",
            ]
        );
    }

    #[test]
    fn other_types_print_whole_and_recreate_rolls_nothing() {
        assert_eq!(
            found("v1.DeploymentStrategy", r#"{"type":"x","rollingUpdate":{"maxSurge":"25%"}}"#, strategy),
            [
                "C: Unsupported value: {\"Type\":\"x\",\"RollingUpdate\":{\"MaxUnavailable\":0,\"MaxSurge\":\"25%\"}}: supported values: \"Recreate\", \"RollingUpdate\" @ C.type"
            ]
        );
        assert_eq!(
            found("v1.DeploymentStrategy", r#"{"type":"Recreate","rollingUpdate":{}}"#, strategy),
            ["C.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"]
        );
    }
}
