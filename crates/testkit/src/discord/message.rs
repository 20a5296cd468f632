//! Messages: what a body must be like to become one, whom it pings, and what people read of it.

use serde_json::{Value, json};

use super::found::found;
use super::schema;

/// Longest content, and longest text of all embeds, in characters.
const CONTENT_MAX: usize = 2000;
const EMBEDS_MAX: usize = 6000;
/// Most rows of buttons.
const ROWS_MAX: usize = 5;
/// Longest nonce.
const NONCE_MAX: usize = 25;
/// The flag of a message that one person alone sees.
pub(super) const EPHEMERAL: u64 = 64;

/// A message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// Its id.
    pub id: String,
    /// Where it is.
    pub place: String,
    /// Who wrote it.
    pub author: String,
    /// Its text.
    pub content: String,
    /// Its embeds.
    pub embeds: Vec<Value>,
    /// Its rows of buttons.
    pub components: Vec<Value>,
    /// Its flags.
    pub flags: u64,
    /// Its files, by name.
    pub files: Vec<(String, String)>,
    /// The message it replies to.
    pub reply_to: Option<String>,
    /// Whom it notified when it was posted: ids, `everyone`.
    pub pings: Vec<String>,
    /// How often it was changed.
    pub edits: usize,
    pub(super) nonce: Option<String>,
}

impl Message {
    /// Returns its buttons.
    pub fn buttons(&self) -> Vec<Value> {
        let rows = self.components.iter();
        let buttons = rows.filter_map(|row| row["components"].as_array().cloned());
        buttons.flatten().collect()
    }

    /// Returns everything people can read on it.
    pub fn readable(&self) -> String {
        let mut text = format!("{}\n", self.content);
        for embed in &self.embeds {
            for path in ["/title", "/description", "/footer/text"] {
                if let Some(part) = embed.pointer(path).and_then(Value::as_str) {
                    text.push_str(part);
                    text.push('\n');
                }
            }
        }
        for (_, content) in &self.files {
            text.push_str(content);
        }
        text
    }

    /// Returns what clients act on in it besides buttons.
    pub fn found(&self) -> Vec<String> {
        let mut all = found(&self.content);
        for embed in &self.embeds {
            for key in ["title", "description"] {
                all.extend(found(embed[key].as_str().unwrap_or_default()));
            }
            for key in ["url", "image", "thumbnail", "author", "video"] {
                all.extend(embed.get(key).map(|_| key.to_owned()));
            }
        }
        all
    }

    /// Takes what a body says; what it does not say stays.
    pub(super) fn take(&mut self, body: &Value) {
        if let Some(content) = body.get("content") {
            content
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut self.content);
        }
        for (key, part) in [
            ("embeds", &mut self.embeds),
            ("components", &mut self.components),
        ] {
            if let Some(value) = body.get(key) {
                *part = value.as_array().cloned().unwrap_or_default();
            }
        }
        if let Some(flags) = body.get("flags").and_then(Value::as_u64) {
            self.flags = flags;
        }
    }

    /// Returns it as Discord shows it to an application.
    pub(super) fn public(&self, author: &Value, mentions: &[Value]) -> Value {
        let files = self.files.iter().enumerate().map(|(at, (name, content))| {
            json!({
                "id": format!("{}{at}", self.id), "filename": name, "size": content.len(),
                "url": "http://127.0.0.1/none", "proxy_url": "http://127.0.0.1/none",
            })
        });
        let files: Vec<Value> = files.collect();
        let mut message = json!({
            "id": self.id, "channel_id": self.place, "author": author, "content": self.content,
            "timestamp": "2026-01-01T00:00:00.000000+00:00", "edited_timestamp": null, "tts": false,
            "mention_everyone": self.pings.iter().any(|it| it == "everyone"),
            "mentions": mentions, "mention_roles": [], "attachments": files, "embeds": self.embeds,
            "components": self.components, "pinned": false, "flags": self.flags,
            "type": if self.reply_to.is_some() { 19 } else { 0 },
        });
        if let (Some(id), Some(map)) = (&self.reply_to, message.as_object_mut()) {
            let above = json!({ "message_id": id, "channel_id": self.place });
            map.insert("message_reference".to_owned(), above);
        }
        if let (Some(nonce), Some(map)) = (&self.nonce, message.as_object_mut()) {
            map.insert("nonce".to_owned(), json!(nonce));
        }
        message
    }
}

/// Fails with what is wrong about a body that becomes a message, or changes one.
pub(super) fn check(operation: &str, body: &Value) -> Result<(), String> {
    schema::check(operation, body)?;
    check_parts(body)
}

