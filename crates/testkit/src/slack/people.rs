//! What people do: press, type, write, fill in. Each becomes what Slack would tell the app, by a
//! connection or by a signed request.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::Url;
use ring::hmac;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

use super::server::{Arrival, SIGNING_SECRET, SlackServer, locked};
use super::world::{APP, Account, BOT_USER, File, Message, Opened, Place, TEAM, Told};

/// How long Slack waits for an acknowledgement.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(3);

/// Something Slack would tell the app, and has not yet.
#[derive(Clone, Debug)]
pub struct Payload {
    /// As a connection names it: `interactive`, `slash_commands`, `events_api`.
    pub kind: &'static str,
    /// What is told.
    pub body: Value,
}

/// How the app took it.
#[derive(Clone, Debug)]
pub struct Acknowledged {
    /// 200 for an acknowledgement, 0 for none; by a request, its status.
    pub status: u16,
    /// What it said.
    pub body: Value,
}

impl SlackServer {
    /// Makes an account and returns its id.
    pub fn person(&self, name: &str) -> String {
        self.account(|account| name.clone_into(&mut account.name))
    }

    /// Makes an account that is not as others, and returns its id.
    pub fn account(&self, change: impl FnOnce(&mut Account)) -> String {
        let mut world = self.inside.world();
        let id = world.id('U');
        let mut account = Account {
            id: id.clone(),
            name: id.clone(),
            team: TEAM.to_owned(),
            is_bot: false,
            is_deleted: false,
            is_stranger: false,
            zone: Some("Europe/Berlin".to_owned()),
        };
        change(&mut account);
        world.accounts.insert(id.clone(), account);
        id
    }

    /// Changes an account.
    pub fn change_account(&self, id: &str, change: impl FnOnce(&mut Account)) {
        if let Some(account) = self.inside.world().accounts.get_mut(id) {
            change(account);
        }
    }

    /// Makes a channel with our bot and these people, and returns its id.
    pub fn channel(&self, name: &str, people: &[&str]) -> String {
        let mut world = self.inside.world();
        let id = world.id('C');
        let members = [BOT_USER].iter().chain(people);
        let place = Place {
            id: id.clone(),
            name: name.to_owned(),
            members: members.map(|it| (*it).to_owned()).collect(),
            ..Place::default()
        };
        world.places.insert(id.clone(), place);
        id
    }

    /// Archives a channel, or shares it with another organisation, or takes our bot out of it.
    pub fn change_channel(&self, id: &str, is_archived: bool, is_shared: bool, has_bot: bool) {
        if let Some(place) = self.inside.world().places.get_mut(id) {
            place.is_archived = is_archived;
            place.is_shared = is_shared;
            place.members.retain(|it| it != BOT_USER);
            if has_bot {
                place.members.push(BOT_USER.to_owned());
            }
        }
    }

    /// Returns the conversation of the bot with somebody.
    pub fn direct(&self, user: &str) -> String {
        self.inside.world().direct(user)
    }

    /// Returns the messages of a conversation as an app sees them, with what people read of each and
    /// how often it was changed.
    pub fn messages(&self, place: &str) -> Vec<Value> {
        let world = self.inside.world();
        let messages = world.places.get(place).map(|place| &place.messages);
        let shown = messages.into_iter().flatten().map(|message| {
            let mut shown = message.public();
            if let Some(map) = shown.as_object_mut() {
                map.insert("channel".to_owned(), json!(place));
                map.insert("readable".to_owned(), json!(message.readable()));
                map.insert("edits".to_owned(), json!(message.edits));
            }
            shown
        });
        shown.collect()
    }

    /// Returns the ids of all conversations.
    pub fn places(&self) -> Vec<String> {
        self.inside.world().places.keys().cloned().collect()
    }

    /// Returns the content of the files below a message.
    pub fn files_below(&self, place: &str, ts: &str) -> String {
        let world = self.inside.world();
        let messages = world.places.get(place).map(|place| &place.messages);
        let below = messages
            .into_iter()
            .flatten()
            .filter(|message| message.thread_ts.as_deref() == Some(ts));
        let files = below.flat_map(|message| &message.files);
        files.map(|File { content, .. }| content.as_str()).collect()
    }

