//! Finds what a script binds its names to: assignments, loops, parameters, attributes.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "tokens of all other kinds bind nothing"
)]

use std::collections::{HashMap, HashSet};

use super::calls::Function;
use super::loose::Stored;
use super::texts::{changes_list, is_update};
use super::{Bound, Range};
use crate::language::script::lexer::Token;

/// Bindings of one name that are remembered.
const KEPT_MAX: usize = 96;
/// Tokens that one binding may reach back.
const BACK_MAX: usize = 128;
/// Tokens after which the end of a value is no longer looked for; see [`super::RANGE_MAX`].
const AHEAD_MAX: usize = super::RANGE_MAX + 1;

/// What the names of a script are bound to.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing about the whole script"
)]
pub(super) struct Gathered<'a> {
    pub(super) names: HashMap<&'a str, Vec<Bound>>,
    /// The same of attributes, whatever object they belong to.
    pub(super) attributes: HashMap<&'a str, Vec<Bound>>,
    /// What the functions of the script return.
    pub(super) returned: HashMap<&'a str, Vec<Range>>,
    /// Lists to which something is added later.
    pub(super) mutated: HashSet<&'a str>,
    /// What is added to the end of lists.
    pub(super) added: HashMap<&'a str, Vec<Addition>>,
    /// Lists that are changed in other ways.
    pub(super) changed: HashSet<&'a str>,
    /// Whether lists are changed that have no name where that happens.
    pub(super) changes_unnamed: bool,
    /// Functions and classes of the script.
    pub(super) own: HashSet<&'a str>,
    /// Whether attributes are computed by the script itself.
    pub(super) computes_attributes: bool,
    /// Functions that a decorator may have replaced.
    pub(super) decorated: HashSet<&'a str>,
    /// Members that something is assigned to.
    pub(super) assigned: Vec<(&'a str, Range)>,
    /// Members that a function of the script is assigned to, so that calling one may do anything.
    pub(super) replaced: HashSet<&'a str>,
    /// What is put into collections.
    pub(super) stored: Vec<Stored<'a>>,
    /// What is put into collections that may be any.
    pub(super) loose: Vec<Range>,
    /// Whether a name is bound more often than is remembered.
    pub(super) has_lost_bindings: bool,
    /// Whether objects of the script say themselves how they are added or shown.
    pub(super) computes_texts: bool,
}

/// Something that is added to the end of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addition {
    pub(super) range: Range,
    /// Whether its elements are added, not the whole.
    pub(super) is_list: bool,
}

/// A `def` or `class` whose body the current line may belong to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    pub(super) indent: usize,
    pub(super) name: &'a str,
    pub(super) is_class: bool,
}

