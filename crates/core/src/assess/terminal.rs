//! Terminal tools: reads the command from a text, a list of words or a list of commands.

use serde_json::{Map, Value};

use super::arguments;
use super::gather::Gathered;
use super::roles::same_key;
use super::windows;
use crate::act::Act;
use crate::display::is_deceptive_for_shell;
use crate::follow::program::{FROM_ELSEWHERE, is_cmdlet};
use crate::follow::value::Stream;
use crate::follow::walk::{Knows, Walk};
use crate::knowledge::names::{ENVIRONMENT_KEYS, INPUT_KEYS};
use crate::knowledge::{ArgumentRole, Effect, ToolRow};
use crate::language::{self, Deed, Reading};
use crate::place::shares::hosts_in;
use crate::place::{Ground, mark_home};
use crate::score::Score;
use crate::shell::placeholder::parse_filled;
use crate::shell::quote;
use crate::shell::syntax::Span;

/// Whether running shell commands is what the tool is for.
pub(super) fn is_terminal(row: &ToolRow) -> bool {
    row.does == Effect::Inspect
        && row
            .args
            .iter()
            .any(|(_, role)| *role == ArgumentRole::Shell)
}

/// Whether a tool is called after a shell of Unix, so that it runs one on Windows, too.
pub(super) fn is_unix_shell(tool: &str) -> bool {
    let holds = |name: &[u8]| {
        let mut parts = tool.as_bytes().windows(name.len());
        parts.any(|part| part.eq_ignore_ascii_case(name))
    };
    holds(b"bash") || holds(b"zsh") || tool.eq_ignore_ascii_case("sh")
}

/// Gathers what a call of a terminal tool would do.
pub(super) fn call(
    row: &ToolRow,
    args: &Map<String, Value>,
    ground: &Ground,
    knows: &Knows,
    gathered: &mut Gathered,
) {
    gathered.terminal = true;
    let role_of = |key: &str| {
        row.args
            .iter()
            .find(|(known, _)| same_key(known, key))
            .map(|(_, role)| *role)
    };
    let mut ground = ground.clone();
    let mut commands = Vec::new();
    let mut input = String::new();
    for (key, value) in args.iter().filter(|(_, value)| !value.is_null()) {
        match role_of(key) {
            Some(ArgumentRole::Cwd) => match value.as_str() {
                Some(directory) => ground.enter(&mark_home(directory)),
                None => gathered.unreadable(first_name(row), "the working directory is not a text"),
            },
            _ if INPUT_KEYS.contains(key.as_str()) => {
                match (value.as_str(), command_text(key, value)) {
                    (Some(text), _) => input.push_str(text),
                    (None, Some(command)) => commands.push(command),
                    (None, None) => {
                        gathered.unreadable(first_name(row), "what is typed in is not a text");
                    }
                }
            }
            Some(ArgumentRole::Shell) => match command_text(key, value) {
                Some(command) => commands.push(command),
                None => gathered.unreadable(first_name(row), "the command is not a text"),
            },
            _ if ENVIRONMENT_KEYS.contains(key.as_str()) => {
                environment(value, &ground, knows, gathered);
            }
            _ => {}
        }
    }
    if commands.is_empty() {
        if input.is_empty() {
            gathered.unreadable(first_name(row), "the command is missing");
        } else {
            shell(&input, ground, knows, gathered);
        }
        return;
    }
    for command in commands {
        shell_with(&command, ground.clone(), &input, knows, gathered);
    }
}

/// Follows a shell command.
pub(super) fn shell(command: &str, ground: Ground, knows: &Knows, gathered: &mut Gathered) {
    shell_with(command, ground, "", knows, gathered);
}

