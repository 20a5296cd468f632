//! Effects of a PowerShell command line.
//!
//! The text is cut into commands at pipes, semicolons and brackets of all kinds, so that code in
//! blocks and subexpressions is judged like any other. Each command is looked up in a table of
//! cmdlets and aliases; names of the form `Verb-Noun` that are not listed are judged by their verb.

mod arguments;
mod cmdlets;
mod dates;
mod effects;
mod expressions;
mod filters;
mod invocation;
mod loops;
mod names;
mod values;
mod words;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use self::arguments::Arguments;
use self::effects::{
    PATH_MAX, UNKNOWN_PART, enters, environment_drive, fetch, loads, makes, member, moves_away,
    property, provider, puts, reads_files, reads_if_sensitive, shows_secret, slashed, slashed_word,
    start, unknown_word, variables, writes, written,
};
pub(crate) use self::invocation::arguments_at;
use self::values::{Value, Values};
use self::words::{Brackets, Command, Split, Word};
use super::{CODE_BYTES_MAX, DATA_PART, Deed, FRAGMENT_BYTES_MAX, Reading, TOO_LONG, deed_of};
use crate::knowledge::languages::{Call, POWERSHELL_ALIASES, POWERSHELL_KEYWORDS};
use crate::knowledge::{self, CallReader, Effect, Role, Style};

const UNPARSED: &str = "text that is not PowerShell as it is known";
const RUNS_TEXT: &str = "PowerShell runs text it computes or loads";
const UNKNOWN: &str = "an unknown PowerShell command";
const COMPUTED: &str = "a PowerShell command whose name or target is computed";
const METHOD: &str = "an unknown .NET method";
const TOO_NESTED: &str = "PowerShell inside PowerShell, too deep";

/// Commands inside commands are followed this deep.
const DEPTH_MAX: usize = 8;

/// Reads a text of PowerShell.
pub fn read(text: &str) -> Reading {
    read_at(text, 0)
}

/// Reads the arguments of `powershell` or `pwsh`, without the program's name.
pub fn read_arguments(arguments: &[&str]) -> Reading {
    arguments_at(arguments, 0)
}

fn read_at(text: &str, depth: usize) -> Reading {
    if text.len() > FRAGMENT_BYTES_MAX {
        return Reading::hidden(TOO_LONG);
    }
    if depth > DEPTH_MAX {
        return Reading::hidden(TOO_NESTED);
    }
    let mut reading = Reading::default();
    let Some(split) = cut(text) else {
        return Reading::hidden(UNPARSED);
    };
    let text = Text {
        values: Values::of(&split),
        functions: functions(&split),
        split: &split,
        depth,
        reads_computed: Cell::new(false),
        taken: if reads_files(&split) { DATA_PART } else { "" },
    };
    for (at, command) in split.commands.iter().enumerate() {
        let before = reading.deeds.len();
        text.judge(at, command, &mut reading);
        if command.is_piped {
            match text.values.typed(&split, at) {
                Some(typed) => reading.give(before, &typed),
                None => reading.feed(before),
            }
        }
    }
    if text.reads_computed.get() {
        text.reads_any(&mut reading);
    }
    for inner in &split.embedded {
        reading.absorb(read_at(inner, depth + 1));
    }
    let asks_computed = |deed: &Deed| matches!(deed, Deed::Fetch(address) if address.is_empty());
    if !text.taken.is_empty() && reading.deeds.iter().any(asks_computed) {
        // What was read may be part of the address.
        reading.see(Deed::Send(String::new()));
    }
    if let Some(what) = loops::multiplies(&split) {
        reading.see(Deed::Multiply(what));
    }
    reading.pair_outputs();
    reading
}

fn cut(text: &str) -> Option<Split> {
    words::split(text, |name| POWERSHELL_KEYWORDS.contains(name))
}

