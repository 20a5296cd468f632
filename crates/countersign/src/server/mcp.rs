//! The gateway as an MCP endpoint: many servers behind one address, each under its own name.
//!
//! Everything passes as it is but `tools/call`, which is decided about like every call. A server is at an
//! address ([`remote`]) or a program that the gateway starts ([`program`]); the configuration names it.
//!
//! INVARIANT: what a client sends reaches a server only after [`crate::mcp::message`] has read it, and
//! what may be a call only after the gateway allowed it.

mod door;
mod gate;
mod program;
mod remote;
mod reply;
mod settings;
mod watch;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use countersign_core::digest::Digest;
use futures_util::{StreamExt as _, stream};
use tokio::sync::{Semaphore, SemaphorePermit};

pub(crate) use door::{OfPinned, Routes};
pub(crate) use settings::read as settings;

use super::auth::Caller;
use super::listen::Peer;
use super::problem::Problem;
use crate::mcp::gatekeeper::{Gatekeeper, Settings as Keeping};
use crate::mcp::hold::Hold;
use crate::mcp::http::mirror::Said;
use crate::mcp::message::{
    self, Client, FromClient, INVALID_REQUEST, MESSAGE_BYTES_MAX, Passing, read_client,
};
use crate::mcp::way::Way;
pub(crate) use reply::EVENTS;
use reply::{Broken, Pieces, Reply};
use watch::Watched;

/// The session of a client with a server.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// How often a client is told that its call waits. Some clients give up after a minute of silence.
const PROGRESS_EVERY: Duration = Duration::from_secs(15);
/// Longest name of a session, in bytes.
const SESSION_BYTES_MAX: usize = 1024;
/// Sessions of one server whose tools are remembered.
const KEEPERS_MAX: usize = 1024;
/// Calls of one server that may wait at once.
const HELD_MAX: usize = 4096;
/// Calls of one key to one server that may wait at once.
const HELD_OF_CALLER_MAX: usize = 256;
/// A body that is longer takes one of [`LARGE_BODIES_MAX`] places.
const LARGE_BODY_BYTES: usize = 1024 * 1024;
/// Long bodies that are in memory at once.
const LARGE_BODIES_MAX: usize = 8;
/// How long a body may take to arrive.
const BODY_TIME_MAX: Duration = Duration::from_mins(1);
/// The code of a request whose headers say something else than its body.
const HEADER_MISMATCH: i32 = -32020;

/// The MCP servers of a gateway.
#[derive(Debug)]
pub(crate) struct Servers {
    by_name: HashMap<String, Arc<Server>>,
    large: Semaphore,
}

impl Servers {
    fn new(servers: Vec<Server>) -> Self {
        Self {
            by_name: servers
                .into_iter()
                .map(|server| (server.name.clone(), Arc::new(server)))
                .collect(),
            large: Semaphore::new(LARGE_BODIES_MAX),
        }
    }

    /// Returns the server `name`.
    pub(crate) fn named(&self, name: &str) -> Result<Arc<Server>, Problem> {
        self.by_name.get(name).cloned().ok_or_else(|| {
            let name = countersign_core::display::inline(name);
            let message = format!(
                "there is no MCP server `{name}`; `mcp.servers` in the configuration names them"
            );
            Problem::new(StatusCode::NOT_FOUND, "no_such_mcp_server", message)
        })
    }

    /// Stops the programs that were started.
    pub(crate) async fn stop(&self) {
        for server in self.by_name.values() {
            if let Upstream::Program(program) = &server.upstream {
                program.stop().await;
            }
        }
    }