fn shell_with(command: &str, ground: Ground, input: &str, knows: &Knows, gathered: &mut Gathered) {
    if let Some(deception) = is_deceptive_for_shell(command) {
        let span = Span::new(deception.span.0, deception.span.1);
        let mut act = Act::new(Effect::Exec, "", span)
            .because("characters that make the command look different from what runs");
        act.clarity = Score::new(200);
        gathered.acts.push(act);
    }
    let mut walk = Walk::new(ground.clone(), knows);
    if ground.is_windows {
        for host in hosts_in(command) {
            walk.opens_share(host, Span::default());
        }
    }
    let mut stopped = None;
    let by_windows = ground.is_windows && !gathered.is_unix_shell;
    let spelt = windows::with_slashes_behind_cd(command, by_windows);
    // How far up a path leads depends on the directory, so both shells count.
    if spelt != command && command.contains("..") {
        let mut other = Walk::new(ground.clone(), knows);
        if let Ok(script) = parse_filled(command) {
            other.script(script, &Stream::default());
        }
        // Commands that a Unix shell does not know are read below.
        let is_certain = |act: &Act| {
            !act.marks.unreadable && !matches!(act.effect, Effect::Unknown | Effect::Exec)
        };
        other.acts.retain(is_certain);
        gathered.absorb(other);
    }
    match parse_filled(&spelt) {
        Ok(script) => {
            let stdin = if input.is_empty() {
                Stream::default()
            } else {
                Stream::known(input)
            };
            walk.script(script, &stdin);
        }
        Err(error) => {
            stopped = Some(error.at);
            let mut act = Act::new(Effect::Exec, "", Span::new(error.at, error.at))
                .because(UNPARSED)
                .on(error.what);
            act.clarity = Score::new(200);
            walk.note(act);
        }
    }
    if ground.is_windows && !gathered.is_unix_shell {
        windows::replace_words(command, &ground, &mut walk, knows, gathered);
    }
    if walk.acts.iter().any(|act| act.marks.unreadable) {
        let (reading, name) = another_language(command, &ground, gathered.is_unix_shell);
        if let (Some(at), true) = (stopped, reading.is_some()) {
            lines_around(command, at, &mut walk);
        }
        if let Some(reading) = reading {
            let is_certain = ground.is_windows && !gathered.is_unix_shell;
            let mut other = Walk::new(ground, knows);
            other.deeds(&reading, name, Span::new(0, command.len()));
            if reading.hidden.is_none() {
                let elsewhere = walk.acts.iter();
                let elsewhere = elsewhere.filter(|act| act.note == FROM_ELSEWHERE).count();
                let given = reading.deeds.iter();
                let given = given.filter(|deed| matches!(deed, Deed::Give(..))).count();
                let better = Better {
                    name,
                    text: command,
                    acts: &other.acts,
                    is_certain,
                    sees_input: is_certain && elsewhere <= given,
                    command,
                };
                walk.acts.retain(|act| !better.knows(act));
            }
            gathered.absorb(other);
        }
    } else if !gathered.is_unix_shell && (ground.is_windows || names_drive(command)) {
        windows_too(command, ground, knows, gathered);
    }
    gathered.absorb(walk);
}

/// Reads a command as SQL, PowerShell or `cmd` where it looks like that, or where the working
/// directory says that no Unix shell runs it.
fn another_language(
    command: &str,
    ground: &Ground,
    is_unix_shell: bool,
) -> (Option<Reading>, &'static str) {
    if ground.is_windows && !is_unix_shell && language::cmd::is_certain(command) {
        (Some(language::cmd::read(command)), "cmd")
    } else if language::sql::looks_like(command) {
        let reading = language::sql::read(command, language::sql::Dialect::Generic);
        (Some(reading), "sql")
    } else if language::powershell::looks_like(command) {
        (Some(language::powershell::read(command)), "powershell")
    } else if language::cmd::looks_like(command)
        && !(ground.is_windows && may_be_another_shell(command, ground))
    {
        (Some(language::cmd::read(command)), "cmd")
    } else if ground.is_windows {
        let reading = language::powershell::read(command);
        (Some(reading), "powershell")
    } else {
        (None, "")
    }
}

/// Whether a command for `cmd` may run in another shell: many a tool is called `run_cmd` and runs whatever
/// shell its machine has. On Windows, signs that mean nothing to `cmd` are those of another one.
pub(super) fn may_be_another_shell(command: &str, ground: &Ground) -> bool {
    !ground.is_windows || [";", "`", "$("].iter().any(|sign| command.contains(sign))
}

/// Whether a text has a path with a drive in it, as no Unix shell reads one: `C:\\x`.
fn names_drive(command: &str) -> bool {
    let bytes = command.as_bytes();
    let starts = |at: usize| {
        at == 0
            || bytes
                .get(at - 1)
                .is_some_and(|it| !it.is_ascii_alphanumeric())
    };
    let mut all = bytes.windows(3).enumerate();
    all.any(|(at, it)| {
        matches!(it, [drive, b':', b'\\'] if drive.is_ascii_alphabetic()) && starts(at)
    })
}

