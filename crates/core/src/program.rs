//! What running a program with these words does, by the tables.
//!
//! The path of one simple command: find the program ([`resolve`]), find its subcommand, read the
//! options by the row's grammar, then let every option and operand say by its role what happens to
//! it. Programs whose words a table cannot describe have a reader of their own in `readers`.

mod code;
mod files;
mod network;
pub(crate) mod options;
mod output;
mod readers;
mod variables;

use crate::act::{Act, Breadth};
use crate::knowledge::{self, Effect, Program, Role, Row, Value};
use crate::language;
use crate::place::HOLE;
use crate::score::Score;
use crate::shell::value::{Arg, Stream, Taint};
use crate::shell::walk::{Walk, Writing};
use code::interpreter_role;
use options::{Hit, Options};

/// Directories whose programs are known by their name alone.
const PROGRAM_DIRECTORIES: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/games",
    "/snap/bin",
    "/etc/init.d",
];
/// Ends of directories that hold the tools of a project.
const TOOL_DIRECTORIES: &[&str] = &[
    "node_modules/.bin",
    ".venv/bin",
    "venv/bin",
    "env/bin",
    "vendor/bin",
    ".cargo/bin",
    "go/bin",
    ".local/bin",
    ".bun/bin",
];

/// What the first word of a command names.
enum Named {
    Program(&'static Program, String),
    File,
    Unknown(String),
    Unreadable,
}

impl Walk<'_> {
    /// Follows a command whose first word is not a function or alias.
    pub(crate) fn program(&mut self, args: &[Arg], stdin: &Stream) -> Stream {
        let Some((first, rest)) = args.split_first() else {
            return Stream::empty();
        };
        if first.taint.uncertain {
            self.unreadable("which program runs depends on what ran before", first.span);
        }
        match resolve(first) {
            Named::Unreadable => {
                let mut act = Act::new(Effect::Exec, "", first.span)
                    .because("which program runs cannot be known")
                    .on(first.shown());
                act.clarity = Score::new(300);
                self.note(act);
                Stream::unknown(Taint::default())
            }
            Named::File => self.run_file(first, rest, stdin),
            Named::Unknown(name) => self.unknown_program(&name, first, rest),
            Named::Program(program, name) => self.known_program(program, &name, first, rest, stdin),
        }
    }

    fn unknown_program(&mut self, name: &str, first: &Arg, rest: &[Arg]) -> Stream {
        // Asking a program what it is changes nothing, whatever it is.
        let asks = matches!(rest, [only] if matches!(only.text.as_str(), "--version" | "--help" | "-V" | "-h" | "help" | "version" | "-version" | "-help"));
        let span = self.here(first.span);
        if asks {
            self.note(Act::new(Effect::Inspect, name.to_owned(), span));
        } else if let Some(effect) = self.inferred(rest) {
            let mut act = Act::new(effect, name.to_owned(), span).on(name);
            act.certainty = Score::new(760);
            self.note(act);
        } else {
            self.note(Act::new(Effect::Unknown, name.to_owned(), span).on(name));
        }
        Stream::unknown(Taint::default())
    }

    /// Infers what an unknown program does from its words: `x list`, `x describe y` only look. One
    /// word that could mean more, or an option that could, and nothing is inferred.
    fn inferred(&self, rest: &[Arg]) -> Option<Effect> {
        let table = knowledge::VERBS
            .iter()
            .find(|verbs| verbs.name == "unknown")?;
        let mut found: Option<Effect> = None;
        for (index, arg) in rest.iter().enumerate() {
            if arg.vague() && index < 3 || arg.taint.secret || arg.delivers.is_some() {
                return None;
            }
            let words = arg.text.to_ascii_lowercase();
            for word in words
                .trim_start_matches('-')
                .split(['-', '_', ':', '/', '.', '='])
                .take(8)
            {
                match table.effect(word) {
                    Some(effect) if effect >= Effect::VcsDiscard => return None,
                    Some(effect)
                        if index < 3
                            && !arg.text.starts_with('-')
                            && found.is_none()
                            && words.starts_with(word) =>
                    {
                        found = Some(effect)
                    }
                    Some(_) | None => {}
                }
            }
        }
        match found? {
            Effect::Build if self.ground.workspace.is_none() || !self.knows.trusts_workspace => {
                None
            }
            effect => Some(effect),
        }
    }

