//! Effects of a command line of the Windows command interpreter.
//!
//! The line is cut at `&`, `|`, parentheses and line ends, with carets and quotes undone. Each
//! command is looked up in a table; programs that are not in it are reported as run.

mod bound;
mod looks;
mod loops;
mod places;
mod words;

use self::bound::{Bound, LoopSet};
pub use self::looks::looks_like;
pub(crate) use self::looks::{is_certain, is_switch};
use self::places::{
    Assigned, assigns, assigns_path, enters, put_place_in, secret_variables, with_holes,
};
use self::words::split;
use super::{CODE_BYTES_MAX, Deed, Reading, TOO_LONG, deed_of, deed_on};
use crate::knowledge::languages::{CMD_COMMANDS, CMD_GLUED, Call};
use crate::knowledge::names::{NETSH_ORDERS, WINDOWS_HALTERS};
use crate::knowledge::{self, CallReader, Effect, Flag, Lifts, Role, Row, Style};

const COMPUTED: &str = "a Windows command assembled from variables";
const RUNS_CODE: &str = "a Windows program that runs other code";
const INPUT: &str = "a Windows tool that takes commands from elsewhere";
const TOO_NESTED: &str = "Windows commands inside each other, too deep";

/// Commands inside commands (`cmd /c`, `for … do`) are followed this deep.
const DEPTH_MAX: usize = 8;

/// Whether a command or program name is one of Windows.
pub(crate) fn knows(name: &str) -> bool {
    find(name).is_some()
}

/// Reads a command line of `cmd`.
pub fn read(text: &str) -> Reading {
    read_at(text, 0)
}

/// Reads a command line that stands `depth` commands deep inside others.
pub(crate) fn read_at(text: &str, depth: usize) -> Reading {
    if text.len() > CODE_BYTES_MAX {
        return Reading::hidden(TOO_LONG);
    }
    if depth > DEPTH_MAX {
        return Reading::hidden(TOO_NESTED);
    }
    let mut reading = Reading::default();
    let mut set = LoopSet::None;
    let mut bound = Bound::new();
    let assigned = Assigned::in_text(text);
    for mut command in split(text) {
        let files = command.writes.iter_mut().chain(&mut command.reads);
        let words = command.words.iter_mut().chain(files);
        words.for_each(|word| put_place_in(word, &assigned));
        let next = LoopSet::after(&command.words);
        for command in bound::forms(command, &bound) {
            if let Some((letter, values)) = set.bind(&command.words) {
                bound::bind(&mut bound, letter, values);
            }
            let first = reading.deeds.len();
            match &set {
                LoopSet::None => judge(&command.words, depth, &mut reading),
                LoopSet::Words { .. } | LoopSet::Count { .. } => {}
                // Such a loop runs what stands in quotes and goes through its output.
                LoopSet::Command { .. } => {
                    let text = command.words.join(" ");
                    let inner = text.trim_matches(['\'', '`', '"']);
                    reading.absorb(read_at(inner, depth + 1));
                }
            }
            if command.is_fed {
                reading.feed(first);
            }
            // Where a variable leads that nothing sets here is not known.
            let mut files = command.writes.iter().chain(&command.reads);
            if files.any(|file| is_variable(file) || is_delayed(file)) {
                reading.hide(COMPUTED);
            }
            for file in command.reads {
                if !file.eq_ignore_ascii_case("nul") {
                    reading.see(Deed::ReadFile(file));
                }
            }
            for file in command.writes {
                if !file.eq_ignore_ascii_case("nul") && !file.starts_with('&') {
                    reading.see(Deed::WriteFile(file));
                }
            }
        }
        set = next;
    }
    if loops::multiplies(text) {
        reading.see(Deed::Multiply(text.chars().take(SHOWN_BYTES_MAX).collect()));
    }
    reading.pair_outputs();
    reading
}

/// How much of a text is shown.
const SHOWN_BYTES_MAX: usize = 80;

fn is_variable(word: &str) -> bool {
    let mut parts = word.split('%');
    parts.next();
    parts.next().is_some_and(|name| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '~')
    }) && parts.next().is_some()
}

/// Whether a word holds a variable that is expanded when the command runs.
fn is_delayed(word: &str) -> bool {
    word.matches('!').count() > 1
}

