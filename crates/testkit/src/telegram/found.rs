//! What Telegram finds in plain text by itself: mentions, commands, hashtags, links, numbers.

use serde_json::{Value, json};

/// Entities in which nothing is looked for.
const CODE: [&str; 2] = ["code", "pre"];

/// Returns what is found in a text outside its code, as entities.
pub(super) fn entities(text: &str, ours: &[Value]) -> Vec<Value> {
    let is_code = |at: usize| {
        ours.iter().any(|entity| {
            let number = |key: &str| entity.get(key).and_then(Value::as_u64).unwrap_or(0);
            let (offset, length) = (number("offset"), number("length"));
            let kind = entity.get("type").and_then(Value::as_str).unwrap_or("");
            CODE.contains(&kind) && (offset..offset + length).contains(&(at as u64))
        })
    };
    let mut found = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        let length = bare.encode_utf16().count();
        if let Some(kind) = kind(bare)
            && !is_code(at)
        {
            found.push(json!({ "type": kind, "offset": at, "length": length }));
        }
        at += word.encode_utf16().count();
    }
    found
}

/// Returns what a client makes of a word.
fn kind(word: &str) -> Option<&'static str> {
    let inner = word.trim_matches(|letter: char| "()[]{}<>\"'“”,;!?".contains(letter));
    let named = |sign: char| {
        let behind = inner.strip_prefix(sign)?;
        let first = behind.chars().next()?;
        (first.is_alphanumeric() || first == '_').then_some(())
    };
    let lower = inner.to_ascii_lowercase();
    if lower.contains("://") || lower.starts_with("www.") || lower.starts_with("tg:") {
        return Some("url");
    }
    if named('@').is_some() {
        return Some("mention");
    }
    if named('/').is_some() {
        return Some("bot_command");
    }
    if named('#').is_some() {
        return Some("hashtag");
    }
    if named('$').is_some() {
        return Some("cashtag");
    }
    if inner.contains('@') && inner.contains('.') {
        return Some("email");
    }
    let host = inner.split('/').next().unwrap_or("");
    let is_host = host.rsplit_once('.').is_some_and(|(name, end)| {
        let is_end = end.len() >= 2 && end.chars().all(char::is_alphabetic);
        is_end && name.chars().next_back().is_some_and(char::is_alphanumeric)
    });
    if is_host {
        return Some("url");
    }
    let digits = inner.chars().filter(char::is_ascii_digit).count();
    let is_number = inner
        .chars()
        .all(|it| it.is_ascii_digit() || "+-.".contains(it));
    (is_number && digits >= 7).then_some("phone_number")
}
