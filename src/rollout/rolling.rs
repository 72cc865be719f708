//! The rolling update: the new ReplicaSet grows below the ceiling, the old ones shrink above the floor.

use super::round::Round;
use super::step::{Failure, Plan};
use super::why::Why;

impl Round<'_> {
    /// One pass: the new set first, and only if its size stays, the old ones; when nothing is left to
    /// scale, old sets beyond the history limit go.
    ///
    /// Source: kubernetes v1.37.2 `pkg/controller/deployment/rolling.go`. Parity: exact, except that errors
    /// in scaling old sets down lead to another try (upstream drops them).
    pub(super) fn roll(mut self) -> Plan {
        self.why.push(Why::Rolling { ceiling: self.ceiling(), floor: self.floor() });
        let scaled = match self.ensure_new().and_then(|new| Ok((new, self.scale_new(new)?))) {
            Ok((_, true)) => true,
            Ok((new, false)) => self.scale_old(new),
            Err(failure) => return self.finish(None, Some(failure)),
        };
        if !scaled {
            self.end_pass();
        }
        self.finish_rollout()
    }

    /// What follows when nothing was scaled.
    pub(super) fn end_pass(&mut self) {
        if self.is_complete(&self.held) {
            self.why.push(Why::Complete);
            self.clean_up();
        } else if self.create.is_none() {
            self.why.push(Why::Waiting);
        }
    }

    /// Moves the new set towards the wanted size; says whether its size changed.
    fn scale_new(&mut self, new: usize) -> Result<bool, Failure> {
        let (current, wanted) = (self.sets[new].replicas, self.d.replicas);
        if current >= wanted {
            return Ok(self.size(new, wanted, false, Why::TooLarge));
        }
        let to = self.size_of_new(current)?;
        let why = Why::Room { total: self.sum(|set| set.replicas), ceiling: self.ceiling() };
        Ok(self.size(new, to, false, why))
    }

    /// Shrinks the old sets; says whether any size changed.
    ///
    /// `budget` counts every pod above the floor but the new ones that are not available yet. Worked
    /// example: 10 replicas, surge 3, unavailable 2, so the floor is 8; old 8 and new 5, none of the new
    /// available: 13 - 8 - 5 = 0, so nothing old may go. With 5 of them available: 13 - 8 - 0 = 5.
    fn scale_old(&mut self, new: usize) -> bool {
        let active = self.active_old();
        let floor = self.floor();
        let set = &self.sets[new];
        let not_yet = set.replicas.wrapping_sub(set.status.available);
        let budget = self.sum(|set| set.replicas).wrapping_sub(floor).wrapping_sub(not_yet);
        if active.is_empty() || budget <= 0 {
            return false;
        }
        // More pods available than wanted: the set has not caught up with an earlier scaling. Counting on
        // its numbers could go below the floor, so the whole pass waits. Sets before it have been dealt
        // with by then, and stay so.
        let Some(removed) = self.remove_unhealthy(&active, budget) else {
            self.make_lenient(&active);
            return false;
        };
        let removed = removed.wrapping_add(self.remove_surplus(&active, new, floor));
        self.make_lenient(&active);
        removed > 0
    }

    /// Takes away pods that are not available, oldest set first: they do not count for the floor. `None`
    /// when a set reports more available pods than it wants.
    fn remove_unhealthy(&mut self, active: &[usize], budget: i32) -> Option<i32> {
        let mut removed: i32 = 0;
        for &i in active {
            let (size, available) = (self.sets[i].replicas, self.sets[i].status.available);
            if removed >= budget {
                break;
            }
            if size == 0 || size == available {
                continue;
            }
            let count = budget.wrapping_sub(removed).min(size.wrapping_sub(available));
            if count < 0 {
                return None;
            }
            self.size(i, size.wrapping_sub(count), false, Why::Unhealthy { budget });
            removed = removed.wrapping_add(count);
        }
        Some(removed)
    }

    /// Takes away available pods above the floor, oldest set first.
    fn remove_surplus(&mut self, active: &[usize], new: usize, floor: i32) -> i32 {
        let counted = active.iter().chain(Some(&new));
        let available = counted.fold(0, |sum: i32, i| sum.wrapping_add(self.sets[*i].status.available));
        if available <= floor {
            return 0;
        }
        let limit = available.wrapping_sub(floor);
        let mut removed: i32 = 0;
        for &i in active {
            let size = self.sets[i].replicas;
            if removed >= limit {
                break;
            }
            if size == 0 {
                continue;
            }
            let count = size.min(limit.wrapping_sub(removed));
            self.size(i, size.wrapping_sub(count), false, Why::Surplus { available, floor });
            removed = removed.wrapping_add(count);
        }
        removed
    }
}
