//! The state of a workspace: accounts, conversations, messages, views, triggers.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

/// Our workspace.
pub(super) const TEAM: &str = "T0COUNTER";
/// The app, its bot and the bot's account.
pub(super) const APP: &str = "A0COUNTER";
pub(super) const BOT: &str = "B0COUNTER";
pub(super) const BOT_USER: &str = "U0COUNTER";
/// How often an address for a response may be used, and how long.
const RESPONSES_MAX: u32 = 5;
const RESPONSE_WITHIN: Duration = Duration::from_mins(30);

/// An account.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its workspace.
    pub team: String,
    /// Whether it is a program's.
    pub is_bot: bool,
    /// Whether it was closed.
    pub is_deleted: bool,
    /// Whether it is known only by a channel that is shared.
    pub is_stranger: bool,
    /// Its time zone.
    pub zone: Option<String>,
}

/// A conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) members: Vec<String>,
    pub(super) is_im: bool,
    pub(super) is_archived: bool,
    pub(super) is_shared: bool,
    pub(super) messages: Vec<Message>,
}

/// A message.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    pub(super) ts: String,
    pub(super) user: String,
    /// The app that wrote it in the name of a person.
    pub(super) app: Option<String>,
    pub(super) text: String,
    pub(super) blocks: Option<Value>,
    pub(super) metadata: Option<Value>,
    pub(super) thread_ts: Option<String>,
    pub(super) files: Vec<File>,
    pub(super) edits: u32,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) content: String,
}

/// Something only one person sees.
#[derive(Clone, Debug)]
pub struct Told {
    /// Who sees it.
    pub user: String,
    /// Where.
    pub place: String,
    /// What it says, blocks included.
    pub text: String,
    /// The press or command it responds to, if it came by its address.
    pub response: Option<String>,
}

/// What a dialog may be opened with.
#[derive(Clone, Debug)]
pub(super) struct Trigger {
    pub(super) user: String,
    pub(super) at: Instant,
    pub(super) is_used: bool,
}

/// An address for a response.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub(super) user: String,
    pub(super) place: String,
    pub(super) at: Instant,
    pub(super) uses: u32,
}

/// A view somebody sees.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    pub(super) id: String,
    pub(super) user: String,
    pub(super) trigger: String,
    pub(super) view: Value,
}

/// Everything the server keeps.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) accounts: BTreeMap<String, Account>,
    pub(super) places: BTreeMap<String, Place>,
    pub(super) told: Vec<Told>,
    pub(super) triggers: HashMap<String, Trigger>,
    pub(super) responses: HashMap<String, Response>,
    pub(super) opened: Vec<Opened>,
    /// Files that were sent, or announced, and belong nowhere yet.
    pub(super) files: HashMap<String, (File, usize)>,
    counter: u64,
    last: u128,
}

impl World {
    /// Returns a workspace with our bot.
    pub(super) fn new() -> Self {
        let mut world = Self::default();
        world.accounts.insert(
            BOT_USER.to_owned(),
            Account {
                id: BOT_USER.to_owned(),
                name: "countersign".to_owned(),
                team: TEAM.to_owned(),
                is_bot: true,
                is_deleted: false,
                is_stranger: false,
                zone: None,
            },
        );
        world
    }

