//! Word expansion like bash: braces, `~`, parameters, substitutions, splitting, as far as values
//! are known.

use super::braces::{self, Braces, Piece};
use super::value::{Arg, Open, Stream, TEXT_BYTES_MAX, Taint, Value};
use super::walk::{Walk, environment, unset_value};
use crate::glob::glob_matches;
use crate::place::{HOLE, HOME};
use crate::shell::syntax::{Expansion, Operation, Part, Span, Word};

/// The word that is being put together, and the ones before it.
#[derive(Default)]
struct Fields {
    done: Vec<Arg>,
    text: String,
    /// Something was quoted, so the word stays even if it is empty.
    kept: bool,
    glob: bool,
    /// It may turn into other words, or into an option.
    open: Open,
    taint: Taint,
    delivers: Option<Box<Stream>>,
    /// It is the value of an assignment.
    is_assigned: bool,
}

impl Fields {
    /// Ends the word at hand.
    fn cut(&mut self, span: Span) {
        if self.kept || !self.text.is_empty() {
            self.done.push(Arg {
                text: std::mem::take(&mut self.text),
                glob: self.glob,
                open: self.open,
                taint: self.taint,
                delivers: self.delivers.take(),
                span,
            });
        }
        self.kept = false;
        self.glob = false;
        self.open = Open::No;
    }

    /// Adds unquoted text of an expansion, which is split where `separators` stand.
    fn split(&mut self, text: &str, separators: &str, span: Span) {
        let mut first = true;
        for piece in text.split(|letter: char| separators.contains(letter)) {
            if !first {
                self.cut(span);
            }
            first = false;
            self.text.push_str(piece);
            self.glob |= piece.contains(['*', '?', '[']);
        }
    }
}