    fn known_program(
        &mut self,
        program: &'static Program,
        name: &str,
        first: &Arg,
        rest: &[Arg],
        stdin: &Stream,
    ) -> Stream {
        if let [only] = rest
            && matches!(only.text.as_str(), "--help" | "--version")
        {
            self.note(Act::new(
                Effect::Inspect,
                program.row.name,
                self.here(first.span),
            ));
            return Stream::unknown(Taint::default());
        }
        if !program.has_subs {
            return self.evaluate(&program.row, program.row.does, name, rest, stdin);
        }
        let found = find_sub(program, rest);
        if matches!(rest, [only] if matches!(only.text.as_str(), "version" | "help"))
            && found.row.is_none()
        {
            self.note(Act::new(
                Effect::Inspect,
                program.row.name,
                self.here(first.span),
            ));
            return Stream::unknown(Taint::default());
        }
        if found.help || rest.is_empty() && program.row.does == Effect::Unknown {
            self.note(Act::new(
                Effect::Inspect,
                program.row.name,
                self.here(first.span),
            ));
            return Stream::unknown(Taint::default());
        }
        let ground = self.ground.clone();
        let dry = found.hits.iter().any(|hit| hit.flag.dry);
        let taint = self.hits(&program.row, &found.hits, dry).0;
        let stream = match found.row {
            Some(row) => self.evaluate(
                row,
                if dry { Effect::Inspect } else { row.does },
                row.name,
                rest.get(found.taken..).unwrap_or(&[]),
                stdin,
            ),
            None => self.by_verb(program, name, first, rest, stdin),
        };
        self.ground = ground;
        Stream {
            taint: stream.taint.and(taint),
            ..stream
        }
    }

    /// Judges a subcommand that has no row by the verbs in its leading words.
    fn by_verb(
        &mut self,
        program: &'static Program,
        name: &str,
        first: &Arg,
        rest: &[Arg],
        stdin: &Stream,
    ) -> Stream {
        let span = self.here(first.span);
        if rest.iter().any(|arg| arg.text == "--help")
            || rest.last().is_some_and(|arg| arg.text == "help")
        {
            self.note(Act::new(Effect::Inspect, program.row.name, span));
            return Stream::unknown(Taint::default());
        }
        let shown = leading_words(program, rest);
        let verb = program
            .verbs
            .and_then(|verbs| shown.iter().filter_map(|word| verbs.effect(word)).max());
        let Some(effect) = verb else {
            if program.row.does != Effect::Unknown && shown.is_empty() {
                return self.evaluate(&program.row, program.row.does, name, rest, stdin);
            }
            let title = format!("{name} {}", shown.first().copied().unwrap_or(""));
            self.note(Act::new(Effect::Unknown, title.trim().to_owned(), span).on(title.trim()));
            return Stream::unknown(Taint::default());
        };
        let read = options::read(&program.row, rest);
        let dry = is_dry(&read);
        let effect = if dry { Effect::CloudRead } else { effect };
        self.hits(&program.row, &read.hits, dry);
        let title = format!("{name} {}", shown.join(" "));
        self.note(Act::new(effect, program.row.name, span).on(title));
        Stream::unknown(Taint {
            secret: effect == Effect::Secret,
            network: true,
            ..Taint::default()
        })
    }

