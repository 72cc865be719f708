//! The defaults of the house: values that the owner of a cluster prefers to the built-in ones, where
//! an author chose nothing.
//!
//! Only for new objects, as an update arrives with the stored values. A default is applied where the
//! value still is the built-in one, no trace shows that the author states it
//! ([`super::evidence`]), the struct around it is there (a `rollingUpdate` is never added for the
//! sake of its fields), and the object stays as valid as it was.

use std::borrow::Cow;

use super::evidence;
use crate::schema::source::{Data, Member, Node, Span};
use crate::schema::table::{Field, StructType, Type};
use crate::schema::value::{Struct, Value, View};
use crate::schema::{json, write};
use crate::validate::fault::Fault;
use crate::verdict::{Operation, Question, Server, Target, Verdict, judge};

/// A Deployment that validation accepts and that states nothing it need not.
const MINIMAL: &str = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"a"},
    "spec":{"selector":{"matchLabels":{"a":"a"}},"template":{"metadata":{"labels":{"a":"a"}},
    "spec":{"containers":[{"name":"a","image":"a"}]}}}}"#;

/// The configured defaults, in the order given.
#[derive(Debug, Default)]
pub struct House {
    defaults: Vec<HouseDefault>,
}

/// One of them.
#[derive(Debug)]
pub struct HouseDefault {
    /// From the root: `spec`, `strategy`, `rollingUpdate`, `maxUnavailable`.
    path: Vec<&'static Field>,
    names: Vec<&'static str>,
    value: Node<'static>,
    /// What the API server fills in; `None` where it leaves the field unset.
    built_in: Option<Value<'static>>,
}

/// Why configured defaults cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDefault {
    /// The block is no object.
    #[error("{path}: must be an object with fields of a Deployment")]
    NotAnObject {
        /// Where, from the root of the Deployment.
        path: String,
    },
    /// No such field.
    #[error("{path}: a Deployment has no such field")]
    Unknown {
        /// Where, from the root of the Deployment.
        path: String,
    },
    /// Lists, maps and the like.
    #[error("{path}: only texts, numbers and booleans can have a default")]
    NotScalar {
        /// Where, from the root of the Deployment.
        path: String,
    },
    /// Of the wrong type.
    #[error("the defaults cannot be decoded: {0}")]
    Undecodable(String),
    /// A Deployment with the defaults would be refused.
    #[error("the defaults would make a valid Deployment invalid: {}", .0.join("; "))]
    Invalid(Vec<String>),
}

impl House {
    /// Reads the defaults from the `spec` of a Deployment that has only them in it, and tries them.
    ///
    /// # Errors
    /// [`BadDefault`]; see there.
    pub fn read(server: &Server, spec: &Node<'_>) -> Result<Self, BadDefault> {
        let mut defaults = Vec::new();
        let mut path = vec![server.table.of("v1.Deployment").known("spec")];
        collect(spec, server.table.of("v1.DeploymentSpec"), &mut path, &mut defaults)?;
        let mut house = House { defaults };
        house.try_out(server)?;
        Ok(house)
    }

    /// Whether nothing is configured.
    pub fn is_empty(&self) -> bool {
        self.defaults.is_empty()
    }

    /// The defaults to apply to an object that was judged, and found to have these faults.
    pub fn choose(
        &self,
        server: &Server,
        question: &Question<'_, '_>,
        verdict: &Verdict<'_>,
    ) -> Vec<&HouseDefault> {
        let Some(object) = &verdict.defaulted else { return Vec::new() };
        let fits =
            |d: &&HouseDefault| d.is_untouched(object.view()) && !evidence::states(question.object, &d.names);
        let all: Vec<&HouseDefault> = self.defaults.iter().filter(fits).collect();
        if keeps_valid(server, question, &verdict.faults, &all) {
            return all;
        }
        // Some of them clash with what the author wrote. Each that does not is still applied.
        let mut kept = Vec::new();
        for default in all {
            kept.push(default);
            if !keeps_valid(server, question, &verdict.faults, &kept) {
                kept.pop();
            }
        }
        kept
    }

    /// Judges a Deployment with all defaults in it, and notes what the built-in defaults are.
    fn try_out(&mut self, server: &Server) -> Result<(), BadDefault> {
        let plain = json::read(MINIMAL.as_bytes()).expect("the text is JSON");
        let defaulted = judge(server, &new(&plain)).defaulted.expect("the minimal Deployment decodes");
        for default in &mut self.defaults {
            default.built_in = find(defaulted.view(), &default.path).map(owned_scalar);
        }
        // With the built-in defaults written out, as the webhook will see it.
        let text = write::structure(&defaulted);
        let object = json::read(text.as_bytes()).expect("our own writer writes JSON");
        let all: Vec<&HouseDefault> = self.defaults.iter().collect();
        let object = put(&object, &all);
        let verdict = judge(server, &new(&object));
        if let Some(error) = verdict.decode_error {
            return Err(BadDefault::Undecodable(error.message));
        }
        if !verdict.faults.is_empty() {
            let told = verdict.faults.iter().map(|f| format!("{}: {}", f.field, f.message));
            return Err(BadDefault::Invalid(told.collect()));
        }
        Ok(())
    }
}

