//! Programs that code starts: their words, and the settings they are started with.
//!
//! Each setting is read or known to change nothing; any other hides what is run.

use super::effects::{Arguments, conceals};
use super::lexer::Token;
use super::values::{Made, Origin, Range};
use crate::knowledge::Role;
use crate::knowledge::Syntax;
use crate::knowledge::names::PROCESS_SETTINGS;
use crate::language::{Deed, Reading};
use crate::place::HOLE;

/// Stands for a directory in scratch space that the code makes, as it does for one of `mktemp -d`.
const MADE: &str = "/tmp/tmp.made";
/// Ways in which the words of one command may differ.
const COMMANDS_MAX: usize = 16;

/// How a program is started.
#[derive(Debug, Default)]
struct Settings {
    directory: String,
    variables: Vec<String>,
    /// Whether something is typed into it that is not seen.
    is_typed: bool,
    by_shell: bool,
}

/// Notes which command a call hands to a shell or runs by its words.
pub(super) fn command(arguments: &Arguments<'_, '_>, reading: &mut Reading) -> Option<()> {
    let range = arguments.of_role(0, Role::Shell)?;
    let follows = follows(arguments);
    if follows && !more_is_known(arguments) {
        return None;
    }
    let settings = settings(arguments)?;
    let listed = arguments.values.words(range).filter(|_| follows);
    let listed = listed.or_else(|| Some(vec![literals(arguments.slice(range))?]));
    if let Some(lists) = listed {
        for words in lists.iter().filter(|_| settings.by_shell) {
            // A shell that is given a list runs its first word, on Windows all of them.
            let text = words.first()?.only()?;
            reading.see(Deed::Shell(text.to_owned()));
        }
        return run(&settings, &lists, reading);
    }
    let made = arguments.made(range)?;
    // Several strings are the words of a program in the languages that allow it.
    let more = (1..).map_while(|place| arguments.text(place));
    let more: Vec<String> = more.filter(|_| !follows).collect();
    if !more.is_empty() {
        let words = std::iter::once(made.only()?.to_owned()).chain(more);
        reading.see(Deed::Run(words.collect()));
        return Some(());
    }
    // What is typed into a shell is code as well.
    if !made.is_exact() || settings.is_typed || !settings.variables.is_empty() {
        conceals(&made, reading);
        return None;
    }
    let directory = settings.directory;
    for text in made.shapes() {
        reading.see(Deed::Shell(if directory.is_empty() {
            text
        } else if directory.contains('\'') {
            return None;
        } else {
            format!("cd '{directory}' && {{ {text}\n}}")
        }));
    }
    Some(())
}

/// Notes which program a call runs whose words are its arguments, or lists of them.
pub(super) fn program(arguments: &Arguments<'_, '_>, reading: &mut Reading) -> Option<()> {
    let settings = settings(arguments)?;
    let mut commands: Vec<Vec<Made>> = vec![Vec::new()];
    for range in (0..).map_while(|place| arguments.range(place)) {
        let slice = arguments.slice(range);
        let is_javascript = arguments.script.syntax == Syntax::JavaScript;
        let is_options = slice.first().is_some_and(|token| token.is_mark("{"));
        if is_options && is_javascript || is_function(slice) {
            continue;
        }
        let more = arguments.values.words(range).filter(|_| follows(arguments));
        let more = more.or_else(|| Some(vec![literals(slice)?]));
        let more = match more {
            Some(more) => more,
            // Words of JavaScript stand in a list, behind the program.
            None if is_javascript && commands.iter().any(|words| !words.is_empty()) => return None,
            None => vec![vec![arguments.made(range)?]],
        };
        if commands.len() * more.len() > COMMANDS_MAX {
            return None;
        }
        let longer = commands.iter().flat_map(|words| {
            more.iter()
                .map(|more| words.iter().chain(more).cloned().collect())
        });
        commands = longer.collect();
    }
    // Some calls take all their words in an object.
    if commands.iter().any(Vec::is_empty) {
        return None;
    }
    run(&settings, &commands, reading)
}

/// Whether what follows the command by place is an object with settings, a function or the mode of
/// a pipe. Anything else may be the program that runs instead.
fn more_is_known(arguments: &Arguments<'_, '_>) -> bool {
    let is_javascript = arguments.script.syntax == Syntax::JavaScript;
    let mut rest = (1..).map_while(|place| arguments.range(place));
    rest.all(|range| match arguments.slice(range) {
        [Token::Mark("{"), ..] => is_javascript,
        [Token::Text(Some(mode))] => !is_javascript && mode == "r",
        slice => is_javascript && is_function(slice),
    })
}

