//! Block Kit and views, as strict as Slack: known keys, known types, every limit.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Longest text of all blocks of a message, in characters; seen as `msg_blocks_too_long`.
const ALL_CHARS_MAX: usize = 13_000;
/// Most blocks of a message and of a view.
const MESSAGE_BLOCKS_MAX: usize = 50;
const VIEW_BLOCKS_MAX: usize = 100;
/// Most elements of a row.
const ELEMENTS_MAX: usize = 25;
/// Longest texts, in characters.
const TEXT_MAX: usize = 3000;
const BUTTON_TEXT_MAX: usize = 75;
const VALUE_MAX: usize = 2000;
const ID_MAX: usize = 255;
const TITLE_MAX: usize = 24;
const METADATA_MAX: usize = 3000;
const LABEL_MAX: usize = 2000;

type Checked = Result<(), String>;

/// Checks the blocks of a message.
pub(super) fn message(blocks: &Value) -> Result<(), (String, String)> {
    let invalid = |why: String| ("invalid_blocks".to_owned(), why);
    let list = blocks
        .as_array()
        .ok_or_else(|| invalid("blocks are no list".to_owned()))?;
    all(list, MESSAGE_BLOCKS_MAX, Where::Message).map_err(invalid)?;
    let length = chars_in(blocks);
    if length > ALL_CHARS_MAX {
        let why = format!("{length} characters");
        return Err(("msg_blocks_too_long".to_owned(), why));
    }
    Ok(())
}

