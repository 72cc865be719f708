//! The recreating update: old pods go before new ones come.

use super::observed::OwnerKind;
use super::round::Round;
use super::step::Plan;
use super::why::Why;

impl Round<'_> {
    /// One pass: old sets to 0; then, when their pods are gone, the new set at its full size.
    ///
    /// Source: kubernetes v1.37.2 `pkg/controller/deployment/recreate.go`. Parity: exact.
    pub(super) fn recreate(mut self) -> Plan {
        self.why.push(Why::Recreating);
        let mut scaled = false;
        for i in self.active_old() {
            scaled |= self.size(i, 0, false, Why::OldFirst);
        }
        if scaled {
            return self.finish_rollout();
        }
        if self.old_pods_left() {
            self.why.push(Why::OldPodsLeft);
            return self.finish_rollout();
        }
        match self.ensure_new() {
            Ok(new) => self.size(new, self.d.replicas, false, Why::OldGone),
            Err(failure) => return self.finish(None, Some(failure)),
        };
        self.end_pass();
        self.finish_rollout()
    }

    /// Whether an old set reports pods, or a pod of one is still there and has not ended. Terminating pods
    /// count until they are gone.
    fn old_pods_left(&self) -> bool {
        if self.old.iter().fold(0, |sum: i32, i| sum.wrapping_add(self.sets[*i].status.replicas)) > 0 {
            return true;
        }
        let running = self.pods.iter().filter(|pod| !pod.ended).filter_map(|pod| pod.controller.as_ref());
        let mut owners = running.filter(|owner| owner.kind == OwnerKind::ReplicaSet);
        owners.any(|owner| {
            let mut old = self.old.iter().filter_map(|i| self.sets[*i].seen);
            old.any(|set| set.meta.uid == owner.uid && set.meta.name == owner.name)
        })
    }
}
