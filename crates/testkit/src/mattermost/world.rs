//! State of the test server: accounts, teams, channels, posts. It survives a restart.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Map, Value, json};

use super::error::AppError;

/// Returns a new id: 26 letters and digits.
pub(super) fn new_id() -> String {
    const ALPHABET: [char; 32] = [
        'y', 'b', 'n', 'd', 'r', 'f', 'g', '8', 'e', 'j', 'k', 'm', 'c', 'p', 'q', 'x', 'o', 't',
        '1', 'u', 'w', 'i', 's', 'z', 'a', '3', '4', '5', 'h', '7', '6', '9',
    ];
    let mut bytes = [0_u8; 26];
    // Without randomness ids would collide, and every test would see it.
    let _filled = SystemRandom::new().fill(&mut bytes).is_ok();
    bytes
        .iter()
        .filter_map(|byte| ALPHABET.get(usize::from(byte % 32)))
        .collect()
}

/// Returns now, in Unix milliseconds.
pub(super) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |passed| {
            i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
        })
}

/// Everything the server keeps.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) users: BTreeMap<String, User>,
    pub(super) sessions: HashMap<String, String>,
    pub(super) teams: BTreeMap<String, Team>,
    pub(super) channels: BTreeMap<String, Channel>,
    /// In the order they were written.
    pub(super) posts: Vec<Post>,
    /// Where a post stands in `posts`.
    pub(super) places: HashMap<String, usize>,
    pub(super) reactions: Vec<Reaction>,
    pub(super) files: BTreeMap<String, File>,
    pub(super) commands: BTreeMap<String, Command>,
    /// Sent posts by pending id; in memory only.
    pub(super) pending: HashMap<(String, String), (String, Instant)>,
    /// Where answers to a command may still be sent, and how often.
    pub(super) hooks: HashMap<String, Hook>,
    last_at: i64,
}

#[derive(Clone, Debug)]
pub(super) struct User {
    pub(super) id: String,
    pub(super) username: String,
    pub(super) email: String,
    pub(super) password: String,
    pub(super) roles: String,
    /// Who owns it, if it is a bot.
    pub(super) bot_of: Option<String>,
    pub(super) create_at: i64,
    pub(super) delete_at: i64,
    /// Texts only, as the server keeps them; it does not look into them.
    pub(super) timezone: Value,
}

#[derive(Clone, Debug)]
pub(super) struct Team {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) display_name: String,
    /// Who is in it, and whether they administer it.
    pub(super) members: BTreeMap<String, Standing>,
}

/// What a member of a team is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Member,
    Admin,
}

#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) id: String,
    /// Empty for conversations of people.
    pub(super) team_id: String,
    pub(super) name: String,
    pub(super) display_name: String,
    pub(super) kind: ChannelKind,
    pub(super) members: BTreeSet<String>,
    pub(super) last_post_at: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelKind {
    Open,
    Private,
    Direct,
}

#[derive(Clone, Debug)]
pub(super) struct Post {
    pub(super) id: String,
    pub(super) create_at: i64,
    pub(super) update_at: i64,
    pub(super) edit_at: i64,
    pub(super) delete_at: i64,
    pub(super) user_id: String,
    pub(super) channel_id: String,
    pub(super) root_id: String,
    pub(super) message: String,
    /// With the integrations, which nobody is ever sent.
    pub(super) props: Map<String, Value>,
    pub(super) pending_post_id: String,
    pub(super) file_ids: Vec<String>,
    /// What the server writes itself has one.
    pub(super) kind: &'static str,
    pub(super) is_pinned: bool,
}

/// A file that somebody sent, and the post it belongs to.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) user_id: String,
    pub(super) channel_id: String,
    pub(super) name: String,
    pub(super) content: Vec<u8>,
    /// Empty until it is attached.
    pub(super) post_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reaction {
    pub(super) user_id: String,
    pub(super) post_id: String,
    pub(super) emoji_name: String,
    pub(super) create_at: i64,
}

