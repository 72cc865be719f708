//! The reasons of a plan and of its steps, and how they read.

use std::fmt;

/// Why something is done, or is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The selector is empty, so it would match every ReplicaSet of the namespace.
    SelectsEverything,
    /// The Deployment is being deleted: only its status is kept up.
    Deleting,
    /// The Deployment is paused: only sizes are kept up.
    Paused,
    /// A rollback was asked for by annotation.
    RollbackAsked {
        /// To this revision; 0 means the one before.
        revision: i64,
    },
    /// A ReplicaSet was last sized for another number of replicas.
    Scaling {
        /// Which.
        set: Box<str>,
        /// The number then.
        from: i32,
        /// The number now.
        to: i32,
    },
    /// A rolling update is on its way, or done.
    Rolling {
        /// Most pods at any time.
        ceiling: i32,
        /// Least available pods at any time.
        floor: i32,
    },
    /// A recreating update is on its way, or done.
    Recreating,
    /// It has no controller, and the selector matches it.
    Orphan,
    /// It is controlled by this Deployment, but the selector does not match it.
    NotSelected,
    /// No ReplicaSet has the Deployment's template.
    TemplateNew,
    /// Its annotations or `minReadySeconds` do not follow the Deployment.
    NotesBehind,
    /// It is the only active ReplicaSet, or the newest, and has the wrong size.
    OnlySet,
    /// The new ReplicaSet has all pods it needs, so that an old one can go.
    Saturated,
    /// Its share when several ReplicaSets are scaled together.
    Share {
        /// Pods of all active ReplicaSets before.
        total: i32,
        /// Pods that they may have now.
        allowed: i32,
    },
    /// It has the right size, but was last sized for another number of replicas.
    StaleNotes,
    /// The new ReplicaSet has more pods than are wanted.
    TooLarge,
    /// There is room below the ceiling for more new pods.
    Room {
        /// Pods of all ReplicaSets.
        total: i32,
        /// Most pods at any time.
        ceiling: i32,
    },
    /// Some of its pods are not available, and the budget allows to remove so many of them.
    Unhealthy {
        /// Pods that may be removed in this round.
        budget: i32,
    },
    /// More pods are available than must be.
    Surplus {
        /// Available pods.
        available: i32,
        /// Least available pods at any time.
        floor: i32,
    },
    /// Old pods go before new ones come.
    OldFirst,
    /// Old pods are gone.
    OldGone,
    /// Old pods are still there, so that new ones must wait.
    OldPodsLeft,
    /// It is beyond the revision history limit.
    BeyondHistory {
        /// Old ReplicaSets to keep.
        limit: i32,
    },
    /// The pods wanted are there, up to date and available.
    Complete,
    /// Nothing more can be done until pods become available or go.
    Waiting,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::SelectsEverything => f.write_str("the selector is empty and would match everything"),
            Why::Deleting => f.write_str("the Deployment is being deleted, so only its status is kept up"),
            Why::Paused => f.write_str("the Deployment is paused, so only sizes are kept up"),
            Why::RollbackAsked { revision: 0 } => {
                f.write_str("a rollback to the revision before was asked for")
            }
            Why::RollbackAsked { revision } => write!(f, "a rollback to revision {revision} was asked for"),
            Why::Scaling { set, from, to } => {
                write!(f, "ReplicaSet {set} was last sized for {from} replicas, not for {to}")
            }
            Why::Rolling { ceiling, floor } => {
                write!(f, "rolling update with at most {ceiling} pods, at least {floor} of them available")
            }
            Why::Recreating => f.write_str("recreating: old pods go before new ones come"),
            Why::Orphan => f.write_str("it has no controller and the selector matches it"),
            Why::NotSelected => f.write_str("the selector no longer matches it"),
            Why::TemplateNew => f.write_str("no ReplicaSet has the Deployment's pod template"),
            Why::NotesBehind => {
                f.write_str("its annotations or minReadySeconds do not follow the Deployment")
            }
            Why::OnlySet => f.write_str("no other ReplicaSet has pods, so it takes the whole size"),
            Why::Saturated => f.write_str("the new ReplicaSet has all the pods that are wanted"),
            Why::Share { total, allowed } => {
                write!(f, "its share, as {total} pods of several ReplicaSets become {allowed}")
            }
            Why::StaleNotes => {
                f.write_str("it has the right size but was last sized for another number of replicas")
            }
            Why::TooLarge => f.write_str("it has more pods than are wanted"),
            Why::Room { total, ceiling } => write!(f, "there are {total} pods and may be {ceiling}"),
            Why::Unhealthy { budget } => {
                write!(f, "some of its pods are not available; up to {budget} old pods may go now")
            }
            Why::Surplus { available, floor } => {
                write!(f, "{available} pods are available and {floor} must be")
            }
            Why::OldFirst => f.write_str("old pods go before new ones come"),
            Why::OldGone => f.write_str("the old pods are gone"),
            Why::OldPodsLeft => f.write_str("old pods are still there, so new ones must wait"),
            Why::BeyondHistory { limit } => write!(f, "{limit} old ReplicaSets are kept, and it is empty"),
            Why::Complete => f.write_str("all pods are up to date and available"),
            Why::Waiting => f.write_str("waiting for pods to become available or to go"),
        }
    }
}
