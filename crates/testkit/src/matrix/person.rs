//! Somebody with a client: signs in, follows what happens, reacts, writes.
//!
//! It speaks the client-server API alone, so it works with the strict server and with a real one. A
//! thread of its own follows; what it has seen is read without asking anybody.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use reqwest::blocking::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::sync::watch;

/// How long a test waits for something somebody should see.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long the server waits for something new.
const POLL_MILLIS: &str = "5000";
/// Pause after a request that failed.
const PAUSE: Duration = Duration::from_millis(100);

/// Tells when anybody has seen something new.
#[derive(Clone, Debug)]
pub struct Views(watch::Sender<u64>);

impl Views {
    /// Returns views of nothing yet.
    pub fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// Waits until `holds`, which is looked at whenever somebody has seen something; whether it came to.
    pub fn wait(&self, holds: &dyn Fn() -> bool) -> bool {
        let mut seen = self.0.subscribe();
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
}

impl Default for Views {
    fn default() -> Self {
        Self::new()
    }
}

/// The answer of a server.
#[derive(Clone, Debug)]
pub struct Said {
    /// HTTP.
    pub status: u16,
    /// JSON.
    pub body: Value,
}

impl Said {
    /// Returns a text of the answer; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        self.body
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

/// What somebody has seen.
#[derive(Debug, Default)]
struct Seen {
    /// Events by room, in order.
    rooms: BTreeMap<String, Vec<Value>>,
    /// The last event that somebody has read, by room and account.
    read: BTreeMap<(String, String), String>,
    /// Rooms they are invited to, and how.
    invites: BTreeMap<String, Value>,
}

#[derive(Debug)]
struct Inner {
    url: String,
    token: String,
    seen: Mutex<Seen>,
    is_over: AtomicBool,
    views: Views,
}

/// Somebody with a client.
#[derive(Debug)]
pub struct Person {
    /// The account's id.
    pub id: String,
    inner: Arc<Inner>,
}

impl Person {
    /// Makes an account on a server where anybody may, and follows what happens to it.
    pub fn register(url: &str, name: &str, views: &Views) -> Result<Self, String> {
        let body = json!({
            "username": name, "password": format!("pw-{name}"), "auth": { "type": "m.login.dummy" },
        });
        let request = client().post(format!("{url}/_matrix/client/v3/register"));
        let said = sent(
            &request
                .header("content-type", "application/json")
                .body(body.to_string()),
        );
        if said.status != 200 {
            return Err(format!("{name} cannot be registered: {said:?}"));
        }
        let inner = Arc::new(Inner {
            url: url.to_owned(),
            token: said.text("access_token").to_owned(),
            seen: Mutex::default(),
            is_over: AtomicBool::new(false),
            views: views.clone(),
        });
        let follower = Arc::clone(&inner);
        let thread = std::thread::Builder::new().name(format!("client-{name}"));
        thread
            .spawn(move || follow(&follower))
            .map_err(|error| error.to_string())?;
        let id = said.text("user_id").to_owned();
        Ok(Self { id, inner })
    }

    /// Returns the token of the session.
    pub fn token(&self) -> &str {
        &self.inner.token
    }

    /// Ends following: the account is used by somebody else from now on.
    pub fn stop(&self) {
        self.inner.is_over.store(true, Ordering::Relaxed);
    }

    /// Asks the server for something, or to do something.
    pub fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Said {
        self.inner.call(method, path, body)
    }

    /// Creates a room and returns its id.
    ///
    /// # Panics
    /// If the server refuses it.
    pub fn create(&self, body: &Value) -> String {
        let created = self.call("POST", "/createRoom", Some(body));
        assert_eq!(created.status, 200, "{created:?}");
        created.text("room_id").to_owned()
    }

    /// Goes into a room.
    ///
    /// # Panics
    /// If the server refuses it.
    pub fn join(&self, room: &str) {
        let joined = self.call(
            "POST",
            &format!("/join/{}", escaped(room)),
            Some(&json!({})),
        );
        assert_eq!(joined.status, 200, "{joined:?}");
    }

    /// Sends an event, once under the same `txn`.
    pub fn send(&self, room: &str, kind: &str, txn: &str, content: &Value) -> Said {
        let path = format!("/rooms/{}/send/{kind}/{}", escaped(room), escaped(txn));
        self.call("PUT", &path, Some(content))
    }

