//! Pieces of code that were put into a file whose other parts are the project's.
//!
//! A piece is read like a whole script, with three differences. A name that nothing in it binds is the
//! project's, unless it is what a function with effects is usually called when it is imported. What the
//! piece says without doing it (a command line, a statement, a path) may end up in whatever the file does
//! with such texts. And nobody knows whether it stands inside a text of the file, so it is read as if it did, too.

use super::lexer::Token;
use super::{Bindings, COMPUTED, Part, Reader, UNPARSED, read_code};
use crate::knowledge::languages::{Call, Script};
use crate::knowledge::names::USUAL_ALIASES;
use crate::knowledge::{Effect, Lang, Role, Syntax};
use crate::language::sql::{self, Dialect};
use crate::language::{CODE_BYTES_MAX, Deed, MAKES_CODE, PERHAPS, Reading, TOO_LONG};
use crate::place::HOLE;

/// Texts and lines of a piece that are looked at.
const TEXTS_MAX: usize = 2_000;
/// Longest path that is looked at.
const PATH_BYTES_MAX: usize = 300;

/// Reads pieces of `lang` that were put into a file.
pub(crate) fn read_pieces(lang: Lang, code: &str) -> Reading {
    let Some(script) = lang.script().filter(|script| script.has_ordinary_names()) else {
        return Reading::hidden(UNPARSED);
    };
    if code.len() > CODE_BYTES_MAX {
        return Reading::hidden(TOO_LONG);
    }
    let is_guess = |line: &&str| line.starts_with(PERHAPS);
    let guesses: Vec<&str> = code.lines().filter(is_guess).collect();
    let guesses = guesses.join("\n").replace(PERHAPS, "");
    let lines: Vec<&str> = code.lines().filter(|line| !is_guess(line)).collect();
    let code = lines.join("\n");
    let mut reading = read_code(script, &code, None, Part::Pieces);
    if !guesses.is_empty() {
        let both = format!("{code}\n{guesses}");
        reading.suspect(read_code(script, &both, None, Part::Pieces));
    }
    for quote in quotes(script.syntax) {
        if !code.contains(quote) {
            continue;
        }
        let inside = read_code(script, &format!("{quote}{code}{quote}"), None, Part::Pieces);
        reading.suspect(inside);
    }
    for line in code.lines().take(TEXTS_MAX) {
        let line = line.trim();
        says(line, &mut reading);
        // An address alone takes the place of another.
        let address = line.trim_matches(['"', '\'', '`']);
        let is_address = address.contains("://") && !address.contains(char::is_whitespace);
        if is_address && address.starts_with(|c: char| c.is_ascii_alphabetic()) {
            reading.see(Deed::Send(address.to_owned()));
        }
    }
    reading
}

impl Reading {
    /// Adds what the code does if it is to be read in another way, which it mostly is not.
    fn suspect(&mut self, other: Self) {
        if let Some(why @ (COMPUTED | MAKES_CODE)) = other.hidden {
            self.hide(why);
        }
        let acts = |deed: &Deed| {
            !matches!(
                deed,
                Deed::MayRead(_) | Deed::MayWrite(_) | Deed::MayReach(_) | Deed::DbRead
            )
        };
        self.deeds.extend(other.deeds.into_iter().filter(acts));
    }
}

/// What texts of the language stand between.
const fn quotes(syntax: Syntax) -> &'static [&'static str] {
    match syntax {
        Syntax::Python => &["\"", "'", "\"\"\"", "'''"],
        Syntax::Plain | Syntax::JavaScript | Syntax::Perl | Syntax::Ruby | Syntax::Php => {
            &["\"", "'", "`"]
        }
    }
}

impl Bindings {
    /// Takes names that nothing binds for what they usually stand for, or for the project's.
    pub(super) fn assume(&mut self, script: &'static Script, tokens: &[Token]) {
        let mut before: Option<&Token> = None;
        for token in tokens {
            if let Token::Name(name) = token
                && !matches!(before, Some(Token::Mark("." | "?.")))
                && !self.locals.contains(name)
                && !self.paths.contains_key(name)
                && !script.functions.contains(name)
                && !script.forbidden.contains(name)
                && !script.calls.contains(name)
            {
                let alias = USUAL_ALIASES.iter().find(|(alias, _)| alias == name);
                let imported = alias.map(|(_, path)| (*path).to_owned());
                if let Some(path) = imported.or_else(|| imported_as(script, name)) {
                    self.paths.insert(name.clone(), path.clone());
                    let first = path.split('.').next().unwrap_or(&path);
                    self.modules.insert(first.to_owned());
                    self.modules.insert(name.clone());
                } else if script.is_ordinary(name) {
                    self.locals.insert(name.clone());
                    self.functions.insert(name.clone());
                }
            }
            before = Some(token);
        }
    }
}