    /// Judges a command by its row.
    pub(crate) fn evaluate(
        &mut self,
        row: &'static Row,
        does: Effect,
        name: &str,
        args: &[Arg],
        stdin: &Stream,
    ) -> Stream {
        let span = self.here(args.first().map(|arg| arg.span).unwrap_or_default());
        let read = options::read(row, args);
        let helps = read.hits.iter().any(|hit| hit.flag.help) || asks_for_help(row, args);
        if helps && read.command.is_none() {
            self.note(Act::new(Effect::Inspect, row.name, span));
            return Stream::unknown(Taint::default());
        }
        if let Some(unknown) = &read.unknown {
            let mut act = Act::new(Effect::Unknown, row.name, span)
                .on(format!("`{unknown}` of {}", row.name));
            act.note = "an option that is not known";
            self.note(act);
        }
        if let Some(reader) = row.reader
            && let Some(stream) = self.read_specially(reader, row, does, name, args, &read, stdin)
        {
            return stream;
        }
        self.evaluate_read(row, does, name, args, &read, stdin)
    }

    /// Judges a command whose options have been read.
    pub(crate) fn evaluate_read(
        &mut self,
        row: &'static Row,
        does: Effect,
        name: &str,
        args: &[Arg],
        read: &Options<'_>,
        stdin: &Stream,
    ) -> Stream {
        let span = self.here(args.first().map(|arg| arg.span).unwrap_or_default());
        let dry = is_dry(read);
        let ground = self.ground.clone();
        let (mut taint, changes) = self.hits(row, &read.hits, dry);
        taint = taint.and(stdin.taint);
        let base = if dry { Effect::Inspect } else { does };
        let raises = base == Effect::Privilege && read.command.is_some();
        if !raises {
            let mut act = Act::new(base, row.name, span);
            if base == Effect::Wipe
                && let Some(device) = read.operands.iter().find(|operand| {
                    self.ground.place(&operand.text).kind == knowledge::PathKind::Device
                })
            {
                act.marks.floor = true;
                act.target = Score::ONE;
                act.subject = device.shown();
            }
            self.note(act);
        }
        if changes.deletes
            && !dry
            && row
                .operands
                .iter()
                .any(|operand| operand.role == Role::Write)
        {
            let mut act = Act::new(Effect::Delete, row.name, span)
                .because("deletes what the source does not have")
                .target(Score::new(600));
            act.reversal = Score::ONE;
            self.note(act);
        }
        let wiped = changes.edits
            && row
                .operands
                .first()
                .is_some_and(|operand| operand.role == Role::Sed)
            && sed_scripts(read).any(language::sed::empties);
        if row.does == Effect::Compute
            && read
                .operands
                .iter()
                .any(|operand| operand.text.contains("[$(") || operand.text.contains("[`"))
            && (matches!(row.name, "read" | "mapfile" | "getopts" | "let" | "wait")
                || args.iter().any(|arg| {
                    matches!(
                        arg.text.as_str(),
                        "-v" | "-eq" | "-ne" | "-lt" | "-gt" | "-le" | "-ge"
                    )
                }))
        {
            self.unreadable("a subscript that runs a command", span);
        }
        let swallowed = read
            .operands
            .last()
            .is_some_and(|operand| operand.text == "/dev/null");
        let empties = !read.operands.is_empty()
            && read
                .operands
                .first()
                .is_some_and(|operand| operand.text == "/dev/null");
        let before = self.acts.len();
        let roles = operand_roles(row, read);
        for (index, operand) in read.operands.iter().enumerate() {
            let role = match roles.get(index).copied().flatten() {
                Some(Role::Move) if swallowed => Role::DeleteTree,
                Some(Role::Read) if changes.deletes => Role::Delete,
                Some(Role::Read) if wiped => Role::Empty,
                Some(Role::Read) if changes.edits => Role::Edit,
                Some(Role::Write) if empties => Role::Empty,
                Some(role) => role,
                None => {
                    self.note(
                        Act::new(Effect::Unknown, row.name, span)
                            .because("a word that is not expected")
                            .on(format!("`{}` of {}", operand.shown(), row.name)),
                    );
                    continue;
                }
            };
            taint = taint.and(self.role(role, operand, row, stdin, dry));
        }
        if base == Effect::Project
            && read.command.is_none()
            && self.inferred(args) == Some(Effect::Inspect)
        {
            // `java -jar tool.jar list-jobs`: whatever it is, it is asked to look at something.
            for act in self
                .acts
                .iter_mut()
                .filter(|act| act.effect == Effect::Project)
            {
                act.clarity = act.clarity.max(Score::new(800));
            }
        }
        let mut stream = Stream::unknown(taint);
        if let Some(at) = read.command {
            let rest = args.get(at..).unwrap_or(&[]);
            if row
                .operands
                .iter()
                .any(|operand| operand.role == Role::Redis)
            {
                let words: Vec<&str> = rest.iter().map(|arg| arg.text.as_str()).collect();
                self.deeds(&language::sql::redis(&words), row.name, span);
            } else if !dry {
                // A program that is started by another one is never a function of the shell.
                stream = self.program(rest, stdin);
                stream.taint = stream.taint.and(taint);
            }
        } else if let Some(at) = read.option_command {
            let words: Vec<String> = args
                .get(at..)
                .unwrap_or(&[])
                .iter()
                .map(|arg| arg.text.clone())
                .take_while(|word| word != ";")
                .collect();
            let filled = code::Filled {
                marker: Some("{}".to_owned()),
                with: HOLE.to_string(),
                appended: true,
                ..code::Filled::default()
            };
            stream.taint = stream.taint.and(self.template(&words, span, &filled).taint);
        } else if stdin.connected && !dry {
            self.reads_code(row, read, stdin, span);
        }
        if raises {
            // Who a harmless command runs as does not matter; who any other one runs as does.
            let harmless = self
                .acts
                .get(before..)
                .unwrap_or(&[])
                .iter()
                .all(|act| act.risk() < Score::new(250) && !act.marks.unreadable);
            self.note(Act::new(
                if harmless && !read.operands.iter().any(|operand| operand.vague()) {
                    Effect::Inspect
                } else {
                    Effect::Privilege
                },
                row.name,
                span,
            ));
        }
        if let Some(text) = output::constant(name, args, read, stdin) {
            stream.text = Some(text);
        }
        if base != Effect::Compute
            && !matches!(base, Effect::Read | Effect::Secret | Effect::Inspect)
        {
            stream.taint.secret &= stdin.taint.secret;
        }
        stream.taint.network |= base == Effect::NetRead;
        if base == Effect::NetRead {
            self.remember_downloads(read, &stream);
        }
        stream.taint.secret |= base == Effect::Secret;
        if matches!(base, Effect::NetSend | Effect::Publish | Effect::Message) && taint.secret {
            self.leak(row, span);
        }
        self.ground = ground;
        stream
    }