    /// Reads the body of a request.
    async fn read(
        &self,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<(Bytes, Option<SemaphorePermit<'_>>), Problem> {
        readable(headers)?;
        let announced = headers
            .get(header::CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if announced.is_some_and(|length| length > MESSAGE_BYTES_MAX) {
            return Err(too_large());
        }
        let reading = async {
            let mut place = None;
            let mut all = Vec::new();
            let mut pieces = body.into_data_stream();
            while let Some(piece) = pieces.next().await {
                let piece = piece.map_err(|_| {
                    let message = "the body ended before it was complete";
                    Problem::new(StatusCode::BAD_REQUEST, "body_broken", message)
                })?;
                if all.len() + piece.len() > MESSAGE_BYTES_MAX {
                    return Err(too_large());
                }
                if place.is_none() && all.len() + piece.len() > LARGE_BODY_BYTES {
                    place = self.large.acquire().await.ok();
                }
                all.extend_from_slice(&piece);
            }
            Ok((Bytes::from(all), place))
        };
        tokio::time::timeout(BODY_TIME_MAX, reading)
            .await
            .unwrap_or_else(|_| {
                let message = "the body took longer than a minute";
                Err(Problem::new(
                    StatusCode::REQUEST_TIMEOUT,
                    "body_too_slow",
                    message,
                ))
            })
    }
}

/// One MCP server.
#[derive(Debug)]
pub(crate) struct Server {
    name: String,
    /// Who runs its calls: the name, and what is behind it.
    executor: String,
    upstream: Upstream,
    verifies_tokens: bool,
    /// Whether the owner vouches for what it says of its tools.
    is_pinned: bool,
    keepers: Mutex<HashMap<String, (Instant, Arc<Gatekeeper>)>>,
    holds: Holds,
}

/// Where a server is.
#[derive(Debug)]
enum Upstream {
    Remote(remote::Remote),
    Program(program::Program),
}

/// Calls that wait, by caller, session and id: what a cancellation names.
#[derive(Debug, Default)]
struct Holds(Mutex<HashMap<String, Vec<Weak<Hold>>>>);

/// A call among those that wait, until it is dropped.
struct Registered {
    server: Arc<Server>,
    key: String,
    hold: Weak<Hold>,
}

impl Holds {
    fn register(server: &Arc<Server>, key: String, hold: &Arc<Hold>) -> Registered {
        let mut all = server
            .holds
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let caller = key.split_once('\0').map_or(key.as_str(), |it| it.0);
        let of_caller = all.iter().filter(|(held, _)| {
            held.strip_prefix(caller)
                .is_some_and(|it| it.starts_with('\0'))
        });
        let of_caller: usize = of_caller.map(|(_, holds)| holds.len()).sum();
        if all.len() < HELD_MAX && of_caller < HELD_OF_CALLER_MAX {
            all.entry(key.clone())
                .or_default()
                .push(Arc::downgrade(hold));
        } else {
            // One that nobody could take back does not run.
            hold.cancel();
        }
        drop(all);
        Registered {
            server: Arc::clone(server),
            key,
            hold: Arc::downgrade(hold),
        }
    }

    /// Takes back what waits under `key`; whether that was something that will not be sent now.
    fn cancel(&self, key: &str) -> bool {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = held.get(key).into_iter().flatten();
        let cancelled: Vec<bool> = waiting
            .filter_map(Weak::upgrade)
            .map(|hold| hold.cancel())
            .collect();
        !cancelled.is_empty() && cancelled.into_iter().all(|it| it)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut held = self
            .server
            .holds
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(holds) = held.get_mut(&self.key) {
            holds.retain(|hold| !hold.ptr_eq(&self.hold));
            if holds.is_empty() {
                held.remove(&self.key);
            }
        }
    }
}

/// One request of a client to a server.
pub(crate) struct Visit {
    server: Arc<Server>,
    gatekeeper: Arc<Gatekeeper>,
    /// The key of who asks.
    caller: String,
    headers: HeaderMap,
    body: Bytes,
}

/// Who asks, and by which way.
pub(crate) struct Guest {
    pub(crate) caller: Caller,
    pub(crate) peer: Peer,
    pub(crate) routes: Routes,
    /// Where people find the page.
    pub(crate) page: Option<String>,
}

impl Server {
    /// Returns the gatekeeper of one session of one caller. Whoever has no session yet shares one.
    fn gatekeeper(
        &self,
        guest: &Guest,
        headers: &HeaderMap,
        session: Option<&str>,
    ) -> Result<Arc<Gatekeeper>, Problem> {
        let principal = guest.caller.principal.key.as_str();
        let key = format!("{principal}\0{}", session.unwrap_or_default());
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((used, keeper)) = keepers.get_mut(&key) {
            *used = Instant::now();
            return Ok(Arc::clone(keeper));
        }
        let door = door::Inside {
            router: guest.routes.0.clone(),
            peer: guest.peer,
            credential: guest.caller.credential.clone(),
            host: headers.get(header::HOST).cloned(),
            pinned: self.is_pinned.then(|| OfPinned {
                executor: self.executor.clone(),
                tools: format!("mcp__{}__", self.name),
            }),
        };
        let keeping = Keeping {
            server: self.name.clone(),
            executor: self.executor.clone(),
            session: session_name(&self.name, session),
            directory: None,
            verifies_tokens: self.verifies_tokens,
            progress_every: PROGRESS_EVERY,
            page: guest.page.clone(),
            principal: principal.to_owned(),
        };
        let way = Arc::new(Way::through(Arc::new(door)));
        let keeper = Gatekeeper::new(way, keeping).map_err(|complaint| {
            let message = complaint.in_one_line();
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "mcp_failed", message)
        })?;
        if keepers.len() >= KEEPERS_MAX {
            let oldest = keepers.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                keepers.remove(&oldest);
            }
        }
        let keeper = Arc::new(keeper);
        keepers.insert(key, (Instant::now(), Arc::clone(&keeper)));
        Ok(keeper)
    }

