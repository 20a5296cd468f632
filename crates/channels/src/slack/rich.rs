//! Text as Slack's rich text: elements with a type each, in which nothing is parsed.
//!
//! No mrkdwn anywhere: in a `text` element `<!channel>`, `*` and an address are just these characters.
//! What the agent says comes as Markdown; its code and its emphasis are kept, nothing else acts.

use countersign_core::display::unfenced;
use serde_json::{Value, json};

use crate::text::pieces;

/// Longest text of one element, in characters.
const ELEMENT_CHARS_MAX: usize = 3000;
/// Shortest fence of code.
const FENCE_MIN: usize = 3;
/// What a backslash may stand before in Markdown.
const ESCAPED: &str = "\\`*_{}[]<>()#+-.!|~@";

/// How words look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    Bold,
    Code,
}

/// Returns words, as elements of a section or a block of code.
pub(super) fn words(text: &str, look: Look) -> Vec<Value> {
    let element = |piece: &String| match look {
        Look::Plain => json!({ "type": "text", "text": piece }),
        Look::Bold => json!({ "type": "text", "text": piece, "style": { "bold": true } }),
        Look::Code => json!({ "type": "text", "text": piece, "style": { "code": true } }),
    };
    pieces(text, ELEMENT_CHARS_MAX)
        .iter()
        .map(element)
        .collect()
}

/// Returns a mention of an account, which notifies that person.
pub(super) fn mention(account: &str) -> Value {
    json!({ "type": "user", "user_id": account })
}

/// Returns a paragraph.
pub(super) fn section(elements: Vec<Value>) -> Value {
    json!({ "type": "rich_text_section", "elements": Value::Array(elements) })
}

/// Returns a block of code that its text cannot leave.
pub(super) fn preformatted(text: &str) -> Value {
    let text = text.trim_end_matches('\n');
    let text = if text.is_empty() { "—" } else { text };
    json!({ "type": "rich_text_preformatted", "elements": words(text, Look::Plain) })
}

/// Returns a block of paragraphs.
pub(super) fn block(elements: Vec<Value>) -> Value {
    json!({ "type": "rich_text", "elements": Value::Array(elements) })
}

/// Returns what the agent says to a person, hidden characters written out.
pub(super) fn spoken(text: &str) -> Value {
    shown(&unfenced(text))
}

/// Returns the same of text in which hidden characters are written out already.
pub(super) fn shown(text: &str) -> Value {
    let mut parts = Vec::new();
    let mut prose = Vec::new();
    let mut lines = text.split('\n');
    while let Some(line) = lines.next() {
        let behind = line.trim_start().trim_start_matches('`');
        let run = line.trim_start().len() - behind.len();
        if run < FENCE_MIN || behind.contains('`') {
            prose.push(line);
            continue;
        }
        prose_into(&mut parts, &mut prose);
        let ends = |line: &&str| {
            let bare = line.trim();
            bare.len() >= run && bare.bytes().all(|byte| byte == b'`')
        };
        let code: Vec<&str> = lines.by_ref().take_while(|line| !ends(line)).collect();
        parts.push(preformatted(&code.join("\n")));
    }
    prose_into(&mut parts, &mut prose);
    if parts.is_empty() {
        parts.push(section(words("—", Look::Plain)));
    }
    block(parts)
}

/// Returns a text for places that parse mrkdwn whatever is asked: notifications and old clients.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Returns what somebody wrote, as they saw it: Slack sends mentions and addresses in brackets and
/// three characters escaped.
pub(super) fn heard(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, from) = rest.split_at(start);
        plain.push_str(before);
        let Some(end) = from.find('>') else {
            rest = from;
            break;
        };
        let inside = from.get(1..end).unwrap_or_default();
        plain.push_str(&meant(inside));
        rest = from.get(end + 1..).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// Returns what brackets stand for.
fn meant(inside: &str) -> String {
    let (target, label) = inside.split_once('|').unwrap_or((inside, ""));
    match target.chars().next() {
        Some(sign @ ('@' | '#')) if !label.is_empty() => format!("{sign}{label}"),
        Some('!') => {
            let name = target.trim_start_matches('!');
            let name = if label.is_empty() { name } else { label };
            format!("@{}", name.trim_start_matches('@'))
        }
        Some(_) | None => target.to_owned(),
    }
}

/// Turns lines that are no code into a paragraph.
fn prose_into(parts: &mut Vec<Value>, prose: &mut Vec<&str>) {
    let lines = std::mem::take(prose);
    let mut runs = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            put(&mut runs, "\n", Look::Plain);
        }
        line_into(&mut runs, line);
    }
    let elements: Vec<Value> = runs
        .iter()
        .flat_map(|(text, look)| words(text, *look))
        .collect();
    let is_empty = runs.iter().all(|(text, _)| text.trim().is_empty());
    if !is_empty {
        parts.push(section(elements));
    }
}

fn put(runs: &mut Vec<(String, Look)>, text: &str, look: Look) {
    match runs.last_mut() {
        Some((last, known)) if *known == look => last.push_str(text),
        Some(_) | None => runs.push((text.to_owned(), look)),
    }
}

