//! Which events become new Event objects, which count up an old one, and which are left out.
//!
//! As the built-in controller's recorder does it (spec §11): many similar events become one, equal events
//! are counted in one, and whoever has too much to say is cut short. Decides only; takes the time as a
//! value.
//!
//! Source: client-go v0.37.2 `tools/record/events_cache.go`. Parity: exact, but that of ten messages the
//! one forgotten is always the first in byte order, where Go takes any.

use std::collections::{BTreeSet, HashMap};

use k8s_openapi::jiff::{SignedDuration, Timestamp};

/// Distinct messages of one group after which events are combined.
const GROUP_MESSAGES: usize = 10;

/// How long a group is remembered.
const GROUP_LASTS: SignedDuration = SignedDuration::from_secs(600);

/// Events of one type about one object that may come at once, and the time after which one more may.
const BURST: f64 = 25.0;
const REFILL_SECS: f64 = 300.0;

/// How much of each kind is remembered.
const MEMORY: usize = 4096;

/// What an event is about, and of which type: what the spam filter tells apart.
pub type Topic = (Box<str>, &'static str);

/// An event, in the parts by which events are told apart. The source is always this controller.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Said {
    /// The object's identity: kind, namespace, name, uid and API version.
    pub about: Box<str>,
    /// `Normal` or `Warning`.
    pub kind: &'static str,
    /// In one word.
    pub reason: &'static str,
    /// In a sentence; none for a combined event, whose sentence changes.
    pub message: Option<String>,
}

/// The Event object that events like this go to.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// How many events it stands for.
    pub count: i32,
    /// When the first was.
    pub first: Timestamp,
}

/// What to do about an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Create an object, or count up the one that is there.
    Tell {
        /// The object.
        record: Record,
        /// Whether it was told of before.
        again: bool,
        /// Whether it stands for similar events.
        combined: bool,
        /// What it says.
        message: String,
    },
    /// Leave it out: too many.
    Drop,
}

#[derive(Debug)]
struct Group {
    messages: BTreeSet<String>,
    last: Timestamp,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Timestamp,
}

/// Remembers what was told.
#[derive(Debug, Default)]
pub struct Correlator {
    groups: Recent<Said, Group>,
    records: Recent<Said, Record>,
    buckets: Recent<Topic, Bucket>,
}

impl Correlator {
    /// Judges an event that happens at `now`; `name` is that of a new object for it.
    pub fn judge(&mut self, said: Said, name: String, now: Timestamp) -> Verdict {
        let (key, combined, message) = self.group(said, now);
        let topic = (key.about.clone(), key.kind);
        let held = self.records.get_mut(&key);
        let again = held.is_some();
        let record = match held {
            Some(held) => Record { count: held.count + 1, ..held.clone() },
            None => Record { name, count: 1, first: now },
        };
        self.records.put(key, record.clone());
        if !self.may_speak(topic, now) {
            return Verdict::Drop;
        }
        Verdict::Tell { record, again, combined, message }
    }

    /// The record an event belongs to, whether that is a combined one, and the message to go there.
    fn group(&mut self, said: Said, now: Timestamp) -> (Said, bool, String) {
        let message = said.message.clone().unwrap_or_default();
        let key = Said { message: None, ..said.clone() };
        let mut group = match self.groups.take(&key) {
            Some(group) if now.duration_since(group.last) <= GROUP_LASTS => group,
            _ => Group { messages: BTreeSet::new(), last: now },
        };
        group.messages.insert(message.clone());
        group.last = now;
        let combined = group.messages.len() >= GROUP_MESSAGES;
        if combined {
            group.messages.pop_first();
        }
        self.groups.put(key.clone(), group);
        if combined {
            (key, true, format!("(combined from similar events): {message}"))
        } else {
            (said, false, message)
        }
    }

