//! Detects whether JavaScript for a web page only reads the page.
//!
//! A page is full of things that act when they are merely called, so this is a list of what is
//! known to look: names that may be called, names that may not occur at all. Everything else acts.

use std::collections::BTreeSet;

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
    let own = own_objects(&tokens);
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
            Token::Mark("=") => std::mem::take(&mut declared) || fills(&tokens, index, &own),
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

/// Names that stand for nothing but an empty object or list which the script itself makes:
/// `const found = {};`. A name that is bound in any other way may stand for part of the page.
fn own_objects(tokens: &[Token]) -> BTreeSet<&str> {
    let at = |index: usize| tokens.get(index);
    let is = |index: usize, mark: &str| at(index).is_some_and(|token| token.is_mark(mark));
    let mut own = BTreeSet::new();
    let mut bound = BTreeSet::new();
    for (index, token) in tokens.iter().enumerate() {
        let Token::Name(name) = token else { continue };
        let before = index.checked_sub(1).and_then(at);
        let declares = ["const", "let", "var"];
        let is_declared =
            before.is_some_and(|it| declares.iter().any(|declares| it.is_name(declares)));
        let is_empty = is(index + 1, "=")
            && (is(index + 2, "{") && is(index + 3, "}")
                || is(index + 2, "[") && is(index + 3, "]"))
            && is(index + 4, ";");
        // A parameter, a part of a pattern, an argument: where the value comes from is not followed.
        let is_handed = before.is_some_and(|it| {
            let marks = ["(", ",", "{", "[", "..."];
            marks.iter().any(|mark| it.is_mark(mark))
        });
        if is_declared && is_empty {
            own.insert(name.as_str());
        } else if is_declared || is_handed || is(index + 1, "=>") {
            bound.insert(name.as_str());
        }
    }
    own.retain(|name| !bound.contains(name));
    own
}

/// Whether the sign at `index` sets a member of an object that the script itself made: `found.title = …`.
fn fills(tokens: &[Token], index: usize, own: &BTreeSet<&str>) -> bool {
    let mut before = tokens.get(..index).unwrap_or_default().iter().rev();
    let member = matches!(before.next(), Some(Token::Name(_)));
    let dot = before.next().is_some_and(|token| token.is_mark("."));
    let object = match before.next() {
        Some(Token::Name(name)) => own.contains(name.as_str()),
        _ => false,
    };
    let starts = before
        .next()
        .is_none_or(|token| !token.is_mark(".") && !token.is_mark("?."));
    member && dot && object && starts
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
            (
                "() => { const r = {}; r.title = document.title; return r; }",
                true,
            ),
            ("const r = []; r.last = document.title; r", true),
            // What stands for part of the page, in some place or other.
            ("const r = document.body; r.title = 'x'", false),
            ("const r = {}; r.style.color = 'x'", false),
            ("const r = {}; a.r.title = 'x'", false),
            (
                "const r = document.body; if (1) { const r = {}; } r.title = 'x'",
                false,
            ),
            (
                "document.querySelectorAll('a').forEach(r => { r.href = 'x' }); const r = {};",
                false,
            ),
            (
                "document.querySelectorAll('a').forEach((r) => { r.href = 'x' }); const r = {};",
                false,
            ),
            (
                "const r = {}, a = document.body; r.x = 1; a.title = 'x'",
                false,
            ),
            (
                "const {r} = document; { const r = {}; } r.title = 'x'",
                false,
            ),
            (
                "const r = [].concat(document.body)[0]; r.title = 'x'",
                false,
            ),
            ("title = 'x'; const r = {};", false),
        ] {
            assert_eq!(only_looks(script), want, "{script}");
        }
    }
}
