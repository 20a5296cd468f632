//! Effects of a PowerShell command line.
//!
//! The text is cut into commands at pipes, semicolons and brackets of all kinds, so that code in
//! blocks and subexpressions is judged like any other. Each command is looked up in a table of
//! cmdlets and aliases; names of the form `Verb-Noun` that are not listed are judged by their verb.

mod cmdlets;
mod words;

use self::words::{Command, Word};
use super::{
    CODE_BYTES_MAX, Deed, ENVIRONMENT, FRAGMENT_BYTES_MAX, Reading, TOO_LONG, deed_of, deed_on,
};
use crate::knowledge::languages::{
    Call, POWERSHELL_KEYWORDS, POWERSHELL_SWITCHES, POWERSHELL_TARGETS,
};
use crate::knowledge::{CallReader, Effect, Role};

const UNPARSED: &str = "PowerShell text with an unfinished quote";
const RUNS_TEXT: &str = "PowerShell runs text it computes or loads";
const SCRIPT_FILE: &str = "a PowerShell script in a file";
const UNKNOWN: &str = "an unknown PowerShell command";
const COMPUTED: &str = "a PowerShell command whose name or target is computed";
const METHOD: &str = "an unknown .NET method";
const ENCODED: &str = "an encoded PowerShell command that cannot be decoded";
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
    let Some(split) = words::split(text) else {
        return Reading::hidden(UNPARSED);
    };
    for command in &split.commands {
        judge(command, depth, &mut reading);
    }
    for inner in &split.embedded {
        reading.absorb(read_at(inner, depth + 1));
    }
    reading
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
    let Some(split) = words::split(text) else {
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

fn judge(command: &Command, depth: usize, reading: &mut Reading) {
    for path in &command.redirects {
        match path {
            Some(path) if path.eq_ignore_ascii_case("$null") || path.starts_with('&') => {}
            Some(path) if !path.contains('$') => reading.see(Deed::WriteFile(path.clone())),
            Some(_) | None => reading.hide(COMPUTED),
        }
    }
    for word in &command.words {
        if !word.is_quoted {
            expression(word, reading);
        }
    }
    let Some((name, rest)) = command.name_and_rest() else {
        return;
    };
    let text = name.text.as_str();
    // `%` alone is a command, not an operator.
    let starts_expression = name.is_quoted && !command.is_called
        || text != "%"
            && text.starts_with(|c: char| {
                matches!(
                    c,
                    '$' | '[' | '-' | '!' | '@' | ',' | '+' | '*' | '/' | '%' | '=' | '.' | '<'
                ) || c.is_ascii_digit()
            });
    if command.is_called && text.starts_with('$') {
        reading.hide(COMPUTED);
    } else if command.is_argument && !looks_called(text) {
        // Words in parentheses after a method are its arguments.
    } else if text.contains('=') {
        // An entry of a table of values, `@{key=value}`.
    } else if !starts_expression || command.is_called {
        named(text, rest, depth, reading);
    }
}

/// Whether a word in parentheses is a command: a bare word there is one.
fn looks_called(text: &str) -> bool {
    cmdlets::find(text).is_some() || text.contains('-')
}

/// Judges variables and calls of methods inside one word.
fn expression(word: &Word, reading: &mut Reading) {
    // These types make or start code, whatever the method is called.
    const MAKERS: [&str; 7] = [
        "scriptblock",
        "reflection",
        "assembly",
        "runspace",
        "activator",
        "marshal",
        "process]",
    ];
    let lower = word.text.to_ascii_lowercase();
    if lower.starts_with("$env:") && !word.is_assigned {
        reading.see(Deed::ReadFile(ENVIRONMENT.to_owned()));
    }
    if !word.is_invoked {
        return;
    }
    if MAKERS.iter().any(|maker| lower.contains(maker)) {
        reading.hide(RUNS_TEXT);
        return;
    }
    let method = lower.rsplit(['.', ':']).next().unwrap_or_default();
    let Some(call) = cmdlets::method(method) else {
        reading.hide(METHOD);
        return;
    };
    match call.takes.first().map(|operand| operand.role) {
        // What it does, it does to its object.
        None => {
            if let Some(deed) = deed_of(call.does, word.text.clone()) {
                reading.see(deed);
            }
        }
        Some(role @ (Role::Url | Role::UrlSend)) => {
            let address = word.argument.clone().unwrap_or_default();
            see_or_hide(deed_on(role, address), reading);
        }
        Some(role) => {
            let argument = word.argument.clone();
            see_or_hide(argument.and_then(|text| deed_on(role, text)), reading);
        }
    }
}

fn see_or_hide(deed: Option<Deed>, reading: &mut Reading) {
    match deed {
        Some(deed) => reading.see(deed),
        None => reading.hide(COMPUTED),
    }
}

fn named(name: &str, rest: &[Word], depth: usize, reading: &mut Reading) {
    let Some(call) = cmdlets::find(name) else {
        program(name, rest, depth, reading);
        return;
    };
    // With this parameter a cmdlet only says what it would do.
    if rest
        .iter()
        .any(|word| is_parameter(&word.text, "whatif", 2) && !word.text.contains(':'))
    {
        return;
    }
    let arguments = Arguments::of(rest);
    let shown = || shown(name, rest);
    if call.reader == Some(CallReader::Block) {
        member(name, &arguments, reading);
    } else if call.reader == Some(CallReader::Property) {
        property(&arguments, &shown(), reading);
    } else if !call.takes.is_empty() {
        by_roles(call, &arguments, &shown(), depth, reading);
    } else if let Some(deed) = deed_of(call.does, shown()) {
        reading.see(deed);
    } else if call.does > Effect::Inspect {
        reading.hide(UNKNOWN);
    }
    if arguments.is_computed && needs_target(call) {
        reading.hide(COMPUTED);
    }
}

/// Whether a computed target leaves open what happens.
fn needs_target(call: &Call) -> bool {
    let roles = [Role::Write, Role::Delete, Role::Command];
    call.reader == Some(CallReader::Property) || roles.iter().any(|role| call.takes(*role))
}

/// Notes what happens to each argument by its role.
fn by_roles(call: &Call, arguments: &Arguments, shown: &str, depth: usize, reading: &mut Reading) {
    for (place, operand) in call.takes.iter().enumerate() {
        let role = operand.role;
        if role == Role::Read {
            let paths = arguments.targets.iter().cloned();
            paths.for_each(|path| reading.see(Deed::ReadFile(path)));
        } else if role == Role::Write {
            let path = if place == 0 {
                arguments.file()
            } else {
                arguments.destination()
            };
            see_or_hide(path.map(Deed::WriteFile), reading);
        } else if role == Role::Move {
            reading.see(Deed::DeleteFile(arguments.file().unwrap_or_default()));
        } else if role == Role::Delete {
            delete(arguments, reading);
        } else if role == Role::Url {
            fetch(arguments, reading);
        } else if role == Role::UrlSend {
            reading.see(Deed::Send(arguments.address().unwrap_or_default()));
        } else if role == Role::Command {
            start(arguments, shown, reading);
        } else if role == Role::PowerShell {
            match arguments.targets.as_slice() {
                [text] if !text.contains('$') => reading.absorb(read_at(text, depth + 1)),
                _ => reading.hide(RUNS_TEXT),
            }
        }
    }
}

fn property(arguments: &Arguments, shown: &str, reading: &mut Reading) {
    if arguments.targets.iter().any(|path| is_registry(path)) {
        reading.see(Deed::Persist(shown.to_owned()));
    } else {
        see_or_hide(arguments.file().map(Deed::WriteFile), reading);
    }
}

/// `% Delete`: the method of that name is called on each object; `% Name` only shows a property.
fn member(name: &str, arguments: &Arguments, reading: &mut Reading) {
    if cmdlets::canonical(name) != "foreach-object" {
        return;
    }
    let named = arguments.value_of("membername");
    let Some(member) = named.or_else(|| arguments.targets.first().cloned()) else {
        return;
    };
    match cmdlets::method(&member.to_ascii_lowercase()) {
        Some(call) if call.takes(Role::DeleteTree) => {
            reading.see(Deed::DeleteTree(String::new()));
            reading.hide(COMPUTED);
        }
        Some(call) if !call.takes.is_empty() => reading.hide(COMPUTED),
        Some(call) => reading.deeds.extend(deed_of(call.does, member)),
        None if arguments.targets.len() > 1 => reading.hide(METHOD),
        None => {}
    }
}

fn delete(arguments: &Arguments, reading: &mut Reading) {
    if arguments.targets.is_empty() {
        // What is deleted comes through the pipe or from an expression.
        let everything = String::new();
        reading.see(if arguments.recurses {
            Deed::DeleteTree(everything)
        } else {
            Deed::DeleteFile(everything)
        });
        reading.hide(COMPUTED);
    }
    for path in &arguments.targets {
        let deed = if is_registry(path) {
            Deed::Persist(format!("deletes {path}"))
        } else if arguments.recurses {
            Deed::DeleteTree(path.clone())
        } else {
            Deed::DeleteFile(path.clone())
        };
        reading.see(deed);
    }
}

fn fetch(arguments: &Arguments, reading: &mut Reading) {
    let address = arguments.address().unwrap_or_default();
    let sends = arguments.value_of("method").is_some_and(|method| {
        !method.eq_ignore_ascii_case("get") && !method.eq_ignore_ascii_case("head")
    }) || arguments.value_of("body").is_some()
        || arguments.value_of("infile").is_some();
    reading.see(if sends {
        Deed::Send(address)
    } else {
        Deed::Fetch(address)
    });
    if let Some(file) = arguments
        .value_of("outfile")
        .or_else(|| arguments.value_of("destination"))
    {
        reading.see(Deed::WriteFile(file));
    }
}

fn start(arguments: &Arguments, shown: &str, reading: &mut Reading) {
    if arguments
        .value_of("verb")
        .is_some_and(|verb| verb.eq_ignore_ascii_case("runas"))
    {
        reading.see(Deed::Privilege(shown.to_owned()));
    }
    match arguments
        .value_of("filepath")
        .or_else(|| arguments.targets.first().cloned())
    {
        Some(program) => {
            let mut words = vec![program];
            words.extend(arguments.value_of("argumentlist"));
            words.extend(arguments.targets.iter().skip(1).cloned());
            reading.see(Deed::Run(words));
        }
        None => reading.hide(COMPUTED),
    }
}

/// A name that is no cmdlet is a program or a script.
fn program(name: &str, rest: &[Word], depth: usize, reading: &mut Reading) {
    let lower = name.to_ascii_lowercase();
    let base = lower.rsplit(['\\', '/']).next().unwrap_or(&lower);
    let base = base.strip_suffix(".exe").unwrap_or(base);
    let arguments: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    if base == "powershell" || base == "pwsh" {
        reading.absorb(arguments_at(&arguments, depth + 1));
    } else if base == "cmd" {
        reading.absorb(super::cmd::read_at(
            &format!("cmd {}", arguments.join(" ")),
            depth + 1,
        ));
    } else if std::path::Path::new(base)
        .extension()
        .is_some_and(|extension| extension == "ps1")
    {
        reading.hide(SCRIPT_FILE);
    } else if POWERSHELL_KEYWORDS.contains(base) {
        // The condition and the block of a keyword are commands of their own.
    } else if name.contains('$') || rest.iter().any(Word::is_computed) {
        reading.see(Deed::Run(
            std::iter::once(name)
                .chain(arguments)
                .map(str::to_owned)
                .collect(),
        ));
        reading.hide(COMPUTED);
    } else if super::cmd::knows(base) {
        reading.absorb(super::cmd::read_at(
            &format!("{base} {}", arguments.join(" ")),
            depth + 1,
        ));
    } else {
        reading.see(Deed::Run(
            std::iter::once(name)
                .chain(arguments)
                .map(str::to_owned)
                .collect(),
        ));
    }
}

/// Reads such arguments, `depth` commands deep inside others.
pub(crate) fn arguments_at(arguments: &[&str], depth: usize) -> Reading {
    let mut reading = Reading::default();
    if arguments.is_empty() {
        // Without arguments it runs what it reads.
        reading.hide(RUNS_TEXT);
    }
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let Some(name) = argument.strip_prefix(['-', '/']) else {
            // Without a parameter the rest is a command.
            let text: Vec<&str> = std::iter::once(*argument).chain(rest.copied()).collect();
            reading.absorb(read_at(&text.join(" "), depth));
            return reading;
        };
        let name = name.trim_start_matches('-').to_ascii_lowercase();
        let is = |full: &str, least: usize| name.len() >= least && full.starts_with(name.as_str());
        if is("command", 1) || name == "commandwithargs" || name == "cwa" {
            let text: Vec<&str> = rest.copied().collect();
            match text.as_slice() {
                ["-"] | [] => reading.hide(RUNS_TEXT),
                text => reading.absorb(read_at(&text.join(" "), depth)),
            }
            return reading;
        } else if is("encodedcommand", 1) && !is("executionpolicy", 2) || name == "ec" {
            match rest.next().and_then(|encoded| words::decode(encoded)) {
                Some(text) => reading.absorb(read_at(&text, depth + 1)),
                None => reading.hide(ENCODED),
            }
        } else if is("executionpolicy", 2) || name == "ep" {
            // The policy holds for this process only; the command itself is judged.
            rest.next();
        } else if is("file", 1) {
            reading.hide(SCRIPT_FILE);
            return reading;
        } else if is("noprofile", 3)
            || is("noninteractive", 4)
            || is("nologo", 3)
            || is("sta", 3)
            || is("mta", 3)
            || is("noexit", 3)
            || is("login", 1)
            || is("version", 1)
            || is("help", 1)
            || name == "?"
        {
            // These change how it starts, not what it does.
        } else if is("windowstyle", 1)
            || is("inputformat", 2)
            || is("outputformat", 1)
            || is("workingdirectory", 2)
            || is("configurationname", 3)
        {
            rest.next();
        } else {
            reading.hide(UNKNOWN);
        }
    }
    reading
}

