//! Names of sensitive files that one command prints and the next one opens.
//!
//! `find ~ -name id_rsa` only prints where keys lie; `| xargs cat` then reads them without ever
//! naming one. So a listing hands on the sensitive names it may print, and whoever takes words
//! from it (`xargs`, `$(…)`, `read`) is judged by them as well.

use super::roles::operand_roles;
use super::{GUARDS, Line};
use crate::act::Act;
use crate::follow::value::{Arg, NAMES_MAX, Stream, Taint, Value};
use crate::follow::walk::Walk;
use crate::knowledge::languages::Names;
use crate::knowledge::names::{
    LIST_OPTIONS, PRINT_ANYWHERE, PRINT_LINES, PRINT_MATCHES, PRINT_PROGRAMS, PRINT_WORDS,
    SEARCHING_PROGRAMS, SOUGHT_SECRET_WORDS,
};
use crate::knowledge::{Effect, PathKind, Role};
use crate::place::below::Look;
use crate::place::{HOLE, JOB, mark_home};
use crate::score::Score;

/// How sensitive a place must be for its name to be followed.
const SENSITIVE: Score = Score::new(600);

/// Words of one file that are looked at as names.
const FILE_WORDS_MAX: usize = 64;

/// How the words of a listing say which names it prints.
#[derive(Clone, Copy, Debug)]
enum Prints {
    /// The words themselves, where they are patterns or whole paths.
    Words,
    /// What matches the first word, below the others.
    Matches,
    /// What matches any word, anywhere.
    Anywhere,
    /// Lines of what it reads that match the first word.
    Lines,
    /// Where a program lies.
    Programs,
}

/// Programs that print names of files.
static LISTINGS: &[(&Names, Prints)] = &[
    (&PRINT_WORDS, Prints::Words),
    (&PRINT_MATCHES, Prints::Matches),
    (&PRINT_ANYWHERE, Prints::Anywhere),
    (&PRINT_LINES, Prints::Lines),
    (&PRINT_PROGRAMS, Prints::Programs),
];

