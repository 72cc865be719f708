//! The work queue: which Deployments to look at, each at most once at a time.
//!
//! A key that is added while it waits is not added again; one that is added while a worker has it is handed
//! out again afterwards. [`Line`] decides and takes the time as a value; [`Queue`] waits.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::key::Key;

/// The order of work.
#[derive(Debug, Default)]
pub struct Line {
    ready: VecDeque<Key>,
    /// Keys to be handed out, and since when: those that are ready, and those that a worker has and that
    /// are wanted again.
    wanted: HashMap<Key, Instant>,
    in_work: HashSet<Key>,
    later: BinaryHeap<Reverse<(Instant, Key)>>,
    /// The time that counts of a key's entries in `later`; the others are void.
    due: HashMap<Key, Instant>,
}

impl Line {
    /// Wants a key to be looked at.
    pub fn add(&mut self, key: Key, now: Instant) {
        if self.wanted.contains_key(&key) {
            return;
        }
        self.wanted.insert(key.clone(), now);
        if !self.in_work.contains(&key) {
            self.ready.push_back(key);
        }
    }

    /// Wants a key to be looked at from some time on. If that is wanted twice, the earlier time counts.
    pub fn add_at(&mut self, key: Key, at: Instant) {
        if self.due.get(&key).is_none_or(|due| at < *due) {
            self.due.insert(key.clone(), at);
            self.later.push(Reverse((at, key)));
        }
    }

    /// The next key to look at, and since when it has been wanted.
    pub fn take(&mut self, now: Instant) -> Option<(Key, Instant)> {
        self.mature(now);
        let key = self.ready.pop_front()?;
        let since = self.wanted.remove(&key).unwrap_or(now);
        self.in_work.insert(key.clone());
        Some((key, since))
    }

    /// Gives a key back.
    pub fn done(&mut self, key: &Key) {
        self.in_work.remove(key);
        if self.wanted.contains_key(key) {
            self.ready.push_back(key.clone());
        }
    }

    /// When a key will be ready that is not now.
    pub fn next_due(&self) -> Option<Instant> {
        self.later.peek().map(|Reverse((at, _))| *at)
    }

    /// How many keys are ready, and since when the oldest has been wanted.
    pub fn depth(&self) -> (usize, Option<Instant>) {
        (self.ready.len(), self.ready.front().and_then(|key| self.wanted.get(key)).copied())
    }

    fn mature(&mut self, now: Instant) {
        while self.next_due().is_some_and(|at| at <= now) {
            let Some(Reverse((at, key))) = self.later.pop() else { return };
            if self.due.get(&key) == Some(&at) {
                self.due.remove(&key);
                self.add(key, now);
            }
        }
    }
}

/// A [`Line`] that several workers wait at.
#[derive(Debug, Default)]
pub struct Queue {
    line: Mutex<Line>,
    changed: Notify,
}

impl Queue {
    /// Wants keys to be looked at now.
    pub fn add(&self, keys: impl IntoIterator<Item = Key>) {
        let now = Instant::now();
        let mut line = self.line();
        let mut added = 0;
        for key in keys {
            line.add(key, now);
            added += 1;
        }
        drop(line);
        (0..added).for_each(|_| self.changed.notify_one());
    }

    /// Wants a key to be looked at after some time.
    pub fn add_after(&self, key: Key, delay: Duration) {
        self.line().add_at(key, Instant::now() + delay);
        self.changed.notify_one();
    }

    /// Waits for a key to look at. Says since when it has been wanted.
    pub async fn take(&self) -> (Key, Instant) {
        loop {
            let due = {
                let mut line = self.line();
                if let Some(taken) = line.take(Instant::now()) {
                    if !line.ready.is_empty() {
                        self.changed.notify_one();
                    }
                    return taken;
                }
                line.next_due()
            };
            let changed = self.changed.notified();
            match due {
                Some(at) => {
                    let _ = tokio::time::timeout_at(at.into(), changed).await;
                }
                None => changed.await,
            }
        }
    }

    /// Gives a key back.
    pub fn done(&self, key: &Key) {
        let mut line = self.line();
        line.done(key);
        let ready = !line.ready.is_empty();
        drop(line);
        if ready {
            self.changed.notify_one();
        }
    }

    /// How many keys are ready, and how long the oldest has waited.
    pub fn depth(&self) -> (usize, Duration) {
        let (ready, since) = self.line().depth();
        (ready, since.map_or(Duration::ZERO, |since| since.elapsed()))
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::new("ns", name)
    }

    fn taken(line: &mut Line, now: Instant) -> Option<String> {
        line.take(now).map(|(key, _)| key.name().to_owned())
    }

    #[test]
    fn a_key_is_handed_out_once_however_often_it_is_added() {
        let (mut line, now) = (Line::default(), Instant::now());
        for name in ["a", "b", "a"] {
            line.add(key(name), now);
        }
        assert_eq!(line.depth().0, 2);
        assert_eq!(taken(&mut line, now).as_deref(), Some("a"));
        assert_eq!(taken(&mut line, now).as_deref(), Some("b"));
        assert_eq!(taken(&mut line, now), None);
    }

    #[test]
    fn a_key_in_work_comes_again_only_when_it_is_done() {
        let (mut line, now) = (Line::default(), Instant::now());
        line.add(key("a"), now);
        assert!(line.take(now).is_some());
        line.add(key("a"), now);
        assert_eq!(taken(&mut line, now), None);
        line.done(&key("a"));
        assert_eq!(taken(&mut line, now).as_deref(), Some("a"));
        line.done(&key("a"));
        assert_eq!(taken(&mut line, now), None);
    }

    #[test]
    fn of_two_delays_the_shorter_counts_and_only_once() {
        let (mut line, now) = (Line::default(), Instant::now());
        let after = |secs| now + Duration::from_secs(secs);
        line.add_at(key("a"), after(60));
        line.add_at(key("a"), after(1));
        line.add_at(key("a"), after(30));
        assert_eq!(taken(&mut line, now), None);
        assert_eq!(line.next_due(), Some(after(1)));
        assert_eq!(taken(&mut line, after(1)).as_deref(), Some("a"));
        line.done(&key("a"));
        assert_eq!(taken(&mut line, after(100)), None);
    }

    #[test]
    fn depth_tells_how_long_the_oldest_has_waited() {
        let (mut line, now) = (Line::default(), Instant::now());
        line.add(key("a"), now);
        line.add(key("b"), now + Duration::from_secs(1));
        assert_eq!(line.depth(), (2, Some(now)));
    }

    #[tokio::test]
    async fn every_key_reaches_a_waiting_worker() {
        let queue = std::sync::Arc::new(Queue::default());
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let queue = queue.clone();
                tokio::spawn(async move { queue.take().await.0 })
            })
            .collect();
        tokio::task::yield_now().await;
        queue.add([key("a"), key("b")]);
        queue.add_after(key("c"), Duration::from_millis(1));
        queue.add([key("d")]);
        let mut names = Vec::new();
        for worker in workers {
            names.push(worker.await.unwrap().name().to_owned());
        }
        names.sort();
        assert_eq!(names, ["a", "b", "c", "d"]);
    }
}
