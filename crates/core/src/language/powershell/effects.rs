//! What cmdlets do to what they are given: files, drives that are no disks, requests, programs.

use super::arguments::Arguments;
use super::values::Value;
use super::words::{Command, Split, Word};
use super::{COMPUTED, METHOD, RUNS_TEXT, cmdlets, cut, expressions};
use crate::knowledge::Role;
use crate::knowledge::names::{
    POWERSHELL_DRIVES, POWERSHELL_LOOKUPS, POWERSHELL_TAKERS, SECRET_VARIABLE_WORDS,
};
use crate::language::cursor::continues_name;
use crate::language::{
    Deed, ENVIRONMENT, Reading, SECRET_PART, WHOLE_ENVIRONMENT, deed_of, is_page, made, opened,
};
use crate::place::{Ground, mark_home};
use crate::score::Score;

/// Stands for a part of a command line that is known only when it runs.
pub(super) const UNKNOWN_PART: &str = "\u{fdd0}";
/// Longest word that is looked at as a path.
pub(super) const PATH_MAX: usize = 260;

/// Names of environment variables that a word puts in.
pub(super) fn environment_names(word: &Word) -> impl Iterator<Item = String> + '_ {
    word.variables.iter().filter_map(|start| {
        let rest = word.text.get(start + 1..)?;
        let is_environment = rest.get(..4)?.eq_ignore_ascii_case("env:");
        let name: String = rest
            .chars()
            .skip(4)
            .take_while(|c| continues_name(*c))
            .collect();
        (is_environment && !name.is_empty()).then(|| name.to_ascii_uppercase())
    })
}

/// Whether a pattern leaves open how a name begins, or names too little of it.
fn is_any(pattern: &str) -> bool {
    const LETTERS_MIN: usize = 3;
    let name = pattern.trim_start_matches('^');
    let known = name.chars().take_while(|c| continues_name(*c)).count();
    let is_part = |c: char| continues_name(c) || matches!(c, '*' | '.' | '$');
    known < LETTERS_MIN || !name.chars().all(is_part)
}

pub(super) fn is_secret_name(name: &str) -> bool {
    SECRET_VARIABLE_WORDS.iter().any(|sign| name.contains(sign))
}

/// Stands for a word whose text is not known, and says whether something secret is in it.
pub(super) fn unknown_word(word: &Word) -> String {
    let mut unknown = UNKNOWN_PART.to_owned();
    if environment_names(word).any(|name| is_secret_name(&name)) {
        unknown.push(SECRET_PART);
    }
    unknown
}

/// Whether a text takes up what files or the clipboard hold.
pub(super) fn reads_files(split: &Split) -> bool {
    let takes_up = |split: &Split| {
        let mut names = split.commands.iter().map(Command::name);
        names.any(|name| POWERSHELL_TAKERS.contains(cmdlets::canonical(&name).as_str()))
    };
    let mut embedded = split.embedded.iter().filter_map(|inner| cut(inner));
    takes_up(split) || embedded.any(|inner| takes_up(&inner))
}

/// `Get-ChildItem env:` shows the environment, `Get-Item env:NAME` one variable of it.
pub(super) fn environment_drive(
    cmdlet: &str,
    arguments: &Arguments,
    filter: Option<&str>,
    reading: &mut Reading,
) {
    let shows = matches!(
        cmdlets::canonical(cmdlet).as_str(),
        "get-childitem" | "get-item" | "get-itemproperty" | "get-itempropertyvalue" | "get-content"
    );
    for value in arguments.all().filter(|_| shows) {
        let Value::Known(paths) = value else { continue };
        for path in paths.iter().filter(|path| provider(path) == Some("env")) {
            let name = path.get(4..).unwrap_or("").trim_matches(['\\', '/']);
            let chosen = |pattern: &str| !is_any(pattern) && !is_secret_name(pattern);
            let filter = filter.filter(|_| name.is_empty());
            let pattern = filter.unwrap_or(name).to_ascii_uppercase();
            if chosen(&pattern) && (filter.is_some() || name.contains(['*', '?', '['])) {
                // Only variables whose names begin so are shown.
                reading.see(Deed::ReadFile(ENVIRONMENT.to_owned()));
            } else if name.is_empty() || name.contains(['*', '?', '[']) {
                reading.see(Deed::ReadFile(WHOLE_ENVIRONMENT.to_owned()));
            } else if is_secret_name(&name.to_ascii_uppercase()) {
                reading.see(Deed::Run(vec![
                    "printenv".to_owned(),
                    name.to_ascii_uppercase(),
                ]));
            }
        }
    }
}

