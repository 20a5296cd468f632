//! Starts, stops and restarts the server with its state, and lets people act in it.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use axum::routing::any;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::methods::{self, Done, Refusal, refused};
use super::params::{self, Params};
use super::schema;
use super::world::{Limit, Message, Place, Query, User, World, now};
use crate::serving::{Cut, Serving};

/// How long a test waits for something the server should see.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long a press can be answered.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);
/// Most updates of one answer.
const UPDATES_MAX: usize = 100;
/// Pause before an update is sent to the webhook again.
const AGAIN_AFTER: Duration = Duration::from_millis(100);
/// What stands behind the number in every token here.
const SECRET: &str = "AAF-strict_server_token_of_tests";

/// How the server fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It does nothing and answers 502.
    Refuse,
    /// It does nothing and cuts the connection.
    DropBefore,
    /// It does what was asked and cuts the connection before it says so.
    DropAfter,
}

/// A request the server has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The method.
    pub method: String,
    /// The response status; 0 if the connection was cut.
    pub status: u16,
}

/// What a person is told about a press, alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alert {
    /// In words; none if there are none.
    pub text: String,
    /// Whether it has to be closed.
    pub is_alert: bool,
}

pub(super) type Shared = Arc<Inside>;

/// The server's insides.
#[derive(Debug)]
pub(super) struct Inside {
    world: Mutex<World>,
    token: String,
    pub(super) limit: Mutex<Option<Limit>>,
    pub(super) answer_within: Mutex<Duration>,
    faults: Mutex<Vec<(String, Fault, usize)>>,
    hits: watch::Sender<Vec<Hit>>,
    /// Counts what happened that the bot is to be told.
    news: watch::Sender<u64>,
    client: reqwest::Client,
}

impl Inside {
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        locked(&self.world)
    }
}

/// A running server with one bot.
#[derive(Debug)]
pub struct TelegramServer {
    address: SocketAddr,
    inside: Shared,
    running: Option<Serving>,
}

impl TelegramServer {
    /// Starts a server with a bot of this number and name, and nobody else.
    pub fn start(bot: i64, name: &str) -> io::Result<Self> {
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .pool_max_idle_per_host(0)
            .build()
            .map_err(io::Error::other)?;
        let mut world = World {
            bot,
            last_update: 700_000,
            ..World::default()
        };
        let user = User {
            name: name.to_owned(),
            is_bot: true,
        };
        world.users.insert(bot, user);
        let inside = Arc::new(Inside {
            world: Mutex::new(world),
            token: format!("{bot}:{SECRET}"),
            limit: Mutex::default(),
            answer_within: Mutex::new(ANSWER_WITHIN),
            faults: Mutex::default(),
            hits: watch::Sender::new(Vec::new()),
            news: watch::Sender::new(0),
            client,
        });
        let running = Some(serve(listener, &inside)?);
        Ok(Self {
            address,
            inside,
            running,
        })
    }

    /// Returns where it listens.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the bot's token.
    pub fn token(&self) -> &str {
        &self.inside.token
    }

    /// Returns the bot's number.
    pub fn bot(&self) -> i64 {
        self.inside.world().bot
    }

