//! Expansions inside words: parameters, substitutions, arithmetic.

use super::word::{Context, Parts};
use super::{Parsed, Parser, is_name, is_name_start};
use crate::shell::syntax::{Block, Expansion, Operation, Part, Word};

/// Longest expression of a build server that is read: `${{ matrix.os }}`.
const TEMPLATE_BYTES_MAX: usize = 256;

impl Parser<'_> {
    pub(super) fn dollar(&mut self, parts: &mut Parts, quoted: bool) -> Parsed<()> {
        let Some(next) = self.peek_at(1) else {
            self.at += 1;
            parts.quoted("$");
            return Ok(());
        };
        match next {
            b'\'' if !quoted => {
                self.at += 2;
                let text = self.ansi_c()?;
                parts.quoted(&text);
                self.empty_quotes(parts, text.is_empty());
            }
            b'"' if !quoted => {
                self.at += 1;
                self.double_quoted(parts)?;
            }
            b'(' if self.peek_at(2) == Some(b'(') => {
                let part = self.nested(|parser| parser.arithmetic_or_substitution(quoted))?;
                parts.push(part);
            }
            b'(' => {
                self.at += 2;
                let body = self.substituted()?;
                parts.push(Part::Substitution { body, quoted });
            }
            b'[' => {
                self.at += 2;
                let word = self.nested(|parser| parser.word_in(Context::Subscript))?;
                if self.peek() != Some(b']') {
                    return Err(self.error("`$[` is not closed"));
                }
                self.at += 1;
                parts.push(Part::Arithmetic(word.parts));
            }
            b'{' => {
                self.at += 2;
                let part = self.nested(|parser| parser.braced(quoted))?;
                parts.push(part);
            }
            byte if is_name_start(byte) => {
                let start = self.at + 1;
                let rest = self.bytes.get(start..).unwrap_or(&[]);
                let length = rest.iter().take_while(|byte| is_name(**byte)).count();
                self.at = start + length;
                parts.push(parameter(
                    self.text(start, self.at),
                    None,
                    Operation::Value,
                    quoted,
                ));
            }
            b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => {
                let name = self.text(self.at + 1, self.at + 2).to_owned();
                self.at += 2;
                parts.push(parameter(&name, None, Operation::Value, quoted));
            }
            _ => {
                self.at += 1;
                parts.quoted("$");
            }
        }
        Ok(())
    }

    /// Reads a block up to the parenthesis that closes it.
    pub(super) fn substituted(&mut self) -> Parsed<Block> {
        let waiting = std::mem::take(&mut self.pending);
        let body = self.nested(Self::block)?;
        if self.peek() != Some(b')') {
            return Err(self.error("a substitution is not closed"));
        }
        self.at += 1;
        self.pending.splice(0..0, waiting);
        Ok(body)
    }

    pub(super) fn arithmetic_or_substitution(&mut self, quoted: bool) -> Parsed<Part> {
        let start = self.at;
        self.at += 3;
        match self.arithmetic_parts() {
            Ok(parts) => return Ok(Part::Arithmetic(parts)),
            // What is not closed up to the end is not closed as a substitution either.
            Err(error) if self.peek().is_none() || self.fuel == 0 => return Err(error),
            Err(_) => {}
        }
        // `$((a); (b))` is a subshell in a substitution.
        self.burn()?;
        self.at = start + 2;
        let body = self.substituted()?;
        Ok(Part::Substitution { body, quoted })
    }

    /// Reads an arithmetic expression up to and including `))`.
    pub(super) fn arithmetic_parts(&mut self) -> Parsed<Vec<Part>> {
        let mut parts = Parts::default();
        let mut open = 0_u32;
        while let Some(byte) = self.peek() {
            self.burn()?;
            match byte {
                b'(' => {
                    open += 1;
                    self.at += 1;
                }
                b')' if open > 0 => {
                    open -= 1;
                    self.at += 1;
                }
                b')' if self.peek_at(1) == Some(b')') => {
                    self.at += 2;
                    return Ok(parts.finish());
                }
                b')' => return Err(self.error("an arithmetic expression is not closed")),
                b'$' => self.dollar(&mut parts, true)?,
                b'`' => self.backticks(&mut parts, true)?,
                b'\\' => self.live_in_quotes(&mut parts)?,
                b'"' => self.double_quoted(&mut parts)?,
                b'\'' => self.single_quoted(&mut parts)?,
                _ => {
                    let before = self.at;
                    self.run(&mut parts, b"()$`\\\"'");
                    debug_assert!(self.at > before, "a step takes at least one byte");
                }
            }
        }
        Err(self.error("an arithmetic expression is not closed"))
    }

    pub(super) fn backticks(&mut self, parts: &mut Parts, quoted: bool) -> Parsed<()> {
        self.at += 1;
        let start = self.at;
        let mut text = String::new();
        let mut from = start;
        loop {
            self.burn()?;
            match self.peek() {
                None => return Err(self.error("a backtick is not closed")),
                Some(b'`') => break,
                Some(b'\\') => {
                    if matches!(self.peek_at(1), Some(b'`' | b'\\' | b'$'))
                        || (quoted && self.peek_at(1) == Some(b'"'))
                    {
                        text.push_str(self.text(from, self.at));
                        from = self.at + 1;
                    }
                    self.at = (self.at + 2).min(self.bytes.len());
                }
                Some(_) => {
                    let rest = self.bytes.get(self.at..).unwrap_or(&[]);
                    self.at += memchr::memchr2(b'`', b'\\', rest).unwrap_or(rest.len());
                }
            }
        }
        text.push_str(self.text(from, self.at));
        self.at += 1;
        let body = self.nested(|parser| {
            parser.inside(&text, start, |inner| {
                let body = inner.block()?;
                if inner.peek().is_some() {
                    return Err(inner.error("a substitution cannot be read"));
                }
                Ok(body)
            })
        })?;
        parts.push(Part::Substitution { body, quoted });
        Ok(())
    }

    /// Reads `$'…'` after its opening quote.
    pub(super) fn ansi_c(&mut self) -> Parsed<String> {
        let mut bytes = Vec::new();
        loop {
            self.burn()?;
            match self.peek() {
                None => return Err(self.error("a quote is not closed")),
                Some(b'\'') => {
                    self.at += 1;
                    return Ok(String::from_utf8_lossy(&bytes).into_owned());
                }
                Some(b'\\') => {
                    self.at += 1;
                    let rest = self.rest();
                    let (escaped, length) = crate::shell::escape::ansi_c(rest);
                    bytes.extend_from_slice(&escaped);
                    self.at += length;
                }
                Some(_) => {
                    let rest = self.bytes.get(self.at..).unwrap_or(&[]);
                    let length = memchr::memchr2(b'\'', b'\\', rest).unwrap_or(rest.len());
                    bytes.extend_from_slice(rest.get(..length).unwrap_or(&[]));
                    self.at += length;
                }
            }
        }
    }

    /// Reads `${…}` after its opening brace.
    pub(super) fn braced(&mut self, quoted: bool) -> Parsed<Part> {
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|' | b'(')) {
            // `${ cmd; }` and `${| cmd; }` run a command.
            if self.peek() == Some(b'|') {
                self.at += 1;
            }
            let body = self.block()?;
            if self.peek() != Some(b'}') {
                return Err(self.error("a substitution is not closed"));
            }
            self.at += 1;
            return Ok(Part::Substitution { body, quoted });
        }
        let indirect = self.peek() == Some(b'!')
            && self
                .peek_at(1)
                .is_some_and(|byte| is_name(byte) || byte == b'@' || byte == b'*');
        let length = self.peek() == Some(b'#')
            && !matches!(
                self.peek_at(1),
                None | Some(b'}' | b':' | b'-' | b'=' | b'+' | b'?' | b'%' | b'/' | b'^' | b',')
            );
        if indirect || length {
            self.at += 1;
        }
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or(&[]);
        let mut name_length = rest.iter().take_while(|byte| is_name(**byte)).count();
        if name_length == 0
            && matches!(
                rest.first(),
                Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
            )
        {
            name_length = 1;
        }
        if name_length == 0 {
            if let Some(template) = self.template(quoted) {
                return Ok(template);
            }
            return self.hidden_braces();
        }
        self.at += name_length;
        let name = self.text(start, self.at).to_owned();
        let index = if self.peek() == Some(b'[') {
            self.subscript()?
        } else {
            None
        };
        let context = if quoted {
            Context::QuotedBraces
        } else {
            Context::Braces
        };
        let operation = match self.peek() {
            Some(b'}') if indirect => Operation::Indirect,
            Some(b'}') if length => Operation::Length,
            Some(b'}') => Operation::Value,
            Some(_) if indirect => {
                self.word_in(context)?;
                Operation::Indirect
            }
            Some(_) => self.operation(context)?,
            None => return Err(self.error("`${` is not closed")),
        };
        if self.peek() != Some(b'}') {
            return Err(self.error("`${` is not closed"));
        }
        self.at += 1;
        Ok(parameter(&name, index, operation, quoted))
    }

    /// Reads `${{ … }}`, which build servers fill in before a shell sees it: a value that nobody
    /// knows. A shell that sees it refuses the command.
    fn template(&mut self, quoted: bool) -> Option<Part> {
        let inside = self.rest().strip_prefix('{')?;
        let length = inside
            .bytes()
            .take(TEMPLATE_BYTES_MAX)
            .position(|byte| byte == b'}')?;
        let expression = inside.get(..length)?;
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || b" _-.,'()[]!=&|*/:<>".contains(&byte);
        if !inside.get(length..)?.starts_with("}}") || !expression.bytes().all(is_plain) {
            return None;
        }
        self.at += length + "{}}".len();
        // No variable can have this name, so nothing in the text can set it.
        let name = format!("{{{}}}", expression.trim());
        Some(parameter(&name, None, Operation::Value, quoted))
    }

    /// Skips `${…}` in a form only other shells know; it can run code there.
    pub(super) fn hidden_braces(&mut self) -> Parsed<Part> {
        self.word_in(Context::Braces)?;
        if self.peek() != Some(b'}') {
            return Err(self.error("`${` is not closed"));
        }
        self.at += 1;
        Ok(Part::Hidden("an expansion of a kind bash does not have"))
    }

    pub(super) fn operation(&mut self, context: Context) -> Parsed<Operation> {
        let rest = self.rest();
        let take = |parser: &mut Self, operator: &str| -> Parsed<Word> {
            parser.at += operator.len();
            parser.word_in(context)
        };
        for (operator, make) in DEFAULTING {
            if rest.starts_with(operator) {
                return take(self, operator).map(make);
            }
        }
        let starts = |text: &str| rest.starts_with(text);
        let longest = starts("##") || starts("%%");
        Ok(match rest.bytes().next() {
            Some(b':') => Operation::Substring(take(self, ":")?),
            Some(b'#') => Operation::TrimStart {
                pattern: take(self, if longest { "##" } else { "#" })?,
                longest,
            },
            Some(b'%') => Operation::TrimEnd {
                pattern: take(self, if longest { "%%" } else { "%" })?,
                longest,
            },
            Some(b'/') => {
                let all = starts("//");
                let whole = take(self, if all { "//" } else { "/" })?;
                let (pattern, replacement) = split_at_slash(whole);
                Operation::Replace {
                    pattern,
                    replacement,
                    all,
                }
            }
            Some(b'^') => {
                let all = starts("^^");
                take(self, if all { "^^" } else { "^" })?;
                Operation::Upper { all }
            }
            Some(b',') => {
                let all = starts(",,");
                take(self, if all { ",," } else { "," })?;
                Operation::Lower { all }
            }
            Some(b'@') => {
                let letter = rest.chars().nth(1).unwrap_or('?');
                take(self, "@")?;
                Operation::Transform(letter)
            }
            _ => return Err(self.error("an expansion cannot be read")),
        })
    }
}

