//! Terminal tools: reads the command from a text, a list of words or a list of commands.

use serde_json::{Map, Value};

use super::arguments;
use super::gather::Gathered;
use super::roles::same_key;
use crate::act::Act;
use crate::display::is_deceptive_for_shell;
use crate::follow::program::is_cmdlet;
use crate::follow::value::Stream;
use crate::follow::walk::{Knows, Walk};
use crate::knowledge::names::{ENVIRONMENT_KEYS, INPUT_KEYS};
use crate::knowledge::{ArgumentRole, Effect, ToolRow};
use crate::language::{self, Reading};
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
    let mut stopped = None;
    match parse_filled(command) {
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
                .because("the command cannot be read")
                .on(error.what);
            act.clarity = Score::new(200);
            walk.note(act);
        }
    }
    if walk.acts.iter().any(|act| act.marks.unreadable) {
        let (reading, name) = another_language(command, &ground);
        if let (Some(at), true) = (stopped, reading.is_some()) {
            lines_around(command, at, &mut walk);
        }
        if let Some(reading) = reading {
            let mut other = Walk::new(ground, knows);
            other.deeds(&reading, name, Span::new(0, command.len()));
            if reading.hidden.is_none() {
                let first = command.split_whitespace().next().unwrap_or("");
                let is_windows = name != "sql";
                let seen: Vec<Effect> = other.acts.iter().map(|act| act.effect).collect();
                walk.acts
                    .retain(|act| !is_known_better(act, first, is_windows, &seen));
            }
            gathered.absorb(other);
        }
    }
    gathered.absorb(walk);
}

/// Reads a command as SQL, PowerShell or `cmd` where it looks like that, or where the working
/// directory says that no Unix shell runs it.
fn another_language(command: &str, ground: &Ground) -> (Option<Reading>, &'static str) {
    if language::sql::looks_like(command) {
        let reading = language::sql::read(command, language::sql::Dialect::Generic);
        (Some(reading), "sql")
    } else if language::powershell::looks_like(command) {
        (Some(language::powershell::read(command)), "powershell")
    } else if language::cmd::looks_like(command) {
        (Some(language::cmd::read(command)), "cmd")
    } else if ground.is_windows {
        let reading = language::powershell::read(command);
        (Some(reading), "powershell")
    } else {
        (None, "")
    }
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

/// Whether another reading that saw everything knows better what a shell did not know: which
/// program runs. Everything that a shell would do for certain stays.
fn is_known_better(act: &Act, first: &str, is_windows: bool, seen: &[Effect]) -> bool {
    if !is_windows {
        return act.effect == Effect::Unknown && act.program == first;
    }
    act.effect == Effect::Unknown
        || act.effect == Effect::Exec && act.program.is_empty()
        || is_cmdlet(&act.program) && seen.contains(&act.effect)
}

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
