//! What the controller knows of the cluster, and which Deployments a change concerns.
//!
//! One lock guards it all, so that the three kinds are seen at one moment. It is held for microseconds:
//! planning and writing happen outside, on shared objects.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::watch;

use super::key::Key;
use super::queue::Lane;
use super::store::{Cached, Put, Store, covers};
use crate::rollout::{Controller, Deployment, OwnerKind, Pod, ReplicaSet, Strategy};

/// The caches.
#[derive(Debug)]
pub struct World {
    /// Deployments.
    pub deployments: Store<Deployment>,
    /// ReplicaSets, found by Deployment.
    pub sets: Store<ReplicaSet>,
    /// Pods of ReplicaSets, found by ReplicaSet: only of the scopes that are followed now.
    pub pods: Store<Pod>,
    /// The scopes whose Pods are all here.
    pods_listed: HashSet<Scope>,
    /// How many Deployments use Recreate. The other strategies never look at Pods, so that these need not
    /// be followed while there is none.
    recreating: watch::Sender<usize>,
}

/// What a watch covers: a namespace, or, without a name, all of them.
pub type Scope = Option<Box<str>>;

/// What bears on one Deployment.
#[derive(Debug, Clone)]
pub struct View {
    /// The Deployment.
    pub deployment: Arc<Deployment>,
    /// Its ReplicaSets, and those of its namespace that nobody controls.
    pub sets: Vec<Arc<ReplicaSet>>,
    /// The Pods of its ReplicaSets, where the strategy looks at them.
    pub pods: Vec<Arc<Pod>>,
}

impl Default for World {
    fn default() -> Self {
        World {
            deployments: Store::plain(),
            sets: Store::indexed(),
            pods: Store::indexed(),
            pods_listed: HashSet::new(),
            recreating: watch::Sender::new(0),
        }
    }
}

/// Where an object came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A watch.
    Watch,
    /// The answer to a write of our own, or to a fresh look.
    Answer,
}

/// A kind of object that is kept: where, and whom its changes concern.
pub trait Known: Cached + Sized {
    /// Reads one; what is held of it saves work.
    ///
    /// # Errors
    /// When it is none.
    fn read(json: &str, held: Option<&Self>) -> Result<Self, serde_json::Error>;
    /// Its store.
    fn store(world: &mut World) -> &mut Store<Self>;
    /// How the Deployments that a change concerns line up.
    fn lane(_origin: Origin) -> Lane {
        Lane::Begun
    }
    /// Takes in an object; tells which Deployments to look at.
    fn seen(world: &mut World, object: Self, origin: Origin) -> Vec<Key>;
    /// Drops an object that is gone since `version`; tells which Deployments to look at.
    fn gone(world: &mut World, object: &Self, version: u64) -> Vec<Key>;
    /// Notes that all of a scope are here; tells which Deployments have waited for that.
    fn listed(_world: &mut World, _scope: &Scope) -> Vec<Key> {
        Vec::new()
    }
}

impl Known for Deployment {
    fn read(json: &str, held: Option<&Self>) -> Result<Self, serde_json::Error> {
        Deployment::read(json, held)
    }

    fn store(world: &mut World) -> &mut Store<Self> {
        &mut world.deployments
    }

    /// Deployments are changed by those who want something, and by us.
    fn lane(origin: Origin) -> Lane {
        match origin {
            Origin::Watch => Lane::New,
            Origin::Answer => Lane::Begun,
        }
    }

    fn seen(world: &mut World, object: Self, origin: Origin) -> Vec<Key> {
        let key = Key::new(&object.meta.namespace, &object.meta.name);
        let object = Arc::new(object);
        let old = match put(&mut world.deployments, object.clone(), origin) {
            Put::Old => return Vec::new(),
            Put::New => None,
            Put::After(old) => Some(old),
        };
        world.count_recreating(old.as_deref(), Some(&object));
        vec![key]
    }

    fn gone(world: &mut World, object: &Self, version: u64) -> Vec<Key> {
        let held = world.deployments.remove(&object.meta.namespace, &object.meta.name, version);
        world.count_recreating(held.as_deref(), None);
        vec![Key::new(&object.meta.namespace, &object.meta.name)]
    }
}

impl Known for ReplicaSet {
    fn read(json: &str, held: Option<&Self>) -> Result<Self, serde_json::Error> {
        ReplicaSet::read(json, held)
    }

    fn store(world: &mut World) -> &mut Store<Self> {
        &mut world.sets
    }