/// Whether values of this language are followed.
fn follows(arguments: &Arguments<'_, '_>) -> bool {
    matches!(arguments.script.syntax, Syntax::Python | Syntax::JavaScript)
}

/// Whether an argument is a function written on the spot, to be called back.
fn is_function(slice: &[Token]) -> bool {
    let is_word = |token: &Token| token.is_name("function") || token.is_name("async");
    slice.iter().any(|token| token.is_mark("=>")) || slice.first().is_some_and(is_word)
}

/// The strings of `["a", "b"]` or `("a", "b")`.
fn literals(list: &[Token]) -> Option<Vec<Made>> {
    let [Token::Mark("[" | "("), inner @ .., Token::Mark("]" | ")")] = list else {
        return None;
    };
    let words: Option<Vec<Made>> = inner
        .split(|token| token.is_mark(","))
        .filter(|word| !word.is_empty())
        .map(|word| match word {
            [Token::Text(Some(text))] => Some(Made::exact(text.clone())),
            _ => None,
        })
        .collect();
    words.filter(|words| !words.is_empty())
}

/// Notes that a program runs with these words, in all ways they may be.
fn run(settings: &Settings, lists: &[Vec<Made>], reading: &mut Reading) -> Option<()> {
    let mut all = Vec::new();
    for words in lists {
        let mut commands = vec![settings.words()];
        // What a program of the project makes of its words is the project's business, as in a shell.
        let program = words.first().and_then(Made::only);
        let is_own = program.is_some_and(|program| program.starts_with("./"));
        for word in words {
            // A word of which nothing is known may be any option.
            let is_option = word.begins_anywhere() || word.origin >= Origin::Assembled;
            let is_open = is_option && !word.is_exact();
            if is_open && !is_own {
                conceals(word, reading);
                return None;
            }
            let shapes: Vec<String> = if is_open {
                vec![HOLE.to_string()]
            } else {
                word.shapes().collect()
            };
            if commands.len() * shapes.len() > COMMANDS_MAX {
                return None;
            }
            commands = commands
                .iter()
                .flat_map(|command| {
                    shapes.iter().map(|shape| {
                        let mut command = command.clone();
                        command.push(shape.clone());
                        command
                    })
                })
                .collect();
        }
        all.extend(commands);
    }
    if all.len() > COMMANDS_MAX {
        return None;
    }
    for command in all {
        reading.see(if settings.is_typed {
            Deed::Feed(command)
        } else {
            Deed::Run(command)
        });
    }
    Some(())
}

impl Settings {
    /// The words before a command that say where it runs, and with which variables.
    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if !self.directory.is_empty() {
            words.extend(["-C".to_owned(), self.directory.clone()]);
        }
        words.extend(self.variables.iter().cloned());
        if !words.is_empty() {
            words.insert(0, "env".to_owned());
        }
        words
    }
}

/// How the program is started. `None`: something else is run instead, or nobody can tell.
fn settings(arguments: &Arguments<'_, '_>) -> Option<Settings> {
    let mut settings = Settings::default();
    let given = match arguments.script.syntax {
        Syntax::Python => by_name(arguments),
        Syntax::JavaScript => by_object(arguments)?,
        Syntax::Plain | Syntax::Perl | Syntax::Ruby | Syntax::Php => Vec::new(),
    };
    settings.is_typed = arguments.script.syntax == Syntax::JavaScript && types_later(arguments);
    for (key, range) in given {
        let slice = arguments.slice(range);
        let is_word = |words: &[&str]| {
            let last = slice.last();
            words
                .iter()
                .any(|word| last.is_some_and(|last| last.is_name(word)))
        };
        match key {
            "cwd" => {
                let made = arguments.made(range)?;
                let made_here = made.is_own_scratch().then_some(MADE);
                let directory = made.only().or(made_here);
                let directory = directory.or_else(|| is_word(&["None"]).then_some(""))?;
                let stays = matches!(directory, "" | ".");
                settings.directory = if stays {
                    String::new()
                } else {
                    directory.to_owned()
                };
            }
            "env" => settings.variables = variables(arguments, range)?,
            "input" => settings.is_typed = true,
            "stdin" => settings.is_typed |= !is_word(&["DEVNULL", "None"]),
            "shell" => settings.by_shell = !is_word(&["False", "false"]),
            _ if PROCESS_SETTINGS.contains(key) => {}
            _ => return None,
        }
    }
    // What a shell makes of the words of JavaScript is not followed.
    let is_joined = settings.by_shell && arguments.script.syntax == Syntax::JavaScript;
    (!is_joined).then_some(settings)
}

