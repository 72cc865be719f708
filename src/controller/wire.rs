//! What lists and watches send, read no further than it must be.
//!
//! Most of what a busy controller is sent is the echo of its own writes. To know an object by its head and
//! to look at its body only if it is news is cheaper than anything that reads all of it.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::rollout::Text;

/// One line of a watch's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    pub what: &'a str,
    /// The object, as JSON.
    pub object: &'a str,
}

/// Which state of which object it is: enough to know whether to read the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head<'a> {
    /// Its namespace.
    pub namespace: Cow<'a, str>,
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its resourceVersion.
    pub resource_version: Cow<'a, str>,
}

/// One page of a list.
#[derive(Debug)]
pub struct Page<'a> {
    /// The objects, as JSON.
    pub items: Vec<&'a RawValue>,
    /// As of which resourceVersion.
    pub resource_version: Cow<'a, str>,
    /// How to ask for the next one; empty on the last.
    pub next: Cow<'a, str>,
}

/// Bytes as text. What is no text is no JSON either, and is found out when it is read.
pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Puts lines together from what comes bit by bit.
#[derive(Debug, Default)]
pub struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Takes a bit; each line that is complete with it goes to `line`, without its end.
    ///
    /// # Errors
    /// The first of `line`'s; what comes after it is dropped.
    pub fn take<E>(&mut self, bytes: &[u8], mut line: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            if self.begun.is_empty() {
                line(&bytes[from..end])?;
            } else {
                self.begun.extend_from_slice(&bytes[from..end]);
                line(&std::mem::take(&mut self.begun))?;
            }
            from = end + 1;
        }
        self.begun.extend_from_slice(&bytes[from..]);
        Ok(())
    }
}

impl<'a> Page<'a> {
    /// Reads a page.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(body: &'a [u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Whole<'a> {
            #[serde(borrow)]
            metadata: Metadata<'a>,
            #[serde(borrow)]
            items: Option<Vec<&'a RawValue>>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata<'a> {
            #[serde(borrow)]
            resource_version: Cow<'a, str>,
            #[serde(borrow, default, rename = "continue")]
            next: Cow<'a, str>,
        }
        let Whole { metadata, items } = serde_json::from_str(text(body))?;
        let Metadata { resource_version, next } = metadata;
        Ok(Page { items: items.unwrap_or_default(), resource_version, next })
    }
}

impl<'a> Line<'a> {
    /// Takes a line apart. Whether the object is one is left to whoever reads it.
    ///
    /// # Errors
    /// When it is not JSON, or has no type or no object.
    pub fn read(line: &'a [u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Whole<'a> {
            #[serde(rename = "type")]
            what: &'a str,
            #[serde(borrow)]
            object: &'a RawValue,
        }
        let text = text(line);
        if let Some(line) = Line::cut(text) {
            return Ok(line);
        }
        let Whole { what, object } = serde_json::from_str(text)?;
        Ok(Line { what, object: object.get() })
    }

