//! Detects whether JavaScript for a web page only reads the page.
//!
//! A page is full of things that act when they are merely called, so this is a list of what is
//! known to look: names that may be called, names that may not occur at all. Everything else acts.

use crate::knowledge::names::{ACTING_NAMES, LOOKING_FUNCTIONS};
use crate::language::script::{Token, javascript_tokens};

/// Longest script that is looked at.
const SCRIPT_BYTES_MAX: usize = 16 * 1024;

/// Whether `script` only looks at the page.
pub(super) fn only_looks(script: &str) -> bool {
    if script.len() > SCRIPT_BYTES_MAX || !script.is_ascii() && script.contains('\\') {
        return false;
    }
    let Some(tokens) = javascript_tokens(script) else {
        return false;
    };
    let mut declared = false;
    for (index, token) in tokens.iter().enumerate() {
        let calls = tokens.get(index + 1).is_some_and(|next| next.is_mark("("));
        let before = index.checked_sub(1).and_then(|index| tokens.get(index));
        let looks = match token {
            Token::Name(name) => {
                declared |= matches!(name.as_str(), "const" | "let" | "var");
                !ACTING_NAMES.contains(name.as_str())
                    && (!calls || LOOKING_FUNCTIONS.contains(name.as_str()))
            }
            Token::Text(Some(_)) => !calls && may_precede_text(before),
            // `a[b](…)` and `(…)(…)` call what is not named.
            Token::Number | Token::Mark("]" | ")" | "}" | "?.") => !calls,
            Token::Mark("=") => std::mem::take(&mut declared),
            Token::Mark(";") => {
                declared = false;
                true
            }
            Token::Mark(mark) => !changes(mark),
            // A pattern, or a text that code is put into.
            Token::Text(None)
            | Token::Newline
            | Token::Variable(_)
            | Token::Symbol(_)
            | Token::Command(_) => false,
        };
        if !looks {
            return false;
        }
    }
    true
}

/// Whether a text may stand behind this token; two values side by side are not read here.
fn may_precede_text(before: Option<&Token>) -> bool {
    match before {
        Some(Token::Name(name)) => matches!(name.as_str(), "return" | "of" | "in" | "typeof"),
        Some(token) => !token.is_mark("]") && !token.is_mark(")"),
        None => true,
    }
}

/// Whether an operator gives something a new value, or is too rare to be worth reading.
fn changes(mark: &str) -> bool {
    let compares = matches!(mark, "==" | "===" | "!=" | "!==" | "<=" | ">=");
    let assigns = (mark.ends_with('=') || mark.starts_with('=') && mark != "=>") && !compares;
    assigns || matches!(mark, "++" | "--" | "/" | "#" | "@" | "$")
}

#[cfg(test)]
mod tests {
    use super::only_looks;

    #[test]
    fn looking_is_told_from_acting() {
        for (script, want) in [
            ("document.title", true),
            ("document.querySelector('h1').textContent", true),
            (
                "Array.from(document.querySelectorAll('a')).map(a => a.href).slice(0, 5)",
                true,
            ),
            (
                "const rows = document.querySelectorAll('tr'); rows.length",
                true,
            ),
            ("() => JSON.stringify({title: document.title})", true),
            ("document.querySelector('form').submit()", false),
            ("document.cookie", false),
            ("location = 'https://example.org'", false),
            ("document.body.innerHTML = ''", false),
            ("fetch('https://example.org')", false),
            ("window['fe' + 'tch']('x')", false),
            ("document.querySelector('button').click()", false),
            ("eval`x`", false),
            ("localStorage.getItem('t')", false),
            ("let a = 1; a.b = 2", false),
            ("'unclosed", false),
            ("document.title // the title", true),
            ("document.title // x\rfetch('/x')", false),
            ("let a = 1; a += 2", false),
            ("$('form')", false),
            ("`${document.cookie}`", false),
            ("document.links?.(1)", false),
        ] {
            assert_eq!(only_looks(script), want, "{script}");
        }
    }
}
