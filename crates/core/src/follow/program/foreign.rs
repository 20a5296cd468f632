//! Code and settings from outside the project that a command uses, and what it exposes.

use super::Line;
use super::network::is_local_or_registry;
use super::options::Options;
use crate::act::Act;
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::{Walk, Writing};
use crate::knowledge::names::{
    COMPILING_ONLY, DOWNLOADERS, INSTALL_ROOTS, LOADED_BY_BUILD, LOCAL_CONTEXTS, PROJECT_ENDINGS,
    RUN_BY_BUILD, SCHEMES_OF_CODE, SETTING_UP_ONLY, SHOWING_OPTIONS, SHOWING_TASK_WORDS,
};
use crate::knowledge::{Effect, PathKind, Reader, Role, Row};
use crate::place::{HOLE, Place, is_absolute};
use crate::score::Score;
use crate::shell::syntax::Span;
use crate::written::Wanted;

/// When a command was handed variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handed {
    /// By what started it.
    Before,
    /// By its own options, or not at all.
    Itself,
}

/// Words of a command line that may say that it shows its variables.
const SHOWING_WORDS: usize = 16;
/// How sensitive a place must be for a person to be asked.
const SENSITIVE: Score = Score::new(600);

impl Walk<'_> {
    /// Judges a file or directory whose code or settings a program obeys: the project's own and
    /// the machine's own are no question.
    pub(crate) fn loads(&mut self, arg: &Arg, program: &'static str) -> Taint {
        let from_stdin = matches!(arg.text.as_str(), "-" | "/dev/stdin");
        if from_stdin || is_address(&arg.text) || is_no_file(&arg.text) || arg.delivers.is_some() {
            let act = Act::new(Effect::Exec, program, self.here(arg.span));
            self.note(
                act.because("loads code or settings that are not seen")
                    .on(arg.shown()),
            );
            return arg.taint;
        }
        let place = self.place(&arg.text);
        // What a build reads there by itself are settings of projects, not programs and plugins.
        let ending = arg.text.rsplit('.').next().unwrap_or("");
        let picked_up = PROJECT_ENDINGS.contains(ending) && self.ground.is_picked_up(&arg.text);
        let own = self.is_owners(&place) || picked_up;
        if self.is_foreign(&place) && !own {
            let act = Act::new(Effect::Exec, program, self.here(arg.span))
                .because("loads code or settings from outside the workspace");
            self.note(act.on(place.path.clone()));
        }
        self.memory.want(Wanted::File(place.path.clone()));
        self.picks_up(&place.path, arg.span);
        self.composed(&place.path, program, arg.span);
        self.reads(arg, program)
    }

    /// Judges a file of variables that a command gets: the project's own file for the project's own
    /// programs is how it is worked on, as long as nothing shows them.
    pub(super) fn hands_variables(&mut self, arg: &Arg, program: &'static str) -> Taint {
        let place = self.ground.place(&arg.text);
        let own = place.kind == PathKind::Environment && place.inside == Some(true);
        if own && self.knows.trusts_workspace && !place.vague && arg.delivers.is_none() {
            self.scope.brought.variables = true;
            return Taint::default();
        }
        self.reads(arg, program)
    }

    /// Notes a command that was handed variables and may show them: anything but a build, a program
    /// of the project or a service.
    pub(super) fn shows_variables(&mut self, line: &Line<'_>, given: Handed) {
        // A client of a cloud, a database or a forge uses what it was handed, and prints none of it.
        let runs = matches!(
            line.does,
            Effect::Build
                | Effect::Project
                | Effect::Start
                | Effect::Install
                | Effect::CloudRead
                | Effect::CloudWrite
                | Effect::CloudDelete
                | Effect::DbRead
                | Effect::DbWrite
                | Effect::VcsRemote
                | Effect::Publish
                | Effect::Uninstall
        );
        let has_code = line.read.hits.iter().any(|hit| {
            hit.meaning()
                .is_some_and(|(role, _)| matches!(role, Role::Snippet(_) | Role::Code))
        });
        // What a wrapper starts is looked at by itself.
        let shows = !runs && given == Handed::Before && line.read.command.is_none();
        if self.scope.brought.variables && (has_code || shows) {
            self.note_shown(line.row.name, line.span);
        }
    }

    /// Notes a program of a project that was handed variables and is told to show them by the name of a
    /// task or an option: `npm run env`, `make -p`.
    pub(super) fn shows_handed(&mut self, row: &'static Row, name: &str, args: &[Arg]) {
        if !self.scope.brought.variables {
            return;
        }
        let words = args.iter().map(|arg| arg.text.as_str());
        let words = words.take_while(|word| *word != "--").take(SHOWING_WORDS);
        let mut words = name.split(' ').skip(1).chain(words);
        let program = name.split(' ').next().unwrap_or(row.name);
        let shows = words.any(|word| {
            SHOWING_TASK_WORDS.contains(word) || SHOWING_OPTIONS.contains(&(program, word))
        });
        if shows {
            let span = self.here(args.first().map(|arg| arg.span).unwrap_or_default());
            self.note_shown(row.name, span);
        }
    }

    /// Notes that variables from where secrets are kept are shown.
    pub(super) fn note_shown(&mut self, program: &str, span: Span) {
        let act = Act::new(Effect::Secret, program.to_owned(), span)
            .because("shows or computes with variables from a file that holds secrets");
        self.note(act);
    }

    /// Judges words of a program that runs what it is given: files from elsewhere, `-` for what it
    /// reads.
    pub(crate) fn foreign_words(
        &mut self,
        read: &Options<'_>,
        program: &'static str,
        stdin: &Stream,
    ) {
        for operand in &read.operands {
            if operand.text == "-" && stdin.connected {
                self.stdin_code(stdin, program, operand.span);
            } else if is_absolute(&operand.text) || operand.text.starts_with("../") {
                self.loads(operand, program);
            }
        }
    }

    /// Notes where a command works, when that is no place to work in: files that appear in `~/.ssh`,
    /// a build in somebody else's directory.
    pub(super) fn note_directory(&mut self, line: &Line<'_>, base: Effect) {
        self.obeys_directory(line, base);
        let makes = |effect: &Effect| matches!(effect, Effect::Create | Effect::Write);
        let downloads = base == Effect::NetRead
            && DOWNLOADERS.contains(line.row.name)
            && !line
                .read
                .has(&["-O", "--output-document", "--spider", "-o", "--out"]);
        let flags_make = line
            .read
            .hits
            .iter()
            .any(|hit| hit.flag.effects.iter().any(makes));
        let builds = matches!(base, Effect::Build | Effect::Project | Effect::Install);
        if !(makes(&base) || flags_make || builds || downloads) {
            return;
        }
        if builds && self.memory.has_downloads() {
            self.unreadable(
                "builds or runs something just after loading files from the network",
                line.span,
            );
        }
        if self.ground.cwd.is_none() {
            return;
        }
        let here = Arg::literal(".", line.span);
        let place = self.place(".");
        if builds && base != Effect::Install && !place.whole_workspace {
            self.runs_brought(&place.path, line.row.name, line.span);
        }
        let private = place.kind != PathKind::Document
            && place.write >= Score::new(600)
            && (place.inside != Some(true) || place.kind == PathKind::Hook);
        // What is made in a home is judged by the name it gets, where a word names it.
        let named = place.kind == PathKind::Home && line.names_target();
        if private && !builds && !named {
            self.writes(&here, line.row.name, Writing::Create);
        } else if builds {
            // Installing changes the other project; a runner that fetches what it lacks builds it.
            let changes = base == Effect::Install && line.read.command.is_none();
            let known = self.is_owners(&place) || self.sources_are_seen(line);
            // Some compilers run nothing of what they compile, and scratch space is nobody's project.
            let scratch = place.kind == PathKind::Temp && SETTING_UP_ONLY.contains(line.name);
            let runs_nothing = COMPILING_ONLY.contains(line.name) || scratch;
            if (changes || !known) && !(runs_nothing && line.read.unknown.is_none()) {
                self.builds_here(line.row.name, line.span);
            }
        }
    }

    /// Notes that a build runs where somebody else's code lies.
    pub(crate) fn builds_here(&mut self, program: &'static str, span: Span) {
        if self.ground.cwd.is_none() {
            return;
        }
        let place = self.place(".");
        if self.is_elsewhere(&place) && !self.is_made(&place) {
            let act = Act::new(Effect::Exec, program, span)
                .because("runs code of a directory outside the workspace")
                .on(place.path);
            self.note(act);
        }
    }

    /// Whether a place lies outside a workspace whose code may run.
    pub(super) fn is_elsewhere(&self, place: &Place) -> bool {
        self.knows.trusts_workspace && place.inside == Some(false) && !place.whole_workspace
    }

    /// Whether a place is neither the project's nor set up for this machine or its user.
    pub(super) fn is_foreign(&self, place: &Place) -> bool {
        // A directory that the workspace lies in is not somebody else's.
        let set_up = place.whole_workspace
            || place.kind == PathKind::System
            || place.path.starts_with("~/.")
            || place.path.starts_with("/usr/")
            || place.path.starts_with("/opt/");
        let outside = self.knows.trusts_workspace && place.inside == Some(false)
            || place.kind == PathKind::Temp && place.inside != Some(true);
        outside && !place.vague && !set_up
    }

    /// Judges a machine that commands go to from now on, without naming it again.
    pub(crate) fn turns_to(&mut self, arg: &Arg, program: &str) {
        if LOCAL_CONTEXTS.contains(arg.text.as_str()) || is_local_or_registry(&arg.text) {
            return;
        }
        let act = Act::new(Effect::Remote, program.to_owned(), self.here(arg.span))
            .because("sends later commands to another machine");
        self.note(act.on(arg.shown()));
    }

    /// Judges what the row does not list: an option it must know, and values that come from files.
    pub(super) fn beyond_the_row(&mut self, line: &Line<'_>) {
        // What follows an image is not an option of the program that runs it.
        let own = line.row.reader != Some(Reader::Container);
        if let Some(unknown) = line.read.unknown.as_ref().filter(|_| own) {
            self.note_unlisted(line.row, line.name, unknown, line.span);
        }
        self.taken_from_files(line);
        self.starts_module(line);
        if line.row.owned {
            self.beyond_the_owners_row(line);
        }
    }

    /// Judges values that a web service's program takes from files and sends: `--body file://x`,
    /// `--parameters @x`.
    fn taken_from_files(&mut self, line: &Line<'_>) {
        if !line.row.has_operand(Role::Argument) {
            return;
        }
        let mut secret = false;
        for arg in line.args {
            let from = if arg.text.starts_with("--") {
                arg.text.find('=').map_or(arg.text.len(), |at| at + 1)
            } else {
                0
            };
            let value = arg.text.get(from..).unwrap_or("");
            let start = ["fileb://", "file://", "@"]
                .into_iter()
                .find(|start| value.starts_with(start));
            if let Some(start) = start {
                let file = arg.after(from + start.len());
                secret |= self.reads(&file, line.row.name).secret;
            }
        }
        if secret {
            self.leak(line.row, line.span);
        }
    }

    /// Judges what a server shows to everybody who can reach it.
    pub(crate) fn serves(&mut self, arg: &Arg, program: &'static str) {
        let place = self.place(&arg.text);
        let private = matches!(
            place.kind,
            PathKind::Home | PathKind::Root | PathKind::System | PathKind::Credential
        ) || place.read >= SENSITIVE
            || arg.text == HOLE.to_string();
        if private {
            let act = Act::new(Effect::Publish, program, self.here(arg.span))
                .because("serves a private directory to the network");
            self.note(act.on(place.path));
        }
    }

    /// Judges showing `revision:path`, or the history of a path.
    pub(crate) fn shows_revision(&mut self, arg: &Arg, program: &'static str) -> Taint {
        match arg.text.split_once(':') {
            Some((_, path)) if !path.is_empty() && !path.starts_with('/') => {
                let path = arg.after(arg.text.len() - path.len());
                self.reads(&path, program)
            }
            // A branch may be called anything; a file that holds secrets is not called `main`.
            None if arg.text.contains('.') && !arg.text.contains("..") => self.reads(arg, program),
            Some(_) | None => arg.taint,
        }
    }

    /// Judges `NAME=value` on the command line of a build: it acts like a variable of that name,
    /// may hold a command in the build's own language, and may say where to install.
    pub(crate) fn defines(&mut self, arg: &Arg, program: &'static str) {
        let Some((name, value)) = arg.text.split_once('=') else {
            self.put_into_recipe(arg);
            return;
        };
        let name = name.trim_end_matches(['+', ':', '?', '!']);
        // `-DCMAKE_C_COMPILER:FILEPATH=cc` carries a type.
        let name = name.split(':').next().unwrap_or(name).to_owned();
        let value = arg.after(arg.text.len() - value.len());
        if value.text.contains("$(shell") || value.text.contains('`') || arg.text.contains("!=") {
            let act = Act::new(Effect::Exec, program, self.here(arg.span));
            self.note(act.because("runs a command from inside a build's variable"));
        } else {
            self.put_into_recipe(&value);
        }
        self.heed_variable(&name, &value);
        self.variable_effect(&name, &value);
        let upper = name.to_ascii_uppercase();
        // `A=b;C=d` of MSBuild sets both.
        let (first, others) = value.text.split_once(';').unwrap_or((&value.text, ""));
        for other in others.split(';').filter(|other| other.contains('=')) {
            self.defines(&Arg::literal(other, value.span), program);
        }
        if LOADED_BY_BUILD.iter().any(|end| upper.ends_with(end)) {
            self.loads(&Arg::literal(first, value.span), program);
        } else if RUN_BY_BUILD.iter().any(|end| upper.ends_with(end)) {
            self.hook(&value, program);
        }
    }

    /// Judges a word that a task puts into the text of its recipe as it is: what stands behind a
    /// separator of the shell there is a command.
    fn put_into_recipe(&mut self, word: &Arg) {
        let separates =
            |text: &str| text.contains([';', '&', '|', '>', '\n']) || text.contains("$(");
        if separates(&word.text) {
            // Stands for the program of the recipe: harmless, with any words, and what it prints is not known.
            let recipe = Arg {
                text: format!("type {}", word.text),
                ..word.clone()
            };
            self.shell_text(&recipe, &Stream::default());
        }
    }

    /// Judges where the result of a build goes.
    pub(crate) fn puts_result(&mut self, arg: &Arg, program: &'static str) {
        let parts = || arg.text.split(',');
        if parts().any(|part| matches!(part, "type=registry" | "push=true")) {
            let act = Act::new(Effect::Publish, program, self.here(arg.span));
            self.note(act.on(arg.shown()));
        }
        let named = parts().find_map(|part| part.strip_prefix("dest="));
        // `--cov-report xml:coverage.xml` says in what shape, too.
        let shaped = arg.text.split_once(':').filter(|(shape, _)| {
            shape.len() > 1 && shape.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        let plain = shaped.map_or(arg.text.as_str(), |(_, path)| path);
        let plain = (!arg.text.contains('=')).then_some(plain);
        if let Some(path) = named.or(plain) {
            self.writes(&Arg::literal(path, arg.span), program, Writing::Create);
        }
    }

    /// Judges `DESTDIR=/` and its like where a build installs something.
    pub(crate) fn installs_into(&mut self, arg: &Arg, program: &'static str) {
        let Some((name, value)) = arg.text.split_once('=') else {
            return;
        };
        let root = INSTALL_ROOTS
            .iter()
            .any(|root| root.eq_ignore_ascii_case(name));
        if root && is_absolute(value) {
            let value = arg.after(name.len() + 1);
            self.writes(&value, program, Writing::Create);
        }
    }
}

/// Whether a word where code is expected names a place to load it from.
fn is_address(text: &str) -> bool {
    text.contains("://") || text.starts_with("git@") || text.starts_with("github.com/")
}

/// Whether a word that stands where code or settings are expected is no file: an address
/// (`https://…`, `npm:x`, `data:…`), a module with the version that is fetched
/// (`example.org/x@v1`), or the settings themselves (`{"transform": …}`).
pub(super) fn is_no_file(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let addressed = text.contains("://") || SCHEMES_OF_CODE.contains(scheme);
    let fetched = text.split_once('/').is_some_and(|(host, path)| {
        path.contains('@') && host.contains('.') && !host.starts_with('.')
    });
    addressed || fetched || text.trim_start().starts_with('{')
}