    fn forget(&self, caller: &str, session: &str) -> Option<Arc<Gatekeeper>> {
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        keepers
            .remove(&format!("{caller}\0{session}"))
            .map(|(_, keeper)| keeper)
    }
}

/// Returns the session of calls. That of the client may be a secret between it and the server, so it is
/// not shown.
fn session_name(server: &str, session: Option<&str>) -> String {
    match session {
        None => format!("mcp-{server}"),
        Some(session) => {
            let digest = Digest::of(session.as_bytes()).hex();
            format!("mcp-{server}-{}", digest.get(..16).unwrap_or_default())
        }
    }
}

/// Answers a POST: one message of the client.
pub(crate) async fn post(
    servers: &Servers,
    server: Arc<Server>,
    guest: Guest,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (body, _place) = servers.read(&headers, body).await?;
    let session = session_of(&headers)?;
    let visit = Visit {
        gatekeeper: server.gatekeeper(&guest, &headers, session.as_deref())?,
        caller: guest.caller.principal.key.as_str().to_owned(),
        headers,
        body,
        server,
    };
    let message = read_client(&visit.body);
    let said = Said::read(&visit.body);
    let contradicted = said
        .contradicted(&visit.headers)
        .or_else(|| visit.program_refuses(&said));
    if let Some(why) = contradicted {
        let answer = message::error(said.id.as_deref(), HEADER_MISMATCH, why);
        return Ok(Reply::message(StatusCode::BAD_REQUEST, answer).into_response());
    }
    match message {
        FromClient::Refused(refused) => {
            let answer = refused
                .answer
                .unwrap_or_else(|| message::error(None, INVALID_REQUEST, &refused.why));
            Ok(Reply::message(StatusCode::BAD_REQUEST, answer).into_response())
        }
        FromClient::Call(call) => Ok(gate::answer(visit, call).await),
        FromClient::Pass(passing) => pass(visit, passing, &guest).await,
    }
}

/// Passes a message on that is not gated.
async fn pass(visit: Visit, passing: Passing, guest: &Guest) -> Result<Response, Problem> {
    let accepted = || Ok(Reply::empty(StatusCode::ACCEPTED).into_response());
    let mut met: Option<Client> = None;
    match passing {
        Passing::Initialize { client } => met = Some(client),
        Passing::ListTools {
            key: Some(key),
            is_first,
        } => {
            visit.gatekeeper.expect_tools(key, is_first);
        }
        // Without a session an id says nothing: every client counts its own.
        Passing::Cancelled(key) => {
            let is_ours = visit.headers.contains_key(SESSION);
            if is_ours && visit.server.holds.cancel(&visit.hold_key(&key)) {
                return accepted();
            }
        }
        Passing::Response(key) if visit.gatekeeper.is_own(&key) => return accepted(),
        Passing::Response(_) | Passing::ListTools { key: None, .. } | Passing::Other => {}
    }
    let forwarding = visit.forward(Method::POST, &visit.headers, visit.body.clone());
    let mut reply = forwarding.await?;
    if let Some(client) = met {
        let session = session_of(&reply.headers)?;
        let keeper = visit
            .server
            .gatekeeper(guest, &visit.headers, session.as_deref())?;
        keeper.meet(client);
    }
    let is_json = reply.is_json() && visit.gatekeeper.expects_tools();
    if is_json || reply.is_events() {
        let mut watched = Watched::new(None, Arc::clone(&visit.gatekeeper), &reply);
        if is_json {
            // Whoever counts the bytes has the whole message before the stream has ended, so it is read
            // before the first of them is sent.
            let whole = reply.whole().await.map_err(|broken| {
                Problem::new(
                    StatusCode::BAD_GATEWAY,
                    "mcp_server_away",
                    broken.to_string(),
                )
            })?;
            watched.take(&whole);
            watched.end();
            reply.body = Box::pin(stream::once(async { Ok(whole) }));
        } else {
            reply.body = watching(reply.body, watched);
        }
    }
    Ok(reply.into_response())
}

/// Returns the same pieces, looked at before the client has them.
fn watching(body: Pieces, watched: Watched) -> Pieces {
    Box::pin(stream::unfold(
        (body, Some(watched)),
        |(mut body, watched)| async move {
            let mut watched = watched?;
            // The end is looked at, too, before the client knows of it.
            match body.next().await {
                Some(Ok(piece)) => {
                    watched.take(&piece);
                    Some((Ok(piece), (body, Some(watched))))
                }
                Some(Err(Broken)) => Some((Err(Broken), (body, None))),
                None => {
                    watched.end();
                    None
                }
            }
        },
    ))
}

