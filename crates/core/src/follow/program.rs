//! Determines the effects of one program invocation from the tables.
//!
//! The path of one simple command: find the program ([`mod@resolve`]), find its subcommand, read the
//! options by the row's grammar, then let every option and operand say by its role what happens to
//! it. Programs whose words a table cannot describe have a reader of their own in `readers`.

mod accounts;
mod brought;
mod carried;
mod cleaning;
mod code;
mod composed;
mod disclosure;
mod environments;
mod fetched;
mod files;
mod filled;
mod floor;
mod foreign;
mod guarded;
mod lifts;
mod line;
mod linker;
mod links;
mod made;
mod moved;
mod names;
mod nearby;
mod network;
mod node_modules;
pub(crate) mod options;
mod output;
mod own_programs;
mod owners;
mod production;
mod readers;
mod recipes;
mod recounted;
mod repositories;
mod resolve;
mod roles;
mod runners;
mod running;
mod servers;
mod settings;
mod special;
mod spread;
mod statements;
mod telling;
pub(crate) mod trees;
mod unknown;
mod variables;
mod verbs;
mod written;

pub(crate) use cleaning::says_output;
pub(crate) use owners::{is_describable, is_name, is_taken, speaks_of_more};
pub(crate) use production::names_production;

use crate::act::Act;
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::{Heard, Walk};
use crate::knowledge::names::{
    COREPACK_MANAGERS, HANDING_PROGRAMS, ROW_REASONS, TAKING_NAMES, TALKERS, TASK_RUNNERS,
    TEXTS_OF_OTHERS,
};
use crate::knowledge::{Effect, PathKind, Program, Reader, Role, Row, Style};
use crate::language::{self, Deed};
use crate::place::HOLE;
use crate::score::Score;
use crate::shell::syntax::Span;
pub(crate) use code::FROM_ELSEWHERE;
use foreign::Handed;
pub(crate) use line::Line;
use options::Hit;
use readers::joined_command;
use resolve::{Named, find_sub, is_interpreter, resolve, windows_reading};
use roles::{Changes, inside_container, names_secrets, operand_roles};
pub(crate) use unknown::is_cmdlet;

/// Names of processes that ask people: this firewall, and gateways of agents.
const GUARDS: &[&str] = &["countersign", "hermes"];

/// Programs of which an option hands on a whole command, to which they add no word: `gdb --args`.
const WHOLE_COMMANDS: &[&str] = &["gdb", "erl"];
/// Programs that give a single word to a shell, and several words to a program.
const SHELL_STARTERS: &[&str] = &["git submodule foreach"];

/// Words of one command that are looked at; a longer one is put to a person.
const WORDS_MAX: usize = 1024;

