//! Code that a command contains or runs: shell text, scripts, other languages.

use std::sync::Arc;

use super::foreign::is_no_file;
use super::network::{is_local_or_registry, is_own_server};
use crate::act::{Act, Breadth};
use crate::follow::value::{Arg, Open, Stream, Taint};
use crate::follow::walk::{Heard, Walk, Writing};
use crate::knowledge::names::{PROBES, RUNNING_PROGRAMS};
use crate::knowledge::{Effect, PathKind, Role, languages};
use crate::language::{self, ALL_VARIABLES, Deed, Reading, sql::Dialect};
use crate::place::below::Look;
use crate::place::{HOLE, is_absolute, mark_home};
use crate::score::Score;
use crate::shell::syntax::Span;
use crate::written::{LOST, Wanted};

/// Why code is a question that is piped in from something unknown.
pub(crate) const FROM_ELSEWHERE: &str = "runs code that comes from elsewhere";

/// Why code is a question that shows credentials.
const REVEALS: &str = "prints what holds a secret";

/// How the paths of temporary files begin that code makes itself.
const SCRATCH: &str = "/tmp/tmp";

/// The usual name of a file with variables that programs load by themselves.
const SETTINGS_FILE: &str = ".env";

impl Walk<'_> {
    /// Follows shell text given as a word.
    pub(crate) fn shell_text(&mut self, arg: &Arg, stdin: &Stream) -> Stream {
        if arg.taint.network {
            self.unreadable("runs code loaded from the network", arg.span);
        }
        if arg.taint.uncertain {
            self.unreadable("what runs depends on what ran before", arg.span);
        }
        self.text_with(&arg.text, arg.span, stdin)
    }

    /// Judges a program that another program is told to use as a helper: a pager, an editor, a
    /// compressor. A plain known program is what it is; a shell or interpreter there is code.
    pub(crate) fn hook(&mut self, arg: &Arg, program: &str) {
        let first = arg.text.split_whitespace().next().unwrap_or("");
        let base = first.rsplit('/').next().unwrap_or(first);
        let shell = interpreter_role(base).is_some()
            || RUNNING_PROGRAMS.contains(base)
            || base.len() < first.len()
                && !first.starts_with("/usr/bin/")
                && !first.starts_with("/bin/")
            || arg.text.contains(['|', ';', '&', '$', '`', '>', '<']);
        if shell || arg.vague() {
            self.note(
                Act::new(Effect::Exec, program.to_owned(), self.here(arg.span))
                    .because("makes a program run a command of its own")
                    .on(arg.shown()),
            );
        }
        if !arg.text.is_empty() {
            self.shell_text(arg, &Stream::default());
        }
    }

    /// Judges running a file that is not a known program.
    pub(crate) fn run_file(&mut self, file: &Arg, rest: &[Arg], stdin: &Stream) -> Stream {
        if let Some(program) = self.linked_program(file) {
            let words = [&[program], rest].concat();
            return self.program(&words, stdin);
        }
        self.telling_words(file, rest);
        // `./wait-for-it.sh db:5432 -- make`: scripts hand on what follows the dashes.
        let dashes = rest.iter().position(|arg| arg.text == "--");
        let handed = dashes.and_then(|at| rest.get(at + 1..)).unwrap_or(&[]);
        if handed
            .first()
            .is_some_and(|first| crate::knowledge::program(&first.text).is_some())
        {
            self.program(handed, &Stream::default());
        }
        self.script_with(file, "", rest.to_vec());
        Stream::unknown(Taint::default())
    }

    /// Judges running the script at `arg` with `interpreter` and `parameters`, in a process of its
    /// own.
    pub(crate) fn script_with(&mut self, arg: &Arg, interpreter: &str, parameters: Vec<Arg>) {
        let state = self.state();
        self.set_positional(parameters);
        self.script_file(arg, interpreter);
        self.restore(state);
    }

    /// Judges running the script at `arg` with `interpreter`.
    pub(crate) fn script_file(&mut self, arg: &Arg, interpreter: &str) {
        let span = self.here(arg.span);
        if let Some(stream) = &arg.delivers {
            let stream = (**stream).clone();
            self.stdin_code(&stream, interpreter, arg.span);
            return;
        }
        if is_no_file(&arg.text) {
            self.note(
                Act::new(Effect::Exec, interpreter.to_owned(), span)
                    .because("runs code that is given as a text or loaded from the network")
                    .on(arg.shown()),
            );
            return;
        }
        let place = self.place(&arg.text);
        self.memory.want(Wanted::File(LOST.to_owned()));
        if self.memory.has_lost_files() || self.knows.written.at(LOST).next().is_some() {
            self.unreadable(
                "runs a script after writing more files than can be followed",
                arg.span,
            );
        }
        for stream in self.may_hold(&place.path) {
            self.run_written(&place.path, &stream, interpreter, arg.span);
        }
        self.runs_matches(&place.path, interpreter, arg.span);
        self.runs_directory(&place.path, interpreter, arg.span);
        self.runs_beside_downloads(&place, interpreter, arg.span);
        self.runs_brought(&place.path, interpreter, arg.span);
        let trusted = place.inside == Some(true) && self.knows.trusts_workspace && !place.vague;
        // To run a hook or a skill of the project changes nothing about it.
        let harmless_place =
            place.write < Score::new(600) || trusted && place.kind != PathKind::Guard;
        let known = !trusted
            && (self.is_seen(&place)
                || self.is_installed(&place)
                || self.lies_in_environment(&place));
        let trusted = trusted || known;
        let mut act = if trusted && (harmless_place || known) {
            Act::new(Effect::Project, interpreter.to_owned(), span)
        } else if place.inside.is_none()
            && !place.vague
            && harmless_place
            && !is_absolute(&arg.text)
        {
            // Nothing is said about where this is, so the script is nobody's.
            let mut act = Act::new(Effect::Project, interpreter.to_owned(), span);
            act.clarity = Score::new(650);
            act
        } else {
            Act::new(Effect::Exec, interpreter.to_owned(), span)
                .because("runs a script whose content is not seen")
        };
        act.target = act.target.max(if trusted {
            Score::ZERO
        } else {
            Score::new(200)
        });
        self.note(act.on(place.path));
    }

    /// Judges code that an interpreter reads from a stream.
    pub(crate) fn stdin_code(&mut self, stream: &Stream, interpreter: &str, span: Span) -> Stream {
        if stream.taint.network {
            self.unreadable("runs code loaded from the network", span);
        }
        match &stream.text {
            None if stream.taint.network => Stream::unknown(stream.taint),
            None => {
                self.unreadable(FROM_ELSEWHERE, span);
                Stream::unknown(stream.taint)
            }
            Some(text) => match interpreter_role(interpreter) {
                Some(Role::Shell) | None => {
                    self.text_with(&text.clone(), self.here(span), &Stream::default())
                }
                Some(role) => {
                    self.code(role, &Arg::literal(text.clone(), span), interpreter);
                    Stream::unknown(stream.taint)
                }
            },
        }
    }

    /// Judges a fragment of a programming language.
    pub(crate) fn code(&mut self, role: Role, arg: &Arg, program: &str) {
        self.code_that(Runs::Named, role, arg, program);
    }

    /// Judges a fragment of a programming language that runs the way `runs` says.
    pub(super) fn code_that(&mut self, runs: Runs, role: Role, arg: &Arg, program: &str) {
        if arg.vague() && runs != Runs::PickedUp {
            self.unreadable("runs code of which a part cannot be known", arg.span);
            return;
        }
        if language::without_end(&arg.text) {
            self.multiplies(program.to_owned(), arg.span);
        }
        if arg.text.contains(SETTINGS_FILE) {
            // What code puts into such a file stands somewhere in its texts.
            let file = Arg::literal(SETTINGS_FILE, arg.span);
            self.heed_edit(&file, std::slice::from_ref(arg));
        }
        let reading = if let Role::Snippet(lang) = role {
            let words = self.script_words(runs);
            language::script::read_with(lang, &arg.text, words.as_deref())
        } else {
            Reading::hidden("code in an unsupported language")
        };
        self.imports(role, &reading.imports, arg.span);
        if reading.reads_computed {
            self.reads_named(program, arg.span);
        }
        if reading.reveals_computed && self.memory.names_credential() {
            let act = Act::new(Effect::Secret, program.to_owned(), self.here(arg.span));
            self.note(act.because(REVEALS).on(ALL_VARIABLES));
        }
        let posts = ["data=", "method", "body", "POST"]
            .iter()
            .any(|word| arg.text.contains(word));
        if runs == Runs::PickedUp {
            let posts = posts || reading.reads_computed;
            self.recognised(&reading, posts, program, arg.span);
            return;
        }
        // What is asked of this machine stays on it.
        let away = |deed: &Deed| matches!(deed, Deed::Fetch(address) if !is_own_server(address));
        let fetches = reading.deeds.iter().any(away);
        let carries = reading.reads_computed
            || reading.deeds.iter().any(|deed| {
                matches!(deed, Deed::Fetch(address) if address.is_empty())
                    || matches!(deed, Deed::ReadFile(_))
            });
        if fetches && (carries || posts) {
            let act = Act::new(Effect::NetSend, program.to_owned(), self.here(arg.span))
                .because("sends what it reads to another machine")
                .target(Score::new(400));
            self.note(act);
        }
        let handed = self.deeds(&reading, program, arg.span);
        // Code that hands more than a look around to a shell, or deletes a tree it did not make, is
        // written to do that.
        let own = |path: &str| path.starts_with(SCRATCH) && path.contains(HOLE);
        let deletes = |deed: &Deed| matches!(deed, Deed::DeleteTree(path) if !own(path));
        // Who only has a shell say who runs it tries whether commands can be run at all.
        let tries = |deed: &Deed| matches!(deed, Deed::Shell(text) if PROBES.contains(text.trim()));
        let wraps = |deed: &Deed| deletes(deed) || tries(deed);
        // The project's own build and tests may run in a workspace that is trusted, as in a shell.
        let trusted = self.ground.workspace.is_some() && self.knows.trusts_workspace;
        let more = if trusted {
            handed.is_more_than_building()
        } else {
            handed.is_more_than_looking()
        };
        if more || reading.deeds.iter().any(wraps) {
            self.note(
                Act::new(Effect::Exec, program.to_owned(), self.here(arg.span))
                    .because("runs or deletes something from inside code"),
            );
        }
    }

    /// The words that a script is run with, where they belong to it.
    fn script_words(&self, runs: Runs) -> Option<Vec<String>> {
        let words = self.scope.positional.as_ref();
        let words = words.filter(|_| runs == Runs::Script)?;
        let text = |arg: &Arg| {
            if arg.glob {
                HOLE.to_string()
            } else {
                arg.text.clone()
            }
        };
        Some(words.iter().map(text).collect())
    }

    /// Judges a fragment of a small language.
    pub(crate) fn mini_language(&mut self, role: Role, arg: &Arg, program: &str) {
        let filter = matches!(role, Role::Sed | Role::Awk | Role::Jq);
        let patched = arg.text.replace(HOLE, "0");
        let text = if filter {
            patched.as_str()
        } else {
            arg.text.as_str()
        };
        let reader = MINI_LANGUAGES.iter().find(|(known, _)| *known == role);
        let reading = reader.map_or_else(
            || Reading::hidden("code in an unsupported language"),
            |(_, read)| read(text, program),
        );
        // A hole in a filter for text is data; in anything that runs or deletes it is not, and neither is
        // a whole program. No filter of jq runs anything.
        let whole = arg.text.trim_matches(HOLE).is_empty();
        let runs = whole && matches!(role, Role::Sed | Role::Awk);
        let more = runs || reading.hidden.is_some() || !reading.deeds.is_empty();
        if arg.vague() && (!filter || more) {
            self.unreadable("runs code of which a part cannot be known", arg.span);
            return;
        }
        let is_shell = matches!(role, Role::PowerShell | Role::Cmd);
        if !is_shell
            && reading
                .deeds
                .iter()
                .any(|deed| matches!(deed, Deed::Shell(_) | Deed::Run(_)))
        {
            // Nobody filters text or asks a database in order to run a program.
            self.note(
                Act::new(Effect::Exec, program.to_owned(), self.here(arg.span))
                    .because("runs a command from inside a filter or query"),
            );
        }
        self.deeds(&reading, program, arg.span);
    }

    /// Judges what a reader of another language saw. Returns the worst of what a shell is given.
    pub(crate) fn deeds(&mut self, reading: &Reading, program: &str, span: Span) -> Heard {
        if let Some(why) = reading.hidden {
            self.note(
                Act::new(Effect::Exec, program.to_owned(), self.here(span))
                    .because("cannot see inside")
                    .on(why),
            );
        }
        if let (None, Some(why)) = (reading.hidden, reading.unfamiliar) {
            self.unfamiliar(why, program, span);
        }
        let ground = self.ground.clone();
        let mut left = Vec::new();
        let is_fetch = |deed: &Deed| matches!(deed, Deed::Fetch(_));
        let fetches = reading.deeds.iter().any(is_fetch);
        let mut handed = Heard::default();
        for deed in &reading.deeds {
            self.goes(deed, &mut left);
            let ((), heard) = self.listening(|walk| walk.deed(deed, program, span));
            if matches!(deed, Deed::Shell(_)) {
                handed = handed.and(heard);
            }
            // What code loads it may write into any file.
            if let (true, Deed::WriteFile(path)) = (fetches, deed) {
                let taint = Taint {
                    network: true,
                    ..Taint::default()
                };
                let file = Arg::literal(mark_home(path), span);
                self.remember_file(&file, Stream::unknown(taint));
            }
        }
        self.ground = ground;
        handed
    }

    /// Follows a deed to the directory in which the next ones happen. `left` holds the directories
    /// that are come back to.
    fn goes(&mut self, deed: &Deed, left: &mut Vec<Option<Arc<str>>>) {
        let before = self.ground.cwd.clone();
        if let Deed::Enter { path, returns } = deed {
            if *returns {
                left.push(before.clone());
            }
            self.ground.enter(&mark_home(path));
        } else if *deed == Deed::Leave {
            self.ground.cwd = left.pop().flatten();
        } else {
            return;
        }
        // Had it failed, the next deed would happen where this one did.
        self.ground.perhaps = self.ground.perhaps.take().or(before);
    }

    /// Judges names that no table describes: in a workspace whose code may run they are the
    /// project's or a library's, and nothing that reaches further stands beside them.
    fn unfamiliar(&mut self, why: &'static str, program: &str, span: Span) {
        let trusted = self.ground.workspace.is_some() && self.knows.trusts_workspace;
        let act = if trusted {
            Act::new(Effect::Project, program.to_owned(), self.here(span))
        } else {
            Act::new(Effect::Exec, program.to_owned(), self.here(span))
                .because("cannot see inside")
                .on(why)
        };
        self.note(act);
    }

    /// Judges what was recognised in code that runs without being named. What it computes is the
    /// project's own business, unless it takes care that nobody sees it.
    fn recognised(&mut self, reading: &Reading, posts: bool, program: &str, span: Span) {
        if let Some(why) = reading.hidden.filter(|_| reading.conceals) {
            self.deeds(&Reading::hidden(why), program, span);
        }
        let reaches = |deed: &&Deed| matches!(deed, Deed::Fetch(to) if !to.is_empty() && !is_local_or_registry(to));
        if let (true, Some(Deed::Fetch(address))) = (posts, reading.deeds.iter().find(reaches)) {
            self.sends_to(&Arg::literal(address.clone(), span), program);
        }
        for deed in &reading.deeds {
            self.deed(deed, program, span);
        }
    }

    fn deed(&mut self, deed: &Deed, program: &str, span: Span) {
        let word = |text: &str| seen_word(text, span);
        let act = |effect: Effect, on: &str| Act::new(effect, program.to_owned(), span).on(on);
        match deed {
            Deed::Shell(text) | Deed::MayRun(text) => {
                self.text(&text.clone(), self.here(span));
            }
            Deed::Run(command) => {
                let words: Vec<Arg> = command.iter().map(|text| word(text)).collect();
                self.dispatch(&words, &Stream::default());
            }
            Deed::Feed(command) => {
                let words: Vec<Arg> = command.iter().map(|text| word(text)).collect();
                self.dispatch(&words, &Stream::unknown(Taint::default()).telling());
            }
            Deed::Give(command, text) => {
                let words: Vec<Arg> = command.iter().map(|text| word(text)).collect();
                self.dispatch(&words, &Stream::known(text.clone()));
            }
            Deed::Load(path) => self.loads_code(&word(&mark_home(path)), program),
            Deed::MayWrite(path) => self.may_write(&word(&mark_home(path)), program),
            Deed::MayRead(path) => self.may_read(&word(&mark_home(path)), program),
            Deed::ReadFile(path) => {
                let file = word(&mark_home(path));
                self.reads(&file, program);
                // `shutil.copytree` takes a directory with everything in it.
                self.reads_tree(&file, &Look::default(), program);
            }
            Deed::WriteFile(path) => {
                let file = word(&mark_home(path));
                self.writes(&file, program, Writing::Replace);
                self.remember_file(&file, Stream::unknown(Taint::default()));
            }
            Deed::Download(path) => {
                let file = word(&mark_home(path));
                self.writes(&file, program, Writing::Replace);
                let taint = Taint {
                    network: true,
                    ..Taint::default()
                };
                self.remember_file(&file, Stream::unknown(taint));
            }
            Deed::Enter { .. } | Deed::Leave => {}
            Deed::SetVariable(name, value) => self.variable_effect(name, &word(value)),
            Deed::Link(path) => {
                self.reads(&word(&mark_home(path)), program);
                self.links(&word(&mark_home(path)), program);
            }
            Deed::DeleteFile(path) | Deed::DeleteTree(path) if path.is_empty() => {
                let mut act = Act::new(Effect::Delete, program.to_owned(), span)
                    .because("deletes what is known only when it runs")
                    .target(Score::new(900))
                    .reversal(Score::ONE);
                act.breadth = Breadth::Tree;
                act.marks.critical = true;
                self.note(act);
            }
            Deed::DeleteFile(path) => {
                self.deletes(&word(&mark_home(path)), program, Breadth::One);
            }
            Deed::DeleteTree(path) => {
                let path = mark_home(path);
                let arg = Arg {
                    glob: path.contains('*'),
                    ..word(&path)
                };
                self.deletes(&arg, program, Breadth::Tree);
            }
            Deed::DeleteBuilt(path) => self.deletes_built(&word(&mark_home(path)), program),
            Deed::Fetch(url) => {
                self.fetches(&word(url), program);
            }
            Deed::Send(url) => self.sends_to(&word(url), program),
            Deed::Reveal(what) => self.note(act(Effect::Secret, what).because(REVEALS)),
            Deed::DbRead => self.note(Act::new(Effect::DbRead, program.to_owned(), span)),
            Deed::DbWrite(what) => self.note(act(Effect::DbWrite, what)),
            Deed::DbDestroy(what) => self.note(act(Effect::DbDestroy, what)),
            Deed::DbAdmin(what) => self.note(act(Effect::DbAdmin, what)),
            Deed::Halt(what) => self.note(act(Effect::Halt, what)),
            Deed::Multiply(what) => self.multiplies(what.clone(), span),
            Deed::Control(what) => self.note(act(Effect::Control, what)),
            Deed::Kill(what) => self.note(act(Effect::Kill, what).target(Score::new(600))),
            Deed::Persist(what) => self.note(act(Effect::Persist, what)),
            Deed::Privilege(what) => self.note(act(Effect::Privilege, what)),
            Deed::WipeDisk(what) => {
                let mut act = act(Effect::Wipe, what);
                act.marks.floor = true;
                self.note(act);
            }
        }
    }

    /// Judges loading a file that may bring code of its own: the project's is the project's code.
    fn loads_code(&mut self, file: &Arg, program: &str) {
        let place = self.place(&file.text);
        let fetched = self.may_hold(&place.path);
        if fetched.iter().any(|stream| stream.taint.network) {
            self.unreadable("runs code loaded from the network", file.span);
        }
        let trusted = place.inside == Some(true) && self.knows.trusts_workspace && !place.vague;
        let span = self.here(file.span);
        self.note(if trusted {
            Act::new(Effect::Project, program.to_owned(), span).on(place.path)
        } else {
            Act::new(Effect::Exec, program.to_owned(), span)
                .because("loads data that may run code of its own")
                .on(place.path)
        });
        self.reads(file, program);
    }

    /// Judges a text that may be part of a path which is written: only places that are sensitive by
    /// their names count, wherever they lie.
    fn may_write(&mut self, file: &Arg, program: &str) {
        let place = self.ground.place(&file.text);
        let obeyed = !matches!(
            place.kind,
            PathKind::Document
                | PathKind::Generated
                | PathKind::Temp
                | PathKind::Sink
                | PathKind::Log
                | PathKind::Root
                | PathKind::Home
        );
        if obeyed && place.write >= Score::new(600) {
            self.writes(file, program, Writing::Replace);
        }
    }

    /// Judges a text that may be part of a path which is read: only places that hold secrets count.
    pub(crate) fn may_read(&mut self, file: &Arg, program: &str) {
        if self.names_secret(file) {
            self.reads(file, program);
        }
    }

    /// Whether a text names a place that holds secrets.
    pub(crate) fn names_secret(&self, file: &Arg) -> bool {
        matches!(
            self.ground.kind(&file.text),
            PathKind::Credential | PathKind::Environment | PathKind::Process | PathKind::History
        )
    }

    /// Joins words into the text a shell elsewhere would read, and follows it.
    pub(crate) fn joined_text(&mut self, args: &[Arg], stdin: &Stream) -> Stream {
        if let Some(arg) = args.iter().find(|arg| arg.taint.uncertain) {
            self.unreadable("what runs depends on what ran before", arg.span);
        }
        let text = args
            .iter()
            .map(|arg| arg.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let span = args.first().map(|arg| arg.span).unwrap_or_default();
        let span = self.here(span);
        self.text_with(&text, span, stdin)
    }

    /// Follows a command template whose `{}` stands for what cannot be known.
    pub(crate) fn template(&mut self, words: &[String], span: Span, filled: &Filled) -> Stream {
        let mut used = false;
        let mut args: Vec<Arg> = words
            .iter()
            .map(|word| {
                let holds = filled
                    .marker
                    .as_deref()
                    .is_some_and(|marker| !marker.is_empty() && word.contains(marker));
                used |= holds;
                let text = match (&filled.marker, holds) {
                    (Some(marker), true) => word.replace(marker.as_str(), &filled.with),
                    _ => word.clone(),
                };
                Arg {
                    glob: holds && filled.glob,
                    open: if holds { filled.open() } else { Open::No },
                    taint: if holds {
                        filled.taint
                    } else {
                        Taint::default()
                    },
                    ..Arg::literal(text, span)
                }
            })
            .collect();
        if !used && filled.appended {
            args.push(Arg {
                glob: filled.glob,
                open: filled.open(),
                taint: filled.taint,
                ..Arg::literal(filled.with.clone(), span)
            });
        }
        self.dispatch(&args, &Stream::default())
    }
}