/// Whether a cmdlet shows a secret: those that get one, and those that make one readable.
pub(super) fn shows_secret(cmdlet: &str, arguments: &Arguments) -> bool {
    let gets = |noun: &str| noun.ends_with("secret") || noun.ends_with("credential");
    let is_plain = arguments.has_any(|name| name.len() >= 3 && "asplaintext".starts_with(name));
    // What somebody has copied last may be a password.
    cmdlet == "get-clipboard"
        || cmdlet.strip_prefix("get-").is_some_and(gets)
        || is_plain && cmdlet != "convertto-securestring"
}

/// The drive of a path that is no disk: `env`, `function`, `hkcu`.
pub(super) fn provider(path: &str) -> Option<&'static str> {
    let lower = path.to_ascii_lowercase();
    let lower = lower
        .rsplit_once("::")
        .map_or(lower.as_str(), |(module, rest)| {
            if module.contains("registry") {
                "registry::"
            } else {
                rest
            }
        });
    let found = POWERSHELL_DRIVES
        .iter()
        .find(|(start, _)| lower.starts_with(start));
    found.map(|(_, name)| *name)
}

/// Notes that a path is written, or what stands in its place.
pub(super) fn written(path: String, reading: &mut Reading) {
    match provider(&path) {
        None => reading.see(Deed::WriteFile(slashed(&path))),
        Some("env") => {
            let name = path.get(4..).unwrap_or("").trim_matches(['\\', '/']);
            reading.see(Deed::SetVariable(
                name.to_ascii_uppercase(),
                UNKNOWN_PART.to_owned(),
            ));
        }
        Some("registry") => reading.see(Deed::Persist(path)),
        Some(_) => reading.hide(RUNS_TEXT),
    }
}

/// Notes that a file may be read whose name says that it is sensitive.
pub(super) fn reads_if_sensitive(text: &str, reading: &mut Reading) {
    let path = slashed(text);
    let is_path = path.contains(['/', '.', '_']) && !path.contains(['\n', '|']);
    if is_path && Ground::default().place(&mark_home(&path)).read >= SENSITIVE {
        reading.see(Deed::ReadFile(path));
    }
}

/// How sensitive a place must be for a word that may name it to count.
const SENSITIVE: Score = Score::new(600);

/// A path of Windows with slashes.
pub(super) fn slashed(path: &str) -> String {
    path.replace('\\', "/")
}

/// A word of a command line, with slashes where it is a path.
pub(super) fn slashed_word(word: &str) -> String {
    let is_drive = word.get(1..3) == Some(":\\");
    let starts = is_drive
        || [".\\", "..\\", "~\\", "\\\\"]
            .iter()
            .any(|start| word.starts_with(start));
    let is_name = |c: char| continues_name(c) || ".-@*".contains(c);
    let names = || {
        word.split('\\')
            .all(|part| part.chars().all(is_name) && !part.is_empty())
    };
    if word.contains('\\') && (starts || names()) {
        slashed(word)
    } else {
        word.to_owned()
    }
}

pub(super) fn see_or_hide(deed: Option<Deed>, reading: &mut Reading) {
    match deed {
        Some(deed) => reading.see(deed),
        None => reading.hide(COMPUTED),
    }
}

pub(super) fn property(arguments: &Arguments, shown: &str, reading: &mut Reading) {
    let paths = arguments.place();
    let drives = paths.iter().flatten().filter_map(|path| provider(path));
    if drives.into_iter().any(|drive| drive == "registry") {
        reading.see(Deed::Persist(shown.to_owned()));
        return;
    }
    match paths {
        Some(paths) => {
            for path in paths {
                written(path, reading);
            }
        }
        None => reading.hide(COMPUTED),
    }
}

