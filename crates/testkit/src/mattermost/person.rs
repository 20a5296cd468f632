//! A test person with an account, on this server or a real one.
//!
//! Everything goes through the API, as a client's would. What they see comes by the websocket, so
//! waiting for it is waiting for an event.

use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use reqwest::blocking::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

use super::place::Place;
use super::server::locked;

/// How long anything may take; generous, because machines are busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// An answer of the server: its status and its JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The status.
    pub status: u16,
    /// The body, or a text where it is not JSON.
    pub body: Value,
}

impl Asked {
    /// Returns the server's word for what is wrong.
    pub fn error(&self) -> &str {
        self.body.get("id").and_then(Value::as_str).unwrap_or("")
    }

    /// Returns a text of the body; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        self.body.get(key).and_then(Value::as_str).unwrap_or("")
    }
}

/// Somebody with an account.
#[derive(Debug)]
pub struct Person {
    /// Their account.
    pub id: String,
    /// What they are called.
    pub name: String,
    token: String,
    url: String,
    http: Client,
    seen: Arc<Seen>,
    /// Kept to hang up.
    line: Mutex<Option<TcpStream>>,
}

#[derive(Debug, Default)]
struct Seen {
    events: Mutex<Vec<Event>>,
    news: Condvar,
}

/// An event, and the post in it, read once.
#[derive(Debug)]
struct Event {
    said: Value,
    post: Option<Value>,
}

impl Person {
    /// Returns the person whose token this is. They see nothing until they [`Self::listen`].
    pub fn with_token(url: &str, token: &str) -> Result<Self, String> {
        let http = client_of_everybody()?;
        let mut person = Self {
            id: String::new(),
            name: String::new(),
            token: token.to_owned(),
            url: url.trim_end_matches('/').to_owned(),
            http,
            seen: Arc::default(),
            line: Mutex::default(),
        };
        let me = person.get("/users/me");
        me.text("id").clone_into(&mut person.id);
        me.text("username").clone_into(&mut person.name);
        if me.status == 200 {
            Ok(person)
        } else {
            Err(format!("{me:?}"))
        }
    }

    /// Opens the websocket and returns once the server has said hello.
    pub fn listen(&self) -> Result<(), String> {
        let host = self
            .url
            .strip_prefix("http://")
            .ok_or("only http:// servers can be listened to")?;
        let line = TcpStream::connect(host).map_err(|error| error.to_string())?;
        let hang_up = line.try_clone().map_err(|error| error.to_string())?;
        let request = format!("ws://{host}/api/v4/websocket")
            .into_client_request()
            .map_err(|error| error.to_string())?;
        let (mut socket, _) = client(request, line).map_err(|error| error.to_string())?;
        let challenge = json!({
            "seq": 1, "action": "authentication_challenge", "data": { "token": self.token },
        });
        socket
            .send(Message::text(challenge.to_string()))
            .map_err(|error| error.to_string())?;
        *locked(&self.line) = Some(hang_up);
        let seen = Arc::clone(&self.seen);
        let before = self.events_so_far();
        std::thread::spawn(move || listen_to(&mut socket, &seen));
        self.wait_after(before, |event| {
            (event.get("event")? == "hello").then_some(())
        })
        .ok_or_else(|| "the server did not say hello".to_owned())
    }

    /// Returns how many events have been seen, to wait for what comes later.
    pub fn events_so_far(&self) -> usize {
        locked(&self.seen.events).len()
    }

    /// Returns every event seen so far.
    pub fn events(&self) -> Vec<Value> {
        let events = locked(&self.seen.events);
        events.iter().map(|event| event.said.clone()).collect()
    }

    /// Waits for an event behind the first `seen` of which `find` makes something.
    pub fn wait_after<T>(&self, seen: usize, find: impl Fn(&Value) -> Option<T>) -> Option<T> {
        self.wait(seen, |event| find(&event.said))
    }

