//! Ways around the firewall that no row describes: its own program started by another one, its files changed by
//! git, and the memory of processes.

use super::readers::system::is_own_job;
use super::{GUARDS, Line};
use crate::act::Act;
use crate::follow::patch;
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::{Walk, Writing};
use crate::knowledge::names::TREE_CHANGERS;
use crate::knowledge::{Effect, PathKind};

/// Words of a command line that are looked at for the name of the firewall.
const WORDS_MAX: usize = 32;
/// How the ids of questions begin.
const QUESTION: &str = "appr_";

impl Walk<'_> {
    /// Judges attaching to a process: whoever traces or debugs it reads its memory and can change it. What this
    /// script started itself is its own.
    pub(super) fn attaches(&mut self, arg: &Arg, program: &'static str) {
        if is_own_job(arg) {
            return;
        }
        let act = Act::new(Effect::Privilege, program, self.here(arg.span))
            .because("reads or changes the memory of another process");
        self.note(act.on(arg.shown()));
    }

    /// Judges a command that reaches the firewall by a program that has another name.
    pub(super) fn around_guards(&mut self, line: &Line<'_>) {
        if TREE_CHANGERS.contains(line.name) {
            self.changes_guarded(line);
        }
        // `gdb program 1234`: a number behind the program is a process.
        let process = line.read.operands.get(1).copied();
        let is_number = |arg: &&Arg| arg.text.bytes().all(|byte| byte.is_ascii_digit());
        if let (Some(process), "gdb") = (process.filter(is_number), line.row.name) {
            self.attaches(process, line.row.name);
        }
        let runs = matches!(
            line.does,
            Effect::Project | Effect::Build | Effect::Start | Effect::Install
        );
        if runs {
            self.starts_guard(line);
        }
    }

    /// `git mv a .countersign.yaml`, `git apply` of a patch that changes it.
    fn changes_guarded(&mut self, line: &Line<'_>) {
        let mut paths: Vec<String> = Vec::new();
        for operand in line.read.operands.iter().take(WORDS_MAX) {
            paths.push(operand.text.clone());
            if line.name == "git apply" || line.name == "git am" {
                let path = self.ground.place(&operand.text).path;
                for held in self.may_hold(&path) {
                    paths.extend(files_of(&held));
                }
            }
        }
        paths.extend(files_of(line.stdin));
        for path in paths {
            let kind = self.ground.place(&path).kind;
            if matches!(kind, PathKind::Guard | PathKind::Agent | PathKind::Hook) {
                let path = Arg::literal(path, line.span);
                self.writes(&path, line.row.name, Writing::Replace);
            }
        }
    }

    /// `cargo run -p countersign -- answer …`, `docker run countersign answer …`: what follows are words for the
    /// firewall's own program.
    fn starts_guard(&mut self, line: &Line<'_>) {
        let words = line.args.get(..line.args.len().min(WORDS_MAX));
        let words = words.unwrap_or(line.args);
        let named = words.iter().position(|arg| names_guard(&arg.text));
        let dashes = words.iter().position(|arg| arg.text == "--");
        let answers = || words.iter().any(|arg| arg.text.starts_with(QUESTION));
        let from = match (named, dashes) {
            (Some(named), Some(dashes)) if named < dashes => dashes + 1,
            (Some(named), None) => named + 1,
            (None, Some(dashes)) if answers() => dashes + 1,
            _ => return,
        };
        let rest = line.args.get(from..).unwrap_or(&[]);
        // An option behind the name is one of the runner.
        let rest = if dashes.is_none() && rest.first().is_some_and(|arg| arg.text.starts_with('-'))
        {
            &[]
        } else {
            rest
        };
        if !rest.is_empty() {
            let mut command = vec![Arg::literal("countersign", line.span)];
            command.extend_from_slice(rest);
            self.program(&command, &Stream::default());
        }
    }
}

/// Returns the files that a patch changes.
fn files_of(stream: &Stream) -> Vec<String> {
    let text = stream.text.as_deref().unwrap_or_default();
    let files = patch::read(text).files.into_iter();
    files.map(|(path, _)| path).collect()
}

/// Whether a word names the firewall: a package, a binary, an image with its registry and tag.
fn names_guard(word: &str) -> bool {
    let word = word.rsplit('=').next().unwrap_or(word);
    let name = word.rsplit(['/', '#']).next().unwrap_or(word);
    let name = name.split([':', '@']).next().unwrap_or(name);
    GUARDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::names_guard;

    #[test]
    fn the_firewall_is_known_by_package_binary_and_image() {
        for word in [
            "countersign",
            "--bin=countersign",
            "ghcr.io/x/countersign:latest",
            ".#countersign",
            "countersign@1",
        ] {
            assert!(names_guard(word), "{word}");
        }
        assert!(!names_guard("countersign-core") && !names_guard("x"));
    }
}
