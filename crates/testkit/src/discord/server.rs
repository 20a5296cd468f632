//! Starts, stops and restarts the server with its state; limits its callers; breaks down on demand.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, patch, post};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::json;
use tokio::sync::watch;

use super::gateway::{self, Sessions};
use super::world::World;
use super::{interactions, routes};
use crate::serving::{Cut, Serving};

/// How long a test waits for something the server should see.
const PATIENCE: Duration = Duration::from_mins(1);
/// The bot's token.
pub(super) const TOKEN: &str = "MTMwMDAwMDAwMDAwMDAwMDAwMg.GstrIC.strict-strict-strict-strict";
/// The seed of the key that requests are signed with.
const SEED: [u8; 32] = [7; 32];

/// The state shared by all handlers.
pub(super) type Shared = Arc<Inside>;

/// How interactions reach the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// By its own connection.
    Gateway,
    /// By requests to this address.
    Requests(String),
}

/// How many requests of one route are taken in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// How many.
    pub count: u32,
    /// In which time.
    pub window: Duration,
}

/// How the server is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How interactions reach the application.
    pub arrival: Arrival,
    /// How many requests are taken; as many as come without it.
    pub rate_limit: Option<RateLimit>,
    /// How long the first answer to an interaction may take.
    pub first_within: Duration,
    /// How long the token of an interaction counts.
    pub token_within: Duration,
    /// How long a nonce is remembered.
    pub nonce_within: Duration,
    /// How often a connection wants a heartbeat.
    pub heartbeat: Duration,
    /// Whether heartbeats are answered.
    pub answers_heartbeats: bool,
    /// Whether the token was reset.
    pub is_reset: bool,
    /// Intents that are refused.
    pub refused_intents: u64,
    /// New sessions that are left.
    pub starts_left: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            arrival: Arrival::Gateway,
            rate_limit: None,
            first_within: Duration::from_secs(3),
            token_within: Duration::from_mins(15),
            nonce_within: Duration::from_mins(5),
            heartbeat: Duration::from_millis(41_250),
            answers_heartbeats: true,
            is_reset: false,
            // Members, presences and the content of messages are privileged.
            refused_intents: (1 << 1) | (1 << 8) | (1 << 15),
            starts_left: 1000,
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
    /// Method and path, with `_` for ids and tokens.
    pub route: String,
    /// The response status; 0 if the connection was cut.
    pub status: u16,
    /// Discord's own words if it refused.
    pub error: String,
}

/// The server's insides.
pub(super) struct Inside {
    pub(super) settings: Mutex<Settings>,
    pub(super) world: Mutex<World>,
    pub(super) sessions: Mutex<Sessions>,
    pub(super) url: String,
    pub(super) key: Ed25519KeyPair,
    pub(super) hits: watch::Sender<Vec<Hit>>,
    windows: Mutex<HashMap<String, (u32, Instant)>>,
    faults: Mutex<Vec<(String, Fault, usize)>>,
}

impl std::fmt::Debug for Inside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inside").finish_non_exhaustive()
    }
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

    /// Counts a request of a route; returns how many are left in its window and when that ends.
    fn counted(&self, route: &str) -> Option<(u32, bool, Duration)> {
        let limit = self.settings().rate_limit?;
        let now = Instant::now();
        let mut windows = locked(&self.windows);
        let (count, since) = windows.entry(route.to_owned()).or_insert((0, now));
        if now.duration_since(*since) >= limit.window {
            (*count, *since) = (0, now);
        }
        let is_taken = *count < limit.count;
        if is_taken {
            *count += 1;
        }
        let after = limit.window.saturating_sub(now.duration_since(*since));
        Some((limit.count - *count, is_taken, after))
    }
}

/// A running server.
#[derive(Debug)]
pub struct DiscordServer {
    address: SocketAddr,
    pub(super) inside: Shared,
    running: Option<Serving>,
}