fn base_name(word: &str) -> String {
    let lower = word.trim_start_matches('@').to_ascii_lowercase();
    let base = lower.rsplit('\\').next().unwrap_or(&lower);
    let base = [".exe", ".com"]
        .iter()
        .find_map(|end| base.strip_suffix(end))
        .unwrap_or(base);
    base.to_owned()
}

/// `del/s/q` glues switches to the name of a built-in command.
fn glued_switch(word: &str) -> Option<(&str, &str)> {
    let at = word.find('/')?;
    let (name, switches) = word.split_at_checked(at)?;
    let known = CMD_GLUED.contains(&name.to_ascii_lowercase());
    (known && is_switch(switches)).then_some((name, switches))
}

/// What a name means to `cmd`: one of its own commands, or a program of Windows.
#[derive(Clone, Copy)]
enum Meaning {
    Command(&'static Call),
    Program(&'static Row),
}

impl Meaning {
    const fn does(self) -> Effect {
        match self {
            Self::Command(call) => call.does,
            Self::Program(row) => row.does,
        }
    }

    const fn reader(self) -> Option<CallReader> {
        match self {
            Self::Command(call) => call.reader,
            Self::Program(_) => None,
        }
    }

    const fn flags(self) -> &'static [Flag] {
        match self {
            Self::Command(call) => call.flags,
            Self::Program(row) => row.flags,
        }
    }
}

/// Looks a name up among the commands of `cmd`, then among the programs of Windows, whose options
/// begin with a slash. Those that work on files are run like any other program.
fn find(name: &str) -> Option<Meaning> {
    const BY_ROW: [Effect; 7] = [
        Effect::Inspect,
        Effect::Kill,
        Effect::Exec,
        Effect::System,
        Effect::Persist,
        Effect::Privilege,
        Effect::Wipe,
    ];
    if let Some(call) = CMD_COMMANDS.get(name) {
        return Some(Meaning::Command(call));
    }
    let program = knowledge::program(name)?;
    let row = &program.row;
    let is_windows = !program.has_subs && row.style == Style::Slash && BY_ROW.contains(&row.does);
    is_windows.then_some(Meaning::Program(row))
}

fn judge(words: &[String], depth: usize, reading: &mut Reading) {
    let Some((first, rest)) = words.split_first() else {
        return;
    };
    if depth > DEPTH_MAX {
        reading.hide(TOO_NESTED);
        return;
    }
    if first.starts_with(':') {
        return;
    }
    let mut arguments = rest.to_vec();
    let first = match parted_name(first) {
        Some((name, pieces)) => {
            arguments.splice(0..0, pieces);
            name
        }
        None => first,
    };
    let name = match glued_switch(first) {
        Some((name, switches)) => {
            arguments.insert(0, switches.to_owned());
            base_name(name)
        }
        None => base_name(first),
    };
    if is_variable(first) || first.contains('!') {
        reading.hide(COMPUTED);
        return;
    }
    if let Some(meaning) = find(&name) {
        apply(meaning, &name, &arguments, depth, reading);
        return;
    }
    if is_batch_file(&name) && !first.contains(['\\', '/']) {
        // A script in the working directory comes before all others.
        let script = format!("./{}", first.trim_start_matches('@'));
        let words = std::iter::once(script).chain(arguments.iter().cloned());
        reading.see(Deed::Run(words.map(|word| with_holes(&word)).collect()));
        if !is_known(&name) {
            return;
        }
    }
    let words = std::iter::once(first.to_owned()).chain(arguments);
    let words = words.map(|word| with_holes(&word)).collect();
    reading.see(Deed::Run(words));
}

/// Whether a script has the name of a known program, as `npm.cmd` has.
fn is_known(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    knowledge::program(stem).is_some()
}

/// `rd,/s,C:\x`: a comma, a semicolon or an equals sign ends the name of a command like a blank.
fn parted_name(word: &str) -> Option<(&str, Vec<String>)> {
    let (name, rest) = word.split_once(SEPARATORS)?;
    let base = base_name(glued_switch(name).map_or(name, |(name, _)| name));
    let is_known = find(&base).is_some() || knowledge::program(&base).is_some();
    is_known.then(|| (name, pieces(rest).collect()))
}

/// What separates the words of a command beside blanks.
const SEPARATORS: [char; 3] = [',', ';', '='];

fn pieces(word: &str) -> impl Iterator<Item = String> + '_ {
    let pieces = word.split(SEPARATORS).filter(|piece| !piece.is_empty());
    pieces.map(str::to_owned)
}