/// `run(…, cwd="a")`
fn by_name<'a>(arguments: &Arguments<'_, 'a>) -> Vec<(&'a str, Range)> {
    let mut given = Vec::new();
    for range in &arguments.ranges {
        let Some(key) = arguments.key(*range) else {
            continue;
        };
        let names_command = matches!(key, "args" | "command" | "cmd");
        if names_command && arguments.range(0).is_none() {
            continue;
        }
        given.push((key, (range.0 + 2, range.1)));
    }
    given
}

/// `spawn("a", […], {cwd: "b"})`
fn by_object<'a>(arguments: &Arguments<'_, 'a>) -> Option<Vec<(&'a str, Range)>> {
    let mut given = Vec::new();
    for range in arguments.ranges.iter().skip(1) {
        let (from, to) = *range;
        if !arguments.slice(*range).first()?.is_mark("{") {
            continue;
        }
        for item in arguments.values.items(from) {
            let value = match arguments.slice(item) {
                [Token::Name(key) | Token::Text(Some(key)), colon, _, ..] if colon.is_mark(":") => {
                    (key.as_str(), (item.0 + 2, item.1))
                }
                [Token::Name(key)] => (key.as_str(), item),
                _ => return None,
            };
            if item.1 > to {
                return None;
            }
            given.push(value);
        }
    }
    Some(given)
}

/// Whether the script writes to the input of what it starts.
fn types_later(arguments: &Arguments<'_, '_>) -> bool {
    arguments.tokens.windows(3).any(|tokens| match tokens {
        [object, Token::Mark("." | "?."), name] => {
            name.is_name("stdin") && !object.is_name("process")
        }
        _ => false,
    })
}

/// The variables that are set by `{**os.environ, "A": "b"}`, `dict(os.environ, A="b")` or by
/// `os.environ` alone.
fn variables(arguments: &Arguments<'_, '_>, range: Range) -> Option<Vec<String>> {
    let (from, _) = range;
    let slice = arguments.slice(range);
    if is_environment(slice) || matches!(slice, [word] if word.is_name("None")) {
        return Some(Vec::new());
    }
    let (open, is_call) = match slice {
        [Token::Mark("{"), .., Token::Mark("}")] => (from, false),
        [Token::Name(name), Token::Mark("("), .., Token::Mark(")")] if name == "dict" => {
            (from + 1, true)
        }
        _ => return None,
    };
    let sign = if is_call { "=" } else { ":" };
    let mut words = Vec::new();
    for item in arguments.values.items(open) {
        let (key, value) = match arguments.slice(item) {
            [Token::Mark("**" | "..."), rest @ ..] if is_environment(rest) => continue,
            rest if is_call && is_environment(rest) => continue,
            [Token::Name(key) | Token::Text(Some(key)), mark, _, ..] if mark.is_mark(sign) => {
                // A name before a colon is a variable in Python.
                let is_name = matches!(arguments.slice(item).first(), Some(Token::Name(_)));
                if is_name && !is_call && arguments.script.syntax == Syntax::Python {
                    return None;
                }
                (key, (item.0 + 2, item.1))
            }
            _ => return None,
        };
        let made = arguments.made(value)?;
        let text = made.only().map_or_else(|| HOLE.to_string(), str::to_owned);
        words.push(format!("{key}={text}"));
    }
    Some(words)
}

/// `os.environ`, `os.environ.copy()`, `process.env`
fn is_environment(slice: &[Token]) -> bool {
    let is = |at: usize, name: &str| slice.get(at).is_some_and(|token| token.is_name(name));
    let dot = slice.get(1).is_some_and(|token| token.is_mark("."));
    let named = dot && (is(0, "os") && is(2, "environ") || is(0, "process") && is(2, "env"));
    let copied = is(4, "copy") && slice.len() == 7;
    named && (slice.len() == 3 || copied)
}