    fn may_speak(&mut self, topic: Topic, now: Timestamp) -> bool {
        let mut bucket = self.buckets.take(&topic).unwrap_or(Bucket { left: BURST, at: now });
        let passed = now.duration_since(bucket.at).as_secs_f64().max(0.0);
        bucket.left = (bucket.left + passed / REFILL_SECS).min(BURST);
        bucket.at = now;
        let may = bucket.left >= 1.0;
        if may {
            bucket.left -= 1.0;
        }
        self.buckets.put(topic, bucket);
        may
    }
}

/// A map that forgets what was not used for longest.
#[derive(Debug)]
struct Recent<K, V> {
    values: HashMap<K, (V, u64)>,
    uses: u64,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Recent { values: HashMap::new(), uses: 0 }
    }
}

impl<K: std::hash::Hash + Eq + Clone, V> Recent<K, V> {
    fn take(&mut self, key: &K) -> Option<V> {
        self.values.remove(key).map(|(value, _)| value)
    }

    fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.values.get_mut(key).map(|(value, _)| value)
    }

    fn put(&mut self, key: K, value: V) {
        self.uses += 1;
        self.values.insert(key, (value, self.uses));
        if self.values.len() > MEMORY {
            self.forget();
        }
    }

    /// Forgets the older eighth at once, so that this is rarely called.
    fn forget(&mut self) {
        let mut uses: Vec<u64> = self.values.values().map(|(_, used)| *used).collect();
        let (_, bound, _) = uses.select_nth_unstable(MEMORY / 8);
        let bound = *bound;
        self.values.retain(|_, (_, used)| *used > bound);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(message: &str) -> Said {
        let message = Some(message.to_owned());
        Said { about: "Deployment a/b".into(), kind: "Normal", reason: "ScalingReplicaSet", message }
    }

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + secs).unwrap()
    }

    fn told(correlator: &mut Correlator, message: &str, secs: i64) -> Option<(String, i32, String)> {
        match correlator.judge(said(message), format!("{message}@{secs}"), at(secs)) {
            Verdict::Tell { record, message, .. } => Some((record.name, record.count, message)),
            Verdict::Drop => None,
        }
    }

    #[test]
    fn an_equal_event_counts_up_the_first_one() {
        let mut correlator = Correlator::default();
        assert_eq!(told(&mut correlator, "x", 0), Some(("x@0".into(), 1, "x".into())));
        assert_eq!(told(&mut correlator, "y", 1), Some(("y@1".into(), 1, "y".into())));
        assert_eq!(told(&mut correlator, "x", 5000), Some(("x@0".into(), 2, "x".into())));
    }

    #[test]
    fn from_the_tenth_message_on_events_are_combined() {
        let mut correlator = Correlator::default();
        for i in 0..9 {
            assert_eq!(told(&mut correlator, &format!("m{i}"), i).unwrap().2, format!("m{i}"));
        }
        let combined = "(combined from similar events): m9";
        assert_eq!(told(&mut correlator, "m9", 9), Some(("m9@9".into(), 1, combined.into())));
        let combined = "(combined from similar events): m10";
        assert_eq!(told(&mut correlator, "m10", 10), Some(("m9@9".into(), 2, combined.into())));
        assert_eq!(told(&mut correlator, "m11", 611).unwrap().2, "m11");
    }

    #[test]
    fn after_a_burst_of_25_one_event_in_five_minutes_gets_through() {
        let mut correlator = Correlator::default();
        let through = (0..40).filter(|_| told(&mut correlator, "x", 0).is_some()).count();
        assert_eq!(through, 25);
        assert_eq!(told(&mut correlator, "x", 299), None);
        assert_eq!(told(&mut correlator, "x", 300).unwrap().1, 42);
    }

    #[test]
    fn memory_is_bounded() {
        let mut recent = Recent::default();
        for i in 0..10_000 {
            recent.put(i, ());
        }
        assert!(recent.values.len() <= MEMORY && recent.take(&9_999).is_some());
    }
}
