//! The schema of the configuration: every key, its type and its meaning.

use std::path::Path;

use countersign_channels::registry::TYPES;
use serde_json::{Map, Value};

use crate::complaint::Complaint;

/// Longest time a token may live.
const TOKEN_SECONDS_MAX: u32 = 300;
/// Longest time anything else may be set to.
const SECONDS_MAX: u32 = 366 * 24 * 3600;

/// What a value must be.
#[derive(Debug)]
pub(crate) enum Spec {
    /// True or false.
    Flag,
    /// A share from 0 to 1.
    Share,
    /// A time, such as `120s`, `5m`, `2h` or `1d`, of at most so many seconds.
    Time(u32),
    /// A whole number up to this.
    Count(u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A text.
    Text,
    /// A text or a number.
    Scalar,
    /// A list.
    List(&'static Spec),
    /// A mapping with any keys.
    Map(&'static Spec),
    /// A mapping with these keys.
    Keys(&'static [Key]),
    /// The first, or the second.
    Either(&'static Spec, &'static Spec),
    /// Anything at all.
    Any,
}

/// One key of a mapping.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) spec: Spec,
    /// The default value, as written in the file; empty if none.
    pub(crate) default: &'static str,
}

const fn key(name: &'static str, spec: Spec, default: &'static str) -> Key {
    Key {
        name,
        spec,
        default,
    }
}

/// A rule of the policy, or a command shape alone.
static RULE: Spec = Spec::Either(
    &Spec::Text,
    &Spec::Keys(&[
        key("name", Spec::Text, ""),
        key("tool", Spec::Text, ""),
        key("command", Spec::Text, ""),
        key("path", Spec::Text, ""),
        key("recipient", Spec::Text, ""),
        key("exact", Spec::Flag, ""),
        key("cwd", Spec::Text, ""),
        key("match", Spec::List(&EXAMPLE), ""),
        key("not_match", Spec::List(&EXAMPLE), ""),
    ]),
);

static EXAMPLE: Spec = Spec::Either(
    &Spec::Text,
    &Spec::Keys(&[
        key("tool", Spec::Text, ""),
        key("args", Spec::Map(&Spec::Any), ""),
    ]),
);

static MODEL: Spec = Spec::Keys(&[
    key("base_url", Spec::Text, ""),
    key("model", Spec::Text, ""),
    key("api_key_env", Spec::Text, ""),
]);

static PERSON: Spec = Spec::Keys(&[
    key("name", Spec::Text, ""),
    key(
        "roles",
        Spec::List(&Spec::Word(&["viewer", "approver", "admin"])),
        "",
    ),
    key("mattermost", Spec::Scalar, ""),
    key("slack", Spec::Scalar, ""),
    key("discord", Spec::Scalar, ""),
    key("telegram", Spec::Scalar, ""),
    key("matrix", Spec::Scalar, ""),
    key("email", Spec::Text, ""),
    key("accounts", Spec::Map(&Spec::Scalar), ""),
]);

static CHANNEL: Spec = Spec::Keys(&[
    key("type", Spec::Word(&TYPES), ""),
    key("url", Spec::Text, ""),
    key("secret_env", Spec::Text, ""),
    key("token_env", Spec::Text, ""),
    key("app_token_env", Spec::Text, ""),
    key("signing_secret_env", Spec::Text, ""),
    key("team", Spec::Text, ""),
    key("guild", Spec::Text, ""),
    key("public_key", Spec::Text, ""),
    key("channel", Spec::Text, ""),
    key("topic", Spec::Text, ""),
    key("page_url", Spec::Text, ""),
    key("show", Spec::Word(&["that", "what"]), ""),
    key("callback_url", Spec::Text, ""),
    key("commands", Spec::Flag, ""),
    key("command_prefix", Spec::Text, ""),
    key("talk", Spec::Flag, ""),
    key("mention", Spec::Flag, ""),
    key("server", Spec::Text, ""),
    key("tls", SMTP_TLS, ""),
    key("username", Spec::Text, ""),
    key("password_env", Spec::Text, ""),
    key("from", Spec::Text, ""),
    key("follow_up", Spec::Flag, ""),
    key("digest_every", Spec::Time(3600), ""),
]);

/// How the connection to a mail server is protected.
const SMTP_TLS: Spec = Spec::Word(&["starttls", "implicit", "none"]);

/// An MCP server behind the gateway.
static MCP_SERVER: Spec = Spec::Keys(&[
    key("command", TEXTS, ""),
    key("env", TEXTS, ""),
    key("url", Spec::Text, ""),
    key("token_env", Spec::Text, ""),
    key("verifies_tokens", Spec::Flag, ""),
    key("pinned", Spec::Flag, ""),
]);

static ASSESSOR: Spec = Spec::Keys(&[
    key("command", Spec::Text, ""),
    key("url", Spec::Text, ""),
    key("timeout", Spec::Time(60), ""),
    key("may_lower", Spec::Flag, ""),
]);

/// A list of texts.
const TEXTS: Spec = Spec::List(&Spec::Text);

/// What a subcommand of a program does.
static SUB: Spec = Spec::Keys(&[
    key("names", TEXTS, ""),
    key("does", Spec::Text, ""),
    key("options", Spec::Text, ""),
    key("manual", Spec::Text, ""),
    key("style", Spec::Text, ""),
    key("flags", TEXTS, ""),
    key("operands", Spec::Text, ""),
    key("match", TEXTS, ""),
    key("not_match", TEXTS, ""),
]);

/// What a program of the owner does.
static PROGRAM: Spec = Spec::Keys(&[
    key("names", TEXTS, ""),
    key("does", Spec::Text, ""),
    key("options", Spec::Text, ""),
    key("manual", Spec::Text, ""),
    key("style", Spec::Text, ""),
    key("flags", TEXTS, ""),
    key("everywhere", TEXTS, ""),
    key("operands", Spec::Text, ""),
    key("verbs", Spec::Text, ""),
    key("verb_words", Spec::Count(8), ""),
    key("subs", Spec::List(&SUB), ""),
    key("match", TEXTS, ""),
    key("not_match", TEXTS, ""),
]);

const TIME: Spec = Spec::Time(SECONDS_MAX);

/// How long questions wait, by side effect and by channel.
static TIMEOUTS: Spec = Spec::Keys(&[
    key("default", Spec::Time(SECONDS_MAX), ""),
    key("read_only", Spec::Time(SECONDS_MAX), ""),
    key("local_reversible", Spec::Time(SECONDS_MAX), ""),
    key("external", Spec::Time(SECONDS_MAX), ""),
    key("critical", Spec::Time(SECONDS_MAX), ""),
    key("channels", Spec::Map(&TIME), ""),
]);

/// The whole configuration.
pub(crate) static CONFIG: &[Key] = &[
    key(
        "firewall",
        Spec::Keys(&[key("mode", Spec::Word(&["enforce", "observe"]), "enforce")]),
        "",
    ),
    key(
        "approvals",
        Spec::Keys(&[
            key("mode", Spec::Word(&["manual", "smart", "off"]), "manual"),
            key("timeout", Spec::Either(&TIME, &TIMEOUTS), "5m"),
            key("extend_max", Spec::Time(SECONDS_MAX), "1h"),
            key(
                "thresholds",
                Spec::Keys(&[
                    key("auto_below", Spec::Share, "0.25"),
                    key("ask_above", Spec::Share, "0.6"),
                    key("confidence_min", Spec::Share, "0.7"),
                ]),
                "",
            ),
            key("deny", Spec::List(&RULE), "[]"),
            key("ask", Spec::List(&RULE), "[]"),
            key("allow", Spec::List(&RULE), "[]"),
            key("deny_memory", Spec::Time(SECONDS_MAX), "10m"),
            key("undo_seconds", Spec::Count(3600), "0"),
            key("starter_may_answer", Spec::Flag, "true"),
            key("confirm_critical", Spec::Flag, "true"),
            key("fallback", Spec::List(&Spec::Text), "[]"),
        ]),
        "",
    ),
    key(
        "outbound",
        Spec::Keys(&[
            key("require_approval", Spec::Flag, "true"),
            key("token_ttl", Spec::Time(TOKEN_SECONDS_MAX), "120s"),
        ]),
        "",
    ),
    key(
        "tools",
        Spec::Map(&Spec::Keys(&[key("approval_required", Spec::Flag, "")])),
        "{}",
    ),
    key(
        "review",
        Spec::Keys(&[key("enabled", Spec::Flag, "false")]),
        "",
    ),
    key(
        "crisis",
        Spec::Keys(&[
            key(
                "notice",
                Spec::Text,
                countersign_core::policy::CRISIS_NOTICE,
            ),
            key(
                "notice_unreachable",
                Spec::Text,
                countersign_core::policy::CRISIS_NOTICE_UNREACHABLE,
            ),
            key("help_lines", Spec::List(&Spec::Text), "[]"),
            key("sensitivity", Spec::Word(&["default", "high"]), "default"),
        ]),
        "",
    ),
    key(
        "security",
        Spec::Keys(&[key("redact_secrets", Spec::Flag, "true")]),
        "",
    ),
    key("programs", Spec::List(&PROGRAM), "[]"),
    key("people", Spec::List(&PERSON), "[]"),
    key("contacts", Spec::Map(&Spec::Scalar), "{}"),
    key(
        "auxiliary",
        Spec::Keys(&[
            key("chain", Spec::List(&MODEL), "[]"),
            key("tasks", Spec::Map(&MODEL), "{}"),
        ]),
        "",
    ),
    key("assessors", Spec::List(&ASSESSOR), "[]"),
    key(
        "agent",
        Spec::Keys(&[
            key("base_url", Spec::Text, ""),
            key("model", Spec::Text, ""),
            key("models", Spec::List(&Spec::Text), "[]"),
            key("api_key_env", Spec::Text, ""),
            key("cwd", Spec::Text, ""),
            key("max_steps", Spec::Count(10_000), "60"),
            key("max_tokens", Spec::Count(1_000_000_000), "2000000"),
            key("max_time", TIME, "4h"),
            key("context_bytes", Spec::Count(100_000_000), "200000"),
            key("answer_tokens", Spec::Count(1_000_000), "16384"),
        ]),
        "",
    ),
    key(
        "smtp",
        Spec::Keys(&[
            key("host", Spec::Text, ""),
            key("port", Spec::Count(65_535), "587"),
            key("username", Spec::Text, ""),
            key("password_env", Spec::Text, ""),
            key("from", Spec::Text, ""),
            key("tls", SMTP_TLS, "starttls"),
        ]),
        "",
    ),
    key("store", Spec::Keys(&[key("url", Spec::Text, "sqlite")]), ""),
    key("channels", Spec::Map(&CHANNEL), "{}"),
    key(
        "mcp",
        Spec::Keys(&[key("servers", Spec::Map(&MCP_SERVER), "{}")]),
        "",
    ),
    key(
        "push",
        Spec::Keys(&[
            key("show", Spec::Word(&["that", "what"]), "that"),
            key("contact", Spec::Text, ""),
            key("loopback", Spec::Flag, "false"),
        ]),
        "",
    ),
    key(
        "workspaces",
        Spec::Keys(&[
            key("trust", Spec::Word(&["all", "listed"]), "all"),
            key("listed", Spec::List(&Spec::Text), "[]"),
        ]),
        "",
    ),
    key(
        "api",
        Spec::Keys(&[
            key("dialect", Spec::Word(&["native", "hermes"]), "native"),
            key("origins", Spec::List(&Spec::Text), "[]"),
            key("hosts", Spec::List(&Spec::Text), "[]"),
            key("rate_per_second", Spec::Count(1_000_000), "1000"),
            key("socket", Spec::Text, ""),
            key(
                "socket_access",
                Spec::Word(&["owner", "group", "everyone"]),
                "owner",
            ),
        ]),
        "",
    ),
    key(
        "telemetry",
        Spec::Keys(&[key(
            "otlp",
            Spec::Keys(&[key("endpoint", Spec::Text, "")]),
            "",
        )]),
        "",
    ),
];

/// An error in a configuration, with its position.
#[derive(Debug)]
pub(crate) struct Problem {
    key: String,
    what: String,
    hint: String,
}

impl Problem {
    /// Returns a problem with `key`; an empty key means the whole file.
    pub(crate) fn new(key: &str, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// Returns the complaint about `file`.
    pub(crate) fn in_file(self, file: &Path) -> Complaint {
        let place = if self.key.is_empty() {
            String::new()
        } else {
            format!("`{}`: ", self.key)
        };
        let line = self
            .line_in(file)
            .map_or_else(String::new, |line| format!(":{line}"));
        let message = format!("{}{line}: {place}{}", file.display(), self.what);
        let usual = "fix the file, or use --no-config to judge without it";
        let hint = if self.hint.is_empty() {
            usual.to_owned()
        } else {
            self.hint
        };
        Complaint::usage(message, hint)
    }

    /// Returns the line it stands in. Rows of programs are long, so their errors name it.
    fn line_in(&self, file: &Path) -> Option<u64> {
        let text = self
            .key
            .starts_with("programs[")
            .then(|| std::fs::read_to_string(file))?;
        super::lines::line_of(&text.ok()?, &self.key)
    }

    /// Returns the complaint about what was typed.
    pub(crate) fn typed(self) -> Complaint {
        let hint = if self.hint.is_empty() {
            "see `countersign config list`".to_owned()
        } else {
            self.hint
        };
        Complaint::usage(format!("`{}`: {}", self.key, self.what), hint)
    }
}

/// Checks a whole configuration.
pub(crate) fn check(values: &Value) -> Result<(), Problem> {
    let Some(map) = values.as_object() else {
        let what = format!("it must be a mapping, not {}", kind(values));
        return Err(Problem::new("", what, ""));
    };
    check_keys(map, CONFIG, "")
}

/// Checks `value` against `spec`; `path` is the key it stands under.
pub(crate) fn check_value(value: &Value, spec: &Spec, path: &str) -> Result<(), Problem> {
    let wrong = |wanted: &str| {
        Err(Problem::new(
            path,
            format!("must be {wanted}, not {}", kind(value)),
            "",
        ))
    };
    match spec {
        Spec::Any => Ok(()),
        Spec::Flag if value.is_boolean() => Ok(()),
        Spec::Flag => wrong("true or false"),
        Spec::Share => match value.as_f64() {
            Some(share) if (0.0..=1.0).contains(&share) => Ok(()),
            Some(_) | None => wrong("a number from 0 to 1"),
        },
        Spec::Time(most) => match seconds(value) {
            Some(seconds) if seconds <= f64::from(*most) => Ok(()),
            Some(_) => Err(Problem::new(path, format!("must be at most {most}s"), "")),
            None => wrong("a time such as 120s, 5m or 2h"),
        },
        Spec::Count(most) => match value.as_u64() {
            Some(count) if count <= *most => Ok(()),
            Some(_) | None => wrong(&format!("a whole number up to {most}")),
        },
        Spec::Word(words) => match word(value) {
            Some(given) if words.contains(&given) => Ok(()),
            Some(given) => {
                let hint = nearest(given, words.iter().copied());
                let what = format!("must be {}, not `{given}`", words.join(", "));
                Err(Problem::new(
                    path,
                    what,
                    hint.map_or_else(String::new, |near| format!("did you mean `{near}`?")),
                ))
            }
            None => wrong(&words.join(", ")),
        },
        Spec::Text if value.is_string() => Ok(()),
        Spec::Text => wrong("a text"),
        Spec::Scalar if value.is_string() || value.is_number() => Ok(()),
        Spec::Scalar => wrong("a text or a number"),
        Spec::List(item) => {
            let Some(items) = value.as_array() else {
                return wrong("a list");
            };
            items
                .iter()
                .enumerate()
                .try_for_each(|(at, value)| check_value(value, item, &format!("{path}[{at}]")))
        }
        Spec::Map(item) => {
            let Some(map) = value.as_object() else {
                return wrong("a mapping");
            };
            map.iter()
                .try_for_each(|(name, value)| check_value(value, item, &format!("{path}.{name}")))
        }
        Spec::Keys(keys) => match value {
            Value::Object(map) => check_keys(map, keys, path),
            // `approvals:` with nothing under it.
            Value::Null => Ok(()),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                wrong("a mapping")
            }
        },
        Spec::Either(first, second) => {
            // The second is the richer one, so its complaint helps more, unless it is a plain value.
            let plain = !(value.is_object() || value.is_array());
            match (
                check_value(value, first, path),
                check_value(value, second, path),
            ) {
                (Ok(()), _) | (_, Ok(())) => Ok(()),
                (Err(problem), Err(_)) if plain => Err(problem),
                (Err(_), Err(problem)) => Err(problem),
            }
        }
    }
}

fn check_keys(map: &Map<String, Value>, keys: &[Key], path: &str) -> Result<(), Problem> {
    map.iter().try_for_each(|(name, value)| {
        let full = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        match keys.iter().find(|key| key.name == name) {
            Some(key) => check_value(value, &key.spec, &full),
            None => Err(unknown(&full, name, keys)),
        }
    })
}

fn unknown(path: &str, name: &str, keys: &[Key]) -> Problem {
    let hint = if let Some(near) = nearest(name, keys.iter().map(|key| key.name)) {
        format!("did you mean `{near}`?")
    } else {
        let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
        format!("known here: {}", names.join(", "))
    };
    Problem::new(path, "there is no such key", hint)
}

/// Returns the spec of `path`, written with dots, and its default.
pub(crate) fn find(path: &str) -> Result<(&'static Spec, &'static str), Problem> {
    let mut keys = CONFIG;
    let mut names = path.split('.').peekable();
    while let Some(name) = names.next() {
        let Some(key) = keys.iter().find(|key| key.name == name) else {
            return Err(unknown(path, name, keys));
        };
        match (&key.spec, names.peek().is_some()) {
            (spec, false) => return Ok((spec, key.default)),
            (Spec::Keys(inner), true) => keys = inner,
            (_, true) => {
                let hint = format!(
                    "`countersign config get {}` shows all of it",
                    path.split_once(&format!(".{}", names.peek().unwrap_or(&"")))
                        .map_or(path, |(front, _)| front)
                );
                return Err(Problem::new(path, "it is a group of keys", hint));
            }
        }
    }
    Err(unknown(path, path, CONFIG))
}

/// Returns the word a value stands for. YAML reads `off` as false, which is not what was meant.
pub(crate) fn word(value: &Value) -> Option<&str> {
    match value {
        Value::String(word) => Some(word),
        Value::Bool(false) => Some("off"),
        Value::Bool(true) => Some("on"),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the time that `text` stands for, in seconds: `90s`, `30m`, `2h`, `7d`.
pub(crate) fn seconds_of(text: &str) -> Option<f64> {
    seconds(&Value::String(text.to_owned()))
}

/// Returns a time in seconds: `90`, `120s`, `200ms`, `5m`, `2h`, `1d`.
pub(crate) fn seconds(value: &Value) -> Option<f64> {
    if let Some(number) = value.as_f64() {
        return (number >= 0.0).then_some(number);
    }
    let text = value.as_str()?.trim();
    let unit_at = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit_at);
    let scale = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    let number: f64 = number.trim().parse().ok()?;
    (number >= 0.0 && number.is_finite()).then_some(number * scale)
}

pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let far = |known: &str| strsim::damerau_levenshtein(name, known);
    known
        .map(|known| (far(known), known))
        .min()
        .filter(|(far, known)| *far <= known.len().div_ceil(3))
        .map(|(_, known)| known)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "this number",
        Value::String(_) => "this text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_explained() {
        let text = include_str!("../../../../docs/configuration.md");
        for section in CONFIG {
            let inner = match &section.spec {
                Spec::Keys(keys) => *keys,
                Spec::Flag
                | Spec::Share
                | Spec::Time(_)
                | Spec::Count(_)
                | Spec::Word(_)
                | Spec::Text
                | Spec::Scalar
                | Spec::List(_)
                | Spec::Map(_)
                | Spec::Either(..)
                | Spec::Any => &[],
            };
            assert!(
                text.contains(&format!("`{}", section.name)),
                "{}",
                section.name
            );
            for key in inner {
                let full = format!("`{}.{}", section.name, key.name);
                assert!(text.contains(&full), "{full}`");
            }
        }
    }
}
