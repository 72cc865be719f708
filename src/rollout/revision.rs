//! The new ReplicaSet's books: its revision, the revisions it had, and the annotations it takes over.

use super::annotations::{REVISION, REVISION_HISTORY, parse_i64, revision, stays};
use super::conditions::{PROGRESSING, SET_FOUND, TRUE};
use super::observed::Condition;
use super::round::{Round, Set};

/// The most bytes that the list of former revisions may take.
const HISTORY_BYTES: usize = 2000;

impl Round<'_> {
    /// One more than the highest revision among the old sets. A set without a revision counts 0; one whose
    /// revision is no number does not count.
    pub(super) fn next_revision(&self) -> i64 {
        let old = self.old.iter().filter_map(|i| self.sets[*i].seen);
        old.filter_map(|set| revision(&set.meta.annotations)).max().unwrap_or(0).max(0).wrapping_add(1)
    }

    /// Makes the new set, if there is one, follow the Deployment, and the Deployment carry its revision.
    ///
    /// When the set has to be written, the Deployment waits for the next round, as it does upstream.
    ///
    /// Source: kubernetes v1.37.2 `pkg/controller/deployment/sync.go`, `getNewReplicaSet`. Parity: exact.
    pub(super) fn resolve(&mut self) {
        let Some(i) = self.new else { return };
        let next = self.next_revision();
        let set = &mut self.sets[i];
        let copied = copy_annotations(self.d, set);
        let numbered = number(set, next, copied);
        let seen_secs = set.seen.map_or(self.d.min_ready_secs, |seen| seen.min_ready_secs);
        let secs = (seen_secs != self.d.min_ready_secs).then_some(self.d.min_ready_secs);
        if numbered || secs.is_some() {
            self.follow(i, secs);
            return;
        }
        let revision = self.sets[i].note(REVISION).unwrap_or("").to_owned();
        self.carry_revision(&revision);
        if self.d.progress_deadline_secs().is_some() && self.held.condition(PROGRESSING).is_none() {
            let message = format!("Found new replica set \"{}\"", self.sets[i].name);
            self.held.set(Condition::new(PROGRESSING, TRUE, SET_FOUND, message, self.stamp()));
        }
    }

    /// Gives the Deployment's revision annotation this value.
    pub(super) fn carry_revision(&mut self, revision: &str) {
        if self.d.meta.annotations.get(REVISION).unwrap_or("") != revision {
            self.revision = Some(revision.into());
        }
    }
}

/// Copies what is to be copied of the Deployment's annotations. Those removed from the Deployment stay.
fn copy_annotations(d: &super::observed::Deployment, set: &mut Set<'_>) -> bool {
    let mut changed = false;
    for (key, value) in d.meta.annotations.iter().filter(|(key, _)| !stays(key)) {
        changed |= set.annotate(key, value);
    }
    changed
}

/// Raises a set's revision to `next`, and says whether anything about its annotations is to be sent.
///
/// A revision that is already as high stays. One that is no number stays too, and then `copied` is
/// forgotten: upstream reports "nothing changed", and what was copied travels with a later write, if any.
fn number(set: &mut Set<'_>, next: i64, copied: bool) -> bool {
    let held = set.note(REVISION).map(str::to_owned);
    let held_number = match held.as_deref() {
        None | Some("") => 0,
        Some(text) => match parse_i64(text) {
            Some(number) => number,
            None => return false,
        },
    };
    if held_number >= next {
        return copied;
    }
    set.annotate(REVISION, &next.to_string());
    if let Some(former) = held
        && let Some(history) = appended(set.note(REVISION_HISTORY).unwrap_or(""), &former)
    {
        set.annotate(REVISION_HISTORY, &history);
    }
    true
}

/// A list of former revisions with one more, the oldest dropped where it would be too long; none when even
/// that does not make it fit.
fn appended(history: &str, former: &str) -> Option<String> {
    let kept: Vec<&str> = history.split(',').collect();
    if kept[0].is_empty() {
        return Some(former.to_owned());
    }
    let mut bytes = history.len() + former.len() + 1;
    let mut from = 0;
    while bytes > HISTORY_BYTES && from < kept.len() {
        bytes = bytes.saturating_sub(kept[from].len() + 1);
        from += 1;
    }
    if bytes > HISTORY_BYTES {
        return None;
    }
    let mut list = kept[from..].to_vec();
    list.push(former);
    Some(list.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_grows_at_the_end() {
        assert_eq!(appended("", "2").as_deref(), Some("2"));
        assert_eq!(appended(",1", "2").as_deref(), Some("2"));
        assert_eq!(appended("2", "4").as_deref(), Some("2,4"));
    }

    #[test]
    fn history_drops_the_oldest_to_stay_within_2000_bytes() {
        let full = vec!["1234"; 400].join(",");
        assert_eq!(full.len(), 1999);
        let grown = appended(&full, "5678").unwrap();
        assert_eq!(grown.len(), 1999);
        assert!(grown.ends_with("1234,5678"));
        assert_eq!(appended("1", &"9".repeat(2001)), None);
    }
}
