//! Recognises commands that print the names of settings and nothing of their values.
//!
//! `cut -d= -f1 .env` is not one of them: a line without the sign is passed on whole, and a key that goes over
//! several lines has many of those. So the lines have to be chosen by how a name begins them or by the sign, and
//! what stands behind the name must be cut off, by the same command or by a later one of the pipeline.

use super::scope::{Names, Scope};
use super::walk::Walk;
use crate::shell::syntax::{Command, Part, RedirectKind, Simple};

/// Longest pattern that is read.
const PATTERN_BYTES_MAX: usize = 256;
/// Shortest beginning of a name that no line of a key has: it holds `_`, which keys are not written with.
const LITERAL_MIN: usize = 3;

/// Programs whose words are read here.
const READERS: &[&str] = &["cat", "grep", "egrep", "cut", "sed", "awk", "gawk", "mawk"];

/// Patterns of lines that hold no setting.
const LEFT_OUT: &[&str] = &["^#", "^ *#", "^\\s*#", "^$", "^\\s*$", "#"];

/// What a command of a pipeline does with the lines it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Passes on all of them: `cat .env`.
    Passes,
    /// Leaves out comments and empty lines.
    Leaves,
    /// Passes on those that begin with a name or have the sign.
    Chooses,
    /// Passes on what stands before the sign.
    Cuts,
    /// Both of these.
    Names,
}

impl Walk<'_> {
    /// Notes whether the command at hand lets out nothing but names; returns what was noted before.
    pub(super) fn prints_names(&mut self, command: &Command) -> Names {
        let alone = self.scope.naming(std::slice::from_ref(command)) > 0;
        let only = alone || self.scope.names.piped;
        let before = self.scope.names.only;
        self.scope.names = Names { only, piped: false };
        // What the pipeline said was for this command alone.
        Names {
            only: before,
            piped: false,
        }
    }
}

impl Scope {
    /// The same as [`print_names`], where the words mean what they say.
    pub(super) fn naming(&self, commands: &[Command]) -> usize {
        if self.has_own_commands() {
            return 0;
        }
        print_names(commands)
    }
}

/// Returns how many commands of a pipeline, from the first on, see more than the names of settings; none if
/// what comes out of them may be more.
fn print_names(commands: &[Command]) -> usize {
    let mut chosen = false;
    for (index, command) in commands.iter().enumerate() {
        let Command::Simple(simple) = command else {
            return 0;
        };
        match stage(simple, index == 0) {
            Some(Stage::Passes) if index == 0 => {}
            Some(Stage::Leaves) => {}
            Some(Stage::Chooses) => chosen = true,
            Some(Stage::Cuts) if chosen => return index + 1,
            Some(Stage::Names) => return index + 1,
            Some(Stage::Passes | Stage::Cuts) | None => return 0,
        }
    }
    0
}

fn stage(simple: &Simple, is_first: bool) -> Option<Stage> {
    let redirected = simple.redirects.iter().any(|redirect| {
        let complains = redirect.descriptor == Some(2);
        let reads = redirect.kind == RedirectKind::Read && redirect.descriptor.is_none();
        let usual = complains || reads && is_first;
        !usual || literal(&redirect.target.parts).is_none()
    });
    if redirected || !simple.assignments.is_empty() {
        return None;
    }
    let (program, arguments) = simple.words.split_first()?;
    let program = literal(&program.parts).filter(|it| READERS.contains(&it.as_str()))?;
    let words: Option<Vec<String>> = arguments.iter().map(|word| literal(&word.parts)).collect();
    let arguments = words?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match program.as_str() {
        "cat" => {
            let plain = arguments.iter().all(|word| !word.starts_with('-'));
            plain.then_some(Stage::Passes)
        }
        "grep" | "egrep" => grep(&arguments, program == "egrep"),
        "cut" => is_cut(&arguments).then_some(Stage::Cuts),
        "sed" => sed(&arguments),
        "awk" | "gawk" | "mawk" => awk(&arguments),
        _ => None,
    }
}

/// Returns the text of a word in which nothing is put in by the shell.
fn literal(parts: &[Part]) -> Option<String> {
    parts.iter().try_fold(String::new(), |text, part| {
        if let Part::Plain(more) | Part::Quoted(more) = part {
            Some(text + more)
        } else {
            None
        }
    })
}

