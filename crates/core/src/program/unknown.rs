//! Programs without a row: what their words let one infer.

use crate::act::Act;
use crate::knowledge::{self, Effect};
use crate::language;
use crate::score::Score;
use crate::shell::value::{Arg, Stream, Taint};
use crate::shell::walk::Walk;

impl Walk<'_> {
    /// Judges a program that has no row, by its words.
    pub(super) fn unknown_program(&mut self, name: &str, first: &Arg, rest: &[Arg]) -> Stream {
        // Asking a program what it is changes nothing, whatever it is.
        let asks = matches!(rest, [only] if matches!(only.text.as_str(), "--version" | "--help" | "-V" | "-h" | "help" | "version" | "-version" | "-help"));
        let span = self.here(first.span);
        if is_cmdlet(name) {
            let words = std::iter::once(name).chain(rest.iter().map(|arg| arg.text.as_str()));
            let reading = language::powershell::read(&words.collect::<Vec<_>>().join(" "));
            self.deeds(&reading, "powershell", first.span);
            self.note(Act::new(Effect::Unknown, name.to_owned(), span).on(name));
        } else if asks {
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
    pub(super) fn inferred(&self, rest: &[Arg]) -> Option<Effect> {
        let table = knowledge::VERBS
            .iter()
            .find(|verbs| verbs.name == "unknown")?;
        let mut found: Option<Effect> = None;
        // Only the leading words can be what is asked for; the others can still speak against it.
        let mut leading = 0_u32;
        for arg in rest {
            leading += u32::from(!arg.text.starts_with('-'));
            if arg.vague() && leading <= 3 || arg.taint.secret || arg.delivers.is_some() {
                return None;
            }
            // Nobody knows what it does with what it is shown, or in what language it is asked.
            let value = arg.text.rsplit('=').next().unwrap_or("");
            let sensitive = self.ground.place(value).read >= Score::new(600);
            if sensitive || arg.text.contains(['`', ';', '|']) || is_writing_query(&arg.text) {
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
                        if leading <= 3
                            && !arg.text.starts_with('-')
                            && found.is_none()
                            && words.starts_with(word) =>
                    {
                        found = Some(effect);
                    }
                    Some(_) | None => {}
                }
            }
        }
        let trusted = self.ground.workspace.is_some() && self.knows.trusts_workspace;
        found.filter(|effect| *effect != Effect::Build || trusted)
    }
}

/// Whether a text is a query that changes something: `DELETE FROM users`.
fn is_writing_query(text: &str) -> bool {
    const WRITING_WORDS: &[&str] = &[
        "insert", "update", "delete", "drop", "alter", "truncate", "create", "grant", "revoke",
        "replace", "merge", "copy", "call", "exec", "execute",
    ];
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("").to_ascii_lowercase();
    words.next().is_some() && WRITING_WORDS.contains(&first.as_str())
}

/// Whether a name reads like a command of PowerShell: `Remove-Item`.
fn is_cmdlet(name: &str) -> bool {
    name.split_once('-').is_some_and(|(verb, noun)| {
        let word = |text: &str| {
            text.starts_with(|first: char| first.is_ascii_uppercase())
                && text.bytes().all(|byte| byte.is_ascii_alphabetic())
        };
        word(verb) && word(noun)
    })
}