impl Walk<'_> {
    /// Follows a command whose first word is not a function or alias.
    pub(crate) fn program(&mut self, args: &[Arg], stdin: &Stream) -> Stream {
        let before = self.doing.clone();
        let reach = self.scope.reach;
        self.now_does(args, stdin);
        let stream = self.deeper(|walk| walk.run_program(args, stdin));
        self.doing = before;
        self.scope.reach = reach;
        stream
    }

    fn run_program(&mut self, args: &[Arg], stdin: &Stream) -> Stream {
        let Some((first, rest)) = args.split_first() else {
            return Stream::empty();
        };
        if !rest.is_empty() && options::is_assignment(&first.text) {
            // `command A=b program`: whoever wrote it meant the program.
            let name = first.text.split('=').next().unwrap_or("").to_owned();
            let value = first.after(name.len() + 1);
            self.variable_effect(&name, &value);
            let before = self.lend(&name, &value);
            let stream = self.program(rest, stdin);
            self.take_back(before);
            return stream;
        }
        self.moves_parameters(&first.text);
        if first.taint.uncertain {
            self.unreadable("which program runs depends on what ran before", first.span);
        }
        if args.len() > WORDS_MAX {
            self.unreadable("the command has too many words to be read", first.span);
        }
        let rest = rest.get(..rest.len().min(WORDS_MAX)).unwrap_or(rest);
        if let Some(reading) = windows_reading(first, args) {
            self.deeds(&reading, "cmd", first.span);
            let deletes = |deed: &Deed| {
                matches!(
                    deed,
                    Deed::DeleteFile(_) | Deed::DeleteTree(_) | Deed::DeleteBuilt(_)
                )
            };
            let is_bare = !first.text.contains(['/', '\\']);
            let shows = is_bare && reading.deeds.is_empty() && reading.hidden.is_none();
            if shows || is_interpreter(first) && !reading.deeds.iter().any(deletes) {
                // What it was given to run has been judged. What it deletes may be another path
                // than the one that is seen here: a Unix shell takes backslashes away.
                return Stream::unknown(Taint::default());
            }
        }
        let mut stream = self.run_named(first, rest, stdin);
        if let Some(said) = self.described_besides(first, rest, stdin) {
            stream.taint = stream.taint.and(said.taint);
        }
        stream
    }

    /// Runs what the first word of a command names.
    fn run_named(&mut self, first: &Arg, rest: &[Arg], stdin: &Stream) -> Stream {
        match resolve(first) {
            Named::Unreadable => {
                let mut act = Act::new(Effect::Exec, "", first.span)
                    .because("which program runs cannot be known")
                    .on(first.shown());
                act.clarity = Score::new(300);
                self.note(act);
                Stream::unknown(Taint::default()).telling()
            }
            Named::File if self.is_of_environment(first) => self.run_tool(first, rest, stdin),
            Named::File => match self.installed(first) {
                Some((program, name)) => self.known_program(program, &name, first, rest, stdin),
                None => self.run_file(first, rest, stdin).telling(),
            },
            // The user's tools are files that a command may have replaced.
            Named::Program(..) | Named::Unknown(_) if self.is_replaced(first) => {
                self.run_file(first, rest, stdin).telling()
            }
            Named::Unknown(name) => match self.described(&name, first) {
                Some(program) => self.known_program(program, &name, first, rest, stdin),
                None => self.unknown_program(&name, first, rest).telling(),
            },
            Named::Program(program, name) => {
                if self.is_written_here(first) {
                    self.run_file(first, rest, stdin);
                }
                let mut stream = self.known_program(program, &name, first, rest, stdin);
                if !stream.taint.network && output::is_shell_settings(&name, rest) {
                    stream.text.get_or_insert_default();
                }
                stream
            }
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
        let only = match rest {
            [only] => only.text.as_str(),
            _ => "",
        };
        let span = self.here(first.span);
        if matches!(only, "--help" | "--version") && program.row.style != Style::Plain {
            return self.only_looks(program.row.name, span);
        }
        if program.row.name == "corepack"
            && rest
                .first()
                .is_some_and(|manager| COREPACK_MANAGERS.contains(manager.text.as_str()))
        {
            return self.program(rest, stdin);
        }
        if let Some(words) = joined_command(program.row.name, rest) {
            return self.known_program(program, name, first, &words, stdin);
        }
        if let Some(words) = nearby::repeated_in_workspaces(program, rest) {
            return self.known_program(program, name, first, &words, stdin);
        }
        if nearby::only_notifies(program, rest) {
            return self.only_looks(program.row.name, span);
        }
        if !program.has_subs {
            return self.evaluate(&program.row, program.row.does, name, rest, stdin);
        }
        let mut found = find_sub(program, rest);
        // What is started there may change something, whatever the command itself does.
        self.heed_options(&found.hits);
        // Where a command goes matters when it changes something, and when it is not this machine.
        let only_looks = found.row.is_some_and(|row| row.does <= Effect::CloudRead);
        found
            .hits
            .retain(|hit| !hit.names_context() || !only_looks && !hit.stays_here());
        // Alone most programs with subcommands show their help; of the owner's nobody has said so.
        let bare = rest.is_empty() && program.row.does == Effect::Unknown && !program.row.owned;
        let asks = found.row.is_none() && matches!(only, "version" | "help");
        let helps = found.row.is_none() && lifts::only_asks(&program.row, rest);
        if helps || bare || asks {
            return self.only_looks(program.row.name, span);
        }
        let ground = self.ground.clone();
        if let Some(unknown) = &found.unknown {
            self.note_unlisted(&program.row, name, unknown, span);
        }
        let left = lifts::left_over(&program.row, &found.hits, rest);
        let dry = left.is_some();
        // Without a row for the subcommand all options are read together below.
        let taint = match found.row {
            Some(_) => self.hits(&program.row, name, &found.hits, dry).0,
            None => Taint::default(),
        };
        let stream = match found.row {
            Some(row) => self.evaluate(
                row,
                left.unwrap_or(row.does),
                &called(name, rest.get(..found.taken).unwrap_or(&[])),
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
        let taken = TAKING_NAMES
            .contains(row.name)
            .then(|| self.out_of_files(stdin.clone()));
        let stdin = taken.as_ref().unwrap_or(stdin);
        self.shows_handed(row, name, args);
        if read.command.is_none() && lifts::only_asks(row, args) {
            return self.only_looks(row.name, span);
        }
        self.now_reads(&read, stdin);
        let line = Line {
            row,
            does,
            name,
            args,
            read: &read,
            stdin,
            span,
        };
        if row.reader == Some(Reader::Interpreter) {
            for arg in args {
                self.memory.heed_name(&arg.text);
            }
        }
        self.heed_people(&line);
        self.beyond_the_row(&line);
        self.spreads(&line);
        self.catastrophes(&line);
        self.around_guards(&line);
        let before = self.scope.brought.variables;
        self.scope.brought.variables |= HANDING_PROGRAMS.contains(row.name);
        let special = row
            .reader
            .and_then(|reader| self.read_specially(reader, &line));
        let mut stream = special.unwrap_or_else(|| self.by_table(&line, does));
        self.reads_listed(&line);
        stream.taint.secret |= self.reads_trees(&line).secret;
        stream.taint.data = carried::tells(&line, does, &stream);
        self.unpacks_brought(&line);
        self.patches_brought(&line);
        self.checks_out_brought(&line);
        self.lands_brought(&line);
        (stream.taint.free, stream.taint.loose) = spread::freedom(&line, &stream);
        stream.taint.computed = spread::computes(&line, &stream);
        stream.taint.variables &= !disclosure::narrows(&line);
        stream.files = self.read_from(&line);
        let given = if before {
            Handed::Before
        } else {
            Handed::Itself
        };
        self.shows_variables(&line, given);
        self.scope.brought.variables = before;
        stream
    }

    /// Notes an option that the row of a program does not list. `called` is the command as it was typed: one
    /// row describes many subcommands.
    fn note_unlisted(&mut self, row: &'static Row, called: &str, option: &str, span: Span) {
        let act = Act::new(Effect::Unknown, row.name, span)
            .because("an unknown option")
            .on(format!("`{option}` of {called}"));
        self.note(act);
    }

    /// Judges a command line by the table alone: options, then operands, then what it hands on.
    pub(crate) fn by_table(&mut self, line: &Line<'_>, does: Effect) -> Stream {
        let ground = self.ground.clone();
        let dry = line.read.left_over.is_some();
        let base = line.read.left_over.unwrap_or(does);
        let (taint, changes) = self.hits(line.row, line.name, &line.read.hits, dry);
        self.note_directory(line, base);
        self.prepared(line, base);
        // Whether raising privileges matters shows only when the command has been looked at.
        let wipes = line
            .read
            .hits
            .iter()
            .any(|hit| hit.flag.effects.contains(&Effect::Wipe));
        if wipes && !dry {
            self.note_base(line, Effect::Wipe);
        }
        let raises = base == Effect::Privilege && line.read.command.is_some();
        if !raises {
            self.note_base(line, base);
        }
        if base == Effect::NetSend {
            self.connects(&line.read.operands, line.row.name);
        }
        let ((taint, mut stream), heard) = self.listening(|walk| {
            let taint = taint
                .and(line.stdin.taint)
                .and(walk.operands(line, changes));
            (taint, walk.hand_on(line, taint))
        });
        if raises {
            self.note_raised(line, heard);
        }
        // A cluster is no machine of the developer, so what is started there is judged like over ssh.
        let away = base == Effect::CloudRead && line.read.command.is_some();
        if away && heard.is_more_than_looking() {
            let there = line.read.operands.first().map(|name| name.shown());
            let act = Act::new(Effect::Remote, line.row.name, line.span);
            self.note(act.on(there.unwrap_or_default()));
        }
        stream.text = output::constant(line).or(stream.text);
        stream.names.extend(self.printed_names(line));
        self.seeks_secrets(line);
        self.reads_into_variables(line);
        // What comes out of a program that reads nothing secret is not secret because of its words.
        if !matches!(
            base,
            Effect::Compute | Effect::Read | Effect::Secret | Effect::Inspect
        ) {
            stream.taint.secret &= line.stdin.taint.secret;
        }
        stream.taint.secret |= base == Effect::Secret || line.prints_environment();
        stream.taint.variables |= line.prints_environment();
        stream.taint.network |= base == Effect::NetRead || TEXTS_OF_OTHERS.contains(line.name);
        if base == Effect::NetRead {
            self.remember_downloads(line.read, &stream);
            self.goes_along(line);
        } else if !dry {
            self.remember_written(line, base);
            self.remember_installed(line);
        }
        if !dry {
            self.fills_here(line, base);
        }
        let prints_secret = |arg: &Arg| arg.taint.secret && arg.taint.command;
        let carries = base == Effect::NetRead && line.args.iter().any(prints_secret);
        let sends = matches!(base, Effect::NetSend | Effect::Publish | Effect::Message);
        if sends && taint.secret || carries {
            self.leak(line.row, line.span);
        }
        self.ground = ground;
        stream
    }

    /// Judges what was prepared for a build before it runs: where its output goes, and what the
    /// files hold that say what it runs.
    fn prepared(&mut self, line: &Line<'_>, does: Effect) {
        if !line.read.is_dry() {
            self.outputs(line.row, line.read, line.args);
            self.written_recipes(line, does);
            self.composes(line);
            self.behind_dashes(line);
        }
    }

    /// Notes what running the program does before its words are looked at.
    fn note_base(&mut self, line: &Line<'_>, base: Effect) {
        let cancels = base == Effect::Halt && line.cancels_halt();
        let base = if cancels { Effect::Control } else { base };
        let mut act = Act::new(base, line.row.name, line.span);
        // Many programs share these rows, so people are shown the name that was called.
        if matches!(base, Effect::Guard | Effect::Lifecycle) {
            act = act.on(line.name);
        }
        if let Some((_, why)) = ROW_REASONS.iter().find(|(row, _)| *row == line.row.name) {
            act = act.because(why);
        }
        if base == Effect::Kill && line.ends_development_server() {
            act.reversal = Score::new(200);
        }
        if line.row.owned && base == Effect::Unknown {
            act = act.because(owners::UNMARKED).on(line.row.name);
        }
        if base == Effect::Wipe {
            let is_device = |arg: &&&Arg| self.ground.place(&arg.text).kind == PathKind::Device;
            if let Some(device) = line.read.operands.iter().find(is_device) {
                act.marks.floor = true;
                act.target = Score::ONE;
                act.subject = device.shown();
            }
        }
        self.note(act);
    }

    /// Notes raised privileges, unless what runs with them is harmless: who lists a directory does
    /// not matter, who deletes one does.
    fn note_raised(&mut self, line: &Line<'_>, heard: Heard) {
        let harmless = !heard.is_noticeable();
        let known = !line.read.operands.iter().any(|operand| operand.vague());
        let effect = if harmless && known {
            Effect::Inspect
        } else {
            Effect::Privilege
        };
        self.note(Act::new(effect, line.row.name, line.span));
    }

    /// Judges the words that are not options, by the roles the row gives them.
    fn operands(&mut self, line: &Line<'_>, changes: Changes) -> Taint {
        let (row, read, dry) = (line.row, line.read, line.read.left_over.is_some());
        if changes.deletes && !dry && row.has_operand(Role::Write) {
            let act = Act::new(Effect::Delete, row.name, line.span)
                .because("deletes what the source does not have")
                .target(Score::new(600))
                .reversal(Score::ONE);
            self.note(act);
            if let Some(target) = line
                .read
                .operands
                .last()
                .filter(|_| line.read.operands.len() > 1)
                && self.is_whole(target)
            {
                self.loses_all(target, row.name, "deletes what the source does not have");
            }
        }
        if line.name == "let" {
            self.evaluated("", line.span);
        }
        if line.runs_subscript() {
            self.unreadable("a subscript that runs a command", line.span);
        }
        let nothing = |arg: Option<&&Arg>| arg.is_some_and(|arg| arg.text == "/dev/null");
        let (from_nothing, to_nothing) = (
            nothing(read.operands.first()),
            nothing(read.operands.last()),
        );
        // What `gawk -i inplace` does not print is gone, and so is all of it when nothing is printed.
        let replaced = read.hits.iter().any(Hit::edits_in_place);
        let emptied = || line.sed_scripts().any(language::sed::empties);
        let wiped = changes.edits && (replaced || emptied());
        let roles = operand_roles(row, read);
        if line.serves_here(&roles) {
            self.serves(&Arg::literal(".", line.span), row.name);
        }
        let mut taint = Taint::default();
        for (operand, role) in read.operands.iter().zip(roles) {
            let role = match role {
                Some(Role::Move) if to_nothing => Role::DeleteTree,
                Some(Role::Read) if changes.deletes => Role::Delete,
                // `venv --clear`: what is there goes before it is made anew.
                Some(Role::Create) if changes.deletes => Role::DeleteTree,
                Some(Role::Read) if wiped => Role::Empty,
                Some(Role::Read) if changes.edits => Role::Edit,
                Some(Role::Write) if from_nothing => Role::Empty,
                Some(role) => role,
                None => {
                    let act = Act::new(Effect::Unknown, row.name, line.span)
                        .because("an unexpected argument")
                        .on(format!("`{}` of {}", operand.shown(), line.name));
                    self.note(act);
                    continue;
                }
            };
            let inner = inside_container(row, operand);
            if let Some(inner) = &inner {
                // A container's own files are its own, but what the system in it obeys or hides is not.
                let place = self.ground.place(&inner.text);
                if !matches!(
                    place.kind,
                    PathKind::Document | PathKind::Temp | PathKind::Generated | PathKind::Log
                ) {
                    self.role(role, inner, row, line.stdin, dry);
                }
                continue;
            }
            if row.name.starts_with("kubectl") && names_secrets(&operand.text) && !dry {
                self.note(Act::new(Effect::Secret, row.name, line.span).on(operand.shown()));
            }
            if matches!(row.does, Effect::Kill | Effect::Uninstall)
                && GUARDS.iter().any(|guard| operand.text.contains(guard))
            {
                self.note(Act::new(Effect::Guard, row.name, line.span).on(operand.shown()));
            }
            if row.does == Effect::Build && operand.text.starts_with('\\') {
                // `latex '\write18{…}'`: the word is not a file but a text of commands.
                self.unreadable("runs code given as a word", operand.span);
            }
            taint = taint.and(self.role(role, operand, row, line.stdin, dry));
        }
        if line.does == Effect::Project
            && read.command.is_none()
            && self.inferred(line.args) == Some(Effect::Inspect)
        {
            // `java -jar tool.jar list-jobs`: whatever it is, it is asked to look at something.
            let runs = |act: &&mut Act| act.effect == Effect::Project;
            for act in self.acts.iter_mut().filter(runs) {
                act.clarity = act.clarity.max(Score::new(800));
            }
        }
        taint
    }

    /// Follows what the program itself starts: a command in its words, or code it reads.
    fn hand_on(&mut self, line: &Line<'_>, taint: Taint) -> Stream {
        let mut stream = Stream::unknown(taint);
        let dry = line.read.is_dry();
        let rest = |at: usize| line.args.get(at..).unwrap_or(&[]);
        if let Some(at) = line.read.command.or_else(|| line.unmarked_command()) {
            if line.row.has_operand(Role::Redis) {
                let words: Vec<&str> = rest(at).iter().map(|arg| arg.text.as_str()).collect();
                self.deeds(&language::sql::redis(&words), line.row.name, line.span);
            } else if let ([text], true) = (rest(at), SHELL_STARTERS.contains(&line.row.name)) {
                stream = self.shell_text(text, line.stdin);
            } else if !dry {
                // `cabal exec rm -- -rf x`: some wrappers take the dashes for themselves.
                if let [first, dashes, more @ ..] = rest(at)
                    && dashes.text == "--"
                    && more.first().is_some_and(|arg| arg.text.starts_with('-'))
                {
                    let mut words = vec![first.clone()];
                    words.extend_from_slice(more);
                    self.program(&words, line.stdin);
                }
                // A program that is started by another one is never a function of the shell.
                stream = self.start(line, rest(at));
                stream.taint = stream.taint.and(taint);
            }
        } else if let Some(at) = line.read.option_command {
            let words = rest(at).iter().map(|arg| arg.text.clone());
            let words: Vec<String> = words.take_while(|word| word != ";").collect();
            let whole = WHOLE_COMMANDS.contains(&line.row.name);
            let mut found = vec![if whole {
                String::new()
            } else {
                HOLE.to_string()
            }];
            found.extend(self.printed_names(line));
            for name in found {
                let filled = code::Filled {
                    marker: Some("{}".to_owned()),
                    appended: !whole,
                    with: name,
                    ..code::Filled::default()
                };
                stream.taint = taint.and(self.template(&words, line.span, &filled).taint);
            }
            if line.row.name == "fd" {
                self.finds_all(line, &words);
            }
        } else if line.stdin.connected && !dry {
            let runs = matches!(
                line.does,
                Effect::Project
                    | Effect::Build
                    | Effect::Interactive
                    | Effect::Start
                    | Effect::Install
            );
            if runs && line.stdin.taint.network {
                self.unreadable(
                    "hands what was loaded from the network to a program that may run it",
                    line.span,
                );
            }
            if TALKERS.contains(line.row.name) && line.stdin.text.is_none() {
                let act = Act::new(Effect::NetSend, line.row.name, line.span)
                    .because("sends what it reads to another machine")
                    .target(Score::new(400));
                self.note(act);
            }
            self.reads_code(line);
        }
        stream
    }

    /// Follows the command that a wrapper starts.
    fn start(&mut self, line: &Line<'_>, command: &[Arg]) -> Stream {
        if let Some((task, rest)) = command.split_first()
            && TASK_RUNNERS.contains(line.row.name)
            && !line.leaves_environment(command)
            && self.is_own_task(command)
        {
            self.takes_up_task(task);
            self.telling_words(task, rest);
            self.task(task, line.row.name);
            self.note_inferred(Effect::Project, &task.shown(), line.span);
            return Stream::unknown(Taint::default());
        }
        if let Some(stream) = self.fetched_command(line, command) {
            return stream;
        }
        self.program(command, line.stdin)
    }

    /// Notes that a command only shows something.
    fn only_looks(&mut self, program: &'static str, span: Span) -> Stream {
        self.note(Act::new(Effect::Inspect, program, span));
        Stream::unknown(Taint::default())
    }

    /// Notes that something secret leaves the machine.
    pub(crate) fn leak(&mut self, row: &'static Row, span: Span) {
        let mut act = Act::new(Effect::Secret, row.name, span)
            .because("sends something secret out of the machine");
        act.marks.outbound = true;
        act.target = Score::ONE;
        self.note(act);
    }
}

/// Returns a program and its subcommand as they were called.
fn called(name: &str, words: &[Arg]) -> String {
    let plain = words.iter().filter(|word| !word.text.starts_with('-'));
    plain.fold(name.to_owned(), |mut called, word| {
        called.push(' ');
        called.push_str(&word.shown());
        called
    })
}
