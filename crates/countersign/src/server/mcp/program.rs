//! An MCP server that is a program: started by the gateway, spoken to over its standard input and output,
//! and answered for over HTTP.
//!
//! Separate because a program knows neither sessions nor headers nor status codes; this file is the server
//! that clients see. In the older era every session has a process of its own. In the newer one, which
//! has no sessions, the requests of one caller share processes; two requests with the same id never do,
//! because an id is all that tells an answer whose it is.

mod child;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use futures_util::stream;
use tokio::sync::mpsc;

use super::reply::{EVENTS, Pieces, Reply};
use super::{HEADER_MISMATCH, SESSION, session_of, takes_events};
use crate::mcp::http::mirror::{STATELESS, Said, VERSION};
use crate::mcp::http::spoken::{Spoken, is_complete};
use crate::mcp::http::sse;
use crate::mcp::message::{self, INVALID_PARAMS};
use crate::server::problem::Problem;
use child::{Child, Taken};

/// Processes of one server at once.
const CHILDREN_MAX: usize = 64;
/// How long a process nobody speaks to is kept.
const IDLE_TIME_MAX: Duration = Duration::from_mins(15);
/// How often processes nobody speaks to are looked for.
const LOOK_EVERY: Duration = Duration::from_mins(1);
/// How often a client that waits is sent a sign of life.
const SIGN_OF_LIFE_EVERY: Duration = Duration::from_secs(10);
/// Bytes of randomness in the name of a session.
const SESSION_BYTES: usize = 18;

const METHOD_NOT_FOUND: i64 = -32601;
/// Errors of the newer era that are told by status, too: other headers, a missing capability, another
/// version.
const BAD_REQUESTS: [i64; 3] = [-32020, -32021, -32022];

/// A program, and its processes.
#[derive(Debug)]
pub(super) struct Program {
    command: Vec<String>,
    /// Variables of the gateway's environment that it gets.
    variables: BTreeMap<String, String>,
    children: Arc<Mutex<Vec<Arc<Child>>>>,
    reaping: std::sync::Once,
}

impl Program {
    /// Returns the program that `command` starts.
    pub(super) fn new(command: Vec<String>, variables: BTreeMap<String, String>) -> Self {
        Self {
            command,
            variables,
            children: Arc::default(),
            reaping: std::sync::Once::new(),
        }
    }

    /// Ends all processes.
    pub(super) async fn stop(&self) {
        let children = std::mem::take(&mut *self.children());
        for child in children {
            child.stop().await;
        }
    }

    /// Answers a request.
    pub(super) async fn forward(
        &self,
        method: &Method,
        headers: &HeaderMap,
        body: Bytes,
        caller: &str,
    ) -> Result<Reply, Problem> {
        let session = session_of(headers)?;
        if *method == Method::POST {
            let said = Said::read(&body);
            return if is_stateless(headers, &said) {
                self.stateless(headers, body, &said, caller).await
            } else {
                self.in_session(session.as_deref(), body, &said, caller)
                    .await
            };
        }
        let Some(session) = session else {
            return Ok(Reply::empty(StatusCode::METHOD_NOT_ALLOWED));
        };
        let child = self.of_session(&session, caller)?;
        if *method == Method::DELETE {
            self.children().retain(|it| !Arc::ptr_eq(it, &child));
            child.stop().await;
            // It has ended. The Python package takes 200 and 204 alone for that.
            return Ok(Reply::empty(StatusCode::NO_CONTENT));
        }
        match child.listen() {
            Some(heard) => Ok(events(Guard::default(), heard, Vec::new())),
            None => Ok(Reply::empty(StatusCode::CONFLICT)),
        }
    }

    /// Answers a message of the older era.
    async fn in_session(
        &self,
        session: Option<&str>,
        body: Bytes,
        said: &Said,
        caller: &str,
    ) -> Result<Reply, Problem> {
        let (child, begins) = match session {
            Some(session) => (self.of_session(session, caller)?, None),
            None if said.method.as_deref() == Some("initialize") => {
                let session = new_session()?;
                let child = self.start(caller, Some(session.clone()))?;
                (child, Some(session))
            }
            None => {
                return Err(Problem::new(
                    StatusCode::BAD_REQUEST,
                    "missing_session",
                    "send `initialize` first, and `Mcp-Session-Id` with what follows",
                ));
            }
        };
        let mut reply = ask(&child, body, said, false, true).await?;
        if let Some(session) = begins
            && let Ok(session) = HeaderValue::try_from(session)
        {
            reply.headers.insert(SESSION, session);
        }
        Ok(reply)
    }