    /// Somebody puts a file of their own below a message.
    pub fn share_file(&self, user: &str, place: &str, root: &str, title: &str, content: &str) {
        let mut world = self.inside.world();
        let file = File {
            id: world.id('F'),
            title: title.to_owned(),
            content: content.to_owned(),
        };
        let message = Message {
            user: user.to_owned(),
            thread_ts: Some(root.to_owned()),
            files: vec![file],
            ..Message::default()
        };
        world.post(place, message);
    }

    /// Returns what only `user` was told, oldest first.
    pub fn told(&self, user: &str) -> Vec<Told> {
        let world = self.inside.world();
        let told = world.told.iter().filter(|told| told.user == user);
        told.cloned().collect()
    }

    /// Returns the dialogs that were opened for `user`, oldest first.
    pub fn dialogs(&self, user: &str) -> Vec<Value> {
        let world = self.inside.world();
        let opened = world.opened.iter().filter(|opened| opened.user == user);
        opened.map(Opened::public).collect()
    }

    /// Somebody deletes a message.
    pub fn delete(&self, place: &str, ts: &str) -> Option<Acknowledged> {
        let event = {
            let mut world = self.inside.world();
            let deleted_at = world.ts();
            let messages = &mut world.places.get_mut(place)?.messages;
            let at = messages.iter().position(|message| message.ts == ts)?;
            let was = messages.remove(at);
            json!({
                "type": "message", "subtype": "message_deleted", "channel": place,
                "channel_type": "channel", "ts": deleted_at, "event_ts": deleted_at,
                "deleted_ts": ts, "hidden": true, "previous_message": was.public(),
            })
        };
        Some(self.tell(&self.event(&event)))
    }

    /// Returns what Slack would tell of a press; `None` if there is no such button, or not for them.
    pub fn press(&self, user: &str, place: &str, ts: &str, action_id: &str) -> Option<Payload> {
        let mut world = self.inside.world();
        let (trigger, response) = world.interaction(user, place);
        let account = world.accounts.get(user)?.clone();
        let there = world.places.get(place)?;
        there.members.iter().find(|it| *it == user)?;
        let message = there.message(ts)?;
        let name = there.name.clone();
        let (block_id, button) = button(message, action_id)?;
        let mut action = button.as_object()?.clone();
        action.insert("block_id".to_owned(), json!(block_id));
        action.insert("action_ts".to_owned(), json!(ts));
        let mut container = json!({
            "type": "message", "message_ts": ts, "channel_id": place, "is_ephemeral": false,
        });
        if let (Some(root), Some(map)) = (&message.thread_ts, container.as_object_mut()) {
            map.insert("thread_ts".to_owned(), json!(root));
        }
        let body = json!({
            "type": "block_actions",
            "user": { "id": user, "username": account.name, "name": account.name, "team_id": account.team },
            "api_app_id": APP,
            "token": "the verification token is dead",
            "container": container,
            "trigger_id": trigger,
            "team": { "id": TEAM, "domain": "strict" },
            "enterprise": null,
            "is_enterprise_install": false,
            "channel": { "id": place, "name": name },
            "message": message.public(),
            "state": { "values": {} },
            "response_url": format!("{}/response/{response}", self.inside.url),
            "actions": [action],
        });
        let kind = "interactive";
        Some(Payload { kind, body })
    }

    /// Returns what Slack would tell of a typed `/countersign`.
    pub fn command(&self, user: &str, place: &str, text: &str) -> Payload {
        let mut world = self.inside.world();
        let (trigger, response) = world.interaction(user, place);
        let name = world.accounts.get(user).map(|it| it.name.clone());
        let body = json!({
            "token": "the verification token is dead", "team_id": TEAM, "team_domain": "strict",
            "channel_id": place, "channel_name": "directmessage", "user_id": user, "user_name": name,
            "command": "/countersign", "text": text, "api_app_id": APP,
            "is_enterprise_install": "false", "trigger_id": trigger,
            "response_url": format!("{}/response/{response}", self.inside.url),
        });
        let kind = "slash_commands";
        Payload { kind, body }
    }