/// Returns the function that runs or deletes something and that is called `name` where it is imported.
fn imported_as(script: &'static Script, name: &str) -> Option<String> {
    let acts = |call: &&Call| {
        let runs = call.takes(Role::Shell) || call.takes(Role::Command);
        call.does == Effect::Exec && runs || call.does == Effect::Delete && !call.takes(Role::Move)
    };
    let mut names = script
        .calls
        .rows()
        .filter(acts)
        .flat_map(|call| call.names.iter());
    // What belongs to a global object (`Deno.run`) is not imported.
    let is_module = |path: &str| path.starts_with(|c: char| c.is_ascii_lowercase());
    names
        .find(|path| is_module(path) && path.rsplit_once('.').is_some_and(|(_, last)| last == name))
        .map(str::to_owned)
}

impl Reader<'_> {
    /// Notes what the texts of a piece may be used for.
    pub(super) fn texts_of_piece(&mut self) {
        let mut words: Vec<String> = Vec::new();
        for token in self.tokens.iter().take(TEXTS_MAX).chain([&Token::Number]) {
            match token {
                Token::Text(Some(text)) => {
                    says(text, &mut self.reading);
                    names_place(text, &mut self.reading);
                    words.push(text.clone());
                }
                Token::Text(None) => words.push(HOLE.to_string()),
                Token::Mark(",") | Token::Newline => {}
                Token::Name(_)
                | Token::Variable(_)
                | Token::Symbol(_)
                | Token::Command(_)
                | Token::Number
                | Token::Mark(_) => {
                    let words = std::mem::take(&mut words);
                    let first = words.first().map_or("", String::as_str);
                    if words.len() > 1 && crate::knowledge::program(first).is_some() {
                        self.reading.see(Deed::Run(words));
                    }
                }
            }
        }
        let mut only = self.tokens.iter().filter(|token| **token != Token::Newline);
        let word = match (only.next(), only.next()) {
            (Some(Token::Text(Some(word)) | Token::Name(word)), None) => Some(word),
            _ => None,
        };
        if let Some(root @ ("/" | "~")) = word.map(String::as_str) {
            self.reading.see(Deed::MayReach(root.to_owned()));
        }
        // A word alone takes the place of another, perhaps of a program's name.
        if let Some(word) = word.filter(|word| crate::knowledge::program(word).is_some()) {
            let command = vec![word.clone(), HOLE.to_string()];
            self.reading.see(Deed::Run(command));
        }
    }

    /// Whether a text of the code is an address on another machine.
    pub(super) fn names_address(&self) -> bool {
        self.tokens.iter().any(|token| {
            matches!(token, Token::Text(Some(text)) if text.contains("://")
                && !["localhost", "127.0.0.1", "[::1]", "0.0.0.0"].iter().any(|host| text.contains(host)))
        })
    }
}

/// Notes a command line or a statement that a text is.
fn says(text: &str, reading: &mut Reading) {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("");
    let acts = |word: &str| {
        word.len() > 1 && word.starts_with(['-', '/', '~', '|']) || word.contains("://")
    };
    if crate::knowledge::program(first).is_some() && words.any(acts) {
        reading.see(Deed::MayRun(text.to_owned()));
    }
    let changes = ["drop", "truncate", "delete", "alter", "grant", "update"];
    if changes.iter().any(|word| first.eq_ignore_ascii_case(word)) {
        let read = sql::read(text, Dialect::Generic);
        let changes = |deed: &Deed| matches!(deed, Deed::DbDestroy(_) | Deed::DbAdmin(_));
        reading.deeds.extend(read.deeds.into_iter().filter(changes));
    }
}

/// Notes a path that a text is.
fn names_place(text: &str, reading: &mut Reading) {
    let is_path = text.len() <= PATH_BYTES_MAX && !text.contains(char::is_whitespace);
    if !is_path || text.is_empty() || text.contains("://") {
        return;
    }
    reading.see(Deed::MayRead(text.to_owned()));
    reading.see(Deed::MayWrite(text.to_owned()));
    // A slash alone mostly parts other texts.
    if text != "/" && (text.starts_with(['/', '~']) || text.starts_with("..")) {
        reading.see(Deed::MayReach(text.to_owned()));
    }
}
