//! One call of a tool over HTTP: held until it is decided about, then passed on.
//!
//! Separate because it outlives the request it came in: a client that goes away takes its call back, and
//! that has to be told to the gateway by somebody who is still there.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at};

use super::reply::{Broken, EVENTS, Reply};
use super::watch::Watched;
use super::{Holds, Visit, takes_events};
use crate::mcp::call::Call;
use crate::mcp::gatekeeper::Passage;
use crate::mcp::hold::Hold;
use crate::mcp::http::mirror::Said;
use crate::mcp::http::sse;
use crate::mcp::message;
use crate::server::problem::Problem;

/// How long an answer may take before the client is sent the beginning of a stream, so that it knows
/// that its call waits.
const QUIET_TIME_MAX: Duration = Duration::from_secs(1);
/// How often a client that waits is sent a sign of life.
const SIGN_OF_LIFE_EVERY: Duration = Duration::from_secs(10);
/// Pieces of an answer that wait for a client that reads slowly.
const STEPS_MAX: usize = 16;
/// What a call tells its client while it waits.
const NOTES_MAX: usize = 64;
/// The code of a server that failed.
const INTERNAL_ERROR: i32 = -32603;

enum Step {
    Head(StatusCode, HeaderMap),
    Piece(Bytes),
    Broken,
}

/// Answers a call.
pub(super) async fn answer(visit: Visit, call: Box<Call>) -> Response {
    let (steps, mut taken) = mpsc::channel(STEPS_MAX);
    let client = Client {
        steps,
        begun: false,
        streams: takes_events(&visit.headers),
    };
    tokio::spawn(carry(visit, call, client));
    let Some(Step::Head(status, headers)) = taken.recv().await else {
        let message = "the call was given up";
        return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "mcp_failed", message)
            .into_response();
    };
    let body = stream::unfold(taken, |mut taken| async move {
        match taken.recv().await {
            Some(Step::Piece(piece)) => Some((Ok(piece), taken)),
            Some(Step::Broken) => Some((Err(Broken), taken)),
            Some(Step::Head(..)) | None => None,
        }
    });
    let reply = Reply {
        status,
        headers,
        body: Box::pin(body),
    };
    reply.into_response()
}

/// The client of a call, as long as it listens.
struct Client {
    steps: mpsc::Sender<Step>,
    /// Whether it has been sent the beginning of a stream.
    begun: bool,
    /// Whether it takes streams at all.
    streams: bool,
}

impl Client {
    async fn send(&self, step: Step) {
        let _gone = self.steps.send(step).await;
    }

    /// Sends a piece of the proxy's own stream, which begins with the first.
    async fn piece(&mut self, piece: Vec<u8>) {
        if !self.streams {
            return;
        }
        if !self.begun {
            self.begun = true;
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, EVENTS);
            self.send(Step::Head(StatusCode::OK, headers)).await;
        }
        self.send(Step::Piece(Bytes::from(piece))).await;
    }

    /// Sends the one message that answers the call.
    async fn message(&mut self, message: Vec<u8>) {
        if self.begun {
            self.piece(sse::event(&message)).await;
        } else {
            self.reply(Reply::message(StatusCode::OK, message), None)
                .await;
        }
    }

    /// Sends an answer as it is; `watched` looks at it on the way. `false` if it broke off.
    async fn reply(&mut self, mut reply: Reply, mut watched: Option<&mut Watched>) -> bool {
        if !self.begun {
            let headers = std::mem::take(&mut reply.headers);
            self.send(Step::Head(reply.status, headers)).await;
        }
        loop {
            let piece = tokio::select! {
                piece = reply.body.next() => piece,
                () = self.steps.closed() => return false,
            };
            match piece {
                None => return true,
                Some(Ok(piece)) => {
                    if let Some(watched) = watched.as_deref_mut() {
                        watched.take(&piece);
                    }
                    self.send(Step::Piece(piece)).await;
                }
                Some(Err(Broken)) => {
                    self.send(Step::Broken).await;
                    return false;
                }
            }
        }
    }
}