#[derive(Clone, Debug)]
pub(super) struct Command {
    pub(super) id: String,
    pub(super) token: String,
    pub(super) create_at: i64,
    pub(super) update_at: i64,
    pub(super) creator_id: String,
    pub(super) team_id: String,
    pub(super) trigger: String,
    /// The rest, as it was given.
    pub(super) fields: Map<String, Value>,
}

/// Where an answer to a command may be sent.
#[derive(Clone, Debug)]
pub(super) struct Hook {
    pub(super) user_id: String,
    pub(super) channel_id: String,
    pub(super) uses_left: u32,
}

impl ChannelKind {
    pub(super) const fn letter(self) -> &'static str {
        match self {
            Self::Open => "O",
            Self::Private => "P",
            Self::Direct => "D",
        }
    }
}

impl World {
    /// Returns a moment no other thing has, so that "since" is exact.
    pub(super) fn moment(&mut self) -> i64 {
        self.last_at = now().max(self.last_at + 1);
        self.last_at
    }

    pub(super) fn user(&self, id: &str) -> Result<&User, AppError> {
        self.users
            .get(id)
            .ok_or_else(|| AppError::missing("app.user.missing_account.const"))
    }

    pub(super) fn named(&self, username: &str) -> Option<&User> {
        self.users.values().find(|user| user.username == username)
    }

    pub(super) fn is_admin(&self, user: &str) -> bool {
        self.users
            .get(user)
            .is_some_and(|user| user.roles.split(' ').any(|role| role == "system_admin"))
    }

    pub(super) fn is_bot(&self, user: &str) -> bool {
        self.users
            .get(user)
            .is_some_and(|user| user.bot_of.is_some())
    }

    pub(super) fn team(&self, id: &str) -> Result<&Team, AppError> {
        self.teams
            .get(id)
            .ok_or_else(|| AppError::missing("app.team.get.find.app_error"))
    }

    pub(super) fn channel(&self, id: &str) -> Result<&Channel, AppError> {
        self.channels
            .get(id)
            .ok_or_else(|| AppError::missing("app.channel.get.existing.app_error"))
    }

    pub(super) fn post(&self, id: &str) -> Result<&Post, AppError> {
        self.places
            .get(id)
            .and_then(|place| self.posts.get(*place))
            .filter(|post| post.delete_at == 0)
            .ok_or_else(|| AppError::missing("app.post.get.app_error"))
    }

    pub(super) fn post_mut(&mut self, id: &str) -> Result<&mut Post, AppError> {
        self.places
            .get(id)
            .and_then(|place| self.posts.get_mut(*place))
            .filter(|post| post.delete_at == 0)
            .ok_or_else(|| AppError::missing("app.post.get.app_error"))
    }

    pub(super) fn add_post(&mut self, post: Post) {
        self.places.insert(post.id.clone(), self.posts.len());
        if let Some(channel) = self.channels.get_mut(&post.channel_id) {
            channel.last_post_at = post.create_at;
        }
        self.posts.push(post);
    }

    pub(super) fn in_team(&self, user: &str, team: &str) -> bool {
        let team = self.teams.get(team);
        self.is_admin(user) || team.is_some_and(|team| team.members.contains_key(user))
    }

    /// Members read, and who administers the team; in an open channel so does the team.
    pub(super) fn may_read(&self, user: &str, channel: &str) -> Result<(), AppError> {
        let channel = self.channel(channel)?;
        let open = channel.kind == ChannelKind::Open && self.in_team(user, &channel.team_id);
        let rules = self.administers(user, &channel.team_id);
        if rules || channel.members.contains(user) || open {
            return Ok(());
        }
        Err(AppError::forbidden())
    }

