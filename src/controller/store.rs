//! The cached objects of one kind, by name, by who controls them, and, without a controller, by namespace.
//!
//! Objects come in from watches and from the answers to our own writes, in any order; the newer one wins.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::wire::Head;
use crate::rollout::{Controller, Deployment, Pod, ReplicaSet};

/// What a store must know of an object.
pub trait Cached {
    /// Its namespace.
    fn namespace(&self) -> &str;
    /// Its name.
    fn name(&self) -> &str;
    /// Its resourceVersion, which grows with every change in the cluster; 0 where it is not kept.
    fn version(&self) -> u64;
    /// Who controls it, where anybody asks.
    fn controller(&self) -> Option<&Controller>;
}

impl Cached for Deployment {
    fn namespace(&self) -> &str {
        &self.meta.namespace
    }
    fn name(&self) -> &str {
        &self.meta.name
    }
    fn version(&self) -> u64 {
        version(&self.meta.resource_version)
    }
    fn controller(&self) -> Option<&Controller> {
        None
    }
}

impl Cached for ReplicaSet {
    fn namespace(&self) -> &str {
        &self.meta.namespace
    }
    fn name(&self) -> &str {
        &self.meta.name
    }
    fn version(&self) -> u64 {
        version(&self.meta.resource_version)
    }
    fn controller(&self) -> Option<&Controller> {
        self.controller.as_ref()
    }
}

impl Cached for Pod {
    fn namespace(&self) -> &str {
        &self.namespace
    }
    fn name(&self) -> &str {
        &self.name
    }
    fn version(&self) -> u64 {
        0 // Pods are never written here, so a watch alone brings them, in order.
    }
    fn controller(&self) -> Option<&Controller> {
        self.controller.as_ref()
    }
}