async fn carry(visit: Visit, call: Box<Call>, mut client: Client) {
    let (told, mut notes) = mpsc::channel(NOTES_MAX);
    let hold = Arc::new(Hold::new(told));
    let _registered = Holds::register(&visit.server, visit.hold_key(&call.key()), &hold);
    let gatekeeper = &visit.gatekeeper;
    let passage = {
        let deciding = async {
            let begun = gatekeeper.begin(&call, &hold).await;
            gatekeeper.finish(begun, &call, &hold).await
        };
        let mut deciding = std::pin::pin!(deciding);
        let mut signs = interval_at(Instant::now() + QUIET_TIME_MAX, SIGN_OF_LIFE_EVERY);
        loop {
            tokio::select! {
                biased;
                () = client.steps.closed(), if !hold.is_cancelled() => {
                    hold.cancel();
                }
                passage = &mut deciding => break passage,
                Some(note) = notes.recv() => client.piece(sse::event(&note)).await,
                _ = signs.tick() => client.piece(b": waiting\n\n".to_vec()).await,
            }
        }
    };
    while let Ok(note) = notes.try_recv() {
        client.piece(sse::event(&note)).await;
    }
    match passage {
        Passage::Answer(answer) => client.message(answer).await,
        Passage::Dropped => taken_back(&mut client).await,
        Passage::Dispatch { message, receipt } => {
            if client.steps.is_closed() {
                hold.cancel();
            }
            if !hold.dispatch() {
                gatekeeper.abandon(receipt).await;
                return taken_back(&mut client).await;
            }
            let failed = dispatch(&visit, &call, message, &mut client).await;
            gatekeeper.report(receipt, failed).await;
        }
    }
}

/// Ends the answer to a call that its client took back: there is nothing to say.
async fn taken_back(client: &mut Client) {
    if !client.begun {
        client.reply(Reply::empty(StatusCode::ACCEPTED), None).await;
    }
}

/// Sends the message to the server and its answer to the client. Returns whether the call failed, or
/// nobody knows.
async fn dispatch(visit: &Visit, call: &Call, message: Vec<u8>, client: &mut Client) -> bool {
    let mut headers = visit.headers.clone();
    let (now, before) = (Said::read(&message), Said::read(&visit.body));
    if now.arguments_differ(&before) {
        let schema = visit.gatekeeper.schema(&call.tool);
        now.mirror_arguments(&mut headers, schema.as_ref());
    }
    let forwarding = visit.forward(Method::POST, &headers, Bytes::from(message));
    let forwarded = tokio::select! {
        forwarded = forwarding => forwarded,
        // The connection to the server closes with it, which is how this is told to it.
        () = client.steps.closed() => return true,
    };
    let mut reply = match forwarded {
        Ok(reply) => reply,
        Err(problem) => {
            let why = format!("countersign: {}", problem.message);
            client
                .message(message::error(Some(&call.id), INTERNAL_ERROR, &why))
                .await;
            return true;
        }
    };
    let mut watched = Watched::new(Some(call.key()), Arc::clone(&visit.gatekeeper), &reply);
    if !client.begun || reply.is_events() {
        client.reply(reply, Some(&mut watched)).await;
        watched.end();
        return watched.failed();
    }
    // The client reads a stream by now, so the answer becomes its last event.
    let whole = if reply.is_json() {
        reply.whole().await
    } else {
        Err(Broken)
    };
    match whole {
        Ok(whole) if Said::read(&whole).id.is_some() => {
            watched.take(&whole);
            client.message(whole.to_vec()).await;
        }
        Ok(_) | Err(Broken) => {
            let why = format!(
                "countersign: the MCP server responded with {}",
                reply.status
            );
            client
                .message(message::error(Some(&call.id), INTERNAL_ERROR, &why))
                .await;
        }
    }
    watched.end();
    watched.failed()
}
