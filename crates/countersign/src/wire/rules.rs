//! Rules and configuration in force, and where each comes from.
//!
//! Viewers read it, too, so it holds no secret: of an address only its host is shown, what looks like
//! a secret is replaced, and people and their addresses are left out.

use countersign_core::content::secrets::redact;
use countersign_core::display::inline;
use countersign_core::verdict::Rule;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::config::entries::{Entry, Origin};

/// Keys that are about people; `/v1/people` shows those, to whom it may.
const LEFT_OUT: [&str; 2] = ["people", "contacts"];
const ONCE_OR_DENY: &str = "Asks; only once or deny";
/// The rules in the order in which they are tried: when each applies, and what follows.
const ORDER: [(Rule, &str, &str); 12] = [
    (
        Rule::FloorOrDenied,
        "Catastrophic, or matched by a deny rule",
        "Refused",
    ),
    (
        Rule::CrisisGate,
        "May affect a person in crisis, and reaches somebody or cannot be undone",
        ONCE_OR_DENY,
    ),
    (
        Rule::GuardOrMoney,
        "Changes or stops the firewall, or moves money",
        ONCE_OR_DENY,
    ),
    (
        Rule::ApprovalRequired,
        "The tool is marked approval_required, as all outbound tools are by default",
        ONCE_OR_DENY,
    ),
    (Rule::Granted, "Covered by an active grant", "Allowed"),
    (
        Rule::ModeAllows,
        "The mode is observe or off, or the session has an override",
        "Allowed",
    ),
    (
        Rule::DeniedBefore,
        "The same effect was denied recently",
        "Refused",
    ),
    (
        Rule::PolicyRule,
        "Matched by an ask rule, or by an allow rule and not critical",
        "Asks or allowed",
    ),
    (Rule::Critical, "Critical", "Asks"),
    (
        Rule::Unreadable,
        "Its effect is unreadable or unknown",
        "Asks",
    ),
    (
        Rule::Thresholds,
        "Everything else: risk and confidence against the thresholds",
        "Allowed or asks",
    ),
    (
        Rule::Review,
        "Would ask by the thresholds, but can be rolled back, with reviews enabled",
        "Allowed, then reviewed",
    ),
];

/// Rules and configuration in force.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct RulesView {
    /// The owner's file.
    pub(crate) file: String,
    /// The rules in the order in which they are tried; the first that applies decides.
    pub(crate) order: Vec<OrderedRule>,
    /// Every key of the configuration.
    pub(crate) keys: Vec<KeyInForce>,
    /// Files of projects that calls came from since the gateway started.
    pub(crate) projects: Vec<ProjectRules>,
}

/// One of the rules that every call is judged by.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct OrderedRule {
    /// Its number in the order.
    number: u8,
    /// When it applies.
    applies: String,
    /// What follows.
    result: String,
}

/// A key of the configuration.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct KeyInForce {
    /// Its name, with dots.
    key: String,
    /// Its value, without secrets.
    value: Value,
    /// Whether nobody has set it.
    is_default: bool,
}

/// What a project's file tightens.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ProjectRules {
    /// The file.
    pub(crate) file: String,
    /// The keys it sets.
    pub(crate) keys: Vec<KeyInForce>,
    /// Why it cannot be read; calls of this project are refused until it can.
    pub(crate) problem: Option<String>,
}

/// Returns the rules every call is judged by.
pub(crate) fn order() -> Vec<OrderedRule> {
    ORDER
        .iter()
        .map(|(rule, applies, result)| OrderedRule {
            number: rule.number(),
            applies: (*applies).to_owned(),
            result: (*result).to_owned(),
        })
        .collect()
}

/// Returns the keys that have a value as they are shown: without people, and without secrets.
pub(crate) fn keys(entries: Vec<Entry>) -> Vec<KeyInForce> {
    let entries = entries.into_iter();
    let in_force = entries
        .filter(|entry| entry.origin != Origin::Unset && !LEFT_OUT.contains(&entry.key.as_str()));
    in_force
        .map(|entry| KeyInForce {
            value: shown(&entry.value),
            is_default: entry.origin == Origin::Default,
            key: entry.key,
        })
        .collect()
}

/// Returns `text` safe to show: what looks like a secret is replaced, nothing in it acts.
pub(crate) fn safe(text: &str) -> String {
    inline(&redact(&without_credentials(text)))
}

fn shown(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(safe(text)),
        Value::Array(items) => items.iter().map(shown).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, it)| (safe(name), shown(it)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Returns an address with its scheme and host alone: the rest may be a password or a token.
fn without_credentials(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    if scheme.is_empty() || scheme.contains(|it: char| !it.is_ascii_alphanumeric() && it != '+') {
        return text.to_owned();
    }
    let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let more = if rest.len() > authority.len() {
        "/…"
    } else {
        ""
    };
    format!("{scheme}://{host}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_secret_of_the_configuration_is_shown() {
        let rows = [
            (
                "postgres://ana:hunter2@db.example.org:5432/gate?x=1",
                "postgres://db.example.org:5432/…",
            ),
            (
                "https://hooks.example.org/services/T0/B0/s3cr3t",
                "https://hooks.example.org/…",
            ),
            ("https://chat.example.org", "https://chat.example.org"),
            ("https://a:b@c@host/", "https://host/…"),
            ("sqlite", "sqlite"),
            (
                "Call 123 or see https://help.example.org/now",
                "Call 123 or see https://help.example.org/now",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(safe(text), expected);
        }
        let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
        let value = json!({ "chat": { "url": "https://x:y@z.example.org/q", "note": token } });
        let entry = |key: &str, value| Entry {
            key: key.to_owned(),
            value,
            origin: Origin::File,
        };
        let entries = vec![
            entry("channels", value),
            entry("people", json!([{ "name": "ana" }])),
        ];
        let keys = serde_json::to_string(&keys(entries)).unwrap();
        assert!(keys.contains("https://z.example.org/…"), "{keys}");
        assert!(!keys.contains("ghp_") && !keys.contains("ana"), "{keys}");
    }

    #[test]
    fn the_order_names_every_rule_once() {
        let numbers: Vec<u8> = order().iter().map(|rule| rule.number).collect();
        assert_eq!(numbers, (1..=12).collect::<Vec<u8>>());
    }
}