    /// A line of the form that the API server writes.
    fn cut(text: &'a str) -> Option<Self> {
        let (what, rest) = text.strip_prefix(r#"{"type":""#)?.split_once('"')?;
        let object = rest.strip_prefix(r#","object":"#)?.strip_suffix('}')?;
        object.ends_with('}').then_some(Line { what, object })
    }
}

impl<'a> Head<'a> {
    /// Reads the head of an object; what comes after it is not looked at.
    ///
    /// # Errors
    /// When it has no metadata with a name and a resourceVersion.
    pub fn read(object: &'a str) -> Result<Self, serde_json::Error> {
        let mut search = Search::default();
        let read = search.deserialize(&mut serde_json::Deserializer::from_str(object));
        match (search.is_found, read) {
            (true, _) => Ok(search.head), // reading stopped on purpose
            (false, Err(error)) => Err(error),
            (false, Ok(())) => Err(serde_json::Error::custom("metadata has no name or no resourceVersion")),
        }
    }
}

/// A head that is being looked for.
#[derive(Default)]
struct Search<'a> {
    head: Head<'a>,
    in_metadata: bool,
    is_found: bool,
}

/// Goes through an object, and from there through its metadata.
impl<'de> DeserializeSeed<'de> for &mut Search<'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Search<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with metadata")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(key)) = map.next_key()? {
            let place = match (self.in_metadata, &*key) {
                (false, "metadata") => {
                    self.in_metadata = true;
                    return map.next_value_seed(self);
                }
                (true, "name") => &mut self.head.name,
                (true, "namespace") => &mut self.head.namespace,
                (true, "resourceVersion") => &mut self.head.resource_version,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *place = map.next_value::<Text<'_>>()?.0;
            let Head { namespace, name, resource_version } = &self.head;
            if !(namespace.is_empty() || name.is_empty() || resource_version.is_empty()) {
                break; // most of metadata is managedFields, and comes last
            }
        }
        self.is_found = !self.head.name.is_empty() && !self.head.resource_version.is_empty();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_they_come() {
        let sent = b"one\n\nthree\nfo";
        for size in 1..=sent.len() {
            let (mut lines, mut seen) = (Lines::default(), Vec::new());
            let mut see = |line: &[u8]| -> Result<(), Vec<u8>> {
                seen.push(line.to_vec());
                Ok(())
            };
            sent.chunks(size).for_each(|bytes| lines.take(bytes, &mut see).unwrap());
            assert_eq!(seen, [&b"one"[..], b"", b"three"], "{size} at a time");
            assert_eq!(lines.take(b"ur\n", |line| Err(line.to_vec())), Err(b"four".to_vec()));
        }
    }

    #[test]
    fn lines_are_taken_apart_whatever_their_form() {
        let object = r#"{"a":{"object":"}"}}"#;
        for line in [
            format!(r#"{{"type":"ADDED","object":{object}}}"#),
            format!(r#"{{"object":{object},"type":"ADDED"}}"#),
            format!(r#" {{ "type" : "ADDED", "more": [1], "object" : {object} }} "#),
            format!(r#"{{"type":"ADDED","object":{object},"more":1}}"#),
        ] {
            assert_eq!(Line::read(line.as_bytes()).unwrap(), Line { what: "ADDED", object }, "{line}");
        }
        for line in ["", "{}", r#"{"type":"ADDED"}"#, r#"{"type":1,"object":{}}"#, "[]", "x"] {
            assert!(Line::read(line.as_bytes()).is_err(), "{line}");
        }
        assert!(Line::read(b"{\"type\":\"ADDED\",\"object\":{\"a\":\"\xff\"}}").is_err());
    }

    #[test]
    fn pages_are_read_with_or_without_objects() {
        for (page, items, next) in [
            (r#"{"items":[{"a":1},{}],"metadata":{"resourceVersion":"7","continue":"x"}}"#, 2, "x"),
            (r#"{"metadata":{"resourceVersion":"7"},"items":null}"#, 0, ""),
            (r#"{"metadata":{"resourceVersion":"7"}}"#, 0, ""),
        ] {
            let page = Page::read(page.as_bytes()).unwrap();
            assert_eq!((page.items.len(), &*page.resource_version, &*page.next), (items, "7", next));
        }
        assert!(Page::read(b"{}").is_err());
    }

    #[test]
    fn heads_are_read_wherever_they_are() {
        let head = |namespace: &'static str| Head {
            namespace: namespace.into(),
            name: "a".into(),
            resource_version: "7".into(),
        };
        for (object, expected) in [
            (r#"{"metadata":{"name":"a","namespace":"n","resourceVersion":"7"}}"#, head("n")),
            (r#"{"kind":"X","metadata":{"resourceVersion":"7","x":[{}],"name":"\u0061"}}"#, head("")),
            (r#"{"spec":{"metadata":{"name":"b"}},"metadata":{"name":"a","resourceVersion":"7"}}"#, head("")),
            (r#"{"metadata":{"name":"a","namespace":"n","resourceVersion":"7","#, head("n")),
        ] {
            assert_eq!(Head::read(object).unwrap(), expected, "{object}");
        }
        for object in [
            "",
            "{}",
            "[]",
            r#"{"metadata":{"name":"a"}}"#,
            r#"{"metadata":{"name":1,"resourceVersion":"7"}}"#,
            r#"{"metadata":null}"#,
            r#"{"metadata":{"name":"a","resourceVersion":"7""#,
        ] {
            assert!(Head::read(object).is_err(), "{object}");
        }
    }
}
