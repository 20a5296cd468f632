//! Files of `docker compose` that this script or an earlier call wrote: what they open to containers.
//!
//! `docker run -v /:/host` is a question, so the same mount in a file that was written first is one, too.

use super::Line;
use crate::act::Act;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::glob::glob_matches;
use crate::knowledge::Effect;
use crate::knowledge::names::{COMPOSE_FILES, COMPOSE_PRIVILEGES, CONTAINER_STARTERS};
use crate::place::mark_home;
use crate::shell::syntax::Span;
use crate::written::{Wanted, name};

/// Lines of one file that are looked at; a longer one is put to a person.
const LINES_MAX: usize = 2048;

impl Walk<'_> {
    /// Judges the files by which `line` starts containers.
    pub(super) fn composes(&mut self, line: &Line<'_>) {
        let compose = line.name.contains("compose");
        if !compose || !matches!(line.does, Effect::Start | Effect::Build) {
            return;
        }
        let here = self.ground.place(".").path;
        self.memory.want(Wanted::Directory(here.clone()));
        let is_one = |path: &&str| {
            let is_like = |pattern: &str| glob_matches(pattern.as_bytes(), name(path).as_bytes());
            COMPOSE_FILES.iter().any(is_like)
        };
        let before = self.knows.written.within(&here).map(|(path, _)| path);
        let found = before.chain(self.memory.paths()).filter(is_one);
        let mut files: Vec<String> = found.map(str::to_owned).collect();
        files.sort();
        files.dedup();
        for file in files {
            self.composed(&file, line.row.name, line.span);
        }
    }

    /// Judges the file at `path`, by which `program` may start containers.
    pub(super) fn composed(&mut self, path: &str, program: &'static str, span: Span) {
        let starter = program.split([' ', '-']).next().unwrap_or(program);
        if !CONTAINER_STARTERS.contains(starter) {
            return;
        }
        let held = self.may_hold(path).into_iter();
        for text in held.filter_map(|held| held.text) {
            self.composed_text(&text, program, span);
        }
    }

    fn composed_text(&mut self, text: &str, program: &'static str, span: Span) {
        if text.lines().nth(LINES_MAX).is_some() {
            self.unreadable("a file of containers that is too long to be read", span);
        }
        for entry in text.lines().take(LINES_MAX) {
            let entry = entry.split(" #").next().unwrap_or("").trim();
            let entry = &entry.replace("${HOME}", "~").replace("$HOME", "~");
            let words = entry.split(|letter: char| {
                letter.is_whitespace() || matches!(letter, ',' | '[' | ']' | '{' | '}' | '"' | '\'')
            });
            // `- /a:/b`, or `source: /a` of the long form; other words are of the container.
            let key = entry.trim_start_matches(['-', ' ']);
            let named = ["source:", "device:"]
                .iter()
                .any(|name| key.starts_with(name));
            let is_source = |word: &&str| {
                let opened = named || word.contains(':') || word.starts_with("/dev/");
                word.starts_with(['/', '~', '.', '$']) && opened
            };
            for word in words.filter(is_source) {
                self.mounts(&Arg::literal(mark_home(word), span), program);
            }
            let plain: String = entry
                .chars()
                .filter(|letter| !letter.is_whitespace())
                .collect();
            if COMPOSE_PRIVILEGES.iter().any(|words| plain.contains(words)) {
                let act = Act::new(Effect::Privilege, program, span)
                    .because("starts a container that reaches the machine");
                self.note(act.on(entry.to_owned()));
            }
        }
    }
}
