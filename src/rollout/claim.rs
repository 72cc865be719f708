//! Which ReplicaSets belong to the Deployment: those to keep, to adopt and to let go.

use super::observed::{Observed, ReplicaSet};
use super::round::{Round, Set, target};
use super::step::{Planned, Step};
use super::why::Why;

/// What a Deployment has to do with a ReplicaSet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    Keep,
    Adopt,
    Release,
    /// Controlled by the Deployment, but no longer selected while it is being deleted.
    Drop,
    Ignore,
}

/// Source: kubernetes v1.37.2 `pkg/controller/controller_ref_manager.go`, `ClaimObject`. Parity: exact.
fn claim(seen: &Observed<'_>, set: &ReplicaSet) -> Claim {
    let d = seen.deployment;
    if set.meta.namespace != d.meta.namespace {
        return Claim::Ignore;
    }
    let selected = d.selector.matches(&set.meta.labels);
    match &set.controller {
        Some(owner) if owner.uid != d.meta.uid => Claim::Ignore,
        Some(_) if selected => Claim::Keep,
        Some(_) if d.meta.deleting => Claim::Drop,
        Some(_) => Claim::Release,
        None if !selected || d.meta.deleting || set.meta.deleting => Claim::Ignore,
        None => Claim::Adopt,
    }
}

impl<'a> Round<'a> {
    /// Takes up the sets that belong to the Deployment, oldest first, ties by name, and tells the new one
    /// from the old ones: the new one is the first with the Deployment's template.
    ///
    /// An adopted set enters the round as it was seen. Nothing but its owner changes by adoption.
    pub(super) fn claim(&mut self, seen: &Observed<'a>) {
        let mut claimed = Vec::with_capacity(seen.sets.len());
        for &set in &seen.sets {
            match claim(seen, set) {
                Claim::Keep => claimed.push((set, false)),
                Claim::Adopt => claimed.push((set, true)),
                Claim::Release => {
                    let step = Step::Release { set: target(set) };
                    self.claims.push(Planned { step, why: Why::NotSelected, status_even_if_refused: false });
                }
                Claim::Drop | Claim::Ignore => {}
            }
        }
        claimed.sort_by(|(a, _), (b, _)| (a.meta.created, &a.meta.name).cmp(&(b.meta.created, &b.meta.name)));
        for (set, orphan) in claimed {
            if orphan {
                let step = Step::Adopt { set: target(set) };
                self.claims.push(Planned { step, why: Why::Orphan, status_even_if_refused: false });
            }
            let i = self.sets.len();
            self.sets.push(Set::of(set));
            if self.new.is_none() && set.template == self.d.template {
                self.new = Some(i);
            } else {
                self.old.push(i);
            }
        }
        self.claims.sort_by(|a, b| a.step.name().cmp(b.step.name()));
    }
}
