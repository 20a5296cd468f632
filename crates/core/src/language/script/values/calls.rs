//! Functions of a script, and what their parameters get where they are called.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "tokens of all other kinds bind nothing"
)]

use std::collections::{HashMap, HashSet};

use super::gather::{Gathered, items, opens};
use super::{Bound, Range};
use crate::language::script::lexer::Token;

/// Tokens between a function written on the spot and the call it is an argument of.
const BACK_MAX: usize = 128;

/// A function of a script.
#[derive(Debug)]
pub(super) struct Function<'a> {
    /// What it is called by: its name, or that of its class.
    pub(super) called: &'a str,
    pub(super) parameters: Vec<&'a str>,
    /// Whether its first parameter is the object it belongs to.
    pub(super) is_method: bool,
    /// Whether something else may call it: a decorator, the language itself.
    pub(super) called_by_others: bool,
}

impl<'a> Gathered<'a> {
    /// Binds parameters to what functions are called with.
    pub(super) fn calls(&mut self, tokens: &'a [Token], functions: &[Function<'a>]) {
        let mut by_name: HashMap<&str, Vec<&Function<'a>>> = HashMap::new();
        for function in functions {
            by_name.entry(function.called).or_default().push(function);
        }
        let mut called: HashSet<&str> = HashSet::new();
        for (at, token) in tokens.iter().enumerate() {
            let (Token::Name(name) | Token::Text(Some(name))) = token else {
                continue;
            };
            let Some(functions) = by_name.get(name.as_str()) else {
                continue;
            };
            let before = at.checked_sub(1).and_then(|at| tokens.get(at));
            if before.is_some_and(|token| token.is_name("def") || token.is_name("class")) {
                continue;
            }
            // A text may be the name it is looked up by.
            let calls = opens(tokens.get(at + 1)) && matches!(token, Token::Name(_));
            let given = calls.then(|| items(tokens, at + 1));
            for function in functions.iter().take(4) {
                called.insert(function.called);
                self.given(tokens, function, given.as_deref());
            }
        }
        for function in functions {
            if !called.contains(function.called) || function.called_by_others {
                for name in &function.parameters {
                    self.bind(name, Bound::Anything);
                }
            }
        }
    }

    /// Binds the parameters of `function` to the arguments of one call. Without arguments it is
    /// handed on, and whoever calls it calls it with anything.
    fn given(&mut self, tokens: &'a [Token], function: &Function<'a>, given: Option<&[Range]>) {
        let skipped = usize::from(function.is_method);
        let parameters = function.parameters.get(skipped..).unwrap_or_default();
        let Some(given) = given else {
            for name in parameters {
                self.bind(name, Bound::Anything);
            }
            return;
        };
        for (place, (from, to)) in given.iter().copied().enumerate() {
            match tokens.get(from..to).unwrap_or_default() {
                [Token::Mark("*" | "**"), ..] => {
                    for name in parameters {
                        self.bind(name, Bound::Anything);
                    }
                }
                [Token::Name(key), Token::Mark("="), ..] => {
                    if let Some(name) = parameters.iter().find(|name| *name == key) {
                        self.bind(name, Bound::Value((from + 2, to)));
                    }
                }
                _ => {
                    if let Some(name) = parameters.get(place) {
                        self.bind(name, Bound::Value((from, to)));
                    }
                }
            }
        }
    }

    /// `function f(a, b)`
    pub(super) fn javascript_function(&mut self, tokens: &'a [Token], at: usize) {
        let open = (at + 1..at + 4).find(|place| opens(tokens.get(*place)));
        if let Some(open) = open {
            self.anything_in(tokens, open);
        }
        if let Some(Token::Name(name)) = tokens.get(at + 1) {
            self.own.insert(name);
        }
    }

    /// Binds the parameters of functions of JavaScript that have a name: `function f(a)`,
    /// `const f = (a) => …`.
    pub(super) fn named_functions(&mut self, tokens: &'a [Token]) {
        let mut functions = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let (called, open) = match (token, tokens.get(at + 1), tokens.get(at + 2)) {
                (Token::Name(word), Some(Token::Name(name)), Some(Token::Mark("(")))
                    if word == "function" =>
                {
                    (name, at + 2)
                }
                (Token::Name(name), Some(Token::Mark("=")), Some(Token::Mark("("))) => {
                    (name, at + 2)
                }
                (Token::Name(name), Some(Token::Mark("=")), Some(Token::Name(_))) => (name, at + 1),
                _ => continue,
            };
            let parameters = if let Some([Token::Name(parameter), Token::Mark("=>")]) =
                tokens.get(open + 1..open + 3)
            {
                vec![parameter.as_str()]
            } else {
                let open = (open..open + 3).find(|place| opens(tokens.get(*place)));
                let given = open.map(|open| items(tokens, open)).unwrap_or_default();
                given
                    .iter()
                    .filter_map(|(from, to)| named(tokens.get(*from..*to)?))
                    .collect()
            };
            functions.push(Function {
                called,
                parameters,
                is_method: false,
                called_by_others: false,
            });
        }
        self.calls(tokens, &functions);
    }

    /// Binds the parameters of a function that is written where it is used: `map(lambda a: …, b)`,
    /// `b.map(a => …)`, `(lambda a: …)(b)`. `at` is where it begins.
    pub(super) fn given_on_the_spot(
        &mut self,
        tokens: &'a [Token],
        at: usize,
        parameters: &[&'a str],
    ) {
        let Some(open) = opening(tokens, at) else {
            return;
        };
        let mut ranges = items(tokens, open);
        let close = ranges.last().map_or(open + 1, |(_, to)| *to);
        ranges.retain(|(from, to)| !(*from..*to).contains(&at));
        let called = open.checked_sub(1).and_then(|at| tokens.get(at));
        if let Some(Token::Name(_)) = called {
            let dot = open
                .checked_sub(2)
                .filter(|at| matches!(tokens.get(*at), Some(Token::Mark("." | "?."))));
            ranges.extend(dot.map(|dot| (receiver(tokens, dot), dot)));
            for name in parameters {
                for range in ranges.iter().take(4) {
                    self.bind(name, Bound::Element(*range));
                }
            }
        } else if opens(tokens.get(close + 1)) {
            let given = items(tokens, close + 1);
            for (name, range) in parameters.iter().zip(given) {
                self.bind(name, Bound::Value(range));
            }
        }
    }
}