impl Walk<'_> {
    /// Expands `words` into what a program is given.
    pub(super) fn expand_all(&mut self, words: &[Word]) -> Vec<Arg> {
        let mut args = Vec::with_capacity(words.len());
        for word in words {
            match word.parts.as_slice() {
                // Most words are plain text in which nothing is live.
                [Part::Plain(text)] if !has_live(text) => {
                    args.push(Arg::literal(text.clone(), self.here(word.span)));
                }
                [Part::Quoted(text)] => args.push(Arg::literal(text.clone(), self.here(word.span))),
                _ => self.expand(word, &mut args),
            }
        }
        args
    }

    /// Expands `word` to one text: no splitting, no globs.
    pub(super) fn expand_one(&mut self, word: &Word) -> Arg {
        self.expand_into(Fields::default(), word)
    }

    /// Expands the value of an assignment, in which a `~` behind a colon is a home as well.
    pub(super) fn expand_assigned(&mut self, word: &Word) -> Arg {
        let fields = Fields {
            is_assigned: true,
            ..Fields::default()
        };
        self.expand_into(fields, word)
    }

    fn expand_into(&mut self, mut fields: Fields, word: &Word) -> Arg {
        let span = self.here(word.span);
        self.parts(&word.parts, &mut fields, span, Splitting::Off);
        Arg {
            text: fields.text,
            glob: false,
            open: Open::No,
            taint: fields.taint,
            delivers: fields.delivers,
            span,
        }
    }

    fn expand(&mut self, word: &Word, args: &mut Vec<Arg>) {
        let span = self.here(word.span);
        let mut fields = Fields::default();
        let has_brace = |part: &Part| matches!(part, Part::Plain(text) if text.contains('{'));
        if !word.parts.iter().any(has_brace) {
            self.parts(&word.parts, &mut fields, span, Splitting::On);
        } else if !self.may_expand(span) {
            fields.text.push(HOLE);
        } else {
            self.braces(word, &mut fields, span);
        }
        fields.cut(span);
        args.append(&mut fields.done);
    }

    /// Adds the words that braces make of `word`.
    fn braces(&mut self, word: &Word, fields: &mut Fields, span: Span) {
        let words = match braces::expand(&word.parts, self.budget.brace_bytes_left()) {
            Braces::Words { words, bytes } => {
                self.budget.spend_brace_bytes(bytes);
                words
            }
            Braces::None => return self.parts(&word.parts, fields, span, Splitting::On),
            Braces::TooMuch(why) => {
                self.unreadable(why, span);
                fields.text.push(HOLE);
                return;
            }
        };
        for pieces in words {
            if !self.may_expand(span) {
                fields.text.push(HOLE);
                return;
            }
            let last = pieces.len().saturating_sub(1);
            for (index, piece) in pieces.iter().enumerate() {
                let at = Position {
                    first: index == 0,
                    last: index == last,
                };
                match piece {
                    Piece::Text(text) => add_plain(fields, text, at),
                    Piece::Part(part) => self.part(part, fields, at, span, Splitting::On),
                }
            }
            fields.cut(span);
        }
    }

    fn parts(&mut self, parts: &[Part], fields: &mut Fields, span: Span, splitting: Splitting) {
        for (index, part) in parts.iter().enumerate() {
            let at = Position {
                first: index == 0,
                last: parts.len() == index + 1,
            };
            self.part(part, fields, at, span, splitting);
        }
    }

    fn part(
        &mut self,
        part: &Part,
        fields: &mut Fields,
        at: Position,
        span: Span,
        splitting: Splitting,
    ) {
        let costs = !matches!(part, Part::Plain(_) | Part::Quoted(_));
        if costs && !self.may_expand(span) {
            fields.text.push(HOLE);
            return;
        }
        match part {
            Part::Plain(text) => add_plain(fields, text, at),
            Part::Quoted(text) => {
                fields.kept = true;
                fields.text.push_str(text);
            }
            Part::Hidden(why) => {
                self.unreadable(why, span);
                fields.text.push(HOLE);
            }
            Part::Arithmetic(inner) => {
                let mut scratch = Fields::default();
                self.parts(inner, &mut scratch, span, Splitting::Off);
                self.evaluated(&scratch.text, span);
                fields.kept = true;
                match super::arithmetic::constant(&scratch.text) {
                    Some(number) => fields.text.push_str(&number),
                    None => fields.text.push(HOLE),
                }
            }
            Part::Process { body, writes } => {
                let stream = if *writes {
                    self.process_sink(body)
                } else {
                    self.substitute(body)
                };
                fields.taint = fields.taint.and(stream.taint);
                fields.delivers = Some(Box::new(stream));
                fields.text.push_str("/dev/fd/63");
                fields.kept = true;
            }
            Part::Substitution { body, quoted } => {
                let stream = self.substitute(body);
                let stream = self.out_of_files(stream);
                let value = match stream.text {
                    Some(text) => Value {
                        items: Some(vec![text.trim_end_matches('\n').to_owned()]),
                        taint: stream.taint,
                    },
                    None => Value {
                        // Of what is printed only names that matter are known.
                        items: (!stream.names.is_empty()).then_some(stream.names),
                        taint: Taint {
                            command: true,
                            ..stream.taint
                        },
                    },
                };
                let separators = self.separators(*quoted || splitting == Splitting::Off);
                add(fields, &value, separators.as_deref(), false, span);
            }
            Part::Parameter { expansion, quoted } => {
                let value = self.parameter(expansion, span);
                let all = matches!(expansion.name.as_str(), "@" | "*")
                    || expansion.index.as_ref().is_some_and(|index| {
                        matches!(index.parts.as_slice(), [Part::Plain(text)] if text == "@" || text == "*")
                    });
                let separators = self.separators(*quoted || splitting == Splitting::Off);
                add(
                    fields,
                    &value,
                    separators.as_deref(),
                    all && splitting == Splitting::On,
                    span,
                );
            }
        }
    }

    /// Returns where unquoted expansions are split: at blanks, unless `IFS` says otherwise.
    fn separators(&self, quoted: bool) -> Option<String> {
        if quoted {
            return None;
        }
        let set = self
            .scope
            .lookup("IFS", None)
            .and_then(|value| value.items)
            .and_then(|items| items.into_iter().next());
        Some(set.unwrap_or_else(|| " \t\n".to_owned()))
    }

    /// Returns what a parameter expansion yields.
    fn parameter(&mut self, expansion: &Expansion, span: Span) -> Value {
        if let Some(index) = &expansion.index {
            // A subscript is expanded even when the array is empty; `a[$(cmd)]` runs cmd.
            let index = self.expand_one(index);
            self.subscript(&index.text, span);
        }
        let value = self.scope.lookup(&expansion.name, expansion.index.as_ref());
        match &expansion.operation {
            Operation::Value => value.unwrap_or_else(|| unset_value(&expansion.name)),
            Operation::Length => Value::unknown(Taint::default()),
            Operation::Indirect => match value.and_then(|value| value.items) {
                Some(items) => {
                    let name = items.into_iter().next().unwrap_or_default();
                    self.scope
                        .lookup(&name, None)
                        .unwrap_or_else(|| unset_value(&name))
                }
                None => Value::unknown(Taint::default()),
            },
            Operation::Default(word) | Operation::Assign(word) => {
                let fallback = self.expand_one(word);
                match value.or_else(|| environment(&expansion.name)) {
                    Some(Value {
                        items: Some(items), ..
                    }) if items.iter().all(String::is_empty) => known_or_unknown(fallback),
                    Some(value) => value,
                    // Outside this text the variable may be set to something else. That would be
                    // the work of an earlier call, which was judged then.
                    None => known_or_unknown(fallback),
                }
            }
            Operation::Error(word) => {
                self.expand_one(word);
                value.unwrap_or_else(|| unset_value(&expansion.name))
            }
            // Whether the variable is set cannot be told; the word is what could run.
            Operation::Alternative(word) => known_or_unknown(self.expand_one(word)),
            Operation::Transform(letter) => {
                let value = value.unwrap_or_else(|| unset_value(&expansion.name));
                if *letter == 'P' {
                    // A prompt string is expanded again, substitutions included.
                    self.prompt(&value, span);
                    return Value::unknown(value.taint);
                }
                match letter {
                    'U' => map(value, str::to_uppercase),
                    'L' => map(value, str::to_lowercase),
                    'E' => map(value, crate::shell::unescape),
                    _ => value,
                }
            }
            operation @ (Operation::Substring(_)
            | Operation::TrimStart { .. }
            | Operation::TrimEnd { .. }
            | Operation::Replace { .. }
            | Operation::Upper { .. }
            | Operation::Lower { .. }) => {
                let value = value.unwrap_or_else(|| unset_value(&expansion.name));
                self.change(value, operation)
            }
        }
    }

    fn prompt(&mut self, value: &Value, span: Span) {
        match &value.items {
            Some(items) => {
                let text = items.join(" ");
                self.expanded_text(&text, span);
            }
            None => self.unreadable("a prompt string that cannot be known is expanded", span),
        }
    }

    /// Carries out trims, replacements and substrings on a known value.
    fn change(&mut self, value: Value, operation: &Operation) -> Value {
        let mut word = |word: &Word| {
            let arg = self.expand_one(word);
            (!arg.vague()).then_some(arg.text)
        };
        match operation {
            Operation::TrimStart { pattern, longest } => match word(pattern) {
                Some(pattern) => map(value, |text| trim_start(text, &pattern, *longest)),
                None => Value::unknown(value.taint),
            },
            Operation::TrimEnd { pattern, longest } => match word(pattern) {
                Some(pattern) => map(value, |text| trim_end(text, &pattern, *longest)),
                None => Value::unknown(value.taint),
            },
            Operation::Replace {
                pattern,
                replacement,
                all,
            } => match (word(pattern), word(replacement)) {
                (Some(pattern), Some(with)) if !pattern.contains(['*', '?', '[']) => {
                    map(value, |text| {
                        if pattern.is_empty() {
                            text.to_owned()
                        } else if *all {
                            text.replace(&pattern, &with)
                        } else {
                            text.replacen(&pattern, &with, 1)
                        }
                    })
                }
                _ => Value::unknown(value.taint),
            },
            Operation::Substring(range) => match word(range) {
                Some(range) => {
                    if let Some((from, length)) = substring(&range) {
                        map(value, |text| {
                            let skipped = text.chars().skip(from);
                            length.map_or_else(
                                || skipped.clone().collect(),
                                |length| skipped.clone().take(length).collect(),
                            )
                        })
                    } else {
                        self.evaluated(&range, Span::default());
                        Value::unknown(value.taint)
                    }
                }
                None => Value::unknown(value.taint),
            },
            Operation::Upper { all: true } => map(value, str::to_uppercase),
            Operation::Lower { all: true } => map(value, str::to_lowercase),
            Operation::Upper { all: false } => {
                map(value, |text| first_letter(text, char::to_ascii_uppercase))
            }
            Operation::Lower { all: false } => {
                map(value, |text| first_letter(text, char::to_ascii_lowercase))
            }
            Operation::Value
            | Operation::Length
            | Operation::Indirect
            | Operation::Default(_)
            | Operation::Assign(_)
            | Operation::Alternative(_)
            | Operation::Error(_)
            | Operation::Transform(_) => value,
        }
    }
}