    /// Notes that something secret leaves the machine.
    pub(crate) fn leak(&mut self, row: &'static Row, span: crate::shell::syntax::Span) {
        let mut act = Act::new(Effect::Secret, row.name, span)
            .because("sends something secret out of the machine");
        act.marks.outbound = true;
        act.target = Score::ONE;
        self.note(act);
    }

    /// Judges the options that were given. Returns what they read, and what they turn operands into.
    fn hits(&mut self, row: &'static Row, hits: &[Hit], dry: bool) -> (Taint, Changes) {
        let mut taint = Taint::default();
        let mut changes = Changes::default();
        for hit in hits {
            let span = hit
                .value
                .as_ref()
                .map(|value| value.span)
                .unwrap_or_default();
            for effect in hit.flag.effects {
                match effect {
                    Effect::Write => changes.edits = true,
                    Effect::Delete => changes.deletes = true,
                    _ if dry => {}
                    effect => {
                        self.note(
                            Act::new(*effect, row.name, self.here(span))
                                .on(format!("{} {}", row.name, hit.name)),
                        );
                    }
                }
            }
            if let (Value::Next(role) | Value::Attached(role), Some(value)) =
                (hit.flag.value, &hit.value)
            {
                taint = taint.and(self.role(role, value, row, &Stream::default(), dry));
            }
        }
        (taint, changes)
    }