/// `grep [-EnhHso] pattern files`. Every other option may print more lines than those that match.
fn grep(arguments: &[&str], extended: bool) -> Option<Stage> {
    let (options, rest): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|word| word.starts_with('-'));
    let letters: String = options
        .iter()
        .map(|option| option.trim_start_matches('-'))
        .collect();
    let bundled = options
        .iter()
        .all(|option| !option.starts_with("--") && option.len() > 1);
    let pattern = rest.first()?;
    if bundled && letters.contains('v') && letters.chars().all(|letter| "vEhs".contains(letter)) {
        return LEFT_OUT.contains(pattern).then_some(Stage::Leaves);
    }
    if !bundled || !letters.chars().all(|letter| "EGPnhHsoi".contains(letter)) {
        return None;
    }
    if *pattern == "=" && !letters.contains('o') {
        return Some(Stage::Chooses);
    }
    let extended = extended || letters.contains(['E', 'P']);
    let ignores_case = letters.contains('i');
    // `grep -o '^[A-Z_]*'`: of any other line nothing but its first capital letters.
    let alone = pattern.strip_prefix('^').map(|name| format!("{name}="));
    let alone = alone.is_some_and(|name| name_and_sign(&name, extended) == Some(""));
    if letters.contains('o') && alone && !ignores_case {
        return Some(Stage::Names);
    }
    match (letters.contains('o'), begins(pattern, extended)?) {
        (true, Begins::Name { whole: true }) if !ignores_case => Some(Stage::Names),
        (false, Begins::Name { .. }) if !ignores_case => Some(Stage::Chooses),
        (false, Begins::Literal) => Some(Stage::Chooses),
        _ => None,
    }
}

/// What a line has to begin with to match a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    /// A name in capital letters with the sign behind it; `whole` where nothing else matches.
    Name { whole: bool },
    /// A known part of a name.
    Literal,
}

/// Reads a pattern that begins at the start of a line with a name.
fn begins(pattern: &str, extended: bool) -> Option<Begins> {
    if pattern.len() > PATTERN_BYTES_MAX || pattern.contains('\n') {
        return None;
    }
    let rest = pattern.strip_prefix('^')?;
    let or = if extended { "|" } else { "\\|" };
    if let Some(behind) = name_and_sign(rest, extended) {
        let name = Begins::Name {
            whole: behind.is_empty(),
        };
        return (!behind.contains(or)).then_some(name);
    }
    // `^(DB|API)_`
    let group = rest.strip_prefix('(').filter(|_| extended);
    if let Some((inside, behind)) = group.and_then(|group| group.split_once(')')) {
        let each = inside
            .split('|')
            .all(|one| is_literal(&format!("{one}{behind}")));
        return (each && !behind.contains('|')).then_some(Begins::Literal);
    }
    let mut alternatives = pattern.split(or);
    let anchored = |one: &str| one.strip_prefix('^').is_some_and(is_literal);
    (!rest.contains(['(', ')']) && alternatives.all(anchored)).then_some(Begins::Literal)
}

/// Steps over a name that is described by classes of capital letters, and the sign behind it.
fn name_and_sign(pattern: &str, extended: bool) -> Option<&str> {
    let mut rest = pattern;
    let mut classes = 0;
    while let Some(class) = rest.strip_prefix('[') {
        let (inside, behind) = class.split_once(']')?;
        let capital = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit();
        let ranges = inside.replace("A-Z", "").replace("0-9", "");
        if inside.is_empty() || !ranges.chars().all(|it| capital(it) || it == '_') {
            return None;
        }
        let repeats: &[&str] = if extended { &["+", "*"] } else { &["\\+", "*"] };
        rest = repeats
            .iter()
            .find_map(|sign| behind.strip_prefix(sign))
            .unwrap_or(behind);
        classes += 1;
    }
    // Looks ahead for the sign.
    let rest = if rest == "(?==)" { "=" } else { rest };
    (classes > 0).then(|| rest.strip_prefix('=')).flatten()
}

/// Whether a pattern begins with enough of a name, read letter by letter.
fn is_literal(pattern: &str) -> bool {
    let is_name = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    let mut name: String = pattern.chars().take_while(is_name).collect();
    let behind = pattern.get(name.len()..).unwrap_or("");
    if behind.starts_with(['*', '?', '{', '\\']) {
        // The last letter may be missing.
        name.pop();
    }
    let ends = behind.starts_with('=') && !behind.starts_with("=*") && name.len() > 1;
    ends || name.len() >= LITERAL_MIN && name.contains('_')
}