/// Checks a view.
pub(super) fn view(view: &Value) -> Checked {
    let map = object(view, "a view")?;
    keys(
        map,
        &[
            "type",
            "title",
            "submit",
            "close",
            "blocks",
            "private_metadata",
            "callback_id",
            "clear_on_close",
            "notify_on_close",
            "external_id",
        ],
    )?;
    if text_at(map, "type") != Some("modal") {
        return Err("only modals are known".to_owned());
    }
    plain(map, "title", TITLE_MAX)?;
    for name in ["submit", "close"] {
        if map.contains_key(name) {
            plain(map, name, TITLE_MAX)?;
        }
    }
    limited(map, "private_metadata", METADATA_MAX)?;
    limited(map, "callback_id", ID_MAX)?;
    let blocks = map.get("blocks").and_then(Value::as_array);
    let blocks = blocks.ok_or("a view has no blocks")?;
    all(blocks, VIEW_BLOCKS_MAX, Where::View)?;
    let has_input = blocks
        .iter()
        .any(|it| it.get("type") == Some(&Value::from("input")));
    if has_input && !map.contains_key("submit") {
        return Err("a view with inputs needs `submit`".to_owned());
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Message,
    View,
}

fn all(blocks: &[Value], max: usize, place: Where) -> Checked {
    if blocks.is_empty() || blocks.len() > max {
        return Err(format!("there are {} blocks", blocks.len()));
    }
    let mut ids = HashSet::new();
    for block in blocks {
        let map = object(block, "a block")?;
        if let Some(id) = text_at(map, "block_id")
            && !ids.insert(id)
        {
            return Err(format!("the block_id {id} is there twice"));
        }
        limited(map, "block_id", ID_MAX)?;
        one(map, place)?;
    }
    Ok(())
}

fn one(block: &Map<String, Value>, place: Where) -> Checked {
    match text_at(block, "type").unwrap_or_default() {
        "rich_text" => {
            keys(block, &["type", "block_id", "elements"])?;
            for part in list(block, "elements")? {
                rich(object(part, "an element")?)?;
            }
            Ok(())
        }
        "section" => {
            keys(
                block,
                &["type", "block_id", "text", "fields", "accessory", "expand"],
            )?;
            text_object(block, "text", TEXT_MAX)
        }
        "actions" => {
            keys(block, &["type", "block_id", "elements"])?;
            let elements = list(block, "elements")?;
            if elements.len() > ELEMENTS_MAX {
                return Err(format!("{} elements in a row", elements.len()));
            }
            let mut ids = HashSet::new();
            for element in elements {
                let map = object(element, "an element")?;
                button(map)?;
                if !ids.insert(text_at(map, "action_id")) {
                    return Err("an action_id is there twice".to_owned());
                }
            }
            Ok(())
        }
        "input" if place == Where::View => input(block),
        "divider" => keys(block, &["type", "block_id"]),
        other => Err(format!("a block of type `{other}`")),
    }
}

/// A part of rich text.
fn rich(part: &Map<String, Value>) -> Checked {
    let kind = text_at(part, "type").unwrap_or_default();
    match kind {
        "rich_text_section" | "rich_text_quote" => keys(part, &["type", "elements"])?,
        "rich_text_preformatted" => keys(part, &["type", "elements", "border"])?,
        other => return Err(format!("rich text of type `{other}`")),
    }
    for element in list(part, "elements")? {
        let element = object(element, "rich text")?;
        match text_at(element, "type").unwrap_or_default() {
            "text" => {
                keys(element, &["type", "text", "style"])?;
                within(text_at(element, "text"), 1, TEXT_MAX, "text")?;
                if let Some(style) = element.get("style") {
                    keys(
                        object(style, "a style")?,
                        &["bold", "italic", "strike", "code", "underline"],
                    )?;
                }
            }
            "user" if kind != "rich_text_preformatted" => {
                keys(element, &["type", "user_id", "style"])?;
                within(text_at(element, "user_id"), 2, ID_MAX, "user_id")?;
            }
            other => return Err(format!("`{other}` in {kind}")),
        }
    }
    Ok(())
}

fn button(map: &Map<String, Value>) -> Checked {
    keys(
        map,
        &[
            "type",
            "text",
            "action_id",
            "value",
            "url",
            "style",
            "confirm",
            "accessibility_label",
        ],
    )?;
    if text_at(map, "type") != Some("button") {
        return Err("only buttons stand in a row here".to_owned());
    }
    plain(map, "text", BUTTON_TEXT_MAX)?;
    within(text_at(map, "action_id"), 1, ID_MAX, "action_id")?;
    limited(map, "value", VALUE_MAX)?;
    match map.get("style").map(Value::as_str) {
        None | Some(Some("primary" | "danger")) => Ok(()),
        Some(other) => Err(format!("a button of style {other:?}")),
    }
}

fn input(block: &Map<String, Value>) -> Checked {
    keys(
        block,
        &[
            "type",
            "block_id",
            "label",
            "element",
            "hint",
            "optional",
            "dispatch_action",
        ],
    )?;
    plain(block, "label", LABEL_MAX)?;
    if block.contains_key("hint") {
        plain(block, "hint", LABEL_MAX)?;
    }
    let element = block.get("element").ok_or("an input has no element")?;
    let element = object(element, "an element")?;
    keys(
        element,
        &[
            "type",
            "action_id",
            "multiline",
            "min_length",
            "max_length",
            "placeholder",
            "initial_value",
            "focus_on_load",
            "dispatch_action_config",
        ],
    )?;
    if text_at(element, "type") != Some("plain_text_input") {
        return Err("only plain_text_input is known".to_owned());
    }
    within(text_at(element, "action_id"), 1, ID_MAX, "action_id")?;
    let longest = element.get("max_length").map(Value::as_u64);
    match longest {
        None | Some(Some(1..=3000)) => Ok(()),
        Some(other) => Err(format!("max_length is {other:?}")),
    }
}

/// A text that is `plain_text`.
fn plain(map: &Map<String, Value>, name: &str, max: usize) -> Checked {
    let inner = map.get(name).and_then(Value::as_object);
    let kind = inner.and_then(|it| text_at(it, "type"));
    if kind != Some("plain_text") {
        return Err(format!("`{name}` is no plain_text"));
    }
    text_object(map, name, max)
}

fn text_object(map: &Map<String, Value>, name: &str, max: usize) -> Checked {
    let inner = map
        .get(name)
        .ok_or_else(|| format!("`{name}` is missing"))?;
    let inner = object(inner, name)?;
    let known: &[&str] = match text_at(inner, "type") {
        Some("plain_text") => &["type", "text", "emoji"],
        Some("mrkdwn") => &["type", "text", "verbatim"],
        other => return Err(format!("a text of type {other:?}")),
    };
    keys(inner, known)?;
    within(text_at(inner, "text"), 1, max, name)
}

fn within(text: Option<&str>, min: usize, max: usize, name: &str) -> Checked {
    let length = text.map_or(0, |text| text.chars().count());
    if (min..=max).contains(&length) {
        return Ok(());
    }
    Err(format!("`{name}` has {length} characters"))
}

fn limited(map: &Map<String, Value>, name: &str, max: usize) -> Checked {
    match map.get(name) {
        None => Ok(()),
        Some(value) => within(value.as_str(), 1, max, name),
    }
}

fn keys(map: &Map<String, Value>, known: &[&str]) -> Checked {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!("`{key}` is unknown here")),
    }
}