/// The names of functions that a text defines for good, and where. Cmdlets, aliases and programs keep
/// their meaning: an alias comes before a function.
fn functions(split: &Split) -> BTreeMap<String, usize> {
    let defined = split
        .commands
        .iter()
        .enumerate()
        .filter_map(|(at, command)| {
            let [keyword, name, ..] = command.words.as_slice() else {
                return None;
            };
            let defines = !keyword.is_quoted && keyword.text.eq_ignore_ascii_case("function");
            let lower = name.text.to_ascii_lowercase();
            let is_new = POWERSHELL_ALIASES.get(&lower).is_none()
                && !super::cmd::knows(&lower)
                && knowledge::program(&lower).is_none();
            (defines && is_new && command.group == 0 && !name.is_computed()).then_some((lower, at))
        });
    defined.collect()
}

/// Returns one word of a shell as PowerShell writes it. A shell never has an operator in a bare word, so
/// a word with one stood in quotes, and is one word here as well.
pub(crate) fn quoted(word: &str) -> Cow<'_, str> {
    const OPERATORS: [char; 10] = ['|', ';', '&', '<', '>', '(', ')', '`', '\n', '\r'];
    if word.contains(OPERATORS) {
        format!("'{}'", word.replace('\'', "''")).into()
    } else {
        word.into()
    }
}

/// Whether a word that a shell takes for a command is what follows an escape of PowerShell in `text`:
/// the shell runs what stands between the backticks of "`n---`n".
pub(crate) fn is_escaped(word: &str, text: &str) -> bool {
    const LETTERS: [char; 9] = ['n', 'r', 't', '0', 'a', 'b', 'e', 'f', 'v'];
    word.starts_with(LETTERS) && text.contains(&format!("`{word}"))
}

/// Whether PowerShell has a command or a word of this name.
pub(crate) fn knows(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    cmdlets::find(name).is_some() || POWERSHELL_KEYWORDS.contains(&lower)
}

/// Whether a command line is PowerShell and not for a Unix shell.
///
/// Cmdlets and PowerShell's own syntax count; aliases count only with PowerShell's parameters,
/// because `rm`, `curl` and `ls` are Unix commands first.
pub fn looks_like(text: &str) -> bool {
    const MARKS: [&str; 9] = [
        "$env:",
        "[System.",
        "[Net.",
        "[IO.",
        "[Environment]::",
        "[Convert]::",
        "$PSVersionTable",
        "-ErrorAction ",
        "$PROFILE",
    ];
    if text.len() > CODE_BYTES_MAX {
        return false;
    }
    let Some(split) = cut(text) else {
        return false;
    };
    split.commands.iter().any(|command| {
        let Some((name, rest)) = command.name_and_rest() else {
            return false;
        };
        if name.is_quoted {
            return false;
        }
        if MARKS.iter().any(|mark| name.text.starts_with(mark)) {
            return true;
        }
        let is_cmdlet = cmdlets::is_listed(&name.text) || cmdlets::is_pascal_cmdlet(&name.text);
        let has_parameter = rest.iter().any(|word| {
            !word.is_quoted
                && matches!(
                    word.text.to_ascii_lowercase().as_str(),
                    "-recurse"
                        | "-force"
                        | "-literalpath"
                        | "-erroraction"
                        | "-usebasicparsing"
                        | "-outfile"
                        | "-whatif"
                        | "-confirm:$false"
                )
        });
        let is_alias = cmdlets::is_alias(&name.text);
        is_cmdlet
            || (is_alias && has_parameter)
            || matches!(
                name.text.to_ascii_lowercase().as_str(),
                "iex" | "irm" | "iwr"
            )
    })
}

/// A text at hand: its commands, what its words stand for, and how deep it lies in others.
struct Text<'s> {
    split: &'s Split,
    values: Values,
    /// Functions that the text defines; what they do is read where they are defined.
    functions: BTreeMap<String, usize>,
    depth: usize,
    /// Whether a file is read whose name is computed.
    reads_computed: Cell<bool>,
    /// Stands in words that are not known for what the text takes up from files, if it does.
    taken: &'static str,
}

/// Arguments of a cmdlet that reads files; with more of them a person should look.
const ARGUMENTS_MAX: usize = 128;

/// Words that are looked at where a file is read whose name is computed.
const READ_WORDS_MAX: usize = 512;

