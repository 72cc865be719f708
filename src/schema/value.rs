//! A decoded object: what the server holds after decoding, shaped by the type table.
//!
//! Values borrow from the bytes they were read from where they can. A [`Struct`] stores only the
//! fields that were given (in the order given) or defaulted (appended); everything else reads as
//! Go's zero value through [`View`].

use std::borrow::Cow;

use super::table::{Field, StructType, Type};
use crate::kube_types::quantity::Quantity;

/// One value of a known type.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    /// A boolean.
    Bool(bool),
    /// An integer of either width; decoding has checked the range.
    Int(i64),
    /// Text, of a plain or a named string type, or a time in the server's own notation.
    Str(Cow<'a, str>),
    /// A resource quantity.
    Quantity(Quantity<'a>),
    /// The number form of an int-or-string; the text form is [`Value::Str`].
    Number(i32),
    /// A list. An empty one means the same as none, except where a rule says otherwise.
    List(Vec<Value<'a>>),
    /// A map, keys unique, in the order given.
    Map(Vec<(Cow<'a, str>, Value<'a>)>),
    /// A struct.
    Struct(Struct<'a>),
    /// JSON kept as it came (`fieldsV1`).
    Raw(Cow<'a, str>),
}

/// The fields of one struct that are set.
#[derive(Debug, Clone)]
pub struct Struct<'a> {
    /// Its layout.
    pub ty: &'static StructType,
    /// What is set, first the fields given, then those defaulted.
    pub fields: Vec<(&'static Field, Value<'a>)>,
}

impl<'a> Struct<'a> {
    /// An empty struct of this layout.
    pub fn new(ty: &'static StructType) -> Self {
        Struct { ty, fields: Vec::new() }
    }

    /// A read-only look at it.
    pub fn view(&self) -> View<'_> {
        View { ty: self.ty, fields: &self.fields }
    }

    /// The value of a field, if set.
    pub fn get_mut(&mut self, json: &'static str) -> Option<&mut Value<'a>> {
        debug_assert!(self.ty.field(json).is_some(), "{} has no field {json}", self.ty.name);
        self.fields.iter_mut().find(|(f, _)| f.json == json).map(|(_, v)| v)
    }

    /// The struct in a field, if set.
    pub fn struct_mut(&mut self, json: &'static str) -> Option<&mut Struct<'a>> {
        match self.get_mut(json) {
            Some(Value::Struct(s)) => Some(s),
            _ => None,
        }
    }

    /// The struct in a field, made first where it is not set.
    pub fn struct_or_new(&mut self, json: &'static str) -> &mut Struct<'a> {
        let at = match self.fields.iter().position(|(f, _)| f.json == json) {
            Some(at) => at,
            None => {
                let field = self.ty.known(json);
                let Type::Struct(ty) = field.ty else {
                    unreachable!("{json} of {} is no struct", self.ty.name)
                };
                self.fields.push((field, Value::Struct(Struct::new(ty))));
                self.fields.len() - 1
            }
        };
        match &mut self.fields[at].1 {
            Value::Struct(s) => s,
            _ => unreachable!("{json} of {} is no struct", self.ty.name),
        }
    }

    /// The list in a field; empty when not set.
    pub fn list_mut(&mut self, json: &'static str) -> &mut [Value<'a>] {
        match self.get_mut(json) {
            Some(Value::List(l)) => l,
            _ => &mut [],
        }
    }

    /// The structs of the list in a field.
    pub fn structs_mut(&mut self, json: &'static str) -> impl Iterator<Item = &mut Struct<'a>> {
        self.list_mut(json).iter_mut().filter_map(|v| match v {
            Value::Struct(s) => Some(s),
            _ => None,
        })
    }

    /// Sets a field, in place when it is set already.
    pub fn set(&mut self, json: &'static str, value: Value<'a>) {
        match self.get_mut(json) {
            Some(v) => *v = value,
            None => self.fields.push((self.ty.known(json), value)),
        }
    }

    /// Unsets a field and gives back what it held.
    pub fn remove(&mut self, json: &'static str) -> Option<Value<'a>> {
        debug_assert!(self.ty.field(json).is_some(), "{} has no field {json}", self.ty.name);
        let at = self.fields.iter().position(|(f, _)| f.json == json)?;
        Some(self.fields.remove(at).1)
    }
}

/// A read-only look at a struct, set or not: unset fields read as Go's zero values.
///
/// Field names are JSON names; a name that the table does not have is a mistake in our own code and
/// panics in debug builds.
#[derive(Debug, Clone, Copy)]
pub struct View<'t> {
    /// The layout.
    pub ty: &'static StructType,
    fields: &'t [(&'static Field, Value<'t>)],
}

impl<'t> View<'t> {
    /// The value of a field, if set.
    pub fn get(self, json: &'static str) -> Option<&'t Value<'t>> {
        debug_assert!(self.ty.field(json).is_some(), "{} has no field {json}", self.ty.name);
        self.fields.iter().find(|(f, _)| f.json == json).map(|(_, v)| v)
    }

    /// The value of a field of the table, if set.
    pub fn field(self, field: &'static Field) -> Option<&'t Value<'t>> {
        self.fields.iter().find(|(f, _)| *f == field).map(|(_, v)| v)
    }

    /// Whether a field is set: for pointers, that it is not nil.
    pub fn has(self, json: &'static str) -> bool {
        self.get(json).is_some()
    }

    /// The set fields, in the order given.
    pub fn set_fields(self) -> impl Iterator<Item = (&'static Field, &'t Value<'t>)> {
        self.fields.iter().map(|(f, v)| (*f, v))
    }

    /// Text, empty when unset.
    pub fn str(self, json: &'static str) -> &'t str {
        self.opt_str(json).unwrap_or("")
    }

    /// Text of a pointer field.
    pub fn opt_str(self, json: &'static str) -> Option<&'t str> {
        match self.get(json) {
            Some(Value::Str(s)) => Some(s),
            _ => None,
        }
    }

    /// An integer, 0 when unset.
    pub fn int(self, json: &'static str) -> i64 {
        self.opt_int(json).unwrap_or(0)
    }

    /// An integer of a pointer field.
    pub fn opt_int(self, json: &'static str) -> Option<i64> {
        match self.get(json) {
            Some(Value::Int(i)) => Some(*i),
            _ => None,
        }
    }

    /// A boolean, false when unset.
    pub fn bool(self, json: &'static str) -> bool {
        self.opt_bool(json).unwrap_or(false)
    }

    /// A boolean of a pointer field.
    pub fn opt_bool(self, json: &'static str) -> Option<bool> {
        match self.get(json) {
            Some(Value::Bool(b)) => Some(*b),
            _ => None,
        }
    }

    /// A quantity, if set.
    pub fn quantity(self, json: &'static str) -> Option<&'t Quantity<'t>> {
        match self.get(json) {
            Some(Value::Quantity(q)) => Some(q),
            _ => None,
        }
    }

    /// A list, empty when unset.
    pub fn list(self, json: &'static str) -> &'t [Value<'t>] {
        match self.get(json) {
            Some(Value::List(l)) => l,
            _ => &[],
        }
    }

    /// The structs of a list.
    pub fn structs(self, json: &'static str) -> impl ExactSizeIterator<Item = View<'t>> + Clone {
        self.list(json).iter().map(move |v| match v {
            Value::Struct(s) => s.view(),
            _ => unreachable!("{json} is no list of structs"),
        })
    }

    /// The texts of a list.
    pub fn strings(self, json: &'static str) -> impl ExactSizeIterator<Item = &'t str> + Clone {
        self.list(json).iter().map(move |v| match v {
            Value::Str(s) => &**s,
            _ => unreachable!("{json} is no list of texts"),
        })
    }

    /// The numbers of a list.
    pub fn ints(self, json: &'static str) -> impl ExactSizeIterator<Item = i64> + Clone {
        self.list(json).iter().map(move |v| match v {
            Value::Int(i) => *i,
            _ => unreachable!("{json} is no list of integers"),
        })
    }

    /// A map, empty when unset.
    pub fn map(self, json: &'static str) -> &'t [(Cow<'t, str>, Value<'t>)] {
        match self.get(json) {
            Some(Value::Map(m)) => m,
            _ => &[],
        }
    }

    /// A map of texts.
    pub fn texts(self, json: &'static str) -> impl ExactSizeIterator<Item = (&'t str, &'t str)> + Clone {
        self.map(json).iter().map(move |(k, v)| match v {
            Value::Str(s) => (&**k, &**s),
            _ => unreachable!("{json} is no map of texts"),
        })
    }

    /// The text under a key of a map of texts.
    pub fn text(self, json: &'static str, key: &str) -> Option<&'t str> {
        self.texts(json).find(|(k, _)| *k == key).map(|(_, v)| v)
    }

    /// A map of quantities (a resource list).
    pub fn quantities(
        self,
        json: &'static str,
    ) -> impl ExactSizeIterator<Item = (&'t str, &'t Quantity<'t>)> + Clone {
        self.map(json).iter().map(move |(k, v)| match v {
            Value::Quantity(q) => (&**k, q),
            _ => unreachable!("{json} is no map of quantities"),
        })
    }

    /// A struct that is there whether set or not (a non-pointer field).
    pub fn nested(self, json: &'static str) -> View<'t> {
        match self.get(json) {
            Some(Value::Struct(s)) => s.view(),
            _ => match self.ty.known(json).ty {
                Type::Struct(ty) => View { ty, fields: &[] },
                _ => unreachable!("{json} of {} is no struct", self.ty.name),
            },
        }
    }

    /// A struct behind a pointer.
    pub fn opt(self, json: &'static str) -> Option<View<'t>> {
        match self.get(json) {
            Some(Value::Struct(s)) => Some(s.view()),
            _ => None,
        }
    }
}
