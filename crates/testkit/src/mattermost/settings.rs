//! Settings of the test server: its version and its administrator's choices.

use std::time::Duration;

/// Longest message of a post, in characters.
pub(super) const MESSAGE_CHARS_MAX: usize = 16_383;
/// Most characters of all properties of a post, written as JSON, for those who come through the API.
pub(super) const PROPS_CHARS_MAX: usize = 760_000;
/// Longest answer of an integration, in bytes.
pub(super) const REPLY_BYTES_MAX: usize = 1024 * 1024;
/// Longest trigger of a command, in bytes.
pub(super) const TRIGGER_BYTES_MAX: usize = 128;
/// Commands the server answers itself; nobody can take their names.
pub(super) const BUILT_IN: [&str; 31] = [
    "away",
    "online",
    "offline",
    "dnd",
    "status",
    "header",
    "purpose",
    "rename",
    "code",
    "echo",
    "expand",
    "collapse",
    "exportlink",
    "groupmsg",
    "help",
    "invite",
    "invite_people",
    "join",
    "leave",
    "logout",
    "marketplace",
    "me",
    "msg",
    "mute",
    "open",
    "remove",
    "kick",
    "search",
    "settings",
    "shortcuts",
    "shrug",
];

/// The versions whose differences matter here, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// The oldest that is served.
    V9_11,
    /// Ten.
    V10_5,
    /// The last with ids of letters and digits alone.
    V11_9,
    /// The newest.
    V11_10,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Self; 4] = [Self::V9_11, Self::V10_5, Self::V11_9, Self::V11_10];

    /// Returns how the server writes it.
    pub const fn number(self) -> &'static str {
        match self {
            Self::V9_11 => "9.11.0",
            Self::V10_5 => "10.5.0",
            Self::V11_9 => "11.9.0",
            Self::V11_10 => "11.10.0",
        }
    }

    /// Returns whether the address of a click may carry `id`.
    pub(super) fn routes_action(self, id: &str) -> bool {
        let more = if self >= Self::V11_10 { "_-" } else { "" };
        !id.is_empty()
            && id
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || more.contains(char))
    }

    /// Returns whether a command may be called `trigger`, already in lower case.
    pub(super) fn takes_trigger(self, trigger: &str) -> bool {
        let fits = !trigger.is_empty()
            && trigger.len() <= TRIGGER_BYTES_MAX
            && !trigger.starts_with('/')
            && !trigger.contains(char::is_whitespace);
        let strict = self >= Self::V11_10;
        fits && (!strict
            || trigger
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || "_./-".contains(char)))
    }
}

/// How many requests the server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// A second, for as long as they come.
    pub per_second: u32,
    /// At once.
    pub burst: u32,
}

/// How an administrator has set the server up. The default is what a team needs that works with
/// integrations on the same machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which server it is.
    pub version: Version,
    /// Which private addresses it may call, separated by spaces or commas.
    pub allowed_untrusted_internal_connections: String,
    /// How long an integration may take; also how long a trigger id is worth something.
    pub outgoing_timeout: Duration,
    /// Whether bots can be made.
    pub bot_account_creation: BotAccounts,
    /// Whether it knows its own address.
    pub site_url: SiteUrl,
    /// For how long a repeated `pending_post_id` is the same post.
    pub pending_post_window: Duration,
    /// For how long posts can be edited; `None`: always.
    pub post_edit_limit: Option<Duration>,
    /// Whether files can be attached to posts.
    pub file_attachments: FileAttachments,
    /// Off as it is in the real one; each account is counted by itself.
    pub rate_limit: Option<RateLimit>,
}

/// Whether files can be attached to posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAttachments {
    /// As on a new server.
    Taken,
    /// The administrator wants none.
    Off,
}

/// Whether bots can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BotAccounts {
    /// By administrators.
    Made,
    /// By nobody, which is how a new server is.
    Off,
}

/// Whether the server knows its own address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteUrl {
    /// It is where it listens.
    Set,
    /// Nobody said.
    Unset,
}

impl Settings {
    /// Returns the default of `version`.
    pub fn of(version: Version) -> Self {
        Self {
            version,
            ..Self::default()
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: Version::V11_9,
            allowed_untrusted_internal_connections: "127.0.0.1 localhost".to_owned(),
            outgoing_timeout: Duration::from_secs(30),
            bot_account_creation: BotAccounts::Made,
            site_url: SiteUrl::Set,
            pending_post_window: Duration::from_secs(30),
            post_edit_limit: None,
            file_attachments: FileAttachments::Taken,
            rate_limit: None,
        }
    }
}
