//! Which arguments a method takes, which it needs and which scope it asks for.
//!
//! Seven methods are checked by the description that Slack published in 2021; what it lacks, because it
//! is newer, stands in a table here.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

/// The published description.
static PUBLISHED: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../data/slack-web-api-2021.json");
    serde_json::from_str(text).unwrap_or_default()
});

/// A method as the description has it not, or not fully.
struct Row {
    name: &'static str,
    scope: &'static str,
    needed: &'static [&'static str],
    /// Newer arguments of published methods, or the others of a method that is not in it.
    others: &'static [&'static str],
}

const fn row(
    name: &'static str,
    scope: &'static str,
    needed: &'static [&'static str],
    others: &'static [&'static str],
) -> Row {
    Row {
        name,
        scope,
        needed,
        others,
    }
}

const ROWS: &[Row] = &[
    row("api.test", "", &[], &["error", "foo"]),
    row("apps.connections.open", "connections:write", &[], &[]),
    row("auth.test", "", &[], &[]),
    row("bots.info", "users:read", &["bot"], &["team_id"]),
    row("chat.postEphemeral", "chat:write", &[], &["markdown_text"]),
    row(
        "chat.postMessage",
        "chat:write",
        &[],
        &["metadata", "markdown_text"],
    ),
    row(
        "chat.update",
        "chat:write",
        &[],
        &["metadata", "markdown_text", "reply_broadcast", "file_ids"],
    ),
    row("conversations.history", "*:history", &["channel"], PAGING),
    row(
        "conversations.info",
        "*:read",
        &["channel"],
        &["include_locale", "include_num_members"],
    ),
    row("conversations.open", "im:write", &[], &["prevent_creation"]),
    row(
        "conversations.replies",
        "*:history",
        &["channel", "ts"],
        PAGING,
    ),
    row(
        "files.completeUploadExternal",
        "files:write",
        &["files"],
        &[
            "channel_id",
            "channels",
            "thread_ts",
            "initial_comment",
            "blocks",
        ],
    ),
    row(
        "files.getUploadURLExternal",
        "files:write",
        &["filename", "length"],
        &["alt_txt", "snippet_type"],
    ),
    row(
        "users.conversations",
        "*:read",
        &[],
        &[
            "types",
            "exclude_archived",
            "limit",
            "cursor",
            "user",
            "team_id",
        ],
    ),
    row("users.info", "users:read", &[], &[]),
    row("views.open", "", &[], &["interactivity_pointer"]),
];

/// What Slack's own SDK says with every call.
const EVERYWHERE: &str = "team_id";

const PAGING: &[&str] = &[
    "cursor",
    "include_all_metadata",
    "inclusive",
    "latest",
    "limit",
    "oldest",
];

/// What Slack says about a method.
pub(super) struct Method {
    /// The scope it asks for; empty if none.
    pub(super) scope: &'static str,
}

/// Checks the arguments of a method; `Err` is Slack's word for what is wrong, and the details.
pub(super) fn check(method: &str, args: &Map<String, Value>) -> Result<Method, (String, String)> {
    let wrong = |error: &str, why: String| (error.to_owned(), why);
    let row = ROWS.iter().find(|row| row.name == method);
    let row = row.ok_or_else(|| wrong("unknown_method", method.to_owned()))?;
    let published = published(method);
    let needed = published
        .iter()
        .filter(|(_, it)| it.is_needed)
        .map(|(name, _)| name.as_str())
        .chain(row.needed.iter().copied());
    // The token comes in the header.
    for name in needed.filter(|name| *name != "token") {
        if args.get(name).is_none_or(is_empty) {
            return Err(wrong("invalid_arguments", format!("{name} is missing")));
        }
    }
    for (name, value) in args {
        let known = published.get(name);
        let is_newer = row.others.contains(&name.as_str()) || row.needed.contains(&name.as_str());
        if known.is_none() && !is_newer && name != EVERYWHERE {
            return Err(wrong("invalid_arguments", format!("{name} is unknown")));
        }
        if known.is_some_and(|it| it.kind == "boolean") && !is_flag(value) {
            return Err(wrong("invalid_arguments", format!("{name} is no flag")));
        }
    }
    Ok(Method { scope: row.scope })
}

/// An argument as the description has it.
struct Argument {
    is_needed: bool,
    kind: String,
}

fn published(method: &str) -> BTreeMap<String, Argument> {
    let path = PUBLISHED
        .get("paths")
        .and_then(|it| it.get(format!("/{method}")));
    let verbs = path.and_then(Value::as_object).into_iter().flatten();
    let arguments = verbs.filter_map(|(_, it)| it.get("parameters")?.as_array());
    let read = |it: &Value| {
        let argument = Argument {
            is_needed: it.get("required").and_then(Value::as_bool) == Some(true),
            kind: it
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned(),
        };
        Some((it.get("name")?.as_str()?.to_owned(), argument))
    };
    arguments.flatten().filter_map(read).collect()
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

/// Whether it is yes or no, as JSON or as a form says it.
fn is_flag(value: &Value) -> bool {
    value.is_boolean() || matches!(value.as_str(), Some("true" | "false" | "1" | "0"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_checked_by_the_published_description() {
        let rows = [
            (
                "chat.postMessage",
                json!({ "channel": "C1", "text": "x" }),
                "",
            ),
            (
                "chat.postMessage",
                json!({ "text": "x" }),
                "channel is missing",
            ),
            (
                "chat.postMessage",
                json!({ "channel": "C1", "colour": "x" }),
                "colour is unknown",
            ),
            (
                "chat.postMessage",
                json!({ "channel": "C1", "unfurl_links": "perhaps" }),
                "unfurl_links is no flag",
            ),
            (
                "chat.postMessage",
                json!({ "channel": "C1", "metadata": "{}" }),
                "",
            ),
            ("chat.update", json!({ "channel": "C1" }), "ts is missing"),
            (
                "views.open",
                json!({ "view": "{}" }),
                "trigger_id is missing",
            ),
            ("chat.explode", json!({}), "chat.explode"),
        ];
        for (method, args, expected) in rows {
            let checked = check(method, args.as_object().unwrap());
            let why = checked.err().map_or(String::new(), |(_, why)| why);
            assert_eq!(why, expected, "{method} {args}");
        }
    }
}
