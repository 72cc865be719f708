//! From what was read to the objects that kubectl would send: lists taken apart, kinds told.

use std::borrow::Cow;

use crate::schema::source::{Data, Member, Node, Span};

/// How deep lists of lists are taken apart. kubectl has no limit; nobody has the need.
const MAX_LISTS: usize = 20;

/// One object of a document.
#[derive(Debug)]
pub struct Found<'n, 'a> {
    /// The object; owned when a list lent it its kind.
    pub node: Cow<'n, Node<'a>>,
    /// Its `apiVersion`.
    pub api_version: &'n str,
    /// Its kind.
    pub kind: &'n str,
}

/// Why something is no object, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct NoObject {
    /// In kubectl's words where it has some.
    pub message: String,
    /// Where.
    pub at: Span,
}

/// Calls `each` for every object of a document, in order.
///
/// An object with `items` is a list, whatever its kind. Items without kind and version get those of
/// a typed list: a `DeploymentList` holds Deployments.
///
/// Source: apimachinery v0.37.2 `UnstructuredJSONScheme`, cli-runtime `FlattenListVisitor`.
pub fn each<'n, 'a>(root: &'n Node<'a>, visit: &mut dyn FnMut(Result<Found<'n, 'a>, NoObject>)) {
    visit_node(root, None, 0, visit);
}

/// The kind and version that a list lends to its items.
#[derive(Clone, Copy)]
struct Lent<'n> {
    api_version: &'n str,
    kind: &'n str,
}

fn visit_node<'n, 'a>(
    node: &'n Node<'a>,
    lent: Option<Lent<'n>>,
    depth: usize,
    visit: &mut dyn FnMut(Result<Found<'n, 'a>, NoObject>),
) {
    let Data::Object(_) = node.data else {
        let message = format!("expected a Kubernetes object, found {}", what_is(node));
        return visit(Err(NoObject { message, at: first_line(node) }));
    };
    let own = |key| node.get(key).and_then(Node::as_str).filter(|s| !s.is_empty());
    let lent = lent.filter(|_| own("kind").is_none() && own("apiVersion").is_none());
    let kind = own("kind").or(lent.map(|l| l.kind));
    let api_version = own("apiVersion").or(lent.map(|l| l.api_version));
    let missing = match (kind, api_version) {
        (None, _) => "Object 'Kind' is missing",
        (_, None) => "Object 'apiVersion' is missing",
        (Some(kind), Some(api_version)) => {
            if let Some(items) = node.get("items").filter(|_| depth < MAX_LISTS) {
                let lent = kind.strip_suffix("List").filter(|k| !k.is_empty());
                let lent = lent.map(|kind| Lent { api_version, kind });
                return visit_items(items, lent, depth, visit);
            }
            let node = match lent {
                Some(lent) => Cow::Owned(with_kind(node, lent)),
                None => Cow::Borrowed(node),
            };
            return visit(Ok(Found { node, api_version, kind }));
        }
    };
    visit(Err(NoObject { message: missing.into(), at: first_line(node) }));
}

fn visit_items<'n, 'a>(
    items: &'n Node<'a>,
    lent: Option<Lent<'n>>,
    depth: usize,
    visit: &mut dyn FnMut(Result<Found<'n, 'a>, NoObject>),
) {
    match &items.data {
        Data::Null => {}
        Data::Array(items) => {
            for item in items {
                visit_node(item, lent, depth + 1, visit);
            }
        }
        _ => {
            let message = format!("expected a list of items, found {}", what_is(items));
            visit(Err(NoObject { message, at: first_line(items) }));
        }
    }
}

fn with_kind<'a>(node: &Node<'a>, lent: Lent<'_>) -> Node<'a> {
    let mut node = node.clone();
    // No place of their own: the end is where nothing else begins.
    let at = Span { start: node.at.end, end: node.at.end };
    if let Data::Object(members) = &mut node.data {
        members.retain(|m| m.key != "kind" && m.key != "apiVersion");
        for (key, value) in [("kind", lent.kind), ("apiVersion", lent.api_version)] {
            let value = Node { at, data: Data::String(Cow::Owned(value.to_owned())) };
            members.push(Member { key: Cow::Borrowed(key), key_at: at, value });
        }
        members.sort_by(|a, b| a.key.cmp(&b.key));
    }
    node
}

fn what_is(node: &Node<'_>) -> &'static str {
    match &node.data {
        Data::Null => "nothing",
        Data::Bool(_) => "a boolean",
        Data::Number(_) => "a number",
        Data::String(_) => "text",
        Data::Array(_) => "a list",
        Data::Object(_) => "an object",
        Data::Deep(_) => "deeply nested data",
    }
}

fn first_line(node: &Node<'_>) -> Span {
    super::position::locate(node, &[], false)
}
