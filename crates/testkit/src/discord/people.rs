//! What people do: press, type, write, fill in. Each becomes what Discord would tell the application, by its
//! connection or by a signed request.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::gateway::tell;
use super::interactions::{Asked, COMMAND, COMPONENT, MODAL, Modal, Told, answer};
use super::message::Message;
use super::routes;
use super::server::{Arrival, DiscordServer, hex, locked};
use super::world::{APPLICATION, Account, Guild, PERMISSIONS, Place};

impl DiscordServer {
    /// Makes an account and returns its id.
    pub fn person(&self, name: &str) -> String {
        self.account(name, false)
    }

    /// Makes the account of a program and returns its id.
    pub fn program(&self, name: &str) -> String {
        self.account(name, true)
    }

    fn account(&self, name: &str, is_bot: bool) -> String {
        let mut world = self.inside.world();
        let id = world.id();
        let account = Account {
            id: id.clone(),
            name: name.to_owned(),
            is_bot,
        };
        world.accounts.insert(id.clone(), account);
        id
    }

    /// Makes a server with our bot and these people, and returns its id.
    pub fn guild(&self, name: &str, people: &[&str]) -> String {
        let mut world = self.inside.world();
        let id = world.id();
        let guild = Guild {
            id: id.clone(),
            name: name.to_owned(),
            members: people.iter().map(|it| (*it).to_owned()).collect(),
            permissions: PERMISSIONS,
        };
        world.guilds.insert(id.clone(), guild);
        id
    }

    /// Takes somebody out of a server, or our bot with `None`.
    pub fn leave(&self, guild: &str, user: Option<&str>) {
        let mut world = self.inside.world();
        match (user, world.guilds.get_mut(guild)) {
            (Some(user), Some(guild)) => guild.members.retain(|it| it != user),
            (None, _) => drop(world.guilds.remove(guild)),
            (Some(_), None) => {}
        }
    }

    /// Makes a channel of a server, of this kind, and returns its id.
    pub fn channel(&self, guild: &str, name: &str, kind: u8) -> String {
        let mut world = self.inside.world();
        let id = world.id();
        let place = Place {
            id: id.clone(),
            kind,
            guild: Some(guild.to_owned()),
            name: name.to_owned(),
            ..Place::default()
        };
        world.places.insert(id.clone(), place);
        id
    }

    /// Takes permissions from our bot in a channel, by their bits.
    pub fn deny(&self, place: &str, bits: u64) {
        if let Some(place) = self.inside.world().places.get_mut(place) {
            place.denied = bits;
        }
    }

    /// Sets the address to which interactions are said to be sent.
    pub fn set_endpoint(&self, url: Option<&str>) {
        self.inside.world().endpoint = url.map(str::to_owned);
    }

    /// Returns the conversation of the bot with somebody.
    pub fn direct(&self, user: &str) -> String {
        self.inside.world().direct(user)
    }

    /// Returns the ids of all places.
    pub fn places(&self) -> Vec<String> {
        self.inside.world().places.keys().cloned().collect()
    }

    /// Returns the messages of a place, oldest first.
    pub fn messages(&self, place: &str) -> Vec<Message> {
        let world = self.inside.world();
        let place = world.places.get(place);
        place.map_or_else(Vec::new, |it| it.messages.clone())
    }

    /// Returns the commands that are registered.
    pub fn commands(&self) -> Vec<Value> {
        self.inside.world().commands.clone()
    }

    /// Returns the words that `user` alone was told, oldest first.
    pub fn told(&self, user: &str) -> Vec<Told> {
        let world = self.inside.world();
        let told = world.told.iter().filter(|it| it.user == user);
        told.cloned().collect()
    }

    /// Returns the dialogs that were opened for `user`, oldest first.
    pub fn modals(&self, user: &str) -> Vec<Modal> {
        let world = self.inside.world();
        let modals = world.modals.iter().filter(|it| it.user == user);
        modals.cloned().collect()
    }

    /// Returns how many connections are open that have begun or resumed a session.
    pub fn connections(&self) -> usize {
        locked(&self.inside.sessions).open()
    }

    /// Returns how many sessions began, and how often one was resumed.
    pub fn sessions(&self) -> (u64, u64) {
        locked(&self.inside.sessions).counts()
    }

    /// Cuts every connection without a word.
    pub fn cut_connections(&self) {
        locked(&self.inside.sessions).cut();
    }

    /// Closes every connection with a number.
    pub fn close_connections(&self, code: u16) {
        locked(&self.inside.sessions).close(code);
    }

    /// Asks every connection to come back, as Discord does from time to time.
    pub fn ask_to_reconnect(&self) {
        locked(&self.inside.sessions).frame(&json!({ "op": 7, "d": null }));
    }