/// Splits one line into plain, bold and code.
fn line_into(runs: &mut Vec<(String, Look)>, line: &str) {
    let heading = line.trim_start_matches('#');
    let level = line.len() - heading.len();
    if (1..=6).contains(&level) && heading.starts_with(' ') {
        put(runs, heading.trim(), Look::Bold);
        return;
    }
    let mut rest = line;
    let mut look = Look::Plain;
    while let Some(letter) = rest.chars().next() {
        let behind = rest.get(letter.len_utf8()..).unwrap_or_default();
        if letter == '`' {
            let run = rest.len() - rest.trim_start_matches('`').len();
            let inside = rest.get(run..).unwrap_or_default();
            if let Some(end) = closing(inside, run) {
                let code = inside.get(..end).unwrap_or_default();
                put(runs, code_of(code), Look::Code);
                rest = inside.get(end + run..).unwrap_or_default();
            } else {
                put(runs, &"`".repeat(run), look);
                rest = inside;
            }
        } else if letter == '\\' && behind.starts_with(|next| ESCAPED.contains(next)) {
            let next = behind.chars().next().unwrap_or_default();
            put(runs, &next.to_string(), look);
            rest = behind.get(next.len_utf8()..).unwrap_or_default();
        } else if let Some(behind) = rest.strip_prefix("**")
            && (look == Look::Bold || behind.contains("**"))
        {
            look = if look == Look::Bold {
                Look::Plain
            } else {
                Look::Bold
            };
            rest = behind;
        } else {
            put(runs, &letter.to_string(), look);
            rest = behind;
        }
    }
}

/// Returns where a code span that began with `run` backticks ends: at a run of exactly so many.
fn closing(inside: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = inside.get(at..)?;
        let start = at + rest.find('`')?;
        let found = inside.get(start..)?;
        let length = found.len() - found.trim_start_matches('`').len();
        if length == run && start > 0 {
            return Some(start);
        }
        at = start + length;
    }
}

/// Returns the text of a code span: one space at both ends only keeps backticks apart.
fn code_of(code: &str) -> &str {
    let inner = code
        .strip_prefix(' ')
        .and_then(|code| code.strip_suffix(' '));
    match inner {
        Some(inner) if inner.starts_with('`') || inner.ends_with('`') => inner,
        Some(_) | None => code,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::{code, fenced};

    fn texts(value: &Value) -> String {
        let mut all = String::new();
        for part in value["elements"].as_array().unwrap() {
            for element in part["elements"].as_array().unwrap() {
                all.push_str(element["text"].as_str().unwrap());
            }
        }
        all
    }

    #[test]
    fn markdown_keeps_its_code_and_its_emphasis_and_nothing_else_acts() {
        let said = spoken(
            "# Plan\nrun `ls -la` **now** <!channel> https://e.example\n```sh\nrm *\n```\ndone",
        );
        let parts = said["elements"].as_array().unwrap();
        let seen = parts.iter().flat_map(|part| {
            let elements = part["elements"].as_array().unwrap().iter();
            elements.map(|it| format!("{} {} {}", part["type"], it["text"], it["style"]))
        });
        insta::assert_snapshot!(seen.collect::<Vec<_>>().join("\n"), @r#"
        "rich_text_section" "Plan" {"bold":true}
        "rich_text_section" "\nrun " null
        "rich_text_section" "ls -la" {"code":true}
        "rich_text_section" " " null
        "rich_text_section" "now" {"bold":true}
        "rich_text_section" " ⟨U+003C⟩!channel> https://e.example" null
        "rich_text_preformatted" "rm *" null
        "rich_text_section" "done" null
        "#);
    }

    #[test]
    fn what_people_write_is_read_as_they_saw_it() {
        let rows = [
            ("hello", "hello"),
            ("<@U1> and <@U2|ana>", "@U1 and @ana"),
            ("see <#C1|ops>, <!here>", "see #ops, @here"),
            (
                "<https://e.example/?a=1&amp;b|e.example>",
                "https://e.example/?a=1&b",
            ),
            ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
            ("1 < 2", "1 < 2"),
        ];
        for (text, expected) in rows {
            assert_eq!(heard(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn code_is_shown_letter_by_letter(text in "[`a*@<_ ]{1,40}") {
            prop_assume!(!text.trim().is_empty());
            // In a code span two spaces around backticks may be the span's own.
            if !(text.starts_with(' ') && text.ends_with(' ')) {
                let span = shown(&code(&text));
                prop_assert_eq!(texts(&span), text.clone());
            }
            let block = shown(&fenced(&text));
            let kinds = block["elements"].as_array().unwrap();
            prop_assert_eq!(kinds.len(), 1);
            prop_assert_eq!(&kinds[0]["type"], "rich_text_preformatted");
            prop_assert_eq!(texts(&block), text);
        }

        #[test]
        fn nothing_but_text_comes_of_text(text in "[`*#<>@!a|\\n\\[\\]()]{0,80}") {
            let block = spoken(&text);
            for part in block["elements"].as_array().unwrap() {
                for element in part["elements"].as_array().unwrap() {
                    prop_assert_eq!(&element["type"], "text");
                }
            }
        }
    }
}
