//! The new ReplicaSet where none has the Deployment's template: its name, size and annotations, and what
//! follows when it cannot be created.

use std::collections::BTreeMap;

use super::annotations::{DESIRED_REPLICAS, MAX_REPLICAS, REVISION, stays};
use super::conditions::{FALSE, PROGRESSING, SET_CREATE_ERROR, SET_CREATED, TRUE};
use super::observed::{Condition, ReplicaSet};
use super::round::{After, CreateError, Round, Set};
use super::step::{Event, Failure, NewSet, Planned, Step};
use super::strategy::Strategy;
use super::why::Why;
use crate::schema::hash;

/// The longest name of an object.
const NAME_BYTES: usize = 253;

impl<'a> Round<'a> {
    /// Makes sure that there is a new set, and gives its index.
    ///
    /// Source: kubernetes v1.37.2 `pkg/controller/deployment/sync.go`, `getNewReplicaSet`. Parity: exact.
    pub(super) fn ensure_new(&mut self) -> Result<usize, Failure> {
        if let Some(i) = self.new {
            return Ok(i);
        }
        let next = self.next_revision();
        let hash = hash::pod_template_hash(self.d.template_json.get(), self.d.status.collision_count);
        let new = NewSet {
            name: name(&self.d.meta.name, &hash),
            hash,
            replicas: self.size_of_new(0)?,
            annotations: self.annotations_of_new(next),
        };
        let set = match self.create_error {
            None => self.create_new(new),
            Some(CreateError::NameTaken(holder)) => Set::of(self.taken(&new, holder)?),
            Some(CreateError::Refused(text)) => return Err(self.refused(&new, text)),
        };
        self.sets.push(set);
        self.new = Some(self.sets.len() - 1);
        self.carry_revision(&next.to_string());
        Ok(self.sets.len() - 1)
    }

    fn create_new(&mut self, new: NewSet) -> Set<'a> {
        let set = Set::created(&new);
        if new.replicas > 0 {
            let message = format!("Scaled up replica set {} from 0 to {}", new.name, new.replicas);
            self.tell(Event::normal("ScalingReplicaSet", message), After::Create);
        }
        if self.d.progress_deadline_secs().is_some() {
            let message = format!("Created new replica set \"{}\"", new.name);
            self.held.set(Condition::new(PROGRESSING, TRUE, SET_CREATED, message, self.stamp()));
        }
        let step = Step::Create(new);
        self.create = Some(Planned { step, why: Why::TemplateNew, status_even_if_refused: false });
        set
    }

    /// What to do when the name is taken: an equal set of ours is the new one (the answer to its creation
    /// was lost); any other is a collision, and the next round tries another name.
    fn taken(&mut self, new: &NewSet, holder: Option<&'a ReplicaSet>) -> Result<&'a ReplicaSet, Failure> {
        let Some(holder) = holder else { return Err(Failure::NotSeenYet(new.name.clone())) };
        let ours = holder.controller.as_ref().is_some_and(|owner| owner.uid == self.d.meta.uid);
        if ours && holder.template == self.d.template {
            return Ok(holder);
        }
        let count = self.held.collision_count.unwrap_or(0);
        self.held.collision_count = Some(count.wrapping_add(1));
        Err(Failure::NameTaken(new.name.clone()))
    }

    fn refused(&mut self, new: &NewSet, text: &str) -> Failure {
        let message = format!("Failed to create new replica set \"{}\": {text}", new.name);
        if self.d.progress_deadline_secs().is_some() {
            let condition =
                Condition::new(PROGRESSING, FALSE, SET_CREATE_ERROR, message.clone(), self.stamp());
            self.held.set(condition);
        }
        self.tell(Event::warning(SET_CREATE_ERROR, message), After::Nothing);
        Failure::Refused(text.to_owned())
    }

    /// The size that the new set, which has `current` pods, may grow to.
    ///
    /// Worked example: 10 replicas, surge 3, old 10, new 0: 13 may be, 10 are, so 3. With old 8 and new 3,
    /// 2 more, so 5.
    ///
    /// Source: kubernetes v1.37.2 `pkg/controller/deployment/util`, `NewRSNewReplicas`. Parity: exact.
    pub(super) fn size_of_new(&self, current: i32) -> Result<i32, Failure> {
        let wanted = self.d.replicas;
        let max_surge = match &self.d.strategy {
            Strategy::RollingUpdate { max_surge, .. } => max_surge,
            Strategy::Recreate => return Ok(wanted),
            Strategy::Unknown(kind) => return Err(Failure::StrategyOfNewSet(kind.clone())),
        };
        let ceiling = wanted.wrapping_add(Strategy::surge(max_surge, wanted)?);
        let total = self.sum(|set| set.replicas);
        if total >= ceiling {
            return Ok(current);
        }
        let room = ceiling.wrapping_sub(total).min(wanted.wrapping_sub(current));
        Ok(current.wrapping_add(room))
    }

    fn annotations_of_new(&self, revision: i64) -> BTreeMap<Box<str>, Box<str>> {
        let copied = self.d.meta.annotations.iter().filter(|(key, _)| !stays(key));
        let mut annotations: BTreeMap<Box<str>, Box<str>> =
            copied.map(|(key, value)| (key.into(), value.into())).collect();
        // Beyond the largest number upstream's goes on with the smallest, and then does not write it here.
        if revision > 0 {
            annotations.insert(REVISION.into(), revision.to_string().into());
        }
        annotations.insert(DESIRED_REPLICAS.into(), self.d.replicas.to_string().into());
        annotations.insert(MAX_REPLICAS.into(), self.ceiling().to_string().into());
        annotations
    }
}

/// The Deployment's name, cut where it would be too long, and the hash.
fn name(deployment: &str, hash: &str) -> String {
    let mut end = deployment.len().min(NAME_BYTES - 1 - hash.len());
    while !deployment.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}-{hash}", &deployment[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_to_253_bytes() {
        assert_eq!(name("web", "54fd4d6d4c"), "web-54fd4d6d4c");
        let long = name(&"a".repeat(253), "54fd4d6d4c");
        assert_eq!(long.len(), 253);
        assert!(long.ends_with("a-54fd4d6d4c"));
    }
}
