//! Words: quotes, escapes, parameters, substitutions.

use super::{Parsed, Parser, is_meta, is_name, is_name_start};
use crate::shell::syntax::{Expansion, Operation, Part, Span, Word};

/// What ends a word, and what is live inside it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
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
struct Parts {
    done: Vec<Part>,
    plain: String,
    quoted: String,
}

impl Parts {
    fn plain(&mut self, text: &str) {
        if !self.quoted.is_empty() {
            self.done
                .push(Part::Quoted(std::mem::take(&mut self.quoted)));
        }
        self.plain.push_str(text);
    }

    fn quoted(&mut self, text: &str) {
        if !self.plain.is_empty() {
            self.done.push(Part::Plain(std::mem::take(&mut self.plain)));
        }
        self.quoted.push_str(text);
    }

    fn push(&mut self, part: Part) {
        self.flush();
        self.done.push(part);
    }

    fn flush(&mut self) {
        if !self.plain.is_empty() {
            self.done.push(Part::Plain(std::mem::take(&mut self.plain)));
        }
        if !self.quoted.is_empty() {
            self.done
                .push(Part::Quoted(std::mem::take(&mut self.quoted)));
        }
    }

    fn finish(mut self) -> Vec<Part> {
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

    fn word_in(&mut self, context: Context) -> Parsed<Word> {
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
            span: Span::new(start, self.at),
        })
    }

    /// Whether `byte` ends a word in `context`; `open` counts parentheses of patterns.
    fn ends(&self, context: Context, byte: u8, open: &mut u32) -> bool {
        match context {
            Context::Bare => {
                let process = matches!(byte, b'<' | b'>') && self.peek_at(1) == Some(b'(');
                let pattern = byte == b'(' && self.after_pattern_sign();
                *open == 0 && is_meta(byte) && !process && !pattern
            }
            Context::Test => match byte {
                b' ' | b'\t' | b'\n' => *open == 0,
                b';' => true,
                b')' => *open == 0,
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
    fn run(&mut self, parts: &mut Parts, stops: &[u8]) {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let length = rest
            .iter()
            .position(|byte| stops.contains(byte))
            .unwrap_or(rest.len());
        parts.quoted(self.text(self.at, self.at + length));
        self.at += length;
    }

    fn single_quoted(&mut self, parts: &mut Parts) -> Parsed<()> {
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
    fn empty_quotes(&self, parts: &mut Parts, empty: bool) {
        if empty && parts.done.is_empty() && parts.plain.is_empty() && parts.quoted.is_empty() {
            parts.done.push(Part::Quoted(String::new()));
        }
    }

    fn double_quoted(&mut self, parts: &mut Parts) -> Parsed<()> {
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
    fn live_in_quotes(&mut self, parts: &mut Parts) -> Parsed<()> {
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
                        parts.quoted(next.encode_utf8(&mut [0; 4]))
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

    fn dollar(&mut self, parts: &mut Parts, quoted: bool) -> Parsed<()> {
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
    fn substituted(&mut self) -> Parsed<crate::shell::syntax::Block> {
        let waiting = std::mem::take(&mut self.pending);
        let body = self.nested(Self::block)?;
        if self.peek() != Some(b')') {
            return Err(self.error("a substitution is not closed"));
        }
        self.at += 1;
        self.pending.splice(0..0, waiting);
        Ok(body)
    }

    fn arithmetic_or_substitution(&mut self, quoted: bool) -> Parsed<Part> {
        let start = self.at;
        self.at += 3;
        if let Ok(parts) = self.arithmetic_parts() {
            return Ok(Part::Arithmetic(parts));
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

    fn backticks(&mut self, parts: &mut Parts, quoted: bool) -> Parsed<()> {
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
                    self.at += 2;
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
            parser.inside(&text, |inner| {
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
    fn ansi_c(&mut self) -> Parsed<String> {
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
    fn braced(&mut self, quoted: bool) -> Parsed<Part> {
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

    /// Skips `${…}` in a form only other shells know; it can run code there.
    fn hidden_braces(&mut self) -> Parsed<Part> {
        self.word_in(Context::Braces)?;
        if self.peek() != Some(b'}') {
            return Err(self.error("`${` is not closed"));
        }
        self.at += 1;
        Ok(Part::Hidden("an expansion of a kind bash does not have"))
    }

    fn operation(&mut self, context: Context) -> Parsed<Operation> {
        let rest = self.rest();
        let mut take = |parser: &mut Self, operator: &str| -> Parsed<Word> {
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

/// Operators that offer another value, longest first.
const DEFAULTING: &[(&str, fn(Word) -> Operation)] = &[
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
        match part {
            Part::Plain(text) if !found => match text.split_once('/') {
                Some((before, after)) => {
                    found = true;
                    pattern.push(Part::Plain(before.to_owned()));
                    replacement.push(Part::Plain(after.to_owned()));
                }
                None => pattern.push(Part::Plain(text)),
            },
            part if found => replacement.push(part),
            part => pattern.push(part),
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