/// Adds what a shell of Windows would do to the places that the command names: a Unix shell takes the
/// backslashes out of them.
fn windows_too(command: &str, ground: Ground, knows: &Knows, gathered: &mut Gathered) {
    let is_windows = ground.is_windows;
    let mut other = Walk::new(ground, knows);
    for (read, name) in [
        (
            language::powershell::read as fn(&str) -> Reading,
            "powershell",
        ),
        (language::cmd::read, "cmd"),
    ] {
        let mut reading = read(command);
        // A path that is not known was read better by the other shells.
        if name == "cmd" && command.trim_start().starts_with('@') {
            // Only `cmd` runs what stands behind this sign.
            other.deeds(&reading, name, Span::new(0, command.len()));
            continue;
        }
        reading.deeds.retain(|deed| {
            if let Deed::ReadFile(path)
            | Deed::WriteFile(path)
            | Deed::DeleteFile(path)
            | Deed::DeleteTree(path) = deed
            {
                return path == language::WHOLE_ENVIRONMENT
                    || path.contains(['\\', ':', '~'])
                    || path.contains("/Users/");
            }
            if let Some(path) = language::makes(deed) {
                return path.contains(['\\', ':']);
            }
            // A program or script by a path that a Unix shell would have read as another one.
            if let Deed::Run(words) = deed {
                let is_away = |path: &String| {
                    path.get(1..3) == Some(":/")
                        || ["~/", "../", "//"].iter().any(|it| path.starts_with(it))
                };
                return is_windows && words.first().is_some_and(is_away);
            }
            // `format d:`, and not a word of some text.
            matches!(deed, Deed::WipeDisk(what) if what.contains(':'))
        });
        let deeds = Reading {
            deeds: reading.deeds,
            ..Reading::default()
        };
        other.deeds(&deeds, name, Span::new(0, command.len()));
    }
    gathered.absorb(other);
}

/// Lines of a text that a shell cannot read as a whole, but may read one by one.
const LINES_MAX: usize = 256;

/// Follows the lines around the place where a shell would stop reading: those before it have run by
/// then, and where lines are typed in one by one, those behind it run as well.
fn lines_around(command: &str, at: usize, walk: &mut Walk<'_>) {
    let (read, rest) = command.split_at_checked(at).unwrap_or((command, ""));
    let before = read.rsplit_once('\n').map_or("", |(lines, _)| lines);
    let behind = rest.lines().skip(1).take(LINES_MAX);
    for lines in std::iter::once(before).chain(behind) {
        if let Ok(script) = parse_filled(lines) {
            walk.script(script, &Stream::default());
        }
    }
}

/// What another reading saw, where it saw everything.
struct Better<'r> {
    name: &'static str,
    /// The command.
    text: &'r str,
    acts: &'r [Act],
    /// Whether no Unix shell is likely to run the text.
    is_certain: bool,
    /// Whether it saw the text that is piped into each interpreter.
    sees_input: bool,
    command: &'r str,
}

