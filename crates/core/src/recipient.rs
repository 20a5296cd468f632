//! Normalises recipients: two spellings of one address are one person.
//!
//! It is used where a wrong *yes, the same* costs a question and a wrong *no* costs more, so it
//! rather joins than parts.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::call::ToolCall;
use crate::card;
use crate::knowledge::names::RECIPIENT_SCHEMES;

/// Longest recipient that is looked at, in bytes; of a longer one its beginning is.
const BYTES_MAX: usize = 1024;

/// Returns whom `call` would write to, each once, in normal form.
pub fn normal_recipients(call: &ToolCall) -> Vec<String> {
    let mut names: Vec<String> = card::recipients(call)
        .iter()
        .flat_map(|text| written_in(text))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns everybody who is named in `text`, in normal form: it may hold several addresses, or JSON
/// with addresses in it.
fn written_in(text: &str) -> Vec<String> {
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
        let mut leaves = Vec::new();
        collect(&value, &mut leaves);
        return leaves.iter().flat_map(|leaf| several(leaf)).collect();
    }
    several(text)
}

fn collect(value: &Value, leaves: &mut Vec<String>) {
    match value {
        Value::String(text) => leaves.push(text.clone()),
        Value::Number(number) => leaves.push(number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| collect(value, leaves)),
        Value::Object(values) => values.values().for_each(|value| collect(value, leaves)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn several(text: &str) -> Vec<String> {
    let names = text.split([',', ';', '\n']).map(normal);
    names.filter(|name| !name.is_empty()).collect()
}

/// Returns one recipient in normal form; empty if there is nobody in it.
pub fn normal(text: &str) -> String {
    let text = text
        .get(..text.floor_char_boundary(BYTES_MAX))
        .unwrap_or_default();
    // Compatibility forms (full-width letters) and case do not make another person; what is not seen
    // does not either.
    let folded: String = text
        .nfkc()
        .filter(|letter| !is_unseen(*letter))
        .flat_map(char::to_lowercase)
        .collect();
    let mut name = folded.trim();
    if !is_phone(name) {
        name = address(name);
    }
    while let Some(rest) = RECIPIENT_SCHEMES
        .iter()
        .find_map(|scheme| name.strip_prefix(scheme))
    {
        name = rest.trim();
    }
    let name = name.trim_matches(|letter: char| letter.is_whitespace() || "\"'<>".contains(letter));
    let name = name.trim_start_matches('@').trim_end_matches('.');
    if is_phone(name) {
        return name.chars().filter(char::is_ascii_digit).collect();
    }
    match name.split_once('@') {
        // `ana+news@example.org` is ana's.
        Some((local, domain)) => {
            let local = local.split_once('+').map_or(local, |(local, _)| local);
            format!("{local}@{domain}")
        }
        None => name.to_owned(),
    }
}

/// Returns the address of `Ana <ana@example.org>` and of `ana (mattermost:@ana)`.
fn address(text: &str) -> &str {
    let inside = |open: char, close: char| {
        let (_, behind) = text.split_once(open)?;
        let (inside, _) = behind.rsplit_once(close)?;
        Some(inside.trim()).filter(|inside| !inside.is_empty())
    };
    if let Some(inside) = inside('<', '>') {
        return inside;
    }
    match inside('(', ')') {
        Some(inside) => inside
            .split_once(':')
            .map_or(inside, |(_, address)| address),
        None => text,
    }
}

/// Whether it is a number people call: digits and what stands between them.
fn is_phone(name: &str) -> bool {
    let digits = name.chars().filter(char::is_ascii_digit).count();
    let is_of_one = |letter: char| letter.is_ascii_digit() || "+-./() ".contains(letter);
    digits >= 6 && name.chars().all(is_of_one)
}

fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spellings_of_one_address_are_one_person() {
        let rows: [(&[&str], &str); 4] = [
            (
                &[
                    "ana@example.org",
                    " Ana@Example.ORG ",
                    "mailto:ana@example.org",
                    "Ana Lind <ana@example.org>",
                    "\"Lind; Ana\" <ANA@example.org>",
                    "ana+news@example.org",
                    "ana@example.org.",
                    "ａｎａ@example.org",
                    "a\u{200b}na@example.org",
                ],
                "ana@example.org",
            ),
            (
                &["ana", "@ana", "Ana", "ana (mattermost:@ana)", "<ana>"],
                "ana",
            ),
            (
                &["+49 (170) 123-4567", "tel:+491701234567", "49.170.1234567"],
                "491701234567",
            ),
            (&["", " ", "@"], ""),
        ];
        for (spellings, wanted) in rows {
            for spelling in spellings {
                assert_eq!(normal(spelling), wanted, "{spelling}");
            }
        }
        assert_ne!(normal("ana@example.org"), normal("ana@example.com"));
        assert_ne!(normal("ana"), normal("anna"));
    }

    #[test]
    fn everybody_who_is_written_to_is_found_wherever_it_stands() {
        let call = |args| ToolCall {
            tool: "send_email".to_owned(),
            args,
            ..ToolCall::default()
        };
        let both = ["ana@example.org", "ben@example.org"];
        for args in [
            json!({ "to": ["Ben@example.org", "ana@example.org"], "body": "x" }),
            json!({ "to": "ana@example.org, Ben <ben@example.org>", "body": "x" }),
            json!({ "to": "ana@example.org", "cc": "ben@example.org", "body": "x" }),
            json!({ "to": [{ "name": "", "email": "ana@example.org" }, "ben@example.org"] }),
        ] {
            assert_eq!(normal_recipients(&call(args.clone())), both, "{args}");
        }
    }
}
