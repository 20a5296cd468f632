//! Gateway settings from the owner's file: timeouts, tokens, API, store.

use std::path::{Path, PathBuf};

use countersign_channels::push::{PushSettings, Reach};
use countersign_core::assessment::SideEffect;
use countersign_gate::base::settings::{
    AssessorReach, AssessorSettings, PushShows, Settings, Timeouts,
};
use countersign_gate::people::PersonView;
use serde_json::Value;

use super::read::at;
use super::schema::{seconds, word};

/// How long an assessor may take if nothing is said.
const ASSESSOR_MILLIS: u64 = 200;
/// Requests per second and key if nothing is said.
const RATE_PER_SECOND: u32 = 1000;
/// Channels a person may have an account in.
const CHANNELS: &[&str] = &[
    "mattermost",
    "slack",
    "discord",
    "telegram",
    "matrix",
    "email",
];

/// Settings of the HTTP server.
#[derive(Clone, Debug)]
pub(crate) struct Api {
    /// The dialect of run events.
    pub(crate) dialect: Dialect,
    /// Origins of other pages that may read answers.
    pub(crate) origins: Vec<String>,
    /// Names under which this gateway may be addressed, besides its own address.
    pub(crate) hosts: Vec<String>,
    /// Requests per second and key.
    pub(crate) rate_per_second: u32,
    /// Where the agents' socket is.
    pub(crate) socket: PathBuf,
    /// Permission bits of that socket.
    pub(crate) socket_mode: u32,
}

/// The dialect of run events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Our own.
    Native,
    /// Those that clients of Hermes know.
    Hermes,
}

/// The database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreChoice {
    /// In the home directory.
    Sqlite,
    /// On a PostgreSQL server.
    Postgres(String),
}

/// Returns what `values` say about the gate. They have been checked against the schema.
pub(crate) fn gate(values: &Value) -> Settings {
    let usual = Settings::default();
    let assessors = at(values, "assessors").as_array().into_iter().flatten();
    Settings {
        timeouts: timeouts(at(values, "approvals.timeout")),
        extend_max_millis: millis(at(values, "approvals.extend_max"))
            .unwrap_or(usual.extend_max_millis),
        deny_memory_millis: millis(at(values, "approvals.deny_memory"))
            .unwrap_or(usual.deny_memory_millis),
        undo_millis: millis(at(values, "approvals.undo_seconds")).unwrap_or(usual.undo_millis),
        token_seconds: millis(at(values, "outbound.token_ttl"))
            .map_or(usual.token_seconds, |millis| millis / 1000),
        starter_may_answer: at(values, "approvals.starter_may_answer")
            .as_bool()
            .unwrap_or(usual.starter_may_answer),
        confirm_critical: at(values, "approvals.confirm_critical")
            .as_bool()
            .unwrap_or(usual.confirm_critical),
        assessors: assessors.filter_map(assessor).collect(),
        fallback: texts(at(values, "approvals.fallback")),
        push: push(values),
        push_shows: match word(at(values, "push.show")) {
            Some("what") => PushShows::What,
            Some(_) | None => PushShows::That,
        },
        ..usual
    }
}

/// Returns how devices are told. Some push services take no messages without a contact, so the first
/// name of the gateway stands in for it.
fn push(values: &Value) -> PushSettings {
    let contact = at(values, "push.contact").as_str();
    let contact = contact.filter(|it| !it.is_empty()).map(str::to_owned);
    let hosts = texts(at(values, "api.hosts"));
    PushSettings {
        contact: contact.or_else(|| hosts.first().map(|host| format!("https://{host}"))),
        reach: match at(values, "push.loopback").as_bool() {
            Some(true) => Reach::Loopback,
            Some(false) | None => Reach::Internet,
        },
    }
}

/// Whether the owner's programs have a say in verdicts.
pub(crate) fn has_assessors(values: &Value) -> bool {
    at(values, "assessors")
        .as_array()
        .is_some_and(|assessors| !assessors.is_empty())
}