impl DiscordServer {
    /// Starts a Discord in which nobody is but our bot.
    pub fn start(settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let key = Ed25519KeyPair::from_seed_unchecked(&SEED);
        let mut world = World::new();
        if let Arrival::Requests(url) = &settings.arrival {
            world.endpoint = Some(url.clone());
        }
        let inside = Arc::new(Inside {
            settings: Mutex::new(settings),
            world: Mutex::new(world),
            sessions: Mutex::default(),
            url: format!("http://{address}"),
            key: key.map_err(|_| io::Error::other("the key of the tests is no key"))?,
            hits: watch::Sender::new(Vec::new()),
            windows: Mutex::default(),
            faults: Mutex::default(),
        });
        let running = Some(serve(listener, &inside)?);
        Ok(Self {
            address,
            inside,
            running,
        })
    }

    /// Returns where its HTTP API is.
    pub fn url(&self) -> String {
        format!("{}/api/v10/", self.inside.url)
    }

    /// Returns where its gateway is.
    pub fn gateway_url(&self) -> String {
        gateway_url(&self.inside.url)
    }

    /// Returns the bot's token.
    pub const fn token(&self) -> &'static str {
        TOKEN
    }

    /// Returns the key that verifies its requests, in hexadecimal.
    pub fn public_key(&self) -> String {
        hex(self.inside.key.public_key().as_ref())
    }

    /// Stops it. Every connection is cut; what it knows stays.
    pub fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
        locked(&self.inside.sessions).all_closed();
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

    /// The next `times` requests of this route fail.
    pub fn fail(&self, route: &str, fault: Fault, times: usize) {
        locked(&self.inside.faults).push((route.to_owned(), fault, times));
    }

    /// Returns every request so far.
    pub fn hits(&self) -> Vec<Hit> {
        self.inside.hits.borrow().clone()
    }

    /// Returns how many requests of a route came.
    pub fn count(&self, route: &str) -> usize {
        let hits = self.inside.hits.borrow();
        hits.iter().filter(|hit| hit.route == route).count()
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
}