    /// Writes a message and returns its event.
    ///
    /// # Panics
    /// If the server refuses it.
    pub fn say(&self, room: &str, text: &str, more: &Value) -> String {
        let mut content = json!({ "msgtype": "m.text", "body": text });
        if let (Some(content), Some(more)) = (content.as_object_mut(), more.as_object()) {
            content.extend(more.clone());
        }
        let said = self.send(room, "m.room.message", &unique(), &content);
        assert_eq!(said.status, 200, "{said:?}");
        said.text("event_id").to_owned()
    }

    /// Reacts to an event.
    pub fn react(&self, room: &str, event: &str, key: &str) -> Said {
        let relation = json!({ "rel_type": "m.annotation", "event_id": event, "key": key });
        let content = json!({ "m.relates_to": relation });
        self.send(room, "m.reaction", &unique(), &content)
    }

    /// Deletes what an event says.
    pub fn redact(&self, room: &str, event: &str) -> Said {
        let path = format!(
            "/rooms/{}/redact/{}/{}",
            escaped(room),
            escaped(event),
            unique()
        );
        self.call("PUT", &path, Some(&json!({})))
    }

    /// Returns a file as text.
    pub fn download(&self, address: &str) -> String {
        let path = address.trim_start_matches("mxc://");
        let url = format!("{}/_matrix/client/v1/media/download/{path}", self.inner.url);
        let request = client()
            .get(url)
            .header("authorization", self.inner.bearer());
        let text = request.send().and_then(reqwest::blocking::Response::text);
        text.unwrap_or_default()
    }

    /// Returns the rooms they have seen something in.
    pub fn rooms(&self) -> Vec<String> {
        self.inner.seen().rooms.keys().cloned().collect()
    }

    /// Returns everything they have seen in a room, in order.
    pub fn events(&self, room: &str) -> Vec<Value> {
        let seen = self.inner.seen();
        seen.rooms.get(room).cloned().unwrap_or_default()
    }

    /// Returns the messages of a room as they look now: edited by their authors, without those that
    /// were deleted.
    pub fn messages(&self, room: &str) -> Vec<Value> {
        shown(&self.events(room))
    }

    /// Returns the rooms they are invited to, and what they know of them.
    pub fn invites(&self) -> BTreeMap<String, Value> {
        self.inner.seen().invites.clone()
    }