/// Returns what `values` say about the HTTP side of the gateway in `home`.
pub(crate) fn api(values: &Value, home: &Path) -> Api {
    Api {
        dialect: match word(at(values, "api.dialect")) {
            Some("hermes") => Dialect::Hermes,
            Some(_) | None => Dialect::Native,
        },
        origins: texts(at(values, "api.origins")),
        hosts: texts(at(values, "api.hosts")),
        rate_per_second: at(values, "api.rate_per_second")
            .as_u64()
            .and_then(|rate| u32::try_from(rate).ok())
            .unwrap_or(RATE_PER_SECOND),
        socket: at(values, "api.socket")
            .as_str()
            .filter(|path| !path.is_empty())
            .map_or_else(|| home.join("agent.sock"), PathBuf::from),
        socket_mode: match word(at(values, "api.socket_access")) {
            Some("group") => 0o660,
            Some("everyone") => 0o666,
            Some(_) | None => 0o600,
        },
    }
}

/// Returns where `values` say that state is kept.
pub(crate) fn store(values: &Value) -> Result<StoreChoice, String> {
    match at(values, "store.url").as_str() {
        None | Some("" | "sqlite") => Ok(StoreChoice::Sqlite),
        Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            Ok(StoreChoice::Postgres(url.to_owned()))
        }
        Some(_) => Err("`store.url` must be `sqlite` or begin with `postgres://`".to_owned()),
    }
}

/// Returns the people whom `values` name.
pub(crate) fn people(values: &Value) -> Vec<PersonView> {
    let people = at(values, "people").as_array().into_iter().flatten();
    people
        .filter_map(|person| {
            let account = |channel: &str, id: &Value| {
                let id = match id {
                    Value::String(id) => id.clone(),
                    Value::Number(id) => id.to_string(),
                    Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                        return None;
                    }
                };
                Some((channel.to_owned(), id))
            };
            let chats = CHANNELS
                .iter()
                .filter_map(|channel| account(channel, person.get(*channel)?));
            let others = at(person, "accounts").as_object().into_iter().flatten();
            let others = others.filter_map(|(channel, id)| account(channel, id));
            Some(PersonView {
                name: at(person, "name").as_str()?.to_owned(),
                roles: texts(at(person, "roles")),
                accounts: chats.chain(others).collect(),
            })
        })
        .collect()
}

/// Returns what stands under `approvals.timeout`: one time, or times by side effect and channel.
fn timeouts(value: &Value) -> Timeouts {
    let usual = value.get("default").unwrap_or(value);
    let channels = at(value, "channels").as_object().into_iter().flatten();
    Timeouts {
        usual: millis(usual).unwrap_or(Timeouts::default().usual),
        by_side_effect: SideEffect::ALL
            .into_iter()
            .filter_map(|it| Some((it, millis(value.get(it.word())?)?)))
            .collect(),
        by_channel: channels
            .filter_map(|(name, time)| Some((name.clone(), millis(time)?)))
            .collect(),
    }
}

fn assessor(value: &Value) -> Option<AssessorSettings> {
    let text = |name: &str| at(value, name).as_str().map(str::to_owned);
    let reach = text("command")
        .map(AssessorReach::Command)
        .or_else(|| text("url").map(AssessorReach::Url))?;
    Some(AssessorSettings {
        reach,
        timeout_millis: millis(at(value, "timeout"))
            .and_then(|millis| u64::try_from(millis).ok())
            .unwrap_or(ASSESSOR_MILLIS),
        may_lower: at(value, "may_lower").as_bool().unwrap_or(false),
    })
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns a time of the configuration in milliseconds.
fn millis(value: &Value) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the schema allows at most a year"
    )]
    seconds(value).map(|seconds| (seconds * 1000.0).round() as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_alone_holds_everywhere_and_a_mapping_says_where() {
        let minutes = |minutes: i64| minutes * 60_000;
        let rows = [
            ("nothing", json!({}), [5, 5, 5]),
            ("one time", json!("7m"), [7, 7, 7]),
            ("one class", json!({"critical": "10m"}), [5, 10, 5]),
            (
                "everything",
                json!({"default": "2m", "critical": "10m", "channels": {"chat": "15m"}}),
                [2, 10, 15],
            ),
        ];
        for (name, timeout, expected) in rows {
            let gate = gate(&json!({ "approvals": { "timeout": timeout } }));
            let timeouts = gate.timeouts;
            let waits = [
                timeouts.of(SideEffect::External, []),
                timeouts.of(SideEffect::Critical, []),
                timeouts.of(SideEffect::External, ["chat"]),
            ];
            assert_eq!(waits, expected.map(minutes), "{name}");
        }
    }
}
