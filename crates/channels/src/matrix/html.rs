//! Turns text with entities into what a message of Matrix has: a plain text, and HTML beside it.
//!
//! Clients render the HTML, so everything in it is escaped, and only four tags without attributes are
//! ours: nothing is linked, no picture is loaded, nobody is mentioned by it. Whom a message mentions is
//! said in `m.mentions` alone, which is always there: without it servers look for names in the text.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::rich::{Rich, Style};

/// Stands before each line of code in the plain text, so that no such line can be taken for ours.
const INDENT: &str = "    ";
const BREAK: &str = "<br>";

/// Returns the content of a message that mentions these accounts.
pub(super) fn content(kind: &str, rich: &Rich, mentions: &[String]) -> Value {
    let mentioned = if mentions.is_empty() {
        json!({})
    } else {
        json!({ "user_ids": mentions })
    };
    json!({
        "msgtype": kind,
        "body": plain(rich),
        "format": "org.matrix.custom.html",
        "formatted_body": html(rich),
        "m.mentions": mentioned,
    })
}

fn plain(rich: &Rich) -> String {
    let mut text = String::new();
    for (style, run) in rich.runs() {
        match style {
            Some(Style::Pre) => {
                let lines: Vec<String> =
                    run.lines().map(|line| format!("{INDENT}{line}")).collect();
                text.push_str(&lines.join("\n"));
            }
            Some(Style::Bold | Style::Code | Style::TextMention) | None => text.push_str(run),
        }
    }
    text
}

fn html(rich: &Rich) -> String {
    let mut html = String::new();
    let mut is_behind_block = false;
    for (style, run) in rich.runs() {
        let text = escaped(run);
        match style {
            None | Some(Style::TextMention) => {
                // A block begins and ends a line by itself.
                let text = match text.strip_prefix('\n') {
                    Some(rest) if is_behind_block => rest,
                    Some(_) | None => text.as_str(),
                };
                html.push_str(&text.replace('\n', BREAK));
            }
            Some(Style::Bold) => push(&mut html, "strong", &text),
            Some(Style::Code) => push(&mut html, "code", &text),
            Some(Style::Pre) => {
                if html.ends_with(BREAK) {
                    html.truncate(html.len() - BREAK.len());
                }
                html.push_str("<pre>");
                push(&mut html, "code", &text);
                html.push_str("</pre>");
            }
        }
        is_behind_block = style == Some(Style::Pre);
    }
    html
}

fn push(html: &mut String, tag: &str, text: &str) {
    let _infallible = write!(html, "<{tag}>{text}</{tag}>");
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_stays_text() {
        let mut rich = Rich::default();
        rich.styled(Style::Bold, "A <b>").plain("\nlook & see\n");
        rich.styled(Style::Pre, "rm <x>\n\"'&").plain("\nend ");
        rich.styled(Style::Code, "@all:x");
        let content = content("m.text", &rich, &[]);
        assert_eq!(
            content["formatted_body"],
            "<strong>A &lt;b&gt;</strong><br>look &amp; see\
             <pre><code>rm &lt;x&gt;\n&quot;&#39;&amp;</code></pre>end <code>@all:x</code>"
        );
        assert_eq!(
            content["body"],
            "A <b>\nlook & see\n    rm <x>\n    \"'&\nend @all:x"
        );
        assert_eq!(content["m.mentions"], json!({}));
    }

    proptest! {
        #[test]
        fn whatever_is_said_only_our_tags_are_tags(text in "[<>&\"'`a/ \\n]{0,60}") {
            let mut rich = Rich::default();
            rich.markdown(&text);
            let mut html = html(&rich);
            for tag in ["strong", "code", "pre"] {
                html = html.replace(&format!("<{tag}>"), "").replace(&format!("</{tag}>"), "");
            }
            prop_assert!(!html.replace(BREAK, "").contains(['<', '>', '"', '\'']), "{html}");
        }
    }
}