    fn wait<T>(&self, seen: usize, find: impl Fn(&Event) -> Option<T>) -> Option<T> {
        let since = Instant::now();
        let mut events = locked(&self.seen.events);
        loop {
            if let Some(found) = events.iter().skip(seen).find_map(&find) {
                return Some(found);
            }
            let left = PATIENCE.checked_sub(since.elapsed())?;
            events = self
                .seen
                .news
                .wait_timeout(events, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Waits for a post that `fits`, written or changed, and returns it as it is then.
    pub fn wait_for_post(&self, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        self.wait(0, |event| {
            let name = event.said.get("event")?.as_str()?;
            let is_post = matches!(name, "posted" | "post_edited");
            let post = event.post.as_ref().filter(|_| is_post)?;
            fits(post).then(|| post.clone())
        })
    }

    /// Waits for what only this person sees, said after the first `seen` events.
    pub fn wait_for_whisper(&self, seen: usize) -> Option<String> {
        self.wait_after(seen, |event| {
            (event.get("event")? == "ephemeral_message").then_some(())?;
            Some(inner(event, "post")?.get("message")?.as_str()?.to_owned())
        })
    }

    /// Waits for a dialog that opens on this person's screen after the first `seen` events.
    pub fn wait_for_dialog(&self, seen: usize) -> Option<Value> {
        self.wait_after(seen, |event| {
            (event.get("event")? == "open_dialog").then_some(())?;
            inner(event, "dialog")
        })
    }

    /// Clicks a button of a post.
    pub fn click(&self, post_id: &str, action_id: &str) -> Asked {
        let path = format!("/posts/{post_id}/actions/{action_id}");
        self.post(&path, &json!({}))
    }

    /// Fills in a dialog as it was opened in the channel of `place` and sends it off.
    pub fn submit(&self, opened: &Value, place: &Place, submission: &Value) -> Asked {
        self.post(
            "/actions/dialogs/submit",
            &json!({
                "url": opened.get("url"),
                "callback_id": opened.pointer("/dialog/callback_id"),
                "state": opened.pointer("/dialog/state"),
                "channel_id": place.channel_id,
                "team_id": place.team_id,
                "submission": submission,
                "cancelled": false,
            }),
        )
    }

    /// Types a line that begins with a slash. In a conversation of two the team must be said.
    pub fn command(&self, channel_id: &str, team_id: &str, line: &str) -> Asked {
        let body = json!({ "channel_id": channel_id, "team_id": team_id, "command": line });
        self.post("/commands/execute", &body)
    }

    /// Types such a line below a message.
    pub fn command_below(&self, place: &Place, root_id: &str, line: &str) -> Asked {
        let body = json!({
            "channel_id": place.channel_id, "team_id": place.team_id, "root_id": root_id,
            "command": line,
        });
        self.post("/commands/execute", &body)
    }

    /// Writes a message; `root_id` is the thread, or empty.
    pub fn say(&self, channel_id: &str, root_id: &str, message: &str) -> Asked {
        let body = json!({ "channel_id": channel_id, "root_id": root_id, "message": message });
        self.post("/posts", &body)
    }

    /// Puts an emoji under a post.
    pub fn react(&self, post_id: &str, emoji: &str) -> Asked {
        let body = json!({ "user_id": self.id, "post_id": post_id, "emoji_name": emoji });
        self.post("/reactions", &body)
    }

    /// Returns the conversation with another account.
    pub fn direct(&self, other: &str) -> String {
        let opened = self.post("/channels/direct", &json!([self.id, other]));
        opened.text("id").to_owned()
    }

    /// Asks for something under `/api/v4`.
    pub fn get(&self, path: &str) -> Asked {
        self.ask(self.http.get(self.address(path)))
    }

    /// Sends something.
    pub fn post(&self, path: &str, body: &Value) -> Asked {
        self.ask(self.http.post(self.address(path)).json(body))
    }

    /// Replaces something.
    pub fn put(&self, path: &str, body: &Value) -> Asked {
        self.ask(self.http.put(self.address(path)).json(body))
    }

    /// Removes something.
    pub fn delete(&self, path: &str) -> Asked {
        self.ask(self.http.delete(self.address(path)))
    }

    /// Returns this person's token.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Returns the server's address.
    pub fn url(&self) -> &str {
        &self.url
    }

    fn address(&self, path: &str) -> String {
        format!("{}/api/v4{path}", self.url)
    }

    fn ask(&self, request: RequestBuilder) -> Asked {
        match request.bearer_auth(&self.token).send() {
            Ok(response) => {
                let status = response.status().as_u16();
                let text = response.text().unwrap_or_default();
                let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
                Asked { status, body }
            }
            // A connection that was cut has no status.
            Err(error) => Asked {
                status: 0,
                body: Value::String(error.to_string()),
            },
        }
    }
}

/// One client serves everybody: making one reads all certificates of the machine.
fn client_of_everybody() -> Result<Client, String> {
    static CLIENT: OnceLock<Result<Client, String>> = OnceLock::new();
    let made = CLIENT.get_or_init(|| {
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        Client::builder()
            .pool_max_idle_per_host(0)
            .no_proxy()
            .timeout(PATIENCE)
            .build()
            .map_err(|error| error.to_string())
    });
    made.clone()
}

impl Drop for Person {
    fn drop(&mut self) {
        if let Some(line) = locked(&self.line).take() {
            // It may be closed already.
            let _closed = line.shutdown(std::net::Shutdown::Both).is_ok();
        }
    }
}

/// Returns what an event carries as a text of JSON.
fn inner(event: &Value, key: &str) -> Option<Value> {
    let text = event.get("data")?.get(key)?.as_str()?;
    serde_json::from_str(text).ok()
}

fn listen_to(socket: &mut WebSocket<TcpStream>, seen: &Seen) {
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => {
                let said: Value = serde_json::from_str(text.as_str()).unwrap_or_default();
                let post = inner(&said, "post");
                locked(&seen.events).push(Event { said, post });
                seen.news.notify_all();
            }
            Ok(
                Message::Binary(_)
                | Message::Ping(_)
                | Message::Pong(_)
                | Message::Close(_)
                | Message::Frame(_),
            ) => {}
            Err(_) => return,
        }
    }
}
