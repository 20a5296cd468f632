//! Command lines and paths that are handed to libraries nobody has described.
//!
//! A library that runs what it is given is like any other by its name. What it is given may say enough: a text
//! that reads as a command line which deletes, or a path for a function that is called like one.

use super::Reader;
use super::lexer::Token;
use crate::knowledge::names::{DELETING_FUNCTIONS, TELLING_COMMANDS};
use crate::language::Deed;

/// Arguments of one call that are looked at.
const ARGUMENTS_MAX: usize = 4;

/// Whether a text begins with the name of a program whose command lines are told by it.
pub(super) fn begins_command(token: &Token) -> bool {
    let Token::Text(Some(text)) = token else {
        return false;
    };
    let first = text.split_whitespace().next();
    first.is_some_and(|word| TELLING_COMMANDS.contains(word))
}

impl Reader<'_> {
    /// Judges what a function that no table describes is given, where it is called at `end`.
    pub(super) fn check_library(&mut self, name: &str, end: usize) {
        if !self.script.has_ordinary_names() || !self.is_mark(end, "(") {
            return;
        }
        let deletes = DELETING_FUNCTIONS.contains(name);
        if !deletes && !self.holds_commands {
            return;
        }
        let ranges = self.arguments(end).ranges;
        for range in ranges.iter().copied().take(ARGUMENTS_MAX) {
            if self.holds_commands {
                self.check_command(range);
            }
            let made = self.values.of(range);
            let leads_away = |path: &String| path.starts_with(['/', '~']) || path.starts_with("..");
            if deletes && made.is_exact() {
                let paths = made.shapes().filter(leads_away);
                self.reading.deeds.extend(paths.map(Deed::DeleteTree));
            }
        }
    }

    /// Notes a command line that is given as a text or as a list of words.
    fn check_command(&mut self, range: (usize, usize)) {
        let is_telling = |words: &[&str]| {
            let [first, rest @ ..] = words else {
                return false;
            };
            let acts = |word: &&str| word.starts_with(['-', '/', '~', '|']) || word.contains("://");
            TELLING_COMMANDS.contains(first) && rest.iter().any(acts)
        };
        for words in self.values.words(range).into_iter().flatten() {
            let words: Option<Vec<&str>> = words.iter().map(|word| word.only()).collect();
            if let Some(words) = words.filter(|words| is_telling(words)) {
                let command = words.into_iter().map(str::to_owned).collect();
                self.reading.see(Deed::Run(command));
            }
        }
        let made = self.values.of(range);
        for text in made.shapes().filter(|_| made.is_exact()) {
            let words: Vec<&str> = text.split_whitespace().collect();
            if is_telling(&words) {
                self.reading.see(Deed::MayRun(text));
            }
        }
    }
}
