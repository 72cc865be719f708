//! When to make which certificate, so that callers never meet one that they do not trust or that has
//! expired.
//!
//! An authority is announced before it signs: it first joins the bundle that the API server trusts,
//! and only when the bundle has been published for a while does it sign the serving certificate. The
//! one it takes the place of stays in the bundle until it expires, as other replicas may still serve
//! what it signed. Every step is one write of the shared Secret; replicas that decide the same at the
//! same time are told apart by the Secret's resource version, and the loser looks again.
//!
//! Pure but for [`carry_out`], which makes keys.

use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::issue::{self, CannotIssue};
use super::keyring::{Keyring, lifetime};

/// How long certificates live.
#[derive(Debug, Clone, Copy)]
pub struct Lifetimes {
    /// Of an authority.
    pub authority: Duration,
    /// Of a serving certificate.
    pub leaf: Duration,
    /// How long an authority is published before it signs. The API server follows a changed bundle
    /// within seconds; the rest is for one that was away.
    pub announced: Duration,
}

const DAY: Duration = Duration::from_secs(24 * 3600);

impl Default for Lifetimes {
    fn default() -> Self {
        Lifetimes { authority: DAY * 365, leaf: DAY * 30, announced: DAY }
    }
}

/// What the decision is made from.
#[derive(Debug)]
pub struct Seen<'s> {
    /// What the replicas share; `None` before the first of them made it.
    pub keyring: Option<&'s Keyring>,
    /// Whether every webhook configuration that is there trusts the whole bundle.
    pub published: bool,
    /// The names that the serving certificate must have.
    pub names: &'s [String],
    /// The time.
    pub now: Timestamp,
}

/// What to change in the shared keyring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Keep,
    /// Begin anew: there is nothing, or nothing of use.
    Found,
    /// Add an authority to the bundle, to sign later.
    Announce,
    /// Let the announced authority sign, and retire the one before.
    Promote,
    /// Renew the serving certificate.
    Renew,
    /// Take expired authorities out of the bundle.
    Forget,
}

/// Decides what to do next.
pub fn plan(seen: &Seen<'_>, life: &Lifetimes) -> Step {
    let Some(ring) = seen.keyring else { return Step::Found };
    let (Ok(signing), Ok(leaf)) = (lifetime(&ring.signing.certificate), lifetime(&ring.leaf.certificate))
    else {
        return Step::Found;
    };
    if let Some(next) = &ring.next {
        let Ok((begins, _)) = lifetime(&next.certificate) else { return Step::Found };
        let known = seen.published && seen.now >= after(begins, issue::BACKDATED + life.announced);
        // Better unknown than expired.
        if known || seen.now >= signing.1 {
            return Step::Promote;
        }
    } else if seen.now >= signing.1 {
        return Step::Found;
    } else if is_due(signing, seen.now) {
        return Step::Announce;
    }
    if is_due(leaf, seen.now) || ring.names != seen.names {
        return Step::Renew;
    }
    if ring.retired.iter().any(|pem| is_over(pem, seen.now)) {
        return Step::Forget;
    }
    Step::Keep
}

/// The keyring after a step.
///
/// # Errors
/// [`CannotIssue`]; see there.
pub fn carry_out(step: Step, seen: &Seen<'_>, life: &Lifetimes) -> Result<Keyring, CannotIssue> {
    let Some(ring) = seen.keyring.filter(|_| step != Step::Found) else {
        return found(seen, life);
    };
    let mut ring = ring.clone();
    match step {
        Step::Keep | Step::Found => {}
        Step::Announce => ring.next = Some(issue::authority(seen.now, life.authority)?),
        Step::Promote => {
            if let Some(next) = ring.next.take() {
                ring.retired.push(std::mem::replace(&mut ring.signing, next).certificate);
            }
            renew(&mut ring, seen, life)?;
        }
        Step::Renew => renew(&mut ring, seen, life)?,
        Step::Forget => {}
    }
    ring.retired.retain(|pem| !is_over(pem, seen.now));
    Ok(ring)
}

fn found(seen: &Seen<'_>, life: &Lifetimes) -> Result<Keyring, CannotIssue> {
    let signing = issue::authority(seen.now, life.authority)?;
    let leaf = issue::leaf(&signing, seen.names, seen.now, life.leaf)?;
    Ok(Keyring { signing, next: None, retired: Vec::new(), leaf, names: seen.names.to_vec() })
}

fn renew(ring: &mut Keyring, seen: &Seen<'_>, life: &Lifetimes) -> Result<(), CannotIssue> {
    ring.leaf = issue::leaf(&ring.signing, seen.names, seen.now, life.leaf)?;
    ring.names = seen.names.to_vec();
    Ok(())
}

/// Whether two thirds of a lifetime are over. The last third, 10 days of a serving certificate and
/// 4 months of an authority, is for everything that can keep a replica from renewing.
pub fn is_due((begins, ends): (Timestamp, Timestamp), now: Timestamp) -> bool {
    let life = ends.duration_since(begins);
    now.duration_since(begins) >= life * 2 / 3
}

fn is_over(pem: &str, now: Timestamp) -> bool {
    lifetime(pem).is_ok_and(|(_, ends)| now >= ends)
}

fn after(time: Timestamp, wait: Duration) -> Timestamp {
    SignedDuration::try_from(wait).ok().and_then(|w| time.checked_add(w).ok()).unwrap_or(Timestamp::MAX)
}
