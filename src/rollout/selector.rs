//! Label selectors as the controller reads them.

use serde::Deserialize;

use super::text_map::TextMap;

/// A label selector.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selector {
    /// Whether the object has a selector at all; without one it matches nothing.
    pub present: bool,
    /// Labels that must be there with these values.
    pub labels: TextMap,
    /// Further requirements.
    pub expressions: Box<[Requirement]>,
}

/// One requirement on one label.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// The label.
    pub key: Box<str>,
    /// What must hold.
    pub operator: Operator,
    /// The values that [`Operator::In`] and [`Operator::NotIn`] compare with.
    pub values: Box<[Box<str>]>,
}

/// What a requirement demands.
#[derive(Debug, Clone, PartialEq)]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// The label has none of the values, or is missing.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is missing.
    DoesNotExist,
    /// Not an operator; the API server accepts none such.
    Unknown(Box<str>),
}

impl Selector {
    /// Whether it is there and asks for nothing, so that it would match everything.
    pub fn selects_everything(&self) -> bool {
        self.present && self.labels.is_empty() && self.expressions.is_empty()
    }

    /// Whether an object with these labels is selected.
    pub fn matches(&self, labels: &TextMap) -> bool {
        self.present
            && self.labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.expressions.iter().all(|r| r.matches(labels))
    }

    /// The first operator that is none.
    pub fn unknown_operator(&self) -> Option<&str> {
        self.expressions.iter().find_map(|r| match &r.operator {
            Operator::Unknown(text) => Some(&**text),
            _ => None,
        })
    }
}

impl Requirement {
    fn matches(&self, labels: &TextMap) -> bool {
        let value = labels.get(&self.key);
        let listed = || value.is_some_and(|v| self.values.iter().any(|w| **w == *v));
        match self.operator {
            Operator::In => listed(),
            Operator::NotIn => !listed(),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::Unknown(_) => false,
        }
    }
}

/// A selector as JSON has it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    #[serde(default)]
    match_labels: TextMap,
    #[serde(default)]
    match_expressions: Option<Vec<WireRequirement>>,
}

#[derive(Deserialize)]
struct WireRequirement {
    key: Box<str>,
    operator: Box<str>,
    #[serde(default)]
    values: Option<Box<[Box<str>]>>,
}

impl Selector {
    /// Reads a selector.
    ///
    /// # Errors
    /// When it is not shaped like one.
    pub fn read(json: &str) -> Result<Selector, serde_json::Error> {
        let wire: Wire = serde_json::from_str(json)?;
        let expressions = wire.match_expressions.unwrap_or_default().into_iter().map(Requirement::from);
        Ok(Selector { present: true, labels: wire.match_labels, expressions: expressions.collect() })
    }
}

impl From<WireRequirement> for Requirement {
    fn from(wire: WireRequirement) -> Self {
        let operator = match &*wire.operator {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            _ => Operator::Unknown(wire.operator),
        };
        Requirement { key: wire.key, operator, values: wire.values.unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> TextMap {
        pairs.iter().copied().collect()
    }

    #[test]
    fn every_operator_means_what_the_api_says() {
        let with = |operator: &str, values: &str| {
            let json = format!(
                r#"{{"matchExpressions":[{{"key":"k","operator":"{operator}","values":{values}}}]}}"#
            );
            Selector::read(&json).unwrap()
        };
        let (one, none) = (labels(&[("k", "1")]), labels(&[]));
        assert!(with("In", r#"["1","2"]"#).matches(&one) && !with("In", r#"["2"]"#).matches(&one));
        assert!(!with("In", r#"["1"]"#).matches(&none));
        assert!(with("NotIn", r#"["2"]"#).matches(&one) && with("NotIn", r#"["1"]"#).matches(&none));
        assert!(with("Exists", "null").matches(&one) && !with("Exists", "[]").matches(&none));
        assert!(with("DoesNotExist", "[]").matches(&none) && !with("DoesNotExist", "[]").matches(&one));
        assert_eq!(with("Like", "[]").unknown_operator(), Some("Like"));
    }

    #[test]
    fn no_selector_matches_nothing_and_an_empty_one_everything() {
        assert!(!Selector::default().matches(&labels(&[])));
        assert!(Selector::read("{}").unwrap().selects_everything());
    }
}