    /// Judges one word by what it stands for.
    pub(crate) fn role(
        &mut self,
        role: Role,
        arg: &Arg,
        row: &'static Row,
        stdin: &Stream,
        dry: bool,
    ) -> Taint {
        let program = row.name;
        let names_only = row.does == Effect::Inspect;
        match role {
            Role::Text | Role::Name if row.does == Effect::Install => {
                if arg.text.contains("://")
                    || arg.text.starts_with("git+")
                    || arg.text.starts_with("git@")
                {
                    self.note(
                        Act::new(Effect::Exec, program, self.here(arg.span))
                            .because("installs code from an address")
                            .on(arg.shown()),
                    );
                }
                return arg.taint;
            }
            Role::Text | Role::Name | Role::Password => return arg.taint,
            Role::Variable => {
                if crate::shell::walk::is_secret_name(&arg.text) {
                    self.note(
                        Act::new(Effect::Secret, program, self.here(arg.span))
                            .because("prints a variable that holds a secret")
                            .on(arg.shown()),
                    );
                    return Taint {
                        secret: true,
                        ..arg.taint
                    };
                }
            }
            Role::Empty if !dry => self.writes(arg, program, Writing::Empty),
            Role::Url if row.does == Effect::Install && !self.is_local_or_registry(&arg.text) => {
                self.note(
                    Act::new(Effect::Exec, program, self.here(arg.span))
                        .because("installs code from a registry nobody knows")
                        .on(arg.shown()),
                );
            }
            Role::Read if names_only => return arg.taint,
            Role::Read => return self.reads(arg, program),
            Role::Write | Role::Edit | Role::Delete | Role::Move if dry => {
                return self.reads(arg, program);
            }
            Role::Create | Role::DeleteTree | Role::Permission | Role::Device | Role::Empty
                if dry => {}
            Role::Empty => {}
            Role::Write => self.writes(arg, program, Writing::Replace),
            Role::Edit => self.writes(arg, program, Writing::Edit),
            Role::Create => self.writes(arg, program, Writing::Create),
            Role::Delete => self.deletes(arg, program, Breadth::One),
            Role::DeleteTree => self.deletes(arg, program, Breadth::Tree),
            Role::Move => self.moves(arg, program),
            Role::Permission => self.permits(arg, program, Score::ZERO),
            Role::Cwd => self.ground.enter(&arg.text),
            Role::Script
                if row.does == Effect::Build
                    && !crate::place::is_absolute(&arg.text)
                    && !arg.text.starts_with("..")
                    && !arg.vague()
                    && !arg.text.contains("://") =>
            {
                // The settings of a build are part of what building the project means.
                self.note(Act::new(Effect::Project, program, self.here(arg.span)).on(arg.shown()));
            }
            Role::Script if matches!(arg.text.as_str(), "-" | "/dev/stdin") => {
                self.stdin_code(
                    &Stream {
                        connected: true,
                        ..stdin.clone()
                    },
                    program,
                    arg.span,
                );
            }
            Role::Script if !runs_scripts(row) => {
                self.note(
                    Act::new(Effect::Exec, program, self.here(arg.span))
                        .because("loads code or settings that are not seen")
                        .on(arg.shown()),
                );
            }
            Role::Script => {
                self.script_file(arg, program);
            }
            Role::Program => self.hook(arg, program),
            Role::Shell | Role::Command => {
                self.shell_text(arg, stdin);
            }
            Role::Python
            | Role::JavaScript
            | Role::Perl
            | Role::Ruby
            | Role::Php
            | Role::Lua
            | Role::Code => self.code(role, arg, program),
            Role::Sql
            | Role::Mongo
            | Role::Redis
            | Role::Sed
            | Role::Awk
            | Role::Jq
            | Role::PowerShell => self.mini_language(role, arg, program),
            Role::Url => return self.fetches(arg, program),
            Role::UrlSend => self.sends_to(arg, program),
            Role::Upload => self.uploads(arg, program),
            Role::Send => self.sends(arg, program),
            Role::Assign => {
                if let Some((name, _)) = arg.text.split_once('=') {
                    let name = name.to_owned();
                    self.variable_effect(&name, &arg.after(name.len() + 1));
                }
            }
            Role::Device => self.device(arg, program),
            Role::Config => self.config(arg, program),
            Role::Unknown => {
                self.note(Act::new(Effect::Unknown, program, arg.span).on(arg.shown()))
            }
        }
        arg.taint
    }