/// The first name of a parameter.
fn named(parameter: &[Token]) -> Option<&str> {
    parameter.iter().find_map(|token| match token {
        Token::Name(name) => Some(name.as_str()),
        _ => None,
    })
}

/// The parenthesis that is open at `at`.
fn opening(tokens: &[Token], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for back in 1..BACK_MAX {
        let place = at.checked_sub(back)?;
        match tokens.get(place) {
            Some(Token::Mark(")" | "]" | "}")) => depth += 1,
            Some(Token::Mark("(")) if depth == 0 => return Some(place),
            Some(Token::Mark("[" | "{" | ";")) if depth == 0 => return None,
            Some(Token::Mark("(" | "[" | "{")) => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Where the value begins that ends at the dot at `dot`.
fn receiver(tokens: &[Token], dot: usize) -> usize {
    let mut depth = 0_usize;
    let mut start = dot;
    for back in 1..BACK_MAX {
        let Some(place) = dot.checked_sub(back) else {
            break;
        };
        match tokens.get(place) {
            Some(Token::Mark(")" | "]" | "}")) => depth += 1,
            Some(Token::Mark("(" | "[" | "{")) if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            Some(Token::Name(_) | Token::Text(_) | Token::Mark("." | "?.")) => {}
            _ => break,
        }
        start = place;
    }
    start
}

impl<'a> Gathered<'a> {
    /// What is done to a collection by one of its names holds for the others. Called when all names
    /// are bound.
    pub(super) fn share(&mut self, tokens: &'a [Token]) {
        let mut others: HashMap<&'a str, Vec<&'a str>> = HashMap::new();
        for (name, bound) in &self.names {
            for bound in bound {
                let (Bound::Value(range) | Bound::Element(range) | Bound::Holder(range)) = bound
                else {
                    continue;
                };
                if let Some([Token::Name(other)]) = tokens.get(range.0..range.1) {
                    others.entry(name).or_default().push(other);
                }
            }
        }
        let mut pending: Vec<&'a str> = self.mutated.iter().copied().collect();
        let mut shared: HashSet<&'a str> = HashSet::new();
        while let Some(name) = pending.pop() {
            for other in others.remove(name).unwrap_or_default() {
                if shared.insert(other) {
                    pending.push(other);
                }
            }
        }
        for name in shared {
            self.mutated.insert(name);
            self.bind(name, Bound::Anything);
        }
    }

    /// `dict.update(a, …)`, `setitem(a, …)`, `Object.assign(a, …)`: the first argument is changed.
    pub(super) fn changes_first(&mut self, tokens: &'a [Token], at: usize) {
        if opens(tokens.get(at + 1))
            && let Some((from, to)) = items(tokens, at + 1).first().copied()
            && let Some([Token::Name(name)]) = tokens.get(from..to)
        {
            self.mutated.insert(name);
            self.bind(name, Bound::Anything);
            self.bind_attribute(name, Bound::Anything);
        }
    }
}