impl HouseDefault {
    /// What the author is told.
    pub fn warning(&self) -> String {
        format!(
            "{} is set to {}, the default of this cluster; state the field to choose another value",
            self.names.join("."),
            write::node(&self.value)
        )
    }

    /// Whether the object still has the built-in value, in a struct that is there.
    fn is_untouched(&self, object: View<'_>) -> bool {
        let (leaf, parents) = self.path.split_last().expect("a path begins with spec");
        let Some(parent) = descend(object, parents) else { return false };
        match (parent.field(leaf), &self.built_in) {
            (None, None) => true,
            (Some(is), Some(built_in)) => same(is, built_in),
            _ => false,
        }
    }
}

/// The object with these defaults put into it.
pub fn put<'a>(object: &Node<'a>, defaults: &[&HouseDefault]) -> Node<'a> {
    let mut object = object.clone();
    for default in defaults {
        let mut at = &mut object;
        for name in &default.names {
            at = entry(at, name);
        }
        at.data = default.value.data.clone();
    }
    object
}

/// The value under a key, made where there is none.
fn entry<'n, 'a>(node: &'n mut Node<'a>, name: &'static str) -> &'n mut Node<'a> {
    if !matches!(node.data, Data::Object(_)) {
        node.data = Data::Object(Vec::new());
    }
    let Data::Object(members) = &mut node.data else { unreachable!("it was just made an object") };
    let at = members.iter().rposition(|m| m.key == name).unwrap_or_else(|| {
        let value = Node { at: node.at, data: Data::Null };
        members.push(Member { key: Cow::Borrowed(name), key_at: Span::default(), value });
        members.len() - 1
    });
    &mut members[at].value
}

fn collect(
    node: &Node<'_>,
    ty: &'static StructType,
    path: &mut Vec<&'static Field>,
    found: &mut Vec<HouseDefault>,
) -> Result<(), BadDefault> {
    let Data::Object(members) = &node.data else {
        return Err(BadDefault::NotAnObject { path: dotted(path) });
    };
    for member in members {
        let Some(field) = ty.field(&member.key) else {
            return Err(BadDefault::Unknown { path: format!("{}.{}", dotted(path), member.key) });
        };
        path.push(field);
        match (field.ty, owned(&member.value)) {
            (Type::Struct(ty), _) => collect(&member.value, ty, path, found)?,
            (ty, Some(value)) if is_scalar(ty) => {
                let names = path.iter().map(|f| f.json).collect();
                found.push(HouseDefault { path: path.clone(), names, value, built_in: None });
            }
            _ => return Err(BadDefault::NotScalar { path: dotted(path) }),
        }
        path.pop();
    }
    Ok(())
}

fn dotted(path: &[&'static Field]) -> String {
    path.iter().map(|f| f.json).collect::<Vec<_>>().join(".")
}

fn is_scalar(ty: Type) -> bool {
    matches!(ty, Type::Bool | Type::Int32 | Type::Int64 | Type::Str | Type::NamedStr | Type::IntOrString)
}

/// A scalar that lives as long as the program; `None` for null, lists and objects.
fn owned(node: &Node<'_>) -> Option<Node<'static>> {
    let data = match &node.data {
        Data::Bool(b) => Data::Bool(*b),
        Data::Number(text) => Data::Number(text.to_string().into()),
        Data::String(text) => Data::String(text.to_string().into()),
        _ => return None,
    };
    Some(Node { at: Span::default(), data })
}

fn owned_scalar(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Bool(b) => Value::Bool(*b),
        Value::Int(i) => Value::Int(*i),
        Value::Number(i) => Value::Number(*i),
        Value::Str(s) => Value::Str(s.to_string().into()),
        _ => unreachable!("only scalars can have a default"),
    }
}

fn same(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => a == b,
        _ => false,
    }
}

fn new<'q, 'a>(object: &'q Node<'a>) -> Question<'q, 'a> {
    Question { operation: Operation::Create, target: Target::Deployment, namespace: "a", object, old: None }
}

fn descend<'t>(object: View<'t>, path: &[&'static Field]) -> Option<View<'t>> {
    path.iter().try_fold(object, |at, field| match at.field(field) {
        Some(Value::Struct(s)) => Some(Struct::view(s)),
        _ => None,
    })
}

fn find<'t>(object: View<'t>, path: &[&'static Field]) -> Option<&'t Value<'t>> {
    let (leaf, parents) = path.split_last()?;
    descend(object, parents)?.field(leaf)
}

/// Whether an object with these defaults has no fault that it did not have before.
fn keeps_valid(
    server: &Server,
    question: &Question<'_, '_>,
    before: &[Fault],
    defaults: &[&HouseDefault],
) -> bool {
    let object = put(question.object, defaults);
    let verdict = judge(server, &Question { object: &object, ..*question });
    verdict.decode_error.is_none() && verdict.faults.iter().all(|f| before.contains(f))
}
