//! Events as they happen (SSE). An event's id is its number in the ledger.
//!
//! A reader is a number: the last entry it was sent. What stands behind that number is asked for
//! whenever the reader can take more, so nothing is buffered per reader, a slow one loses nothing,
//! and one that comes back goes on where it was.

pub(crate) mod dialect;
mod start;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use countersign_core::ledger::Entry;
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::Instant;

use super::App;
use super::auth::{Caller, is_still_good};
use super::body::Params;
use super::handle::Reach;
use super::problem::Problem;
use crate::config::settings::Dialect;
use crate::wire::requests::EventsQuery;

/// Entries that are looked at in one go; a reader holds at most so many.
const BATCH: u32 = 64;
/// A sign of life when nothing happens, and how often a credential is looked at again.
const BEAT: Duration = Duration::from_secs(10);

/// Events of everything the caller may see
#[utoipa::path(get, path = "/v1/events", params(EventsQuery,
        ("Last-Event-ID" = Option<u64>, Header, description = "go on behind this event")),
    responses((status = 200, description = "text/event-stream", body = String)))]
pub(crate) async fn all(
    State(app): Reach,
    caller: Caller,
    headers: HeaderMap,
    Params(query): Params<EventsQuery>,
) -> Result<Response, Problem> {
    let cursor = match start::named(&headers, &query)? {
        Some(id) => id.min(start::now(&app)),
        None => start::now(&app),
    };
    Ok(respond(app, caller, cursor, Which::All))
}

/// Events of one run, from its beginning
#[utoipa::path(get, path = "/v1/runs/{id}/events", params(EventsQuery,
        ("id" = String, Path, description = "the run"),
        ("Last-Event-ID" = Option<u64>, Header, description = "go on behind this event")),
    responses((status = 200, description = "text/event-stream", body = String)))]
pub(crate) async fn of_run(
    State(app): Reach,
    caller: Caller,
    Path(run): Path<String>,
    headers: HeaderMap,
    Params(query): Params<EventsQuery>,
) -> Result<Response, Problem> {
    let beginning = start::of_run(&app, &caller, &run).await?;
    let cursor = match start::named(&headers, &query)? {
        Some(id) => id.min(start::now(&app)),
        None => beginning,
    };
    Ok(respond(app, caller, cursor, Which::Run(run)))
}

#[derive(Debug)]
enum Which {
    All,
    Run(String),
}

struct Reader {
    app: Arc<App>,
    caller: Caller,
    which: Which,
    cursor: u64,
    last: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    beat_at: Instant,
    stage: Stage,
    _counted: Counted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Begins,
    Reads,
    Ended,
}

/// Why a reader stopped waiting.
#[derive(Clone, Copy, Debug)]
enum Woken {
    More,
    Closed,
    Stopping,
    Beat,
}

/// Counts a reader while it is there.
struct Counted(Arc<App>);

impl Counted {
    fn new(app: Arc<App>) -> Self {
        app.metrics.readers.fetch_add(1, Ordering::Relaxed);
        Self(app)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.metrics.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

fn respond(app: Arc<App>, caller: Caller, cursor: u64, which: Which) -> Response {
    let reader = Reader {
        last: app.gate.store().tail().last(),
        stopping: app.stopping.clone(),
        _counted: Counted::new(Arc::clone(&app)),
        app,
        caller,
        which,
        cursor,
        beat_at: Instant::now() + BEAT,
        stage: Stage::Begins,
    };
    let body = Body::from_stream(stream::unfold(reader, |mut reader| async move {
        let text = reader.next().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(text)), reader))
    }));
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // Proxies that collect answers would hold events back.
        (
            axum::http::HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        ),
    ];
    (headers, body).into_response()
}

impl Reader {
    /// Returns what is to be sent next; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        match self.stage {
            Stage::Ended => return None,
            Stage::Begins => {
                self.stage = Stage::Reads;
                return Some("retry: 1000\n: connected\n\n".to_owned());
            }
            Stage::Reads => {}
        }
        loop {
            // Seen before it is read, so that what comes in between wakes us again.
            self.last.borrow_and_update();
            let Some(entries) = self.behind().await else {
                return Some(self.end("storage is unavailable"));
            };
            if entries.is_empty() {
                if let Some(said) = self.wait().await {
                    return Some(said);
                }
                continue;
            }
            let text = self.write(&entries);
            if !text.is_empty() {
                return Some(text);
            }
            // Others' entries go by without anybody waiting for us.
            tokio::task::yield_now().await;
        }
    }

    /// Waits until there is more to read, or says why there is not.
    async fn wait(&mut self) -> Option<String> {
        let woken = tokio::select! {
            changed = self.last.changed() => changed.map_or(Woken::Closed, |()| Woken::More),
            _ = self.stopping.wait_for(|stopping| *stopping) => Woken::Stopping,
            () = tokio::time::sleep_until(self.beat_at) => Woken::Beat,
        };
        match woken {
            Woken::More => None,
            Woken::Closed => Some(self.end("the store is closed")),
            Woken::Stopping => Some(self.end("the gateway is stopping")),
            Woken::Beat => {
                self.beat_at = Instant::now() + BEAT;
                if is_still_good(&self.app, &self.caller).await {
                    Some(": keep-alive\n\n".to_owned())
                } else {
                    Some(self.end("the credential is no longer good"))
                }
            }
        }
    }

    fn end(&mut self, why: &str) -> String {
        self.stage = Stage::Ended;
        format!(": stream closed, {why}\n\n")
    }

    async fn behind(&self) -> Option<Vec<Arc<Entry>>> {
        let store = self.app.gate.store();
        let limit = usize::try_from(BATCH).unwrap_or(1);
        if let Some(entries) = store.tail().recent(self.cursor, limit) {
            return Some(entries);
        }
        match store.entries(self.cursor, BATCH).await {
            Ok(entries) => Some(entries.into_iter().map(Arc::new).collect()),
            Err(error) => {
                tracing::warn!(?error, "events cannot be read");
                None
            }
        }
    }

    fn write(&mut self, entries: &[Arc<Entry>]) -> String {
        let mut out = String::new();
        for entry in entries {
            self.cursor = entry.seq;
            if !self.sees(entry) {
                continue;
            }
            let draft = &entry.draft;
            let is_translated =
                self.app.dialect == Dialect::Hermes && matches!(self.which, Which::Run(_));
            let body = if is_translated {
                dialect::hermes(&draft.event, &draft.body)
            } else {
                draft.body.clone()
            };
            // The body is JSON on one line; a line break would begin a field of its own.
            let body = body.replace(['\n', '\r'], " ");
            let _infallible = write!(out, "id: {}\ndata: {body}\n\n", entry.seq);
            let is_last = matches!(
                draft.event.as_str(),
                "run.completed" | "run.failed" | "run.cancelled"
            );
            if is_last && matches!(self.which, Which::Run(_)) {
                out.push_str(&self.end("the run has ended"));
                break;
            }
        }
        out
    }

    fn sees(&self, entry: &Entry) -> bool {
        let who = &self.caller.principal;
        let is_his = who.role.sees_all() || entry.draft.owner == who.key.as_str();
        let is_asked = match &self.which {
            Which::All => true,
            Which::Run(run) => entry.draft.run == *run,
        };
        is_his && is_asked
    }
}