    /// Whether `who` has read a room up to an event, as far as this person knows.
    pub fn has_read(&self, room: &str, who: &str, event: &str) -> bool {
        let seen = self.inner.seen();
        let Some(events) = seen.rooms.get(room) else {
            return false;
        };
        let at = |id: &str| events.iter().rposition(|it| text(it, "event_id") == id);
        let read = seen.read.get(&(room.to_owned(), who.to_owned()));
        let read = read.and_then(|read| at(read));
        read.is_some_and(|read| at(event).is_some_and(|event| event <= read))
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Inner {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Said {
        let url = format!("{}/_matrix/client/v3{path}", self.url);
        let method = method.parse().unwrap_or_default();
        let mut request = client()
            .request(method, url)
            .header("authorization", self.bearer());
        if let Some(body) = body {
            let text = body.to_string();
            request = request
                .header("content-type", "application/json")
                .body(text);
        }
        // A server that is being restarted is asked again, as a client would.
        let began = Instant::now();
        loop {
            let said = request.try_clone().map_or(
                Said {
                    status: 0,
                    body: Value::Null,
                },
                |it| sent(&it),
            );
            if ![0, 429, 502, 503].contains(&said.status) || began.elapsed() > PATIENCE {
                return said;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Takes in what is new.
    fn take(&self, synced: &Value) {
        let mut seen = self.seen();
        let rooms = |key: &str| {
            let rooms = synced.get("rooms").and_then(|it| it.get(key)?.as_object());
            rooms.cloned().unwrap_or_default()
        };
        for (id, invite) in rooms("invite") {
            seen.invites.insert(id, invite);
        }
        for (id, room) in rooms("join") {
            seen.invites.remove(&id);
            let part = |key: &str| {
                let events = room.get(key).and_then(|it| it.get("events")?.as_array());
                events.cloned().unwrap_or_default()
            };
            for event in part("ephemeral") {
                note_receipts(&mut seen, &id, &event);
            }
            let events = seen.rooms.entry(id.clone()).or_default();
            for mut event in part("timeline") {
                // Where it is says only what is around it.
                if let Some(event) = event.as_object_mut() {
                    event.insert("room_id".to_owned(), json!(id));
                }
                let is_known = |it: &Value| text(it, "event_id") == text(&event, "event_id");
                if !events.iter().any(is_known) {
                    events.push(event);
                }
            }
        }
    }
}

fn note_receipts(seen: &mut Seen, room: &str, event: &Value) {
    if text(event, "type") != "m.receipt" {
        return;
    }
    let content = event.get("content").and_then(Value::as_object);
    for (event, receipts) in content.into_iter().flatten() {
        let readers = receipts.get("m.read").and_then(Value::as_object);
        for user in readers.into_iter().flat_map(serde_json::Map::keys) {
            seen.read
                .insert((room.to_owned(), user.clone()), event.clone());
        }
    }
}

/// Follows what happens, and goes into conversations that somebody opens with them.
fn follow(person: &Inner) {
    let filter =
        json!({ "room": { "timeline": { "limit": 5000 } }, "presence": { "not_types": ["*"] } });
    let filter = filter.to_string();
    let mut since = String::new();
    while !person.is_over.load(Ordering::Relaxed) {
        let mut path = format!("/sync?timeout={POLL_MILLIS}&filter={}", escaped(&filter));
        if !since.is_empty() {
            path = format!("{path}&since={}", escaped(&since));
        }
        let said = person.call("GET", &path, None);
        if said.status != 200 {
            // The session is over, or the server is.
            return;
        }
        said.text("next_batch").clone_into(&mut since);
        person.take(&said.body);
        let invites = person.seen().invites.clone();
        for (room, invite) in invites {
            if invite.to_string().contains("\"is_direct\":true") {
                person.call(
                    "POST",
                    &format!("/join/{}", escaped(&room)),
                    Some(&json!({})),
                );
            }
        }
        person.views.0.send_modify(|count| *count += 1);
    }
}

/// Returns messages as they look now.
fn shown(events: &[Value]) -> Vec<Value> {
    let relation = |event: &Value, key: &str| {
        let relation = event.get("content").and_then(|it| it.get("m.relates_to"));
        relation.map_or("", |it| text(it, key)).to_owned()
    };
    let redacted: Vec<&str> = events
        .iter()
        .filter(|it| text(it, "type") == "m.room.redaction")
        .filter_map(|it| {
            let inside = it.get("content").map(|content| text(content, "redacts"));
            let outside = Some(text(it, "redacts"));
            inside.filter(|id| !id.is_empty()).or(outside)
        })
        .collect();
    let is_gone = |event: &Value| redacted.contains(&text(event, "event_id"));
    let mut messages: Vec<Value> = Vec::new();
    for event in events {
        let is_message = text(event, "type") == "m.room.message" && !is_gone(event);
        let content = event.get("content");
        if !is_message || content.and_then(|it| it.get("msgtype")).is_none() {
            continue;
        }
        if relation(event, "rel_type") != "m.replace" {
            messages.push(event.clone());
            continue;
        }
        let target = relation(event, "event_id");
        let original = messages.iter_mut().find(|it| {
            text(it, "event_id") == target && text(it, "sender") == text(event, "sender")
        });
        let new = content.and_then(|it| it.get("m.new_content"));
        if let (Some(original), Some(new)) = (original.and_then(Value::as_object_mut), new) {
            original.insert("look".to_owned(), new.clone());
        }
    }
    messages
}

fn sent(request: &RequestBuilder) -> Said {
    let nothing = Said {
        status: 0,
        body: Value::Null,
    };
    let Some(Ok(response)) = request.try_clone().map(RequestBuilder::send) else {
        return nothing;
    };
    let status = response.status().as_u16();
    let Ok(bytes) = response.bytes() else {
        return nothing;
    };
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    Said { status, body }
}

fn client() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    CLIENT.get_or_init(|| {
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().timeout(PATIENCE).build();
        client.unwrap_or_default()
    })
}

/// Returns a name under which nothing was sent before.
fn unique() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    format!("t{}.{number}", std::process::id())
}

/// Returns a text as a part of an address.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _infallible = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
