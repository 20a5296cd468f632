//! What words of PowerShell stand for, as far as the text itself says.
//!
//! A variable may hold any of the values that the text gives it anywhere, so the order in which
//! commands run does not matter. Where a text can set variables in ways that are not looked at,
//! none of them is known.

use std::collections::BTreeMap;

use super::arguments::Arguments;
use super::names::{name_length, names_in, plain_name, unscoped};
use super::words::{Brackets, Command, Split, Word};
use super::{cmdlets, dates, expressions};
use crate::knowledge::names::{
    POWERSHELL_ASSEMBLERS, POWERSHELL_PASSING, POWERSHELL_SETTERS, WINDOWS_PLACES,
};

/// Most values that one word may stand for.
const VALUES_MAX: usize = 32;

/// What a word or a variable stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// One of these texts, or each of them in turn.
    Known(Vec<String>),
    /// What a command found, a loop or a caller hands over.
    Found,
    /// A text made out of pieces, which may be any.
    Assembled,
}

impl Value {
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(mut left), Self::Known(right)) => {
                left.extend(right);
                if left.len() > VALUES_MAX {
                    Self::Found
                } else {
                    Self::Known(left)
                }
            }
            (Self::Assembled, _) | (_, Self::Assembled) => Self::Assembled,
            _ => Self::Found,
        }
    }
}

/// How many commands of a pipeline are looked back at.
const LOOK_BACK_MAX: usize = 8;

/// How often a value may be copied from one variable to the next and still be known.
const ROUNDS: usize = 4;

/// Words of such a command that are looked at.
const LOOK_BACK_WORDS_MAX: usize = 24;

/// Which commands belong to which brackets.
#[derive(Debug, Default)]
struct Index {
    /// The command that holds each group.
    owners: Vec<Option<usize>>,
    /// The first command of each group, and how many there are.
    inside: Vec<(usize, usize)>,
    /// The command before each command in the same group.
    previous: Vec<Option<usize>>,
}

impl Index {
    fn of(split: &Split) -> Self {
        let mut index = Self {
            owners: vec![None; split.groups.len()],
            inside: vec![(0, 0); split.groups.len()],
            previous: Vec::new(),
        };
        let mut last = vec![None; split.groups.len()];
        for (at, command) in split.commands.iter().enumerate() {
            for group in command.words.iter().filter_map(|word| word.group) {
                if let Some(owner) = index.owners.get_mut(group) {
                    *owner = Some(at);
                }
            }
            if let Some((first, count)) = index.inside.get_mut(command.group) {
                *first = if *count == 0 { at } else { *first };
                *count += 1;
            }
            let before = last
                .get_mut(command.group)
                .and_then(|last| last.replace(at));
            index.previous.push(before);
        }
        index
    }
}

/// The variables of a text.
#[derive(Debug, Default)]
pub(super) struct Values {
    index: Index,
    variables: BTreeMap<String, Value>,
    /// Variables that hold nothing but values of types that only compute.
    pure: BTreeMap<String, bool>,
    /// Variables that hold nothing but processes that the text starts.
    started: BTreeMap<String, bool>,
    /// Whether variables may be set where nobody looks.
    is_open: bool,
}

impl Values {
    /// Collects what the commands of a text assign.
    pub(super) fn of(split: &Split) -> Self {
        let sets = |code: &String| code.contains('=') || code.contains("++");
        let mut values = Self {
            index: Index::of(split),
            variables: BTreeMap::new(),
            pure: BTreeMap::new(),
            started: BTreeMap::new(),
            is_open: split.embedded.iter().any(sets) || split.commands.iter().any(opens),
        };
        for (at, command) in split.commands.iter().enumerate() {
            for (name, _) in values.assigned(split, at, command) {
                let is_pure = makes_pure(command);
                *values.pure.entry(name.clone()).or_insert(true) &= is_pure;
                *values.started.entry(name).or_insert(true) &= starts_process(command);
            }
        }
        // What is copied from another variable is known one round later.
        for _ in 0..ROUNDS {
            let mut next = BTreeMap::new();
            for (at, command) in split.commands.iter().enumerate() {
                for (name, value) in values.assigned(split, at, command) {
                    let value = match next.remove(&name) {
                        Some(before) => value.or(before),
                        None => value,
                    };
                    next.insert(name, value);
                }
            }
            values.variables = next;
        }
        values
    }

