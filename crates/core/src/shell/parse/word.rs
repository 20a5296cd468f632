//! Words: quotes, escapes, parameters, substitutions.

use super::{Parsed, Parser, is_meta};
use crate::shell::syntax::{Part, Word};

/// What ends a word, and what is live inside it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Between blanks on a command line.
    Bare,
    /// Inside `[[ … ]]`, where parentheses and bars may belong to a regular expression.
    Test,
    /// Inside `${x… }`.
    Braces,
    /// Inside `"${x… }"`.
    QuotedBraces,
    /// Inside `[ … ]` of an array element.
    Subscript,
}

/// Collects the parts of a word, joining neighbours of one kind.
#[derive(Default)]
pub(super) struct Parts {
    done: Vec<Part>,
    plain: String,
    quoted: String,
}

impl Parts {
    pub(super) fn plain(&mut self, text: &str) {
        if !self.quoted.is_empty() {
            self.done
                .push(Part::Quoted(std::mem::take(&mut self.quoted)));
        }
        self.plain.push_str(text);
    }

    pub(super) fn quoted(&mut self, text: &str) {
        if !self.plain.is_empty() {
            self.done.push(Part::Plain(std::mem::take(&mut self.plain)));
        }
        self.quoted.push_str(text);
    }

    pub(super) fn push(&mut self, part: Part) {
        self.flush();
        self.done.push(part);
    }

    pub(super) fn flush(&mut self) {
        if !self.plain.is_empty() {
            self.done.push(Part::Plain(std::mem::take(&mut self.plain)));
        }
        if !self.quoted.is_empty() {
            self.done
                .push(Part::Quoted(std::mem::take(&mut self.quoted)));
        }
    }

    pub(super) fn finish(mut self) -> Vec<Part> {
        self.flush();
        self.done
    }
}

