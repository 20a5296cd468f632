//! Whether JavaScript for a page in the browser only looks at the page.
//!
//! A page is full of things that act when they are merely called, so this is a list of what is
//! known to look: names that may be called, names that may not occur at all. Everything else acts.

use crate::knowledge::names::{ACTING_NAMES, LOOKING_FUNCTIONS};

/// Longest script that is looked at.
const SCRIPT_BYTES_MAX: usize = 16 * 1024;

/// Whether `script` only looks at the page.
pub(super) fn only_looks(script: &str) -> bool {
    if script.len() > SCRIPT_BYTES_MAX || !script.is_ascii() && script.contains('\\') {
        return false;
    }
    let Some(tokens) = tokens(script) else {
        return false;
    };
    let mut declared = false;
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1);
        let before = index.checked_sub(1).and_then(|index| tokens.get(index));
        match token {
            Token::Name(name) => {
                if ACTING_NAMES.contains(&name.as_str()) {
                    return false;
                }
                if matches!(name.as_str(), "const" | "let" | "var") {
                    declared = true;
                }
                if next == Some(&Token::Sign('(')) && !LOOKING_FUNCTIONS.contains(&name.as_str()) {
                    return false;
                }
            }
            Token::Sign('(') => {
                // `a[b](…)`, `(…)(…)` and `"…"(…)` call what is not named.
                if matches!(before, Some(Token::Sign(']' | ')' | '}') | Token::Text)) {
                    return false;
                }
            }
            Token::Sign('=') => {
                if !declared {
                    return false;
                }
                declared = false;
            }
            Token::Sign(';') => declared = false,
            Token::Text if matches!(before, Some(Token::Name(_) | Token::Sign(']' | ')'))) => {
                // A tagged template calls; two values side by side are not read here.
                if !matches!(before, Some(Token::Name(name)) if matches!(name.as_str(), "return" | "of" | "in" | "typeof"))
                {
                    return false;
                }
            }
            Token::Text | Token::Sign(_) => {}
        }
    }
    true
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Text,
    Sign(char),
}

/// Splits a script; `None` where it cannot be split for sure.
fn tokens(script: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut letters = script.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            _ if letter.is_whitespace() => {}
            '"' | '\'' | '`' => {
                loop {
                    match letters.next()? {
                        '\\' => {
                            letters.next()?;
                        }
                        '$' if letter == '`' && letters.peek() == Some(&'{') => return None,
                        end if end == letter => break,
                        _ => {}
                    }
                }
                tokens.push(Token::Text);
            }
            // A slash may begin a comment, a pattern or a division; telling them apart is not worth it.
            '/' | '\\' | '#' | '@' => return None,
            '=' => {
                if matches!(letters.peek(), Some('=' | '>')) {
                    letters.next();
                    if letters.peek() == Some(&'=') {
                        letters.next();
                    }
                } else {
                    tokens.push(Token::Sign('='));
                }
            }
            '!' | '<' | '>' => {
                if letters.peek() == Some(&'=') {
                    letters.next();
                    if letters.peek() == Some(&'=') {
                        letters.next();
                    }
                }
            }
            '+' | '-' => {
                if letters.peek() == Some(&letter) {
                    return None;
                }
                tokens.push(Token::Sign(letter));
            }
            _ if letter.is_alphanumeric() || letter == '_' || letter == '$' => {
                let mut name = String::from(letter);
                while let Some(next) =
                    letters.next_if(|next| next.is_alphanumeric() || matches!(next, '_' | '$'))
                {
                    name.push(next);
                }
                tokens.push(Token::Name(name));
            }
            sign => tokens.push(Token::Sign(sign)),
        }
    }
    Some(tokens)
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
        ] {
            assert_eq!(only_looks(script), want, "{script}");
        }
    }
}