    /// Whether a method is called on a variable that holds a value of a type that only computes.
    pub(super) fn is_pure(&self, word: &Word) -> bool {
        let name = word.text.strip_prefix('$').unwrap_or("");
        let (name, rest) = name.split_at_checked(name_length(name)).unwrap_or_default();
        // A method of the value itself, not of something it holds.
        let is_own = rest.matches('.').count() == 1 && rest.starts_with('.');
        let pure = self.pure.get(&unscoped(name)).copied().unwrap_or(false);
        is_own && pure && !self.is_open
    }

    /// What a command gives to variables.
    fn assigned(&self, split: &Split, at: usize, command: &Command) -> Vec<(String, Value)> {
        let words = command.words.as_slice();
        let is_sign = |word: &Word| !word.is_quoted && matches!(word.text.as_str(), "=" | "+=");
        let signs = |word: &Word| !word.is_quoted && word.text.ends_with('=');
        match words {
            [name, is, rest @ ..] if is_sign(is) => {
                let value = if is.text == "=" {
                    self.right_side(split, at, command, rest)
                } else {
                    Value::Assembled
                };
                let mut set: Vec<(String, Value)> = match plain_name(&name.text) {
                    Some(name) => vec![(name, value)],
                    None => names_in(name).map(|name| (name, Value::Found)).collect(),
                };
                // `$a = $b = value` sets both.
                let last = rest.iter().rposition(signs).unwrap_or(0);
                let chained = rest.iter().take(last).flat_map(names_in);
                set.extend(chained.map(|name| (name, Value::Found)));
                set
            }
            [name, is, rest @ ..] if is.text.eq_ignore_ascii_case("in") && !is.is_quoted => {
                let value = self.right_side(split, at, command, rest);
                names_in(name).map(|name| (name, value.clone())).collect()
            }
            _ => {
                let sign = words.iter().rposition(signs).unwrap_or(0);
                let counted = words
                    .iter()
                    .filter(|word| word.text.ends_with("++") || word.text.ends_with("--"));
                words
                    .iter()
                    .take(sign)
                    .chain(counted)
                    .flat_map(names_in)
                    .map(|name| (name, Value::Found))
                    .collect()
            }
        }
    }

    /// The value of an expression behind `=` or `in`.
    fn right_side(&self, split: &Split, at: usize, command: &Command, words: &[Word]) -> Value {
        if let Some(date) = dates::stand_in(self, split, words).filter(|_| !command.pipes) {
            return Value::Known(vec![date]);
        }
        // `$x = Join-Path $env:TEMP 'name'`
        if let [first, rest @ ..] = words
            && !(first.is_quoted || first.is_invoked || first.joins || command.pipes)
            && rest.len() <= LOOK_BACK_WORDS_MAX
            && first.text.eq_ignore_ascii_case("join-path")
            && let Some(paths) = Arguments::of(rest, self, split, at).files("join-path")
        {
            return Value::Known(paths);
        }
        let in_list = |(at, word): (usize, &Word)| word.joins || at + 1 == words.len();
        let listed = words.iter().enumerate().all(in_list);
        if !words.is_empty() && listed && !command.pipes {
            let mut values = words.iter().map(|word| self.of_expression(split, word));
            if let Some(first) = values.next() {
                return values.fold(first, Value::or);
            }
        }
        if assembles(words) {
            Value::Assembled
        } else {
            Value::Found
        }
    }

    /// The value of one word of an expression: a list in brackets counts as its elements.
    fn of_expression(&self, split: &Split, word: &Word) -> Value {
        if word.is_literal() {
            return Value::Known(vec![word.text.clone()]);
        }
        if word.is_invoked {
            let made = assembles(std::slice::from_ref(word));
            return if made { Value::Assembled } else { Value::Found };
        }
        let Some(group) = word.group else {
            return if word.variables.is_empty() {
                Value::Found
            } else {
                self.of_word(word)
            };
        };
        match self.only_command(split, group) {
            Some((_, only))
                if only.words.iter().all(Word::is_literal) && only.redirects.is_empty() =>
            {
                let texts = only.words.iter().map(|word| word.text.clone());
                Value::Known(texts.collect())
            }
            Some((_, only)) if assembles(&only.words) => Value::Assembled,
            _ => Value::Found,
        }
    }

