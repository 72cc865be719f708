//! One AdmissionReview in, one answer out: what the webhooks do, without the network.
//!
//! Start with [`answer()`]. [`request`] reads the review, [`response`] writes the answer, [`patch`]
//! finds the smallest change that turns the object sent into the object meant, [`house`] knows the
//! defaults that a cluster's owner prefers, and [`evidence`] whether an author chose a value.
//!
//! Never reads a clock, a file or the network, and never changes an object itself: the API server
//! does, by the patch.

pub mod answer;
pub mod evidence;
pub mod house;
pub mod patch;
pub mod request;
pub mod response;

pub use answer::{Answer, Decision, Gate, Phase, answer};
pub use house::{BadDefault, House, HouseDefault};
pub use request::{Operation, Request, Review, Subject, Unreadable};