fn object<'a>(value: &'a Value, what: &str) -> Result<&'a Map<String, Value>, String> {
    let no_object = || format!("{what} is no object");
    value.as_object().ok_or_else(no_object)
}

fn list<'a>(map: &'a Map<String, Value>, name: &str) -> Result<&'a Vec<Value>, String> {
    let list = map.get(name).and_then(Value::as_array);
    let list = list.filter(|list| !list.is_empty());
    list.ok_or_else(|| format!("`{name}` is empty"))
}

fn text_at<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    map.get(name).and_then(Value::as_str)
}

/// Counts the characters of every text.
fn chars_in(value: &Value) -> usize {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| match value.as_str() {
                Some(text) if key == "text" => text.chars().count(),
                Some(_) | None => chars_in(value),
            })
            .sum(),
        Value::Array(list) => list.iter().map(chars_in).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(length: usize) -> Value {
        json!([{ "type": "section", "text": { "type": "plain_text", "text": "x".repeat(length) } }])
    }

    fn row(change: impl Fn(&mut Value)) -> Value {
        let mut button = json!({
            "type": "button", "action_id": "once", "value": "1",
            "text": { "type": "plain_text", "text": "Allow" },
        });
        change(&mut button);
        json!([{ "type": "actions", "elements": [button] }])
    }

    #[test]
    fn blocks_have_limits() {
        let rich = |text: &str| {
            let element = json!({ "type": "text", "text": text });
            let part = json!({ "type": "rich_text_preformatted", "elements": [element] });
            json!([{ "type": "rich_text", "elements": [part] }])
        };
        let many = |count| Value::Array(vec![json!({ "type": "divider" }); count]);
        let rows = [
            ("a text", text(3000), true),
            ("a long text", text(3001), false),
            ("no text", text(0), false),
            ("blocks", many(50), true),
            ("too many blocks", many(51), false),
            ("none", json!([]), false),
            ("a button", row(|_| {}), true),
            (
                "a long value",
                row(|it| it["value"] = json!("x".repeat(2001))),
                false,
            ),
            (
                "a long action_id",
                row(|it| it["action_id"] = json!("x".repeat(256))),
                false,
            ),
            (
                "a long name",
                row(|it| it["text"]["text"] = json!("x".repeat(76))),
                false,
            ),
            (
                "a mrkdwn name",
                row(|it| it["text"]["type"] = json!("mrkdwn")),
                false,
            ),
            (
                "a strange style",
                row(|it| it["style"] = json!("default")),
                false,
            ),
            (
                "an unknown key",
                row(|it| it["colour"] = json!("red")),
                false,
            ),
            ("rich text", rich("<!channel>"), true),
            ("empty rich text", rich(""), false),
            ("an unknown block", json!([{ "type": "explosion" }]), false),
        ];
        for (name, blocks, expected) in rows {
            let checked = message(&blocks);
            assert_eq!(checked.is_ok(), expected, "{name}: {checked:?}");
        }
        let long = Value::Array(
            (0..5)
                .flat_map(|_| text(2999).as_array().unwrap().clone())
                .collect(),
        );
        assert_eq!(message(&long).unwrap_err().0, "msg_blocks_too_long");
    }

    #[test]
    fn views_have_limits() {
        let good = json!({
            "type": "modal",
            "title": { "type": "plain_text", "text": "x".repeat(24) },
            "submit": { "type": "plain_text", "text": "Send" },
            "private_metadata": "x",
            "blocks": [{
                "type": "input", "block_id": "a", "label": { "type": "plain_text", "text": "A" },
                "element": { "type": "plain_text_input", "action_id": "a", "max_length": 3000 },
            }],
        });
        assert_eq!(view(&good), Ok(()));
        let rows: [(&str, &str, Value); 5] = [
            ("a long title", "/title/text", json!("x".repeat(25))),
            (
                "long metadata",
                "/private_metadata",
                json!("x".repeat(3001)),
            ),
            ("a long input", "/blocks/0/element/max_length", json!(3001)),
            ("no submit", "/submit", Value::Null),
            ("no modal", "/type", json!("home")),
        ];
        for (name, path, value) in rows {
            let mut bad = good.clone();
            *bad.pointer_mut(path).unwrap() = value;
            assert!(view(&bad).is_err(), "{name}");
        }
    }
}