impl Parser<'_> {
    /// Reads a word; there must be one.
    pub(super) fn word(&mut self) -> Parsed<Word> {
        let start = self.at;
        let word = self.word_in(Context::Bare)?;
        if self.at == start {
            return Err(self.error("a word is missing"));
        }
        Ok(word)
    }

    /// Reads a word that may be empty, as after `x=`.
    pub(super) fn optional_word(&mut self) -> Parsed<Word> {
        self.word_in(Context::Bare)
    }

    /// Reads a word of `[[ … ]]`.
    pub(super) fn test_word(&mut self) -> Parsed<Word> {
        let start = self.at;
        let word = self.word_in(Context::Test)?;
        if self.at == start {
            return Err(self.error("`[[` cannot be read"));
        }
        Ok(word)
    }

    /// Reads `[ … ]` of an array element; gives the cursor back if it is not one.
    pub(super) fn subscript(&mut self) -> Parsed<Option<Word>> {
        let before = self.at;
        self.at += 1;
        let word = self.nested(|parser| parser.word_in(Context::Subscript));
        match word {
            Ok(word) if self.peek() == Some(b']') => {
                self.at += 1;
                Ok(Some(word))
            }
            Ok(_) => {
                self.at = before;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads the body of a here-document: like a double-quoted text in which quotes are plain.
    pub(super) fn here_document_parts(&mut self) -> Parsed<Vec<Part>> {
        let mut parts = Parts::default();
        while let Some(byte) = self.peek() {
            self.burn()?;
            match byte {
                b'\\' | b'$' | b'`' => self.live_in_quotes(&mut parts)?,
                _ => self.run(&mut parts, b"\\$`"),
            }
        }
        Ok(parts.finish())
    }

    pub(super) fn word_in(&mut self, context: Context) -> Parsed<Word> {
        let start = self.at;
        let mut parts = Parts::default();
        let mut open = 0_u32;
        while let Some(byte) = self.peek() {
            self.burn()?;
            match byte {
                b'\\' => {
                    let next = self
                        .source
                        .get(self.at + 1..)
                        .and_then(|rest| rest.chars().next());
                    self.at += 1 + next.map_or(0, char::len_utf8);
                    match next {
                        None => parts.quoted("\\"),
                        Some('\n') => {}
                        Some(next) if context == Context::QuotedBraces => {
                            if !matches!(next, '$' | '`' | '"' | '\\' | '}') {
                                parts.quoted("\\");
                            }
                            parts.quoted(next.encode_utf8(&mut [0; 4]));
                        }
                        Some(next) => parts.quoted(next.encode_utf8(&mut [0; 4])),
                    }
                }
                b'\'' if context != Context::QuotedBraces => self.single_quoted(&mut parts)?,
                b'"' => self.double_quoted(&mut parts)?,
                b'$' => self.dollar(&mut parts, context == Context::QuotedBraces)?,
                b'`' => self.backticks(&mut parts, context == Context::QuotedBraces)?,
                _ => {
                    if self.ends(context, byte, &mut open) {
                        break;
                    }
                    self.unquoted(&mut parts, context, byte, &mut open)?;
                }
            }
        }
        if open > 0 && context == Context::Bare {
            return Err(self.error("a parenthesis is not closed"));
        }
        Ok(Word {
            parts: parts.finish(),
            span: self.span(start, self.at),
        })
    }

    /// Whether `byte` ends a word in `context`; `open` counts parentheses of patterns.
    fn ends(&self, context: Context, byte: u8, open: &mut u32) -> bool {
        match context {
            Context::Bare => {
                let process = matches!(byte, b'<' | b'>') && self.peek_at(1) == Some(b'(');
                let pattern =
                    byte == b'(' && (self.after_pattern_sign() || self.directory_group().is_some());
                *open == 0 && is_meta(byte) && !process && !pattern
            }
            Context::Test => match byte {
                b' ' | b'\t' | b'\n' | b')' => *open == 0,
                b';' => true,
                b'&' => *open == 0 && self.peek_at(1) == Some(b'&'),
                b'|' => *open == 0 && self.peek_at(1) == Some(b'|'),
                _ => false,
            },
            Context::Braces | Context::QuotedBraces => byte == b'}',
            Context::Subscript => match byte {
                b'[' => {
                    *open += 1;
                    false
                }
                b']' if *open > 0 => {
                    *open -= 1;
                    false
                }
                b']' => true,
                // `[ a` is a command, not a subscript.
                byte => is_meta(byte) && *open == 0 && matches!(byte, b' ' | b'\t' | b'\n' | b';'),
            },
        }
    }

    /// Whether the cursor stands after one of the signs that open a pattern such as `@(a|b)`.
    fn after_pattern_sign(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at));
        matches!(before, Some(b'?' | b'*' | b'+' | b'@' | b'!' | b'='))
    }

    /// Returns the name in `app/(name)/page.tsx`. To bash the line is no command, so nothing of it runs; to
    /// zsh the parentheses are a pattern that only this name matches.
    fn directory_group(&self) -> Option<&str> {
        let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at));
        let (name, rest) = self.source.get(self.at + 1..)?.split_once(')')?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let is_name = !name.is_empty() && name.bytes().all(plain);
        (before == Some(&b'/') && is_name && rest.starts_with('/')).then_some(name)
    }

    /// Takes unquoted text from the cursor up to the next live character.
    fn unquoted(
        &mut self,
        parts: &mut Parts,
        context: Context,
        byte: u8,
        open: &mut u32,
    ) -> Parsed<()> {
        let before = self
            .at
            .checked_sub(1)
            .and_then(|at| self.bytes.get(at))
            .copied();
        match byte {
            b'<' | b'>'
                if self.peek_at(1) == Some(b'(')
                    && matches!(context, Context::Bare | Context::Test) =>
            {
                let writes = byte == b'>';
                self.at += 2;
                let body = self.substituted()?;
                parts.push(Part::Process { body, writes });
            }
            b'(' if context == Context::Bare || context == Context::Test => {
                // `@(…)`, `*(…)`: a pattern. zsh runs code from `*(e:…:)`.
                if before == Some(b'=') && *open == 0 && context == Context::Bare {
                    self.at += 1;
                    let body = self.substituted()?;
                    parts.push(Part::Process {
                        body,
                        writes: false,
                    });
                    return Ok(());
                }
                if *open == 0
                    && context == Context::Bare
                    && let Some(name) = self.directory_group().map(str::to_owned)
                {
                    self.at += name.len() + "()".len();
                    parts.plain(&name);
                    return Ok(());
                }
                if matches!(self.peek_at(1), Some(b'e' | b'+')) && context == Context::Bare {
                    parts.push(Part::Hidden("a zsh glob qualifier can run code"));
                }
                *open += 1;
                self.at += 1;
                parts.plain("(");
            }
            b')' if *open > 0 => {
                *open -= 1;
                self.at += 1;
                parts.plain(")");
            }
            _ => {
                let start = self.at;
                self.at += 1;
                let rest = self.bytes.get(self.at..).unwrap_or(&[]);
                let length = rest.iter().position(|byte| {
                    is_meta(*byte)
                        || matches!(
                            byte,
                            b'\\' | b'\'' | b'"' | b'$' | b'`' | b'}' | b'[' | b']'
                        )
                });
                self.at += length.unwrap_or(rest.len());
                // A character that is not ASCII may have been cut after its first byte.
                while !self.source.is_char_boundary(self.at) {
                    self.at += 1;
                }
                parts.plain(self.text(start, self.at));
            }
        }
        Ok(())
    }

    /// Takes text up to the next of `stops`.
    pub(super) fn run(&mut self, parts: &mut Parts, stops: &[u8]) {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let length = rest
            .iter()
            .position(|byte| stops.contains(byte))
            .unwrap_or(rest.len());
        parts.quoted(self.text(self.at, self.at + length));
        self.at += length;
    }

    pub(super) fn single_quoted(&mut self, parts: &mut Parts) -> Parsed<()> {
        let start = self.at + 1;
        let Some(length) = memchr::memchr(b'\'', self.bytes.get(start..).unwrap_or(&[])) else {
            return Err(self.error("a quote is not closed"));
        };
        parts.quoted(self.text(start, start + length));
        self.empty_quotes(parts, length == 0);
        self.at = start + length + 1;
        Ok(())
    }

    /// Remembers that `''` makes a word even if nothing else does.
    #[expect(
        clippy::unused_self,
        reason = "reads like the other steps of the parser"
    )]
    pub(super) fn empty_quotes(&self, parts: &mut Parts, empty: bool) {
        if empty && parts.done.is_empty() && parts.plain.is_empty() && parts.quoted.is_empty() {
            parts.done.push(Part::Quoted(String::new()));
        }
    }

    pub(super) fn double_quoted(&mut self, parts: &mut Parts) -> Parsed<()> {
        self.at += 1;
        self.empty_quotes(parts, self.peek() == Some(b'"'));
        while let Some(byte) = self.peek() {
            self.burn()?;
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' | b'$' | b'`' => self.live_in_quotes(parts)?,
                _ => self.run(parts, b"\"\\$`"),
            }
        }
        Err(self.error("a quote is not closed"))
    }

    /// Takes what is live in double quotes and here-documents: `\`, `$`, backticks.
    pub(super) fn live_in_quotes(&mut self, parts: &mut Parts) -> Parsed<()> {
        match self.peek() {
            Some(b'\\') => {
                let next = self
                    .source
                    .get(self.at + 1..)
                    .and_then(|rest| rest.chars().next());
                self.at += 1 + next.map_or(0, char::len_utf8);
                match next {
                    Some('\n') => {}
                    Some(next @ ('$' | '`' | '"' | '\\')) => {
                        parts.quoted(next.encode_utf8(&mut [0; 4]));
                    }
                    Some(next) => {
                        parts.quoted("\\");
                        parts.quoted(next.encode_utf8(&mut [0; 4]));
                    }
                    None => parts.quoted("\\"),
                }
                Ok(())
            }
            Some(b'$') => self.dollar(parts, true),
            _ => self.backticks(parts, true),
        }
    }
}
