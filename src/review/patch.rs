//! The smallest RFC 6902 patch that turns the object sent into the object meant.
//!
//! What is meant was made from what was sent by adding fields, keys and elements at the end, and by
//! replacing scalars; nothing is ever removed, moved or reordered. So the patch needs no general diff: one walk over both finds what was added. What the
//! walk leaves alone is what the API server writes its own way anyway (quantities, times), and what
//! it does not know (fields of a newer release), so that a patch never says what is there already.

use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, Patch, PatchOperation, ReplaceOperation};
use serde_json::{Map, Value as Json};

use crate::schema::source::{Data, Node};
use crate::schema::table::{Field, Type};
use crate::schema::value::{Struct, Value};

/// What to do to `sent` to make it `meant`, which must have been decoded from it and then defaulted.
///
/// A field that is missing, or null, is added with all that belongs below it, so that no operation
/// ever needs a parent that is not there.
pub fn between(sent: &Node<'_>, meant: &Struct<'_>) -> Patch {
    let mut walk = Walk { at: PointerBuf::new(), operations: Vec::new() };
    walk.structure(sent, meant);
    Patch(walk.operations)
}

struct Walk {
    at: PointerBuf,
    operations: Vec<PatchOperation>,
}

impl Walk {
    fn structure(&mut self, sent: &Node<'_>, meant: &Struct<'_>) {
        for (field, value) in &meant.fields {
            self.at.push_back(field.json);
            match sent.get(field.json) {
                Some(node) if node.data != Data::Null => self.field(field, node, value),
                _ => self.add(value),
            }
            self.at.pop_back();
        }
    }

    fn field(&mut self, field: &Field, sent: &Node<'_>, meant: &Value<'_>) {
        match meant {
            Value::Struct(meant) => self.structure(sent, meant),
            Value::List(meant) => self.list(sent, meant),
            Value::Map(meant) => {
                for (key, value) in meant.iter().filter(|(key, _)| sent.get(key).is_none()) {
                    self.at.push_back(key.as_ref());
                    self.add(value);
                    self.at.pop_back();
                }
            }
            _ if is_compared(field.ty) && !says(sent, meant) => {
                let (path, value) = (self.at.clone(), json(meant));
                self.operations.push(PatchOperation::Replace(ReplaceOperation { path, value }));
            }
            _ => {}
        }
    }

    fn list(&mut self, sent: &Node<'_>, meant: &[Value<'_>]) {
        for (i, meant) in meant.iter().enumerate() {
            self.at.push_back(i);
            match (sent.items().get(i), meant) {
                (Some(sent), Value::Struct(meant)) => self.structure(sent, meant),
                (Some(_), _) => {}
                (None, _) => self.add(meant),
            }
            self.at.pop_back();
        }
    }

    fn add(&mut self, value: &Value<'_>) {
        let (path, value) = (self.at.clone(), json(value));
        self.operations.push(PatchOperation::Add(AddOperation { path, value }));
    }
}

/// Whether the type has one spelling only, so that a difference in text is one in meaning.
fn is_compared(ty: Type) -> bool {
    matches!(ty, Type::Bool | Type::Int32 | Type::Int64 | Type::Str | Type::NamedStr | Type::IntOrString)
}

/// Whether the JSON sent says this scalar already.
fn says(sent: &Node<'_>, meant: &Value<'_>) -> bool {
    match (&sent.data, meant) {
        (Data::Bool(sent), Value::Bool(meant)) => sent == meant,
        (Data::String(sent), Value::Str(meant)) => sent == meant,
        (Data::Number(sent), Value::Int(meant)) => sent.parse() == Ok(*meant),
        (Data::Number(sent), Value::Number(meant)) => sent.parse() == Ok(*meant),
        _ => false,
    }
}

/// A value as JSON, set fields only.
pub(super) fn json(value: &Value<'_>) -> Json {
    match value {
        Value::Bool(b) => Json::from(*b),
        Value::Int(i) => Json::from(*i),
        Value::Number(i) => Json::from(*i),
        Value::Str(s) => Json::from(s.as_ref()),
        Value::Quantity(q) => Json::from(q.text()),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => object(entries.iter().map(|(k, v)| (k.as_ref(), v))),
        Value::Struct(s) => object(s.fields.iter().map(|(f, v)| (f.json, v))),
        Value::Raw(text) => serde_json::from_str(text).unwrap_or(Json::Null),
    }
}