impl Text<'_> {
    fn judge(&self, at: usize, command: &Command, reading: &mut Reading) {
        for file in &command.redirects {
            match file.as_ref().map(|word| (word, self.value(at, word))) {
                Some((word, _)) if word.text.eq_ignore_ascii_case("$null") => {}
                Some((_, Value::Known(paths))) => {
                    for path in paths {
                        written(path, reading);
                    }
                }
                Some(_) | None => reading.hide(COMPUTED),
            }
        }
        variables(command, reading);
        for word in &command.words {
            if (!word.is_quoted || word.is_invoked) && !is_made_type(command, word) {
                expressions::judge(self.split, &self.values, word, reading);
            }
        }
        if command.words.first().is_some_and(|word| word.is_assigned) {
            self.assignment(command, reading);
        }
        let Some((name, rest)) = command.name_and_rest() else {
            return;
        };
        let text = name.text.as_str();
        let starts_expression = expressions::starts(name) && !(name.is_quoted && command.is_called);
        let is_argument = self.split.brackets(command.group) == Brackets::Method;
        if command.is_called && name.is_computed() {
            self.called(at, name, rest, reading);
        } else if is_argument && !looks_called(text) {
            // Words in parentheses after a method are its arguments.
        } else if !starts_expression || command.is_called {
            self.named(at, text, rest, reading);
        } else if !expressions::is_one(name, rest) {
            reading.hide(UNPARSED);
        }
    }

    fn value(&self, at: usize, word: &Word) -> Value {
        self.values.of_argument(self.split, at, word)
    }

    /// `& $program …`, `& { … }`: what is called stands in a variable or in brackets.
    fn called(&self, at: usize, name: &Word, rest: &[Word], reading: &mut Reading) {
        let is_block = |group: usize| self.split.brackets(group) == Brackets::Block;
        if name.group.is_some_and(is_block) && !name.is_invoked {
            // What stands in the block is judged like any other command.
            return;
        }
        match self.value(at, name) {
            Value::Known(programs) => {
                for program in programs {
                    self.named(at, &program, rest, reading);
                }
            }
            Value::Found | Value::Assembled => reading.hide(COMPUTED),
        }
    }

    /// `$env:NAME = value` and `[Type]::Property = value`.
    fn assignment(&self, command: &Command, reading: &mut Reading) {
        let [target, _, rest @ ..] = command.words.as_slice() else {
            return;
        };
        let lower = target.text.to_ascii_lowercase();
        if lower.starts_with("$env:") {
            let name = target.text.get(5..).unwrap_or("").to_ascii_uppercase();
            let value = match rest {
                [value] if !command.pipes && value.group.is_none() => {
                    self.values.with_holes(value, UNKNOWN_PART)
                }
                // `'a;' + $env:PATH`: the pieces that are seen count.
                _ => {
                    let pieces = rest.iter().filter(|word| word.is_quoted);
                    let pieces = pieces.map(|word| self.values.with_holes(word, UNKNOWN_PART));
                    let seen: String = pieces.collect();
                    format!("{seen}{UNKNOWN_PART}")
                }
            };
            reading.see(Deed::SetVariable(
                name.clone(),
                super::posix_value(&name, &value),
            ));
        } else if lower.starts_with("$function:") || lower.starts_with("$alias:") {
            reading.hide(RUNS_TEXT);
        }
    }

    fn named(&self, at: usize, name: &str, rest: &[Word], reading: &mut Reading) {
        let defined = self.functions.get(&name.to_ascii_lowercase());
        if defined.is_some_and(|defined| *defined < at) {
            return;
        }
        let Some(call) = cmdlets::find(name) else {
            self.program(at, name, rest, reading);
            return;
        };
        // Newer versions have no such aliases: with the options of the program, that runs.
        let is_option = |word: &Word| {
            let text = word.text.as_str();
            text.starts_with("--") || text.starts_with('-') && text.len() <= 3
        };
        let is_program = ["curl", "wget"]
            .iter()
            .any(|it| name.eq_ignore_ascii_case(it));
        if is_program && rest.iter().any(is_option) {
            self.program(at, name, rest, reading);
        }
        // With this parameter a cmdlet only says what it would do.
        if rest.iter().any(|word| {
            !word.is_quoted && is_parameter(&word.text, "whatif", 2) && !word.text.contains(':')
        }) {
            return;
        }
        if self.ends_own(at, name, rest) {
            return;
        }
        let mut arguments = Arguments::of(rest, &self.values, self.split, at);
        if cmdlets::canonical(name) == "select-string" {
            arguments = arguments.without_pattern();
        }
        let shown = || shown(name, rest);
        if shows_secret(&cmdlets::canonical(name), &arguments) {
            reading.see(Deed::Privilege(shown()));
        }
        match call.reader {
            Some(CallReader::Block) => member(name, &arguments, reading),
            Some(CallReader::Property) => property(&arguments, &shown(), reading),
            Some(CallReader::Job) => {
                let elsewhere = [
                    "computername",
                    "session",
                    "hostname",
                    "vmname",
                    "containerid",
                    "connectionuri",
                ];
                let is_away =
                    elsewhere.iter().any(|name| arguments.has(name)) || arguments.has("cn");
                let loads = arguments.has("filepath") || arguments.is_splatted;
                if is_away || loads || !arguments.has_block {
                    reading.hide(UNKNOWN);
                }
            }
            Some(CallReader::Make) => makes(rest, &arguments, reading),
            Some(CallReader::Enter) => enters(name, &arguments, reading),
            _ if !call.takes.is_empty() => {
                self.by_roles(at, name, call, &arguments, &shown(), reading);
            }
            _ => {
                if let Some(deed) = deed_of(call.does, shown()) {
                    reading.see(deed);
                } else if call.does > Effect::Inspect {
                    reading.hide(UNKNOWN);
                } else {
                    let filter = filters::name_filter(self.split, at);
                    environment_drive(name, &arguments, filter.as_deref(), reading);
                }
            }
        }
    }

    /// `Stop-Process -Id $p.Id`, `$p | Stop-Process`: ends only what the text itself has started.
    fn ends_own(&self, at: usize, name: &str, rest: &[Word]) -> bool {
        if cmdlets::canonical(name) != "stop-process" {
            return false;
        }
        let is_piped = self.split.commands.get(at).is_some_and(|it| it.is_piped);
        let input = self.values.before(self.split, at);
        let input = input.filter(|_| is_piped).map(|it| it.words.as_slice());
        let by_pipe = match input {
            Some([only]) => self.values.is_started(only),
            _ => false,
        };
        let named: Vec<&Word> = rest.iter().filter(|it| !it.is_parameter()).collect();
        let by_name = !named.is_empty() && named.iter().all(|it| self.values.is_started(it));
        if is_piped {
            by_pipe && named.is_empty()
        } else {
            by_name
        }
    }

    /// Notes what happens to each argument by its role.
    fn by_roles(
        &self,
        at: usize,
        name: &str,
        call: &Call,
        arguments: &Arguments,
        shown: &str,
        reading: &mut Reading,
    ) {
        let filter = filters::name_filter(self.split, at);
        environment_drive(name, arguments, filter.as_deref(), reading);
        let moves = call.takes.len() > 1;
        for (place, operand) in call.takes.iter().enumerate() {
            let role = operand.role;
            if role == Role::Read {
                self.reads(at, moves, arguments, reading);
            } else if role == Role::Write && place == 0 {
                writes(name, arguments, reading);
            } else if role == Role::Write {
                puts(arguments, reading);
            } else if role == Role::Move {
                moves_away(arguments, reading);
            } else if role == Role::Delete {
                self.delete(at, arguments, reading);
            } else if role == Role::Url {
                fetch(arguments, reading);
            } else if role == Role::UrlSend {
                reading.see(Deed::Send(arguments.address().unwrap_or_default()));
            } else if role == Role::Command {
                start(arguments, shown, reading);
            } else if role == Role::Load {
                loads(arguments, reading);
            } else if role == Role::PowerShell {
                match arguments.place().as_deref() {
                    Some([text]) if arguments.targets().count() == 1 => {
                        reading.absorb(read_at(text, self.depth + 1));
                    }
                    _ => reading.hide(RUNS_TEXT),
                }
            }
        }
    }

    /// Reads of files: those that are named, and what may be one where the name is computed.
    fn reads(&self, at: usize, only_first: bool, arguments: &Arguments, reading: &mut Reading) {
        let input = self.values.piped(self.split, at);
        let mut is_computed = arguments.is_splatted;
        let targets: Vec<&Value> = if only_first {
            arguments.targets().take(1).collect()
        } else {
            arguments.targets().collect()
        };
        let is_piped = self.split.commands.get(at).is_some_and(|it| it.is_piped);
        let piped = [&input].into_iter().filter(|_| is_piped);
        for value in targets.into_iter().chain(piped) {
            match value {
                Value::Known(paths) => {
                    for path in paths {
                        reading.see(Deed::ReadFile(slashed(path)));
                    }
                }
                Value::Found => is_computed = true,
                Value::Assembled => reading.hide(COMPUTED),
            }
        }
        if arguments.all().count() > ARGUMENTS_MAX {
            reading.hide(COMPUTED);
            return;
        }
        // A parameter that is not known may take the path for its value.
        for value in arguments.all().filter(|_| !only_first) {
            if let Value::Known(texts) = value {
                for text in texts {
                    reads_if_sensitive(text, reading);
                }
            }
        }
        if is_computed {
            self.reads_computed.set(true);
        }
    }

    /// Where a file is read whose name is computed, every word of the text may be part of it.
    fn reads_any(&self, reading: &mut Reading) {
        let words = self
            .split
            .commands
            .iter()
            .flat_map(|command| &command.words);
        let words = words.filter(|word| !word.is_parameter() && word.text.len() < PATH_MAX);
        for (at, word) in words.enumerate() {
            if at >= READ_WORDS_MAX {
                reading.hide(COMPUTED);
                return;
            }
            // The file that keeps what was typed, passwords among it.
            if word.text.to_ascii_lowercase().contains("historysavepath") {
                reading.hide(COMPUTED);
            }
            reads_if_sensitive(&word.text, reading);
        }
    }

    fn delete(&self, at: usize, arguments: &Arguments, reading: &mut Reading) {
        let input = self.values.piped(self.split, at);
        let is_piped = self.split.commands.get(at).is_some_and(|it| it.is_piped);
        let mut targets: Vec<&Value> = arguments.targets().collect();
        if targets.is_empty() || is_piped {
            targets.push(&input);
        }
        for value in targets {
            let Value::Known(paths) = value else {
                // What is deleted comes through the pipe or from an expression.
                let everything = String::new();
                reading.see(if arguments.recurses {
                    Deed::DeleteTree(everything)
                } else {
                    Deed::DeleteFile(everything)
                });
                reading.hide(COMPUTED);
                continue;
            };
            for path in paths {
                let deed = match provider(path) {
                    Some("env" | "variable") => continue,
                    Some(_) => Deed::Persist(format!("deletes {path}")),
                    // What a search finds below a place may be any number of files.
                    None if arguments.recurses || path.contains(UNKNOWN_PART) => {
                        Deed::DeleteTree(slashed(path))
                    }
                    None => Deed::DeleteFile(slashed(path)),
                };
                reading.see(deed);
            }
        }
        if arguments.is_splatted {
            reading.see(Deed::DeleteTree(String::new()));
            reading.hide(COMPUTED);
        }
    }

    /// The conditions and blocks of a keyword are commands of their own; some keywords stand in front
    /// of a command. Other words behind a keyword are not PowerShell.
    fn keyword(&self, at: usize, keyword: &str, rest: &[Word], reading: &mut Reading) {
        let in_brackets = |word: &Word| word.group.is_some() && !word.is_invoked;
        let is_type = |word: &Word| word.text.starts_with('[') && word.text.ends_with(']');
        match (keyword, rest) {
            (_, []) => {}
            ("return" | "throw" | "exit", [name, rest @ ..]) => {
                if expressions::starts(name) {
                    if !expressions::is_one(name, rest) {
                        reading.hide(UNPARSED);
                    }
                } else {
                    self.named(at, &name.text, rest, reading);
                }
            }
            ("function" | "filter" | "class" | "enum", [name, rest @ ..])
                if !name.is_computed() && rest.iter().all(in_brackets) => {}
            ("break" | "continue", [label]) if !label.is_computed() => {}
            ("catch" | "trap", rest) if rest.iter().all(|it| in_brackets(it) || is_type(it)) => {}
            ("switch", rest)
                if rest.iter().all(|it| {
                    let plain = ["-regex", "-wildcard", "-exact", "-casesensitive"];
                    in_brackets(it) || plain.contains(&it.text.to_ascii_lowercase().as_str())
                }) => {}
            (_, rest) if rest.iter().all(in_brackets) => {}
            _ => reading.hide(UNPARSED),
        }
    }

    /// A name that is no cmdlet is a program or a script.
    fn program(&self, at: usize, name: &str, rest: &[Word], reading: &mut Reading) {
        let lower = name.to_ascii_lowercase();
        let base = lower.rsplit(['\\', '/']).next().unwrap_or(&lower);
        let base = base.strip_suffix(".exe").unwrap_or(base);
        if POWERSHELL_KEYWORDS.contains(base) && base.len() == lower.len() {
            self.keyword(at, base, rest, reading);
            return;
        }
        let mut words = vec![slashed_word(name)];
        let mut is_known = !name.contains('$');
        for word in rest {
            match self.value(at, word) {
                Value::Known(texts) if texts.len() == 1 => {
                    words.extend(texts.iter().map(|text| slashed_word(text)));
                }
                // One of several values is as good as unknown.
                Value::Known(_) | Value::Found | Value::Assembled => {
                    is_known = false;
                    words.push(unknown_word(word) + self.taken);
                }
            }
        }
        let arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        if base == "powershell" || base == "pwsh" {
            reading.absorb(arguments_at(&arguments, self.depth + 1));
            if !is_known {
                reading.hide(COMPUTED);
            }
        } else if base == "cmd" {
            let line = format!("cmd {}", arguments.join(" "));
            reading.absorb(super::cmd::read_at(&line, self.depth + 1));
            if !is_known {
                reading.hide(COMPUTED);
            }
        } else if super::cmd::knows(base)
            && knowledge::program(base).is_none_or(|program| program.row.style == Style::Slash)
        {
            let line = format!("{base} {}", arguments.join(" "));
            reading.absorb(super::cmd::read_at(&line, self.depth + 1));
            if !is_known {
                reading.hide(COMPUTED);
            }
        } else {
            reading.see(Deed::Run(words));
        }
    }
}