    /// The only command of a pair of parentheses, with its number.
    pub(super) fn only_command<'s>(
        &self,
        split: &'s Split,
        group: usize,
    ) -> Option<(usize, &'s Command)> {
        let (first, count) = *self.index.inside.get(group)?;
        let is_value = split.brackets(group) == Brackets::Value;
        let command = split.commands.get(first)?;
        (is_value && count == 1 && !command.pipes).then_some((first, command))
    }

    /// The first argument of a method that `word` calls, where it stands alone.
    pub(super) fn method_argument(&self, split: &Split, word: &Word) -> Value {
        let group = word.group.filter(|_| word.is_invoked);
        let inside = group.and_then(|group| self.index.inside.get(group));
        let Some((at, _)) = inside.copied().filter(|(_, count)| *count > 0) else {
            return Value::Found;
        };
        match split
            .commands
            .get(at)
            .map(|command| command.words.as_slice())
        {
            Some([only]) => self.of_argument(split, at, only),
            // `(Resolve-Path a).Path`: the path of what was found is what was looked for.
            Some([found, member, rest @ ..])
                if is_path_of(found, member) && (member.joins || rest.is_empty()) =>
            {
                self.of_argument(split, at, found)
            }
            Some([first, ..]) if first.joins => self.of_argument(split, at, first),
            _ => Value::Found,
        }
    }

    /// Whether the first thing a method is given is a block of commands, which is judged like any other.
    pub(super) fn takes_block(&self, split: &Split, word: &Word) -> bool {
        let group = word.group.filter(|_| word.is_invoked);
        let inside = group.and_then(|group| self.index.inside.get(group));
        let at = inside.map_or(0, |(at, _)| *at);
        let first = split.commands.get(at).filter(|it| Some(it.group) == group);
        let first = first.and_then(|command| command.words.first());
        let block = first.and_then(|word| word.group.filter(|_| !word.is_invoked));
        block.is_some_and(|group| split.brackets(group) == Brackets::Block)
    }

    /// The second argument of a method that `word` calls.
    pub(super) fn second_argument(&self, split: &Split, word: &Word) -> Value {
        let group = word.group.filter(|_| word.is_invoked);
        let inside = group.and_then(|group| self.index.inside.get(group));
        let at = inside.map_or(0, |(at, _)| *at);
        match split
            .commands
            .get(at)
            .map(|command| command.words.as_slice())
        {
            Some([first, second, ..]) if inside.is_some() && first.joins => {
                self.of_argument(split, at, second)
            }
            _ => Value::Found,
        }
    }

    /// What an argument stands for, in a command at `at`.
    pub(super) fn of_argument(&self, split: &Split, at: usize, word: &Word) -> Value {
        if word.group.is_some() {
            let listed = self.of_expression(split, word);
            let only = word.group.and_then(|group| self.only_command(split, group));
            return match (listed, only) {
                (Value::Found, Some((inner, _))) if !word.is_invoked => {
                    self.output(split, inner, LOOK_BACK_MAX)
                }
                (listed, _) => listed,
            };
        }
        if let Some(rest) = handed_over(word) {
            return match rest {
                "" | ".fullname" | ".pspath" => self.input_of_block(split, at),
                _ => Value::Found,
            };
        }
        self.of_word(word)
    }

    /// What a word stands for by itself.
    fn of_word(&self, word: &Word) -> Value {
        if word.variables.is_empty() && !word.has_code {
            return Value::Known(vec![word.text.clone()]);
        }
        if word.has_code {
            return Value::Found;
        }
        let mut texts = vec![String::new()];
        let mut from = 0;
        for start in &word.variables {
            let before = word.text.get(from..*start).unwrap_or("");
            for text in &mut texts {
                text.push_str(before);
            }
            let rest = word.text.get(start + 1..).unwrap_or("");
            let length = name_length(rest);
            let name = rest.get(..length).unwrap_or("");
            from = start + 1 + length;
            let behind = word.text.get(from..).unwrap_or("");
            // Outside quotes a dot or bracket takes a part of the value.
            if !word.is_quoted && behind.starts_with(['.', '[', ':', '+', '-', '*', '/']) {
                let is_path = behind.starts_with('/') || behind.starts_with(".\\");
                if !is_path {
                    return Value::Found;
                }
            }
            match self.lookup(name) {
                Value::Known(values) if values.len() * texts.len() <= VALUES_MAX => {
                    let all = texts.iter().flat_map(|text| {
                        let joined = |value: &String| format!("{text}{value}");
                        values.iter().map(joined).collect::<Vec<_>>()
                    });
                    texts = all.collect();
                }
                Value::Assembled => return Value::Assembled,
                Value::Known(_) | Value::Found => return Value::Found,
            }
        }
        let rest = word.text.get(from..).unwrap_or("");
        for text in &mut texts {
            text.push_str(rest);
            // `$env:HOMEDRIVE$env:HOMEPATH` is the home, not a name behind a drive.
            if let Some(home) = text.strip_prefix("C:").filter(|it| it.starts_with('~')) {
                *text = home.to_owned();
            }
        }
        Value::Known(texts)
    }

    /// The text of a word with `hole` for every part that is not known.
    pub(super) fn with_holes(&self, word: &Word, hole: &str) -> String {
        if word.has_code {
            return hole.to_owned();
        }
        let mut text = String::new();
        let mut from = 0;
        for start in &word.variables {
            text.push_str(word.text.get(from..*start).unwrap_or(""));
            let rest = word.text.get(start + 1..).unwrap_or("");
            let length = name_length(rest);
            from = start + 1 + length;
            match self.lookup(rest.get(..length).unwrap_or("")) {
                Value::Known(known) if known.len() == 1 => text.extend(known),
                Value::Known(_) | Value::Found | Value::Assembled => text.push_str(hole),
            }
        }
        text.push_str(word.text.get(from..).unwrap_or(""));
        text
    }

    fn lookup(&self, name: &str) -> Value {
        let lower = name.to_ascii_lowercase();
        if let Some((_, place)) = WINDOWS_PLACES.iter().find(|(known, _)| *known == lower) {
            // The places of a system are what they are unless the text sets them.
            return if self.is_open || self.variables.contains_key(&lower) {
                Value::Found
            } else {
                Value::Known(vec![(*place).to_owned()])
            };
        }
        if self.is_open {
            return Value::Found;
        }
        self.variables.get(&lower).cloned().unwrap_or(Value::Found)
    }

    /// What the block at hand is run for: the input of the command that the block belongs to.
    fn input_of_block(&self, split: &Split, at: usize) -> Value {
        let Some(command) = split.commands.get(at) else {
            return Value::Found;
        };
        let mut group = command.group;
        while group != 0 {
            let owner = self.index.owners.get(group).copied().flatten();
            let is_block = split.brackets(group) == Brackets::Block;
            if let Some(owner) = owner.filter(|_| is_block)
                && let Some(outer) = split.commands.get(owner)
            {
                let name = cmdlets::canonical(&outer.name());
                if matches!(name.as_str(), "foreach-object" | "where-object") && outer.is_piped {
                    return self.input(split, owner, LOOK_BACK_MAX);
                }
                // Conditions and loops leave it as it is; other commands give it a meaning.
                if !matches!(
                    name.as_str(),
                    "if" | "else" | "elseif" | "for" | "while" | "do"
                ) {
                    return Value::Found;
                }
            }
            group = split.groups.get(group).map_or(0, |group| group.outer);
        }
        Value::Found
    }

    /// What comes through the pipe into the command at `at`.
    pub(super) fn piped(&self, split: &Split, at: usize) -> Value {
        self.input(split, at, LOOK_BACK_MAX)
    }

    fn input(&self, split: &Split, at: usize, left: usize) -> Value {
        let is_piped = split.commands.get(at).is_some_and(|it| it.is_piped);
        let previous = self.index.previous.get(at).copied().flatten();
        let leads = |at: &usize| split.commands.get(*at).is_some_and(|it| it.pipes);
        match (previous.filter(leads), left.checked_sub(1)) {
            (Some(previous), Some(left)) if is_piped => self.output(split, previous, left),
            _ => Value::Found,
        }
    }

    /// The text that is piped into the command at `at`, where the text says it to the last letter: strings
    /// in quotes, or one variable that holds such a string. Each goes in as lines of its own.
    pub(super) fn typed(&self, split: &Split, at: usize) -> Option<String> {
        let previous = self.index.previous.get(at).copied().flatten()?;
        let command = split.commands.get(previous).filter(|it| it.pipes)?;
        let (first, rest) = command.name_and_rest()?;
        let is_plain = !command.is_piped && !command.is_called && command.redirects.is_empty();
        let words = || std::iter::once(first).chain(rest);
        let is_list = words().zip(rest.iter().map(Some).chain([None]));
        let is_list = is_list
            .into_iter()
            .all(|(word, next)| word.joins == next.is_some());
        if !is_plain || !is_list {
            return None;
        }
        if words().all(Word::is_literal) {
            let texts: Vec<&str> = words().map(|word| word.text.as_str()).collect();
            return Some(texts.join("\n") + "\n");
        }
        // Code runs only where the text sets it for certain: an older value may be left from before.
        let name = plain_name(&first.text).filter(|_| !first.is_quoted && rest.is_empty())?;
        let mut before = split.commands.iter().take(previous);
        let is_set = before.any(|command| {
            let words = command.words.as_slice();
            let is_name = |word: &Word| plain_name(&word.text).as_ref() == Some(&name);
            command.group == 0
                && matches!(words, [set, sign, ..] if is_name(set) && sign.text == "=")
        });
        match self.of_word(first) {
            Value::Known(texts) if is_set => {
                let mut texts = texts.into_iter();
                let text = texts.next().filter(|_| texts.next().is_none())?;
                Some(text + "\n")
            }
            Value::Known(_) | Value::Found | Value::Assembled => None,
        }
    }

    /// The command whose output is piped into the command at `at`.
    pub(super) fn before<'s>(&self, split: &'s Split, at: usize) -> Option<&'s Command> {
        let previous = self.index.previous.get(at).copied().flatten()?;
        split.commands.get(previous).filter(|it| it.pipes)
    }

    /// What the command at `at` gives out: files it looks for, or strings.
    fn output(&self, split: &Split, at: usize, left: usize) -> Value {
        let Some(command) = split.commands.get(at) else {
            return Value::Found;
        };
        if command.words.iter().all(Word::is_literal) {
            let texts = command.words.iter().map(|word| word.text.clone());
            return Value::Known(texts.collect());
        }
        let name = cmdlets::canonical(&command.name());
        let Some((_, rest)) = command.name_and_rest() else {
            return Value::Found;
        };
        if rest.len() > LOOK_BACK_WORDS_MAX {
            return Value::Found;
        }
        if POWERSHELL_PASSING.contains(name.as_str()) && command.is_piped {
            // Calculated properties make something else of what passes.
            let makes = |word: &Word| {
                let brackets = word.group.map(|group| split.brackets(group));
                brackets.is_some_and(|brackets| brackets != Brackets::Block)
            };
            return if rest.iter().any(makes) || name == "select-object" && !only_chooses(rest) {
                Value::Found
            } else {
                self.input(split, at, left)
            };
        }
        match name.as_str() {
            "get-childitem" | "get-item" | "resolve-path" | "convert-path" | "join-path" => {
                let arguments = Arguments::of(rest, self, split, at);
                arguments.files(&name).map_or(Value::Found, Value::Known)
            }
            "get-location" if rest.is_empty() => Value::Known(vec![".".to_owned()]),
            _ if assembles(&command.words) => Value::Assembled,
            _ => Value::Found,
        }
    }

    /// Whether a word names a process that the text itself has started: `$p`, or `$p.Id`, where nothing but
    /// `$p = Start-Process … -PassThru` sets the variable.
    pub(super) fn is_started(&self, word: &Word) -> bool {
        let lower = word.text.to_ascii_lowercase();
        let name = lower.strip_suffix(".id").unwrap_or(&lower);
        let started = plain_name(name).and_then(|name| self.started.get(&name));
        !word.is_quoted && !word.is_invoked && !self.is_open && started == Some(&true)
    }
}

