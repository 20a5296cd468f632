//! Starts, stops and restarts the server with its state; limits its callers; breaks down on demand.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::json;
use tokio::sync::watch;

use super::methods;
use super::socket::{self, Sockets};
use super::world::World;
use crate::serving::{Cut, Serving};

/// How long a test waits for something the server should see.
const PATIENCE: Duration = Duration::from_mins(1);
/// The tokens and the secret of the app.
pub(super) const BOT_TOKEN: &str = "xoxb-2413-8821-strict";
pub(super) const APP_TOKEN: &str = "xapp-1-A0COUNTER-strict";
pub(super) const SIGNING_SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
/// Every scope that the app could be given.
const SCOPES: &[&str] = &[
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "metadata.message:read",
    "users:read",
];

/// The state shared by all handlers.
pub(super) type Shared = Arc<Inside>;

/// How presses and messages reach the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// By its own connections.
    Socket,
    /// By requests to this address: `/action` and `/command` below it.
    Requests(String),
}

/// How many requests of one method, or messages in one conversation, are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// How many come back in a second.
    pub per_second: u32,
    /// How many there are.
    pub burst: u32,
}

/// How the server is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How presses and messages reach the app.
    pub arrival: Arrival,
    /// How many requests are taken; as many as come without it.
    pub rate_limit: Option<RateLimit>,
    /// The scopes of the bot's token.
    pub scopes: Vec<String>,
    /// How long a trigger counts.
    pub trigger_within: Duration,
    /// The app that connections belong to, if it is another one.
    pub other_app: Option<String>,
    /// Programs that listen besides.
    pub other_connections: u32,
    /// Whether the bot's token was revoked.
    pub is_revoked: bool,
    /// Whether Socket Mode is on.
    pub has_sockets: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            arrival: Arrival::Socket,
            rate_limit: None,
            scopes: SCOPES.iter().map(|it| (*it).to_owned()).collect(),
            trigger_within: Duration::from_secs(3),
            other_app: None,
            other_connections: 0,
            is_revoked: false,
            has_sockets: true,
        }
    }
}

/// How the server fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It does nothing and answers with this status.
    Status(u16),
    /// It does what was asked and cuts the connection before it says so.
    DropAfter,
}

/// A request the server has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The method, or the path of what is none.
    pub method: String,
    /// The response status; 0 if the connection was cut.
    pub status: u16,
    /// Slack's own word if it refused.
    pub error: String,
}

/// The server's insides.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) settings: Mutex<Settings>,
    pub(super) world: Mutex<World>,
    pub(super) sockets: Mutex<Sockets>,
    pub(super) url: String,
    pub(super) hits: watch::Sender<Vec<Hit>>,
    buckets: Mutex<HashMap<String, (f64, Instant)>>,
    faults: Mutex<Vec<(String, Fault, usize)>>,
}

impl Inside {
    pub(super) fn settings(&self) -> Settings {
        locked(&self.settings).clone()
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        locked(&self.world)
    }

    /// Wakes whoever waits for something.
    pub(super) fn stir(&self) {
        self.hits.send_modify(|_| {});
    }

    /// Takes one of `lane`; or says that there is none.
    pub(super) fn takes(&self, lane: &str) -> bool {
        let Some(limit) = self.settings().rate_limit else {
            return true;
        };
        let burst = f64::from(limit.burst);
        let now = Instant::now();
        let mut buckets = locked(&self.buckets);
        let (left, since) = buckets
            .entry(lane.to_owned())
            .or_insert_with(|| (burst, now));
        let more = now.duration_since(*since).as_secs_f64() * f64::from(limit.per_second);
        *left = (*left + more).min(burst);
        *since = now;
        let takes = *left >= 1.0;
        if takes {
            *left -= 1.0;
        }
        takes
    }
}

/// A running server.
#[derive(Debug)]
pub struct SlackServer {
    address: SocketAddr,
    pub(super) inside: Shared,
    running: Option<Serving>,
}

impl SlackServer {
    /// Starts a workspace in which nobody is but our bot.
    pub fn start(settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let inside = Arc::new(Inside {
            settings: Mutex::new(settings),
            world: Mutex::new(World::new()),
            sockets: Mutex::default(),
            url: format!("http://{address}"),
            hits: watch::Sender::new(Vec::new()),
            buckets: Mutex::default(),
            faults: Mutex::default(),
        });
        let running = Some(serve(listener, &inside)?);
        Ok(Self {
            address,
            inside,
            running,
        })
    }