/// The arguments of a cmdlet, sorted.
struct Arguments {
    /// Words that belong to no parameter, or to one that names a path.
    targets: Vec<String>,
    /// Other parameters with their values.
    values: Vec<(String, String)>,
    recurses: bool,
    is_computed: bool,
}

impl Arguments {
    fn of(rest: &[Word]) -> Self {
        let mut arguments = Self {
            targets: Vec::new(),
            values: Vec::new(),
            recurses: false,
            is_computed: false,
        };
        let mut words = rest.iter().peekable();
        while let Some(word) = words.next() {
            let parameter = word
                .text
                .strip_prefix('-')
                .filter(|name| !word.is_quoted && name.starts_with(|c: char| c.is_alphabetic()));
            let Some(parameter) = parameter else {
                arguments.target(word);
                continue;
            };
            let parameter = parameter.to_ascii_lowercase();
            if "recurse".starts_with(parameter.as_str()) {
                arguments.recurses = true;
            } else if POWERSHELL_SWITCHES.iter().any(|switch| {
                parameter.len() >= 2
                    && parameter != "verb"
                    && switch.starts_with(parameter.as_str())
            }) || parameter.contains(':')
            {
                // A switch has no value of its own.
            } else if let Some(value) = words.next_if(|next| !next.is_parameter()) {
                if POWERSHELL_TARGETS
                    .iter()
                    .any(|path| path.starts_with(parameter.as_str()))
                {
                    arguments.target(value);
                }
                arguments.is_computed |= value.is_computed();
                arguments.values.push((parameter, value.text.clone()));
            }
        }
        arguments
    }

    fn target(&mut self, word: &Word) {
        self.is_computed |= word.is_computed();
        for path in word.text.split(',').filter(|path| !path.is_empty()) {
            self.targets.push(path.trim_matches(['\'', '"']).to_owned());
        }
    }

    fn value_of(&self, parameter: &str) -> Option<String> {
        self.values
            .iter()
            .find(|(name, _)| name.len() >= 3 && parameter.starts_with(name.as_str()))
            .map(|(_, value)| value.clone())
    }

    fn file(&self) -> Option<String> {
        self.targets.first().cloned()
    }

    fn destination(&self) -> Option<String> {
        self.value_of("destination")
            .or_else(|| self.targets.get(1).cloned())
    }

    fn address(&self) -> Option<String> {
        self.value_of("uri")
            .or_else(|| self.value_of("source"))
            .or_else(|| self.file())
    }
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

fn is_registry(path: &str) -> bool {
    let upper = path.to_ascii_uppercase();
    ["HKLM:", "HKCU:", "HKCR:", "HKU:", "REGISTRY::", "HKEY_"]
        .iter()
        .any(|hive| upper.starts_with(hive))
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