/// Where in its word a part stands.
#[derive(Clone, Copy)]
struct Position {
    first: bool,
    last: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Splitting {
    On,
    Off,
}

/// Whether plain text holds something that is live outside quotes.
fn has_live(text: &str) -> bool {
    text.bytes()
        .any(|byte| matches!(byte, b'~' | b'*' | b'?' | b'[' | b'{'))
}

/// Adds unquoted literal text; a `~` at the front, or after `NAME=`, is a home.
fn add_plain(fields: &mut Fields, text: &str, at: Position) {
    fields.glob |= text.contains(['*', '?', '[']);
    let mut text = text;
    if at.first {
        if let Some((name, value)) = text.split_once("=~")
            && !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            fields.text.push_str(name);
            fields.text.push('=');
            fields.text.push(HOME);
            text = value;
        } else if let Some(rest) = text.strip_prefix('~') {
            let user_end = rest.find('/').unwrap_or(rest.len());
            let user = rest.get(..user_end).unwrap_or("");
            match user {
                "" => {
                    fields.text.push(HOME);
                    text = rest;
                }
                "+" => {
                    fields.text.push('.');
                    text = rest.get(1..).unwrap_or("");
                }
                "root" => {
                    fields.text.push(HOME);
                    text = rest.get(user_end..).unwrap_or("");
                }
                user if at.last || rest.len() > user_end => {
                    fields.text.push_str("/home/");
                    fields.text.push_str(user);
                    text = rest.get(user_end..).unwrap_or("");
                }
                _ => {}
            }
        }
    }
    if fields.is_assigned || text.contains(":~") && assigns(&fields.text, text) {
        add_list(fields, text, at);
    } else {
        fields.text.push_str(text);
    }
}