/// `cut -d= -f1`, without a file.
fn is_cut(arguments: &[&str]) -> bool {
    let joined = arguments.join(" ");
    let (mut field, mut sign) = (false, false);
    let mut rest = joined.as_str();
    while !rest.is_empty() {
        rest = rest.trim_start();
        let known: &[(&str, bool)] = &[
            ("-d =", true),
            ("-d=", true),
            ("--delimiter==", true),
            ("-f 1", false),
            ("-f1", false),
            ("--fields=1", false),
        ];
        let Some((word, is_sign)) = known.iter().find(|(word, _)| {
            let behind = rest.strip_prefix(word);
            behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(' '))
        }) else {
            return false;
        };
        let seen = if *is_sign { &mut sign } else { &mut field };
        if std::mem::replace(seen, true) {
            return false;
        }
        rest = rest.get(word.len()..).unwrap_or("");
    }
    field && sign
}

/// `sed 's/=.*/…/'` cuts, `sed -n 's/^\([A-Z_]*\)=.*/\1/p'` chooses, too.
fn sed(arguments: &[&str]) -> Option<Stage> {
    let at = arguments.iter().position(|word| !word.starts_with('-'))?;
    let (options, rest) = arguments.split_at_checked(at)?;
    let extended = options
        .iter()
        .any(|option| matches!(*option, "-E" | "-r" | "-nE" | "-nr" | "-En"));
    let quiet = options
        .iter()
        .any(|option| matches!(*option, "-n" | "-nE" | "-nr" | "-En"));
    let known = |option: &&str| matches!(*option, "-E" | "-r" | "-n" | "-nE" | "-nr" | "-En");
    let (script, files) = rest.split_first()?;
    let body = script.strip_prefix('s')?;
    let mut letters = body.chars();
    let sign = letters.next().filter(|sign| "/|#,".contains(*sign))?;
    let mut parts = letters.as_str().split(sign);
    let (pattern, replacement, flags) = (parts.next()?, parts.next()?, parts.next()?);
    if !options.iter().all(known) || parts.next().is_some() || script.len() > PATTERN_BYTES_MAX {
        return None;
    }
    let no_files = files.iter().all(|file| !file.starts_with('-'));
    if !quiet && matches!(pattern, "=.*" | "=.*$") && files.is_empty() {
        let constant = !replacement.contains(['&', '\\', '\n']);
        return (constant && matches!(flags, "" | "g")).then_some(Stage::Cuts);
    }
    // Only lines in which something was cut off are printed.
    if quiet && flags == "p" && matches!(pattern, "=.*" | "=.*$") && no_files {
        let constant = !replacement.contains(['&', '\\', '\n']);
        return constant.then_some(Stage::Names);
    }
    let name = pattern.strip_prefix('^')?;
    let (open, close) = if extended {
        ("(", ")=")
    } else {
        ("\\(", "\\)=")
    };
    let inside = name
        .strip_prefix(open)?
        .strip_suffix(".*")?
        .strip_suffix(close)?;
    let named = name_and_sign(&format!("{inside}="), extended) == Some("");
    let plain = replacement.replacen("\\1", "", 1);
    (quiet && flags == "p" && named && no_files && !plain.contains(['&', '\\', '\n']))
        .then_some(Stage::Names)
}

/// `awk -F= '{print $1}'` cuts, with `/^[A-Z_]+=/` before it it chooses, too.
fn awk(arguments: &[&str]) -> Option<Stage> {
    let (["-F", "=", script, files @ ..] | ["-F=", script, files @ ..]) = arguments else {
        return None;
    };
    let script: String = script
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect();
    let before = script.strip_suffix("{print$1}")?;
    let no_options = files
        .iter()
        .all(|file| !file.starts_with('-') && !file.contains('='));
    match before
        .strip_prefix('/')
        .and_then(|pattern| pattern.strip_suffix('/'))
    {
        None if before.is_empty() && files.is_empty() => Some(Stage::Cuts),
        Some(pattern) if no_options => match begins(pattern, true)? {
            Begins::Name { .. } | Begins::Literal => Some(Stage::Names),
        },
        _ => None,
    }
}