/// Checks the rules that are not in the description.
pub(super) fn check_parts(body: &Value) -> Result<(), String> {
    let content = body["content"].as_str().unwrap_or_default();
    if content.chars().count() > CONTENT_MAX {
        return Err(format!("content: must be {CONTENT_MAX} or fewer in length"));
    }
    let embeds = body["embeds"].as_array().map_or(&[][..], Vec::as_slice);
    let texts = embeds.iter().flat_map(|it| {
        let own = ["/title", "/description", "/footer/text", "/author/name"];
        let own = own.into_iter().filter_map(|path| it.pointer(path));
        let fields = it["fields"].as_array().into_iter().flatten();
        own.chain(fields.flat_map(|it| [&it["name"], &it["value"]]))
    });
    let length: usize = texts
        .filter_map(Value::as_str)
        .map(|it| it.chars().count())
        .sum();
    if length > EMBEDS_MAX {
        return Err(format!(
            "embeds: {length} characters are more than {EMBEDS_MAX}"
        ));
    }
    if body["nonce"]
        .as_str()
        .is_some_and(|it| it.len() > NONCE_MAX)
    {
        return Err(format!("nonce: must be {NONCE_MAX} or fewer in length"));
    }
    let mentions = &body["allowed_mentions"];
    let parses_users = mentions["parse"]
        .as_array()
        .is_some_and(|it| it.contains(&json!("users")));
    if parses_users
        && mentions["users"]
            .as_array()
            .is_some_and(|it| !it.is_empty())
    {
        return Err(
            "allowed_mentions: parse:[\"users\"] and users: [ids...] are mutually exclusive"
                .to_owned(),
        );
    }
    check_buttons(body["components"].as_array().map_or(&[][..], Vec::as_slice))
}

fn check_buttons(rows: &[Value]) -> Result<(), String> {
    if rows.len() > ROWS_MAX {
        return Err(format!(
            "components: must be between 1 and {ROWS_MAX} in length"
        ));
    }
    let buttons = rows.iter().filter_map(|it| it["components"].as_array());
    let mut ids: Vec<&str> = Vec::new();
    for button in buttons.flatten() {
        let is_link = button["style"] == 5;
        let id = button["custom_id"].as_str();
        let has_face =
            !button["label"].as_str().unwrap_or_default().is_empty() || button["emoji"].is_object();
        if button["type"] == 2 && (is_link == id.is_some() || !has_face) {
            return Err("components: a button needs a label, and an id or an address".to_owned());
        }
        if let Some(id) = id {
            if ids.contains(&id) {
                return Err("components: Component custom id cannot be duplicated".to_owned());
            }
            ids.push(id);
        }
    }
    Ok(())
}

/// Whether a body holds nothing that anybody could see.
pub(super) fn is_empty(body: &Value, files: usize) -> bool {
    let has = |key: &str| body[key].as_array().is_some_and(|it| !it.is_empty());
    let content = body["content"].as_str().unwrap_or_default();
    content.trim().is_empty() && !has("embeds") && !has("components") && files == 0
}

/// Returns whom a new message notifies.
pub(super) fn pings(body: &Value) -> Vec<String> {
    let content = body["content"].as_str().unwrap_or_default();
    let allowed = &body["allowed_mentions"];
    let parses = |what: &str| match allowed["parse"].as_array() {
        Some(list) => list.contains(&json!(what)),
        // Without a word about it, everything is parsed.
        None => !allowed.is_object(),
    };
    let users = allowed["users"].as_array();
    let mut all = Vec::new();
    for mention in mentioned(content) {
        let is_listed = users.is_some_and(|it| it.contains(&json!(mention)));
        if parses("users") || is_listed {
            all.push(mention);
        }
    }
    let calls_all = content.contains("@everyone") || content.contains("@here");
    if calls_all && parses("everyone") {
        all.push("everyone".to_owned());
    }
    all
}

/// Returns the ids that a content mentions.
pub(super) fn mentioned(content: &str) -> Vec<String> {
    let parts = content.split("<@").skip(1);
    let ids = parts.filter_map(|it| it.trim_start_matches('!').split('>').next());
    ids.filter(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_pings_only_whom_it_is_allowed_to() {
        let content = "<@1> <@!2> @everyone";
        let rows = [
            (json!({ "content": content }), vec!["1", "2", "everyone"]),
            (
                json!({ "content": content, "allowed_mentions": { "parse": [] } }),
                vec![],
            ),
            (
                json!({ "content": content, "allowed_mentions": { "parse": [], "users": ["2"] } }),
                vec!["2"],
            ),
        ];
        for (body, expected) in rows {
            assert_eq!(pings(&body), expected, "{body}");
        }
    }

    #[test]
    fn limits_that_are_not_described_hold_too() {
        let button = json!({ "type": 2, "style": 1, "label": "x", "custom_id": "y" });
        let row = |buttons: Value| json!({ "components": [{ "type": 1, "components": buttons }] });
        let embed = |length: usize| {
            json!({ "embeds": [
            { "description": "x".repeat(length / 2) }, { "description": "x".repeat(length / 2) },
        ] })
        };
        let rows = [
            (json!({ "content": "x".repeat(2000) }), true),
            (json!({ "content": "x".repeat(2001) }), false),
            (embed(6000), true),
            (embed(6002), false),
            (row(json!([button])), true),
            (row(json!([button, button])), false),
            (
                row(json!([{ "type": 2, "style": 1, "custom_id": "y" }])),
                false,
            ),
            (json!({ "nonce": "x".repeat(26) }), false),
        ];
        for (body, expected) in rows {
            assert_eq!(check_parts(&body).is_ok(), expected, "{body}");
        }
    }
}