/// Whether a word is the type in `New-Object Type(arguments)`, which calls no method.
fn is_made_type(command: &Command, word: &Word) -> bool {
    let made = command.name_and_rest().and_then(|(name, rest)| {
        let makes = name.text.eq_ignore_ascii_case("new-object") && !name.is_quoted;
        rest.first().filter(|_| makes)
    });
    made.is_some_and(|made| std::ptr::eq(made, word))
}

/// Whether a word in parentheses is a command: a bare word there is one.
fn looks_called(text: &str) -> bool {
    cmdlets::find(text).is_some() || text.contains('-')
}

fn is_parameter(word: &str, name: &str, least: usize) -> bool {
    word.strip_prefix('-').is_some_and(|given| {
        let given = given
            .split(':')
            .next()
            .unwrap_or(given)
            .to_ascii_lowercase();
        given.len() >= least && name.starts_with(given.as_str())
    })
}

/// A command as a person would write it, bounded.
fn shown(name: &str, rest: &[Word]) -> String {
    const SHOWN_WORDS_MAX: usize = 8;
    let words: Vec<&str> = std::iter::once(name)
        .chain(
            rest.iter()
                .take(SHOWN_WORDS_MAX)
                .map(|word| word.text.as_str()),
        )
        .collect();
    words.join(" ")
}