fn object<'v>(entries: impl Iterator<Item = (&'v str, &'v Value<'v>)>) -> Json {
    Json::Object(entries.map(|(k, v)| (k.to_owned(), json(v))).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::decode::decode;
    use crate::schema::table::Table;

    /// The patch that `change` makes necessary.
    fn patch_of(sent: &Json, change: impl FnOnce(&mut Struct<'_>)) -> Json {
        let text = sent.to_string();
        let node = crate::schema::json::read(text.as_bytes()).unwrap();
        let mut meant = decode(&node, Table::newest().of("v1.Deployment")).object.unwrap();
        change(&mut meant);
        let patch = between(&node, &meant);
        let mut patched = sent.clone();
        json_patch::patch(&mut patched, &patch).expect("the patch applies");
        serde_json::to_value(&patch).unwrap()
    }

    fn text(s: &'static str) -> Value<'static> {
        Value::Str(s.into())
    }

    #[test]
    fn an_unchanged_object_needs_no_patch() {
        let sent = json!({"metadata": {"name": "a", "labels": {"a/b": "c~d"}, "creationTimestamp": null},
            "spec": {"replicas": 3, "paused": false, "unknown": {"x": [1]}, "template": {"spec": {"containers": [
                {"name": "c", "resources": {"limits": {"cpu": 0.5, "memory": "1024Mi"}}}]}}}});
        assert_eq!(patch_of(&sent, |_| {}), json!([]));
    }

    #[test]
    fn a_missing_parent_is_added_whole() {
        let strategy = |d: &mut Struct<'_>| {
            let rolling = d.struct_or_new("spec").struct_or_new("strategy").struct_or_new("rollingUpdate");
            rolling.set("maxSurge", Value::Number(1));
        };
        let whole = json!({"rollingUpdate": {"maxSurge": 1}});
        let add = |path: &str, value: &Json| json!([{"op": "add", "path": path, "value": value}]);
        assert_eq!(patch_of(&json!({"spec": {"replicas": 1}}), strategy), add("/spec/strategy", &whole));
        assert_eq!(patch_of(&json!({"spec": {"strategy": null}}), strategy), add("/spec/strategy", &whole));
        assert_eq!(patch_of(&json!({}), strategy), add("/spec", &json!({"strategy": whole})));
        assert_eq!(
            patch_of(&json!({"spec": {"strategy": {"type": "RollingUpdate"}}}), strategy),
            add("/spec/strategy/rollingUpdate", &json!({"maxSurge": 1}))
        );
    }

    #[test]
    fn list_elements_are_reached_by_index() {
        let sent = json!({"spec": {"template": {"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}}});
        let patch = patch_of(&sent, |d| {
            let template = d.struct_mut("spec").and_then(|s| s.struct_mut("template")).unwrap();
            let second = template.struct_mut("spec").unwrap().structs_mut("containers").nth(1).unwrap();
            second.set("imagePullPolicy", text("Always"));
        });
        let path = "/spec/template/spec/containers/1/imagePullPolicy";
        assert_eq!(patch, json!([{"op": "add", "path": path, "value": "Always"}]));
    }

    fn set_text(map: &mut Struct<'_>, field: &'static str, key: &'static str, value: &'static str) {
        match map.get_mut(field) {
            Some(Value::Map(entries)) => entries.push((key.into(), text(value))),
            _ => map.set(field, Value::Map(vec![(key.into(), text(value))])),
        }
    }

    /// Case 22: an unescaped `/` fails the request, or wipes the other annotations.
    #[test]
    fn keys_are_escaped_and_their_neighbours_survive() {
        let sent = json!({"metadata": {"annotations": {"keep": "1"}},
            "spec": {"template": {"metadata": {"labels": {"app": "web"}}}}});
        let patch = patch_of(&sent, |d| {
            set_text(d.struct_or_new("metadata"), "annotations", "team.example/own~er", "x");
            let template = d.struct_or_new("spec").struct_or_new("template");
            set_text(template.struct_or_new("metadata"), "labels", "a/b", "c");
        });
        assert_eq!(
            patch,
            json!([
                {"op": "add", "path": "/metadata/annotations/team.example~1own~0er", "value": "x"},
                {"op": "add", "path": "/spec/template/metadata/labels/a~1b", "value": "c"},
            ])
        );
    }

    /// Case 23: adding below a parent that is missing, or null, fails the request.
    #[test]
    fn a_missing_map_or_list_is_added_as_one() {
        let container = json!({"name": "web", "resources": {}});
        let sent = json!({"metadata": {"annotations": null},
            "spec": {"template": {"metadata": {}, "spec": {"containers": [container]}}}});
        let patch = patch_of(&sent, |d| {
            set_text(d.struct_or_new("metadata"), "annotations", "a", "1");
            let template = d.struct_or_new("spec").struct_or_new("template");
            set_text(template.struct_or_new("metadata"), "annotations", "b", "2");
            let web = template.struct_or_new("spec").structs_mut("containers").next().unwrap();
            let env = Table::newest().of("v1.EnvVar");
            let mut variable = Struct::new(env);
            variable.set("name", text("A"));
            web.set("env", Value::List(vec![Value::Struct(variable)]));
            set_text(web.struct_or_new("resources"), "limits", "cpu", "1");
        });
        let web = "/spec/template/spec/containers/0";
        assert_eq!(
            patch,
            json!([
                {"op": "add", "path": "/metadata/annotations", "value": {"a": "1"}},
                {"op": "add", "path": "/spec/template/metadata/annotations", "value": {"b": "2"}},
                {"op": "add", "path": format!("{web}/resources/limits"), "value": {"cpu": "1"}},
                {"op": "add", "path": format!("{web}/env"), "value": [{"name": "A"}]},
            ])
        );
    }

    #[test]
    fn another_scalar_replaces() {
        let sent = json!({"spec": {"progressDeadlineSeconds": 600, "strategy": {"type": ""}}});
        let patch = patch_of(&sent, |d| {
            let spec = d.struct_mut("spec").unwrap();
            spec.set("progressDeadlineSeconds", Value::Int(300));
            spec.struct_or_new("strategy").set("type", text("Recreate"));
        });
        assert_eq!(
            patch,
            json!([
                {"op": "replace", "path": "/spec/progressDeadlineSeconds", "value": 300},
                {"op": "replace", "path": "/spec/strategy/type", "value": "Recreate"},
            ])
        );
    }
}
