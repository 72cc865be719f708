//! Reading a request's body without letting callers take more memory or time than there is.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What one process takes on.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The largest body. The API server sends up to two objects of 3 MiB and some kilobytes around
    /// them.
    pub body_bytes: usize,
    /// How much of bodies may be held at a time. A request that would go beyond is turned away
    /// before its body is read.
    pub held_bytes: usize,
    /// How many requests may be in flight.
    pub in_flight: usize,
    /// How many connections may be open on each port; more wait in the kernel's backlog.
    pub connections: usize,
    /// How long a request may take when the caller does not say.
    pub deadline: Duration,
}

/// Why a request gets no further than its head or body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// The content type is none that is read.
    #[error("the Content-Type must be one of: {0}")]
    MediaType(&'static str),
    /// The body is too large.
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    /// Too much is going on.
    #[error("too many requests are in flight; try again in a second")]
    Busy,
    /// The body did not come in time.
    #[error("the body did not arrive in time")]
    TooSlow,
    /// The connection broke in the middle of the body.
    #[error("the body ended early")]
    Cut,
}

impl Rejected {
    /// The HTTP status that says so. The API server's client tries again after a 429 that has a
    /// `Retry-After`.
    pub fn code(self) -> StatusCode {
        match self {
            Rejected::MediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Rejected::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Rejected::Busy => StatusCode::TOO_MANY_REQUESTS,
            Rejected::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Rejected::Cut => StatusCode::BAD_REQUEST,
        }
    }
}

/// Hands out the room that requests need.
#[derive(Debug, Clone)]
pub struct Room {
    limits: Limits,
    requests: Arc<Semaphore>,
    kibibytes: Arc<Semaphore>,
    turns: Arc<Semaphore>,
}

/// A body, and the room it holds until it is dropped.
#[derive(Debug)]
pub struct Admitted {
    /// The whole body.
    pub body: Bytes,
    _room: [OwnedSemaphorePermit; 2],
}

impl Room {
    /// Empty.
    pub fn new(limits: Limits) -> Self {
        // More at a time would take longer each, and more memory: what is read takes some ten times
        // the room of its text.
        let turns = std::thread::available_parallelism().map_or(1, usize::from);
        Room {
            limits,
            turns: Arc::new(Semaphore::new(turns)),
            requests: Arc::new(Semaphore::new(limits.in_flight)),
            kibibytes: Arc::new(Semaphore::new(limits.held_bytes / 1024)),
        }
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Reads a body of one of these media types.
    ///
    /// The body of a request that is turned away is not read.
    ///
    /// # Errors
    /// [`Rejected`]; see there.
    pub async fn admit(
        &self,
        headers: &HeaderMap,
        body: Body,
        media_types: &'static [&'static str],
        listed: &'static str,
        within: Duration,
    ) -> Result<Admitted, Rejected> {
        if !is_one_of(headers, media_types) {
            return Err(Rejected::MediaType(listed));
        }
        let limit = self.limits.body_bytes;
        let announced = announced_len(headers);
        if announced.is_some_and(|len| len > limit) {
            return Err(Rejected::TooLarge(limit));
        }
        let room = self.reserve(announced.unwrap_or(limit))?;
        match tokio::time::timeout(within, collect(body, announced, limit)).await {
            Ok(body) => Ok(Admitted { body: body?, _room: room }),
            Err(_) => Err(Rejected::TooSlow),
        }
    }

    /// Waits for a turn to judge something large; as many have one as there are cores.
    ///
    /// # Errors
    /// [`Rejected::Busy`] when it does not come in time.
    pub async fn turn(&self, within: Duration) -> Result<OwnedSemaphorePermit, Rejected> {
        match tokio::time::timeout(within, self.turns.clone().acquire_owned()).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(Rejected::Busy),
        }
    }

    fn reserve(&self, len: usize) -> Result<[OwnedSemaphorePermit; 2], Rejected> {
        // A body of zero bytes still takes its head and its answer.
        let kibibytes = u32::try_from(len / 1024 + 1).map_err(|_| Rejected::Busy)?;
        let request = self.requests.clone().try_acquire_owned().map_err(|_| Rejected::Busy)?;
        let held = self.kibibytes.clone().try_acquire_many_owned(kibibytes).map_err(|_| Rejected::Busy)?;
        Ok([request, held])
    }
}

fn is_one_of(headers: &HeaderMap, media_types: &[&str]) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("");
    let given = given.split(';').next().unwrap_or("").trim();
    media_types.iter().any(|t| given.eq_ignore_ascii_case(t))
}

fn announced_len(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn collect(mut body: Body, announced: Option<usize>, limit: usize) -> Result<Bytes, Rejected> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Rejected::Cut)?.into_data() else { continue };
        if whole.is_empty() && Some(data.len()) == announced {
            return Ok(data); // all in one piece: no copy
        }
        if whole.is_empty() {
            whole.reserve(announced.unwrap_or(data.len()));
        }
        whole.extend_from_slice(&data);
        if whole.len() > limit {
            return Err(Rejected::TooLarge(limit));
        }
    }
    Ok(whole.freeze())
}
