//! Texts of Python and templates of JavaScript, in which code may stand.

use super::{Lexer, Token, braced, escapes};
use crate::knowledge::Syntax;
use crate::language::cursor::Cursor;

impl Lexer<'_> {
    /// The text up to three quotes, escapes kept as they are; an escaped quote ends nothing.
    pub(super) fn until_triple(&mut self, triple: &str) -> Option<String> {
        let mut body = String::new();
        while !self.cursor.eat_text(triple) {
            let c = self.cursor.bump()?;
            body.push(c);
            if c == '\\' {
                body.push(self.cursor.bump()?);
            }
        }
        Some(body)
    }

    pub(super) fn python_text(&mut self, prefix: &str, body: &str) -> Option<()> {
        let is_raw = prefix.contains('r');
        let text = |body: &str| {
            if is_raw {
                Some(body.to_owned())
            } else {
                escapes::undo(Syntax::Python, body)
            }
        };
        if !prefix.contains('f') && !prefix.contains('t') {
            self.tokens.push(Token::Text(text(body)));
            return Some(());
        }
        let mut cursor = Cursor::new(body);
        let mut plain = String::new();
        self.tokens.push(Token::Mark("("));
        while let Some(c) = cursor.bump() {
            if c == '{' && !cursor.eat('{') {
                let code = braced(&mut cursor)?;
                self.tokens.push(Token::Text(text(&plain)));
                plain.clear();
                // What follows a colon or an exclamation mark at the end formats the value.
                let value = strip_format(&code);
                self.inner(value)?;
                // A date is shown as its format says, which may be any text.
                if !is_usual_format(code.get(value.len()..).unwrap_or_default()) {
                    self.tokens.extend([Token::Mark("+"), Token::Text(None)]);
                }
                self.tokens.push(Token::Mark("+"));
            } else {
                plain.push(c);
                if c == '}' {
                    cursor.eat('}');
                }
            }
        }
        self.tokens.push(Token::Text(text(&plain)));
        self.tokens.push(Token::Mark(")"));
        Some(())
    }

    /// A template of JavaScript: texts and code, joined.
    pub(super) fn template(&mut self, body: &str) -> Option<()> {
        let mut cursor = Cursor::new(body);
        let mut plain = String::new();
        let start = self.tokens.len();
        let mut is_plain = true;
        while let Some(c) = cursor.peek() {
            if c == '\\' {
                plain.extend([cursor.bump()?, cursor.bump()?]);
            } else if cursor.eat_text("${") {
                is_plain = false;
                self.tokens
                    .push(Token::Text(escapes::undo(Syntax::JavaScript, &plain)));
                plain.clear();
                let code = braced(&mut cursor)?;
                self.inner(&code)?;
                self.tokens.push(Token::Mark("+"));
            } else {
                plain.push(c);
                cursor.bump();
            }
        }
        self.tokens
            .push(Token::Text(escapes::undo(Syntax::JavaScript, &plain)));
        if !is_plain {
            self.tokens.insert(start, Token::Mark("("));
            self.tokens.push(Token::Mark(")"));
        }
        Some(())
    }
}

/// A Python format field without its conversion and format.
fn strip_format(code: &str) -> &str {
    let mut depth = 0_usize;
    let mut quote: Option<char> = None;
    for (at, c) in code.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ':') if depth == 0 => {
                // A format may hold further fields.
                let format = code.get(at..).unwrap_or_default();
                return if format.contains('{') {
                    code
                } else {
                    code.get(..at).unwrap_or(code)
                };
            }
            (None, '!')
                if depth == 0 && !code.get(at + 1..).is_some_and(|r| r.starts_with('=')) =>
            {
                return code.get(..at).unwrap_or(code);
            }
            _ => {}
        }
    }
    code.strip_suffix('=').unwrap_or(code)
}

/// Whether a format can only show a number, a text of some width, or a date by its directives.
pub(in crate::language::script) fn is_usual_format(format: &str) -> bool {
    let Some((_, format)) = format.split_once(':') else {
        return true;
    };
    let mut chars = format.chars().peekable();
    let dated = format.starts_with('%');
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let usual = match c {
            '%' => {
                chars.next_if(char::is_ascii_alphabetic);
                true
            }
            '.' => next.is_none_or(|next| next.is_ascii_digit() || next == '%'),
            '/' => dated && next == Some('%'),
            'd' | 'f' | 'g' | 's' | 'x' | 'T' | 'Z' => next.is_none_or(|next| next == '%'),
            c => c.is_ascii_digit() || "<>^=+-_ ,#:".contains(c),
        };
        if !usual {
            return false;
        }
    }
    true
}
