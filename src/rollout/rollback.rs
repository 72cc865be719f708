//! Rollback by annotation, a leftover of the API before apps/v1. `kubectl rollout undo` does not use it.

use std::collections::BTreeMap;

use super::annotations::{REVISION, ROLLBACK_TO, parse_i64, stays};
use super::observed::ReplicaSet;
use super::round::{After, Round, target};
use super::step::{Event, Plan, Planned, Step};
use super::why::Why;

const NOT_FOUND: &str = "DeploymentRollbackRevisionNotFound";
const UNCHANGED: &str = "DeploymentRollbackTemplateUnchanged";
const DONE: &str = "DeploymentRollback";

impl Round<'_> {
    /// Rolls back to a revision, 0 meaning the one before, or says why not. The annotation that asked for
    /// it goes in either case. The status is not written, but for what finding the new set changed in it.
    ///
    /// Source: kubernetes v1.37.2 `pkg/controller/deployment/rollback.go`. Parity: exact.
    pub(super) fn roll_back(mut self, asked: i64) -> Plan {
        self.why.push(Why::RollbackAsked { revision: asked });
        if let Err(failure) = self.ensure_new() {
            return self.finish(None, Some(failure));
        }
        let revision = if asked == 0 { self.revision_before() } else { asked };
        let found = self.old_and_new().find(|i| self.revision_of(*i) == Some(revision));
        let mut to = None;
        if asked == 0 && revision == 0 {
            self.tell(Event::warning(NOT_FOUND, "Unable to find last revision.".into()), After::Nothing);
        } else if let Some(i) = found {
            to = self.sets[i].seen.filter(|set| set.template != self.d.template);
            let name = &self.d.meta.name;
            let (event, after) = match to {
                Some(_) => {
                    let message = format!("Rolled back deployment \"{name}\" to revision {revision}");
                    (Event::normal(DONE, message), After::Rollback)
                }
                None => {
                    let message = format!(
                        "The rollback revision contains the same template as current deployment \"{name}\""
                    );
                    (Event::warning(UNCHANGED, message), After::Nothing)
                }
            };
            self.tell(event, after);
        } else {
            let message = "Unable to find the revision to rollback to.".into();
            self.tell(Event::warning(NOT_FOUND, message), After::Nothing);
        }
        let annotations = self.annotations_after(to);
        let step = Step::Rollback { to: to.map(target), annotations };
        let why = Why::RollbackAsked { revision: asked };
        self.rollback = Some(Planned { step, why, status_even_if_refused: false });
        self.finish(None, None)
    }

    /// The revision of a set as this round leaves it: 0 without one, none for one that is no number.
    fn revision_of(&self, i: usize) -> Option<i64> {
        self.sets[i].note(REVISION).map_or(Some(0), parse_i64)
    }

    /// The second-highest revision. Two sets that share the highest make it that.
    fn revision_before(&self) -> i64 {
        let (mut highest, mut second) = (0, 0);
        for revision in self.old_and_new().filter_map(|i| self.revision_of(i)) {
            if revision >= highest {
                (highest, second) = (revision, highest);
            } else {
                second = second.max(revision);
            }
        }
        second
    }

    /// The changes to the Deployment's annotations: the request goes; with a set to go back to, its
    /// annotations take the place of the Deployment's, each object's own ones aside.
    fn annotations_after(&self, to: Option<&ReplicaSet>) -> BTreeMap<Box<str>, Option<Box<str>>> {
        let mut changes = BTreeMap::from([(ROLLBACK_TO.into(), None)]);
        let Some(to) = to else { return changes };
        let held = &self.d.meta.annotations;
        for (key, _) in held.iter().filter(|(key, _)| !stays(key)) {
            changes.insert(key.into(), None);
        }
        for (key, value) in to.meta.annotations.iter().filter(|(key, _)| !stays(key)) {
            if held.get(key) == Some(value) {
                changes.remove(key);
            } else {
                changes.insert(key.into(), Some(value.into()));
            }
        }
        changes
    }
}
