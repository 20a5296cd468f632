//! What a command line of the Windows command interpreter would do.
//!
//! The line is cut at `&`, `|`, parentheses and line ends, with carets and quotes undone. Each
//! command is looked up in a table; programs that are not in it are reported as run.

mod commands;

use std::collections::HashMap;
use std::sync::LazyLock;

use self::commands::{COMMANDS, Means, Otherwise, RUNNERS};
use super::cursor::Cursor;
use super::{CODE_BYTES_MAX, Deed, Reading, TOO_LONG};

const COMPUTED: &str = "a Windows command assembled from variables";
const RUNS_CODE: &str = "a Windows program that runs other code";
const BATCH_FILE: &str = "a batch file";
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
    for command in split(text) {
        match set {
            LoopSet::None => judge(&command.words, depth, &mut reading),
            LoopSet::Words => {}
            // Such a loop runs what stands in quotes and goes through its output.
            LoopSet::Command => {
                let text = command.words.join(" ");
                let inner = text.trim_matches(['\'', '`', '"']);
                reading.absorb(read_at(inner, depth + 1));
            }
        }
        set = LoopSet::after(&command.words);
        for file in command.writes {
            if !file.eq_ignore_ascii_case("nul") && !file.starts_with('&') {
                reading.see(Deed::WriteFile(file));
            }
        }
    }
    reading
}

/// What the parentheses after `for … in` hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LoopSet {
    None,
    Words,
    Command,
}

impl LoopSet {
    fn after(words: &[String]) -> Self {
        let is = |word: Option<&String>, wanted: &str| {
            word.is_some_and(|word| word.eq_ignore_ascii_case(wanted))
        };
        let opens =
            words.iter().any(|word| word.eq_ignore_ascii_case("for")) && is(words.last(), "in");
        if !opens {
            Self::None
        } else if words.iter().any(|word| word.eq_ignore_ascii_case("/f")) {
            Self::Command
        } else {
            Self::Words
        }
    }
}

/// Names no Unix system has.
const WINDOWS_ONLY: &str = "
    vssadmin bcdedit diskpart schtasks wevtutil icacls takeown taskkill tasklist regsvr32 rundll32
    mshta bitsadmin robocopy xcopy wmic fsutil ipconfig systeminfo findstr setx driverquery gpresult
    gpupdate wbadmin cacls cscript wscript tskill netsh regedit secedit auditpol bootrec chkdsk
    deltree mklink manage-bde tracert";

/// Names that need Windows paths or switches to be taken for Windows commands.
const SHARED: &str = "
    del erase rd rmdir mkdir md copy move ren type dir format attrib cipher shutdown reg sc net cd
    start certutil cmd call where find sort more set path runas sfc dism label replace expand
    powershell";

/// Those of them that take formats with percent signs on Unix.
const FORMATTING: &str = "find sort more set where type path expand";

/// Whether a command line is for `cmd` and not for a Unix shell.
pub fn looks_like(text: &str) -> bool {
    if text.len() > CODE_BYTES_MAX {
        return false;
    }
    split(text).iter().any(|command| {
        let Some((first, rest)) = command.words.split_first() else {
            return false;
        };
        let is_program = first.to_ascii_lowercase().ends_with(".exe");
        let name = base_name(first);
        let listed = |list: &str| list.split_whitespace().any(|known| known == name);
        // Formats such as `%T%p` of Unix tools are no variables.
        let evidence = rest
            .iter()
            .any(|word| is_windows_word(word) && (!is_variable(word) || !listed(FORMATTING)));
        let by_form = match name.as_str() {
            "reg" => {
                rest.first().is_some_and(|form| {
                    ["add", "delete", "query", "import", "export", "save"]
                        .iter()
                        .any(|known| form.eq_ignore_ascii_case(known))
                }) && rest
                    .get(1)
                    .is_some_and(|key| key.to_ascii_uppercase().starts_with("HK"))
            }
            "net" => rest.first().is_some_and(|form| {
                ["user", "localgroup", "stop", "start", "use", "share"]
                    .iter()
                    .any(|known| form.eq_ignore_ascii_case(known))
            }),
            "sc" => {
                rest.first().is_some_and(|form| {
                    ["stop", "start", "delete", "create", "config", "query"]
                        .iter()
                        .any(|known| form.eq_ignore_ascii_case(known))
                }) && rest.len() >= 2
            }
            "format" => rest.first().is_some_and(|drive| is_drive(drive)),
            "certutil" => rest.iter().any(|word| {
                matches!(
                    word.to_ascii_lowercase().as_str(),
                    "-urlcache" | "/urlcache" | "-decode"
                )
            }),
            _ => false,
        };
        listed(WINDOWS_ONLY)
            || by_form
            || (is_program && !first.contains('/'))
            || (listed(SHARED) && evidence)
            || glued_switch(first).is_some()
    })
}

/// `/s`, `/q`, `/f:x`, `C:\x`, `\\server\x` and `%NAME%` exist on Windows only.
fn is_windows_word(word: &str) -> bool {
    let is_share = word
        .strip_prefix("\\\\")
        .is_some_and(|host| host.starts_with(|c: char| c.is_ascii_alphanumeric()));
    is_switch(word) || has_drive(word) || is_share || is_variable(word)
}

