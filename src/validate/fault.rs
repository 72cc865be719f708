//! Faults: the causes in a verdict, in the API server's own words.

use std::borrow::Cow;
use std::fmt::Display;

use super::path::{Path, Step};
use crate::schema::print;

/// What kind of fault it is; decides the reason in the Status and the first words of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `FieldValueRequired`
    Required,
    /// `FieldValueInvalid`
    Invalid,
    /// `FieldValueNotSupported`
    NotSupported,
    /// `FieldValueForbidden`
    Forbidden,
    /// `FieldValueDuplicate`
    Duplicate,
    /// `FieldValueNotFound`
    NotFound,
    /// `FieldValueTooLong`
    TooLong,
    /// `FieldValueTooMany`
    TooMany,
    /// `InternalError`
    Internal,
}

impl Kind {
    /// The `reason` of the cause.
    pub fn reason(self) -> &'static str {
        match self {
            Kind::Required => "FieldValueRequired",
            Kind::Invalid => "FieldValueInvalid",
            Kind::NotSupported => "FieldValueNotSupported",
            Kind::Forbidden => "FieldValueForbidden",
            Kind::Duplicate => "FieldValueDuplicate",
            Kind::NotFound => "FieldValueNotFound",
            Kind::TooLong => "FieldValueTooLong",
            Kind::TooMany => "FieldValueTooMany",
            Kind::Internal => "InternalError",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Kind::Required => "Required value",
            Kind::Invalid => "Invalid value",
            Kind::NotSupported => "Unsupported value",
            Kind::Forbidden => "Forbidden",
            Kind::Duplicate => "Duplicate value",
            Kind::NotFound => "Not found",
            Kind::TooLong => "Too long",
            Kind::TooMany => "Too many",
            Kind::Internal => "Internal error",
        }
    }
}

/// One cause in a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What kind it is.
    pub kind: Kind,
    /// The path that the API server names, its own oddities included.
    pub field: String,
    /// The message without the path: `Invalid value: -1: must be greater than or equal to 0`.
    pub message: String,
    /// Where the fault really lies, for showing it in the manifest.
    pub place: Vec<Step>,
    /// Whether the key at `place` is at fault, rather than its value.
    pub on_key: bool,
}

/// The offending value as a message prints it.
pub enum Shown<'v> {
    /// A plain string: quoted by Go's rules.
    Text(&'v str),
    /// A named string type: quoted by JSON's rules.
    Named(&'v str),
    /// A number.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// JSON that is ready to print.
    Json(Cow<'v, str>),
}

impl Shown<'_> {
    fn write(&self, out: &mut String) {
        match self {
            Shown::Text(s) => print::go_quote(out, s),
            Shown::Named(s) => print::json_quote(out, s),
            Shown::Int(i) => out.push_str(&i.to_string()),
            Shown::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Shown::Json(j) => out.push_str(j),
        }
    }
}

impl<'v> From<&'v str> for Shown<'v> {
    fn from(s: &'v str) -> Self {
        Shown::Text(s)
    }
}

impl From<i64> for Shown<'_> {
    fn from(i: i64) -> Self {
        Shown::Int(i)
    }
}

impl From<bool> for Shown<'_> {
    fn from(b: bool) -> Self {
        Shown::Bool(b)
    }
}

/// The faults found so far, in order.
#[derive(Debug, Default)]
pub struct Faults {
    /// In the order found; may hold duplicates until [`Faults::dedup`].
    pub list: Vec<Fault>,
}

impl Faults {
    /// How many were found so far.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether none was found so far.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A required value is missing. `detail` may be empty.
    pub fn required(&mut self, path: &Path<'_>, detail: &str) -> &mut Fault {
        self.push(Kind::Required, path, None, &detail)
    }