    fn seen(world: &mut World, object: Self, origin: Origin) -> Vec<Key> {
        let set = Arc::new(object);
        match put(&mut world.sets, set.clone(), origin) {
            Put::Old => Vec::new(),
            Put::New if set.meta.deleting => world.owner(&set).into_iter().collect(),
            Put::New => world.owner_or_suitors(&set),
            Put::After(old) => {
                let mut keys = Vec::new();
                let moved = old.controller != set.controller;
                if moved {
                    keys.extend(world.owner(&old));
                }
                if set.controller.is_some() || moved || old.meta.labels != set.meta.labels {
                    keys.extend(world.owner_or_suitors(&set));
                }
                keys
            }
        }
    }

    fn gone(world: &mut World, object: &Self, version: u64) -> Vec<Key> {
        let held = world.sets.remove(&object.meta.namespace, &object.meta.name, version);
        world.owner(held.as_deref().unwrap_or(object)).into_iter().collect()
    }
}

impl Known for Pod {
    fn read(json: &str, _held: Option<&Self>) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    fn store(world: &mut World) -> &mut Store<Self> {
        &mut world.pods
    }

    /// Pods whose controller is no ReplicaSet are never asked for, so they are not kept.
    fn seen(world: &mut World, object: Self, origin: Origin) -> Vec<Key> {
        let held = world.pods.get(&object.namespace, &object.name);
        if held.is_some_and(|held| **held == object) {
            return Vec::new(); // most changes of a Pod are none to us
        }
        if object.controller.as_ref().is_some_and(|owner| owner.kind == OwnerKind::ReplicaSet) {
            put(&mut world.pods, Arc::new(object), origin);
        } else {
            world.pods.remove(&object.namespace, &object.name, 0);
        }
        Vec::new()
    }

    fn gone(world: &mut World, object: &Self, _version: u64) -> Vec<Key> {
        world.pods.remove(&object.namespace, &object.name, 0);
        world.waiting_for(object).into_iter().collect()
    }

    fn listed(world: &mut World, scope: &Scope) -> Vec<Key> {
        if !world.pods_listed.insert(scope.clone()) {
            return Vec::new();
        }
        let waits = |d: &&Arc<Deployment>| recreates(d) && covers(scope.as_deref(), &d.meta.namespace);
        let waiting = world.deployments.iter().filter(waits);
        waiting.map(|d| Key::new(&d.meta.namespace, &d.meta.name)).collect()
    }
}

fn recreates(deployment: &Deployment) -> bool {
    matches!(deployment.strategy, Strategy::Recreate)
}

fn put<T: Cached>(store: &mut Store<T>, object: Arc<T>, origin: Origin) -> Put<T> {
    match origin {
        Origin::Watch => store.watched(object),
        Origin::Answer => store.written(object),
    }
}

impl World {
    /// What bears on a Deployment; none if it is not known, or its Pods matter and are not known yet.
    pub fn view(&self, key: &Key) -> Option<View> {
        let deployment = self.deployments.get(key.namespace(), key.name())?.clone();
        let orphans = self.sets.orphans(key.namespace());
        let sets: Vec<_> = self.sets.of_owner(&deployment.meta.uid).iter().chain(orphans).cloned().collect();
        let mut pods = Vec::new();
        if recreates(&deployment) {
            if !self.knows_pods_of(key.namespace()) {
                return None;
            }
            pods.extend(sets.iter().flat_map(|set| self.pods.of_owner(&set.meta.uid)).cloned());
        }
        Some(View { deployment, sets, pods })
    }

    /// How many Deployments need their Pods to be followed.
    pub fn recreating(&self) -> watch::Receiver<usize> {
        self.recreating.subscribe()
    }

    /// Drops the Pods of a scope that is followed no more.
    pub fn forget_pods(&mut self, scope: &Scope) {
        self.pods_listed.remove(scope);
        self.pods.clear(scope.as_deref());
    }

    fn knows_pods_of(&self, namespace: &str) -> bool {
        self.pods_listed.iter().any(|scope| covers(scope.as_deref(), namespace))
    }

    fn count_recreating(&self, old: Option<&Deployment>, new: Option<&Deployment>) {
        let (less, more) = (old.is_some_and(recreates), new.is_some_and(recreates));
        if less != more {
            self.recreating
                .send_modify(|count| *count = (*count + usize::from(more)).saturating_sub(less.into()));
        }
    }

    /// The Deployment that controls a ReplicaSet, if it is known. API versions are not compared.
    fn owner(&self, set: &ReplicaSet) -> Option<Key> {
        self.resolve(&set.meta.namespace, set.controller.as_ref()?).map(|(key, _)| key)
    }

    fn resolve(&self, namespace: &str, owner: &Controller) -> Option<(Key, &Arc<Deployment>)> {
        if owner.kind != OwnerKind::Deployment {
            return None;
        }
        let deployment = self.deployments.get(namespace, &owner.name)?;
        (deployment.meta.uid == owner.uid).then(|| (Key::new(namespace, &owner.name), deployment))
    }