/// Returns a word that a reader saw. What is secret or was read there is marked by signs of their own.
fn seen_word(text: &str, span: Span) -> Arg {
    let is_taken = text.contains(language::DATA_PART);
    let taint = Taint {
        secret: text.contains(language::SECRET_PART),
        command: is_taken,
        data: is_taken,
        ..Taint::default()
    };
    if taint == Taint::default() {
        return Arg::literal(text, span);
    }
    let hole = HOLE.to_string();
    let plain = text.replace(language::SECRET_PART, &hole);
    Arg {
        taint,
        ..Arg::literal(plain.replace(language::DATA_PART, &hole), span)
    }
}

/// How code came to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// The call names it.
    Named,
    /// The call names the file that holds it, and the words it gets.
    Script,
    /// Something that the call runs takes it up by itself: an import, a test runner.
    PickedUp,
}

/// Reads a text of a small language that was given to a program.
type MiniReader = fn(text: &str, program: &str) -> Reading;

/// The small languages that are read, by the role of their code.
const MINI_LANGUAGES: &[(Role, MiniReader)] = &[
    (Role::Sql, |text, program| {
        language::sql::read(text, Dialect::of_client(program))
    }),
    (Role::Mongo, |text, _| language::sql::mongo(text)),
    (Role::Redis, |text, _| {
        language::sql::redis(&text.split_whitespace().collect::<Vec<_>>())
    }),
    (Role::Sed, |text, _| language::sed::read(text)),
    (Role::Awk, |text, _| language::awk::read(text)),
    (Role::Jq, |text, _| language::jq::read(text)),
    (Role::PowerShell, |text, _| language::powershell::read(text)),
    (Role::Cmd, |text, _| language::cmd::read(text)),
];

/// What stands for the words a template is filled with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filled {
    /// The mark that is replaced.
    pub(crate) marker: Option<String>,
    /// Its replacement.
    pub(crate) with: String,
    /// Whether that is a pattern.
    pub(crate) glob: bool,
    /// Whether it is added at the end where the mark does not occur.
    pub(crate) appended: bool,
    /// Its origin.
    pub(crate) taint: Taint,
}

impl Filled {
    /// Returns what the words may turn into that it fills a template with.
    const fn open(&self) -> Open {
        if self.taint.free {
            Open::Words
        } else {
            Open::No
        }
    }
}

/// Returns the role of code given to an interpreter of this name.
pub(crate) fn interpreter_role(name: &str) -> Option<Role> {
    languages::by_interpreter(name).map(|language| language.role)
}
