//! The work queue: which Deployments to look at, each at most once at a time.
//!
//! A key that is added while it waits is not added again; one that is added while a worker has it is handed
//! out again afterwards. What is under way goes before what is new ([`Lane`]). [`Line`] decides and takes
//! the time as a value; [`Queue`] waits.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::key::Key;

/// One key in so many is a new one, however much is under way.
const NEW_ONE_IN: u32 = 16;

/// Why a key is wanted.
///
/// When a hundred Deployments change at once, those that have begun get on before others begin: all are done
/// no later than otherwise, the first ones much sooner, and fewer surge pods are there at a time. A
/// rollout that is not kept waiting halfway also needs fewer writes of its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Something that is under way has moved on.
    Begun,
    /// Somebody asks for something new.
    New,
}

/// The order of work.
#[derive(Debug, Default)]
pub struct Line {
    /// The lanes. A key that is in one, but not wanted there, has changed lanes: that entry is void.
    begun: VecDeque<Key>,
    new: VecDeque<Key>,
    /// Keys handed out since the last new one.
    passed: u32,
    /// Keys to be handed out, since when and why: those that are ready, and those that a worker has and that
    /// are wanted again.
    wanted: HashMap<Key, (Instant, Lane)>,
    in_work: HashSet<Key>,
    later: BinaryHeap<Reverse<(Instant, Key)>>,
    /// The time that counts of a key's entries in `later`; the others are void.
    due: HashMap<Key, Instant>,
}

impl Line {
    /// Wants a key to be looked at. One that waits among the new ones changes lanes when it moves on.
    pub fn add(&mut self, key: Key, lane: Lane, now: Instant) {
        let since = match self.wanted.get(&key) {
            Some((since, Lane::New)) if lane == Lane::Begun => *since,
            Some(_) => return,
            None => now,
        };
        self.wanted.insert(key.clone(), (since, lane));
        if !self.in_work.contains(&key) {
            self.lane(lane).push_back(key);
        }
    }

    fn lane(&mut self, lane: Lane) -> &mut VecDeque<Key> {
        match lane {
            Lane::Begun => &mut self.begun,
            Lane::New => &mut self.new,
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
        self.drop_void();
        let lane = match self.begun.is_empty() || self.passed + 1 >= NEW_ONE_IN && !self.new.is_empty() {
            true => Lane::New,
            false => Lane::Begun,
        };
        let key = self.lane(lane).pop_front()?;
        self.passed = if lane == Lane::New { 0 } else { self.passed.saturating_add(1) };
        let since = self.wanted.remove(&key).map_or(now, |(since, _)| since);
        self.in_work.insert(key.clone());
        Some((key, since))
    }

    /// Gives a key back.
    pub fn done(&mut self, key: &Key) {
        self.in_work.remove(key);
        if let Some((_, lane)) = self.wanted.get(key) {
            self.lane(*lane).push_back(key.clone());
        }
    }

    /// When a key will be ready that is not now.
    pub fn next_due(&self) -> Option<Instant> {
        self.later.peek().map(|Reverse((at, _))| *at)
    }

    /// How many keys are ready, and since when the oldest has been wanted.
    pub fn depth(&self) -> (usize, Option<Instant>) {
        let ready = self.wanted.iter().filter(|(key, _)| !self.in_work.contains(key));
        (ready.clone().count(), ready.map(|(_, (since, _))| *since).min())
    }

    fn is_any_ready(&self) -> bool {
        !(self.begun.is_empty() && self.new.is_empty())
    }

    /// Makes sure that the first of each lane is wanted there.
    fn drop_void(&mut self) {
        for lane in [Lane::Begun, Lane::New] {
            while let Some(key) = self.lane(lane).front() {
                let key = key.clone();
                if self.wanted.get(&key).is_some_and(|(_, held)| *held == lane)
                    && !self.in_work.contains(&key)
                {
                    break;
                }
                self.lane(lane).pop_front();
            }
        }
    }

    fn mature(&mut self, now: Instant) {
        while self.next_due().is_some_and(|at| at <= now) {
            let Some(Reverse((at, key))) = self.later.pop() else { return };
            if self.due.get(&key) == Some(&at) {
                self.due.remove(&key);
                self.add(key, Lane::Begun, now);
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
    pub fn add(&self, keys: impl IntoIterator<Item = Key>, lane: Lane) {
        let now = Instant::now();
        let mut line = self.line();
        let mut added = 0;
        for key in keys {
            line.add(key, lane, now);
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
                    if line.is_any_ready() {
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
        let ready = line.is_any_ready();
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
            line.add(key(name), Lane::New, now);
        }
        assert_eq!(line.depth().0, 2);
        assert_eq!(taken(&mut line, now).as_deref(), Some("a"));
        assert_eq!(taken(&mut line, now).as_deref(), Some("b"));
        assert_eq!(taken(&mut line, now), None);
    }

    #[test]
    fn a_key_in_work_comes_again_only_when_it_is_done() {
        let (mut line, now) = (Line::default(), Instant::now());
        line.add(key("a"), Lane::New, now);
        assert!(line.take(now).is_some());
        line.add(key("a"), Lane::New, now);
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
        line.add(key("a"), Lane::New, now);
        line.add(key("b"), Lane::Begun, now + Duration::from_secs(1));
        assert_eq!(line.depth(), (2, Some(now)));
    }

    #[test]
    fn what_is_under_way_goes_first_but_not_for_ever() {
        let (mut line, now) = (Line::default(), Instant::now());
        for i in 0..40 {
            line.add(key(&format!("new{i}")), Lane::New, now);
            line.add(key(&format!("begun{i}")), Lane::Begun, now);
        }
        let order: Vec<_> = std::iter::from_fn(|| taken(&mut line, now)).collect();
        let new_at: Vec<_> = (0..).zip(&order).filter(|(_, name)| name.starts_with("new")).collect();
        assert_eq!((new_at[0].0, new_at[1].0), (15, 31));
        assert_eq!((order.len(), new_at.len()), (80, 40));
    }

    #[test]
    fn a_new_key_that_moves_on_changes_lanes() {
        let (mut line, now) = (Line::default(), Instant::now());
        line.add(key("a"), Lane::New, now);
        line.add(key("b"), Lane::New, now);
        line.add(key("b"), Lane::Begun, now);
        assert_eq!(line.depth().0, 2);
        assert_eq!(taken(&mut line, now).as_deref(), Some("b"));
        line.add(key("b"), Lane::New, now);
        assert_eq!(taken(&mut line, now).as_deref(), Some("a"), "b is in work");
        line.done(&key("b"));
        assert_eq!(taken(&mut line, now).as_deref(), Some("b"));
        assert_eq!((taken(&mut line, now), line.depth().0), (None, 0));
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
        queue.add([key("a"), key("b")], Lane::New);
        queue.add_after(key("c"), Duration::from_millis(1));
        queue.add([key("d")], Lane::Begun);
        let mut names = Vec::new();
        for worker in workers {
            names.push(worker.await.unwrap().name().to_owned());
        }
        names.sort();
        assert_eq!(names, ["a", "b", "c", "d"]);
    }
}