impl Better<'_> {
    /// Whether the other reading knows what a shell did not know: which program runs. Everything that
    /// a shell would do for certain stays, and so does a program that only the shell would run.
    fn knows(&self, act: &Act) -> bool {
        let program = act.program.as_ref();
        let seen = |effect: Effect| self.acts.iter().any(|it| it.effect == effect);
        let names = match self.name {
            "powershell" => {
                let is_of_cmd = || language::cmd::knows(&program.to_ascii_lowercase());
                language::powershell::knows(program) || self.is_certain && is_of_cmd()
            }
            "cmd" => language::cmd::knows(&program.to_ascii_lowercase()),
            _ => self.text.split_whitespace().next() == Some(program),
        };
        if act.effect == Effect::Unknown {
            let same = |it: &Act| it.effect == Effect::Unknown && it.program == act.program;
            // Where no Unix shell runs it, a backtick is an escape and begins no command.
            let is_escape = self.is_certain
                && self.name == "powershell"
                && language::powershell::is_escaped(program, self.text);
            // Nor does it take the backslashes out of the name of a program.
            let is_path = self.is_certain && self.word(act.span).contains('\\');
            return names
                || is_escape
                || is_path
                || self.is_certain && (self.is_string(act.span) || self.is_range(act.span))
                || self.acts.iter().any(same);
        }
        if self.name == "sql" {
            return false;
        }
        if self.is_certain && self.is_here_string(act.span) {
            return true;
        }
        if act.note == FROM_ELSEWHERE && self.sees_input {
            return true;
        }
        if act.effect == Effect::Exec && program.is_empty() {
            return act.note == UNPARSED
                || self.is_cmdlet(act.span)
                || self.is_certain && self.is_variable(act.span);
        }
        // No Unix shell has a cmdlet, and what PowerShell would do was seen.
        is_cmdlet(program) && (act.effect == Effect::Exec || seen(act.effect))
    }

    /// The first word of the command at hand.
    fn word(&self, span: Span) -> &str {
        let range = span.start as usize..span.end as usize;
        let text = self.command.get(range).unwrap_or("");
        text.split_whitespace().next().unwrap_or("")
    }

    /// Whether it is a text on lines of its own, which a Unix shell takes for the name of a program.
    fn is_here_string(&self, span: Span) -> bool {
        let text = self.command.get(span.start as usize..).unwrap_or("");
        ["@'\n", "@\"\n", "@'\r", "@\"\r"]
            .iter()
            .any(|start| text.starts_with(start))
    }

    /// Whether it is a text in quotes that goes into a pipe, which is no command to PowerShell.
    fn is_string(&self, span: Span) -> bool {
        let text = self.command.get(span.start as usize..).unwrap_or("");
        let quote = text.chars().next().filter(|it| matches!(it, '"' | '\''));
        let inside = quote.and_then(|quote| text.get(1..)?.split_once(quote));
        inside.is_some_and(|(_, rest)| rest.trim_start().starts_with('|'))
    }

    /// Whether it is a range of numbers that goes into a pipe: `1..5 | ForEach-Object { … }`.
    fn is_range(&self, span: Span) -> bool {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        let ends = self.word(span).split_once("..");
        ends.is_some_and(|(from, to)| is_number(from) && is_number(to))
    }

    /// Whether it is a cmdlet, which is no program of a shell, so what is behind it does not run there.
    fn is_cmdlet(&self, span: Span) -> bool {
        let word = self.word(span);
        language::powershell::knows(word) && is_cmdlet(word)
    }

    /// Whether the word is a variable or a member of one: `$x`, `$_.Name`. What a substitution prints
    /// and a path below a variable run in a shell, so they are never taken for values.
    fn is_variable(&self, span: Span) -> bool {
        let word = self.word(span);
        let is_part = |c: char| c.is_alphanumeric() || "_.:[]{}?@".contains(c);
        let typed = word
            .strip_prefix('[')
            .and_then(|word| word.rsplit_once(']'));
        let word = typed.map_or(word, |(_, variable)| variable);
        // `$env:NAME="value"`: to PowerShell no command either.
        let word = match word.split_once('=') {
            Some((name, _)) if name.starts_with("$env:") => name,
            _ => word,
        };
        // `[Type]::Property = value`
        let is_property = |(name, member): (&str, &str)| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
            name.chars().all(is_part) && member.chars().all(is_part) && !member.is_empty()
        };
        let property = self.word(span).strip_prefix('[');
        let property = property.and_then(|word| word.split_once("]::"));
        if property.is_some_and(is_property) {
            return true;
        }
        word.strip_prefix('$')
            .is_some_and(|name| !name.is_empty() && name.chars().all(is_part))
    }
}

/// Why a text that is no shell command is a question.
const UNPARSED: &str = "the command cannot be read";

/// Returns the shell text that a command given as JSON stands for.
pub(super) fn command_text(key: &str, value: &Value) -> Option<String> {
    let words = match value {
        Value::String(text) => match arguments::listed(text) {
            Some(words) => words,
            None => return Some(text.clone()),
        },
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<Vec<String>>>()?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    let is_option = |word: &String| word.starts_with('-');
    let plural = key.ends_with('s') || value.is_string();
    let one_program = words
        .first()
        .is_some_and(|word| !word.contains(char::is_whitespace));
    let argv = words.len() > 1 && one_program && (!plural || words.get(1).is_some_and(is_option));
    if argv {
        return Some(
            words
                .iter()
                .map(|word| quote(word))
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    Some(words.join("\n"))
}

/// Judges variables that are set for a command.
fn environment(value: &Value, ground: &Ground, knows: &Knows, gathered: &mut Gathered) {
    let Value::Object(map) = value else {
        gathered.unreadable("env", "the environment is not an object");
        return;
    };
    let mut text = String::new();
    for (name, value) in map {
        let fits = !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        match arguments::plain(value).filter(|_| fits) {
            Some(value) => {
                text.extend(["export ", name.as_str(), "=", quote(&value).as_str(), "\n"]);
            }
            None => gathered.unreadable("env", "a variable of the environment cannot be read"),
        }
    }
    let mut walk = Walk::new(ground.clone(), knows);
    walk.text(&text, Span::default());
    gathered.absorb(walk);
}

fn first_name(row: &ToolRow) -> &'static str {
    row.names.first().copied().unwrap_or("terminal")
}