/// Whether a word is the path of what stands in the brackets before it.
fn is_path_of(found: &Word, member: &Word) -> bool {
    let members = [".path", ".fullname", ".providerpath"];
    let is_member = members
        .iter()
        .any(|it| member.text.eq_ignore_ascii_case(it));
    found.group.is_some() && !found.is_invoked && !found.joins && is_member && !member.is_invoked
}

/// Whether a command keeps the process that it starts in a variable.
fn starts_process(command: &Command) -> bool {
    let keeps = |word: &Word| {
        let lower = word.text.to_ascii_lowercase();
        word.is_parameter() && lower.len() > 2 && "-passthru".starts_with(&lower)
    };
    cmdlets::canonical(&command.name()) == "start-process"
        && command.words.iter().any(keeps)
        && command.words.get(1).is_some_and(|sign| sign.text == "=")
        && !command.pipes
}

/// Whether `Select-Object` hands on the files themselves, or their full names: no parents, no parts.
fn only_chooses(rest: &[Word]) -> bool {
    let counts = ["first", "last", "skip", "skiplast", "unique", "index"];
    let mut is_property = false;
    rest.iter().all(|word| {
        let lower = word.text.to_ascii_lowercase();
        let name = lower.strip_prefix('-').filter(|_| word.is_parameter());
        let was_property = std::mem::replace(
            &mut is_property,
            name.is_some_and(|name| name.len() >= 3 && "expandproperty".starts_with(name)),
        );
        is_property
            || name.is_some_and(|name| counts.iter().any(|known| known.starts_with(name)))
            || was_property && lower == "fullname"
            || word.is_literal() && !word.is_quoted
    })
}

