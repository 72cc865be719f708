//! `pod-template-hash`, byte for byte.
//!
//! The hash is taken over a textual dump of the template as Go's `spew` prints it: every field of every
//! struct in declaration order, set or not, with Go type names. So it depends on the type table of one
//! Kubernetes release, and on nothing else than that and the template. Fields that the table does not have
//! do not count, as for a controller of that release.
//!
//! An empty list or map that is given differs from one that is not, as in Go. An API server never gives an
//! empty one, since none survives storage.
//!
//! The dump (some 4 KB) is never built: its pieces go straight into the hash.
//!
//! Source: kubernetes v1.37.2 `pkg/controller/controller_utils.go`, `ComputeHash`. Parity: exact, except for
//! times in the template's metadata, which Go prints with the time zone tables of the machine.

use std::fmt::{self, Write};

use super::json;
use super::source::{Data, Node};
use super::table::{Declared, StructType, Table, Type};
use crate::kube_types::quantity;

/// The characters of a hash: no vowels and nothing that looks like another, so that no words come out.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The value of the label `pod-template-hash` for a template, given as JSON without that label.
///
/// `collision_count` goes into the hash when it is present, even 0. What is no JSON hashes like an empty
/// template.
pub fn pod_template_hash(template: &str, collision_count: Option<i32>) -> String {
    let mut hash = Fnv32::default();
    dump_template(template, &mut hash).expect("writing into a hash cannot fail");
    if let Some(count) = collision_count {
        hash.feed(&count.to_le_bytes());
        hash.feed(&[0; 4]);
    }
    let letters = hash.0.to_string().into_bytes().into_iter();
    letters.map(|digit| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()])).collect()
}

/// FNV-1a in 32 bits.
struct Fnv32(u32);

impl Default for Fnv32 {
    fn default() -> Self {
        Fnv32(2_166_136_261)
    }
}

impl Fnv32 {
    fn feed(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, b| (hash ^ u32::from(*b)).wrapping_mul(16_777_619));
    }
}

impl Write for Fnv32 {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        self.feed(s.as_bytes());
        Ok(())
    }
}

/// Writes the dump of a pod template.
fn dump_template(template: &str, out: &mut impl Write) -> fmt::Result {
    let node = json::read(template.as_bytes()).ok();
    out.write_str("(v1.PodTemplateSpec)")?;
    dump_struct(Table::newest().of("v1.PodTemplateSpec"), node.as_ref(), out)
}

fn dump_struct(ty: &StructType, node: Option<&Node<'_>>, out: &mut impl Write) -> fmt::Result {
    out.write_char('{')?;
    for (i, field) in ty.declared.iter().enumerate() {
        if i > 0 {
            out.write_char(' ')?;
        }
        out.write_str(field.go)?;
        out.write_char(':')?;
        dump_field(field, node, out)?;
    }
    out.write_char('}')
}

/// Writes a field's type and value. An embedded struct takes its fields from the object around it.
fn dump_field(field: &Declared, object: Option<&Node<'_>>, out: &mut impl Write) -> fmt::Result {
    write!(out, "({})", field.go_type)?;
    if let Some(inner) = field.embedded {
        return dump_struct(inner, object, out);
    }
    let node = object.and_then(|object| object.get(field.json)).filter(|node| node.data != Data::Null);
    if field.pointer && node.is_none() {
        return out.write_str("<nil>");
    }
    dump_value(field.ty, node, out)
}

/// Writes a value without its type; none stands for the zero value.
fn dump_value(ty: Type, node: Option<&Node<'_>>, out: &mut impl Write) -> fmt::Result {
    let data = node.map(|node| &node.data);
    match ty {
        Type::Bool => write!(out, "{}", matches!(data, Some(Data::Bool(true)))),
        Type::Int32 | Type::Int64 => match data {
            Some(Data::Number(number)) => out.write_str(number),
            _ => out.write_char('0'),
        },
        Type::Str | Type::NamedStr | Type::FieldsV1 => match data {
            Some(Data::String(text)) => out.write_str(text),
            _ => Ok(()),
        },
        Type::Quantity => match data {
            Some(Data::String(text) | Data::Number(text)) => quantity::dump::dump(text, out),
            _ => quantity::dump::dump("", out),
        },
        Type::IntOrString => match data {
            Some(Data::String(text)) => {
                write!(out, "{{Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string){text}}}")
            }
            Some(Data::Number(number)) => {
                write!(out, "{{Type:(intstr.Type)0 IntVal:(int32){number} StrVal:(string)}}")
            }
            _ => out.write_str("{Type:(intstr.Type)0 IntVal:(int32)0 StrVal:(string)}"),
        },
        Type::Time | Type::MicroTime => {
            out.write_str("{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}")
        }
        Type::Struct(ty) => dump_struct(ty, node, out),
        Type::List(elem) => match data {
            Some(Data::Array(items)) => {
                out.write_char('[')?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.write_char(' ')?;
                    }
                    dump_value(elem.ty, Some(item), out)?;
                }
                out.write_char(']')
            }
            _ => out.write_str("<nil>"),
        },
        Type::Map(elem) => dump_map(elem.ty, data, out),
    }
}

