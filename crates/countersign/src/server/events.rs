//! Server-sent events. The id of an event is its number in the ledger.
//!
//! A reader is a number: the last entry it was sent. What stands behind that number is asked for
//! whenever the reader can take more, so nothing is buffered per reader, a slow one loses nothing,
//! and one that comes back goes on where it was.

pub(crate) mod dialect;
pub(crate) mod follow;
mod start;

use std::fmt::Write as _;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use countersign_agent::feed::Piece;
use countersign_core::ledger::Entry;
use countersign_gate::records::event::Event;
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::json;

use super::App;
use super::auth::Caller;
use super::body::Params;
use super::handle::Reach;
use super::problem::Problem;
use follow::{Follower, Told, Which};
pub(crate) use start::now;

use crate::config::settings::Dialect;
use crate::wire::queries::EventsQuery;

/// Events of everything the caller may see
#[utoipa::path(get, path = "/v1/events", params(EventsQuery,
        ("Last-Event-ID" = Option<u64>, Header, description = "go on behind this event")),
    responses((status = 200, description = "each line of data is an event",
        content_type = "text/event-stream", body = Event)))]
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
    responses((status = 200, description = "each line of data is an event",
        content_type = "text/event-stream", body = Event)))]
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

struct Events {
    follower: Follower,
    dialect: Dialect,
    run: Option<String>,
    stage: Stage,
    /// Whether the message before ended without an entry that says so.
    anew: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Begins,
    Reads,
    Ended,
}

fn respond(app: Arc<App>, caller: Caller, cursor: u64, which: Which) -> Response {
    let run = match &which {
        Which::All => None,
        Which::Run(run) => Some(run.clone()),
    };
    let events = Events {
        // Only runs are told to clients that know other names.
        dialect: run.as_ref().map_or(Dialect::Native, |_| app.dialect),
        follower: Follower::new(app, caller, cursor, which),
        run,
        stage: Stage::Begins,
        anew: false,
    };
    let texts = stream::unfold(events, |mut events| async move {
        let text = events.next().await?;
        Some((text, events))
    });
    sse(texts)
}

/// Returns the answer that streams `texts`.
pub(crate) fn sse(texts: impl Stream<Item = String> + Send + 'static) -> Response {
    let body =
        Body::from_stream(texts.map(|text| Ok::<_, std::convert::Infallible>(Bytes::from(text))));
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

impl Events {
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
            let mut out = String::new();
            for told in self.follower.next().await {
                self.write(&mut out, told);
                if self.stage == Stage::Ended {
                    break;
                }
            }
            if !out.is_empty() {
                return Some(out);
            }
        }
    }

    fn write(&mut self, out: &mut String, told: Told) {
        match told {
            Told::Entry(entry) => self.write_entry(out, &entry),
            Told::Piece(piece) => self.write_piece(out, piece),
            Told::Beat => out.push_str(": keep-alive\n\n"),
            Told::Closed(why) => self.end(out, why),
        }
    }

    fn write_entry(&mut self, out: &mut String, entry: &Entry) {
        self.anew = false;
        let draft = &entry.draft;
        let body = match self.dialect {
            Dialect::Native => Some(draft.body.clone()),
            Dialect::Hermes => dialect::hermes(&draft.event, &draft.body),
        };
        if let Some(body) = body {
            // The body is JSON on one line; a line break would begin a field of its own.
            let body = body.replace(['\n', '\r'], " ");
            let _infallible = write!(out, "id: {}\ndata: {body}\n\n", entry.seq);
        }
        let is_last = matches!(
            draft.event.as_str(),
            "run.completed" | "run.failed" | "run.cancelled"
        );
        if is_last && self.run.is_some() {
            self.end(out, "the run has ended");
        }
    }

    /// Partial output has no number; a reader who reconnects gets the message so far.
    fn write_piece(&mut self, out: &mut String, piece: Piece) {
        let is_notice = matches!(piece, Piece::Notice(_));
        let (name, key, text) = match (piece, self.dialect) {
            (Piece::End, _) => {
                self.anew = true;
                return;
            }
            // Clients of Hermes know no other way to be told.
            (Piece::Text(text) | Piece::SoFar(text) | Piece::Notice(text), Dialect::Hermes) => {
                ("message.delta", "delta", text)
            }
            (Piece::Text(text) | Piece::Notice(text), Dialect::Native) if !self.anew => {
                ("message.delta", "delta", text)
            }
            (Piece::Text(text) | Piece::SoFar(text) | Piece::Notice(text), Dialect::Native) => {
                ("message.snapshot", "text", text)
            }
        };
        self.anew = false;
        let now = self.follower.now();
        let mut body = json!({ "event": name, "run_id": self.run, "timestamp": now, key: text });
        if let Some(body) = body.as_object_mut().filter(|_| is_notice) {
            body.insert("notice".to_owned(), json!(true));
        }
        let body = match self.dialect {
            Dialect::Native => body.to_string(),
            Dialect::Hermes => dialect::spaced(&body),
        };
        let _infallible = write!(out, "data: {body}\n\n");
    }

    fn end(&mut self, out: &mut String, why: &str) {
        self.stage = Stage::Ended;
        let _infallible = write!(out, ": stream closed, {why}\n\n");
    }
}