/// The words that a command of `cmd` itself takes: it cuts them at commas too. A word with a blank
/// stood in quotes, which keep it together.
fn parted(call: &Call, arguments: &[String]) -> Option<Vec<String>> {
    // A Unix shell ends `find -exec` by a semicolon behind a backslash.
    let holds =
        |word: &String| word.contains(SEPARATORS) && !word.contains(' ') && word.as_str() != "\\;";
    let takes_files = !call.takes.is_empty() || call.reader == Some(CallReader::Mirror);
    (takes_files && arguments.iter().any(holds)).then(|| {
        let parts = arguments.iter().flat_map(|word| {
            if holds(word) {
                pieces(word).collect()
            } else {
                vec![word.clone()]
            }
        });
        parts.collect()
    })
}

fn is_batch_file(name: &str) -> bool {
    std::path::Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "bat" || extension == "cmd")
}

fn apply(meaning: Meaning, name: &str, arguments: &[String], depth: usize, reading: &mut Reading) {
    if meaning.does() <= Effect::Read && meaning.reader().is_none() {
        for variable in arguments.iter().flat_map(|word| secret_variables(word)) {
            reading.see(Deed::Run(vec!["printenv".to_owned(), variable]));
        }
    }
    let parted = match meaning {
        Meaning::Command(call) => parted(call, arguments),
        Meaning::Program(_) => None,
    };
    let arguments = parted.as_deref().unwrap_or(arguments);
    // Two slashes begin the name of another machine.
    let is_operand =
        |word: &&String| !word.starts_with('/') || word.starts_with("//") || word.len() > 24;
    let targets: Vec<&String> = arguments.iter().filter(is_operand).collect();
    let shown = shown(name, arguments);
    let only_reads = meaning.does() <= Effect::Read && meaning.flags().is_empty();
    let computed = targets
        .iter()
        .any(|word| is_variable(word) || is_delayed(word));
    if computed && !(only_reads && meaning.reader().is_none()) {
        reading.hide(COMPUTED);
    }
    let given: Vec<&Flag> = meaning
        .flags()
        .iter()
        .filter(|flag| has(arguments, flag.names))
        .collect();
    for effect in given.iter().flat_map(|flag| flag.effects) {
        see(*effect, &shown, reading);
    }
    let only_shows = given.iter().any(|flag| {
        flag.help && arguments.len() == 1
            || flag.lifts != Lifts::Nothing && says_show(name, arguments, flag.names)
    });
    // Without words, a command that shows something by a word only does that.
    let shows_alone = arguments.is_empty()
        && meaning
            .flags()
            .iter()
            .any(|flag| flag.lifts != Lifts::Nothing);
    if only_shows || shows_alone {
        return;
    }
    match meaning {
        Meaning::Program(row) if row.does == Effect::Exec => runs_code(arguments, reading),
        Meaning::Program(row)
            if row.does == Effect::Kill && arguments.iter().any(|it| halts(it)) =>
        {
            reading.see(Deed::Halt(shown));
        }
        Meaning::Program(row) => see(row.does, &shown, reading),
        Meaning::Command(call) => match call.reader {
            Some(reader) => read_command(reader, call, name, arguments, &targets, depth, reading),
            None if call.takes.is_empty() && call.does == Effect::Exec => {
                runs_code(arguments, reading);
            }
            None if call.takes.is_empty() => see(call.does, &shown, reading),
            None => by_roles(call, arguments, &targets, depth, reading),
        },
    }
}

/// Whether one of the words is given, alone or with a value behind a colon.
fn has(arguments: &[String], wanted: &[&str]) -> bool {
    arguments.iter().any(|word| {
        let name = word.split(':').next().unwrap_or(word);
        let is =
            |known: &&str| word.eq_ignore_ascii_case(known) || name.eq_ignore_ascii_case(known);
        wanted.iter().any(is)
    })
}