impl Walk<'_> {
    /// Returns the sensitive names that a command may print.
    pub(crate) fn printed_names(&self, line: &Line<'_>) -> Vec<String> {
        let words = || line.read.operands.iter().map(|arg| arg.text.as_str());
        let listing = LISTINGS
            .iter()
            .find(|(names, _)| names.contains(line.row.name) || names.contains(line.name));
        let mut names: Vec<String> = match listing.map(|(_, prints)| *prints) {
            Some(Prints::Words) => words().take(NAMES_MAX).map(str::to_owned).collect(),
            Some(Prints::Matches) => {
                let (pattern, roots) = (words().next(), words().skip(1).take(NAMES_MAX));
                let roots: Vec<&str> = roots.collect();
                let roots = if roots.is_empty() { vec!["."] } else { roots };
                let ending = line.read.value(&["-e", "--extension"]);
                let ending =
                    ending.map(|ending| format!(".{}", ending.text.trim_start_matches('.')));
                let below = |root: &str| {
                    let root = root.trim_end_matches('/').to_owned();
                    let pattern = ending.as_deref().or(pattern).unwrap_or("");
                    spellings(pattern).map(move |name| format!("{root}/{HOLE}/{name}"))
                };
                let keys = roots
                    .iter()
                    .filter_map(|root| self.found_below(root, pattern, line));
                let keys: Vec<String> = keys.collect();
                roots.into_iter().flat_map(below).chain(keys).collect()
            }
            Some(Prints::Anywhere) => words().take(NAMES_MAX).flat_map(anywhere).collect(),
            Some(Prints::Lines) if line.stdin.connected && line.stdin.text.is_none() => {
                words().take(1).flat_map(anywhere).collect()
            }
            Some(Prints::Programs) => {
                let guards = words().filter(|word| GUARDS.contains(word));
                guards
                    .map(|guard| format!("~/.local/bin/{guard}"))
                    .collect()
            }
            Some(Prints::Lines) | None => Vec::new(),
        };
        // What filters lines hands their names on.
        if matches!(line.does, Effect::Compute | Effect::Read | Effect::Inspect) {
            names.extend(line.stdin.names.iter().cloned());
        }
        self.sensitive(names)
    }

    /// Returns the most sensitive file that a search by name finds in `root`, hidden ones if it is told to.
    fn found_below(&self, root: &str, pattern: Option<&str>, line: &Line<'_>) -> Option<String> {
        let words = line.args.iter().map(|arg| arg.text.as_str());
        let mut options = words.filter(|word| word.starts_with('-'));
        let unhides = options.any(|word| match word.strip_prefix("--") {
            Some(name) => matches!(name, "hidden" | "unrestricted"),
            None => word.contains(['H', 'u']),
        });
        let all = pattern.is_none_or(|pattern| matches!(pattern, "" | "." | ".*" | "*"));
        let look = Look {
            skips_hidden: !unhides,
            only: pattern
                .filter(|_| !all)
                .map(|name| format!("*{name}*"))
                .into_iter()
                .collect(),
            ..Look::default()
        };
        self.ground.sensitive_below(root, &look)
    }

    /// Keeps the names of places that hold secrets or guard something.
    pub(crate) fn sensitive(&self, names: Vec<String>) -> Vec<String> {
        let mut kept: Vec<String> = names
            .into_iter()
            .take(FILE_WORDS_MAX)
            .filter(|name| {
                let place = self.ground.place(name);
                let holds = matches!(
                    place.kind,
                    PathKind::Credential
                        | PathKind::Environment
                        | PathKind::Process
                        | PathKind::History
                );
                holds && place.read >= SENSITIVE
                    || place.kind == PathKind::Guard && place.write >= SENSITIVE
            })
            .collect();
        kept.truncate(NAMES_MAX);
        kept
    }

    /// Returns the files whose lines a command prints.
    pub(crate) fn read_from(&self, line: &Line<'_>) -> Vec<String> {
        if !matches!(line.does, Effect::Read | Effect::Compute) {
            return Vec::new();
        }
        let roles = operand_roles(line.row, line.read);
        let operands = line.read.operands.iter().zip(roles);
        let read = operands.filter(|(arg, role)| *role == Some(Role::Read) && !arg.vague());
        let read = read.map(|(arg, _)| self.ground.place(&arg.text).path);
        let before = line.stdin.files.iter().cloned();
        read.take(NAMES_MAX).chain(before).take(NAMES_MAX).collect()
    }

    /// Adds to a stream what the files hold that it was read from, where this session wrote them: sensitive
    /// names, words that are options, and the number of a process that it started.
    pub(crate) fn out_of_files(&mut self, mut stream: Stream) -> Stream {
        if stream.text.is_some() {
            return stream;
        }
        let files = std::mem::take(&mut stream.files);
        if let [file] = files.as_slice() {
            let held = self.may_hold(file);
            let is_job = |held: &Stream| {
                let text = held.text.as_deref().unwrap_or("").trim_end();
                text.chars().eq([HOLE, JOB]) && !held.taint.uncertain
            };
            let sure = !held.is_empty() && !self.memory.is_doubtful(file);
            if sure && held.iter().all(is_job) {
                stream.text = Some(format!("{HOLE}{JOB}"));
                return stream;
            }
        }
        for path in files {
            for held in self.may_hold(&path) {
                let Some(text) = held.text else {
                    stream.taint.computed = true;
                    continue;
                };
                stream.taint.computed |= text.trim_start().starts_with('-');
                let words = text.split(|c: char| c.is_whitespace() || "\"',;:=()[]{}".contains(c));
                let paths = words.filter(|word| word.contains(['/', '.']));
                let paths: Vec<String> = paths.take(FILE_WORDS_MAX).map(mark_home).collect();
                stream.names.extend(self.sensitive(paths));
            }
        }
        stream.names.truncate(NAMES_MAX);
        stream
    }

    /// Judges files that a list names which this session wrote: `tar -T list`.
    pub(crate) fn reads_listed(&mut self, line: &Line<'_>) {
        let given = line.read.hits.iter();
        let given = given.filter(|hit| LIST_OPTIONS.contains(hit.name));
        let lists: Vec<String> = given
            .filter_map(|hit| hit.value.as_ref())
            .map(|value| self.ground.place(&value.text).path)
            .collect();
        if lists.is_empty() {
            return;
        }
        let listed = self.out_of_files(Stream {
            files: lists,
            ..Stream::unknown(Taint::default())
        });
        for path in listed.names {
            self.reads(&Arg::literal(path, line.span), line.row.name);
        }
    }

    /// Judges a search for secrets through a whole home or machine. Inside the project it is how
    /// people find what they must not commit.
    pub(crate) fn seeks_secrets(&mut self, line: &Line<'_>) {
        if !SEARCHING_PROGRAMS.contains(line.row.name) || line.stdin.connected {
            return;
        }
        let given = line.read.value(&["-e", "--regexp"]);
        let skipped = usize::from(given.is_none());
        let Some(pattern) = given.or(line.read.operands.first().copied()) else {
            return;
        };
        let lower = pattern.text.to_ascii_lowercase();
        if !SOUGHT_SECRET_WORDS.iter().any(|word| lower.contains(word)) {
            return;
        }
        let here = Arg::literal(".", line.span);
        let mut roots: Vec<&Arg> = line.read.operands.iter().skip(skipped).copied().collect();
        if roots.is_empty() {
            roots.push(&here);
        }
        for root in roots {
            let place = self.place(&root.text);
            let whole = matches!(place.kind, PathKind::Home | PathKind::Root)
                || matches!(
                    place.path.as_str(),
                    "/home" | "/Users" | "/etc" | "/var" | "/opt"
                );
            if whole {
                let act = Act::new(Effect::Secret, line.row.name, self.here(root.span))
                    .because("searches a home or a whole machine for secrets");
                self.note(act.on(place.path));
            }
        }
    }

    /// `read name`, `mapfile name`: a variable gets what the command reads.
    pub(crate) fn reads_into_variables(&mut self, line: &Line<'_>) {
        if !matches!(line.name, "read" | "mapfile" | "readarray") {
            return;
        }
        let given = line.stdin.text.as_deref().map(str::trim_end);
        for operand in &line.read.operands {
            if let Some(name) = line.stdin.names.first() {
                let value = Value {
                    items: Some(vec![name.clone()]),
                    taint: line.stdin.taint,
                };
                self.assign(&operand.text, value);
            } else if line.stdin.taint.secret && given.is_none() {
                let taint = Taint {
                    command: true,
                    ..line.stdin.taint
                };
                self.assign(&operand.text, Value::unknown(taint));
            } else {
                let text = given.map_or_else(|| HOLE.to_string(), str::to_owned);
                if line.stdin.taint.data && given.is_none() {
                    let value = Value {
                        items: Some(vec![text.clone()]),
                        taint: line.stdin.taint,
                    };
                    self.assign(&operand.text, value);
                }
                self.variable_effect(&operand.text, &Arg::literal(text, operand.span));
            }
        }
    }
}

/// Returns what a pattern for names may find, wherever it lies.
fn anywhere(pattern: &str) -> impl Iterator<Item = String> {
    spellings(pattern).map(|name| format!("{HOLE}/{name}"))
}

/// Returns a pattern for lines as a pattern for names: `\.env$` finds `.env` and `*.env`.
fn spellings(pattern: &str) -> impl Iterator<Item = String> {
    let plain: String = pattern
        .chars()
        .filter(|letter| !matches!(letter, '\\' | '^' | '$' | '(' | ')'))
        .collect();
    let plain = plain.trim_matches('/').to_owned();
    [format!("*{plain}"), plain].into_iter()
}
