//! The type table: how the Go types behind a Deployment are laid out in one Kubernetes release.
//!
//! The table is data (`data/types-<release>.json`); this file only reads it. Supporting the next
//! release means adding its file and one line in `RELEASES`.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;

/// The tables that ship with this build, oldest first.
const RELEASES: &[(&str, &str)] = &[("1.37", include_str!("../../data/types-1.37.json"))];

/// The Scale subresource's types, the same in every release.
const SCALE: &str = include_str!("../../data/scale-types.json");

/// The layout of one struct, with embedded structs flattened as JSON sees them.
#[derive(Debug)]
pub struct StructType {
    /// Go name without its package: `PodSpec`.
    pub name: &'static str,
    /// Every field that has a JSON name, in declaration order, embedded ones in place.
    pub fields: Vec<Field>,
    /// The fields as declared in Go, embedded structs as one field each.
    pub declared: Vec<Declared>,
}

/// One JSON field of a struct.
#[derive(Debug)]
pub struct Field {
    /// The JSON name, for example `containers`.
    pub json: &'static str,
    /// The Go name, for example `Containers`.
    pub go: &'static str,
    /// The Go name of the embedded struct that declares the field, when it is not the struct itself.
    pub embedded_in: Option<&'static str>,
    /// What it holds.
    pub ty: Type,
    /// The Go type as Go's JSON errors print it: `[]v1.Container`, `*int32` as `int32`.
    pub go_type: &'static str,
    /// Whether Go's encoder leaves the zero value out.
    pub omit_empty: bool,
    /// Whether the Go field is a pointer, so that absence differs from the zero value.
    pub pointer: bool,
    /// The position among [`StructType::fields`].
    pub order: u16,
    /// The key that strategic merge patches match list elements by.
    pub merge_key: Option<&'static str>,
}

/// One field as Go declares it; serves the dump behind `pod-template-hash`.
#[derive(Debug)]
pub struct Declared {
    /// The Go name.
    pub go: &'static str,
    /// The Go type with package and pointer: `*v1.Probe`.
    pub go_type: &'static str,
    /// The JSON name; empty for an embedded struct.
    pub json: &'static str,
    /// The embedded struct's layout.
    pub embedded: Option<&'static StructType>,
    /// What it holds (of the pointee, for pointers).
    pub ty: Type,
    /// Whether the Go field is a pointer.
    pub pointer: bool,
}

/// What a value is made of. Pointers are a property of the field, not of the type.
#[derive(Debug, Clone, Copy)]
pub enum Type {
    /// `bool`.
    Bool,
    /// `int32`, and named kinds of it.
    Int32,
    /// `int64`, and named kinds of it.
    Int64,
    /// `string`.
    Str,
    /// A named kind of string, printed as JSON in messages: `v1.PullPolicy`.
    NamedStr,
    /// `resource.Quantity`.
    Quantity,
    /// `intstr.IntOrString`.
    IntOrString,
    /// `v1.Time`: an RFC 3339 time.
    Time,
    /// `v1.MicroTime`.
    MicroTime,
    /// `v1.FieldsV1`: any JSON, kept as it came.
    FieldsV1,
    /// A list and its element.
    List(&'static Elem),
    /// A map from strings and its values.
    Map(&'static Elem),
    /// A struct.
    Struct(&'static StructType),
}

/// The element of a list or map.
#[derive(Debug)]
pub struct Elem {
    /// What the element is.
    pub ty: Type,
    /// The element's Go type: `v1.EnvVar`.
    pub go_type: &'static str,
}

/// Two fields are the same when they are the same entry of the table.
impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl StructType {
    /// The field with this JSON name (case counts).
    pub fn field(&'static self, json: &str) -> Option<&'static Field> {
        self.fields.iter().find(|f| f.json == json)
    }

    /// The field with this JSON name, which the caller knows to exist.
    ///
    /// # Panics
    /// When the table of this release has no such field: a misspelt name in our own code.
    pub fn known(&'static self, json: &str) -> &'static Field {
        match self.field(json) {
            Some(f) => f,
            None => unreachable!("the type table has no field {json} in {}", self.name),
        }
    }
}

/// The types of one Kubernetes release.
#[derive(Debug)]
pub struct Table {
    /// `1.37`.
    pub release: &'static str,
    structs: HashMap<&'static str, &'static StructType>,
}

impl Table {
    /// The newest release that this build knows.
    pub fn newest() -> &'static Table {
        static NEWEST: OnceLock<&'static Table> = OnceLock::new();
        NEWEST.get_or_init(|| {
            let (release, text) = RELEASES[RELEASES.len() - 1];
            Table::read(release, text)
        })
    }

    /// The struct with this Go name, if the table lays it out.
    pub fn find(&self, go_type: &str) -> Option<&'static StructType> {
        self.structs.get(go_type).copied()
    }

    /// The struct with this Go name: `v1.Deployment`.
    ///
    /// # Panics
    /// When the table has no such struct: a misspelt name in our own code.
    pub fn of(&self, go_type: &str) -> &'static StructType {
        match self.structs.get(go_type) {
            Some(t) => t,
            None => unreachable!("the type table has no struct {go_type}"),
        }
    }

    fn read(release: &'static str, text: &'static str) -> &'static Table {
        let types = |text| -> HashMap<&'static str, RawType> {
            serde_json::from_str(text).expect("the type table is checked in and read by every test")
        };
        let mut raw = types(text);
        raw.extend(types(SCALE));
        let mut reader = Reader { raw, done: HashMap::new() };
        for root in ["v1.Deployment", "v1.ReplicaSet", "v1.Pod", "autoscaling.Scale"] {
            reader.layout(root);
        }
        Box::leak(Box::new(Table { release, structs: reader.done }))
    }
}