/// Whether a word that only shows something stands where a command takes its order from: first, or
/// behind the words that lead there. Further back it is one more argument of what is done.
fn says_show(name: &str, arguments: &[String], wanted: &[&str]) -> bool {
    let is_wanted = |word: &String| has(std::slice::from_ref(word), wanted);
    let Some(at) = arguments.iter().position(is_wanted) else {
        return false;
    };
    let before = arguments.get(..at).unwrap_or_default();
    match name {
        "netsh" => !before
            .iter()
            .any(|word| NETSH_ORDERS.contains(word.to_ascii_lowercase().as_str())),
        "fsutil" => at <= 1,
        "shutdown" => arguments.len() == 1,
        _ => at == 0,
    }
}

/// Notes an effect that does not depend on the words.
fn see(effect: Effect, shown: &str, reading: &mut Reading) {
    // What changes the system is told like what changes a service.
    let effect = if effect == Effect::System {
        Effect::Control
    } else {
        effect
    };
    match deed_of(effect, shown.to_owned()) {
        Some(deed) => reading.see(deed),
        None if effect <= Effect::Read => {}
        None => reading.hide(RUNS_CODE),
    }
}

/// Notes what happens to each word by its role.
fn by_roles(
    call: &Call,
    arguments: &[String],
    targets: &[&String],
    depth: usize,
    reading: &mut Reading,
) {
    let roles: Vec<Role> = call.takes.iter().map(|operand| operand.role).collect();
    let text = |word: Option<&&String>| word.map(ToString::to_string).unwrap_or_default();
    match (roles.as_slice(), targets) {
        ([Role::Read], paths) => {
            let paths = paths.iter().map(ToString::to_string);
            paths.for_each(|path| reading.see(Deed::ReadFile(path)));
        }
        ([role @ (Role::Delete | Role::DeleteTree)], _) => {
            delete(*role, arguments, targets, reading);
        }
        ([Role::Text, Role::Read], paths) => {
            // The text that is looked for stands first, unless a switch says it.
            let says = |word: &String| {
                let lower = word.to_ascii_lowercase();
                lower.starts_with("/c:") || lower.starts_with("/g:")
            };
            let skipped = usize::from(!arguments.iter().any(says));
            // `/f:list` names a file that names the files.
            if has(arguments, &["/f"]) {
                reading.hide(COMPUTED);
            }
            let paths = paths.iter().skip(skipped).map(ToString::to_string);
            paths.for_each(|path| reading.see(Deed::ReadFile(path)));
        }
        ([Role::Read, Role::Write], paths) => {
            let sources = paths.len().saturating_sub(1).max(1);
            // `copy a+b c` puts files together.
            let read = paths.iter().take(sources).flat_map(|it| it.split('+'));
            read.for_each(|path| reading.see(Deed::ReadFile(path.to_owned())));
            reading.see(Deed::WriteFile(text(paths.last())));
        }
        ([Role::Write], []) => {}
        ([Role::Create], paths) => {
            let made = paths
                .iter()
                .map(|path| super::made(path.replace('\\', "/")));
            reading.deeds.extend(made);
        }
        ([Role::Write], [first, ..]) => reading.see(Deed::WriteFile((*first).clone())),
        ([Role::Text, role], paths) => reading.deeds.extend(deed_on(*role, text(paths.last()))),
        ([from, to], [first, .., last]) => {
            reading.deeds.extend(deed_on(*from, (*first).clone()));
            reading.deeds.extend(deed_on(*to, (*last).clone()));
        }
        ([Role::PowerShell], _) => {
            let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
            reading.absorb(super::powershell::arguments_at(&words, depth + 1));
        }
        _ => reading.hide(COMPUTED),
    }
}

