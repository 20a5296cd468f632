//! Assigns a role to each argument of a command line and derives its effect.

use super::Line;
use super::cleaning::says_output;
use super::code::interpreter_role;
use super::foreign::is_no_file;
use super::lifts::only_counts;
use super::network::{is_index, is_local_or_registry};
use super::options::{Hit, Options};
use crate::act::{Act, Breadth};
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::{Walk, Writing, is_secret_name};
use crate::knowledge::names::{DIRECTORY_MAKERS, FLAKE_SCHEMES};
use crate::knowledge::{Effect, Lang, Role, Row, Value};
use crate::place::is_absolute;
use crate::score::Score;
use crate::written::Wanted;

impl Walk<'_> {
    /// Judges the options that were given. People are shown the name that was called, which is not
    /// always the first of the row. Returns what they read, and what they turn operands into.
    pub(super) fn hits(
        &mut self,
        row: &'static Row,
        called: &str,
        hits: &[Hit],
        dry: bool,
    ) -> (Taint, Changes) {
        let mut taint = Taint::default();
        let mut changes = Changes::default();
        for hit in hits {
            let span = hit
                .value
                .as_ref()
                .map(|value| value.span)
                .unwrap_or_default();
            for effect in hit.flag.effects {
                if *effect == Effect::Write {
                    changes.edits = true;
                } else if *effect == Effect::Delete {
                    changes.deletes = true;
                } else if !(dry && is_simulated(*effect)
                    || *effect == Effect::Publish && hit.says_never()
                    || *effect == Effect::Exec && hit.names_index())
                {
                    let act = Act::new(*effect, row.name, self.here(span));
                    self.note(act.on(format!("{called} {}", hit.name)));
                }
            }
            if hit.edits_in_place() {
                changes.edits = true;
                continue;
            }
            match hit.meaning() {
                // A program that lists names still reads the file an option names.
                Some((Role::Read, value)) => {
                    let read = self.no_file(Role::Read, value, row, dry);
                    taint = taint.and(read.unwrap_or_else(|| self.reads(value, row.name)));
                }
                Some((role, value)) => {
                    taint = taint.and(self.role(role, value, row, &Stream::default(), dry));
                }
                None => {}
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
        let no_file = self.no_file(role, arg, row, dry);
        no_file.unwrap_or_else(|| self.role_as_is(role, arg, row, stdin, dry))
    }

    /// Judges one word by what it stands for; where that is a file, the word is taken for its name.
    pub(super) fn role_as_is(
        &mut self,
        role: Role,
        arg: &Arg,
        row: &'static Row,
        stdin: &Stream,
        dry: bool,
    ) -> Taint {
        let program = row.name;
        let installs = row.does == Effect::Install;
        match role {
            Role::Text | Role::Name if installs => self.package(arg, program),
            Role::Text | Role::Name | Role::Password | Role::Argument | Role::Release => {}
            Role::Mount => self.mounts(arg, program),
            Role::Handed => return self.hands_over(arg, program),
            Role::Variable => return self.prints_variable(arg, program),
            Role::Mode => self.makes_with_mode(arg, program),
            Role::Link => self.links(arg, program),

            // Listing the names of files does not read them.
            Role::Read if row.does == Effect::Inspect => {}
            Role::Read => return self.reads(arg, program),
            Role::Write | Role::Edit | Role::Delete | Role::Move | Role::Upload if dry => {
                return self.reads(arg, program);
            }
            Role::Empty
            | Role::Create
            | Role::DeleteTree
            | Role::Permission
            | Role::Device
            | Role::UrlSend
            | Role::Send
                if dry => {}
            Role::Write => self.writes(arg, program, Writing::Replace),
            Role::Empty => self.writes(arg, program, Writing::Empty),
            Role::Edit => self.writes(arg, program, Writing::Edit),
            Role::Create if DIRECTORY_MAKERS.contains(program) => {
                self.writes(arg, program, Writing::Directory);
            }
            Role::Create => self.writes(arg, program, Writing::Create),
            Role::Delete => self.deletes(arg, program, Breadth::One),
            Role::DeleteTree => self.deletes(arg, program, Breadth::Tree),
            Role::Move => self.moves(arg, program),
            Role::Permission => self.permits(arg, program, Score::ZERO),
            Role::Device => self.device(arg, program),
            Role::Process => self.attaches(arg, program),
            Role::Cwd => self.ground.enter(&arg.text),

            Role::Script | Role::Toolchain => self.script_word(arg, row, stdin),
            Role::Load => return self.loads(arg, program),
            Role::Package => self.package(arg, program),
            Role::Linker => self.linker_words(arg),
            Role::Variables => return self.hands_variables(arg, program),
            Role::Context => self.turns_to(arg, program),
            Role::Target => self.selects_target(arg, program),
            Role::Serve => self.serves(arg, program),
            Role::Revision => return self.shows_revision(arg, program),
            Role::Define => self.defines(arg, program),
            Role::Task => {
                self.telling_words(arg, &[]);
                self.task(arg, program);
            }
            Role::Output => self.puts_result(arg, program),
            Role::Template => return self.template_text(arg, program),
            Role::Format => return self.format_name(arg, row),
            Role::Filter => self.filters(arg, program),
            Role::Store => return self.store_place(arg, program),
            Role::Program => self.hook(arg, program),
            Role::Shell | Role::Command => {
                self.shell_text(arg, stdin);
            }
            Role::Expanded => self.expands(arg),
            Role::Snippet(_) | Role::Code => self.code(role, arg, program),
            Role::Sql
            | Role::Mongo
            | Role::Redis
            | Role::Sed
            | Role::Awk
            | Role::Jq
            | Role::Cmd
            | Role::PowerShell => self.mini_language(role, arg, program),

            Role::Url if installs && !is_local_or_registry(&arg.text) && !is_index(&arg.text) => {
                let why = "installs code from an unknown registry";
                self.hidden_code(arg, program, why);
            }
            Role::Url => return self.fetches(arg, program),
            Role::UrlSend => self.sends_to(arg, program),
            Role::Upload => self.uploads(arg, program),
            Role::Send => self.sends(arg, program),

            Role::Assign => self.assigns(arg),
            Role::Config => self.config(arg, program),
            Role::Unknown => {
                self.note(Act::new(Effect::Unknown, program, arg.span).on(arg.shown()));
            }
        }
        arg.taint
    }

    /// Judges `NAME=value` for the environment of what follows.
    fn assigns(&mut self, arg: &Arg) {
        let Some((name, _)) = arg.text.split_once('=') else {
            return;
        };
        let value = arg.after(name.len() + 1);
        self.heed_variable(name, &value);
        self.variable_effect(name, &value);
        // What the script has not set itself is given to the command that follows.
        if !self.has_variable(name) {
            self.lend(name, &value);
        }
        if says_output(name, &value.text) {
            self.scope.given.push((name.to_owned(), value));
        }
    }

    /// Judges a text in which substitutions are carried out, by a shell or as `#(…)` by tmux.
    fn expands(&mut self, arg: &Arg) {
        self.expanded_text(&arg.text, arg.span);
        if arg.text.contains("#(") {
            self.unreadable("a format that runs a command", arg.span);
        }
    }

    /// Notes that code runs which is not seen.
    fn hidden_code(&mut self, arg: &Arg, program: &'static str, why: &'static str) {
        let act = Act::new(Effect::Exec, program, self.here(arg.span));
        self.note(act.because(why).on(arg.shown()));
    }

    /// Judges the name of a package: some installers take an address or a directory there.
    fn package(&mut self, arg: &Arg, program: &'static str) {
        if is_absolute(&arg.text) || arg.text.starts_with("..") || arg.text.starts_with("file:") {
            let path = arg
                .text
                .strip_prefix("file:")
                .unwrap_or(&arg.text)
                .to_owned();
            let path = Arg {
                text: path,
                ..arg.clone()
            };
            self.loads(&path, program);
        }
        let addressed = arg.text.contains("://") && !is_index(&arg.text);
        let refers = FLAKE_SCHEMES
            .iter()
            .any(|scheme| arg.text.starts_with(scheme));
        if addressed || refers {
            self.hidden_code(arg, program, "installs code from an address");
        }
    }

    /// Judges printing the variable that `arg` names.
    fn prints_variable(&mut self, arg: &Arg, program: &'static str) -> Taint {
        if !is_secret_name(&arg.text) {
            return arg.taint;
        }
        let act = Act::new(Effect::Secret, program, self.here(arg.span))
            .because("prints a variable that holds a secret");
        self.note(act.on(arg.shown()));
        Taint {
            secret: true,
            ..arg.taint
        }
    }

    /// Judges a word that names code or settings to run or load.
    fn script_word(&mut self, arg: &Arg, row: &'static Row, stdin: &Stream) {
        // `pm2 start 'rm -rf x'`: what reads like a command line is one.
        let first = arg.text.split_whitespace().next().unwrap_or("");
        if first.len() < arg.text.len() && crate::knowledge::program(first).is_some() {
            self.shell_text(arg, stdin);
        }
        let from_stdin = matches!(arg.text.as_str(), "-" | "/dev/stdin");
        let own_settings = row.does == Effect::Build
            && !is_absolute(&arg.text)
            && !arg.text.starts_with("..")
            && !arg.vague()
            && !from_stdin
            && !is_no_file(&arg.text);
        if own_settings {
            // The settings of a build are part of what building the project means.
            let act = Act::new(Effect::Project, row.name, self.here(arg.span));
            self.note(act.on(arg.shown()));
            let path = self.ground.place(&arg.text).path;
            self.memory.want(Wanted::File(path.clone()));
            self.picks_up(&path, arg.span);
        } else if from_stdin {
            let connected = Stream {
                connected: true,
                ..stdin.clone()
            };
            self.stdin_code(&connected, row.name, arg.span);
        } else if runs_scripts(row) {
            if row.does == Effect::Project {
                self.telling_words(arg, &[]);
            }
            self.script_file(arg, row.name);
        } else if !takes_statements(row) || !self.runs_statements(arg, row.name) {
            self.hidden_code(arg, row.name, "loads code or settings that are not seen");
        }
    }

    /// Judges a program that takes code or statements from its standard input.
    pub(super) fn reads_code(&mut self, line: &Line<'_>) {
        let Line {
            row,
            read,
            stdin,
            span,
            ..
        } = *line;
        let takes = |role: Role| {
            let by_option = row.flags.iter().any(|flag| flag.value == Value::Next(role));
            by_option || row.has_operand(role)
        };
        let languages = [Role::Sql, Role::Mongo, Role::Redis, Role::PowerShell];
        if let Some(role) = languages.into_iter().find(|role| takes(*role)) {
            // `-Command -` says that the text comes from there.
            let is_text = |arg: &Arg| arg.text != "-";
            let given = |hit: &Hit| {
                let carries = |role: &Role| hit.flag.value == Value::Next(*role);
                languages.iter().any(carries) && hit.value.as_ref().is_some_and(is_text)
            };
            let runs_file = |hit: &Hit| hit.flag.value == Value::Next(Role::Script);
            let spoken = role == Role::PowerShell
                && (read.operands.iter().any(|operand| is_text(operand))
                    || read.hits.iter().any(runs_file));
            if read.hits.iter().any(given) || spoken {
                return;
            }
            match &stdin.text {
                Some(text) => self.mini_language(role, &Arg::literal(text.clone(), span), row.name),
                None if role == Role::Sql && self.runs_given_statements(line) => {}
                None => self.unreadable("runs statements that come from elsewhere", span),
            }
            return;
        }
        let script_first = row
            .operands
            .first()
            .is_some_and(|operand| operand.role == Role::Script);
        if read.operands.is_empty()
            && script_first
            && matches!(row.does, Effect::Project | Effect::Build)
        {
            // `starship init fish | source`: fish reads what comes through the pipe.
            let shell = if row.name == "source" { "sh" } else { row.name };
            if interpreter_role(shell).is_some() {
                self.stdin_code(stdin, shell, span);
            } else {
                self.unreadable("runs code in an unsupported language", span);
            }
        } else if row.does == Effect::Persist
            && let Some(text) = &stdin.text
        {
            self.text(text, span);
        } else if row.does == Effect::Interactive
            && stdin
                .text
                .as_deref()
                .is_some_and(|text| !text.trim().is_empty())
        {
            self.unreadable("pipes commands into an interactive program", span);
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

/// Whether a program takes statements of a database.
pub(super) fn takes_statements(row: &Row) -> bool {
    let is_sql =
        |value: Value| matches!(value, Value::Next(Role::Sql) | Value::Attached(Role::Sql));
    row.has_operand(Role::Sql) || row.flags.iter().any(|flag| is_sql(flag.value))
}

/// What options make of the operands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Changes {
    /// Files that are read are changed in place.
    pub(super) edits: bool,
    /// Files that are read are deleted.
    pub(super) deletes: bool,
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

/// Returns the role of every operand; `None` where the row expects none.
pub(super) fn operand_roles(row: &Row, read: &Options<'_>) -> Vec<Option<Role>> {
    let count = read.operands.len();
    let mut places: Vec<(Role, bool)> = row
        .operands
        .iter()
        .map(|operand| (operand.role, operand.many))
        .collect();
    places.retain(|(role, _)| *role != Role::Command);
    // `yq eval '.a' f`: the word in front says how the files are taken together.
    let first = read.operands.first().map_or("", |arg| arg.text.as_str());
    if row.name == "yq" && matches!(first, "eval" | "e" | "eval-all" | "ea") {
        places.insert(0, (Role::Name, false));
    }
    if only_counts(read) {
        for (role, _) in &mut places {
            if *role == Role::Read {
                *role = Role::Name;
            }
        }
    }
    // `grep -e pattern file`, `sed -f script file`: the option took the first operand's part.
    let takes_first = match places.first() {
        Some((Role::Text | Role::Name, false)) => {
            read.value(&["-e", "-f", "--regexp", "--file"]).is_some() || read.has(&["--files"])
        }
        Some((
            role @ (Role::Sed | Role::Awk | Role::Jq | Role::Sql | Role::Snippet(Lang::PERL) | Role::Script),
            false,
        )) => read.hits.iter().any(|hit| {
            // A library is loaded beside the program, not in its place.
            let library = matches!(hit.name, "-i" | "--include" | "-l" | "--load");
            let carries = matches!(hit.flag.value, Value::Next(given) if given == *role || given == Role::Script);
            carries && !library
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

/// Whether an operand of `kubectl` names secrets: `secret/db`, `cm,secrets`.
pub(super) fn names_secrets(operand: &str) -> bool {
    let kinds = operand.split('/').next().unwrap_or("").split(',');
    kinds
        .into_iter()
        .any(|kind| matches!(kind, "secret" | "secrets"))
}

/// Returns the path of `container:/path`, where the program copies into and out of containers.
pub(super) fn inside_container(row: &Row, operand: &Arg) -> Option<Arg> {
    let (container, path) = operand.text.split_once(':')?;
    let copies = row.name.ends_with(" cp") && !container.contains('/') && path.starts_with('/');
    copies.then(|| operand.after(container.len() + 1))
}

/// Whether a dry run leaves the effect of an option out. Code that an option runs, what it reveals
/// and whom it trusts are not simulated.
fn is_simulated(effect: Effect) -> bool {
    !matches!(
        effect,
        Effect::Exec
            | Effect::Secret
            | Effect::Privilege
            | Effect::Guard
            | Effect::Remote
            | Effect::Unknown
    )
}
