//! Label selectors, made ready to match labels.
//!
//! Source: kubernetes v1.37.2 `apimachinery/pkg/apis/meta/v1`, `LabelSelectorAsSelector`. Parity: exact,
//! with one difference in shape: an absent selector, which matches nothing, is the caller's `None`.

use super::names;

/// A selector whose every requirement makes sense. One without requirements matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector<'s> {
    requirements: Vec<Requirement<'s>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement<'s> {
    key: &'s str,
    test: Test<'s>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test<'s> {
    Equals(&'s str),
    In(Vec<&'s str>),
    NotIn(Vec<&'s str>),
    Exists,
    DoesNotExist,
}

/// A requirement that makes no sense: an unknown operator, a key or value that no label can have, or
/// an operator with the wrong number of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid label selector")]
pub struct BadSelector;

impl<'s> Selector<'s> {
    /// Adds one pair of `matchLabels`.
    ///
    /// # Errors
    /// [`BadSelector`] when no label can have this key or value.
    pub fn add_label(&mut self, key: &'s str, value: &'s str) -> Result<(), BadSelector> {
        self.add(key, Test::Equals(value), [value])
    }

    /// Adds one entry of `matchExpressions`.
    ///
    /// # Errors
    /// [`BadSelector`].
    pub fn add_expression(
        &mut self,
        key: &'s str,
        operator: &str,
        values: impl Iterator<Item = &'s str>,
    ) -> Result<(), BadSelector> {
        let values: Vec<&str> = values.collect();
        let listed = values.clone();
        let test = match (operator, values.is_empty()) {
            ("In", false) => Test::In(values),
            ("NotIn", false) => Test::NotIn(values),
            ("Exists", true) => Test::Exists,
            ("DoesNotExist", true) => Test::DoesNotExist,
            _ => return Err(BadSelector),
        };
        self.add(key, test, listed)
    }

    fn add(
        &mut self,
        key: &'s str,
        test: Test<'s>,
        values: impl IntoIterator<Item = &'s str>,
    ) -> Result<(), BadSelector> {
        let valid = names::qualified_name(key).is_empty()
            && values.into_iter().all(|v| names::label_value(v).is_empty());
        if !valid {
            return Err(BadSelector);
        }
        self.requirements.push(Requirement { key, test });
        Ok(())
    }

    /// Whether it has no requirement, so that everything matches.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether labels meet every requirement. `label` gives the value under a key.
    pub fn matches<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        self.requirements.iter().all(|r| r.test.holds(label(r.key)))
    }
}

impl Test<'_> {
    fn holds(&self, value: Option<&str>) -> bool {
        match self {
            Test::Equals(wanted) => value == Some(wanted),
            Test::In(listed) => value.is_some_and(|v| listed.contains(&v)),
            Test::NotIn(listed) => value.is_none_or(|v| !listed.contains(&v)),
            Test::Exists => value.is_some(),
            Test::DoesNotExist => value.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(operator: &str, values: &[&str], labels: &[(&str, &str)]) -> bool {
        let mut selector = Selector::default();
        selector.add_expression("a", operator, values.iter().copied()).expect("a valid expression");
        selector.matches(|key| labels.iter().find(|(k, _)| *k == key).map(|(_, v)| *v))
    }

    #[test]
    fn each_operator_reads_absence_its_own_way() {
        assert!(matches("In", &["1", "2"], &[("a", "2")]));
        assert!(!matches("In", &["1"], &[]));
        assert!(matches("NotIn", &["1"], &[]));
        assert!(matches("NotIn", &["1"], &[("a", "2")]));
        assert!(!matches("NotIn", &["1"], &[("a", "1")]));
        assert!(matches("Exists", &[], &[("a", "")]));
        assert!(matches("DoesNotExist", &[], &[("b", "")]));
    }

    #[test]
    fn no_requirement_matches_everything_and_all_must_hold() {
        assert!(Selector::default().matches(|_| None));
        let mut selector = Selector::default();
        selector.add_label("app", "web").expect("valid");
        selector.add_expression("tier", "Exists", [].into_iter()).expect("valid");
        assert!(!selector.matches(|key| (key == "app").then_some("web")));
    }

    #[test]
    fn senseless_requirements_are_refused() {
        let mut selector = Selector::default();
        assert_eq!(selector.add_label("app", "a b"), Err(BadSelector));
        assert_eq!(selector.add_expression("a", "Equals", ["1"].into_iter()), Err(BadSelector));
        assert_eq!(selector.add_expression("a", "In", [].into_iter()), Err(BadSelector));
        assert_eq!(selector.add_expression("a", "Exists", ["1"].into_iter()), Err(BadSelector));
        assert!(selector.is_empty());
    }
}