/// Reads a command whose words a table cannot describe.
fn read_command(
    reader: CallReader,
    call: &Call,
    name: &str,
    arguments: &[String],
    targets: &[&String],
    depth: usize,
    reading: &mut Reading,
) {
    let shown = shown(name, arguments);
    match reader {
        CallReader::Attributes => {
            let changes = |word: &String| word.starts_with(['+', '-']) && word.len() == 2;
            if arguments.iter().any(changes) {
                reading.see(Deed::Privilege(shown));
            }
        }
        CallReader::Enter => enters(name, targets, reading),
        CallReader::Assign if name == "path" => assigns_path(arguments, reading),
        CallReader::Assign => assigns(arguments, reading),
        CallReader::Net => net(arguments, call.does, &shown, reading),
        CallReader::Wmic => wmic(arguments, &shown, reading),
        CallReader::Orders => {
            see(call.does, &shown, reading);
            reading.hide(INPUT);
        }
        CallReader::Mirror => {
            let target = targets.get(1).map(ToString::to_string).unwrap_or_default();
            let source = targets.first().map(ToString::to_string);
            reading.deeds.extend(source.map(Deed::ReadFile));
            reading.see(if has(arguments, &["/mir", "/purge", "/move", "/mov"]) {
                Deed::DeleteTree(target)
            } else {
                Deed::WriteFile(target)
            });
        }
        CallReader::Download => fetch(name, arguments, &shown, reading),
        CallReader::Prefix => judge(arguments, depth + 1, reading),
        CallReader::If => judge(after_condition(arguments), depth + 1, reading),
        // What a loop goes through and its body are commands of their own.
        CallReader::For => {}
        CallReader::Start => start(arguments, depth, reading),
        CallReader::Interpreter => interpreter(arguments, depth, reading),
        CallReader::Open
        | CallReader::Remove
        | CallReader::Block
        | CallReader::Job
        | CallReader::Make
        | CallReader::Property
        | CallReader::Filter
        | CallReader::Bulk
        | CallReader::Keys
        | CallReader::LoadsCode => reading.hide(RUNS_CODE),
    }
}

/// A program that runs code it loads or is given.
fn runs_code(arguments: &[String], reading: &mut Reading) {
    if let Some(address) = arguments.iter().find(|word| word.contains("://")) {
        reading.see(Deed::Fetch(address.clone()));
    }
    if let Some(entry) = arguments.iter().find(|word| halts(word)) {
        reading.see(Deed::Halt(entry.clone()));
    }
    reading.hide(RUNS_CODE);
}

/// Whether a word names a function of Windows that halts the machine, or a process without which
/// it does not go on.
fn halts(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    WINDOWS_HALTERS.iter().any(|name| lower.contains(name))
}

fn delete(role: Role, arguments: &[String], targets: &[&String], reading: &mut Reading) {
    let goes_down = role == Role::DeleteTree
        || arguments.iter().any(|word| {
            word.starts_with('/')
                && word
                    .to_ascii_lowercase()
                    .split('/')
                    .any(|letters| letters == "s")
        });
    for path in targets {
        let everything = matches!(path.rsplit('\\').next(), Some("*" | "*.*"));
        let path = path.replace('\\', "/");
        // Everything that has a dot in its name is everything.
        let path = path
            .strip_suffix("/*.*")
            .map_or(path.clone(), |all| format!("{all}/*"));
        reading.see(if goes_down || everything {
            Deed::DeleteTree(path)
        } else {
            Deed::DeleteFile(path)
        });
    }
    if targets.is_empty() && !arguments.is_empty() {
        reading.hide(COMPUTED);
    }
}

fn net(arguments: &[String], otherwise: Effect, shown: &str, reading: &mut Reading) {
    let lower: Vec<String> = arguments
        .iter()
        .map(|word| word.to_ascii_lowercase())
        .collect();
    match lower.first().map(String::as_str) {
        Some("user" | "localgroup" | "group" | "accounts") => {
            let changes = lower
                .iter()
                .skip(1)
                .any(|word| word.starts_with('/') && word != "/domain")
                || lower.len() >= 3 && lower.first().is_some_and(|form| form == "user");
            if changes {
                reading.see(Deed::Persist(shown.to_owned()));
            }
        }
        Some("use" | "share" | "start") if lower.len() == 1 => {}
        Some("use" | "share") => reading.see(Deed::Persist(shown.to_owned())),
        _ => see(otherwise, shown, reading),
    }
}