/// A resourceVersion as a number. Since Kubernetes 1.35 the API promises that it is one and that a later
/// state has a greater one.
pub fn version(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

/// Whether a scope, a namespace or all of them, has this namespace in it.
pub fn covers(scope: Option<&str>, namespace: &str) -> bool {
    scope.is_none_or(|scope| scope == namespace)
}

type Names<T> = HashMap<Box<str>, Arc<T>>;

/// Objects of one kind.
#[derive(Debug)]
pub struct Store<T> {
    by_namespace: HashMap<Box<str>, Names<T>>,
    by_owner: HashMap<Box<str>, Vec<Arc<T>>>,
    orphans: HashMap<Box<str>, Vec<Arc<T>>>,
    /// How far the watches have come. What is not here and not newer than this is gone.
    watched: u64,
    indexed: bool,
}

/// What became of an object that was put into a store.
#[derive(Debug)]
pub enum Put<T> {
    /// It was not there.
    New,
    /// It took the place of this one.
    After(Arc<T>),
    /// A newer one, or the same, is there, or it is known to be gone.
    Old,
}

/// What a store can say of an object that a watch brings, before it is read.
#[derive(Debug)]
pub enum News<T> {
    /// It is not newer than the one that is here.
    Old,
    /// It is news of this one, or of an unknown one.
    Of(Option<Arc<T>>),
}

impl<T: Cached> Store<T> {
    /// An empty store that finds objects by owner.
    pub fn indexed() -> Self {
        Store { indexed: true, ..Store::plain() }
    }

    /// An empty store that finds objects by name only.
    pub fn plain() -> Self {
        Store {
            by_namespace: HashMap::new(),
            by_owner: HashMap::new(),
            orphans: HashMap::new(),
            watched: 0,
            indexed: false,
        }
    }

    /// The object of a name.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&Arc<T>> {
        self.by_namespace.get(namespace)?.get(name)
    }

    /// All of a namespace.
    pub fn of_namespace(&self, namespace: &str) -> impl Iterator<Item = &Arc<T>> {
        self.by_namespace.get(namespace).into_iter().flat_map(HashMap::values)
    }

    /// All.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.by_namespace.values().flat_map(HashMap::values)
    }

    /// Those that an object controls.
    pub fn of_owner(&self, uid: &str) -> &[Arc<T>] {
        self.by_owner.get(uid).map_or(&[], Vec::as_slice)
    }

    /// Those of a namespace that nobody controls.
    pub fn orphans(&self, namespace: &str) -> &[Arc<T>] {
        self.orphans.get(namespace).map_or(&[], Vec::as_slice)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_namespace.values().map(HashMap::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether an object that a watch brings is to be read.
    pub fn news(&mut self, head: &Head<'_>) -> News<T> {
        let held = self.get(&head.namespace, &head.name).cloned();
        let brought = version(&head.resource_version);
        match held {
            Some(held) if held.version() != 0 && held.version() >= brought => {
                self.watched = self.watched.max(brought);
                News::Old
            }
            held => News::Of(held),
        }
    }

    /// Takes in an object that a watch has brought.
    pub fn watched(&mut self, object: Arc<T>) -> Put<T> {
        self.watched = self.watched.max(object.version());
        match self.get(object.namespace(), object.name()) {
            Some(held) if object.version() != 0 && held.version() >= object.version() => Put::Old,
            _ => self.insert(object),
        }
    }

    /// Takes in an object that a write of our own has given back. The watch may have been faster, and may
    /// even have brought the news that it is gone.
    pub fn written(&mut self, object: Arc<T>) -> Put<T> {
        match self.get(object.namespace(), object.name()) {
            Some(held) if held.version() >= object.version() => Put::Old,
            None if object.version() <= self.watched => Put::Old,
            _ => self.insert(object),
        }
    }

    /// Drops an object that is gone since `version`, unless a newer one of that name is there.
    pub fn remove(&mut self, namespace: &str, name: &str, version: u64) -> Option<Arc<T>> {
        self.watched = self.watched.max(version);
        let names = self.by_namespace.get_mut(namespace)?;
        if names.get(name).is_some_and(|held| held.version() > version) {
            return None;
        }
        let gone = names.remove(name)?;
        if names.is_empty() {
            self.by_namespace.remove(namespace);
        }
        self.unindex(&gone);
        Some(gone)
    }

    /// What is in a namespace (or anywhere), was there at `version`, and is not among those listed: it was
    /// deleted while nobody watched.
    pub fn missing(
        &self,
        scope: Option<&str>,
        listed: &HashSet<(Box<str>, Box<str>)>,
        version: u64,
    ) -> Vec<Arc<T>> {
        let gone = |held: &&Arc<T>| {
            covers(scope, held.namespace())
                && held.version() <= version
                && !listed.contains(&(held.namespace().into(), held.name().into()))
        };
        self.iter().filter(gone).cloned().collect()
    }

    /// Drops all of a namespace, or all.
    pub fn clear(&mut self, scope: Option<&str>) {
        let Some(namespace) = scope else {
            self.by_namespace = HashMap::new();
            self.by_owner = HashMap::new();
            self.orphans = HashMap::new();
            return;
        };
        for object in self.by_namespace.remove(namespace).unwrap_or_default().values() {
            self.unindex(object);
        }
    }

    fn insert(&mut self, object: Arc<T>) -> Put<T> {
        let names = match self.by_namespace.get_mut(object.namespace()) {
            Some(names) => names,
            None => self.by_namespace.entry(object.namespace().into()).or_default(),
        };
        let old = names.insert(object.name().into(), object.clone());
        if let Some(old) = &old {
            self.unindex(old);
        }
        if self.indexed {
            let bucket = match object.controller() {
                Some(owner) => self.by_owner.entry(owner.uid.clone()),
                None => self.orphans.entry(object.namespace().into()),
            };
            bucket.or_default().push(object);
        }
        old.map_or(Put::New, Put::After)
    }

    fn unindex(&mut self, object: &Arc<T>) {
        let (map, key) = match object.controller() {
            Some(owner) => (&mut self.by_owner, &*owner.uid),
            None => (&mut self.orphans, object.namespace()),
        };
        if let Some(bucket) = map.get_mut(key) {
            bucket.retain(|held| !Arc::ptr_eq(held, object));
            if bucket.is_empty() {
                map.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, owner: Option<&str>, version: u64) -> Arc<ReplicaSet> {
        let owners = owner.map_or(String::new(), |uid| {
            format!(
                r#","ownerReferences":[{{"kind":"Deployment","name":"d","uid":"{uid}","controller":true}}]"#
            )
        });
        let json = format!(
            r#"{{"metadata":{{"namespace":"ns","name":"{name}","resourceVersion":"{version}"{owners}}},"spec":{{}}}}"#
        );
        Arc::new(serde_json::from_str(&json).unwrap())
    }

    fn names(sets: &[Arc<ReplicaSet>]) -> Vec<&str> {
        sets.iter().map(|set| &*set.meta.name).collect()
    }

    #[test]
    fn objects_are_found_by_owner_and_orphans_by_namespace() {
        let mut store = Store::indexed();
        for set in [set("a", Some("u"), 1), set("b", None, 2), set("c", Some("v"), 3)] {
            assert!(matches!(store.watched(set), Put::New));
        }
        assert_eq!((names(store.of_owner("u")), names(store.orphans("ns"))), (vec!["a"], vec!["b"]));
        assert!(matches!(store.watched(set("b", Some("u"), 4)), Put::After(_)));
        assert_eq!((names(store.of_owner("u")), store.orphans("ns").len()), (vec!["a", "b"], 0));
        assert!(store.remove("ns", "a", 5).is_some());
        assert_eq!((names(store.of_owner("u")), store.len()), (vec!["b"], 2));
    }

    #[test]
    fn what_is_cleared_is_not_found_in_any_way() {
        for scope in [None, Some("ns")] {
            let mut store = Store::indexed();
            store.watched(set("a", Some("u"), 1));
            store.watched(set("b", None, 2));
            store.clear(Some("other"));
            assert_eq!((store.len(), store.of_owner("u").len(), store.orphans("ns").len()), (2, 1, 1));
            store.clear(scope);
            assert_eq!((store.len(), store.of_owner("u").len(), store.orphans("ns").len()), (0, 0, 0));
        }
    }

    #[test]
    fn the_newer_one_wins_wherever_it_comes_from() {
        let mut store = Store::indexed();
        store.watched(set("a", None, 5));
        assert!(matches!(store.written(set("a", None, 7)), Put::After(_)));
        assert!(matches!(store.watched(set("a", None, 6)), Put::Old));
        assert!(matches!(store.watched(set("a", None, 7)), Put::Old), "our own write, heard of again");
        assert!(store.remove("ns", "a", 6).is_none(), "it was made anew since");
        assert!(store.remove("ns", "a", 8).is_some());
    }

    #[test]
    fn what_is_known_already_need_not_be_read() {
        let head = |version: &'static str| Head {
            namespace: "ns".into(),
            name: "a".into(),
            resource_version: version.into(),
        };
        let mut store = Store::indexed();
        assert!(matches!(store.news(&head("5")), News::Of(None)));
        store.written(set("a", None, 7));
        assert!(matches!(store.news(&head("7")), News::Old));
        assert!(matches!(store.news(&head("8")), News::Of(Some(_))));
        assert_eq!(store.watched, 7, "as far as the watch has come, read or not");
    }

    #[test]
    fn an_answer_does_not_bring_back_what_the_watch_has_seen_go() {
        let mut store = Store::indexed();
        store.watched(set("a", None, 5));
        store.remove("ns", "a", 9);
        assert!(matches!(store.written(set("a", None, 8)), Put::Old));
        assert!(matches!(store.written(set("a", None, 10)), Put::New), "the watch is not there yet");
    }

    #[test]
    fn what_a_list_lacks_is_missing_unless_it_is_newer_than_the_list() {
        let mut store = Store::indexed();
        for set in [set("a", None, 1), set("b", None, 2), set("c", None, 30)] {
            store.watched(set);
        }
        let listed = HashSet::from([("ns".into(), "a".into())]);
        assert_eq!(names(&store.missing(None, &listed, 20)), ["b"]);
        assert!(store.missing(Some("other"), &listed, 20).is_empty());
    }
}
