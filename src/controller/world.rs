//! What the controller knows of the cluster, and which Deployments a change concerns.
//!
//! One lock guards it all, so that the three kinds are seen at one moment. It is held for microseconds:
//! planning and writing happen outside, on shared objects.

use std::sync::Arc;

use super::key::Key;
use super::store::{Cached, Put, Store};
use crate::rollout::{Controller, Deployment, OwnerKind, Pod, ReplicaSet, Strategy};

/// The caches.
#[derive(Debug)]
pub struct World {
    /// Deployments.
    pub deployments: Store<Deployment>,
    /// ReplicaSets, found by Deployment.
    pub sets: Store<ReplicaSet>,
    /// Pods of ReplicaSets, found by ReplicaSet.
    pub pods: Store<Pod>,
}

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
        World { deployments: Store::plain(), sets: Store::indexed(), pods: Store::indexed() }
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
    /// Its store.
    fn store(world: &mut World) -> &mut Store<Self>;
    /// Takes in an object; tells which Deployments to look at.
    fn seen(world: &mut World, object: Self, origin: Origin) -> Vec<Key>;
    /// Drops an object that is gone since `version`; tells which Deployments to look at.
    fn gone(world: &mut World, object: &Self, version: u64) -> Vec<Key>;
}

impl Known for Deployment {
    fn store(world: &mut World) -> &mut Store<Self> {
        &mut world.deployments
    }

    fn seen(world: &mut World, object: Self, origin: Origin) -> Vec<Key> {
        let key = Key::new(&object.meta.namespace, &object.meta.name);
        match put(&mut world.deployments, Arc::new(object), origin) {
            Put::Old => Vec::new(),
            Put::New | Put::After(_) => vec![key],
        }
    }

    fn gone(world: &mut World, object: &Self, version: u64) -> Vec<Key> {
        world.deployments.remove(&object.meta.namespace, &object.meta.name, version);
        vec![Key::new(&object.meta.namespace, &object.meta.name)]
    }
}

impl Known for ReplicaSet {
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
    fn store(world: &mut World) -> &mut Store<Self> {
        &mut world.pods
    }

    /// Pods whose controller is no ReplicaSet are never asked for, so they are not kept.
    fn seen(world: &mut World, object: Self, origin: Origin) -> Vec<Key> {
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
}

fn put<T: Cached>(store: &mut Store<T>, object: Arc<T>, origin: Origin) -> Put<T> {
    match origin {
        Origin::Watch => store.watched(object),
        Origin::Answer => store.written(object),
    }
}

impl World {
    /// What bears on a Deployment; none if it is not known.
    pub fn view(&self, key: &Key) -> Option<View> {
        let deployment = self.deployments.get(key.namespace(), key.name())?.clone();
        let orphans = self.sets.orphans(key.namespace());
        let sets: Vec<_> = self.sets.of_owner(&deployment.meta.uid).iter().chain(orphans).cloned().collect();
        let pods = match deployment.strategy {
            Strategy::Recreate => {
                sets.iter().flat_map(|set| self.pods.of_owner(&set.meta.uid)).cloned().collect()
            }
            _ => Vec::new(),
        };
        Some(View { deployment, sets, pods })
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
        matches!(deployment.strategy, Strategy::Recreate).then_some(key)
    }
}
