//! Accounts, servers, channels and their messages.

use std::collections::BTreeMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::interactions::{Asked, Modal, Told};
use super::message::{Message, mentioned};

/// The application and its bot.
pub(super) const APPLICATION: &str = "1300000000000000001";
pub(super) const BOT: &str = "1300000000000000002";
/// The role that the bot has in every server.
pub(super) const BOT_ROLE: &str = "1300000000000000003";
/// When ids begin, in Unix milliseconds.
const EPOCH_MILLIS: u64 = 1_420_070_400_000;
/// Every permission that the bot needs.
pub(super) const PERMISSIONS: u64 = (1 << 10) | (1 << 11) | (1 << 14) | (1 << 15) | (1 << 16);

/// An account.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) is_bot: bool,
}

impl Account {
    pub(super) fn public(&self) -> Value {
        json!({
            "id": self.id, "username": self.name, "discriminator": "0", "global_name": self.name,
            "avatar": null, "bot": self.is_bot, "public_flags": 0, "flags": 0,
        })
    }
}

/// A server of people.
#[derive(Clone, Debug)]
pub(super) struct Guild {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) members: Vec<String>,
    /// What the bot's role may do.
    pub(super) permissions: u64,
}

/// A channel, or a conversation of two.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) id: String,
    pub(super) kind: u8,
    pub(super) guild: Option<String>,
    pub(super) name: String,
    /// Of a conversation: its other side.
    pub(super) other: Option<String>,
    /// What the bot may not do here.
    pub(super) denied: u64,
    pub(super) messages: Vec<Message>,
}

#[derive(Debug, Default)]
pub(super) struct World {
    last: u64,
    pub(super) accounts: BTreeMap<String, Account>,
    pub(super) guilds: BTreeMap<String, Guild>,
    pub(super) places: BTreeMap<String, Place>,
    pub(super) asked: BTreeMap<String, Asked>,
    pub(super) told: Vec<Told>,
    pub(super) modals: Vec<Modal>,
    pub(super) commands: Vec<Value>,
    /// When which nonce made which message.
    pub(super) nonces: Vec<(Instant, String, String)>,
    pub(super) endpoint: Option<String>,
}

impl World {
    pub(super) fn new() -> Self {
        let mut world = Self::default();
        let bot = Account {
            id: BOT.to_owned(),
            name: "countersign".to_owned(),
            is_bot: true,
        };
        world.accounts.insert(bot.id.clone(), bot);
        world
    }

    /// Returns an id that is larger than all before.
    pub(super) fn id(&mut self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = now.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(0));
        let fresh = millis.saturating_sub(EPOCH_MILLIS) << 22;
        self.last = fresh.max(self.last + 1);
        self.last.to_string()
    }

    pub(super) fn account(&self, id: &str) -> Value {
        self.accounts.get(id).map_or(Value::Null, Account::public)
    }

    /// Returns the conversation of the bot with somebody.
    pub(super) fn direct(&mut self, user: &str) -> String {
        let known = self
            .places
            .values()
            .find(|it| it.other.as_deref() == Some(user));
        if let Some(place) = known {
            return place.id.clone();
        }
        let id = self.id();
        let place = Place {
            id: id.clone(),
            kind: 1,
            other: Some(user.to_owned()),
            ..Place::default()
        };
        self.places.insert(id.clone(), place);
        id
    }

    pub(super) fn place(&self, id: &str) -> Option<Value> {
        let place = self.places.get(id)?;
        let mut shown =
            json!({ "id": place.id, "type": place.kind, "flags": 0, "last_message_id": null });
        let map = shown.as_object_mut()?;
        if let Some(other) = &place.other {
            map.insert("recipients".to_owned(), json!([self.account(other)]));
        }
        if let Some(guild) = &place.guild {
            map.insert("guild_id".to_owned(), json!(guild));
            map.insert("name".to_owned(), json!(place.name));
            map.insert("position".to_owned(), json!(0));
            let denied =
                json!([{ "id": BOT, "type": 1, "allow": "0", "deny": place.denied.to_string() }]);
            map.insert("permission_overwrites".to_owned(), denied);
        }
        Some(shown)
    }

    pub(super) fn guild(&self, id: &str) -> Option<Value> {
        let guild = self.guilds.get(id)?;
        Some(json!({
            "id": guild.id, "name": guild.name, "icon": null, "owner_id": "1",
            "features": [], "emojis": [], "stickers": [],
            "roles": [
                { "id": guild.id, "name": "@everyone", "permissions": "0" },
                { "id": BOT_ROLE, "name": "countersign", "permissions": guild.permissions.to_string() },
            ],
        }))
    }

    pub(super) fn member(&self, guild: &str, user: &str) -> Option<Value> {
        let guild = self.guilds.get(guild)?;
        let is_bot = user == BOT;
        if !is_bot && !guild.members.iter().any(|it| it == user) {
            return None;
        }
        let roles: &[&str] = if is_bot { &[BOT_ROLE] } else { &[] };
        Some(json!({
            "user": self.account(user), "roles": roles, "joined_at": "2026-01-01T00:00:00.000000+00:00",
            "deaf": false, "mute": false, "flags": 0, "permissions": "0", "nick": null, "avatar": null,
            "premium_since": null, "pending": false, "communication_disabled_until": null,
        }))
    }

    /// Whether the bot may do something in a place; `None` if it is not there at all.
    pub(super) fn bot_may(&self, place: &str, bit: u32) -> Option<bool> {
        let place = self.places.get(place)?;
        let Some(guild) = &place.guild else {
            return Some(true);
        };
        let guild = self.guilds.get(guild)?;
        Some(guild.permissions & !place.denied & (1 << bit) != 0)
    }

    pub(super) fn message(&mut self, place: &str, id: &str) -> Option<&mut Message> {
        let messages = &mut self.places.get_mut(place)?.messages;
        messages.iter_mut().find(|it| it.id == id)
    }

    /// Returns a message as Discord shows it.
    pub(super) fn shown(&self, message: &Message) -> Value {
        let ids = mentioned(&message.content);
        let mentions: Vec<Value> = ids
            .iter()
            .filter(|id| self.accounts.contains_key(*id))
            .map(|id| self.account(id))
            .collect();
        message.public(&self.account(&message.author), &mentions)
    }

    /// Puts a message into a place and returns it as Discord shows it.
    pub(super) fn post(&mut self, place: &str, message: Message) -> Option<Value> {
        let id = self.id();
        let message = Message {
            id,
            place: place.to_owned(),
            ..message
        };
        let shown = self.shown(&message);
        self.places.get_mut(place)?.messages.push(message);
        Some(shown)
    }
}