    /// Answers a message of the newer era.
    async fn stateless(
        &self,
        headers: &HeaderMap,
        body: Bytes,
        said: &Said,
        caller: &str,
    ) -> Result<Reply, Problem> {
        let id = said.id.as_deref();
        let refused = |status: StatusCode, code: i32, why: &str| {
            Ok(Reply::message(status, message::error(id, code, why)))
        };
        if let Some(why) = said.differs(headers) {
            return refused(StatusCode::BAD_REQUEST, HEADER_MISMATCH, why);
        }
        if id.is_some() && said.method.is_some() && !is_complete(&body) {
            let why = "`params._meta` must say the protocol version and the client's capabilities";
            return refused(StatusCode::BAD_REQUEST, INVALID_PARAMS, why);
        }
        // It would turn a process that others use into a session.
        if said.method.as_deref() == Some("initialize") {
            let code = i32::try_from(METHOD_NOT_FOUND).unwrap_or_default();
            return refused(StatusCode::NOT_FOUND, code, "Method not found");
        }
        let child = self.shared(caller, &body)?;
        ask(&child, body, said, true, takes_events(headers)).await
    }

    fn children(&self) -> MutexGuard<'_, Vec<Arc<Child>>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of_session(&self, session: &str, caller: &str) -> Result<Arc<Child>, Problem> {
        let children = self.children();
        let found = children.iter().find(|it| it.is_of(caller, Some(session)));
        found.cloned().ok_or_else(|| {
            Problem::new(
                StatusCode::NOT_FOUND,
                "no_such_session",
                "there is no such session",
            )
        })
    }

    /// Returns a process of `caller` in which no request like this one is in progress.
    fn shared(&self, caller: &str, body: &[u8]) -> Result<Arc<Child>, Problem> {
        let found = {
            let children = self.children();
            let mut shared = children.iter().filter(|it| it.is_of(caller, None));
            shared.find(|it| it.has_room_for(body)).cloned()
        };
        match found {
            Some(child) => Ok(child),
            None => self.start(caller, None),
        }
    }

    fn start(&self, caller: &str, session: Option<String>) -> Result<Arc<Child>, Problem> {
        let mut children = self.children();
        children.retain(|child| !child.has_ended());
        if children.len() >= CHILDREN_MAX {
            return Err(Problem {
                retry_after: Some(1),
                ..Problem::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "too_many_sessions",
                    "too many processes of this MCP server are running",
                )
            });
        }
        let child = Child::start(&self.command, &self.variables, caller, session);
        let child = Arc::new(child.map_err(|error| {
            tracing::warn!(%error, "an MCP server cannot be started");
            let message = "the MCP server cannot be started; the gateway's log says why";
            Problem::new(StatusCode::BAD_GATEWAY, "mcp_server_away", message)
        })?);
        children.push(Arc::clone(&child));
        drop(children);
        self.reaping.call_once(|| {
            tokio::spawn(reap(Arc::downgrade(&self.children)));
        });
        Ok(child)
    }
}

/// Ends processes nobody speaks to, as long as there is a program.
async fn reap(children: std::sync::Weak<Mutex<Vec<Arc<Child>>>>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(children) = children.upgrade() else {
            return;
        };
        let idle: Vec<Arc<Child>> = {
            let mut children = children.lock().unwrap_or_else(PoisonError::into_inner);
            let (idle, busy) = std::mem::take(&mut *children)
                .into_iter()
                .partition(|it| it.has_ended() || it.is_idle(IDLE_TIME_MAX));
            *children = busy;
            idle
        };
        for child in idle {
            child.stop().await;
        }
    }
}