/// `% Delete`: the method of that name is called on each object; `% Name` only shows a property.
pub(super) fn member(name: &str, arguments: &Arguments, reading: &mut Reading) {
    if cmdlets::canonical(name) != "foreach-object" || arguments.has_block {
        return;
    }
    let named = arguments.text_of("membername");
    let Some(member) = named.or_else(|| arguments.place()?.into_iter().next()) else {
        // A block in a variable was written where the variable got it.
        return;
    };
    if member.contains(['*', '?', '[']) {
        reading.hide(COMPUTED);
    }
    match cmdlets::method(&member.to_ascii_lowercase()) {
        Some(call) if call.takes(Role::DeleteTree) => {
            reading.see(Deed::DeleteTree(String::new()));
            reading.hide(COMPUTED);
        }
        Some(call) if !call.takes.is_empty() => reading.hide(COMPUTED),
        Some(call) => reading.deeds.extend(deed_of(call.does, member)),
        None if arguments.targets().count() > 1 => reading.hide(METHOD),
        None => {}
    }
}

/// `cd`, `Push-Location`, `Pop-Location`.
pub(super) fn enters(name: &str, arguments: &Arguments, reading: &mut Reading) {
    let name = cmdlets::canonical(name);
    if name == "pop-location" {
        reading.see(Deed::Leave);
        return;
    }
    let path = match arguments.targets().next() {
        Some(_) => {
            let path = arguments.place().and_then(|paths| paths.into_iter().next());
            let is_switch = |path: &&String| path.eq_ignore_ascii_case("/d");
            match path
                .as_ref()
                .filter(is_switch)
                .and_then(|_| arguments.destination())
            {
                // With the switch of the other shell of Windows PowerShell goes nowhere, and that one there.
                Some(behind) => behind.into_iter().next(),
                None => path,
            }
        }
        // Without a place they only show or keep where they are.
        None if arguments.is_splatted => None,
        None => Some(".".to_owned()),
    };
    let path = path.map_or_else(|| UNKNOWN_PART.to_owned(), |path| slashed(&path));
    let returns = name == "push-location";
    reading.see(Deed::Enter { path, returns });
}

pub(super) fn fetch(arguments: &Arguments, reading: &mut Reading) {
    let address = arguments.address().unwrap_or_default();
    let reads =
        |method: &String| method.eq_ignore_ascii_case("get") || method.eq_ignore_ascii_case("head");
    let sends = arguments.has("method")
        && !arguments.text_of("method").is_some_and(|it| reads(&it))
        || ["body", "infile", "form", "custommethod"]
            .iter()
            .any(|name| arguments.has(name))
        || arguments.is_splatted;
    reading.see(if sends {
        Deed::Send(address)
    } else {
        Deed::Fetch(address)
    });
    for name in ["outfile", "destination"] {
        if arguments.has(name) {
            let file = arguments.text_of(name);
            see_or_hide(file.map(|file| Deed::Download(slashed(&file))), reading);
        }
    }
}

pub(super) fn start(arguments: &Arguments, shown: &str, reading: &mut Reading) {
    if arguments.has("verb")
        && !arguments
            .text_of("verb")
            .is_some_and(|it| it.eq_ignore_ascii_case("open"))
    {
        reading.see(Deed::Privilege(shown.to_owned()));
    }
    let before = reading.deeds.len();
    match arguments.command_line().filter(|_| !arguments.is_splatted) {
        Some(words) if matches!(words.as_slice(), [address] if is_page(address)) => {
            reading.deeds.extend(words.first().map(|it| opened(it)));
        }
        Some(words) => reading.see(Deed::Run(
            words.iter().map(|word| slashed_word(word)).collect(),
        )),
        None => reading.hide(COMPUTED),
    }
    if arguments.has("redirectstandardinput") {
        reading.feed(before);
    }
    for name in ["redirectstandardoutput", "redirectstandarderror"] {
        if arguments.has(name) {
            see_or_hide(
                arguments
                    .text_of(name)
                    .map(|file| Deed::WriteFile(slashed(&file))),
                reading,
            );
        }
    }
}

/// Notes variables of the environment that a command reads.
pub(super) fn variables(command: &Command, reading: &mut Reading) {
    let name = cmdlets::canonical(&command.name());
    let shows = name.starts_with('$') || name.starts_with("write-") || name.is_empty();
    let fetches = cmdlets::find(&name).is_some_and(|call| call.takes(Role::Url))
        || POWERSHELL_LOOKUPS.contains(name.as_str());
    for word in &command.words {
        for name in environment_names(word) {
            if fetches && is_secret_name(&name) {
                // It goes into the address, or into a header.
                reading.see(Deed::Send(String::new()));
            } else if shows && !word.is_assigned && is_secret_name(&name) {
                reading.see(Deed::Run(vec!["printenv".to_owned(), name]));
            } else if !word.is_assigned {
                reading.see(Deed::ReadFile(ENVIRONMENT.to_owned()));
            }
        }
    }
}