fn is_switch(word: &str) -> bool {
    let Some(letters) = word.strip_prefix('/') else {
        return false;
    };
    let name = letters
        .split(':')
        .next()
        .unwrap_or(letters)
        .to_ascii_lowercase();
    // Several in one word look like a path, unless they are the usual ones.
    let glued = name.contains('/')
        && name
            .split('/')
            .all(|letter| letter.len() == 1 && "sqfaypd".contains(letter));
    let single = (1..=2).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphabetic());
    glued || single || matches!(name.as_str(), "mir" | "purge" | "grant" | "delete" | "add")
}

fn is_drive(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.as_str(), "" | "\\" | "/")
}

fn has_drive(word: &str) -> bool {
    let mut chars = word.trim_start_matches('"').chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), None | Some('\\'))
}

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

struct Command {
    words: Vec<String>,
    writes: Vec<String>,
}

/// Cuts a line into commands, with quotes and carets undone.
fn split(text: &str) -> Vec<Command> {
    let mut cursor = Cursor::new(text);
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut writes = Vec::new();
    let mut word: Option<String> = None;
    let mut redirects = false;
    let mut in_quotes = false;
    loop {
        let c = cursor.bump();
        let ends_word = match c {
            None => true,
            Some(c) => {
                !in_quotes && (c.is_whitespace() || matches!(c, '&' | '|' | '(' | ')' | '>' | '<'))
            }
        };
        if let (true, Some(word)) = (ends_word, word.take_if(|_| ends_word)) {
            if std::mem::take(&mut redirects) {
                writes.push(word);
            } else {
                words.push(word);
            }
        }
        match c {
            None => break,
            Some('"') => {
                in_quotes = !in_quotes;
                word.get_or_insert_default();
            }
            Some('^') if !in_quotes => {
                if let Some(escaped) = cursor.bump().filter(|c| *c != '\n' && *c != '\r') {
                    word.get_or_insert_default().push(escaped);
                }
            }
            Some('>') if !in_quotes => {
                cursor.eat('>');
                redirects = true;
                if cursor.eat('&') {
                    cursor.bump();
                    redirects = false;
                }
                // A number before the sign is a stream, not a word.
                if words.last().is_some_and(|last| {
                    last.len() == 1 && last.starts_with(|c: char| c.is_ascii_digit())
                }) {
                    words.pop();
                }
            }
            Some('&' | '|' | '(' | ')' | '\n' | '\r') if !in_quotes => {
                commands.push(Command {
                    words: std::mem::take(&mut words),
                    writes: std::mem::take(&mut writes),
                });
            }
            Some(_) if ends_word => {}
            Some(c) => word.get_or_insert_default().push(c),
        }
    }
    commands.push(Command { words, writes });
    commands.retain(|command| !command.words.is_empty() || !command.writes.is_empty());
    commands
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
    let built_in = [
        "del", "erase", "rd", "rmdir", "dir", "copy", "move", "cd", "echo", "format",
    ];
    let known = built_in
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known));
    (known && is_switch(switches)).then_some((name, switches))
}

/// The tables by name; a text may hold many thousand names.
static BY_NAME: LazyLock<HashMap<&str, Means>> = LazyLock::new(|| {
    let runners = RUNNERS
        .split_whitespace()
        .map(|name| (name, Means::RunsCode));
    COMMANDS.into_iter().chain(runners).collect()
});

fn find(name: &str) -> Option<Means> {
    match name {
        "cmd" => Some(Means::Interpreter),
        "powershell" | "pwsh" => Some(Means::PowerShell),
        _ => BY_NAME.get(name).copied(),
    }
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
    match find(&name) {
        Some(means) => apply(means, &name, &arguments, depth, reading),
        None if is_batch_file(&name) => reading.hide(BATCH_FILE),
        None => {
            let words = std::iter::once(first.clone()).chain(arguments).collect();
            reading.see(Deed::Run(words));
        }
    }
}

fn is_batch_file(name: &str) -> bool {
    std::path::Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "bat" || extension == "cmd")
}

