//! Carries what watches find into the caches, and the Deployments concerned into the queue.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::queue::{Lane, Queue};
use super::store::{News, version};
use super::watch::Sink;
use super::wire::Head;
use super::world::{Known, Origin, Scope, World};

/// The caches and the queue that changes of theirs go to.
#[derive(Debug, Default)]
pub struct Shared {
    world: Mutex<World>,
    /// The work.
    pub queue: Queue,
}

impl Shared {
    /// The caches, for a moment.
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in an object; whoever is concerned will be looked at.
    pub fn seen<T: Known>(&self, object: T, origin: Origin) {
        let keys = T::seen(&mut self.world(), object, origin);
        self.queue.add(keys, T::lane(origin));
    }

    /// Drops an object that is gone since a resourceVersion; whoever is concerned will be looked at.
    pub fn gone<T: Known>(&self, object: &T, version: u64) {
        let keys = T::gone(&mut self.world(), object, version);
        self.queue.add(keys, Lane::Begun);
    }
}

/// Sees every object of one kind as it came, before it is slimmed down.
pub type Witness = Box<dyn FnMut(&str) + Send>;

/// The sink of one watch.
pub struct Reflector<T> {
    shared: Arc<Shared>,
    scope: Scope,
    /// What the list that is coming in holds so far.
    listed: Option<HashSet<(Box<str>, Box<str>)>>,
    /// Counts the watches whose list has come in once, this one not yet among them.
    synced: Option<watch::Sender<usize>>,
    /// Somebody else to show every object to.
    pub witness: Option<Witness>,
    kind: PhantomData<fn(T)>,
}

impl<T> Reflector<T> {
    /// Of a scope. `synced`, if somebody waits for it, counts the watches whose list has come in once.
    pub fn new(shared: Arc<Shared>, scope: Scope, synced: Option<watch::Sender<usize>>) -> Self {
        Reflector { shared, scope, listed: None, synced, witness: None, kind: PhantomData }
    }
}

impl<T: Known> Sink for Reflector<T> {
    fn list_begins(&mut self) {
        // Nothing can be missing from a list that comes into an empty store.
        let empty = T::store(&mut self.shared.world()).is_empty();
        self.listed = (!empty).then(HashSet::new);
    }

    fn list_ends(&mut self, at: &str) {
        if let Some(listed) = self.listed.take() {
            let at = version(at);
            let missing = {
                let mut world = self.shared.world();
                T::store(&mut world).missing(self.scope.as_deref(), &listed, at)
            };
            for object in missing {
                self.shared.gone(&*object, at);
            }
        }
        let waiting = T::listed(&mut self.shared.world(), &self.scope);
        self.shared.queue.add(waiting, Lane::Begun);
        if let Some(synced) = self.synced.take() {
            synced.send_modify(|count| *count += 1);
        }
    }

    fn seen(&mut self, head: &Head<'_>, json: &str) -> Result<(), serde_json::Error> {
        if let Some(listed) = &mut self.listed {
            listed.insert((head.namespace.as_ref().into(), head.name.as_ref().into()));
        }
        if let Some(witness) = &mut self.witness {
            witness(json);
        }
        let held = T::store(&mut self.shared.world()).news(head);
        match held {
            News::Old => Ok(()), // mostly what the answer to a write of our own has told already
            News::Of(held) => {
                let object = T::read(json, held.as_deref())?;
                self.shared.seen(object, Origin::Watch);
                Ok(())
            }
        }
    }

    fn gone(&mut self, json: &str) -> Result<(), serde_json::Error> {
        let object = T::read(json, None)?;
        if let Some(listed) = &mut self.listed {
            listed.remove(&(object.namespace().into(), object.name().into()));
        }
        let version = object.version();
        self.shared.gone(&object, version);
        Ok(())
    }
}