    /// Stops it. Every connection is cut; what it knows stays.
    pub fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
    }

    /// Starts it again where it was, with what it knew.
    pub fn start_again(&mut self) -> io::Result<()> {
        let listener = std::net::TcpListener::bind(self.address)?;
        self.running = Some(serve(listener, &self.inside)?);
        Ok(())
    }

    /// Adds somebody who has pressed Start.
    pub fn person(&self, id: i64, name: &str) {
        self.stranger(id, name);
        let mut world = self.inside.world();
        let bot = world.bot;
        world.places.insert(
            id,
            Place {
                kind: "private",
                members: [(id, "member"), (bot, "member")].into(),
                ..Place::default()
            },
        );
    }

    /// Adds somebody to whom the bot may not write, because they never wrote to it.
    pub fn stranger(&self, id: i64, name: &str) {
        let user = User {
            name: name.to_owned(),
            is_bot: false,
        };
        self.inside.world().users.insert(id, user);
    }

    /// Adds a supergroup with these people and the bot.
    pub fn group(&self, id: i64, title: &str, people: &[i64]) {
        let mut world = self.inside.world();
        let bot = world.bot;
        let members = people.iter().chain([&bot]).map(|id| (*id, "member"));
        let place = Place {
            kind: "supergroup",
            title: title.to_owned(),
            members: members.collect(),
            ..Place::default()
        };
        world.places.insert(id, place);
    }

    /// Adds a topic to a group, which becomes a forum.
    pub fn topic(&self, chat: i64, id: i64) {
        if let Some(place) = self.inside.world().places.get_mut(&chat) {
            place.topics.insert(id, true);
            place.last_message = place.last_message.max(id);
        }
    }

    /// Says as what somebody is in a group: `member`, `restricted`, `left`, `kicked`.
    pub fn set_member(&self, chat: i64, user: i64, status: &'static str) {
        if let Some(place) = self.inside.world().places.get_mut(&chat) {
            place.members.insert(user, status);
        }
    }

    /// Lets a group become a supergroup of another number.
    pub fn upgrade(&self, chat: i64, new: i64) {
        let mut world = self.inside.world();
        let Some(place) = world.places.get_mut(&chat) else {
            return;
        };
        let grown = place.clone();
        place.moved_to = Some(new);
        world.places.insert(new, grown);
    }

    /// Lets the bot receive all messages of its groups.
    pub fn read_all_messages(&self) {
        self.inside.world().reads_all = true;
    }

    /// Limits how many messages one place takes.
    pub fn limit(&self, limit: Option<Limit>) {
        *locked(&self.inside.limit) = limit;
    }

    /// Says how long a press can be answered.
    pub fn answer_within(&self, time: Duration) {
        *locked(&self.inside.answer_within) = time;
    }

    /// The next `times` calls of this method fail.
    pub fn fail(&self, method: &str, fault: Fault, times: usize) {
        locked(&self.inside.faults).push((method.to_owned(), fault, times));
    }

    /// Returns every request so far.
    pub fn hits(&self) -> Vec<Hit> {
        self.inside.hits.borrow().clone()
    }

    /// Returns every message, oldest first.
    pub fn messages(&self) -> Vec<Message> {
        self.inside.world().messages.clone()
    }

    /// Returns the menu of commands for everybody.
    pub fn menu(&self) -> Value {
        let world = self.inside.world();
        world.commands.get("default ").cloned().unwrap_or_default()
    }

    /// Returns the number of the last update.
    pub fn last_update(&self) -> i64 {
        self.inside.world().last_update
    }

    /// Waits until `holds`, which is looked at whenever something was served; whether it came to.
    pub fn wait(&self, holds: &dyn Fn() -> bool) -> bool {
        let mut seen = self.inside.hits.subscribe();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let waited = runtime.map(|runtime| {
            runtime.block_on(async {
                let seen = seen.wait_for(|_| holds());
                matches!(tokio::time::timeout(PATIENCE, seen).await, Ok(Ok(_)))
            })
        });
        waited.unwrap_or(false)
    }

    /// Presses a button, or says what a hostile client would say, and returns the press.
    pub fn press(&self, user: i64, chat: i64, message: i64, data: &str) -> Value {
        let world = self.inside.world();
        let shown = world.message(chat, message).map(|it| world.shown(it, true));
        let id = format!("{}{}", world.bot, unique());
        json!({
            "id": id, "from": world.user(user), "chat_instance": format!("{chat}"),
            "message": shown.unwrap_or_else(|| json!({ "chat": world.place(chat), "message_id": message, "date": 0 })),
            "data": data,
        })
    }

    /// Tells the bot of a press.
    pub fn tell_press(&self, press: &Value) {
        let id = press
            .get("id")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
        {
            let mut world = self.inside.world();
            let query = Query {
                at: Instant::now(),
                answer: None,
            };
            world.queries.entry(id).or_insert(query);
            world.tell("callback_query", press.clone());
        }
        self.inside.news.send_modify(|count| *count += 1);
    }

    /// Forgets that a press was answered, to see whether it is answered again.
    pub fn forget_answer(&self, press: &Value) {
        let id = press.get("id").and_then(Value::as_str).unwrap_or("");
        self.inside.world().queries.remove(id);
    }

    /// Waits until a press was answered.
    pub fn answered(&self, press: &Value) -> Option<Alert> {
        let id = press.get("id").and_then(Value::as_str).unwrap_or("");
        let answer = || self.inside.world().queries.get(id)?.answer.clone();
        self.wait(&|| answer().is_some());
        let answer = answer()?;
        Some(Alert {
            text: answer.get("text")?.as_str()?.to_owned(),
            is_alert: answer.get("show_alert")?.as_bool()?,
        })
    }

    /// Somebody writes something, as a reply or not, and its number is returned.
    pub fn say(&self, user: i64, chat: i64, reply_to: Option<i64>, text: &str) -> i64 {
        self.say_marked(user, chat, reply_to, text, &json!({}))
    }

    /// Does the same with something that most messages do not have, such as where they are from.
    pub fn say_marked(
        &self,
        user: i64,
        chat: i64,
        reply_to: Option<i64>,
        text: &str,
        marks: &Value,
    ) -> i64 {
        let id = {
            let mut world = self.inside.world();
            let above = reply_to.and_then(|id| world.message(chat, id).cloned());
            let topic = above.and_then(|above| above.topic);
            let id = world.put(Message {
                id: 0,
                chat,
                topic,
                from: user,
                text: text.to_owned(),
                entities: Vec::new(),
                found: super::found::entities(text, &[]),
                markup: Value::Null,
                reply_to,
                document: None,
                edits: 0,
                date: now(),
            });
            let is_told = is_told(&world, chat, id);
            let message = world.message(chat, id).cloned();
            if let Some(message) = message.filter(|_| is_told) {
                let mut shown = world.shown(&message, true);
                if let (Some(shown), Some(marks)) = (shown.as_object_mut(), marks.as_object()) {
                    shown.extend(marks.clone());
                }
                world.tell("message", shown);
            }
            id
        };
        self.inside.news.send_modify(|count| *count += 1);
        id
    }

    /// Tells the bot of something, whatever it is.
    pub fn tell(&self, key: &str, what: Value) {
        self.inside.world().tell(key, what);
        self.inside.news.send_modify(|count| *count += 1);
    }

    /// Somebody deletes a message.
    pub fn delete(&self, chat: i64, id: i64) {
        let mut world = self.inside.world();
        world.messages.retain(|it| it.chat != chat || it.id != id);
    }

    /// Returns how many updates nobody has taken yet.
    pub fn pending(&self) -> usize {
        self.inside.world().updates.len()
    }
}