/// Makes an operation of the word that follows its operator.
type FromWord = fn(Word) -> Operation;

/// Operators that offer another value, longest first.
const DEFAULTING: &[(&str, FromWord)] = &[
    (":-", Operation::Default),
    (":=", Operation::Assign),
    (":+", Operation::Alternative),
    (":?", Operation::Error),
    ("-", Operation::Default),
    ("=", Operation::Assign),
    ("+", Operation::Alternative),
    ("?", Operation::Error),
];

fn parameter(name: &str, index: Option<Word>, operation: Operation, quoted: bool) -> Part {
    Part::Parameter {
        expansion: Box::new(Expansion {
            name: name.to_owned(),
            index,
            operation,
        }),
        quoted,
    }
}

/// Splits the word of `${x/pattern/replacement}` at its first live slash.
fn split_at_slash(word: Word) -> (Word, Word) {
    let span = word.span;
    let mut pattern = Vec::new();
    let mut replacement = Vec::new();
    let mut found = false;
    for part in word.parts {
        if found {
            replacement.push(part);
        } else if let Part::Plain(text) = &part
            && let Some((before, after)) = text.split_once('/')
        {
            found = true;
            pattern.push(Part::Plain(before.to_owned()));
            replacement.push(Part::Plain(after.to_owned()));
        } else {
            pattern.push(part);
        }
    }
    (
        Word {
            parts: pattern,
            span,
        },
        Word {
            parts: replacement,
            span,
        },
    )
}
