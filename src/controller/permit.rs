//! Whether this process may write: it leads, its lease is fresh, and nobody else does its work.
//!
//! Asked before every write. A lease counts as fresh by the monotonic clock until the time by which it must
//! have been renewed, which lies well before others may take it. So a process that was frozen past it finds,
//! on waking, that it may no longer write, whatever it was in the middle of.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;

/// Why nothing may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Withheld {
    /// Another replica leads, or none yet.
    #[error("this replica does not lead")]
    NotLeading,
    /// It has not been checked yet that nobody else does this work.
    #[error("it is not yet known whether another Deployment controller is running")]
    Unchecked,
    /// Somebody else does this work.
    #[error("another Deployment controller is running")]
    Rival,
}

/// Until when this process leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// It does not.
    None,
    /// Unless the lease is renewed.
    Until(Instant),
    /// For ever: there is no election.
    Always,
}

impl Lead {
    /// Whether it holds at a time.
    pub fn holds_at(self, now: Instant) -> bool {
        match self {
            Lead::None => false,
            Lead::Until(end) => now < end,
            Lead::Always => true,
        }
    }
}

/// What is known about anybody else who does this work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Nothing yet.
    Unchecked,
    /// Nobody is there, or nobody cares.
    Clear,
    /// Somebody is there.
    Taken,
}

/// What permission rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Leadership.
    pub lead: Lead,
    /// Rivals.
    pub field: Field,
}

impl Standing {
    /// Whether writing is allowed at a time.
    ///
    /// # Errors
    /// Why it is not.
    pub fn at(self, now: Instant) -> Result<(), Withheld> {
        if !self.lead.holds_at(now) {
            return Err(Withheld::NotLeading);
        }
        match self.field {
            Field::Unchecked => Err(Withheld::Unchecked),
            Field::Taken => Err(Withheld::Rival),
            Field::Clear => Ok(()),
        }
    }
}

/// The permission, shared by all who write and all who decide about it.
#[derive(Debug, Clone)]
pub struct Permit {
    standing: Arc<watch::Sender<Standing>>,
}

impl Permit {
    /// With this to begin with.
    pub fn new(standing: Standing) -> Permit {
        Permit { standing: Arc::new(watch::Sender::new(standing)) }
    }

    /// Whether writing is allowed now.
    ///
    /// # Errors
    /// Why it is not.
    pub fn check(&self) -> Result<(), Withheld> {
        self.standing().at(Instant::now())
    }

    /// What it rests on.
    pub fn standing(&self) -> Standing {
        *self.standing.borrow()
    }

    /// Changes leadership.
    pub fn set_lead(&self, lead: Lead) {
        self.standing.send_if_modified(|standing| std::mem::replace(&mut standing.lead, lead) != lead);
    }

    /// Changes what is known about rivals.
    pub fn set_field(&self, field: Field) {
        self.standing.send_if_modified(|standing| std::mem::replace(&mut standing.field, field) != field);
    }

    /// Waits until writing is allowed.
    pub async fn granted(&self) {
        let mut standing = self.standing.subscribe();
        // The sender lives in `self`, so the wait cannot fail.
        let _ = standing.wait_for(|standing| standing.at(Instant::now()).is_ok()).await;
    }

    /// Waits until this process leads, or (false) no longer does.
    pub async fn leading(&self, leads: bool) {
        let mut standing = self.standing.subscribe();
        let _ = standing.wait_for(|standing| (standing.lead != Lead::None) == leads).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_lease_counts_until_its_end_and_not_after() {
        let now = Instant::now();
        let end = now + Duration::from_secs(10);
        let standing = Standing { lead: Lead::Until(end), field: Field::Clear };
        assert_eq!(standing.at(now), Ok(()));
        assert_eq!(standing.at(end - Duration::from_millis(1)), Ok(()));
        assert_eq!(standing.at(end), Err(Withheld::NotLeading));
    }

    #[test]
    fn a_rival_or_doubt_about_one_withholds_permission() {
        let now = Instant::now();
        let with = |field| Standing { lead: Lead::Always, field }.at(now);
        assert_eq!(with(Field::Clear), Ok(()));
        assert_eq!(with(Field::Unchecked), Err(Withheld::Unchecked));
        assert_eq!(with(Field::Taken), Err(Withheld::Rival));
        let idle = Standing { lead: Lead::None, field: Field::Clear };
        assert_eq!(idle.at(now), Err(Withheld::NotLeading));
    }
}