    /// Judges a program that takes code or statements from its standard input.
    fn reads_code(
        &mut self,
        row: &'static Row,
        read: &Options<'_>,
        stdin: &Stream,
        span: crate::shell::syntax::Span,
    ) {
        let carried = |role: &Role| {
            read.hits
                .iter()
                .any(|hit| hit.flag.value == Value::Next(*role))
        };
        let languages = [Role::Sql, Role::Mongo, Role::Redis];
        let role = languages.into_iter().find(|role| {
            row.flags
                .iter()
                .any(|flag| flag.value == Value::Next(*role))
                || row.operands.iter().any(|operand| operand.role == *role)
        });
        if let Some(role) = role {
            if languages.iter().any(carried) {
                return;
            }
            match &stdin.text {
                Some(text) => self.mini_language(role, &Arg::literal(text.clone(), span), row.name),
                None => self.unreadable("runs statements that come from elsewhere", span),
            }
        } else if read.operands.is_empty()
            && row
                .operands
                .first()
                .is_some_and(|operand| operand.role == Role::Script)
            && matches!(row.does, Effect::Project | Effect::Build)
        {
            match interpreter_role(row.name) {
                Some(_) => {
                    self.stdin_code(stdin, row.name, span);
                }
                None => self.unreadable("runs code of a language that is not read", span),
            }
        } else if row.does == Effect::Persist
            && let Some(text) = stdin.text.clone()
        {
            self.text(&text, span);
        } else if row.does == Effect::Interactive
            && stdin
                .text
                .as_deref()
                .is_some_and(|text| !text.trim().is_empty())
        {
            self.unreadable("types commands into an interactive program", span);
        }
    }

    fn device(&mut self, arg: &Arg, program: &'static str) {
        let place = self.place(&arg.text);
        let mut act = Act::new(Effect::Wipe, program, self.here(arg.span)).on(place.path);
        act.marks.floor = arg.text.starts_with("/dev/") || arg.vague();
        act.target = Score::ONE;
        self.note(act);
    }
}

/// Whether running scripts is what the program is for.
fn runs_scripts(row: &Row) -> bool {
    matches!(
        row.does,
        Effect::Project
            | Effect::Build
            | Effect::Start
            | Effect::Install
            | Effect::Compute
            | Effect::Exec
            | Effect::Interactive
    ) || row
        .operands
        .first()
        .is_some_and(|operand| matches!(operand.role, Role::Sed | Role::Awk | Role::Jq))
}

/// Returns the scripts given to `sed`.
fn sed_scripts<'a>(read: &'a Options<'_>) -> impl Iterator<Item = &'a str> {
    let given = read
        .hits
        .iter()
        .filter(|hit| hit.flag.value == Value::Next(Role::Sed))
        .filter_map(|hit| hit.value.as_ref());
    given
        .chain(read.operands.first().copied())
        .map(|arg| arg.text.as_str())
}

/// Whether an option says that nothing is changed. `--dry-run=none` does not.
fn is_dry(read: &Options<'_>) -> bool {
    read.hits.iter().any(|hit| {
        hit.flag.dry
            && !hit
                .value
                .as_ref()
                .is_some_and(|value| matches!(value.text.as_str(), "none" | "false" | "no" | "0"))
    })
}

