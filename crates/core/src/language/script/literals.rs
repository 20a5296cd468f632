//! Literals of a script, as evidence about names that it computes.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "deeds of other kinds name no file"
)]

use std::collections::HashSet;

use super::lexer::Token;
use super::values::Origin;
use super::{COMPUTED, Reader};
use crate::language::Deed;

/// Literals of one script that a computed name may be made of.
const LITERALS_MAX: usize = 256;
/// Literals that are put together to one text.
const JOINED_MAX: usize = 32;
/// Longest literal that may be part of a path.
const LITERAL_BYTES_MAX: usize = 256;

impl Reader<'_> {
    /// Whether the arguments of the call at `end` name a place outside the project.
    pub(super) fn names_elsewhere(&self, end: usize) -> bool {
        let arguments = self.arguments(end).ranges;
        let tokens = arguments
            .iter()
            .flat_map(|(from, to)| self.tokens.get(*from..*to).unwrap_or_default());
        tokens.into_iter().any(
            |token| matches!(token, Token::Text(Some(text)) if text.starts_with(['/', '~']) || text.contains("..")),
        )
    }

    /// Whether what the last argument of the call at `end` may be lies outside the project, or is given
    /// from outside.
    pub(super) fn leads_elsewhere(&self, end: usize) -> bool {
        let Some(range) = self.arguments(end).ranges.last().copied() else {
            return false;
        };
        let made = self.values.of(range);
        let is_given = made.origin > Origin::Data && !made.is_exact();
        is_given || made.shapes().any(|text| text.starts_with(['/', '~']))
    }

    /// Texts that name a place count wherever they stand: a function that no table describes may open
    /// what it is given, and a name that is computed is made of the texts at hand.
    pub(super) fn reaches_by_literals(&mut self) {
        let computed = self.reading.reads_computed || self.reading.writes_computed;
        if !computed && !self.script.has_ordinary_names() {
            return;
        }
        let mut paths: Vec<(String, bool)> = Vec::new();
        for at in 0..self.tokens.len() {
            if let Some(text) = self.joined_text(at).filter(|text| may_be_path(text)) {
                let known = (text, self.is_of_known_call(at));
                if !paths.contains(&known) {
                    paths.push(known);
                }
            }
            if paths.len() > LITERALS_MAX {
                if computed || self.reading.unfamiliar.is_some() {
                    self.reading.hide(COMPUTED);
                }
                break;
            }
        }
        let unfamiliar = self.reading.unfamiliar.is_some();
        let seen: HashSet<String> = self
            .reading
            .deeds
            .iter()
            .filter_map(|deed| match deed {
                Deed::ReadFile(path)
                | Deed::WriteFile(path)
                | Deed::DeleteFile(path)
                | Deed::DeleteTree(path) => Some(path.clone()),
                _ => None,
            })
            .collect();
        for (path, known) in paths {
            // What a described call does with it is judged already.
            let judged = known || seen.contains(&path);
            if self.reading.writes_computed || unfamiliar && !known {
                self.reading.see(Deed::MayWrite(path.clone()));
            }
            if self.reading.reads_computed {
                self.reading.see(Deed::ReadFile(path));
            } else if !judged {
                self.reading.see(Deed::MayRead(path));
            }
        }
    }

    /// The text at `at` with those that are added to it.
    fn joined_text(&self, at: usize) -> Option<String> {
        let Some(Token::Text(Some(text))) = self.token(at) else {
            return None;
        };
        let mut joined = text.clone();
        let mut end = at + 1;
        for _ in 0..JOINED_MAX {
            let next = if self.is_mark(end, "+") { end + 1 } else { end };
            let Some(Token::Text(Some(text))) = self.token(next) else {
                break;
            };
            if joined.len() > LITERAL_BYTES_MAX {
                break;
            }
            joined.push_str(text);
            end = next + 1;
        }
        Some(joined)
    }

    /// Whether the text at `at` is the first argument of a call that is described, which says what
    /// becomes of it.
    fn is_of_known_call(&self, at: usize) -> bool {
        const NAMES_MAX: usize = 8;
        let Some(open) = at.checked_sub(1).filter(|open| self.is_mark(*open, "(")) else {
            return false;
        };
        let mut parts: Vec<&str> = Vec::new();
        let mut place = open;
        while let Some(Token::Name(name)) = place.checked_sub(1).and_then(|at| self.token(at)) {
            parts.push(name);
            place -= 1;
            let dot = place.checked_sub(1).filter(|dot| self.is_mark(*dot, "."));
            match dot {
                Some(dot) if parts.len() < NAMES_MAX => place = dot,
                _ => break,
            }
        }
        parts.reverse();
        let Some((first, rest)) = parts.split_first() else {
            return false;
        };
        let first = self.paths.get(*first).map_or(*first, String::as_str);
        let path = [&[first], rest].concat().join(".");
        let script = self.script;
        script.calls.contains(&path)
            || script.plain.contains(&path)
            || script.listing.contains(&path)
    }
}

/// Whether a text names a place; prose has blanks.
fn may_be_path(text: &str) -> bool {
    let is_package = text.starts_with('@') && text.matches('/').count() == 1 && !text.contains('.');
    text.len() <= LITERAL_BYTES_MAX
        && !is_package
        && !text.contains("://")
        && !text.contains(char::is_whitespace)
        && (text.contains('/') || text.starts_with(['.', '~']) || text.contains("id_"))
}