/// `New-Object Type`: types that only hold values may be made.
pub(super) fn makes(rest: &[Word], arguments: &Arguments, reading: &mut Reading) {
    // `New-Object Type(arguments)`: the arguments stand in brackets right behind the type.
    let called = rest
        .first()
        .filter(|word| word.is_invoked && !word.is_computed());
    let types = called.map(|word| vec![word.text.clone()]);
    let types = types
        .or_else(|| arguments.texts_of("typename"))
        .or_else(|| arguments.place());
    let pure = |types: Vec<String>| types.iter().take(1).all(|name| expressions::is_pure(name));
    if !types.is_some_and(pure) || arguments.has("comobject") {
        reading.hide(METHOD);
    }
}

/// Writes of what is taken from elsewhere. Without a destination it goes where the command runs.
pub(super) fn puts(arguments: &Arguments, reading: &mut Reading) {
    match arguments.destination() {
        Some(paths) => {
            for path in paths {
                written(path, reading);
            }
        }
        None => reading.hide(COMPUTED),
    }
}

/// Notes that what a cmdlet is given goes away from its place.
pub(super) fn moves_away(arguments: &Arguments, reading: &mut Reading) {
    let Some(paths) = arguments.place() else {
        reading.see(Deed::DeleteFile(String::new()));
        reading.hide(COMPUTED);
        return;
    };
    for path in paths {
        reading.see(Deed::DeleteFile(slashed(&path)));
    }
}

/// Notes the module that a cmdlet loads: a file of code by its path. A name without a path is that of an
/// installed module.
pub(super) fn loads(arguments: &Arguments, reading: &mut Reading) {
    let others = [
        "assembly",
        "moduleinfo",
        "fullyqualifiedname",
        "pssession",
        "cimsession",
    ];
    let paths = arguments
        .place()
        .filter(|_| !arguments.is_splatted && !others.iter().any(|name| arguments.has(name)));
    let Some(paths) = paths else {
        reading.hide(COMPUTED);
        return;
    };
    for path in paths
        .iter()
        .filter(|path| path.contains(['\\', '/', '.', ':', '~']))
    {
        let path = slashed(path);
        let lower = path.to_ascii_lowercase();
        let is_code = [".psm1", ".ps1"].iter().any(|end| lower.ends_with(end));
        if is_code {
            let place = if path.contains('/') { "" } else { "./" };
            reading.see(Deed::Run(vec![format!("{place}{path}")]));
        } else {
            // What a directory or a manifest leads to is not seen.
            reading.hide(RUNS_TEXT);
        }
    }
}

/// Notes what a cmdlet writes: the file at its place, or the link it makes there.
pub(super) fn writes(cmdlet: &str, arguments: &Arguments, reading: &mut Reading) {
    let place = match (arguments.place(), arguments.text_of("name")) {
        (Some(paths), Some(name)) => {
            Some(paths.iter().map(|path| format!("{path}/{name}")).collect())
        }
        (None, Some(name)) if !arguments.has("path") => Some(vec![name]),
        (place, _) => place,
    };
    let is_temporary = cmdlets::canonical(cmdlet) == "new-temporaryfile";
    if is_temporary && arguments.targets().next().is_none() {
        return;
    }
    let kind = arguments.text_of("itemtype").unwrap_or_default();
    let is_directory =
        cmdlets::canonical(cmdlet) == "mkdir" || kind.eq_ignore_ascii_case("directory");
    match place {
        Some(paths) => {
            for path in paths {
                if is_directory && provider(&path).is_none() {
                    reading.see(made(slashed(&path)));
                } else {
                    written(path, reading);
                }
            }
        }
        None => reading.hide(COMPUTED),
    }
    let links = ["symboliclink", "junction", "hardlink"];
    if links.iter().any(|known| kind.eq_ignore_ascii_case(known)) {
        let target = arguments
            .text_of("target")
            .or_else(|| arguments.text_of("value"));
        see_or_hide(target.map(|path| Deed::Link(slashed(&path))), reading);
    }
}