    /// A value breaks a rule.
    pub fn invalid<'v>(
        &mut self,
        path: &Path<'_>,
        value: impl Into<Shown<'v>>,
        detail: impl Display,
    ) -> &mut Fault {
        self.push(Kind::Invalid, path, Some(value.into()), &detail)
    }

    /// A value breaks several rules at once: one fault for each message.
    pub fn invalid_each(&mut self, path: &Path<'_>, value: &str, messages: &[Cow<'static, str>]) {
        for m in messages {
            self.invalid(path, value, m);
        }
    }

    /// A value of a named string type is not one of those supported (given in the order to print).
    pub fn not_supported(&mut self, path: &Path<'_>, value: &str, supported: &[&str]) -> &mut Fault {
        self.not_supported_shown(path, Shown::Named(value), supported)
    }

    /// As [`Faults::not_supported`], for a value that prints in another way.
    pub fn not_supported_shown(
        &mut self,
        path: &Path<'_>,
        value: Shown<'_>,
        supported: &[&str],
    ) -> &mut Fault {
        let list = print::quoted_list(supported.iter().copied());
        self.push(Kind::NotSupported, path, Some(value), &format_args!("supported values: {list}"))
    }

    /// A field may not be used here. `detail` may be empty.
    pub fn forbidden(&mut self, path: &Path<'_>, detail: &str) -> &mut Fault {
        self.push(Kind::Forbidden, path, None, &detail)
    }

    /// A value occurs twice.
    pub fn duplicate<'v>(&mut self, path: &Path<'_>, value: impl Into<Shown<'v>>) -> &mut Fault {
        self.push(Kind::Duplicate, path, Some(value.into()), &"")
    }

    /// A value names nothing. `detail` may be empty.
    pub fn not_found<'v>(
        &mut self,
        path: &Path<'_>,
        value: impl Into<Shown<'v>>,
        detail: &str,
    ) -> &mut Fault {
        self.push(Kind::NotFound, path, Some(value.into()), &detail)
    }

    /// A text is longer than `max_bytes`.
    pub fn too_long(&mut self, path: &Path<'_>, max_bytes: usize) -> &mut Fault {
        let unit = if max_bytes == 1 { "byte" } else { "bytes" };
        self.push(Kind::TooLong, path, None, &format_args!("may not be more than {max_bytes} {unit}"))
    }

    /// A list has more than `max_items`.
    pub fn too_many(&mut self, path: &Path<'_>, count: usize, max_items: usize) -> &mut Fault {
        let unit = if max_items == 1 { "item" } else { "items" };
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.push(
            Kind::TooMany,
            path,
            Some(Shown::Int(count)),
            &format_args!("must have at most {max_items} {unit}"),
        )
    }

    /// Removes later faults that read the same as an earlier one.
    pub fn dedup(&mut self) {
        let mut seen = std::collections::HashSet::new();
        self.list.retain(|f| seen.insert((f.field.clone(), f.message.clone())));
    }

    fn push(
        &mut self,
        kind: Kind,
        path: &Path<'_>,
        value: Option<Shown<'_>>,
        detail: &dyn Display,
    ) -> &mut Fault {
        let mut message = String::from(kind.text());
        if let Some(value) = value {
            message.push_str(": ");
            value.write(&mut message);
        }
        let detail = detail.to_string();
        if !detail.is_empty() {
            message.push_str(": ");
            message.push_str(&detail);
        }
        let fault = Fault { kind, field: path.to_string(), message, place: path.steps(), on_key: false };
        let at = self.list.len();
        self.list.push(fault);
        &mut self.list[at]
    }
}

impl Fault {
    /// Says that the fault lies at another path of the manifest than the one the server names.
    pub fn at(&mut self, place: &Path<'_>) -> &mut Fault {
        self.place = place.steps();
        self
    }

    /// Says that the key at this path is at fault, not the value.
    pub fn at_key(&mut self, place: &Path<'_>) -> &mut Fault {
        self.on_key = true;
        self.at(place)
    }
}