    /// Says that every session is invalid, and forgets it unless it can be resumed.
    pub fn invalidate_sessions(&self, can_resume: bool) {
        let mut sessions = locked(&self.inside.sessions);
        sessions.frame(&json!({ "op": 9, "d": can_resume }));
        if !can_resume {
            sessions.forget();
        }
    }

    /// Asks every connection for a heartbeat at once.
    pub fn ask_for_heartbeat(&self) {
        locked(&self.inside.sessions).frame(&json!({ "op": 1, "d": null }));
    }

    /// Tells the application again of everything that `payload` is, as if it had not been heard.
    pub fn repeat(&self, payload: &Value) -> bool {
        tell(&self.inside, "INTERACTION_CREATE", payload)
    }

    /// Somebody deletes a message.
    pub fn delete(&self, place: &str, id: &str) {
        routes::delete(&self.inside, place, id);
    }

    /// Somebody puts a file of their own below a message.
    pub fn share_file(&self, user: &str, place: &str, above: &str, content: &str) {
        let message = Message {
            author: user.to_owned(),
            reply_to: Some(above.to_owned()),
            files: vec![("full-text.txt".to_owned(), content.to_owned())],
            ..Message::default()
        };
        self.inside.world().post(place, message);
    }

    /// Somebody writes something, and the application is told if it may hear it. Returns the message's id.
    pub fn say(&self, user: &str, place: &str, text: &str) -> Option<String> {
        let message = Message {
            author: user.to_owned(),
            content: text.to_owned(),
            ..Message::default()
        };
        let shown = self.inside.world().post(place, message)?;
        tell(&self.inside, "MESSAGE_CREATE", &shown);
        shown.get("id")?.as_str().map(str::to_owned)
    }

    /// Returns what Discord would tell of a press; `None` if there is no such button.
    pub fn press(&self, user: &str, place: &str, message: &str, custom_id: &str) -> Option<Value> {
        let mut payload = self.interaction(COMPONENT, user, place, Some(message))?;
        let there = self
            .messages(place)
            .into_iter()
            .find(|it| it.id == message)?;
        let buttons = there.buttons();
        buttons.iter().find(|it| it["custom_id"] == custom_id)?;
        let data = json!({ "custom_id": custom_id, "component_type": 2, "id": 2 });
        payload.as_object_mut()?.insert("data".to_owned(), data);
        Some(payload)
    }

    /// Returns what Discord would tell of a typed command; `None` if it is not registered.
    pub fn command(&self, user: &str, place: &str, name: &str, text: &str) -> Option<Value> {
        let commands = self.commands();
        let command = commands.iter().find(|it| it["name"] == name)?.clone();
        let mut payload = self.interaction(COMMAND, user, place, None)?;
        let mut options = Vec::new();
        if !text.is_empty() {
            let option = command.pointer("/options/0")?;
            options.push(json!({ "name": option["name"], "type": 3, "value": text }));
        }
        let data = json!({ "id": command.get("id"), "name": name, "type": 1, "options": options });
        payload.as_object_mut()?.insert("data".to_owned(), data);
        Some(payload)
    }

    /// Returns what Discord would tell of a dialog that somebody sends off.
    pub fn submit(&self, user: &str, modal: &Modal, words: Option<&str>) -> Option<Value> {
        let message = modal.message.as_deref();
        let mut payload = self.interaction(MODAL, user, &modal.place, message)?;
        let parts = modal.data.get("components")?.as_array()?.iter();
        let filled = |input: &Value| {
            json!({
                "type": input["type"], "id": 2, "custom_id": input["custom_id"],
                "value": words.unwrap_or_default(),
            })
        };
        let parts = parts.map(|part| {
            let (kind, label) = (&part["type"], &part["component"]);
            if let Some(inputs) = part["components"].as_array() {
                let inputs: Vec<Value> = inputs.iter().map(filled).collect();
                json!({ "type": kind, "id": 1, "components": inputs })
            } else if label.is_object() {
                json!({ "type": kind, "id": 1, "component": filled(label) })
            } else {
                json!({ "type": kind, "id": 1 })
            }
        });
        let parts: Vec<Value> = parts.collect();
        let data = json!({ "custom_id": modal.data.get("custom_id"), "components": parts });
        payload.as_object_mut()?.insert("data".to_owned(), data);
        Some(payload)
    }

