//! Tolerations in an annotation, as clusters before v1.6 had them. Nothing reads them any more, but
//! the server still checks them.
//!
//! They are JSON of the server's internal type: Go field names, in any case. Parity: exact, but for
//! field names with letters beyond ASCII that Unicode folds into ASCII ones.

use crate::schema::decode::kind_of;
use crate::schema::json;
use crate::schema::source::{Data, Node};
use crate::schema::table::{Field, StructType, Type};
use crate::schema::value::{Struct, Value, View};
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::selector::Spot;

use super::scheduling;

const KEY: &str = "scheduler.alpha.kubernetes.io/tolerations";

/// Checks the annotation, if set. `spot` is where the annotations stand.
pub(super) fn tolerations(
    faults: &mut Faults,
    meta: View<'_>,
    spec: View<'_>,
    spot: Spot<'_>,
    rules: &Rules,
) {
    let text = meta.text("annotations", KEY).unwrap_or("");
    if text.is_empty() {
        return;
    }
    let place = spot.real.key(KEY);
    match read(text, toleration_type(spec)) {
        Err(message) => {
            faults.invalid(spot.named, KEY, message).at(&place);
        }
        Ok(list) => {
            let from = faults.len();
            let path = spot.named.field(KEY);
            scheduling::tolerations(faults, list.iter().map(Struct::view), &path, rules);
            for fault in &mut faults.list[from..] {
                fault.at(&place);
            }
        }
    }
}

/// The layout of a toleration in the release at hand.
fn toleration_type(spec: View<'_>) -> &'static StructType {
    match spec.ty.known("tolerations").ty {
        Type::List(elem) => match elem.ty {
            Type::Struct(ty) => ty,
            _ => unreachable!("tolerations are structs"),
        },
        _ => unreachable!("tolerations are a list"),
    }
}

/// The tolerations in `text`, or the words of Go's JSON decoder: the first wrong type counts.
fn read<'a>(text: &'a str, ty: &'static StructType) -> Result<Vec<Struct<'a>>, String> {
    let node = json::read(text.as_bytes()).map_err(|e| e.message)?;
    match node.data {
        Data::Null => Ok(Vec::new()),
        Data::Array(items) => items.into_iter().map(|item| toleration(item, ty)).collect(),
        _ => Err(unmarshal(kind_of(&node), "value of type []core.Toleration")),
    }
}

fn toleration<'a>(node: Node<'a>, ty: &'static StructType) -> Result<Struct<'a>, String> {
    let mut out = Struct::new(ty);
    let members = match node.data {
        Data::Null => return Ok(out),
        Data::Object(members) => members,
        _ => return Err(unmarshal(kind_of(&node), "value of type core.Toleration")),
    };
    for member in members {
        let field = ty.fields.iter().find(|f| f.go.eq_ignore_ascii_case(&member.key));
        let Some(field) = field else { continue };
        match (&field.ty, member.value.data) {
            (_, Data::Null) if field.pointer => {
                out.remove(field.json);
            }
            (_, Data::Null) => {}
            (Type::Str | Type::NamedStr, Data::String(text)) => out.set(field.json, Value::Str(text)),
            (Type::Int64, Data::Number(text)) => match text.parse() {
                Ok(number) => out.set(field.json, Value::Int(number)),
                Err(_) => return Err(mismatch(&format!("number {text}"), field)),
            },
            (_, data) => return Err(mismatch(kind_of(&Node { at: member.value.at, data }), field)),
        }
    }
    Ok(out)
}

fn mismatch(given: &str, field: &Field) -> String {
    let go_type = field.go_type.replace("v1.", "core.");
    unmarshal(given, &format!("struct field Toleration.{} of type {go_type}", field.go))
}

fn unmarshal(given: &str, wanted: &str) -> String {
    format!("json: cannot unmarshal {given} into Go {wanted}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::table::Table;

    fn reading(text: &str) -> Result<usize, String> {
        read(text, Table::newest().of("v1.Toleration")).map(|list| list.len())
    }

    #[test]
    fn field_names_are_go_names_in_any_case() {
        let list = read(
            r#"[{"kEY":"k","TolerationSeconds":3,"unknown":1},null]"#,
            Table::newest().of("v1.Toleration"),
        )
        .expect("tolerations");
        assert_eq!(list[0].view().str("key"), "k");
        assert_eq!(list[0].view().opt_int("tolerationSeconds"), Some(3));
        assert!(list[1].fields.is_empty());
    }

    #[test]
    fn mistakes_get_the_words_of_go() {
        assert_eq!(reading("null"), Ok(0));
        for (text, message) in [
            ("nope", "invalid character 'o' in literal null (expecting 'u')"),
            ("{}", "json: cannot unmarshal object into Go value of type []core.Toleration"),
            (r#"["a"]"#, "json: cannot unmarshal string into Go value of type core.Toleration"),
            (
                r#"[{"Operator":1}]"#,
                "json: cannot unmarshal number into Go struct field Toleration.Operator of type core.TolerationOperator",
            ),
            (
                r#"[{"tolerationSeconds":1e3}]"#,
                "json: cannot unmarshal number 1e3 into Go struct field Toleration.TolerationSeconds of type int64",
            ),
        ] {
            assert_eq!(reading(text), Err(message.to_owned()), "{text}");
        }
    }
}
