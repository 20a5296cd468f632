//! Lists of words, in order: the commands that a script runs.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is bound in any other way is no list"
)]

use super::gather::items;
use super::made::{Made, Origin, SCRATCH};
use super::{Bound, DEPTH_MAX, RANGE_MAX, Range, Values};
use crate::knowledge::Syntax;
use crate::language::script::lexer::Token;

/// Things added to one list that are followed: each doubles what the list may hold.
const ADDED_MAX: usize = 4;
/// Lists that one name may stand for.
const LISTS_MAX: usize = 16;

impl Values<'_> {
    /// The words of a list in all ways they may be. What the script adds to the end of it later may be
    /// added or not.
    pub(super) fn lists(&self, range: Range) -> Option<Vec<Vec<Made>>> {
        let Some([Token::Name(name)]) = self.tokens.get(range.0..range.1) else {
            return Some(vec![self.list(range, 0)?]);
        };
        let bound = self.gathered.names.get(name.as_str())?;
        let is_changed = self.gathered.changed.contains(name.as_str());
        if is_changed || self.gathered.changes_unnamed {
            return None;
        }
        let Some(added) = self.gathered.added.get(name.as_str()) else {
            let lists = bound.iter().take(LISTS_MAX + 1).map(|bound| match bound {
                Bound::Value(range) => self.list(*range, 1),
                _ => None,
            });
            let lists: Vec<Vec<Made>> = lists.collect::<Option<_>>()?;
            return Some(lists).filter(|lists| lists.len() <= LISTS_MAX);
        };
        if added.len() > ADDED_MAX {
            return None;
        }
        let is_added = |range: &Range| added.iter().any(|addition| addition.range == *range);
        let mut values = bound.iter().filter_map(|bound| match bound {
            Bound::Value(range) if !is_added(range) => Some(*range),
            _ => None,
        });
        let (Some(first), None) = (values.next(), values.next()) else {
            return None;
        };
        if bound.len() != added.len() + 1 {
            return None;
        }
        let mut all = vec![self.list(first, 1)?];
        for addition in added {
            let more = if addition.is_list {
                self.list(addition.range, 1)?
            } else {
                vec![self.expression(addition.range, 1)]
            };
            // In a loop a word that is not known is any number of them.
            if !more.iter().all(Made::is_one_word) {
                return None;
            }
            let longer: Vec<Vec<Made>> = all
                .iter()
                .map(|words| words.iter().chain(&more).cloned().collect())
                .collect();
            all.extend(longer);
        }
        Some(all)
    }

    /// The words of a list, in order.
    pub(super) fn list(&self, range: Range, depth: usize) -> Option<Vec<Made>> {
        let (mut from, mut to) = range;
        let is_blank = |at: usize| self.tokens.get(at) == Some(&Token::Newline);
        while from < to && is_blank(from) {
            from += 1;
        }
        while from < to && is_blank(to - 1) {
            to -= 1;
        }
        if depth > DEPTH_MAX || from >= to || to - from > RANGE_MAX || !self.spend(to - from) {
            return None;
        }
        let sums = self.places((from, to), &["+"]);
        if !sums.is_empty() {
            let mut all = Vec::new();
            let mut start = from;
            for at in sums.into_iter().chain([to]) {
                all.extend(self.list((start, at), depth + 1)?);
                start = at + 1;
            }
            return Some(all);
        }
        match self.tokens.get(from) {
            Some(Token::Mark("[" | "(")) if self.behind(from, to) == to => {
                if !self.places((from + 1, to - 1), &["for"]).is_empty() {
                    return None;
                }
                if self.is_mark(from, "(") && self.places((from + 1, to - 1), &[","]).is_empty() {
                    return self.list((from + 1, to - 1), depth + 1);
                }
                self.items_of(from, depth)
            }
            Some(Token::Name(name)) if from + 1 == to => {
                let [Bound::Value(value)] = self.gathered.names.get(name.as_str())?.as_slice()
                else {
                    return None;
                };
                let is_changed = self.gathered.mutated.contains(name.as_str());
                if is_changed || self.gathered.changes_unnamed {
                    return None;
                }
                self.list(*value, depth + 1)
            }
            _ => self.split_text((from, to), depth),
        }
    }

    /// `"a b".split()` and `shlex.split("a b")`.
    fn split_text(&self, range: Range, depth: usize) -> Option<Vec<Made>> {
        let splits = |at: usize| {
            self.tokens
                .get(at)
                .is_some_and(|token| token.is_name("split"))
        };
        let (from, to) = range;
        (from..to).any(splits).then_some(())?;
        let made = self.expression(range, depth + 1);
        let is_listed = made.many && made.is_exact();
        is_listed.then(|| made.shapes().map(Made::exact).collect())
    }

    /// The words between brackets. A spread of something that cannot be followed is any number of
    /// words; only one that begins in a known way, like the files of a directory, is data.
    fn items_of(&self, open: usize, depth: usize) -> Option<Vec<Made>> {
        let mut words = Vec::new();
        for (from, to) in items(self.tokens, open) {
            if matches!(self.tokens.get(from), Some(Token::Mark("*" | "..."))) {
                if let Some(more) = self.list((from + 1, to), depth + 1) {
                    words.extend(more);
                } else {
                    let made = self.expression((from + 1, to), depth + 1);
                    let begins = made.is_one_word() && !made.is_exact();
                    words.push(Some(made).filter(|_| begins)?);
                }
            } else {
                words.push(self.expression((from, to), depth + 1));
            }
        }
        Some(words)
    }

    /// A temporary file; where it is told a directory, nobody knows.
    pub(super) fn scratch(&self, given: &[Range]) -> Made {
        let by_name = |(from, to): &Range| self.is_mark(from + 1, "=") && from + 1 < *to;
        let names = given.iter().filter(|range| by_name(range));
        let mut keys = names.filter_map(|(from, _)| self.tokens.get(*from));
        // The directory comes third at the earliest.
        let places = given.iter().filter(|range| !by_name(range)).count();
        let elsewhere = keys.any(|key| key.is_name("dir")) || places > 2;
        if elsewhere {
            return Made::unknown(Origin::Data);
        }
        Made::exact(SCRATCH).then("", &Made::plain()).opened()
    }

    /// `sep.join(list)`; in JavaScript it is the list that joins.
    pub(super) fn joined(&self, made: &Made, given: &[Range], depth: usize) -> Made {
        let words = given.first().and_then(|range| self.list(*range, depth + 1));
        match words {
            Some(words) if self.script.syntax == Syntax::Python => {
                let separator = made.only().unwrap_or("");
                let joined = words
                    .into_iter()
                    .reduce(|left, right| left.then(separator, &right));
                joined.unwrap_or_else(|| Made::exact(""))
            }
            _ => {
                let origin = self.origin_of(given, depth).max(made.origin);
                let list = given
                    .first()
                    .map(|range| self.expression(*range, depth + 1));
                // Texts of the script that are joined one by one are not followed.
                let is_written = list.is_none_or(|list| list.is_exact());
                Made::unknown(if is_written {
                    origin.max(Origin::Assembled)
                } else {
                    origin
                })
            }
        }
    }
}