/// Writes a map, its keys in byte order.
fn dump_map(elem: Type, data: Option<&Data<'_>>, out: &mut impl Write) -> fmt::Result {
    let Some(Data::Object(members)) = data else { return out.write_str("<nil>") };
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by(|a, b| a.key.cmp(&b.key));
    out.write_str("map[")?;
    for (i, member) in sorted.into_iter().enumerate() {
        if i > 0 {
            out.write_char(' ')?;
        }
        write!(out, "{}:", member.key)?;
        dump_value(elem, Some(&member.value), out)?;
    }
    out.write_char(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(image: &str, container: &str) -> String {
        format!(
            r#"{{"metadata":{{"labels":{{"app":"nginx"}}}},"spec":{{"containers":[{{"name":"nginx",
            "image":"{image}","ports":[{{"containerPort":80,"protocol":"TCP"}}],{container}
            "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",
            "imagePullPolicy":"IfNotPresent"}}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,
            "dnsPolicy":"ClusterFirst","securityContext":{{}},"schedulerName":"default-scheduler"}}}}"#
        )
    }

    fn nginx() -> String {
        template("nginx:1.14.2", r#""resources":{},"#)
    }

    /// The golden vectors, made by the real controller.
    #[test]
    fn hashes_are_upstream_s() {
        assert_eq!(pod_template_hash(&nginx(), None), "54fd4d6d4c");
        assert_eq!(pod_template_hash(&template("nginx:1.16.1", ""), None), "76df5b8bb8");
        let large = template("nginx:1.14.2", r#""resources":{"limits":{"memory":"100Ti"}},"#);
        assert_eq!(pod_template_hash(&large, None), "568f56bf57");
        let mixed = r#""resources":{"limits":{"memory":"1536Mi","cpu":"1500m","example.com/a":"1e3"}},"#;
        assert_eq!(pod_template_hash(&template("nginx:1.14.2", mixed), None), "84bcc9f85f");
    }

    #[test]
    fn a_collision_count_of_0_counts() {
        let hashes = [Some(0), Some(1), Some(2)].map(|count| pod_template_hash(&nginx(), count));
        assert_eq!(hashes, ["b7845b659", "77b67654cd", "5cf9b9db89"]);
    }

    #[test]
    fn hashes_are_upstream_s_with_probes_and_resources() {
        let csharp = |image: &str| {
            let probe = |period: u8| {
                format!(
                    r#"{{"httpGet":{{"path":"/","port":"http","scheme":"HTTP"}},"timeoutSeconds":1,
                    "periodSeconds":{period},"successThreshold":1,"failureThreshold":3}}"#
                )
            };
            format!(
                r#"{{"metadata":{{"labels":{{"app":"csharp-api"}}}},"spec":{{"containers":[{{"name":"api",
                "image":"{image}","ports":[{{"name":"http","containerPort":8080,"protocol":"TCP"}}],
                "resources":{{"limits":{{"memory":"256Mi"}},"requests":{{"cpu":"100m","memory":"64Mi"}}}},
                "livenessProbe":{},"readinessProbe":{},
                "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",
                "imagePullPolicy":"Never"}}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,
                "dnsPolicy":"ClusterFirst","securityContext":{{}},"schedulerName":"default-scheduler"}}}}"#,
                probe(10),
                probe(5),
            )
        };
        let hash = |image: &str| pod_template_hash(&csharp(image), None);
        assert_eq!(hash("csharp-api:1.0"), "55b7fbb748");
        assert_eq!(hash("csharp-api:1.1"), "b4dd58557");
        assert_eq!(hash("csharp-api:9.9"), "796c4fd69c");
    }

    #[test]
    fn the_dump_has_the_length_of_upstream_s() {
        let mut dump = String::new();
        dump_template(&nginx(), &mut dump).unwrap();
        assert_eq!(dump.len(), 3598);
    }
}