/// Answers a GET: the stream on which a server speaks by itself, or goes on with an answer.
pub(crate) async fn get(
    server: Arc<Server>,
    guest: Guest,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let caller = guest.caller.principal.key.as_str();
    let session = session_of(&headers)?;
    let gatekeeper = server.gatekeeper(&guest, &headers, session.as_deref())?;
    let mut reply = server
        .upstream
        .forward(Method::GET, &headers, Bytes::new(), caller)
        .await?;
    if reply.is_events() {
        let watched = Watched::new(None, gatekeeper, &reply);
        reply.body = watching(reply.body, watched);
    }
    Ok(reply.into_response())
}

/// Answers a DELETE: the client ends its session.
pub(crate) async fn delete(
    server: Arc<Server>,
    guest: Guest,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let caller = guest.caller.principal.key.as_str();
    if let Some(session) = session_of(&headers)?
        && let Some(keeper) = server.forget(caller, &session)
    {
        keeper.close().await;
    }
    let reply = server
        .upstream
        .forward(Method::DELETE, &headers, Bytes::new(), caller)
        .await?;
    Ok(reply.into_response())
}

impl Upstream {
    async fn forward(
        &self,
        method: Method,
        headers: &HeaderMap,
        body: Bytes,
        caller: &str,
    ) -> Result<Reply, Problem> {
        match self {
            Self::Remote(remote) => remote.forward(method, headers, body).await,
            Self::Program(program) => program.forward(&method, headers, body, caller).await,
        }
    }
}

impl Visit {
    async fn forward(
        &self,
        method: Method,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Reply, Problem> {
        let upstream = &self.server.upstream;
        upstream.forward(method, headers, body, &self.caller).await
    }

    /// A program sees no headers, so what they have to repeat is checked for it.
    fn program_refuses(&self, said: &Said) -> Option<&'static str> {
        let is_program = matches!(self.server.upstream, Upstream::Program(_));
        let is_call = said.method.as_deref() == Some("tools/call");
        let schema = self.gatekeeper.schema(said.name.as_deref()?)?;
        let checked = is_program && is_call && said.is_stateless();
        checked
            .then(|| said.arguments_contradicted(&self.headers, &schema))
            .flatten()
    }

    /// Returns under which key a call with an id of this key waits.
    fn hold_key(&self, id: &str) -> String {
        let session = self.headers.get(SESSION).map(HeaderValue::as_bytes);
        let session = session.map(String::from_utf8_lossy).unwrap_or_default();
        format!("{}\0{session}\0{id}", self.caller)
    }
}

/// Whether the client takes a stream of events as the answer.
fn takes_events(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT).iter();
    accepted.any(|value| {
        value
            .to_str()
            .is_ok_and(|value| value.to_ascii_lowercase().contains("text/event-stream"))
    })
}

fn session_of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut named = headers.get_all(SESSION).iter();
    let (first, second) = (named.next(), named.next());
    let Some(first) = first else {
        return Ok(None);
    };
    let session = first
        .to_str()
        .ok()
        .filter(|it| it.len() <= SESSION_BYTES_MAX);
    match (session, second) {
        (Some(session), None) => Ok(Some(session.to_owned())),
        (_, _) => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "invalid_session",
            "`Mcp-Session-Id` must stand once, be short and consist of visible ASCII characters",
        )),
    }
}

/// What a server might decode differently could hide a call in it.
fn readable(headers: &HeaderMap) -> Result<(), Problem> {
    let unreadable = |message: &str| {
        Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            message,
        ))
    };
    let is_encoded = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .any(|coding| coding != "identity");
    if is_encoded {
        return unreadable("a compressed body cannot be judged; send it as it is");
    }
    let mut kinds = headers.get_all(header::CONTENT_TYPE).iter();
    let (first, second) = (kinds.next(), kinds.next());
    let kind = first
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    let mut parts = kind.split(';').map(|part| part.trim().to_ascii_lowercase());
    let is_json = parts.next().as_deref() == Some("application/json");
    // Readers differ about blanks and other spellings of a parameter, so there is one, in one spelling.
    let is_plain = parts.all(|part| matches!(part.as_str(), "charset=utf-8" | "charset=\"utf-8\""));
    if !is_json || !is_plain || second.is_some() {
        return unreadable(
            "the body must be JSON in UTF-8, sent as `content-type: application/json`",
        );
    }
    Ok(())
}

fn too_large() -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "body_too_large",
        "the message is longer than 64 MiB",
    )
}