/// Whether a word that begins with `before` and goes on with `text` looks like `NAME=value`, in which
/// bash expands what it expands in an assignment.
fn assigns(before: &str, text: &str) -> bool {
    let whole = if before.contains('=') { before } else { text };
    let name = whole.split_once('=').map_or("", |(name, _)| name);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (before.is_empty() || before.contains('=')) && !name.is_empty() && name.bytes().all(is_name)
}

/// Adds unquoted text of an assignment: a `~` alone between colons and slashes is a home.
fn add_list(fields: &mut Fields, text: &str, at: Position) {
    let mut pieces = text.split(":~").peekable();
    let Some(first) = pieces.next() else { return };
    fields.text.push_str(first);
    while let Some(piece) = pieces.next() {
        let ends = piece.is_empty() && (at.last || pieces.peek().is_some());
        fields.text.push(':');
        let is_home = ends || piece.starts_with(['/', ':']);
        fields.text.push(if is_home { HOME } else { '~' });
        fields.text.push_str(piece);
    }
}

/// Adds the value of an expansion to the word at hand.
fn add(fields: &mut Fields, value: &Value, separators: Option<&str>, each_apart: bool, span: Span) {
    let quoted = separators.is_none();
    fields.taint = fields.taint.and(value.taint);
    let hole = |items: &Vec<String>| items.iter().any(|item| item.contains(HOLE));
    let unknown = value.items.as_ref().is_none_or(hole);
    // In quotes it stays one word, which may still be an option; an address goes on as it begins. What a
    // file holds there is a name or a version, as a rule.
    let (begins, computed) = (fields.text.is_empty(), value.taint.computed);
    let open = match quoted {
        false if begins || computed || !fields.text.contains("://") => Open::Words,
        true if begins && computed => Open::Word,
        _ => Open::No,
    };
    if unknown && value.taint.free {
        fields.open = fields.open.max(open);
    }
    match &value.items {
        None => {
            fields.kept |= quoted;
            fields.text.push(HOLE);
        }
        Some(items) if quoted && each_apart => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    fields.cut(span);
                }
                fields.kept = true;
                fields.text.push_str(item);
            }
        }
        Some(items) => {
            let text = items.join(" ");
            if fields.text.len() + text.len() > TEXT_BYTES_MAX {
                fields.text.push(HOLE);
            } else if quoted {
                fields.kept = true;
                fields.text.push_str(&text);
            } else {
                fields.split(&text, separators.unwrap_or_default(), span);
            }
        }
    }
}