    /// Returns where its Web API is.
    pub fn url(&self) -> String {
        format!("{}/api/", self.inside.url)
    }

    /// Returns the bot's token.
    pub const fn bot_token(&self) -> &'static str {
        BOT_TOKEN
    }

    /// Returns the app's token.
    pub const fn app_token(&self) -> &'static str {
        APP_TOKEN
    }

    /// Returns what requests are signed with.
    pub const fn signing_secret(&self) -> &'static str {
        SIGNING_SECRET
    }

    /// Stops it. Every connection is cut; what it knows stays.
    pub fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
        locked(&self.inside.sockets).clear();
    }

    /// Starts it again where it was, with what it knew.
    pub fn start_again(&mut self) -> io::Result<()> {
        let listener = TcpListener::bind(self.address)?;
        self.running = Some(serve(listener, &self.inside)?);
        Ok(())
    }

    /// Changes how the server is set up while it runs.
    pub fn set(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut locked(&self.inside.settings));
    }

    /// The next `times` requests of this method fail.
    pub fn fail(&self, method: &str, fault: Fault, times: usize) {
        locked(&self.inside.faults).push((method.to_owned(), fault, times));
    }

    /// Returns every request so far.
    pub fn hits(&self) -> Vec<Hit> {
        self.inside.hits.borrow().clone()
    }

    /// Waits until `holds`, looked at whenever the server has done something; whether it did.
    pub fn wait(&self, holds: impl Fn() -> bool) -> bool {
        let mut seen = self.inside.hits.subscribe();
        let waited = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map(|runtime| {
                runtime.block_on(async {
                    let seen = seen.wait_for(|_| holds());
                    matches!(tokio::time::timeout(PATIENCE, seen).await, Ok(Ok(_)))
                })
            });
        waited.unwrap_or(false)
    }

    /// Returns how many connections are open.
    pub fn connections(&self) -> usize {
        locked(&self.inside.sockets).open()
    }

    /// Tells every connection that it is about to be closed, as Slack does from time to time.
    pub fn refresh_connections(&self) {
        locked(&self.inside.sockets).refresh();
    }
}

impl Drop for SlackServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(listener: TcpListener, inside: &Shared) -> io::Result<Serving> {
    let routes = Router::new()
        .route("/api/{method}", post(methods::call).get(methods::call))
        .route("/response/{id}", post(methods::respond))
        .route("/upload/{id}", post(methods::upload))
        .route("/link", get(socket::upgrade))
        .layer(from_fn_with_state(Arc::clone(inside), stand))
        .with_state(Arc::clone(inside));
    Serving::start("strict-slack", listener, routes)
}

/// Stands before every route: notes what came, and fails where that is wanted.
async fn stand(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let method = path.strip_prefix("/api/").unwrap_or(&path).to_owned();
    let fault = planned(&shared, &method);
    let mut response = match fault {
        None => next.run(request).await,
        Some(Fault::Status(code)) => {
            let status = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_GATEWAY);
            (status, "the server is not well").into_response()
        }
        Some(Fault::DropAfter) => {
            next.run(request).await;
            Cut::response()
        }
    };
    let scopes = shared.settings().scopes.join(",");
    if let Ok(scopes) = HeaderValue::from_str(&scopes) {
        response.headers_mut().insert("x-oauth-scopes", scopes);
    }
    let is_cut = response.extensions().get::<Cut>().is_some();
    let error = response.extensions().get::<Refused>();
    let hit = Hit {
        method,
        status: if is_cut {
            0
        } else {
            response.status().as_u16()
        },
        error: error.map_or_else(String::new, |it| it.0.clone()),
    };
    shared.hits.send_modify(|hits| hits.push(hit));
    response
}

/// Slack's own word for a refusal, beside the response.
#[derive(Clone, Debug)]
pub(super) struct Refused(pub(super) String);

/// Returns that there were too many requests.
pub(super) fn too_many() -> Response {
    let body = json!({ "ok": false, "error": "ratelimited" });
    let status = StatusCode::TOO_MANY_REQUESTS;
    let mut response = (status, axum::Json(body)).into_response();
    let wait = HeaderValue::from(1);
    response.headers_mut().insert("retry-after", wait);
    response
}

fn planned(shared: &Shared, method: &str) -> Option<Fault> {
    let mut faults = locked(&shared.faults);
    let found = faults
        .iter_mut()
        .find(|(name, _, times)| name == method && *times > 0)?;
    found.2 -= 1;
    Some(found.1)
}

pub(super) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