/// Whether a command only asks for help: `--help` at the end, no other option, and a program that
/// does not hand its words on.
fn asks_for_help(row: &Row, args: &[Arg]) -> bool {
    let Some((last, others)) = args.split_last() else {
        return false;
    };
    let hands_on = row.operands.iter().any(|operand| {
        matches!(
            operand.role,
            Role::Command | Role::Script | Role::Shell | Role::Program
        )
    }) || matches!(
        row.does,
        Effect::Project | Effect::Exec | Effect::Build | Effect::Start
    ) || row.reader.is_some() && row.name != "rm";
    last.text == "--help"
        && (others.is_empty() || !hands_on && others.iter().all(|arg| !arg.text.starts_with('-')))
}

/// Returns the leading words that may hold a verb, options and their values skipped.
fn leading_words<'a>(program: &'static Program, args: &'a [Arg]) -> Vec<&'a str> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(arg) = args.get(at)
        && words.len() < usize::from(program.verb_words)
    {
        match options::leading(&program.row, args.get(at..).unwrap_or(&[])) {
            Some((_, taken)) => at += taken.max(1),
            None => {
                words.push(arg.text.as_str());
                at += 1;
            }
        }
    }
    words
}

/// What options make of the operands.
#[derive(Clone, Copy, Debug, Default)]
struct Changes {
    edits: bool,
    deletes: bool,
}

struct FoundSub {
    row: Option<&'static Row>,
    taken: usize,
    hits: Vec<Hit>,
    help: bool,
}

/// Finds the subcommand with the longest name that `args` begin with, options skipped.
fn find_sub(program: &'static Program, args: &[Arg]) -> FoundSub {
    let mut found = FoundSub {
        row: None,
        taken: 0,
        hits: Vec::new(),
        help: false,
    };
    let mut path = String::new();
    let mut at = 0;
    let mut pending: Vec<Hit> = Vec::new();
    loop {
        let row = found.row.unwrap_or(&program.row);
        let rest = args.get(at..).unwrap_or(&[]);
        let known = options::leading(row, rest)
            .filter(|(hit, _)| hit.is_some())
            .or_else(|| options::leading(&program.row, rest));
        if let Some((hit, words)) = known {
            if found.row.is_none() && hit.as_ref().is_some_and(|hit| hit.flag.help) {
                found.help = true;
            }
            pending.extend(hit);
            at += words.max(1);
            continue;
        }
        let Some(arg) = rest.first() else { break };
        let candidate = if path.is_empty() {
            arg.text.clone()
        } else {
            format!("{path} {}", arg.text)
        };
        let from = program
            .subs
            .partition_point(|(name, _)| *name < candidate.as_str());
        let exact = program
            .subs
            .get(from)
            .filter(|(name, _)| *name == candidate);
        let longer = program
            .subs
            .get(from..)
            .unwrap_or(&[])
            .iter()
            .take(64)
            .any(|(name, _)| {
                name.strip_prefix(candidate.as_str())
                    .is_some_and(|rest| rest.starts_with(' '))
            });
        if exact.is_none() && !longer {
            break;
        }
        at += 1;
        path = candidate;
        if let Some((_, row)) = exact {
            found.row = Some(row);
            found.taken = at;
            found.hits.append(&mut pending);
            found.help = false;
        }
    }
    if found.row.is_none() {
        found.hits = pending;
    }
    found
}

/// Returns what the first word of a command names.
fn resolve(first: &Arg) -> Named {
    let text = first.text.as_str();
    if text.is_empty()
        || text.contains(HOLE)
        || first.glob && text != "[" && text != "[["
        || first.delivers.is_some()
    {
        return Named::Unreadable;
    }
    let (directory, base) = match text.rsplit_once(['/', '\\']) {
        Some((directory, base)) => (Some(directory), base),
        None => (None, text),
    };
    let standard = directory.is_none_or(|directory| {
        let directory = if directory.is_empty() {
            "/".to_owned()
        } else {
            crate::place::normalise(directory)
        };
        PROGRAM_DIRECTORIES.contains(&directory.as_str())
            || directory.starts_with("/lib/")
            || directory.starts_with("/usr/lib/")
            || directory.to_lowercase().contains("windows/system32")
            || TOOL_DIRECTORIES
                .iter()
                .any(|tools| directory.ends_with(tools))
    });
    if !standard {
        // A build wrapper lies in the project and is known by its name.
        let wrapper = matches!(
            base,
            "gradlew" | "mvnw" | "gradlew.bat" | "mvnw.cmd" | "bazelisk" | "pants" | "sbtw"
        );
        return match knowledge::program(base).filter(|_| wrapper) {
            Some(program) => Named::Program(program, base.to_owned()),
            None => Named::File,
        };
    }
    match find_program(base) {
        Some((program, name)) => Named::Program(program, name),
        None => Named::Unknown(base.to_owned()),
    }
}