    /// Makes an interaction of somebody in a place they are in.
    fn interaction(
        &self,
        kind: u64,
        user: &str,
        place: &str,
        message: Option<&str>,
    ) -> Option<Value> {
        let mut world = self.inside.world();
        let id = world.id();
        let token = format!("aW50ZXJhY3Rpb246{id}");
        let there = world.places.get(place)?.clone();
        let mut payload = json!({
            "id": id, "application_id": APPLICATION, "type": kind, "token": token, "version": 1,
            "channel_id": place, "channel": world.place(place), "locale": "en-GB",
            "app_permissions": PERMISSIONS.to_string(), "entitlements": [],
            "attachment_size_limit": 10_485_760, "authorizing_integration_owners": { "0": there.guild },
        });
        let map = payload.as_object_mut()?;
        if let Some(guild) = &there.guild {
            map.insert("context".to_owned(), json!(0));
            map.insert("guild_id".to_owned(), json!(guild));
            map.insert(
                "guild".to_owned(),
                json!({ "id": guild, "locale": "en-GB", "features": [] }),
            );
            map.insert("member".to_owned(), world.member(guild, user)?);
        } else {
            map.remove("authorizing_integration_owners");
            map.insert("context".to_owned(), json!(1));
            map.insert("user".to_owned(), world.account(user));
        }
        if let Some(message) = message {
            let message = there.messages.iter().find(|it| it.id == message)?;
            map.insert("message".to_owned(), world.shown(message));
        }
        let asked = Asked {
            token,
            kind,
            user: user.to_owned(),
            place: place.to_owned(),
            message: message.map(str::to_owned),
            since: Instant::now(),
            answered: None,
            refusals: 0,
        };
        world.asked.insert(id, asked);
        Some(payload)
    }

    /// Tells the application of an interaction; whether it was told, or the status of a request.
    pub fn tell(&self, payload: &Value) -> u16 {
        let id = payload["id"].as_str().unwrap_or_default();
        if let Some(asked) = self.inside.world().asked.get_mut(id)
            && asked.answered.is_none()
        {
            // Three seconds from the moment at which it is told.
            asked.since = Instant::now();
        }
        let Arrival::Requests(url) = self.inside.settings().arrival else {
            let is_told = tell(&self.inside, "INTERACTION_CREATE", payload);
            return if is_told { 200 } else { 0 };
        };
        let body = payload.to_string();
        let at = unix_seconds().to_string();
        let (status, first) = self.request(&url, &body, Some(&at), Some(&self.sign(&at, &body)));
        if status == 200 {
            let token = payload["token"].as_str().unwrap_or_default();
            // What is wrong about it is counted as a refusal.
            let _answered = answer(&self.inside, id, token, &first).is_ok();
        }
        status
    }

    /// Tells the application of an interaction and waits until the person has got something from it: words
    /// that nobody else sees, which are returned, or a dialog, or a refusal of the answer.
    pub fn tell_and_wait(&self, payload: &Value) -> String {
        let id = payload["id"].as_str().unwrap_or_default();
        let got = || {
            let world = self.inside.world();
            let told = world.told.iter().filter(|it| it.interaction == id);
            let words: Vec<String> = told.map(|it| it.text.clone()).collect();
            let modals = world.modals.iter().filter(|it| it.interaction == id);
            let refusals = world.asked.get(id).map_or(0, |it| it.refusals);
            (words, modals.count() + refusals)
        };
        let (words, others) = got();
        if self.tell(payload) != 200 {
            return String::new();
        }
        let is_new = || {
            let (now, more) = got();
            now.len() > words.len() || more > others
        };
        if !self.wait(is_new) {
            return "nothing came of it".to_owned();
        }
        let (now, _) = got();
        now.into_iter().skip(words.len()).collect()
    }

    /// Returns the signature of a body at a time.
    pub fn sign(&self, at: &str, body: &str) -> String {
        let message = format!("{at}{body}");
        hex(self.inside.key.sign(message.as_bytes()).as_ref())
    }

    /// Sends a request as anybody could, with these headers.
    pub fn request(
        &self,
        url: &str,
        body: &str,
        at: Option<&str>,
        signature: Option<&str>,
    ) -> (u16, Value) {
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::blocking::Client::builder()
            .timeout(Duration::from_secs(3))
            .no_proxy()
            .build();
        let sent = client.and_then(|client| {
            let mut request = client.post(url).header("content-type", "application/json");
            if let Some(at) = at {
                request = request.header("x-signature-timestamp", at);
            }
            if let Some(signature) = signature {
                request = request.header("x-signature-ed25519", signature);
            }
            request.body(body.to_owned()).send()
        });
        match sent {
            Ok(answer) => {
                let status = answer.status().as_u16();
                let text = answer.text().unwrap_or_default();
                (status, serde_json::from_str(&text).unwrap_or_default())
            }
            Err(_) => (0, Value::Null),
        }
    }
}

fn unix_seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |it| it.as_secs())
}