/// Gives a message to a process and returns its answer.
///
/// An answer is a stream where the client takes one. Without a session an error is sent as it is, because its
/// status says whether the request was understood.
async fn ask(
    child: &Arc<Child>,
    body: Bytes,
    said: &Said,
    is_stateless: bool,
    takes_events: bool,
) -> Result<Reply, Problem> {
    let ended = || {
        let message = "the MCP server has ended";
        Problem::new(StatusCode::BAD_GATEWAY, "mcp_server_away", message)
    };
    let (Some(id), Some(method)) = (&said.id, &said.method) else {
        child.send(&body).await.map_err(|_| ended())?;
        return Ok(Reply::empty(StatusCode::ACCEPTED));
    };
    let listens = method == "subscriptions/listen";
    let Taken { serial, mut heard } = child
        .register(id, &body, listens)
        .map_err(|why| Problem::new(StatusCode::CONFLICT, "duplicate_id", why))?;
    let guard = Guard(Some((Arc::clone(child), serial, is_stateless)));
    child.send(&body).await.map_err(|_| ended())?;
    let first = heard.recv().await.ok_or_else(ended)?;
    if let Spoken::Answer { error, .. } = Spoken::read(&first) {
        guard.done();
        let is_error = error.is_some();
        if !is_stateless || takes_events && !is_error {
            let event = Bytes::from(sse::event(&first));
            return Ok(streamed(Box::pin(stream::once(async { Ok(event) }))));
        }
        let status = match error {
            Some(METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
            Some(code) if BAD_REQUESTS.contains(&code) => StatusCode::BAD_REQUEST,
            Some(_) | None => StatusCode::OK,
        };
        return Ok(Reply::message(status, first));
    }
    Ok(events(guard, heard, sse::event(&first)))
}

/// Returns messages as events, beginning with `first`, until the answer has come.
fn events(guard: Guard, heard: mpsc::Receiver<Vec<u8>>, first: Vec<u8>) -> Reply {
    let first = if first.is_empty() {
        b": connected\n\n".to_vec()
    } else {
        first
    };
    let answers = guard.0.is_some();
    let body: Pieces = Box::pin(stream::unfold(
        (Some(first), Some((guard, heard))),
        move |(first, listening)| async move {
            let (guard, mut heard) = listening?;
            if let Some(first) = first {
                return Some((Ok(Bytes::from(first)), (None, Some((guard, heard)))));
            }
            match tokio::time::timeout(SIGN_OF_LIFE_EVERY, heard.recv()).await {
                Err(_) => {
                    let sign = Bytes::from_static(b": waiting\n\n");
                    Some((Ok(sign), (None, Some((guard, heard)))))
                }
                Ok(None) => None,
                Ok(Some(message)) => {
                    let event = Bytes::from(sse::event(&message));
                    let is_last =
                        answers && matches!(Spoken::read(&message), Spoken::Answer { .. });
                    if is_last {
                        guard.done();
                        return Some((Ok(event), (None, None)));
                    }
                    Some((Ok(event), (None, Some((guard, heard)))))
                }
            }
        },
    ));
    streamed(body)
}

fn streamed(body: Pieces) -> Reply {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, EVENTS);
    Reply {
        status: StatusCode::OK,
        headers,
        body,
    }
}

/// A request in progress. A client that goes away before the answer came forgets it, and in the newer era
/// takes it back.
#[derive(Default)]
struct Guard(Option<(Arc<Child>, u64, bool)>);

impl Guard {
    fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some((child, serial, is_stateless)) = self.0.take() {
            let cancelled = child.forget(serial);
            if let (Some(id), true) = (cancelled, is_stateless) {
                child.cancel(&id);
            }
        }
    }
}

fn is_stateless(headers: &HeaderMap, said: &Said) -> bool {
    let named = headers.get(VERSION).and_then(|it| it.to_str().ok());
    said.is_stateless()
        || named.is_some_and(|version| version >= STATELESS)
        || said.method.as_deref() == Some("server/discover")
}

fn new_session() -> Result<String, Problem> {
    use base64::Engine as _;
    let mut random = [0u8; SESSION_BYTES];
    getrandom::fill(&mut random).map_err(|_| {
        let message = "there is no randomness";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "mcp_failed", message)
    })?;
    Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(random))
}