/// Looks a program up, then without an extension, then without a version.
fn find_program(base: &str) -> Option<(&'static Program, String)> {
    if let Some(program) = knowledge::program(base) {
        return Some((program, base.to_owned()));
    }
    let lower = base.to_ascii_lowercase();
    for extension in [".exe", ".cmd", ".bat", ".com"] {
        if let Some(stem) = lower.strip_suffix(extension)
            && let Some(program) = knowledge::program(stem)
        {
            return Some((program, stem.to_owned()));
        }
    }
    // python3.11, gcc-12, llvm-objdump-15: drop the version step by step.
    let mut name = base;
    for _ in 0..3 {
        let trimmed = name
            .trim_end_matches(|letter: char| letter.is_ascii_digit())
            .trim_end_matches(['.', '-']);
        if trimmed.is_empty() || trimmed.len() == name.len() {
            break;
        }
        name = trimmed;
        if let Some(program) = knowledge::program(name) {
            return Some((program, name.to_owned()));
        }
    }
    // mkfs.ext4 and its kin.
    base.split_once('.').and_then(|(stem, _)| {
        matches!(stem, "mkfs" | "fsck" | "mount" | "umount")
            .then(|| knowledge::program(stem).map(|program| (program, stem.to_owned())))
            .flatten()
    })
}

/// Returns the role of every operand; `None` where the row expects none.
fn operand_roles(row: &Row, read: &Options<'_>) -> Vec<Option<Role>> {
    let count = read.operands.len();
    let mut places: Vec<(Role, bool)> = row
        .operands
        .iter()
        .map(|operand| (operand.role, operand.many))
        .collect();
    places.retain(|(role, _)| *role != Role::Command);
    // `grep -e pattern file`, `sed -f script file`: the option took the first operand's part.
    let takes_first = match places.first() {
        Some((Role::Text | Role::Name, false)) => {
            read.value(&["-e", "-f", "--regexp", "--file"]).is_some() || read.has(&["--files"])
        }
        Some((
            role @ (Role::Sed | Role::Awk | Role::Jq | Role::Sql | Role::Perl | Role::Script),
            false,
        )) => read.hits.iter().any(|hit| {
            hit.flag.value == Value::Next(*role) || hit.flag.value == Value::Next(Role::Script)
        }),
        _ => false,
    };
    if takes_first {
        places.remove(0);
    }
    let Some(star) = places.iter().position(|(_, many)| *many) else {
        return (0..count)
            .map(|index| places.get(index).map(|(role, _)| *role))
            .collect();
    };
    let before = star;
    let after = places.len() - star - 1;
    (0..count)
        .map(|index| {
            let from_end = count - index;
            if from_end <= after && (index >= before || count <= after) {
                places.get(places.len() - from_end)
            } else if index < before {
                places.get(index)
            } else {
                places.get(star)
            }
            .map(|(role, _)| *role)
        })
        .collect()
}

/// Returns the language a role is in.
const fn script_language(role: Role) -> Option<language::script::Lang> {
    use language::script::Lang;
    match role {
        Role::Python => Some(Lang::Python),
        Role::JavaScript => Some(Lang::JavaScript),
        Role::Perl => Some(Lang::Perl),
        Role::Ruby => Some(Lang::Ruby),
        Role::Php => Some(Lang::Php),
        Role::Lua => Some(Lang::Lua),
        _ => None,
    }
}