fn fetch(name: &str, arguments: &[String], shown: &str, reading: &mut Reading) {
    let lower: Vec<String> = arguments
        .iter()
        .map(|word| word.to_ascii_lowercase())
        .collect();
    let has = |wanted: &str| {
        lower
            .iter()
            .any(|word| word.trim_start_matches(['-', '/']) == wanted)
    };
    let address = arguments.iter().find(|word| word.contains("://"));
    if let Some(address) = address {
        reading.see(Deed::Fetch(address.clone()));
        if let Some(file) = arguments.last().filter(|file| *file != address) {
            reading.see(Deed::WriteFile(file.clone()));
        }
    } else if has("decode") || has("encode") || has("decodehex") || has("encodehex") {
        let source = arguments.iter().rev().nth(1).cloned();
        reading.deeds.extend(source.map(Deed::ReadFile));
        reading.see(Deed::WriteFile(
            arguments.last().cloned().unwrap_or_default(),
        ));
    } else if !(has("hashfile") || has("dump") || has("list") || has("verify") || has("?")) {
        reading.see(Deed::Persist(shown.to_owned()));
        if name == "certutil" && has("urlcache") {
            reading.hide(COMPUTED);
        }
    }
}

/// `wmic`: a system of its own, judged by its verbs.
fn wmic(arguments: &[String], shown: &str, reading: &mut Reading) {
    let lower: Vec<String> = arguments
        .iter()
        .map(|word| word.to_ascii_lowercase())
        .collect();
    let has = |wanted: &str| lower.iter().any(|word| word == wanted);
    if ["shutdown", "reboot", "win32shutdown"].into_iter().any(has) {
        reading.see(Deed::Halt(shown.to_owned()));
    } else if has("delete") {
        reading.see(if has("shadowcopy") {
            Deed::WipeDisk(shown.to_owned())
        } else {
            Deed::Control(shown.to_owned())
        });
    } else if has("call") || has("create") || has("set") {
        reading.see(Deed::Control(shown.to_owned()));
        reading.hide(RUNS_CODE);
    } else if !(has("get") || has("list")) {
        reading.hide(RUNS_CODE);
    }
}

/// The command after `if [/i] [not] condition`.
fn after_condition(arguments: &[String]) -> &[String] {
    let mut at = 0;
    let word = |at: usize| {
        arguments
            .get(at)
            .map(|word| word.to_ascii_lowercase())
            .unwrap_or_default()
    };
    while matches!(word(at).as_str(), "/i" | "not") {
        at += 1;
    }
    at += match word(at).as_str() {
        "exist" | "defined" | "errorlevel" | "cmdextversion" => 2,
        condition if condition.contains("==") => 1,
        _ => 3,
    };
    arguments.get(at..).unwrap_or_default()
}

/// `start "title" /wait program …`.
fn start(arguments: &[String], depth: usize, reading: &mut Reading) {
    // A first word with blanks stood in quotes, so it is the title.
    let is_title = |word: &String| word.contains(' ') && !word.contains(['\\', '/', '.']);
    let titles = usize::from(arguments.first().is_some_and(is_title));
    let is_program = |word: &String| !word.starts_with('/') && !word.is_empty();
    let behind = arguments.get(titles..).unwrap_or_default();
    let program = behind.iter().position(is_program).unwrap_or(behind.len());
    let words = behind.get(program..).unwrap_or_default();
    match words {
        [address] if super::is_page(address) => reading.see(super::opened(address)),
        words => judge(words, depth + 1, reading),
    }
}

fn interpreter(arguments: &[String], depth: usize, reading: &mut Reading) {
    let run = arguments.iter().position(|word| {
        let lower = word.to_ascii_lowercase();
        // Git Bash makes one slash of two.
        let lower = lower.strip_prefix('/').unwrap_or(&lower);
        matches!(lower.trim_start_matches('/'), "c" | "k" | "r") && lower.len() <= 2
    });
    match run {
        Some(run) => {
            let text = arguments.get(run + 1..).unwrap_or_default().join(" ");
            if depth >= DEPTH_MAX {
                reading.hide(TOO_NESTED);
            } else {
                reading.absorb(read_at(&text, depth + 1));
            }
        }
        // Without a command it runs what it reads.
        None => reading.hide(INPUT),
    }
}

/// A command as a person would write it, bounded.
fn shown(name: &str, arguments: &[String]) -> String {
    const SHOWN_WORDS_MAX: usize = 8;
    let words: Vec<&str> = std::iter::once(name)
        .chain(arguments.iter().take(SHOWN_WORDS_MAX).map(String::as_str))
        .collect();
    words.join(" ")
}
