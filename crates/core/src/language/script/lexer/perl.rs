//! The parts of the lexer that only Perl needs: quote-like operators, sigils and handles.

use super::{Lexer, Token, closing};
use crate::language::cursor::{continues_name, starts_name};

impl Lexer<'_> {
    /// `q`, `qq`, `qw`, `qx`, `m`, `qr`, `s`, `tr` and `y` of Perl with any delimiter.
    pub(super) fn perl_quote(&mut self, name: &str) -> Option<bool> {
        if !matches!(
            name,
            "q" | "qq" | "qw" | "qx" | "m" | "qr" | "s" | "tr" | "y"
        ) {
            return Some(false);
        }
        // `-s $file` asks for a size.
        let is_file_test = self.cursor.peek().is_some_and(char::is_whitespace)
            && self.tokens.last().is_some_and(|token| token.is_mark("-"));
        if is_file_test && name.len() == 1 {
            return Some(false);
        }
        // `=>` makes the word a key, `=` and `,` leave it a word.
        if matches!(self.cursor.peek(), Some('=' | ',' | ';' | ')')) {
            return if self.cursor.looking_at("=>") {
                Some(false)
            } else {
                None
            };
        }
        self.cursor.take_while(char::is_whitespace);
        let open = self.cursor.bump()?;
        if continues_name(open) {
            return None;
        }
        let first = self.delimited(open)?;
        match name {
            "q" | "qw" => self.tokens.push(Token::Text(Some(first))),
            "qq" => self.sigils(&first, false)?,
            "qx" if open == '\'' => self.tokens.push(Token::Command(Some(first))),
            "qx" => self.sigils(&first, true)?,
            "m" | "qr" => self.pattern_done(&first)?,
            _ => self.perl_substitution(name, open, &first)?,
        }
        Some(true)
    }

    fn perl_substitution(&mut self, name: &str, open: char, pattern: &str) -> Option<()> {
        let second_open = if closing(open) == open {
            open
        } else {
            self.cursor.take_while(char::is_whitespace);
            self.cursor.bump()?
        };
        let replacement = self.delimited(second_open)?;
        if name != "s" {
            self.cursor.take_while(|c| c.is_ascii_lowercase());
            self.tokens.push(Token::Text(None));
            return Some(());
        }
        let flags = self.cursor.take_while(|c| c.is_ascii_lowercase());
        self.pattern_done(pattern)?;
        match flags.matches('e').count() {
            0 if second_open == '\'' => Some(()),
            0 => self.sigils(&replacement, false).map(|()| {
                // The replacement is part of the substitution, not a value of its own.
                self.tokens.pop();
            }),
            1 => self.inner(&replacement),
            _ => None,
        }
    }

    /// Sigils, handles and other marks of Perl.
    pub(super) fn perl_mark(&mut self, c: char) -> Option<bool> {
        match c {
            '$' => self.perl_scalar()?,
            '@' => match self.cursor.peek_at(1) {
                Some(next) if starts_name(next) => {
                    self.cursor.bump();
                    let name = self.cursor.take_while(|c| continues_name(c) || c == ':');
                    self.tokens.push(Token::Variable(format!("@{name}")));
                }
                Some('{' | '$') => {
                    self.cursor.bump();
                }
                _ => return None,
            },
            '%' if !self.after_value() => match self.cursor.peek_at(1) {
                Some(next) if starts_name(next) => {
                    self.cursor.bump();
                    let name = self.cursor.take_while(|c| continues_name(c) || c == ':');
                    self.tokens.push(Token::Variable(format!("%{name}")));
                }
                Some('{' | '$') => {
                    self.cursor.bump();
                }
                _ => return None,
            },
            '<' if !self.after_value() => {
                if self.cursor.looking_at("<<") || self.cursor.looking_at("<=") {
                    return None;
                }
                self.cursor.bump();
                let handle = self.cursor.take_while(|c| continues_name(c) || c == '$');
                if !self.cursor.eat('>') {
                    return None;
                }
                // Only handles are read here; file name patterns are not understood.
                let known = handle.is_empty()
                    || handle.starts_with('$')
                    || handle.chars().all(|c| c.is_ascii_uppercase() || c == '_');
                if !known {
                    return None;
                }
                self.tokens.push(Token::Text(None));
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn perl_scalar(&mut self) -> Option<()> {
        self.cursor.bump();
        if self.cursor.eat('#') {
            if matches!(self.cursor.peek(), Some('{' | '$')) {
                return Some(());
            }
            let name = self.cursor.take_while(continues_name);
            self.tokens.push(Token::Variable(format!("$#{name}")));
            return (!name.is_empty()).then_some(());
        }
        match self.cursor.peek()? {
            c if continues_name(c) || c == ':' => {
                let name = self.cursor.take_while(|c| continues_name(c) || c == ':');
                self.tokens.push(Token::Variable(format!("${name}")));
            }
            '$' if self
                .cursor
                .peek_at(1)
                .is_some_and(|c| starts_name(c) || c == '{') => {}
            '{' => {}
            '^' => {
                self.cursor.bump();
                // Most of these only tell; `$^I` edits files in place.
                if !matches!(self.cursor.bump()?, 'W' | 'O' | 'T' | 'V') {
                    return None;
                }
                self.tokens.push(Token::Variable("$^".to_owned()));
            }
            c if c.is_ascii_punctuation() => {
                self.cursor.bump();
                self.tokens.push(Token::Variable(format!("${c}")));
            }
            _ => return None,
        }
        Some(())
    }
}