/// Returns a number that no press had before.
fn unique() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

impl Drop for TelegramServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether the bot is told of a message: in groups of commands, mentions and replies to it, unless it
/// may read all.
fn is_told(world: &World, chat: i64, id: i64) -> bool {
    let Some(message) = world.message(chat, id) else {
        return false;
    };
    let name = world
        .users
        .get(&world.bot)
        .map_or("", |bot| bot.name.as_str());
    let is_private = world
        .places
        .get(&chat)
        .is_some_and(|place| place.kind == "private");
    let above = message.reply_to.and_then(|id| world.message(chat, id));
    is_private
        || world.reads_all
        || message.text.starts_with('/')
        || message.text.contains(&format!("@{name}"))
        || above.is_some_and(|above| above.from == world.bot)
}

fn serve(listener: std::net::TcpListener, inside: &Shared) -> io::Result<Serving> {
    let routes = Router::new()
        .route("/{bot}/{method}", any(asked))
        .with_state(Arc::clone(inside));
    Serving::start("strict-telegram", listener, routes)
}

async fn asked(
    State(shared): State<Shared>,
    Path((bot, method)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let fault = planned(&shared, &method);
    let response = match fault {
        Some(Fault::Refuse) => answered(&Err(refused(502, "bad gateway"))),
        Some(Fault::DropBefore) => Cut::response(),
        Some(Fault::DropAfter) => {
            let _done = done(&shared, &bot, &method, query.as_deref(), &headers, &body).await;
            Cut::response()
        }
        None => answered(&done(&shared, &bot, &method, query.as_deref(), &headers, &body).await),
    };
    let is_cut = response.extensions().get::<Cut>().is_some();
    let status = if is_cut {
        0
    } else {
        response.status().as_u16()
    };
    shared
        .hits
        .send_modify(|hits| hits.push(Hit { method, status }));
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

async fn done(
    shared: &Shared,
    bot: &str,
    method: &str,
    query: Option<&str>,
    headers: &HeaderMap,
    body: &[u8],
) -> Done {
    if bot != format!("bot{}", shared.token) {
        return Err(Refusal {
            words: "Unauthorized".to_owned(),
            ..refused(401, "")
        });
    }
    if !schema::is_method(method) {
        return Err(refused(404, "method not found"));
    }
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|it| it.to_str().ok());
    let bad = |why: String| refused(400, &why);
    let params =
        params::read(method, query.unwrap_or(""), kind.unwrap_or(""), body).map_err(bad)?;
    schema::check(method, &params.values).map_err(bad)?;
    if method == "getUpdates" {
        return updates(shared, &params).await;
    }
    let done = methods::call(shared, method, &params);
    if method == "setWebhook" && done.is_ok() {
        tokio::spawn(send_updates(Arc::clone(shared)));
    }
    done
}

/// Waits for something new, as long as it was asked to.
async fn updates(shared: &Shared, params: &Params) -> Done {
    let number = |key: &str| params.values.get(key).and_then(Value::as_i64);
    let (offset, limit) = (number("offset"), number("limit").unwrap_or(100));
    if !(1..=100).contains(&limit) {
        return Err(refused(400, "limit must be between 1 and 100"));
    }
    let wait = Duration::from_secs(number("timeout").unwrap_or(0).try_into().unwrap_or(0));
    let allowed = params
        .values
        .get("allowed_updates")
        .and_then(Value::as_array)
        .cloned();
    let since = tokio::time::Instant::now();
    let mut news = shared.news.subscribe();
    let mine = {
        let mut world = shared.world();
        if world.webhook.is_some() {
            return Err(refused(
                409,
                "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
            ));
        }
        if let Some(offset) = offset {
            // What is asked for from here on confirms what came before.
            let number = |it: &Value| it.get("update_id").and_then(Value::as_i64).unwrap_or(0);
            world.updates.retain(|update| number(update) >= offset);
        }
        world.polls += 1;
        world.polls
    };
    // A poll before this one ends now.
    shared.news.send_modify(|count| *count += 1);
    loop {
        {
            let world = shared.world();
            if world.polls != mine {
                return Err(refused(
                    409,
                    "terminated by other getUpdates request; make sure that only one bot instance is running",
                ));
            }
            let is_allowed = |update: &&Value| {
                let Some(allowed) = &allowed else {
                    return true;
                };
                allowed
                    .iter()
                    .filter_map(Value::as_str)
                    .any(|kind| update.get(kind).is_some())
            };
            let most = usize::try_from(limit).unwrap_or(UPDATES_MAX);
            let new: Vec<&Value> = world.updates.iter().filter(is_allowed).take(most).collect();
            if !new.is_empty() || since.elapsed() >= wait {
                return Ok(json!(new));
            }
        }
        let left = wait.saturating_sub(since.elapsed());
        // Whether there is something new is looked at in either case.
        let _changed = tokio::time::timeout(left, news.changed()).await.is_ok();
    }
}

/// Sends updates to the webhook for as long as it is this one, each until it is taken.
async fn send_updates(shared: Shared) {
    let Some(url) = shared.world().webhook.as_ref().map(|it| it.url.clone()) else {
        return;
    };
    let mut news = shared.news.subscribe();
    loop {
        let (next, secret) = {
            let world = shared.world();
            let Some(webhook) = world.webhook.as_ref().filter(|it| it.url == url) else {
                return;
            };
            (world.updates.front().cloned(), webhook.secret.clone())
        };
        let Some(update) = next else {
            if news.changed().await.is_err() {
                return;
            }
            continue;
        };
        let request = shared
            .client
            .post(&url)
            .header("content-type", "application/json")
            .header("x-telegram-bot-api-secret-token", secret)
            .body(update.to_string());
        let status = request.send().await.map(|response| response.status());
        let error = match status {
            Ok(status) if status.is_success() => {
                shared.world().updates.retain(|it| it != &update);
                shared.hits.send_modify(|hits| {
                    hits.push(Hit {
                        method: "webhook".to_owned(),
                        status: status.as_u16(),
                    });
                });
                continue;
            }
            Ok(status) => format!("Wrong response from the webhook: {status}"),
            Err(_) => "Connection refused".to_owned(),
        };
        if let Some(webhook) = &mut shared.world().webhook {
            webhook.last_error = error;
        }
        tokio::time::sleep(AGAIN_AFTER).await;
    }
}

fn answered(done: &Done) -> Response {
    let (status, body) = match done {
        Ok(result) => (200, json!({ "ok": true, "result": result })),
        Err(refusal) => {
            let mut body =
                json!({ "ok": false, "error_code": refusal.code, "description": refusal.words });
            if let (false, Some(body)) = (refusal.parameters.is_null(), body.as_object_mut()) {
                body.insert("parameters".to_owned(), refusal.parameters.clone());
            }
            (refusal.code, body)
        }
    };
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .unwrap_or_default()
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