fn known_or_unknown(arg: Arg) -> Value {
    if arg.vague() {
        Value::unknown(arg.taint)
    } else {
        Value {
            items: Some(vec![arg.text]),
            taint: arg.taint,
        }
    }
}

fn map(value: Value, change: impl Fn(&str) -> String) -> Value {
    Value {
        items: value.items.map(|items| {
            items
                .iter()
                .map(|item| {
                    if item.contains(HOLE) {
                        item.clone()
                    } else {
                        change(item)
                    }
                })
                .collect()
        }),
        taint: value.taint,
    }
}

fn first_letter(text: &str, change: fn(&char) -> char) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| change(&first))
        .into_iter()
        .chain(letters)
        .collect()
}

fn trim_start(text: &str, pattern: &str, longest: bool) -> String {
    let mut ends: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .take(512)
        .collect();
    if longest {
        ends.reverse();
    }
    for end in ends {
        if text
            .get(..end)
            .is_some_and(|head| glob_matches(pattern.as_bytes(), head.as_bytes()))
        {
            return text.get(end..).unwrap_or("").to_owned();
        }
    }
    text.to_owned()
}

fn trim_end(text: &str, pattern: &str, longest: bool) -> String {
    let mut starts: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .take(512)
        .collect();
    if !longest {
        starts.reverse();
    }
    for start in starts {
        if text
            .get(start..)
            .is_some_and(|tail| glob_matches(pattern.as_bytes(), tail.as_bytes()))
        {
            return text.get(..start).unwrap_or("").to_owned();
        }
    }
    text.to_owned()
}

/// Reads `offset` or `offset:length` where both are plain numbers.
fn substring(range: &str) -> Option<(usize, Option<usize>)> {
    match range.split_once(':') {
        None => Some((range.trim().parse().ok()?, None)),
        Some((from, length)) => {
            Some((from.trim().parse().ok()?, Some(length.trim().parse().ok()?)))
        }
    }
}