impl<'a> Gathered<'a> {
    /// Reads JavaScript.
    pub(super) fn javascript(tokens: &'a [Token]) -> Self {
        let mut gathered = Self::default();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                Token::Mark("=") => {
                    gathered.before(tokens, at, (at + 1, value_end(tokens, at + 1)));
                }
                Token::Mark(mark) if is_update(mark) => gathered.before_anything(tokens, at),
                Token::Mark("=>") => gathered.arrow(tokens, at),
                Token::Name(word) => match word.as_str() {
                    "of" | "in" => gathered.loop_of(tokens, at),
                    "function" => gathered.javascript_function(tokens, at),
                    "toString" | "valueOf" | "toPrimitive" | "toJSON" => {
                        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
                        let is_called = before.is_some_and(|token| token.is_mark("."));
                        gathered.computes_texts |= !is_called || word == "toPrimitive";
                    }
                    "catch" => gathered.anything_in(tokens, at + 1),
                    "assign" | "set" => gathered.changes_first(tokens, at),
                    word if changes_list(word) => gathered.mutates(tokens, at),
                    _ => {}
                },
                Token::Mark(_)
                | Token::Newline
                | Token::Variable(_)
                | Token::Symbol(_)
                | Token::Text(_)
                | Token::Command(_)
                | Token::Number => {}
            }
        }
        gathered.named_functions(tokens);
        gathered.share(tokens);
        gathered
    }

    pub(super) fn bind(&mut self, name: &'a str, bound: Bound) {
        let all = self.names.entry(name).or_default();
        if all.len() < KEPT_MAX {
            all.push(bound);
        } else {
            // What else it stands for may be changed by it, too.
            self.has_lost_bindings = true;
            self.changes_unnamed = true;
        }
    }

    pub(super) fn bind_attribute(&mut self, name: &'a str, bound: Bound) {
        self.attributes.entry(name).or_default().push(bound);
    }

    /// `a = …`, `a, b = …`, `a.b = …`, `a[b] = …`: the targets from `start` to the sign at `at`.
    pub(super) fn targets(&mut self, tokens: &'a [Token], start: usize, at: usize, value: Range) {
        let target = tokens.get(start..at).unwrap_or_default();
        match target {
            [Token::Name(name)] | [Token::Name(name), Token::Mark(":"), ..] => {
                self.bind(name, Bound::Value(value));
                return;
            }
            _ => {}
        }
        self.stores(tokens, (start, at), value);
        let listed = target.iter().any(|token| token.is_mark(","));
        let bound = if listed {
            Bound::Element(value)
        } else {
            Bound::Value(value)
        };
        // Names in an index are read; those in `[a, b] = …` are bound.
        let mut depth = 0_usize;
        for (place, token) in target.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|place| target.get(place));
            let indexes = before.is_some_and(Token::ends_operand);
            match token {
                Token::Mark("[" | "{" | "(") if depth > 0 || indexes => depth += 1,
                Token::Mark("]" | "}" | ")") => depth = depth.saturating_sub(1),
                Token::Name(name) if depth == 0 => {
                    let is_member = before.is_some_and(|before| before.is_mark("."));
                    let bound = match target.get(place + 1) {
                        Some(Token::Mark("[")) => {
                            self.mutated.insert(name);
                            self.changed.insert(name);
                            Bound::Holder(value)
                        }
                        // What stands before the dot is not bound.
                        Some(Token::Mark(".")) => continue,
                        _ => bound,
                    };
                    if is_member {
                        self.assigned.push((name, value));
                        self.bind_attribute(name, bound);
                    } else {
                        self.bind(name, bound);
                    }
                }
                Token::Mark(_)
                | Token::Name(_)
                | Token::Newline
                | Token::Variable(_)
                | Token::Symbol(_)
                | Token::Text(_)
                | Token::Command(_)
                | Token::Number => {}
            }
        }
    }

    /// The name before the sign at `at` gets the value in `value`.
    pub(super) fn before(&mut self, tokens: &'a [Token], at: usize, value: Range) {
        let is_blank = |place: &usize| tokens.get(*place) == Some(&Token::Newline);
        let Some(last) = (0..at).rev().find(|place| !is_blank(place)) else {
            return;
        };
        let is_member = last
            .checked_sub(1)
            .and_then(|at| tokens.get(at))
            .is_some_and(|token| token.is_mark("."));
        match tokens.get(last) {
            Some(Token::Name(name)) if is_member => {
                self.assigned.push((name, value));
                self.bind_attribute(name, Bound::Value(value));
            }
            Some(Token::Name(name)) => self.bind(name, Bound::Value(value)),
            // `const {a, b} = …`, `[a, b] = …`, `a[b] = …`
            Some(Token::Mark("}" | "]")) => {
                self.stores(tokens, (last.saturating_sub(BACK_MAX), last + 1), value);
                for token in (1..BACK_MAX).map_while(|back| tokens.get(at.checked_sub(back)?)) {
                    match token {
                        Token::Name(name) => {
                            self.mutated.insert(name);
                            self.changed.insert(name);
                            self.bind(name, Bound::Element(value));
                            self.bind_attribute(name, Bound::Anything);
                        }
                        Token::Mark(";") | Token::Newline => break,
                        Token::Mark(_)
                        | Token::Variable(_)
                        | Token::Symbol(_)
                        | Token::Text(_)
                        | Token::Command(_)
                        | Token::Number => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// `a += …`: what the name holds then is not followed.
    pub(super) fn before_anything(&mut self, tokens: &'a [Token], at: usize) {
        if let Some(Token::Name(name)) = at.checked_sub(1).and_then(|at| tokens.get(at)) {
            self.mutated.insert(name);
            self.bind(name, Bound::Anything);
            self.bind_attribute(name, Bound::Anything);
            if tokens.get(at).is_some_and(|mark| mark.is_mark("+=")) {
                let range = (at + 1, statement_end(tokens, at + 1));
                let addition = Addition {
                    range,
                    is_list: true,
                };
                self.added.entry(name).or_default().push(addition);
            } else {
                self.changed.insert(name);
            }
        }
    }

    /// `del a[0]`
    pub(super) fn deletes(&mut self, tokens: &'a [Token], at: usize) {
        let end = statement_end(tokens, at + 1);
        for token in tokens.get(at + 1..end).unwrap_or_default() {
            if let Token::Name(name) = token {
                self.mutated.insert(name);
                self.changed.insert(name);
            }
        }
    }

    /// `for a, b in …`, as a statement or in brackets.
    pub(super) fn loop_targets(&mut self, tokens: &'a [Token], at: usize) {
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let Some(word) = rest
            .iter()
            .take(BACK_MAX)
            .position(|token| token.is_name("in"))
        else {
            return;
        };
        let from = at + word + 2;
        let value = (from, iterated_end(tokens, from));
        for token in rest.iter().take(word) {
            if let Token::Name(name) = token {
                self.bind(name, Bound::Element(value));
                self.bind_attribute(name, Bound::Anything);
            }
        }
    }

    /// `for (const a of …)`.
    fn loop_of(&mut self, tokens: &'a [Token], at: usize) {
        let value = (at + 1, value_end(tokens, at + 1));
        for token in (1..BACK_MAX).map_while(|back| tokens.get(at.checked_sub(back)?)) {
            match token {
                Token::Name(word) if matches!(word.as_str(), "const" | "let" | "var") => break,
                Token::Name(name) => {
                    self.bind(name, Bound::Element(value));
                    self.bind_attribute(name, Bound::Element(value));
                }
                Token::Mark("{" | "}" | "[" | "]" | "," | ":" | "..." | ".")
                | Token::Text(_)
                | Token::Number => {}
                Token::Mark(_)
                | Token::Newline
                | Token::Variable(_)
                | Token::Symbol(_)
                | Token::Command(_) => break,
            }
        }
    }

    /// `with … as a`; what an exception is called holds no text of the script.
    pub(super) fn context(&mut self, tokens: &'a [Token], at: usize) {
        let mut depth = 0_usize;
        for back in 1..BACK_MAX {
            let Some(place) = at.checked_sub(back) else {
                break;
            };
            match tokens.get(place) {
                Some(Token::Mark(")" | "]" | "}")) => depth += 1,
                Some(Token::Mark("(" | "[" | "{")) if depth > 0 => depth -= 1,
                Some(Token::Mark("(" | ",")) if depth == 0 => {
                    self.named(tokens, at + 1, Bound::Value((place + 1, at)));
                    return;
                }
                Some(Token::Name(word)) if depth == 0 && word == "with" => {
                    self.named(tokens, at + 1, Bound::Value((place + 1, at)));
                    return;
                }
                Some(Token::Newline) | None if depth == 0 => break,
                _ => {}
            }
        }
        self.named(tokens, at + 1, Bound::Anything);
    }

    fn named(&mut self, tokens: &'a [Token], at: usize, bound: Bound) {
        let is_alone = !matches!(tokens.get(at + 1), Some(Token::Mark("." | "[")));
        if let (true, Some(Token::Name(name))) = (is_alone, tokens.get(at)) {
            self.bind(name, bound);
            return;
        }
        // `with … as (a, b)`, `with … as a.b`
        for token in tokens.iter().skip(at).take(BACK_MAX) {
            match token {
                Token::Name(name) => {
                    self.bind(name, Bound::Anything);
                    self.bind_attribute(name, Bound::Anything);
                }
                Token::Mark(":") | Token::Newline => break,
                _ => {}
            }
        }
    }

    /// The parameters of a function, whose parenthesis is at `open`.
    pub(super) fn function(
        &mut self,
        tokens: &'a [Token],
        open: usize,
        called: &'a str,
    ) -> Function<'a> {
        let mut parameters = Vec::new();
        for (from, to) in items(tokens, open) {
            let item = tokens.get(from..to).unwrap_or_default();
            let name = item.iter().find_map(|token| match token {
                Token::Name(name) => Some(name.as_str()),
                _ => None,
            });
            let Some(name) = name else {
                continue;
            };
            parameters.push(name);
            if item
                .first()
                .is_some_and(|token| token.is_mark("*") || token.is_mark("**"))
            {
                self.bind(name, Bound::Anything);
            } else if let Some(sign) = item.iter().position(|token| token.is_mark("=")) {
                self.bind(name, Bound::Value((from + sign + 1, to)));
            }
        }
        let is_method = matches!(parameters.first(), Some(&"self" | &"cls"));
        Function {
            called,
            parameters,
            is_method,
            called_by_others: false,
        }
    }

    /// `case [a, b]:` binds what it names.
    pub(super) fn captures(&mut self, tokens: &'a [Token], at: usize) {
        for token in tokens
            .get(at + 1..)
            .unwrap_or_default()
            .iter()
            .take(BACK_MAX)
        {
            match token {
                Token::Name(name) => self.bind(name, Bound::Anything),
                Token::Newline => break,
                _ => {}
            }
        }
    }

    /// `setattr(a, "b", c)` is `a.b = c`.
    pub(super) fn set_attribute(&mut self, tokens: &'a [Token], at: usize) {
        if let [_, (from, _), value, ..] = items(tokens, at + 1).as_slice()
            && let Some(Token::Text(Some(name))) = tokens.get(*from)
        {
            self.assigned.push((name, *value));
            self.bind_attribute(name, Bound::Value(*value));
        }
    }

    pub(super) fn lambda(&mut self, tokens: &'a [Token], at: usize) {
        let mut parameters = Vec::new();
        for token in tokens
            .get(at + 1..)
            .unwrap_or_default()
            .iter()
            .take(BACK_MAX)
        {
            match token {
                Token::Name(name) => {
                    parameters.push(name.as_str());
                    self.bind(name, Bound::Anything);
                }
                Token::Mark(":") => break,
                _ => {}
            }
        }
        self.given_on_the_spot(tokens, at, &parameters);
    }

    fn arrow(&mut self, tokens: &'a [Token], at: usize) {
        let mut parameters = Vec::new();
        let mut start = at;
        for back in 1..BACK_MAX {
            start = at.saturating_sub(back);
            match at.checked_sub(back).and_then(|place| tokens.get(place)) {
                Some(Token::Name(name)) => {
                    parameters.push(name.as_str());
                    self.bind(name, Bound::Anything);
                    if back == 1 {
                        break;
                    }
                }
                Some(Token::Mark("(")) | None => break,
                Some(_) => {}
            }
        }
        parameters.reverse();
        self.given_on_the_spot(tokens, start, &parameters);
    }

    pub(super) fn anything_in(&mut self, tokens: &'a [Token], open: usize) {
        for (from, to) in items(tokens, open) {
            for token in tokens.get(from..to).unwrap_or_default() {
                if let Token::Name(name) = token {
                    self.bind(name, Bound::Anything);
                }
            }
        }
    }

    /// `a.append(…)`: the name before the dot.
    pub(super) fn mutates(&mut self, tokens: &'a [Token], at: usize) {
        let receiver = at.checked_sub(2).and_then(|at| tokens.get(at));
        if let (Some(Token::Name(name)), Some(Token::Mark("(")), Some(Token::Mark("."))) = (
            receiver,
            tokens.get(at + 1),
            at.checked_sub(1).and_then(|at| tokens.get(at)),
        ) {
            self.mutated.insert(name);
            let word = tokens.get(at);
            let is = |wanted: &str| word.is_some_and(|word| word.is_name(wanted));
            let adds = is("append") || is("extend") || is("push");
            // `list.append(a, b)` changes `a`.
            self.changes_unnamed |= name == "list";
            if !adds {
                self.changed.insert(name);
            }
            for range in items(tokens, at + 1) {
                let receiver = Some(name.as_str());
                self.stored.push(Stored { receiver, range });
                let spreads = matches!(tokens.get(range.0), Some(Token::Mark("*" | "...")));
                if adds && !spreads {
                    let is_list = is("extend");
                    let addition = Addition { range, is_list };
                    self.added.entry(name).or_default().push(addition);
                } else {
                    self.changed.insert(name);
                }
                // `extend` adds the elements of what it is given, the others the whole.
                let bound = if tokens.get(at).is_some_and(|token| token.is_name("extend")) {
                    Bound::Value(range)
                } else {
                    Bound::Holder(range)
                };
                self.bind(name, bound);
                self.bind_attribute(name, bound);
            }
        } else if opens(tokens.get(at + 1))
            && at
                .checked_sub(1)
                .and_then(|at| tokens.get(at))
                .is_some_and(|token| token.is_mark("."))
        {
            self.changes_unnamed = true;
            for range in items(tokens, at + 1) {
                let receiver = None;
                self.stored.push(Stored { receiver, range });
            }
        }
    }

    /// Names of lists that are changed by other names which stand for the same list.
    pub(super) fn changes_others(&mut self, tokens: &'a [Token]) {
        const ROUNDS_MAX: usize = 4;
        for _ in 0..ROUNDS_MAX {
            let mut others = Vec::new();
            for name in &self.mutated {
                for bound in self.names.get(name).into_iter().flatten() {
                    let range = match bound {
                        Bound::Value(range) if range.0 + 1 == range.1 => *range,
                        Bound::Element(range) => *range,
                        Bound::Value(_) | Bound::Holder(_) | Bound::Anything => continue,
                    };
                    let names = tokens.get(range.0..range.1.min(range.0 + BACK_MAX));
                    for token in names.unwrap_or_default() {
                        if let Token::Name(other) = token {
                            others.push(other.as_str());
                        }
                    }
                }
            }
            let before = self.changed.len();
            for other in others {
                self.mutated.insert(other);
                self.changed.insert(other);
            }
            if self.changed.len() == before {
                return;
            }
        }
        self.changes_unnamed = true;
    }
}

pub(super) fn opens(token: Option<&Token>) -> bool {
    token.is_some_and(|token| token.is_mark("("))
}

/// Where the statement ends whose value begins at `from`.
pub(super) fn statement_end(tokens: &[Token], from: usize) -> usize {
    end(tokens, from, |token| {
        matches!(token, Token::Newline | Token::Mark(";"))
    })
}

/// Where a value ends that may stand in brackets or before a comma.
pub(super) fn value_end(tokens: &[Token], from: usize) -> usize {
    let continues = |at: usize| {
        matches!(
            tokens.get(at),
            Some(Token::Mark(
                "+" | "." | "?" | ":" | "=" | "(" | "||" | "&&" | "??" | "?."
            ))
        )
    };
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from).take(AHEAD_MAX) {
        match token {
            Token::Mark("(" | "[" | "{") => depth += 1,
            Token::Mark(")" | "]" | "}" | ";" | ",") if depth == 0 => return at,
            Token::Mark(")" | "]" | "}") => depth -= 1,
            Token::Newline if depth == 0 => {
                let before = at.checked_sub(1).is_some_and(continues);
                if !before && !continues(at + 1) {
                    return at;
                }
            }
            _ => {}
        }
    }
    tokens.len().min(from + AHEAD_MAX)
}

/// Where what a loop goes through ends.
fn iterated_end(tokens: &[Token], from: usize) -> usize {
    end(tokens, from, |token| match token {
        Token::Name(word) => matches!(word.as_str(), "if" | "for" | "async"),
        Token::Newline | Token::Mark(":" | ";" | ")" | "]" | "}") => true,
        _ => false,
    })
}

fn end(tokens: &[Token], from: usize, ends: impl Fn(&Token) -> bool) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from).take(AHEAD_MAX) {
        if depth == 0 && ends(token) {
            return at;
        }
        match token {
            Token::Mark("(" | "[" | "{") => depth += 1,
            Token::Mark(")" | "]" | "}") => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    tokens.len().min(from + AHEAD_MAX)
}

/// The items between the bracket at `open` and the one that closes it.
pub(super) fn items(tokens: &[Token], open: usize) -> Vec<Range> {
    let mut items = Vec::new();
    let mut depth = 0_usize;
    let mut from = open + 1;
    let mut closed = false;
    for (at, token) in tokens.iter().enumerate().skip(open).take(AHEAD_MAX) {
        match token {
            Token::Mark("(" | "[" | "{") => depth += 1,
            Token::Mark(")" | "]" | "}") => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    items.push((from, at));
                    closed = true;
                    break;
                }
            }
            Token::Mark(",") if depth == 1 => {
                items.push((from, at));
                from = at + 1;
            }
            _ => {}
        }
    }
    if !closed {
        items.push((from, open + 2 * AHEAD_MAX));
    }
    let is_blank = |(from, to): &Range| {
        let item = tokens.get(*from..*to).unwrap_or_default();
        !item.is_empty() && item.iter().all(|token| *token == Token::Newline) || from == to
    };
    items.retain(|item| !is_blank(item));
    let trim = |(from, to): Range| {
        let blanks = |at: &usize| tokens.get(*at) == Some(&Token::Newline);
        (from + (from..to).take_while(blanks).count(), to)
    };
    items.into_iter().map(trim).collect()
}
