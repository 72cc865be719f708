//! Follows all objects of one kind: a list that comes as a stream, then every change, for ever.
//!
//! Objects are handed on one by one as JSON, so that a large list never lies in memory as a whole. Servers
//! that do not stream lists are asked for them in pages. A watch that ends is taken up where it was; one
//! whose place is no longer known (410) begins anew.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::Deserialize;
use tracing::{debug, warn};

use super::api::{Api, ApiError, Form, Kind};
use super::wire::{Head, Line, Lines, Page};

/// How long a watch lasts; then it is taken up anew. Servers do the same after a time of their own.
const LASTS_SECS: u32 = 600;

/// How long a watch may be silent. The server sends a bookmark about every minute.
const SILENCE: Duration = Duration::from_secs(180);

/// Waits between attempts: doubling between these.
const SHORTEST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Who takes what is found.
pub trait Sink: Send {
    /// A list begins: what it does not hold is gone.
    fn list_begins(&mut self);
    /// The list is complete, as of a resourceVersion.
    fn list_ends(&mut self, version: &str);
    /// An object is there, or has changed.
    ///
    /// # Errors
    /// When it cannot be read. It is then passed over.
    fn seen(&mut self, head: &Head<'_>, object: &str) -> Result<(), serde_json::Error>;
    /// An object is gone.
    ///
    /// # Errors
    /// When it cannot be read. It is then passed over.
    fn gone(&mut self, object: &str) -> Result<(), serde_json::Error>;
}

/// Which objects to watch, and what of them.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    /// Of this kind.
    pub kind: Kind,
    /// A selector, as part of a query that begins with `&`; empty for all.
    pub which: &'static str,
    /// How much of each.
    pub form: Form,
}

/// Why a watch ended.
#[derive(Debug, thiserror::Error)]
enum End {
    #[error("its time was up")]
    Over,
    #[error("its place is no longer known")]
    Expired,
    #[error("the server cannot stream lists")]
    NoStream,
    #[error(transparent)]
    Failed(#[from] ApiError),
}

/// One watch.
#[derive(Debug)]
pub struct Watch<'a, S> {
    api: &'a Api,
    subject: Subject,
    path: String,
    sink: &'a mut S,
    /// Where it is; none before the list is complete.
    version: Option<String>,
    streams: bool,
}

#[derive(Deserialize)]
struct Placed {
    metadata: Place,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    resource_version: String,
    #[serde(default)]
    annotations: std::collections::BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Failure {
    #[serde(default)]
    code: u16,
    #[serde(default)]
    message: String,
}

impl<'a, S: Sink> Watch<'a, S> {
    /// Of all objects of a kind, or of those of a namespace.
    pub fn new(api: &'a Api, subject: Subject, namespace: Option<&str>, sink: &'a mut S) -> Self {
        Watch { api, subject, path: subject.kind.all(namespace), sink, version: None, streams: true }
    }

    /// Follows for ever.
    pub async fn run(mut self) {
        let mut wait = SHORTEST_WAIT;
        loop {
            let from = self.version.clone();
            let end = match self.session().await {
                Ok(()) => End::Over,
                Err(end) => end,
            };
            if self.version != from {
                wait = SHORTEST_WAIT;
            }
            match end {
                End::Over => debug!(kind = self.subject.kind.plural, "watch is taken up again"),
                End::NoStream => self.streams = false,
                End::Expired => {
                    debug!(kind = self.subject.kind.plural, "watch begins anew");
                    self.version = None;
                }
                End::Failed(error) => {
                    let error: &dyn std::error::Error = &error;
                    warn!(kind = self.subject.kind.plural, error, "watch failed, will try again");
                }
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    async fn session(&mut self) -> Result<(), End> {
        if self.version.is_none() && !self.streams {
            self.list().await?;
        }
        let mut url = format!(
            "{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={LASTS_SECS}{}",
            self.path, self.subject.which
        );
        match &self.version {
            Some(version) => url.push_str(&format!("&resourceVersion={version}")),
            None => {
                url.push_str("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
                self.sink.list_begins();
            }
        }
        let listing = self.version.is_none();
        let mut body =
            self.api.watch(&url, self.subject.form).await.map_err(|error| end_of(error, listing))?;
        let mut lines = Lines::default();
        while let Some(bytes) = next(&mut body).await? {
            lines.take(&bytes, |line| self.line(line))?;
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> Result<(), End> {
        let Line { what, object } = Line::read(line).map_err(ApiError::from)?;
        match what {
            "ADDED" | "MODIFIED" | "DELETED" => {}
            "BOOKMARK" => {
                let place: Placed = serde_json::from_str(object).map_err(ApiError::from)?;
                let complete = place.metadata.annotations.contains_key("k8s.io/initial-events-end");
                if complete {
                    self.sink.list_ends(&place.metadata.resource_version);
                }
                if complete || self.version.is_some() {
                    self.version = Some(place.metadata.resource_version);
                }
                return Ok(());
            }
            _ => return Err(failure(object)),
        }
        let head = Head::read(object).map_err(ApiError::from)?;
        let taken = match what {
            "DELETED" => self.sink.gone(object),
            _ => self.sink.seen(&head, object),
        };
        if let Err(error) = taken {
            warn!(kind = self.subject.kind.plural, %error, "object cannot be read, passed over");
        }
        if let Some(version) = &mut self.version {
            version.clear();
            version.push_str(&head.resource_version);
        }
        Ok(())
    }

    async fn list(&mut self) -> Result<(), End> {
        self.sink.list_begins();
        let mut next = String::new();
        loop {
            let Subject { which, form, .. } = self.subject;
            let body = self.api.page(&self.path, which, &next, form).await;
            let body = body.map_err(|error| end_of(error, false))?;
            let page = Page::read(&body).map_err(ApiError::from)?;
            for object in page.items {
                let object = object.get();
                if let Err(error) = Head::read(object).and_then(|head| self.sink.seen(&head, object)) {
                    warn!(kind = self.subject.kind.plural, %error, "object cannot be read, passed over");
                }
            }
            if page.next.is_empty() {
                self.sink.list_ends(&page.resource_version);
                self.version = Some(page.resource_version.into_owned());
                return Ok(());
            }
            next = page.next.into_owned();
        }
    }
}

async fn next(body: &mut Incoming) -> Result<Option<Bytes>, ApiError> {
    let broken = |error: Box<dyn std::error::Error + Send + Sync>| ApiError::Unreachable(error);
    loop {
        let frame = tokio::time::timeout(SILENCE, body.frame()).await.map_err(|e| broken(e.into()))?;
        match frame {
            None => return Ok(None),
            Some(Err(error)) => return Err(broken(error.into())),
            Some(Ok(frame)) => {
                if let Ok(bytes) = frame.into_data() {
                    return Ok(Some(bytes));
                }
            }
        }
    }
}

/// What a refused watch means. Servers that cannot stream lists refuse to as invalid.
fn end_of(error: ApiError, listing: bool) -> End {
    match error.refusal().map(|refusal| refusal.code) {
        Some(410) => End::Expired,
        Some(400 | 422) if listing => End::NoStream,
        _ => End::Failed(error),
    }
}

fn failure(object: &str) -> End {
    match serde_json::from_str::<Failure>(object) {
        Ok(Failure { code: 410, .. }) => End::Expired,
        Ok(Failure { message, .. }) => End::Failed(ApiError::Unreachable(message.into())),
        Err(error) => End::Failed(error.into()),
    }
}