    /// Returns what Slack would tell of a dialog that somebody sends off.
    pub fn submit(&self, user: &str, dialog: &Value, words: Option<&str>) -> Payload {
        let mut world = self.inside.world();
        let (trigger, _) = world.interaction(user, "");
        let account = world.accounts.get(user);
        let team = account.map(|it| it.team.clone());
        let name = account.map(|it| it.name.clone());
        let mut view = dialog.clone();
        let mut values = Map::new();
        for block in dialog["blocks"].as_array().into_iter().flatten() {
            let ids = (
                text_at(block, "/block_id"),
                text_at(block, "/element/action_id"),
            );
            if let (Some(id), Some(action)) = ids {
                let mut inputs = Map::new();
                let entered = json!({ "type": "plain_text_input", "value": words });
                inputs.insert(action.to_owned(), entered);
                values.insert(id.to_owned(), Value::Object(inputs));
            }
        }
        if let Some(map) = view.as_object_mut() {
            map.insert("state".to_owned(), json!({ "values": values }));
        }
        let body = json!({
            "type": "view_submission", "team": { "id": TEAM, "domain": "strict" },
            "user": { "id": user, "username": name, "name": name, "team_id": team },
            "api_app_id": APP, "token": "the verification token is dead", "trigger_id": trigger,
            "view": view, "response_urls": [], "is_enterprise_install": false, "enterprise": null,
        });
        let kind = "interactive";
        Payload { kind, body }
    }

    /// Somebody writes something, and the app is told if it may hear it.
    pub fn say(
        &self,
        user: &str,
        place: &str,
        root: Option<&str>,
        text: &str,
    ) -> Option<Acknowledged> {
        self.say_by(None, user, place, root, text)
    }

    /// Somebody writes something, or an app that has their token does.
    pub fn say_by(
        &self,
        app: Option<&str>,
        user: &str,
        place: &str,
        root: Option<&str>,
        text: &str,
    ) -> Option<Acknowledged> {
        let event = {
            let mut world = self.inside.world();
            let message = Message {
                user: user.to_owned(),
                app: app.map(str::to_owned),
                text: text.to_owned(),
                thread_ts: root.map(str::to_owned),
                ..Message::default()
            };
            let posted = world.post(place, message)?;
            let is_im = world.places.get(place)?.is_im;
            let mut event = posted.public();
            let map = event.as_object_mut()?;
            map.insert("channel".to_owned(), json!(place));
            map.insert("event_ts".to_owned(), json!(posted.ts));
            map.insert("team".to_owned(), json!(TEAM));
            if is_im {
                map.insert("channel_type".to_owned(), json!("im"));
            } else if text.contains(&format!("<@{BOT_USER}>")) {
                map.insert("type".to_owned(), json!("app_mention"));
            } else {
                map.insert("channel_type".to_owned(), json!("channel"));
            }
            event
        };
        self.inside.stir();
        Some(self.tell(&self.event(&event)))
    }

    fn event(&self, event: &Value) -> Payload {
        let number = self.inside.world().number();
        let body = json!({
            "token": "the verification token is dead", "team_id": TEAM, "api_app_id": APP,
            "event": event, "type": "event_callback", "event_id": format!("Ev{number}"),
            "event_time": unix_seconds(), "is_ext_shared_channel": false,
            "authorizations": [{ "team_id": TEAM, "user_id": BOT_USER, "is_bot": true }],
        });
        let kind = "events_api";
        Payload { kind, body }
    }

    /// Tells the app, and returns how it took it.
    pub fn tell(&self, payload: &Payload) -> Acknowledged {
        let settings = self.inside.settings();
        match &settings.arrival {
            Arrival::Socket => self.by_socket(payload),
            Arrival::Requests(url) => {
                let (path, body, kind) = self.as_request(payload);
                let at = unix_seconds().to_string();
                let signature = self.sign(&at, &body);
                let url = format!("{url}/{path}");
                self.request(&url, &body, kind, Some(&at), Some(&signature))
            }
        }
    }