impl Drop for DiscordServer {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(super) fn gateway_url(url: &str) -> String {
    format!("{}/gateway", url.replacen("http", "ws", 1))
}

fn serve(listener: TcpListener, inside: &Shared) -> io::Result<Serving> {
    let api = Router::new()
        .route("/users/@me", get(routes::me))
        .route("/users/@me/guilds", get(routes::guilds))
        .route("/users/@me/channels", post(routes::direct))
        .route("/users/{user}", get(routes::user))
        .route("/applications/@me", get(routes::application))
        .route("/oauth2/applications/@me", get(routes::application))
        .route(
            "/applications/{application}/commands",
            get(routes::commands).put(routes::set_commands),
        )
        .route("/guilds/{guild}", get(routes::guild))
        .route("/guilds/{guild}/channels", get(routes::guild_channels))
        .route("/guilds/{guild}/members/{user}", get(routes::member))
        .route("/channels/{place}", get(routes::place))
        .route(
            "/channels/{place}/messages",
            get(routes::messages).post(routes::create),
        )
        .route(
            "/channels/{place}/messages/{message}",
            get(routes::message).patch(routes::edit),
        )
        .route("/channels/{place}/typing", post(routes::typing))
        .route("/gateway/bot", get(routes::gateway_bot))
        .route(
            "/interactions/{id}/{token}/callback",
            post(interactions::callback),
        )
        .route(
            "/webhooks/{application}/{token}",
            post(interactions::follow_up),
        )
        .route(
            "/webhooks/{application}/{token}/messages/@original",
            patch(interactions::edit_original),
        );
    let routes = Router::new()
        .nest("/api/v10", api)
        .layer(from_fn_with_state(Arc::clone(inside), stand))
        .route("/gateway", get(gateway::upgrade))
        .route("/gateway/", get(gateway::upgrade))
        .with_state(Arc::clone(inside));
    Serving::start("strict-discord", listener, routes)
}

/// Stands before every route: notes what came, limits it, and fails where that is wanted.
async fn stand(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let path = request.uri().path();
    let path = path.strip_prefix("/api/v10/").unwrap_or(path).to_owned();
    let route = format!("{method} /{}", general(&path));
    let is_interaction = path.starts_with("interactions/") || path.starts_with("webhooks/");
    let refused = refused_caller(&shared, request.headers(), is_interaction);
    let lane: Vec<&str> = path.split('/').take(3).collect();
    let counted = if is_interaction {
        None
    } else {
        shared.counted(&format!("{method} {}", lane.join("/")))
    };
    let mut response = match (planned(&shared, &route), refused, counted) {
        (Some(Fault::Status(code)), ..) => {
            let status = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_GATEWAY);
            (status, "the server is not well").into_response()
        }
        (Some(Fault::DropAfter), ..) => {
            next.run(request).await;
            Cut::response()
        }
        (None, Some(refused), _) => refused,
        (None, None, Some((_, false, after))) => too_many(after),
        (None, None, Some((_, true, _)) | None) => next.run(request).await,
    };
    if let (Some((left, true, after)), Some(limit)) = (counted, shared.settings().rate_limit) {
        let headers = response.headers_mut();
        put(headers, "x-ratelimit-limit", &limit.count.to_string());
        put(headers, "x-ratelimit-remaining", &left.to_string());
        let after = format!("{:.3}", after.as_secs_f64());
        put(headers, "x-ratelimit-reset-after", &after);
    }
    let is_cut = response.extensions().get::<Cut>().is_some();
    let error = response.extensions().get::<Refused>();
    let hit = Hit {
        route,
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

/// Refuses whoever does not say who they are.
fn refused_caller(shared: &Shared, headers: &HeaderMap, is_interaction: bool) -> Option<Response> {
    let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
    let agent = text("user-agent").unwrap_or_default();
    // Webhooks are open to programs of all kinds.
    if !is_interaction && !agent.starts_with("DiscordBot (") {
        let status = StatusCode::FORBIDDEN;
        return Some(refused(status, 40_333, "internal network error"));
    }
    let is_known = text("authorization") == Some(&format!("Bot {TOKEN}"));
    if !is_interaction && (!is_known || shared.settings().is_reset) {
        return Some(refused(StatusCode::UNAUTHORIZED, 0, "401: Unauthorized"));
    }
    None
}

/// Returns a path with `_` for ids and tokens.
fn general(path: &str) -> String {
    let is_fixed = |part: &&str| {
        let is_word = part.bytes().all(|it| it.is_ascii_lowercase() || it == b'@');
        is_word || part.len() < 3
    };
    let parts = path
        .split('/')
        .map(|it| if is_fixed(&it) { it } else { "_" });
    let parts: Vec<&str> = parts.collect();
    parts.join("/")
}

fn put(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Discord's own words for a refusal, beside the response.
#[derive(Clone, Debug)]
pub(super) struct Refused(pub(super) String);

/// Returns a refusal.
pub(super) fn refused(status: StatusCode, code: u32, words: &str) -> Response {
    let body = json!({ "message": words, "code": code });
    let mut response = (status, axum::Json(body)).into_response();
    let words = Refused(words.to_owned());
    response.extensions_mut().insert(words);
    response
}

/// Returns that a body is not as it must be.
pub(super) fn malformed(why: &str) -> Response {
    let words = format!("Invalid Form Body: {why}");
    refused(StatusCode::BAD_REQUEST, 50_035, &words)
}

fn too_many(after: Duration) -> Response {
    let body = json!({
        "message": "You are being rate limited.", "retry_after": after.as_secs_f64(), "global": false,
    });
    let status = StatusCode::TOO_MANY_REQUESTS;
    let mut response = (status, axum::Json(body)).into_response();
    let seconds = after.as_secs_f64().ceil().to_string();
    put(response.headers_mut(), "retry-after", &seconds);
    response
}

fn planned(shared: &Shared, route: &str) -> Option<Fault> {
    let mut faults = locked(&shared.faults);
    let found = faults
        .iter_mut()
        .find(|(name, _, times)| name == route && *times > 0)?;
    found.2 -= 1;
    Some(found.1)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _infallible = write!(text, "{byte:02x}");
    }
    text
}

pub(super) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
