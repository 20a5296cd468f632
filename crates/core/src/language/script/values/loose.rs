//! What is put into collections whose name is not the only one they have.
//!
//! A list can be changed by whoever gets it: a function that is written on the spot, a loop over a list of
//! lists, a function of a library that sorts in place. What is put into a collection there may be in any.

use super::gather::{Gathered, items, opens};
use super::{Bound, Paths, Range};
use crate::knowledge::names::LIST_CHANGING_FUNCTIONS;
use crate::language::script::lexer::Token;

/// Something that is put into a collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored<'a> {
    /// What the collection is called there; `None` if it is part of another, or has no name.
    pub(super) receiver: Option<&'a str>,
    pub(super) range: Range,
}

impl<'a> Gathered<'a> {
    /// `a[b] = …`: notes what is put into the collection whose index ends before `target.1`.
    pub(super) fn stores(&mut self, tokens: &'a [Token], target: Range, range: Range) {
        let (start, end) = target;
        let Some(close) = end.checked_sub(1) else {
            return;
        };
        if !tokens.get(close).is_some_and(|token| token.is_mark("]")) {
            return;
        }
        let mut depth = 0_usize;
        let open = (start..end).rev().find(|at| {
            match tokens.get(*at) {
                Some(Token::Mark(")" | "]" | "}")) => depth += 1,
                Some(Token::Mark("(" | "[" | "{")) => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        let Some(before) = open.and_then(|open| open.checked_sub(1)) else {
            return;
        };
        let joins = before
            .checked_sub(1)
            .and_then(|at| tokens.get(at))
            .is_some_and(|token| token.is_mark("."));
        let receiver = match tokens.get(before) {
            Some(Token::Name(name)) if !joins => Some(name.as_str()),
            Some(token) if token.ends_operand() => None,
            _ => return,
        };
        self.stored.push(Stored { receiver, range });
    }

    /// Notes what functions that change a list do to what they are given: `shuffle(a)`.
    pub(super) fn changed_by_functions(&mut self, tokens: &'a [Token], paths: &'a Paths) {
        for (at, token) in tokens.iter().enumerate() {
            let Token::Name(name) = token else {
                continue;
            };
            if !opens(tokens.get(at + 1)) {
                continue;
            }
            let path = paths.get(name.as_str()).map_or(name, |path| path);
            let last = path.rsplit('.').next().unwrap_or(path);
            if !LIST_CHANGING_FUNCTIONS.contains(last) {
                continue;
            }
            let given = items(tokens, at + 1);
            for (from, to) in &given {
                if let Some([Token::Name(name)]) = tokens.get(*from..*to) {
                    self.mutated.insert(name);
                    self.changed.insert(name);
                    for range in given.iter().filter(|range| range.0 != *from) {
                        self.bind(name, Bound::Holder(*range));
                    }
                }
            }
            for range in given.into_iter().skip(1) {
                let receiver = None;
                self.stored.push(Stored { receiver, range });
            }
        }
    }

    /// Decides which collections are meant, and which members are functions. Called when all names are
    /// bound.
    pub(super) fn settle(&mut self, tokens: &'a [Token]) {
        let is_function = |range: &Range, own: &std::collections::HashSet<&str>| {
            let value = tokens.get(range.0..range.1).unwrap_or_default();
            let is_word = |token: &Token| {
                token.is_mark("=>") || token.is_name("lambda") || token.is_name("function")
            };
            match value {
                [Token::Name(name)] => own.contains(name.as_str()),
                value => value.iter().any(is_word),
            }
        };
        let replaced = self.assigned.iter();
        let replaced = replaced.filter(|(_, range)| is_function(range, &self.own));
        let replaced: Vec<&'a str> = replaced.map(|(name, _)| *name).collect();
        self.replaced.extend(replaced);
        let loose: Vec<Range> = self
            .stored
            .iter()
            .filter(|stored| self.may_be_any(tokens, stored))
            .map(|stored| stored.range)
            .collect();
        self.loose = loose;
    }

    /// Whether a collection that something is put into may have other names.
    fn may_be_any(&self, tokens: &[Token], stored: &Stored<'_>) -> bool {
        let Some(name) = stored.receiver else {
            return true;
        };
        let Some(bound) = self.names.get(name) else {
            return true;
        };
        bound.iter().any(|bound| match bound {
            Bound::Anything => true,
            Bound::Element(range) => *range != stored.range,
            // `a = b[c]`, `a = b.c`
            Bound::Value(range) => {
                let value = tokens.get(range.0..range.1).unwrap_or_default();
                let is_part =
                    value.len() > 1 && !value.last().is_some_and(|token| token.is_mark(")"));
                is_part && matches!(value, [Token::Name(_), Token::Mark("." | "["), ..])
            }
            Bound::Holder(_) => false,
        })
    }
}
