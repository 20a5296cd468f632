//! The arguments of a cmdlet, sorted into targets and parameters.

use super::effects::UNKNOWN_PART;
use super::values::{Value, Values};
use super::words::{Brackets, Split, Word};
use crate::knowledge::languages::{POWERSHELL_SWITCHES, POWERSHELL_TARGETS};

/// The arguments of a cmdlet, sorted.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Words that belong to no parameter; the words of one list stand together.
    positional: Vec<Vec<Value>>,
    /// Parameters with their values.
    named: Vec<(String, Vec<Value>)>,
    pub(super) recurses: bool,
    /// Whether parameters are taken from a table that is not looked at.
    pub(super) is_splatted: bool,
    /// Whether a block of commands is among them.
    pub(super) has_block: bool,
}

impl Arguments {
    /// Sorts the words behind the name of the command at `at`.
    pub(super) fn of(rest: &[Word], values: &Values, split: &Split, at: usize) -> Self {
        let mut arguments = Self::default();
        let mut words = rest.iter().peekable();
        while let Some(word) = words.next() {
            if let Some(group) = word.group.filter(|_| !word.is_invoked)
                && split.brackets(group) == Brackets::Block
            {
                arguments.has_block = true;
                continue;
            }
            if word.text.starts_with('@') && !word.is_quoted && word.text.len() > 1 {
                arguments.is_splatted = true;
                continue;
            }
            let mut list = |first: &Word| {
                let mut list = vec![values.of_argument(split, at, first)];
                let mut joins = first.joins;
                while let Some(next) = words.next_if(|_| joins) {
                    joins = next.joins;
                    list.push(values.of_argument(split, at, next));
                }
                list
            };
            if !word.is_parameter() {
                let list = list(word);
                arguments.positional.push(list);
                continue;
            }
            let parameter = word.text.trim_start_matches('-').to_ascii_lowercase();
            let (parameter, glued) = match parameter.split_once(':') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (parameter, None),
            };
            if "recurse".starts_with(parameter.as_str()) {
                arguments.recurses |= glued.as_deref() != Some("$false");
            } else if let Some(value) = glued {
                // `-Path:x`; where nothing is glued on, the value follows.
                let value = if value.is_empty() || word.is_computed() {
                    Value::Found
                } else {
                    Value::Known(vec![value])
                };
                arguments.named.push((parameter, vec![value]));
            } else if is_switch(&parameter) {
                arguments.named.push((parameter, Vec::new()));
            } else {
                let value = words.next_if(|next| !next.is_parameter());
                let is_block = |word: &Word| {
                    let group = word.group.filter(|_| !word.is_invoked);
                    group.is_some_and(|group| split.brackets(group) == Brackets::Block)
                };
                let mut given = Vec::new();
                if let Some(value) = value {
                    arguments.has_block |= is_block(value);
                    given.push(values.of_argument(split, at, value));
                    let mut joins = value.joins;
                    while let Some(next) = words.next_if(|_| joins) {
                        joins = next.joins;
                        given.push(values.of_argument(split, at, next));
                    }
                }
                arguments.named.push((parameter, given));
            }
        }
        arguments
    }

    /// Leaves out the pattern that a cmdlet looks for, which names no file.
    pub(super) fn without_pattern(mut self) -> Self {
        if self.has("pattern") {
            self.named
                .retain(|(name, _)| !"pattern".starts_with(name.as_str()));
        } else if !self.positional.is_empty() {
            self.positional.remove(0);
        }
        self
    }

    /// Everything that may name what the cmdlet acts on.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Value> {
        let is_target = |name: &str| {
            let mut targets = POWERSHELL_TARGETS.iter();
            targets.any(|known| known.starts_with(name))
        };
        let named = self.named.iter().filter(move |(name, _)| is_target(name));
        let named = named.flat_map(|(_, values)| values);
        named.chain(self.positional.iter().flatten())
    }

    /// Every value that is given, whatever for.
    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        let named = self.named.iter().flat_map(|(_, values)| values);
        named.chain(self.positional.iter().flatten())
    }

    /// Whether a parameter is given.
    pub(super) fn has(&self, parameter: &str) -> bool {
        self.values_of(parameter).is_some()
    }

    /// Whether a parameter is given whose name is one of those that `is_wanted` means.
    pub(super) fn has_any(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.named.iter().any(|(name, _)| is_wanted(name))
    }

    fn values_of(&self, parameter: &str) -> Option<&[Value]> {
        // Any beginning of a parameter's name that is not ambiguous stands for it.
        let is = |name: &str| parameter.starts_with(name);
        let found = self.named.iter().find(|(name, _)| is(name));
        found.map(|(_, values)| values.as_slice())
    }

    /// The texts of a parameter; `None` where it is not given or not known.
    pub(super) fn texts_of(&self, parameter: &str) -> Option<Vec<String>> {
        self.values_of(parameter).and_then(known)
    }

    /// The text of a parameter, if it is exactly one.
    pub(super) fn text_of(&self, parameter: &str) -> Option<String> {
        self.texts_of(parameter)?.into_iter().next()
    }

    /// The path that is given by name, so that the first word is something else.
    fn named_path(&self) -> Option<&[Value]> {
        let is_path = |name: &str| {
            let names = ["path", "literalpath", "filepath", "pspath", "lp"];
            names.iter().any(|known| known.starts_with(name))
        };
        let found = self.named.iter().find(|(name, _)| is_path(name));
        found.map(|(_, values)| values.as_slice())
    }

    fn names_path(&self) -> bool {
        self.named_path().is_some()
    }

    /// The place in which a cmdlet acts: a path by name, or the first word.
    pub(super) fn place(&self) -> Option<Vec<String>> {
        let first = || self.positional.first().map(Vec::as_slice);
        self.named_path().or_else(first).and_then(known)
    }

    /// Where a cmdlet puts what it takes from its place.
    pub(super) fn destination(&self) -> Option<Vec<String>> {
        let at = usize::from(!self.names_path());
        for name in ["destination", "newname", "destinationpath"] {
            if let Some(values) = self.values_of(name) {
                return known(values);
            }
        }
        self.positional.get(at).and_then(|values| known(values))
    }

    /// The address of a request.
    pub(super) fn address(&self) -> Option<String> {
        self.text_of("uri")
            .or_else(|| self.text_of("source"))
            .or_else(|| self.place()?.into_iter().next())
    }

    /// The words of a command line: those behind the first, and those of `-ArgumentList`.
    pub(super) fn command_line(&self) -> Option<Vec<String>> {
        let mut words = match self.values_of("filepath") {
            Some(program) => known(program)?,
            None => Vec::new(),
        };
        for values in &self.positional {
            words.extend(known(values)?);
        }
        if let Some(list) = self
            .values_of("argumentlist")
            .or_else(|| self.values_of("args"))
        {
            for text in known(list)? {
                // One text may hold several words.
                words.extend(text.split_whitespace().map(str::to_owned));
            }
        }
        (!words.is_empty()).then_some(words)
    }

    /// The files that `Get-ChildItem` and its kind give out, as patterns.
    pub(super) fn files(&self, cmdlet: &str) -> Option<Vec<String>> {
        if self.is_splatted {
            return None;
        }
        if cmdlet == "join-path" {
            let mut parts = self.place()?.into_iter();
            let base = parts.next().filter(|_| parts.next().is_none())?;
            let at = usize::from(!self.names_path());
            let child = match self.texts_of("childpath") {
                Some(child) => child,
                None => known(self.positional.get(at)?)?,
            };
            return Some(
                child
                    .iter()
                    .map(|child| format!("{base}/{child}"))
                    .collect(),
            );
        }
        let roots = if self.positional.is_empty() && !self.names_path() {
            vec![".".to_owned()]
        } else {
            self.place()?
        };
        if cmdlet != "get-childitem" {
            return Some(roots);
        }
        let patterns = match (self.has("include"), self.has("filter")) {
            (true, _) => self.texts_of("include")?,
            (false, true) => self.texts_of("filter")?,
            (false, false) => match self.positional.get(usize::from(!self.names_path())) {
                Some(filter) => known(filter)?,
                None => vec!["*".to_owned()],
            },
        };
        let is_pattern = |root: &&String| root.contains(['*', '?']) && !self.recurses;
        let mut files: Vec<String> = roots.iter().filter(is_pattern).cloned().collect();
        for root in roots.iter().filter(|root| !is_pattern(root)) {
            // What is found below another place may lie anywhere in it.
            let is_away = root.contains(':') || root.starts_with(['/', '\\', '~']);
            let is_away = is_away || root.split(['/', '\\']).any(|name| name == "..");
            let between = if self.recurses && is_away {
                format!("{UNKNOWN_PART}/")
            } else {
                String::new()
            };
            // Everything below a place is the place itself.
            let is_all = |pattern: &str| pattern.chars().all(|c| matches!(c, '*' | '.'));
            let found = patterns.iter().map(|it| {
                let between = if is_all(it) { "" } else { &between };
                format!("{root}/{between}{it}")
            });
            files.extend(found);
        }
        Some(files)
    }
}

/// Whether a parameter takes no value.
fn is_switch(parameter: &str) -> bool {
    POWERSHELL_SWITCHES
        .iter()
        .any(|switch| parameter.len() >= 2 && parameter != "verb" && switch.starts_with(parameter))
}

/// The texts of values that are all known.
fn known(values: &[Value]) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    for value in values {
        let Value::Known(known) = value else {
            return None;
        };
        texts.extend(known.iter().cloned());
    }
    (!texts.is_empty()).then_some(texts)
}
