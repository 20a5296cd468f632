//! Subcommands without a row: inferred from the verbs in their names.

use super::options;
use super::resolve::leading_words;
use super::{Line, foreign, lifts};
use crate::act::Act;
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::Walk;
use crate::knowledge::{Effect, Program, Role};
use crate::place::display;

/// How many words of a command may name tasks.
const TASK_WORDS: usize = 8;

impl Walk<'_> {
    /// Judges a subcommand that has no row by the verbs in its leading words.
    pub(super) fn by_verb(
        &mut self,
        program: &'static Program,
        name: &str,
        first: &Arg,
        rest: &[Arg],
        stdin: &Stream,
    ) -> Stream {
        let span = self.here(first.span);
        self.shows_handed(&program.row, name, rest);
        if lifts::asks_about_words(&program.row, rest) {
            return self.only_looks(program.row.name, span);
        }
        let shown = leading_words(program, rest);
        let verb = program
            .verbs
            .and_then(|verbs| shown.iter().filter_map(|word| verbs.effect(word)).max());
        let Some(effect) = verb else {
            return self.by_no_verb(program, name, first, rest, stdin);
        };
        let read = options::read(&program.row, rest);
        if let Some(unknown) = &read.unknown {
            self.note_unlisted(&program.row, name, unknown, span);
        }
        let effect = match read.left_over {
            Some(left) => left.max(Effect::CloudRead),
            None => effect,
        };
        self.hits(&program.row, name, &read.hits, read.left_over.is_some());
        let line = Line {
            row: &program.row,
            does: effect,
            name,
            args: rest,
            read: &read,
            stdin,
            span,
        };
        self.heed_people(&line);
        self.beyond_the_row(&line);
        self.spreads(&line);
        self.prepared(&line, effect);
        for operand in read
            .operands
            .iter()
            .filter(|_| program.row.has_operand(Role::Task))
        {
            self.task(operand, program.row.name);
        }
        if matches!(effect, Effect::Build | Effect::Project | Effect::Install) {
            for word in read.operands.iter().take(TASK_WORDS) {
                self.tells_production(word, &[]);
            }
            self.builds_here(program.row.name, span);
        }
        // `bun https://…`, `bun run data:…`: what stands where a script may stand can be an address.
        let scripts = program.row.has_operand(Role::Script);
        for word in read.operands.iter().take(2).filter(|_| scripts) {
            if foreign::is_no_file(&word.text) {
                self.script_file(word, program.row.name);
            }
        }
        if matches!(effect, Effect::Project | Effect::Build) {
            // What follows `--` is for the task itself.
            let own = rest.split(|arg| arg.text == "--").next().unwrap_or(&[]);
            let own = options::read(&program.row, own);
            self.foreign_words(&own, program.row.name, stdin);
        }
        for word in read
            .operands
            .iter()
            .filter(|_| program.row.has_operand(Role::Define))
        {
            self.defines(word, program.row.name);
            if effect == Effect::Install {
                self.installs_into(word, program.row.name);
            }
        }
        if effect == Effect::Install {
            self.installs_as_given(program.row.name);
        }
        let title = display(&format!("{name} {}", shown.join(" ")));
        self.note(Act::new(effect, program.row.name, span).on(title));
        Stream::unknown(Taint {
            secret: effect == Effect::Secret,
            network: true,
            data: true,
            ..Taint::default()
        })
    }

    /// Judges a subcommand that has neither a row nor a verb in its words.
    fn by_no_verb(
        &mut self,
        program: &'static Program,
        name: &str,
        first: &Arg,
        rest: &[Arg],
        stdin: &Stream,
    ) -> Stream {
        let span = self.here(first.span);
        let shown = leading_words(program, rest);
        // `semgrep src`: without a subcommand its words are files that it reads.
        let places = program.row.operands.first();
        let reads = places.is_some_and(|place| place.role == Role::Read);
        if program.row.does != Effect::Unknown && (shown.is_empty() || reads) {
            return self.evaluate(&program.row, program.row.does, name, rest, stdin);
        }
        let title = format!("{name} {}", shown.first().copied().unwrap_or(""));
        let read = options::read(&program.row, rest);
        if lifts::shown_instead(&program.row, &read.hits, rest) == Some(Effect::Inspect) {
            return self.only_looks(program.row.name, span);
        }
        self.hits(&program.row, name, &read.hits, false);
        // A program that can reveal a secret or raise rights may do so under a harmless word.
        let guarded = program.subs.iter().any(|(_, row)| {
            matches!(
                row.does,
                Effect::Secret | Effect::Pay | Effect::Privilege | Effect::Guard
            )
        });
        // `cargo build-docs`: what builds may have more words for it, of the project's own.
        let builds = program
            .subs
            .iter()
            .any(|(_, row)| row.does == Effect::Build);
        if program.verbs.is_none()
            && let Some(effect) = self.inferred(rest)
            && (!guarded || builds && effect == Effect::Build)
        {
            self.note_inferred(effect, title.trim(), span);
            return Stream::unknown(Taint::default()).telling();
        }
        self.note(Act::new(Effect::Unknown, title.trim().to_owned(), span).on(title.trim()));
        Stream::unknown(Taint::default()).telling()
    }

    /// Judges where variables in front of a command say that it installs.
    fn installs_as_given(&mut self, program: &'static str) {
        for (name, value) in self.scope.given.clone() {
            let word = Arg::literal(format!("{name}={}", value.text), value.span);
            self.installs_into(&word, program);
        }
    }
}