fn apply(means: Means, name: &str, arguments: &[String], depth: usize, reading: &mut Reading) {
    let has = |wanted: &[&str]| {
        arguments.iter().any(|word| {
            wanted.iter().any(|known| {
                word.eq_ignore_ascii_case(known)
                    || word.to_ascii_lowercase().starts_with(&format!("{known}:"))
            })
        })
    };
    let targets: Vec<&String> = arguments
        .iter()
        .filter(|word| !word.starts_with('/') || word.len() > 24)
        .collect();
    let shown = || shown(name, arguments);
    if targets.iter().any(|word| is_variable(word)) && !matches!(means, Means::Read | Means::Show) {
        reading.hide(COMPUTED);
    }
    match means {
        Means::Read => special_read(name, arguments, &shown(), reading),
        Means::Show => {
            for path in &targets {
                reading.see(Deed::ReadFile((*path).clone()));
            }
        }
        Means::Unless(wanted, otherwise) if has(wanted) => otherwise.see(shown(), reading),
        // What a loop goes through and its body are commands of their own.
        Means::Unless(..) | Means::For => {}
        Means::Only(wanted, _) if has(wanted) || arguments.is_empty() => {}
        Means::Only(_, otherwise) if name == "net" => net(arguments, otherwise, &shown(), reading),
        Means::Only(_, otherwise) | Means::Always(otherwise) => otherwise.see(shown(), reading),
        Means::Delete | Means::RemoveDirectory => delete(name, arguments, &targets, reading),
        Means::WriteLast => {
            reading.see(Deed::WriteFile(
                targets.last().map(ToString::to_string).unwrap_or_default(),
            ));
        }
        Means::WriteFirst => {
            if let Some(path) = targets.first() {
                reading.see(Deed::WriteFile((*path).clone()));
            }
        }
        Means::Move => match targets.as_slice() {
            [from, .., to] => {
                reading.see(Deed::DeleteFile((*from).clone()));
                reading.see(Deed::WriteFile((*to).clone()));
            }
            _ => reading.hide(COMPUTED),
        },
        Means::Mirror => {
            let target = targets.get(1).map(ToString::to_string).unwrap_or_default();
            let deletes = has(&["/mir", "/purge", "/move", "/mov"]);
            reading.see(if deletes {
                Deed::DeleteTree(target)
            } else {
                Deed::WriteFile(target)
            });
        }
        Means::Fetch => fetch(name, arguments, &shown(), reading),
        Means::RunsCode => runner(name, arguments, &shown(), reading),
        Means::Prefix => judge(arguments, depth + 1, reading),
        Means::If => judge(after_condition(arguments), depth + 1, reading),
        Means::Start => start(arguments, depth, reading),
        Means::Interpreter => interpreter(arguments, depth, reading),
        Means::PowerShell => {
            let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
            reading.absorb(super::powershell::arguments_at(&words, depth + 1));
        }
    }
}

fn delete(name: &str, arguments: &[String], targets: &[&String], reading: &mut Reading) {
    let goes_down = name == "deltree"
        || arguments.iter().any(|word| {
            word.starts_with('/')
                && word
                    .to_ascii_lowercase()
                    .split('/')
                    .any(|letters| letters == "s")
        });
    for path in targets {
        let everything = matches!(path.rsplit('\\').next(), Some("*" | "*.*"));
        reading.see(if goes_down || everything {
            Deed::DeleteTree((*path).clone())
        } else {
            Deed::DeleteFile((*path).clone())
        });
    }
    if targets.is_empty() && !arguments.is_empty() {
        reading.hide(COMPUTED);
    }
}

impl Otherwise {
    fn see(self, shown: String, reading: &mut Reading) {
        match self {
            Self::Control => reading.see(Deed::Control(shown)),
            Self::Kill => reading.see(Deed::Kill(shown)),
            Self::Persist => reading.see(Deed::Persist(shown)),
            Self::Privilege => reading.see(Deed::Privilege(shown)),
            Self::Wipe => reading.see(Deed::WipeDisk(shown)),
            Self::WipeAndHide => {
                reading.see(Deed::WipeDisk(shown));
                reading.hide(INPUT);
            }
        }
    }
}

/// A few reading commands change something with certain words.
fn special_read(name: &str, arguments: &[String], shown: &str, reading: &mut Reading) {
    let assigns = arguments.iter().any(|word| word.contains('='));
    let changes_attribute = arguments
        .iter()
        .any(|word| word.starts_with(['+', '-']) && word.len() == 2);
    if matches!(name, "assoc" | "ftype") && assigns {
        reading.see(Deed::Persist(shown.to_owned()));
    } else if name == "attrib" && changes_attribute {
        reading.see(Deed::Privilege(shown.to_owned()));
    }
}

fn net(arguments: &[String], otherwise: Otherwise, shown: &str, reading: &mut Reading) {
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
        _ => otherwise.see(shown.to_owned(), reading),
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

fn runner(name: &str, arguments: &[String], shown: &str, reading: &mut Reading) {
    let lower: Vec<String> = arguments
        .iter()
        .map(|word| word.to_ascii_lowercase())
        .collect();
    let has = |wanted: &str| lower.iter().any(|word| word == wanted);
    if name == "wmic" {
        if has("delete") {
            let shadow = has("shadowcopy");
            reading.see(if shadow {
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
        return;
    }
    if let Some(address) = arguments.iter().find(|word| word.contains("://")) {
        reading.see(Deed::Fetch(address.clone()));
    }
    reading.hide(RUNS_CODE);
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
    let program = arguments
        .iter()
        .position(|word| !word.starts_with('/') && !word.is_empty())
        .unwrap_or(arguments.len());
    judge(
        arguments.get(program..).unwrap_or_default(),
        depth + 1,
        reading,
    );
}

fn interpreter(arguments: &[String], depth: usize, reading: &mut Reading) {
    let run = arguments.iter().position(|word| {
        let lower = word.to_ascii_lowercase();
        lower == "/c" || lower == "/k" || lower == "/r"
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
