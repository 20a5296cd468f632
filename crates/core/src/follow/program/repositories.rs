//! Commands controlled by their working directory: repository hooks and settings, infrastructure
//! providers and programs.

use super::Line;
use crate::act::Act;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::knowledge::Effect;
use crate::knowledge::names::{
    COMPARING_SUBCOMMANDS, HOOKED_ROWS, LISTING_OPTIONS, OWN_CHANGES, RUN_TO_LOOK, WITHOUT_HOOKS,
    WITHOUT_REPOSITORY,
};

/// Which word of a command names the repository it makes.
#[derive(Clone, Copy, Debug)]
enum Named {
    /// The first, or else it is the working directory.
    First,
    /// The second, or else it is called like the end of the first, an address.
    Second,
}

/// Programs and their commands after which a directory is a repository that git has just made.
const MAKING: &[(&str, &str, Named)] = &[
    ("git", " clone", Named::Second),
    ("git", " init", Named::First),
    ("git", " worktree add", Named::First),
    ("gh", " repo clone", Named::Second),
];

impl Walk<'_> {
    /// Judges where a command works whose directory says what runs.
    pub(super) fn obeys_directory(&mut self, line: &Line<'_>, base: Effect) {
        let mut words = line.row.name.split(' ');
        let program = words.next().unwrap_or("");
        let command = line.name.rsplit(' ').next().unwrap_or("");
        let quiet = RUN_TO_LOOK.iter().find(|(name, _)| *name == program);
        if quiet.is_some_and(|(_, quiet)| !quiet.contains(&command)) {
            self.builds_here(line.row.name, line.span);
            self.runs_of_others(line.row.name, line.span);
        }
        if HOOKED_ROWS.contains(line.row.name) {
            self.runs_of_others(line.row.name, line.span);
        }
        if program == "git" {
            self.obeys_repository(line, command, base);
        }
        self.remember_repository(line);
    }

    fn obeys_repository(&mut self, line: &Line<'_>, command: &str, base: Effect) {
        let only_looks = base <= Effect::Read || lists(line, command);
        let compares = COMPARING_SUBCOMMANDS.contains(command) && !line.read.has(&["--no-index"]);
        if self.ground.cwd.is_none()
            || WITHOUT_REPOSITORY.contains(command)
            || only_looks && !compares
        {
            return;
        }
        let place = self.place(".");
        // Looking at one's own other projects is ordinary; what runs in them is a question.
        let foreign = if only_looks {
            self.is_foreign(&place) && !place.path.starts_with('~')
        } else {
            self.is_foreign(&place) || self.is_elsewhere(&place)
        };
        let made = self.memory.is_in_made_repository(&place.path);
        // The settings of the owner's other projects are the owner's; their hooks run for a change.
        // A word with a colon is an address, or names a branch of theirs that is changed.
        let plain = !line
            .args
            .iter()
            .any(|arg| arg.text.contains(':') || arg.vague());
        // To commit runs no more of the owner's code than to test it does.
        let commits = base == Effect::VcsLocal
            && OWN_CHANGES.contains(line.row.name)
            && !line.args.iter().any(Arg::vague);
        let quiet = plain && WITHOUT_HOOKS.contains(line.row.name) || commits;
        let quiet = quiet && self.is_owners(&place);
        if foreign && !made && !quiet {
            let act = Act::new(Effect::Exec, line.row.name, line.span)
                .because("runs hooks and settings of a repository outside the workspace");
            self.note(act.on(place.path));
        }
    }

    fn remember_repository(&mut self, line: &Line<'_>) {
        let makes = |(program, command, _): &&(&str, &str, Named)| {
            line.name.starts_with(program) && line.name.ends_with(command)
        };
        let Some((_, _, named)) = MAKING.iter().find(makes) else {
            return;
        };
        let (first, second) = (line.read.operands.first(), line.read.operands.get(1));
        let text = |arg: &&Arg| arg.text.clone();
        let directory = match named {
            Named::First => first.map(text),
            Named::Second => second.map(text).or_else(|| {
                let address = first?.text.trim_end_matches('/');
                let name = address.rsplit(['/', ':']).next()?;
                Some(name.strip_suffix(".git").unwrap_or(name).to_owned())
            }),
        };
        let place = self.ground.place(directory.as_deref().unwrap_or("."));
        self.fills(&place, line.row.name, line.span);
        if !place.vague {
            self.memory.add_repository(place.path);
        }
    }
}

/// Whether `git branch` or `git tag` only lists: no name is given that could be made, and no option
/// that changes one.
fn lists(line: &Line<'_>, command: &str) -> bool {
    let by_pattern = |arg: &Arg| matches!(arg.text.as_str(), "-l" | "--list");
    let by_pattern = line.args.iter().any(by_pattern);
    let lists = |arg: &Arg| {
        let option = arg.text.split('=').next().unwrap_or("");
        !option.starts_with('-') || LISTING_OPTIONS.contains(option)
    };
    matches!(command, "branch" | "tag")
        && (line.read.operands.is_empty() || by_pattern)
        && line.args.iter().all(lists)
}