/// Whether a command assigns a value of a type that only computes: `$x = [Type]::Make()`.
fn makes_pure(command: &Command) -> bool {
    let [_, sign, made, rest @ ..] = command.words.as_slice() else {
        return false;
    };
    let lower = made.text.to_ascii_lowercase();
    let by_type = expressions::type_of(&lower).is_some_and(expressions::is_pure) && rest.is_empty();
    let by_cmdlet = lower == "new-object"
        && rest
            .first()
            .is_some_and(|name| expressions::is_pure(&name.text));
    sign.text == "=" && !made.is_quoted && !command.pipes && (by_type || by_cmdlet)
}

/// Whether a command may set variables in a way that is not followed.
fn opens(command: &Command) -> bool {
    // `($a) = value`: what stands in the brackets is set.
    let is_sign = |word: &Word| !word.is_quoted && word.text.ends_with('=');
    let sign = command.words.iter().rposition(is_sign).unwrap_or(0);
    let left = command.words.iter().take(sign);
    let in_brackets = left.into_iter().any(|word| word.group.is_some());
    let sets = |word: &Word| {
        let lower = word.text.to_ascii_lowercase();
        let parameter = lower.strip_prefix('-').filter(|_| word.is_parameter());
        parameter.is_some_and(|name| {
            let name = name.split(':').next().unwrap_or(name);
            matches!(name, "ov" | "pv" | "ev" | "wv" | "iv")
                || ["outv", "pipelinev", "errorv", "warningv", "informationv"]
                    .iter()
                    .any(|start| name.starts_with(start))
        }) || !word.is_quoted && lower.contains("[ref]")
            || lower.starts_with("variable:")
            || lower.contains("executioncontext")
    };
    let name = cmdlets::canonical(&command.name());
    command.is_sourced
        || in_brackets
        || POWERSHELL_SETTERS.contains(name.as_str())
        || command.words.iter().any(sets)
}

