//! What each word of a command line stands for, and what happens to it by that.

use super::code::interpreter_role;
use super::options::{Hit, Options};
use crate::act::{Act, Breadth};
use crate::knowledge::{Effect, Role, Row, Value};
use crate::language;
use crate::score::Score;
use crate::shell::syntax::Span;
use crate::shell::value::{Arg, Stream, Taint};
use crate::shell::walk::{Walk, Writing};

impl Walk<'_> {
    /// Judges the options that were given. Returns what they read, and what they turn operands into.
    pub(super) fn hits(&mut self, row: &'static Row, hits: &[Hit], dry: bool) -> (Taint, Changes) {
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
    pub(super) fn reads_code(
        &mut self,
        row: &'static Row,
        read: &Options<'_>,
        stdin: &Stream,
        span: Span,
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
pub(super) const fn script_language(role: Role) -> Option<language::script::Lang> {
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