    /// The Deployment that controls a ReplicaSet, or all that might adopt it.
    fn owner_or_suitors(&self, set: &ReplicaSet) -> Vec<Key> {
        if set.controller.is_some() {
            return self.owner(set).into_iter().collect();
        }
        if set.meta.labels.is_empty() {
            return Vec::new();
        }
        let suits =
            |d: &&Arc<Deployment>| !d.selector.selects_everything() && d.selector.matches(&set.meta.labels);
        let suitors = self.deployments.of_namespace(&set.meta.namespace).filter(suits);
        suitors.map(|d| Key::new(&d.meta.namespace, &d.meta.name)).collect()
    }

    /// The Deployment that may be waiting for the end of a Pod, to recreate it.
    fn waiting_for(&self, pod: &Pod) -> Option<Key> {
        let owner = pod.controller.as_ref().filter(|owner| owner.kind == OwnerKind::ReplicaSet)?;
        let set = self.sets.get(&pod.namespace, &owner.name).filter(|set| set.meta.uid == owner.uid)?;
        let (key, deployment) = self.resolve(&pod.namespace, set.controller.as_ref()?)?;
        recreates(deployment).then_some(key)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read<T: serde::de::DeserializeOwned>(json: &Value) -> T {
        serde_json::from_str(&json.to_string()).unwrap()
    }

    fn deployment(name: &str, app: &str, strategy: &str) -> Deployment {
        read(&json!({
            "metadata": {"namespace": "ns", "name": name, "uid": name, "resourceVersion": "1"},
            "spec": {
                "selector": {"matchLabels": {"app": app}},
                "template": {},
                "strategy": {"type": strategy},
            },
        }))
    }

    fn controlled_by(kind: &str, owner: &str, uid: &str) -> Value {
        json!([{"kind": kind, "name": owner, "uid": uid, "controller": true}])
    }

    /// A ReplicaSet of a Deployment, or without a controller.
    fn set(owner: Option<&str>, app: &str, version: u32) -> Value {
        let mut set = json!({
            "metadata": {
                "namespace": "ns",
                "name": "set",
                "uid": "set",
                "labels": {"app": app},
                "resourceVersion": version.to_string(),
            },
            "spec": {},
        });
        if let Some(owner) = owner {
            set["metadata"]["ownerReferences"] = controlled_by("Deployment", owner, owner);
        }
        set
    }

    fn world() -> World {
        let mut world = World::default();
        for (name, app, strategy) in
            [("a", "x", "RollingUpdate"), ("b", "x", "Recreate"), ("c", "y", "RollingUpdate")]
        {
            Deployment::seen(&mut world, deployment(name, app, strategy), Origin::Watch);
        }
        world
    }

    fn names(mut keys: Vec<Key>) -> Vec<String> {
        keys.sort();
        keys.iter().map(|key| key.name().to_owned()).collect()
    }

    fn seen(world: &mut World, set: &Value) -> Vec<String> {
        names(ReplicaSet::seen(world, read(set), Origin::Watch))
    }

    #[test]
    fn a_set_concerns_its_owner_or_else_whoever_may_adopt_it() {
        assert_eq!(seen(&mut world(), &set(Some("c"), "x", 2)), ["c"]);
        assert_eq!(seen(&mut world(), &set(Some("nobody"), "x", 2)), [""; 0]);
        assert_eq!(seen(&mut world(), &set(None, "x", 2)), ["a", "b"]);
        let mut bare = set(None, "x", 2);
        bare["metadata"]["labels"] = json!({});
        assert_eq!(seen(&mut world(), &bare), [""; 0]);
    }

    #[test]
    fn an_owner_is_of_the_right_kind_and_identity() {
        let mut foreign = set(None, "x", 2);
        foreign["metadata"]["ownerReferences"] = controlled_by("Rollout", "a", "a");
        assert_eq!(seen(&mut world(), &foreign), [""; 0]);
        foreign["metadata"]["ownerReferences"] = controlled_by("Deployment", "a", "an earlier a");
        assert_eq!(seen(&mut world(), &foreign), [""; 0]);
    }

    #[test]
    fn a_set_that_changes_hands_concerns_both() {
        let mut world = world();
        seen(&mut world, &set(Some("a"), "x", 2));
        assert_eq!(seen(&mut world, &set(Some("c"), "x", 3)), ["a", "c"]);
        assert_eq!(seen(&mut world, &set(None, "x", 4)), ["a", "b", "c"]);
        assert_eq!(seen(&mut world, &set(None, "x", 4)), [""; 0], "the same state again");
        assert_eq!(seen(&mut world, &set(None, "x", 5)), [""; 0], "an orphan that nothing bears on");
        assert_eq!(seen(&mut world, &set(None, "y", 6)), ["c"], "its labels have changed");
    }

    #[test]
    fn a_set_that_goes_concerns_its_owner() {
        let mut world = world();
        seen(&mut world, &set(Some("a"), "x", 2));
        let last: ReplicaSet = read(&set(Some("a"), "x", 3));
        assert_eq!(names(ReplicaSet::gone(&mut world, &last, 3)), ["a"]);
        let mut ending = set(None, "x", 4);
        ending["metadata"]["deletionTimestamp"] = json!("2026-12-01T10:00:00Z");
        assert_eq!(seen(&mut world, &ending), [""; 0], "an orphan that is going is adopted by nobody");
    }

    #[test]
    fn the_end_of_a_pod_concerns_a_deployment_that_recreates() {
        let pod = |owner: Value| -> Pod {
            read(&json!({"metadata": {"namespace": "ns", "name": "pod", "ownerReferences": owner}}))
        };
        let of_set = controlled_by("ReplicaSet", "set", "set");
        for (owner, concerned) in [("a", vec![]), ("b", vec!["b".to_owned()])] {
            let mut world = world();
            seen(&mut world, &set(Some(owner), "x", 2));
            assert!(Pod::seen(&mut world, pod(of_set.clone()), Origin::Watch).is_empty());
            assert_eq!(world.pods.of_owner("set").len(), 1);
            assert_eq!(names(Pod::gone(&mut world, &pod(of_set.clone()), 0)), concerned);
            assert!(world.pods.is_empty());
        }
        let mut world = world();
        Pod::seen(&mut world, pod(controlled_by("Job", "job", "job")), Origin::Watch);
        assert!(world.pods.is_empty(), "nobody asks for it");
    }

    #[test]
    fn a_view_holds_own_sets_orphans_and_only_where_needed_pods() {
        let mut world = world();
        seen(&mut world, &set(Some("b"), "x", 2));
        let owner = controlled_by("ReplicaSet", "set", "set");
        let pod = json!({"metadata": {"namespace": "ns", "name": "pod", "ownerReferences": owner}});
        Pod::seen(&mut world, read(&pod), Origin::Watch);
        assert!(world.view(&Key::new("ns", "b")).is_none(), "there may be more Pods");
        assert_eq!(names(Pod::listed(&mut world, &Some("ns".into()))), ["b"], "it has waited for them");
        assert_eq!(names(Pod::listed(&mut world, &Some("ns".into()))), [""; 0], "a later list is no news");
        let view = world.view(&Key::new("ns", "b")).unwrap();
        assert_eq!((view.sets.len(), view.pods.len()), (1, 1));
        let view = world.view(&Key::new("ns", "a")).unwrap();
        assert_eq!((view.sets.len(), view.pods.len()), (0, 0));
        assert!(world.view(&Key::new("ns", "gone")).is_none());
    }

    #[test]
    fn pods_are_known_where_a_watch_covers_them() {
        let b = Key::new("ns", "b");
        for (scope, covers) in [(None, true), (Some("ns"), true), (Some("other"), false)] {
            let (mut world, scope) = (world(), scope.map(Box::from));
            let waiting = Pod::listed(&mut world, &scope);
            assert_eq!((waiting.contains(&b), world.view(&b).is_some()), (covers, covers), "{scope:?}");
            world.forget_pods(&scope);
            assert!(world.view(&b).is_none());
            assert!(world.view(&Key::new("ns", "a")).is_some(), "it does not look at Pods");
        }
    }

    #[test]
    fn deployments_that_recreate_are_counted() {
        let mut world = world();
        let recreating = world.recreating();
        let changed = |strategy, version: &str| -> Deployment {
            let mut object = deployment("a", "x", strategy);
            object.meta.resource_version = version.into();
            object
        };
        assert_eq!(*recreating.borrow(), 1);
        for (strategy, version, count) in
            [("Recreate", "2", 2), ("Recreate", "3", 2), ("RollingUpdate", "2", 2), ("RollingUpdate", "4", 1)]
        {
            Deployment::seen(&mut world, changed(strategy, version), Origin::Watch);
            assert_eq!(*recreating.borrow(), count, "{strategy} at {version}");
        }
        for (name, count) in [("a", 1), ("b", 0), ("b", 0)] {
            Deployment::gone(&mut world, &deployment(name, "x", "Recreate"), 9);
            assert_eq!(*recreating.borrow(), count, "without {name}");
        }
    }
}
