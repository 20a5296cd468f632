//! Evaluates expressions of Python and JavaScript as far as the texts in them go.

use super::gather::items;
use super::made::{Made, Origin};
use super::texts::format_with;
use super::texts::{dated, expanded, last, parent, reencodes, without_suffix};
use super::{DEPTH_MAX, Kind, RANGE_MAX, Range, Values};
use crate::knowledge::{CallReader, Syntax};
use crate::language::script::lexer::Token;

/// What stands before a dot, a call or an index.
#[derive(Debug)]
enum Held {
    /// A value.
    Value(Made),
    /// A function or module, by its dotted name.
    Named(String),
    /// A function or class of the script.
    Own(String),
    /// A method of a value, before it is called.
    Method(Made, String),
}

impl Values<'_> {
    /// What the expression in `range` may be.
    pub(super) fn expression(&self, range: Range, depth: usize) -> Made {
        let (mut from, mut to) = range;
        let is_blank = |at: usize| self.tokens.get(at) == Some(&Token::Newline);
        while from < to && is_blank(from) {
            from += 1;
        }
        while from < to && is_blank(to - 1) {
            to -= 1;
        }
        if !self.spend(to.saturating_sub(from)) {
            return Made::unknown(Origin::Foreign);
        }
        if from >= to || to - from > RANGE_MAX || depth > DEPTH_MAX {
            return Made::unknown(Origin::Data);
        }
        let range = (from, to);
        self.choice(range, depth)
            .or_else(|| self.operation(range, depth))
            .unwrap_or_else(|| self.primary(range, depth))
    }

    /// The places in `range` outside of brackets where one of the words or marks stands.
    pub(super) fn places(&self, (from, to): Range, wanted: &[&str]) -> Vec<usize> {
        let mut depth = 0_usize;
        let mut places = Vec::new();
        for at in from..to {
            match self.tokens.get(at) {
                Some(Token::Mark("(" | "[" | "{")) => depth += 1,
                Some(Token::Mark(")" | "]" | "}")) => depth = depth.saturating_sub(1),
                Some(Token::Mark(mark)) if depth == 0 && wanted.contains(mark) => places.push(at),
                Some(Token::Name(word)) if depth == 0 && wanted.contains(&word.as_str()) => {
                    places.push(at);
                }
                _ => {}
            }
        }
        places
    }

    /// `a if b else c`, `a ? b : c`, `a or b`, `a = b`, `a for b in c`, functions.
    fn choice(&self, range: Range, depth: usize) -> Option<Made> {
        const WORDS: [&str; 14] = [
            "lambda", "=>", "=", ":=", "for", "if", "else", "?", ":", "or", "||", "??", "and", "&&",
        ];
        let (from, to) = range;
        let places = self.places(range, &WORDS);
        let first = *places.first()?;
        let is = |at: usize, words: &[&str]| match self.tokens.get(at) {
            Some(Token::Name(word)) => words.contains(&word.as_str()),
            Some(Token::Mark(mark)) => words.contains(mark),
            _ => false,
        };
        let last_of = |words: &[&str]| places.iter().rev().copied().find(|at| is(*at, words));
        if places.iter().any(|at| is(*at, &["lambda", "=>"])) {
            return Some(Made::unknown(Origin::Data));
        }
        if let Some(sign) = last_of(&["=", ":="]) {
            return Some(self.expression((sign + 1, to), depth + 1));
        }
        if let Some(word) = places.iter().copied().find(|at| is(*at, &["for"])) {
            return Some(self.expression((from, word), depth + 1).collected());
        }
        let python = self.script.syntax == Syntax::Python;
        if let (true, Some(end)) = (python, last_of(&["else"])) {
            let word = places.iter().copied().find(|at| is(*at, &["if"]));
            let chosen = self.expression((from, word.unwrap_or(end)), depth + 1);
            return Some(chosen.or(self.expression((end + 1, to), depth + 1)));
        }
        if let (false, true, Some(end)) = (python, is(first, &["?"]), last_of(&[":"])) {
            let chosen = self.expression((first + 1, end), depth + 1);
            return Some(chosen.or(self.expression((end + 1, to), depth + 1)));
        }
        let both = places
            .iter()
            .find(|at| is(**at, &["or", "||", "??", "and", "&&"]))?;
        let left = self.expression((from, *both), depth + 1);
        Some(left.or(self.expression((both + 1, to), depth + 1)))
    }

    /// Comparisons, sums, formats, joined paths.
    fn operation(&self, range: Range, depth: usize) -> Option<Made> {
        const COMPARED: [&str; 13] = [
            "==",
            "!=",
            "===",
            "!==",
            "<",
            ">",
            "<=",
            ">=",
            "in",
            "is",
            "not",
            "instanceof",
            "!",
        ];
        const SUMMED: [&str; 2] = ["+", "-"];
        if !self.places(range, &COMPARED).is_empty() {
            return Some(Made::number());
        }
        let (from, to) = range;
        let sums = self.places(range, &SUMMED);
        if sums.iter().any(|at| *at > from) {
            let parts = self.split(range, &sums, depth);
            let subtracts = sums.iter().any(|at| self.is_mark(*at, "-"));
            if subtracts && parts.iter().all(Made::is_number) {
                return Some(Made::number());
            }
            if subtracts {
                return Some(self.derived(range, depth));
            }
            if self.hides_texts(&parts) {
                return Some(Made::unknown(Origin::Assembled));
            }
            return parts.into_iter().reduce(|left, right| {
                let many = left.many && right.many;
                let sum = if many {
                    left.or(right)
                } else {
                    left.then("", &right)
                };
                if many { sum.collected() } else { sum }
            });
        }
        let products = self.places(
            range,
            &["*", "/", "%", "//", "**", "<<", ">>", "|", "&", "^"],
        );
        let operator = products.iter().find(|at| **at > from)?;
        let python = self.script.syntax == Syntax::Python;
        if python && products.iter().all(|at| self.is_mark(*at, "/")) {
            let parts = self.split(range, &products, depth);
            if self.hides_texts(&parts) {
                return Some(Made::unknown(Origin::Assembled));
            }
            return parts.into_iter().reduce(|left, right| left.below(&right));
        }
        if python && self.is_mark(*operator, "%") && products.len() == 1 {
            let template = self.expression((from, *operator), depth + 1);
            let values = self.expression((operator + 1, to), depth + 1);
            if self.hides_texts(std::slice::from_ref(&values)) {
                return Some(Made::unknown(Origin::Assembled));
            }
            return Some(format_with(&template, "%", &values));
        }
        let parts = self.split(range, &products, depth);
        let counts = parts.iter().all(Made::is_number);
        Some(if counts {
            Made::number()
        } else {
            self.derived(range, depth)
        })
    }

    /// Whether objects of the script that show themselves as any text may be among `parts`.
    pub(super) fn hides_texts(&self, parts: &[Made]) -> bool {
        let is_text = |made: &Made| made.is_exact() && !made.many;
        self.gathered.computes_texts && !parts.iter().all(is_text)
    }

    fn split(&self, (from, to): Range, places: &[usize], depth: usize) -> Vec<Made> {
        let mut start = from;
        let mut parts = Vec::new();
        for at in places.iter().copied().chain([to]) {
            if at > start {
                parts.push(self.expression((start, at), depth + 1));
            }
            start = at + 1;
        }
        parts
    }

    pub(super) fn is_mark(&self, at: usize, mark: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_mark(mark))
    }

    /// The place behind the bracket that closes the one at `open`.
    pub(super) fn behind(&self, open: usize, to: usize) -> usize {
        let mut depth = 0_usize;
        for at in open..to {
            match self.tokens.get(at) {
                Some(Token::Mark("(" | "[" | "{")) => depth += 1,
                Some(Token::Mark(")" | "]" | "}")) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
        }
        to
    }

    /// A value with everything that is done to it by dots, calls and indexes.
    fn primary(&self, range: Range, depth: usize) -> Made {
        let (mut from, to) = range;
        while matches!(self.tokens.get(from), Some(Token::Name(word)) if matches!(word.as_str(), "await" | "new" | "yield"))
            || matches!(self.tokens.get(from), Some(Token::Mark("*" | "**" | "...")))
        {
            from += 1;
        }
        let (mut held, mut at) = match self.tokens.get(from) {
            Some(Token::Text(_)) => self.texts((from, to)),
            Some(Token::Number) => (Held::Value(Made::number()), from + 1),
            Some(Token::Mark("(" | "[" | "{")) => {
                let end = self.behind(from, to);
                if matches!(self.tokens.get(end), Some(Token::Text(_))) && end < to {
                    self.texts((from, to))
                } else {
                    (Held::Value(self.bracket(from, end, depth)), end)
                }
            }
            Some(Token::Name(name)) => (self.named(name, depth), from + 1),
            _ => return self.derived(range, depth),
        };
        while at < to {
            if !self.spend(1) {
                return Made::unknown(Origin::Foreign);
            }
            (held, at) = match (self.tokens.get(at), self.tokens.get(at + 1)) {
                (Some(Token::Mark("." | "?.")), Some(Token::Name(name))) => {
                    let called = self.is_mark(at + 2, "(") && at + 2 < to;
                    let own = at == from + 1 && self.is_own_object(from);
                    (self.attribute(held, name, (called, own), depth), at + 2)
                }
                (Some(Token::Mark("(")), _) => {
                    let end = self.behind(at, to);
                    (Held::Value(self.call(held, at, depth)), end)
                }
                (Some(Token::Mark("[")), _) => {
                    let end = self.behind(at, to);
                    (Held::Value(self.index(held, (at + 1, end - 1), depth)), end)
                }
                _ => return self.derived(range, depth),
            };
        }
        self.value(held)
    }

    /// Whether the name at `at` is the object whose method is running.
    fn is_own_object(&self, at: usize) -> bool {
        match self.tokens.get(at) {
            Some(Token::Name(name)) => {
                matches!(name.as_str(), "self" | "cls")
                    && !self.gathered.names.contains_key(name.as_str())
            }
            _ => false,
        }
    }

    fn value(&self, held: Held) -> Made {
        match held {
            Held::Value(made) => made,
            Held::Named(path) => self.constant(&path),
            Held::Method(made, _) => Made::unknown(made.origin.max(Origin::Data)),
            Held::Own(_) => Made::unknown(Origin::Data),
        }
    }

    /// Texts that stand side by side are one text; so are those with code in them.
    fn texts(&self, (from, to): Range) -> (Held, usize) {
        let mut all = Made::exact("");
        let mut at = from;
        while at < to {
            let (part, end) = match self.tokens.get(at) {
                Some(Token::Text(Some(text))) => (Made::exact(text.clone()), at + 1),
                Some(Token::Text(None)) => (Made::unknown(Origin::Assembled), at + 1),
                Some(Token::Newline) => (Made::exact(""), at + 1),
                Some(Token::Mark("(")) if self.script.syntax == Syntax::Python => {
                    let end = self.behind(at, to);
                    (self.expression((at + 1, end - 1), 1), end)
                }
                _ => break,
            };
            all = all.then("", &part);
            at = end;
        }
        (Held::Value(all), at)
    }

    /// A group, a tuple or a collection: its elements.
    fn bracket(&self, open: usize, end: usize, depth: usize) -> Made {
        let parts = items(self.tokens, open);
        let is_group = self.is_mark(open, "(")
            && self.places((open + 1, end - 1), &[","]).is_empty()
            && !parts.is_empty();
        if is_group {
            return self.expression((open + 1, end - 1), depth + 1);
        }
        let mut all: Option<Made> = None;
        for part in parts {
            for side in self.sides(part) {
                let made = self.expression(side, depth + 1);
                all = Some(match all {
                    Some(all) => all.or(made),
                    None => made,
                });
            }
        }
        all.unwrap_or_else(|| Made::exact("")).collected()
    }

    /// The key and the value of an item of a dictionary; otherwise the item.
    fn sides(&self, (from, to): Range) -> Vec<Range> {
        if !self.places((from, to), &["?", "lambda", "for"]).is_empty() {
            return vec![(from, to)];
        }
        match self.places((from, to), &[":"]).first() {
            Some(colon) => vec![(from, *colon), (colon + 1, to)],
            None => vec![(from, to)],
        }
    }

    fn named(&self, name: &str, depth: usize) -> Held {
        let held = self.held(name, depth);
        if let Some(path) = self.paths.get(name) {
            // What is imported and bound again is either; `require` is bound where it is loaded.
            let loaded = self.script.syntax == Syntax::JavaScript
                && self
                    .gathered
                    .names
                    .get(name)
                    .is_none_or(|bound| bound.len() == 1);
            return match held {
                Some(_) if !loaded => Held::Value(Made::unknown(Origin::Data)),
                _ => Held::Named(path.clone()),
            };
        }
        match held {
            Some(made) if self.gathered.own.contains(name) => {
                Held::Value(made.or(Made::unknown(Origin::Data)))
            }
            Some(made) => Held::Value(made),
            None if matches!(name, "self" | "cls" | "this") => {
                Held::Value(Made::unknown(Origin::Data))
            }
            None if self.gathered.own.contains(name) => Held::Own(name.to_owned()),
            None => Held::Named(name.to_owned()),
        }
    }

    /// What a function or module stands for that is not called.
    fn constant(&self, path: &str) -> Made {
        let script = self.script;
        if script.foreign.contains(path) {
            return self.arguments_or_foreign(path);
        }
        match path {
            "sys.executable" => Made::exact("python3"),
            "process.execPath" => Made::exact("node"),
            "None" | "null" | "undefined" => Made::exact(""),
            "True" | "False" | "true" | "false" => Made::number(),
            _ if script.here.contains(path) => Made::exact("."),
            _ if script.home.contains(path) => Made::exact("~"),
            "__file__" | "__filename" => Made::exact("./").then("", &Made::plain()),
            _ if script.plain.contains(path) => Made::plain(),
            _ => Made::unknown(Origin::Data),
        }
    }

    /// The words after the script where they are known, and otherwise anything.
    pub(super) fn arguments_or_foreign(&self, path: &str) -> Made {
        let is_words = path.ends_with("argv") || path.ends_with("parse_args");
        match self.arguments {
            Some(words) if is_words => {
                let values = words.iter().filter_map(|word| word.split_once('='));
                let texts = values.map(|(_, value)| value.to_owned());
                let texts = texts.chain(words.iter().cloned()).chain([String::new()]);
                let given = Made::all(texts.collect(), Origin::Script);
                // What a parser of arguments uses instead is written in the script.
                let usual = self.held("default", 0).filter(|_| !path.ends_with("argv"));
                usual
                    .map_or(given.clone(), |usual| given.or(usual))
                    .collected()
            }
            _ => Made::unknown(Origin::Foreign),
        }
    }

    fn attribute(&self, held: Held, name: &str, (called, own): (bool, bool), depth: usize) -> Held {
        let made = match held {
            Held::Named(path) => {
                let whole = format!("{path}.{name}");
                if self.script.foreign.contains(&path) && !called {
                    let is_home = matches!(name, "HOME" | "USERPROFILE");
                    return Held::Value(if is_home {
                        Made::exact("~")
                    } else {
                        self.constant(&path)
                    });
                }
                return Held::Named(whole);
            }
            Held::Own(_) => Made::unknown(Origin::Data),
            Held::Value(made) | Held::Method(made, _) => made,
        };
        if called {
            return Held::Method(made, name.to_owned());
        }
        let bound = self.bound(Kind::Attribute, name, depth);
        // Only what the script's own object holds is bound by the script alone.
        let bound = bound.map(|bound| {
            if own && !self.gathered.computes_attributes && !self.gathered.own.contains(name) {
                bound
            } else {
                bound.or(Made::unknown(Origin::Data))
            }
        });
        let known = match name {
            "name" if made.handle => made,
            "name" => made.map(last),
            "stem" => made.map(|text| without_suffix(last(text).as_str())),
            "parent" => made.map(parent),
            "parents" => made.map(parent).or(Made::exact("..")).collected(),
            "suffix" | "suffixes" | "length" | "pid" | "returncode" => Made::plain(),
            _ => match bound {
                Some(bound) => return Held::Value(bound),
                None if made.many => made,
                None => Made::unknown(made.origin.max(Origin::Data)),
            },
        };
        Held::Value(match bound {
            Some(bound) => known.or(bound),
            None => known,
        })
    }

    fn index(&self, held: Held, key: Range, depth: usize) -> Made {
        match held {
            Held::Named(path) if self.script.foreign.contains(&path) => {
                match self.expression(key, depth + 1).only() {
                    Some("HOME" | "USERPROFILE") => Made::exact("~"),
                    _ => self.constant(&path),
                }
            }
            Held::Named(_) | Held::Own(_) | Held::Method(..) => Made::unknown(Origin::Data),
            Held::Value(made) => made.element(),
        }
    }

    /// Calls what is held with the arguments in the parenthesis at `open`.
    fn call(&self, held: Held, open: usize, depth: usize) -> Made {
        let given = items(self.tokens, open);
        if !self.spend(given.last().map_or(0, |(_, to)| to.saturating_sub(open))) {
            return Made::unknown(Origin::Foreign);
        }
        match held {
            Held::Named(path) => self.function(&path, &given, depth),
            Held::Own(name) => match self.gathered.returned.get(name.as_str()) {
                Some(ranges) => self.returned(&name, ranges, depth),
                None => Made::unknown(self.unfollowed(&given, depth)),
            },
            Held::Method(made, name) => self.method(made, &name, &given, depth),
            Held::Value(made) => Made::unknown(made.origin.max(self.unfollowed(&given, depth))),
        }
    }

    /// Arguments without those that are given by name.
    pub(super) fn positional(&self, given: &[Range], depth: usize) -> Vec<Made> {
        let mut values = Vec::new();
        for (from, to) in given.iter().filter(|range| !self.is_keyed(**range)) {
            let spreads = matches!(self.tokens.get(*from), Some(Token::Mark("*" | "...")));
            match self.list((from + 1, *to), depth + 1).filter(|_| spreads) {
                Some(words) => values.extend(words),
                None => values.push(self.expression((*from, *to), depth + 1)),
            }
        }
        values
    }

    /// Whether an argument is given by name.
    fn is_keyed(&self, (from, _): Range) -> bool {
        matches!(
            (self.tokens.get(from), self.tokens.get(from + 1)),
            (Some(Token::Name(_)), Some(Token::Mark("=")))
        )
    }

    /// The values of arguments that are given by name.
    pub(super) fn keyed_values(&self, given: &[Range], depth: usize) -> Vec<Made> {
        let keyed = given.iter().filter(|range| self.is_keyed(**range));
        keyed
            .map(|(from, to)| self.expression((from + 2, *to), depth + 1))
            .collect()
    }

    fn function(&self, path: &str, given: &[Range], depth: usize) -> Made {
        let script = self.script;
        let arguments = || self.positional(given, depth);
        let first = || arguments().into_iter().next();
        let last_name = path.rsplit('.').next().unwrap_or(path);
        if self.gathered.replaced.contains(last_name) {
            return Made::unknown(Origin::Assembled);
        }
        if script.foreign.contains(path) {
            let home = path.ends_with("getenv") || path.ends_with("environ.get");
            return match first() {
                Some(key) if home && key.only() == Some("HOME") => Made::exact("~"),
                _ => self.arguments_or_foreign(path),
            };
        }
        if script.decoders.contains(path) {
            return Made::unknown(Origin::Assembled);
        }
        if script.joins.contains(path) {
            let joined = arguments()
                .into_iter()
                .reduce(|left, right| left.below(&right));
            return joined.unwrap_or_else(|| Made::exact("."));
        }
        if script.home.contains(path) {
            return Made::exact("~");
        }
        if script.here.contains(path) {
            return Made::exact(".");
        }
        if script.scratch.contains(path) {
            return self.scratch(given);
        }
        if script.listing.contains(path) {
            let directory = first().unwrap_or_else(|| Made::exact("."));
            return match path.rsplit('.').next() {
                Some("glob" | "iglob" | "globSync") => directory.matches(),
                Some("walk") => {
                    let below = directory.below(&Made::plain());
                    directory.or(below).or(Made::plain()).collected()
                }
                _ => Made::plain()
                    .from(directory.origin.min(Origin::Data))
                    .collected(),
            };
        }
        let opens = script
            .calls
            .get(path)
            .is_some_and(|call| call.reader == Some(CallReader::Open));
        match last_name {
            _ if opens => first().map_or_else(|| Made::unknown(Origin::Data), Made::opened),
            "open" => first().map_or_else(|| Made::unknown(Origin::Data), Made::opened),
            "dirname" => first().map_or_else(|| Made::exact("."), |made| made.map(parent)),
            "basename" => first().map_or_else(Made::plain, |made| made.map(last)),
            "splitext" => first().map_or_else(Made::plain, |made| {
                made.clone().map(without_suffix).or(made).collected()
            }),
            "strftime" => first().map_or_else(Made::plain, dated),
            // Texts made of numbers, and those into which variables are put.
            "bytes" if arguments().iter().any(|made| made.many || made.is_number()) => {
                Made::unknown(Origin::Assembled)
            }
            "expandvars" => first().map_or_else(|| Made::exact(""), expanded),
            _ if script.plain.contains(path) => Made::number(),
            _ if script.same.contains(path) => {
                let arguments = arguments();
                if reencodes(path, &arguments) {
                    return Made::unknown(Origin::Assembled);
                }
                let parts = arguments.into_iter().reduce(Made::or);
                parts.unwrap_or_else(|| Made::exact(""))
            }
            "min" | "max" if arguments().iter().all(Made::is_number) => Made::number(),
            _ if script.calls.contains(path) => Made::unknown(self.origin_of(given, depth)),
            _ => Made::unknown(self.unfollowed(given, depth)),
        }
    }

    /// Something made of all that stands in `range`.
    fn derived(&self, range: Range, depth: usize) -> Made {
        let (from, to) = range;
        let is_name = |at: usize| matches!(self.tokens.get(at), Some(Token::Name(_)));
        Made::unknown(if (from..to).any(is_name) {
            self.origin_of(&[range], depth)
        } else {
            Origin::Assembled
        })
    }

    /// The strictest origin of what stands in `ranges`; what a library makes of it is data.
    pub(super) fn origin_of(&self, ranges: &[Range], depth: usize) -> Origin {
        let mut origin = Origin::Data;
        for (from, to) in ranges {
            if !self.spend(to.saturating_sub(*from)) {
                return Origin::Foreign;
            }
            for at in *from..(*to).min(from + RANGE_MAX) {
                let Some(Token::Name(name)) = self.tokens.get(at) else {
                    continue;
                };
                if self.script.foreign.contains(name) && self.arguments.is_none() {
                    origin = origin.max(Origin::Foreign);
                }
                if self.script.decoders.contains(name) {
                    origin = origin.max(Origin::Assembled);
                }
                if let Some(made) = self.held(name, depth + 1) {
                    origin = origin.max(made.origin);
                }
            }
        }
        origin
    }
}