    /// Tells the app of a press or a command, and waits until the person has got something from it:
    /// words that nobody else sees, which are returned, or a dialog. Nothing is waited for if the app
    /// did not take it.
    pub fn tell_and_wait(&self, payload: &Payload) -> String {
        let response = text_at(&payload.body, "/response_url").unwrap_or("");
        let response = response.rsplit('/').next().unwrap_or("");
        let trigger = text_at(&payload.body, "/trigger_id").unwrap_or("");
        let got = || {
            let world = self.inside.world();
            let told = world.told.iter();
            let told = told.filter(|told| told.response.as_deref() == Some(response));
            let opened = world.opened.iter().filter(|it| it.trigger == trigger);
            let words: Vec<String> = told.map(|told| told.text.clone()).collect();
            (words, opened.count())
        };
        let (words, dialogs) = got();
        if self.tell(payload).status != 200 {
            return String::new();
        }
        let is_new = || {
            let (now, open) = got();
            now.len() > words.len() || open > dialogs
        };
        if !self.wait(is_new) {
            return "nothing came of it".to_owned();
        }
        let (now, _) = got();
        now.into_iter().skip(words.len()).collect()
    }

    fn by_socket(&self, payload: &Payload) -> Acknowledged {
        let accepts = payload.kind != "events_api";
        let none = Acknowledged {
            status: 0,
            body: Value::Null,
        };
        let waiting = locked(&self.inside.sockets).send(payload.kind, &payload.body, accepts);
        let Some(waiting) = waiting else {
            return none;
        };
        match waiting.recv_timeout(ACKNOWLEDGED_WITHIN) {
            Ok(body) => Acknowledged { status: 200, body },
            Err(_) => none,
        }
    }

    /// Returns the route, the body and the content type of a request that tells the app.
    pub fn as_request(&self, payload: &Payload) -> (&'static str, String, &'static str) {
        let form = "application/x-www-form-urlencoded";
        match payload.kind {
            "interactive" => {
                let body = form_of([("payload", payload.body.to_string())]);
                ("action", body, form)
            }
            "slash_commands" => {
                let fields = payload.body.as_object().into_iter().flatten();
                let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
                let fields = fields.map(|(name, value)| (name.as_str(), text(value)));
                ("command", form_of(fields), form)
            }
            _ => ("action", payload.body.to_string(), "application/json"),
        }
    }

    /// Returns the signature of a body at a time.
    pub fn sign(&self, at: &str, body: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, SIGNING_SECRET.as_bytes());
        let tag = hmac::sign(&key, format!("v0:{at}:{body}").as_bytes());
        let mut signature = "v0=".to_owned();
        for byte in tag.as_ref() {
            let _infallible = write!(signature, "{byte:02x}");
        }
        signature
    }

    /// Sends a request as anybody could, with these headers.
    pub fn request(
        &self,
        url: &str,
        body: &str,
        content_type: &str,
        at: Option<&str>,
        signature: Option<&str>,
    ) -> Acknowledged {
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::blocking::Client::builder()
            .timeout(ACKNOWLEDGED_WITHIN)
            .no_proxy()
            .build();
        let sent = client.and_then(|client| {
            let mut request = client.post(url).header("content-type", content_type);
            if let Some(at) = at {
                request = request.header("x-slack-request-timestamp", at);
            }
            if let Some(signature) = signature {
                request = request.header("x-slack-signature", signature);
            }
            request.body(body.to_owned()).send()
        });
        match sent {
            Ok(answer) => Acknowledged {
                status: answer.status().as_u16(),
                body: answer
                    .text()
                    .ok()
                    .and_then(|text| serde_json::from_str(&text).ok())
                    .unwrap_or_default(),
            },
            Err(_) => Acknowledged {
                status: 0,
                body: Value::Null,
            },
        }
    }
}

fn text_at<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    value.pointer(path).and_then(Value::as_str)
}

/// Returns the button of a message, and the block it stands in.
fn button(message: &Message, action_id: &str) -> Option<(Value, Value)> {
    let blocks = message.blocks.as_ref()?.as_array()?;
    let rows = blocks.iter().filter(|block| block["type"] == "actions");
    for row in rows {
        let mut elements = row["elements"].as_array()?.iter();
        if let Some(found) = elements.find(|it| it["action_id"] == action_id) {
            return Some((row["block_id"].clone(), found.clone()));
        }
    }
    None
}

fn form_of<'a>(fields: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let Ok(mut url) = Url::parse("http://form/") else {
        return String::new();
    };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

fn unix_seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |it| it.as_secs())
}
