//! Old ReplicaSets beyond the history limit.

use std::cmp::Ordering;

use super::annotations::revision;
use super::observed::ReplicaSet;
use super::round::{Round, target};
use super::step::{Planned, Step};
use super::why::Why;

impl Round<'_> {
    /// Deletes the empty ones among the oldest revisions beyond the limit. One that is not empty is left
    /// out, and no later one takes its place.
    ///
    /// Source: kubernetes v1.37.2 `pkg/controller/deployment/sync.go`, `cleanupDeployment`. Parity: exact;
    /// but for more than 12 old sets of which some have no readable revision, where upstream's order is
    /// that of its sorting method.
    pub(super) fn clean_up(&mut self) {
        let Some(limit) = self.d.history_limit.filter(|limit| *limit != i32::MAX) else { return };
        let old = self.old.iter().filter_map(|i| self.sets[*i].seen);
        let mut candidates: Vec<&ReplicaSet> = old.filter(|set| !set.meta.deleting).collect();
        let excess = i32::try_from(candidates.len()).unwrap_or(i32::MAX).wrapping_sub(limit);
        let Ok(excess @ 1..) = usize::try_from(excess) else { return };
        sort_by_insertion(&mut candidates, by_revision);
        for set in candidates.into_iter().take(excess).filter(|set| is_empty(set)) {
            let step = Step::Delete { set: target(set) };
            self.deletes.push(Planned {
                step,
                why: Why::BeyondHistory { limit },
                status_even_if_refused: false,
            });
        }
    }
}

fn is_empty(set: &ReplicaSet) -> bool {
    set.replicas == 0 && set.status.replicas == 0 && set.meta.generation <= set.status.observed_generation
}

/// By revision; those of equal or unreadable revision by age. With an unreadable one this is no order: a
/// may come before b, b before c, and c before a.
fn by_revision(a: &ReplicaSet, b: &ReplicaSet) -> Ordering {
    match (revision(&a.meta.annotations), revision(&b.meta.annotations)) {
        (Some(x), Some(y)) if x != y => x.cmp(&y),
        _ => (a.meta.created, &a.meta.name).cmp(&(b.meta.created, &b.meta.name)),
    }
}

/// Sorts as upstream does with up to 12 entries, which shows where the order is none; and where it is one,
/// any method gives the same. Lists are short: the history limit is 10 unless somebody raises it.
fn sort_by_insertion<T: Copy>(list: &mut [T], order: impl Fn(T, T) -> Ordering) {
    for end in 1..list.len() {
        let mut at = end;
        while at > 0 && order(list[at], list[at - 1]) == Ordering::Less {
            list.swap(at, at - 1);
            at -= 1;
        }
    }
}
