//! Scaling: what happens to sizes when the Deployment was scaled, or while it is paused.
//!
//! In the middle of a rollout the pods are spread over the ReplicaSets in proportion, so that a change of
//! size neither hastens the rollout nor turns it back.

use std::cmp::Reverse;

use super::annotations::{DESIRED_REPLICAS, MAX_REPLICAS, parse_i64, size};
use super::round::Round;
use super::step::{Mended, Plan};
use super::strategy::Strategy;
use super::why::Why;

impl Round<'_> {
    /// Why this round is about scaling: an active set that was last sized for another number of replicas.
    pub(super) fn scaling(&self) -> Option<Why> {
        self.old_and_new().find_map(|i| {
            let set = &self.sets[i];
            let desired = size(set.note(DESIRED_REPLICAS)).filter(|_| set.replicas > 0)?;
            let wanted = self.d.replicas;
            (desired != wanted).then(|| Why::Scaling {
                set: set.name.as_ref().into(),
                from: desired,
                to: wanted,
            })
        })
    }

    /// The round of a Deployment that is paused or was scaled: sizes, cleanup when paused, and the status,
    /// but nothing about progress.
    ///
    /// Source: kubernetes v1.37.2 `pkg/controller/deployment/sync.go`, `sync`. Parity: exact, except for
    /// [`Mended::StaleDesiredReplicas`].
    pub(super) fn keep_sizes(mut self) -> Plan {
        let written = self.scale();
        if self.d.paused {
            if super::annotations::rollback_to(&self.d.meta.annotations).is_none() {
                self.clean_up();
            }
        } else if !written && self.claims.is_empty() && !matches!(self.d.strategy, Strategy::Unknown(_)) {
            // What is being adopted or let go of can wait for the next round; and no other round would do
            // anything about a strategy that is none.
            self.mend_stale_notes();
        }
        self.finish_status()
    }

    /// Sets every size; says whether anything is written for it.
    fn scale(&mut self) -> bool {
        if self.new.is_none() && self.old.is_empty() {
            return false;
        }
        self.old.reverse();
        let wanted = self.d.replicas;
        if let Some(only) = self.only_active_or_newest() {
            return self.size(only, wanted, false, Why::OnlySet);
        }
        if self.is_saturated() {
            for i in self.active_old() {
                self.size(i, 0, false, Why::Saturated);
            }
            return true;
        }
        if matches!(self.d.strategy, Strategy::RollingUpdate { .. }) {
            return self.spread();
        }
        false
    }

    /// The set to take the whole size: the only active one; when none is active, the new one, or the
    /// youngest. None when several are active.
    fn only_active_or_newest(&self) -> Option<usize> {
        let mut active = self.old_and_new().filter(|i| self.sets[*i].replicas > 0);
        match (active.next(), active.next()) {
            (Some(only), None) => Some(only),
            (None, _) => self.new.or_else(|| self.old.first().copied()),
            (Some(_), Some(_)) => None,
        }
    }

    /// Whether the new set has all pods that are wanted, available, and was sized for them.
    fn is_saturated(&self) -> bool {
        let Some(i) = self.new else { return false };
        let (set, wanted) = (&self.sets[i], self.d.replicas);
        // Go narrows the number to 32 bits.
        let desired = set.note(DESIRED_REPLICAS).and_then(parse_i64).map(|n| n as i32);
        set.replicas == wanted && desired == Some(wanted) && set.status.available == wanted
    }

    /// Spreads the wanted pods and the surge over the active sets in proportion to their sizes.
    ///
    /// Worked example: 10 replicas, surge 3, old 8 and new 5, scaled to 15: 18 pods may be, 13 are, so 5
    /// are added: old 8·18/13 = 11.08, so 3 more; new 5·18/13 = 6.92, so 2 more.
    ///
    /// What rounding leaves over goes to the largest set. Every set is written even if its size stays, so
    /// that it remembers the new total; a round that is cut off in the middle is thereby completed
    /// correctly by the next.
    fn spread(&mut self) -> bool {
        let allowed = if self.d.replicas > 0 { self.ceiling() } else { 0 };
        let total = self.sum(|set| set.replicas);
        let to_add = allowed.wrapping_sub(total);
        let active = self.by_size(to_add);
        let mut sizes = Vec::with_capacity(active.len());
        let mut added: i32 = 0;
        for &i in &active {
            let share = self.share(i, to_add, added);
            sizes.push(self.sets[i].replicas.wrapping_add(share));
            added = added.wrapping_add(share);
        }
        if to_add != 0
            && let Some(first) = sizes.first_mut()
        {
            *first = first.wrapping_add(to_add.wrapping_sub(added)).max(0);
        }
        for (&i, to) in active.iter().zip(sizes) {
            self.size(i, to, true, Why::Share { total, allowed });
        }
        true
    }

    /// The active sets, largest first. Of equals, the youngest is first to grow and the oldest to shrink.
    fn by_size(&self, to_add: i32) -> Vec<usize> {
        let mut active: Vec<usize> = self.old_and_new().filter(|i| self.sets[*i].replicas > 0).collect();
        let age = |i: &usize| self.sets[*i].seen.map(|seen| (seen.meta.created, &*seen.meta.name));
        let size = |i: &usize| Reverse(self.sets[*i].replicas);
        match to_add {
            1.. => active.sort_by(|a, b| (size(a), Reverse(age(a))).cmp(&(size(b), Reverse(age(b))))),
            0 => {}
            _ => active.sort_by(|a, b| (size(a), age(a)).cmp(&(size(b), age(b)))),
        }
        active
    }

    /// How many pods a set gains or loses when `to_add` are to be added in all and `added` have been.
    fn share(&self, i: usize, to_add: i32, added: i32) -> i32 {
        if to_add == 0 || to_add == added {
            return 0;
        }
        let (fraction, left) = (self.fraction(i), to_add.wrapping_sub(added));
        if to_add > 0 { fraction.min(left) } else { fraction.max(left) }
    }

    /// The pods that a set gains or loses in proportion, against the total it was last sized for.
    ///
    /// Source: kubernetes v1.37.2 `pkg/controller/deployment/util`, `getReplicaSetFraction`. Parity: exact,
    /// the product in 32 bits included.
    fn fraction(&self, i: usize) -> i32 {
        let set = &self.sets[i];
        if self.d.replicas == 0 {
            return set.replicas.wrapping_neg();
        }
        let before = match size(set.note(MAX_REPLICAS)) {
            Some(max) if max > 0 => max,
            _ => self.held.replicas,
        };
        if before == 0 {
            return 0;
        }
        let exact = f64::from(set.replicas.wrapping_mul(self.ceiling())) / f64::from(before);
        let rounded = if exact < 0.0 { exact - 0.5 } else { exact + 0.5 };
        (rounded as i32).wrapping_sub(set.replicas)
    }

    /// Puts right what would make every later round one of scaling, although there is nothing to scale.
    fn mend_stale_notes(&mut self) {
        let stale: Vec<usize> = self
            .old_and_new()
            .filter(|i| {
                let set = &self.sets[*i];
                set.replicas > 0 && size(set.note(DESIRED_REPLICAS)).is_some_and(|n| n != self.d.replicas)
            })
            .collect();
        for &i in &stale {
            self.size(i, self.sets[i].replicas, true, Why::StaleNotes);
        }
        if !stale.is_empty() {
            self.diverges.push(Mended::StaleDesiredReplicas);
        }
    }
}
