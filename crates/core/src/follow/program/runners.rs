//! Programs nobody described that run a script of the project: `x run server.py`.

use super::unknown::speaks_against;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::knowledge::names::{RUNNING_OPTIONS, RUNNING_VERBS, TELLING_SCRIPT_WORDS};
use crate::knowledge::{self, Role, languages};
use crate::written::name;

/// Words behind the script that are looked at; more are put to a person.
const WORDS_MAX: usize = 12;

impl Walk<'_> {
    /// Returns the script of the workspace that an unknown program is told to run, and nothing else, where
    /// the program lies in the project's environment or the session wrote the script. Such a program is an
    /// interpreter or a server of the project's code; what was written is judged. One that the same command
    /// fetches may be anybody's, under any name, and one that takes commands of a shell may run them anywhere.
    pub(super) fn runs_own_script(&mut self, program: &Arg, words: &[Arg]) -> Option<Arg> {
        let (verb, rest) = words.split_first()?;
        let trusted = self.ground.workspace.is_some() && self.knows.trusts_workspace;
        let runs = RUNNING_VERBS.contains(verb.text.as_str());
        if !runs || !trusted || self.fetched || rest.len() > WORDS_MAX {
            return None;
        }
        let table = knowledge::verbs("unknown")?;
        let is_program = |language: &languages::Language| matches!(language.role, Role::Snippet(_));
        let is_script = |arg: &&Arg| {
            let ending = name(&arg.text).rsplit_once('.').map(|(_, ending)| ending);
            !arg.text.starts_with('-')
                && ending
                    .and_then(languages::by_extension)
                    .is_some_and(is_program)
        };
        let script = rest.iter().find(is_script)?;
        let place = self.place(&script.text);
        let own = place.inside == Some(true) && !place.vague && !script.glob;
        let own = own && (program.text.contains('/') || !self.may_hold(&place.path).is_empty());
        let plain = rest
            .iter()
            .filter(|arg| *arg != script && !RUNNING_OPTIONS.contains(arg.text.as_str()))
            .all(|arg| {
                let word = arg.text.trim_start_matches('-');
                let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=.".contains(&byte);
                // An address that everybody reaches, a program, a second file.
                let reaches = word.contains("0.0.0.0")
                    || !arg.text.starts_with('-') && knowledge::program(word).is_some();
                let tells = word
                    .split(['-', '_', '='])
                    .any(|it| TELLING_SCRIPT_WORDS.contains(it));
                word.bytes().all(is_part)
                    && !reaches
                    && !tells
                    && !speaks_against(table, word)
                    && !self.is_sensitive(&arg.text)
            });
        (own && plain).then(|| script.clone())
    }
}