/// Whether an expression makes a text out of pieces of text.
pub(super) fn assembles(words: &[Word]) -> bool {
    let makes = |word: &Word| {
        let lower = word.text.to_ascii_lowercase();
        let method = lower.rsplit(['.', ':']).next().unwrap_or_default();
        let is_method = word.is_invoked && POWERSHELL_ASSEMBLERS.contains(method);
        is_method || !word.is_quoted && lower.contains("[char")
    };
    let joins = |word: &Word| {
        let lower = word.text.to_ascii_lowercase();
        !word.is_quoted && POWERSHELL_ASSEMBLERS.contains(lower.as_str())
    };
    let has_text = words.iter().any(|word| word.is_quoted);
    words.iter().any(makes) || has_text && words.iter().any(joins)
}

/// The rest of a word that begins with what a pipe hands over: `.FullName` of `$_.FullName`.
fn handed_over(word: &Word) -> Option<&'static str> {
    let lower = word.text.to_ascii_lowercase();
    if word.variables.as_slice() != [0] || word.has_code {
        return None;
    }
    let rest = lower
        .strip_prefix("$_")
        .or_else(|| lower.strip_prefix("$psitem"))?;
    Some(match rest {
        "" => "",
        ".fullname" => ".fullname",
        ".pspath" => ".pspath",
        _ => ".",
    })
}
