//! An ordered map from text to text that costs two allocations, for labels and annotations in caches.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};

/// Texts by key, in byte order of the keys.
///
/// A controller holds tens of thousands of these, most with one to five entries, so all text of one map
/// lies in one string. Looking up is a scan.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct TextMap {
    text: Box<str>,
    /// Where each key and each value ends: key 0, value 0, key 1, …
    ends: Box<[u32]>,
}

impl TextMap {
    /// The text under a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(k, _)| *k == key).map(|(_, v)| v)
    }

    /// The entries, in byte order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut from = 0;
        self.ends.chunks_exact(2).map(move |ends| {
            let (key, value) = (ends[0] as usize, ends[1] as usize);
            let entry = (&self.text[from..key], &self.text[key..value]);
            from = value;
            entry
        })
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.ends.len() / 2
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// This map without the entries that fail the test.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(&str) -> bool) -> TextMap {
        self.iter().filter(|(k, _)| keep(k)).collect()
    }
}

impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for TextMap {
    /// The last of several entries with one key wins, as in JSON.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut list: Vec<(K, V)> = entries.into_iter().collect();
        list.sort_by(|a, b| a.0.as_ref().cmp(b.0.as_ref()));
        let mut parts = Parts { text: String::new(), ends: Vec::with_capacity(list.len() * 2) };
        for (i, (key, value)) in list.iter().enumerate() {
            if list.get(i + 1).is_some_and(|(next, _)| next.as_ref() == key.as_ref()) {
                continue;
            }
            parts.push(key.as_ref());
            parts.push(value.as_ref());
        }
        parts.into_map()
    }
}

/// What a map is made from: key 0, value 0, key 1, …
#[derive(Default)]
struct Parts {
    text: String,
    ends: Vec<u32>,
}

impl Parts {
    fn push(&mut self, part: &str) {
        self.text.push_str(part);
        self.ends.push(u32::try_from(self.text.len()).expect("the API server limits objects to a few MiB"));
    }

    /// Of parts that are in order, each key once.
    fn into_map(self) -> TextMap {
        TextMap { text: self.text.into_boxed_str(), ends: self.ends.into_boxed_slice() }
    }
}

/// Takes a text, or null, as the next part.
impl<'de> DeserializeSeed<'de> for &mut Parts {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl Visitor<'_> for &mut Parts {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.push("");
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.push(text);
        Ok(())
    }
}

impl fmt::Debug for TextMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'de> Deserialize<'de> for TextMap {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = TextMap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of texts")
            }

            fn visit_unit<E>(self) -> Result<TextMap, E> {
                Ok(TextMap::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TextMap, A::Error> {
                let mut parts = Parts::default();
                while map.next_key_seed(&mut parts)?.is_some() {
                    map.next_value_seed(&mut parts)?;
                }
                let map = parts.into_map();
                // The API server writes maps in order.
                let in_order = map.iter().is_sorted_by(|(a, _), (b, _)| a < b);
                Ok(if in_order { map } else { map.iter().collect() })
            }
        }
        from.deserialize_any(Texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_order_and_the_last_of_a_key_wins() {
        let map: TextMap = [("b", "1"), ("a", ""), ("b", "2")].into_iter().collect();
        assert_eq!(map.iter().collect::<Vec<_>>(), [("a", ""), ("b", "2")]);
        assert_eq!(map.get("a"), Some(""));
        assert_eq!(map.get("c"), None);
        assert_eq!(map.len(), 2);
    }

    #[test]
    fn what_is_read_is_in_order_too() {
        for (json, entries) in [
            (r#"{"a":"","b":"\u00e9"}"#, vec![("a", ""), ("b", "é")]),
            (r#"{"b":"1","a":"2"}"#, vec![("a", "2"), ("b", "1")]),
            (r#"{"a":"1","a":"2"}"#, vec![("a", "2")]),
        ] {
            let map: TextMap = serde_json::from_str(json).unwrap();
            assert_eq!(map.iter().collect::<Vec<_>>(), entries, "{json}");
        }
        for json in ["[]", r#"{"a":1}"#, r#"{"a":{}}"#] {
            assert!(serde_json::from_str::<TextMap>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn null_means_empty() {
        assert!(serde_json::from_str::<TextMap>("null").unwrap().is_empty());
        assert_eq!(serde_json::from_str::<TextMap>(r#"{"k":null}"#).unwrap().get("k"), Some(""));
    }
}
