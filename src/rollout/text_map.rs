//! An ordered map from text to text that costs two allocations, for labels and annotations in caches.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

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
        let mut text = String::new();
        let mut ends = Vec::with_capacity(list.len() * 2);
        for (i, (key, value)) in list.iter().enumerate() {
            if list.get(i + 1).is_some_and(|(next, _)| next.as_ref() == key.as_ref()) {
                continue;
            }
            for part in [key.as_ref(), value.as_ref()] {
                text.push_str(part);
                ends.push(u32::try_from(text.len()).expect("the API server limits objects to a few MiB"));
            }
        }
        TextMap { text: text.into_boxed_str(), ends: ends.into_boxed_slice() }
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
                let mut entries = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, Option<String>>()? {
                    entries.push((key, value.unwrap_or_default()));
                }
                Ok(entries.into_iter().collect())
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
    fn null_means_empty() {
        assert!(serde_json::from_str::<TextMap>("null").unwrap().is_empty());
        assert_eq!(serde_json::from_str::<TextMap>(r#"{"k":null}"#).unwrap().get("k"), Some(""));
    }
}