#[derive(Deserialize)]
struct RawType {
    kind: &'static str,
    #[serde(default)]
    fields: Vec<RawField>,
}

#[derive(Deserialize)]
struct RawField {
    go: &'static str,
    #[serde(default)]
    json: &'static str,
    #[serde(rename = "type")]
    ty: &'static str,
    #[serde(default)]
    inline: bool,
    #[serde(default)]
    omit_empty: bool,
    #[serde(default)]
    patch_merge_key: Option<&'static str>,
}

/// Lays structs out, each once. The Go types are not recursive, so plain recursion ends.
struct Reader {
    raw: HashMap<&'static str, RawType>,
    done: HashMap<&'static str, &'static StructType>,
}

impl Reader {
    fn layout(&mut self, go_type: &'static str) -> &'static StructType {
        if let Some(t) = self.done.get(go_type) {
            return t;
        }
        let raw = self.raw.remove(go_type).expect("every type that the table names is in the table");
        let mut fields = Vec::new();
        let mut declared = Vec::new();
        for f in &raw.fields {
            let (pointer, bare) = match f.ty.strip_prefix('*') {
                Some(bare) => (true, bare),
                None => (false, f.ty),
            };
            let ty = self.ty(bare);
            if f.inline {
                let Type::Struct(inner) = ty else { continue };
                fields.extend(inner.fields.iter().map(|g| Field {
                    embedded_in: Some(f.go),
                    order: 0,
                    ty: g.ty,
                    ..*g
                }));
                declared.push(Declared {
                    go: f.go,
                    go_type: f.ty,
                    json: "",
                    embedded: Some(inner),
                    ty,
                    pointer,
                });
                continue;
            }
            declared.push(Declared { go: f.go, go_type: f.ty, json: f.json, embedded: None, ty, pointer });
            if f.json.is_empty() || f.json == "-" {
                continue;
            }
            fields.push(Field {
                json: f.json,
                go: f.go,
                embedded_in: None,
                ty,
                go_type: bare,
                omit_empty: f.omit_empty,
                pointer,
                order: 0,
                merge_key: f.patch_merge_key,
            });
        }
        for (i, f) in fields.iter_mut().enumerate() {
            f.order = u16::try_from(i).expect("no Go struct has 65536 fields");
        }
        let name = go_type.rsplit('.').next().unwrap_or(go_type);
        let layout: &'static StructType = Box::leak(Box::new(StructType { name, fields, declared }));
        self.done.insert(go_type, layout);
        layout
    }

    fn ty(&mut self, go_type: &'static str) -> Type {
        match go_type {
            "bool" => return Type::Bool,
            "int32" => return Type::Int32,
            "int64" => return Type::Int64,
            "string" => return Type::Str,
            "resource.Quantity" => return Type::Quantity,
            "intstr.IntOrString" => return Type::IntOrString,
            "v1.Time" => return Type::Time,
            "v1.MicroTime" => return Type::MicroTime,
            "v1.FieldsV1" => return Type::FieldsV1,
            "v1.ResourceList" => {
                let elem = Elem { ty: Type::Quantity, go_type: "resource.Quantity" };
                return Type::Map(Box::leak(Box::new(elem)));
            }
            _ => {}
        }
        if let Some(bare) = go_type.strip_prefix("[]") {
            let elem = Elem { ty: self.ty(bare), go_type: bare };
            return Type::List(Box::leak(Box::new(elem)));
        }
        if let Some(rest) = go_type.strip_prefix("map[") {
            let bare = rest.split_once(']').map_or(rest, |(_, value)| value);
            let elem = Elem { ty: self.ty(bare), go_type: bare };
            return Type::Map(Box::leak(Box::new(elem)));
        }
        if let Some(done) = self.done.get(go_type) {
            return Type::Struct(done);
        }
        match self.raw.get(go_type).map(|t| t.kind) {
            Some("struct") => Type::Struct(self.layout(go_type)),
            Some("int32") => Type::Int32,
            Some("int64") => Type::Int64,
            // Enum-like strings; and named types that no Deployment reaches, which then print as JSON.
            _ => Type::NamedStr,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_fields_lie_in_place_and_remember_their_struct() {
        let volume = Table::newest().of("v1.Volume");
        assert_eq!(volume.fields[0].json, "name");
        let config_map = volume.known("configMap");
        assert_eq!(config_map.embedded_in, Some("VolumeSource"));
        assert!(config_map.pointer);
        assert_eq!(config_map.go_type, "v1.ConfigMapVolumeSource");
        assert_eq!(volume.declared.len(), 2);
    }

    #[test]
    fn maps_lists_and_named_strings_are_told_apart() {
        let container = Table::newest().of("v1.Container");
        assert!(matches!(container.known("imagePullPolicy").ty, Type::NamedStr));
        assert!(matches!(container.known("image").ty, Type::Str));
        let Type::List(env) = container.known("env").ty else { panic!("env is a list") };
        assert_eq!(env.go_type, "v1.EnvVar");
        let Type::Struct(resources) = container.known("resources").ty else { panic!("a struct") };
        let Type::Map(limits) = resources.known("limits").ty else { panic!("limits is a map") };
        assert!(matches!(limits.ty, Type::Quantity));
    }
}
