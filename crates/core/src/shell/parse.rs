//! Parses shell text into [`super::syntax`].
//!
//! Bash is the reference; what only zsh or ksh would run is read as the thing that executes more.
//! The parser never guesses: what it cannot read is an error, and an error is a question to a
//! person. It is written by hand because it is the part an attacker talks to: every step costs
//! fuel and fuel is proportional to the input, nesting is bounded, and no input can make it panic.
//! `tests/corpus/parser_agreement.rs` holds it against `bash -n` and two other parsers.

mod command;
mod compound;
mod expansion;
mod word;

use super::syntax::{Part, Script, Span, Word};

/// Longest text that is parsed. What is longer is put to a person unread.
pub const SCRIPT_BYTES_MAX: usize = 64 * 1024;
/// Deepest nesting of substitutions, groups and compound commands.
pub const NESTING_MAX: u32 = 64;
/// Most commands of one script that are followed; the rest is called unreadable.
pub(crate) const COMMANDS_MAX: u32 = 2_000;
/// Steps allowed per byte of input; backtracking is what costs more than one.
const FUEL_PER_BYTE: usize = 10;

/// Why a text could not be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct ParseError {
    /// The error, as text.
    pub what: &'static str,
    /// Where.
    pub at: usize,
}

/// Parses `source`.
pub fn parse(source: &str) -> Result<Script, ParseError> {
    parse_beginning(source, usize::MAX)
}

/// Parses the first commands of `source`: at least `commands` of them, if there are as many. Only
/// for readers to whom a longer text is a question anyway.
pub(crate) fn parse_beginning(source: &str, commands: usize) -> Result<Script, ParseError> {
    if source.len() > SCRIPT_BYTES_MAX {
        return Err(ParseError {
            what: "the text is too long to be read",
            at: SCRIPT_BYTES_MAX,
        });
    }
    let mut parser = Parser::new(source);
    let block = parser.commands(commands)?;
    match parser.peek() {
        _ if block.len() >= commands => Ok(Script {
            block,
            documents: parser.documents,
        }),
        None => Ok(Script {
            block,
            documents: parser.documents,
        }),
        Some(_) => Err(parser.error("something stands where a command should begin")),
    }
}

/// A cursor over the source.
#[derive(Debug)]
struct Parser<'a> {
    source: &'a str,
    bytes: &'a [u8],
    at: usize,
    fuel: usize,
    depth: u32,
    /// Where this text stands in the source, if it is not the source itself.
    origin: Option<Span>,
    /// Here-documents whose bodies begin after the next line end.
    pending: Vec<PendingHereDocument>,
    /// Bodies of here-documents; one that was announced but not yet read is empty.
    documents: Vec<Word>,
}

#[derive(Debug)]
struct PendingHereDocument {
    delimiter: String,
    /// No part of the delimiter was quoted, so the body is expanded.
    expands: bool,
    /// `<<-`: leading tabs go.
    strips_tabs: bool,
    slot: usize,
}

type Parsed<T> = Result<T, ParseError>;

impl<'a> Parser<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source,
            bytes: source.as_bytes(),
            at: 0,
            fuel: source
                .len()
                .saturating_mul(FUEL_PER_BYTE)
                .saturating_add(256),
            depth: 0,
            origin: None,
            pending: Vec::new(),
            documents: Vec::new(),
        }
    }

    fn error(&self, what: &'static str) -> ParseError {
        ParseError {
            what,
            at: self.at.min(self.bytes.len()),
        }
    }

    /// Returns the place of `start..end`: in the source, or where the text that was taken out of
    /// the source stood.
    fn span(&self, start: usize, end: usize) -> Span {
        self.origin.unwrap_or_else(|| Span::new(start, end))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or("")
    }

    fn text(&self, start: usize, end: usize) -> &'a str {
        self.source.get(start..end).unwrap_or("")
    }

    /// Takes one step's fuel.
    fn burn(&mut self) -> Parsed<()> {
        match self.fuel.checked_sub(1) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => Err(self.error("the text is too complex to parse")),
        }
    }

    /// Runs `inside` one level deeper.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= NESTING_MAX {
            // Reading it another way nests as deeply, and there would be two ways on each level.
            self.fuel = 0;
            return Err(self.error("the text is nested too deeply to be read"));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Skips blanks, line continuations and a comment.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'#') => {
                    let length = memchr::memchr(b'\n', self.rest().as_bytes());
                    self.at += length.unwrap_or(self.rest().len());
                }
                _ => return,
            }
        }
    }

    /// Skips blanks and line ends, reading here-documents on the way.
    fn skip_lines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.peek() == Some(b'\n') {
                self.line_end()?;
            } else {
                return Ok(());
            }
        }
    }

    /// Takes a line end and the bodies of the here-documents announced on that line.
    fn line_end(&mut self) -> Parsed<()> {
        self.at += 1;
        for announced in std::mem::take(&mut self.pending) {
            self.burn()?;
            let body = self.here_document(&announced)?;
            if let Some(slot) = self.documents.get_mut(announced.slot) {
                *slot = body;
            }
        }
        Ok(())
    }

    fn here_document(&mut self, announced: &PendingHereDocument) -> Parsed<Word> {
        let start = self.at;
        let mut text = String::new();
        let mut end = self.at;
        while self.at < self.bytes.len() {
            let line_start = self.at;
            let length = memchr::memchr(b'\n', self.rest().as_bytes()).unwrap_or(self.rest().len());
            let mut line = self.text(line_start, line_start + length);
            self.at = (line_start + length + 1).min(self.bytes.len());
            if announced.strips_tabs {
                line = line.trim_start_matches('\t');
            }
            if line == announced.delimiter {
                break;
            }
            // `$(cat <<E … E)`: bash ends the document where the delimiter ends the substitution.
            if self.depth > 0
                && let Some(tail) = line.strip_prefix(announced.delimiter.as_str())
                && tail.starts_with(')')
            {
                self.at = line_start + length - tail.len();
                break;
            }
            text.push_str(line);
            text.push('\n');
            end = self.at;
        }
        let span = self.span(start, end);
        if !announced.expands {
            return Ok(Word {
                parts: vec![Part::Quoted(text)],
                span,
            });
        }
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method itself is for one lifetime of a parser, not for every one"
        )]
        let parts = self.inside(&text, start, |inner| inner.here_document_parts())?;
        Ok(Word { parts, span })
    }

    /// Runs `read` over `text`, which was taken out of the source and unescaped, on the same fuel.
    fn inside<T>(
        &mut self,
        text: &str,
        start: usize,
        read: impl FnOnce(&mut Parser<'_>) -> Parsed<T>,
    ) -> Parsed<T> {
        let mut inner = Parser::new(text);
        inner.depth = self.depth;
        inner.origin = Some(self.span(start, self.at));
        inner.fuel = self.fuel;
        inner.documents = std::mem::take(&mut self.documents);
        let result = read(&mut inner).map_err(|error| ParseError {
            at: self.at,
            ..error
        });
        self.fuel = inner.fuel;
        self.documents = inner.documents;
        result
    }
}

/// Whether `byte` ends a word where nothing is quoted.
fn is_meta(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
    )
}

/// Whether `byte` may begin a name.
fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Whether `byte` may stand in a name.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