    /// Returns a new number.
    pub(super) fn number(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// Returns a new id that begins with this letter.
    pub(super) fn id(&mut self, letter: char) -> String {
        let number = self.number();
        format!("{letter}0{number:07}")
    }

    /// Returns the time of the next message; no two are the same.
    pub(super) fn ts(&mut self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let micros = now.map_or(0, |it| it.as_micros()).max(self.last + 1);
        self.last = micros;
        format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
    }

    /// Returns what `user` does now is known by: a trigger and an address for the response.
    pub(super) fn interaction(&mut self, user: &str, place: &str) -> (String, String) {
        let number = self.number();
        let (trigger, response) = (format!("{number}.{TEAM}.trigger"), format!("R{number}"));
        let at = Instant::now();
        self.triggers.insert(
            trigger.clone(),
            Trigger {
                user: user.to_owned(),
                at,
                is_used: false,
            },
        );
        self.responses.insert(
            response.clone(),
            Response {
                user: user.to_owned(),
                place: place.to_owned(),
                at,
                uses: 0,
            },
        );
        (trigger, response)
    }

    /// Takes one use of an address; `None` if there is none left.
    pub(super) fn respond(&mut self, id: &str) -> Option<Response> {
        let response = self.responses.get_mut(id)?;
        response.uses += 1;
        let is_good = response.uses <= RESPONSES_MAX && response.at.elapsed() < RESPONSE_WITHIN;
        is_good.then(|| response.clone())
    }

    /// Returns the conversation of the bot with somebody.
    pub(super) fn direct(&mut self, user: &str) -> String {
        let both = [BOT_USER.to_owned(), user.to_owned()];
        let known = self
            .places
            .values()
            .find(|it| it.is_im && it.members == both);
        if let Some(place) = known {
            return place.id.clone();
        }
        let id = self.id('D');
        let place = Place {
            id: id.clone(),
            members: both.to_vec(),
            is_im: true,
            ..Place::default()
        };
        self.places.insert(id.clone(), place);
        id
    }

    /// Posts a message and returns it.
    pub(super) fn post(&mut self, place: &str, mut message: Message) -> Option<Message> {
        message.ts = self.ts();
        let place = self.places.get_mut(place)?;
        place.messages.push(message.clone());
        Some(message)
    }
}

impl Account {
    pub(super) fn public(&self) -> Value {
        json!({
            "id": self.id, "team_id": self.team, "name": self.name, "deleted": self.is_deleted,
            "real_name": self.name, "is_bot": self.is_bot, "is_app_user": false,
            "is_stranger": self.is_stranger, "is_restricted": false, "tz": self.zone,
            "profile": { "real_name": self.name, "team": self.team },
        })
    }
}

impl Place {
    pub(super) fn public(&self, of: &str) -> Value {
        let mut shown = json!({
            "id": self.id, "name": self.name, "is_channel": !self.is_im, "is_im": self.is_im,
            "is_member": self.members.iter().any(|it| it == of), "is_archived": self.is_archived,
            "is_ext_shared": self.is_shared, "is_shared": self.is_shared, "is_private": false,
        });
        if self.is_im {
            let other = self.members.iter().find(|it| *it != BOT_USER);
            if let Some(map) = shown.as_object_mut() {
                map.insert("user".to_owned(), json!(other));
            }
        }
        shown
    }

    pub(super) fn message(&self, ts: &str) -> Option<&Message> {
        self.messages.iter().find(|message| message.ts == ts)
    }
}

impl Message {
    /// Returns it as an app sees it.
    pub(super) fn public(&self) -> Value {
        let mut shown = Map::new();
        shown.insert("type".to_owned(), json!("message"));
        shown.insert("user".to_owned(), json!(self.user));
        shown.insert("text".to_owned(), json!(self.text));
        shown.insert("ts".to_owned(), json!(self.ts));
        if self.user == BOT_USER {
            shown.insert("bot_id".to_owned(), json!(BOT));
            shown.insert("app_id".to_owned(), json!(APP));
        } else if let Some(app) = &self.app {
            shown.insert("app_id".to_owned(), json!(app));
        } else {
            let number = self.ts.replace('.', "-");
            shown.insert("client_msg_id".to_owned(), json!(number));
        }
        if let Some(thread_ts) = &self.thread_ts {
            shown.insert("thread_ts".to_owned(), json!(thread_ts));
        }
        if let Some(blocks) = &self.blocks {
            shown.insert("blocks".to_owned(), blocks.clone());
        }
        if let Some(metadata) = &self.metadata {
            shown.insert("metadata".to_owned(), metadata.clone());
        }
        if !self.files.is_empty() {
            let files = self.files.iter();
            let files = files.map(|it| json!({ "id": it.id, "title": it.title }));
            shown.insert("files".to_owned(), files.collect());
        }
        Value::Object(shown)
    }

    /// Returns everything people read of it.
    pub(super) fn readable(&self) -> String {
        // With blocks the text is for notifications alone; somebody reads those, too.
        let mut text = match self.blocks.as_ref().map(texts) {
            Some(shown) if shown.contains(&self.text) => shown,
            Some(shown) => format!("{}\n{shown}", self.text),
            None => self.text.clone(),
        };
        for file in &self.files {
            text.push('\n');
            text.push_str(&file.content);
        }
        text
    }
}

/// Returns every text in blocks, a line for each part.
pub(super) fn texts(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let kind = map.get("type").and_then(Value::as_str).unwrap_or("");
            let mut all = String::new();
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("text", Value::String(text)) => all.push_str(text),
                    ("user_id", Value::String(user)) => {
                        all.push_str("<@");
                        all.push_str(user);
                        all.push('>');
                    }
                    (_, value) => all.push_str(&texts(value)),
                }
            }
            if kind.starts_with("rich_text_") || kind == "button" || kind == "section" {
                all.push('\n');
            }
            all
        }
        Value::Array(list) => list.iter().map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => String::new(),
    }
}