    /// Members write, and who administers the team.
    pub(super) fn may_write(&self, user: &str, channel: &str) -> Result<(), AppError> {
        let channel = self.channel(channel)?;
        let rules = self.administers(user, &channel.team_id);
        if rules || channel.members.contains(user) {
            return Ok(());
        }
        Err(AppError::forbidden())
    }

    /// Own commands are for those who administer the team.
    pub(super) fn may_command(&self, user: &str, team: &str) -> Result<(), AppError> {
        if self.administers(user, team) {
            return Ok(());
        }
        Err(AppError::forbidden())
    }

    /// Whether an account administers the server or a team of it.
    fn administers(&self, user: &str, team: &str) -> bool {
        let team = self.teams.get(team);
        let standing = team.and_then(|team| team.members.get(user).copied());
        self.is_admin(user) || standing == Some(Standing::Admin)
    }

    /// Returns who hears what happens in a channel.
    pub(super) fn audience(&self, channel: &str) -> Vec<String> {
        self.channels
            .get(channel)
            .map(|channel| channel.members.iter().cloned().collect())
            .unwrap_or_default()
    }
}

/// Returns what an account has where nobody has told the server its time zone.
pub(super) fn no_timezone() -> Value {
    json!({ "useAutomaticTimezone": "true", "automaticTimezone": "", "manualTimezone": "" })
}

impl User {
    /// Returns the account as others see it: no password, and `is_bot` only where it is true.
    pub(super) fn public(&self) -> Value {
        let mut shown = json!({
            "id": self.id, "username": self.username, "email": self.email, "roles": self.roles,
            "create_at": self.create_at, "update_at": self.create_at, "delete_at": self.delete_at,
            "first_name": "", "last_name": "", "nickname": "", "locale": "en",
            "timezone": self.timezone,
        });
        if let (true, Some(shown)) = (self.bot_of.is_some(), shown.as_object_mut()) {
            shown.insert("is_bot".to_owned(), json!(true));
        }
        shown
    }
}

impl Team {
    pub(super) fn public(&self) -> Value {
        json!({
            "id": self.id, "name": self.name, "display_name": self.display_name, "type": "O",
            "delete_at": 0,
        })
    }

    pub(super) fn member(&self, user: &str) -> Option<Value> {
        let admin = *self.members.get(user)? == Standing::Admin;
        let roles = if admin {
            "team_user team_admin"
        } else {
            "team_user"
        };
        Some(json!({
            "team_id": self.id, "user_id": user, "roles": roles, "delete_at": 0,
            "scheme_user": true, "scheme_admin": admin, "scheme_guest": false,
        }))
    }
}

impl Channel {
    pub(super) fn public(&self) -> Value {
        json!({
            "id": self.id, "team_id": self.team_id, "name": self.name, "type": self.kind.letter(),
            "display_name": self.display_name, "delete_at": 0, "header": "", "purpose": "",
            "last_post_at": self.last_post_at,
        })
    }

    pub(super) fn member(&self, user: &str) -> Option<Value> {
        self.members.contains(user).then(|| {
            json!({
                "channel_id": self.id, "user_id": user, "roles": "channel_user",
                "scheme_user": true, "scheme_admin": false,
            })
        })
    }
}

impl Reaction {
    pub(super) fn public(&self) -> Value {
        json!({
            "user_id": self.user_id, "post_id": self.post_id, "emoji_name": self.emoji_name,
            "create_at": self.create_at,
        })
    }
}

impl Command {
    pub(super) fn public(&self) -> Value {
        let mut shown = self.fields.clone();
        for (key, value) in [
            ("id", json!(self.id)),
            ("token", json!(self.token)),
            ("create_at", json!(self.create_at)),
            ("update_at", json!(self.update_at)),
            ("delete_at", json!(0)),
            ("creator_id", json!(self.creator_id)),
            ("team_id", json!(self.team_id)),
            ("trigger", json!(self.trigger)),
        ] {
            shown.insert(key.to_owned(), value);
        }
        Value::Object(shown)
    }
}
