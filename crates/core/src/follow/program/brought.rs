//! Code of somebody else that this script or an earlier call brought into the workspace: a clone, a
//! download, an archive that was loaded.
//!
//! The workspace's own code runs unasked. A repository that was cloned a moment ago lies inside it and is
//! not its own, whether it is built in the same call or in the next one.

use super::Line;
use super::filled::mark_of;
use super::options::Hit;
use super::roles::operand_roles;
use crate::act::Act;
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::Walk;
use crate::glob::glob_matches;
use crate::knowledge::names::{
    ARCHIVE_ENDINGS, CHECKOUTS_OF_OTHERS, LANDING_COMMANDS, PATCHING_PROGRAMS, TAKING_UP_REFS,
    UNPACKING_PROGRAMS,
};
use crate::knowledge::{Effect, PathKind, Role};
use crate::place::Place;
use crate::shell::syntax::Span;
use crate::written::{Wanted, name, parent};

/// Why code of others is a question.
const UNSEEN: &str = "runs code that came from elsewhere and was not seen";
/// The name under which it is remembered that others' files were checked out. It is no path, so later calls do
/// not hear of it: all their builds would be questions.
const OTHERS: &str = "… checked out from others";
/// Directories above a file, up to the workspace, that are asked about.
const ABOVE_MAX: usize = 4;
/// Words of a command that may name an archive.
const ARCHIVES_MAX: usize = 8;

impl Walk<'_> {
    /// Remembers that what lies at a place inside the workspace came from somebody else.
    pub(super) fn brings(&mut self, place: &Place, span: Span) {
        if place.inside == Some(true) && !place.vague && !self.memory.fill(mark_of(&place.path)) {
            self.unreadable("fills more directories than can be followed", span);
        }
    }

    /// Remembers where an archive that was loaded is unpacked.
    pub(super) fn unpacks_brought(&mut self, line: &Line<'_>) {
        if !UNPACKING_PROGRAMS.contains(line.name) {
            return;
        }
        let mut stems = Vec::new();
        for arg in line.args.iter().take(ARCHIVES_MAX) {
            let Some(stem) = stem_of(&arg.text) else {
                continue;
            };
            let path = self.place(&arg.text).path;
            if self.was_filled(&path) {
                stems.push(stem.to_owned());
            }
        }
        if stems.is_empty() && !line.stdin.taint.network {
            return;
        }
        let target = line.read.value(&["-C", "--directory", "-d", "--cd", "-o"]);
        let target = target.map_or(".", |target| target.text.as_str());
        let place = self.place(target);
        self.brings(&place, line.span);
        // Later calls are not all asked about because of one archive; most unpack into their own name.
        for stem in stems {
            let place = self.place(&format!("{target}/{stem}"));
            self.brings(&place, line.span);
        }
    }

    /// Remembers that the workspace is no longer all its own after a patch that somebody else wrote.
    pub(super) fn patches_brought(&mut self, line: &Line<'_>) {
        if !PATCHING_PROGRAMS.contains(line.row.name) {
            return;
        }
        let values = line.read.hits.iter().filter_map(|hit| hit.value.as_ref());
        let words = line.read.operands.iter().copied().chain(values);
        let words = words.map(|word| word.text.as_str());
        let given = line.stdin.files.iter().map(String::as_str);
        let files: Vec<String> = words
            .chain(given)
            .take(ARCHIVES_MAX)
            .map(str::to_owned)
            .collect();
        let mut strange = line.stdin.taint.network;
        for file in files {
            let path = self.place(&file).path;
            strange |= self.was_filled(&path)
                || self.may_hold(&path).iter().any(|held| held.taint.network);
        }
        if strange {
            let here = self.place(".");
            self.brings(&here, line.span);
            let looks = line.read.left_over.is_some()
                || ["--check", "--stat", "--numstat", "--summary"]
                    .iter()
                    .any(|option| line.read.has(&[option]) && !line.read.has(&["--apply"]));
            if !looks {
                // Whatever it changes runs with the next build or test, in this call or a later one.
                let act = Act::new(Effect::Exec, line.row.name, line.span)
                    .because("applies a patch from the network that was not seen");
                self.note(act);
            }
        }
    }

    /// Remembers that the files of the workspace are somebody else's after a command has checked out
    /// what a stranger proposes, or has loaded it from an address that is no remote of the repository.
    pub(super) fn checks_out_brought(&mut self, line: &Line<'_>) {
        if CHECKOUTS_OF_OTHERS.contains(line.name) {
            self.memory.fill(OTHERS.to_owned());
            return;
        }
        let Some(first) = line.read.operands.first().map(|arg| arg.text.clone()) else {
            return;
        };
        let mark = format!("./.git/remote of others {first}");
        let mark = self.ground.place(&mark).path;
        if TAKING_UP_REFS.contains(line.name) {
            self.takes_up_refs(line);
            return;
        }
        match line.name {
            "git remote add" => {
                self.marks_ref(&format!("{first}/"), line);
                if !self.memory.fill(mark_of(&mark)) {
                    self.unreadable("adds more remotes than can be followed", line.span);
                }
            }
            "git fetch" | "git pull" => {
                let is_address = self.is_address(&first);
                let proposed =
                    |arg: &&Arg| arg.text.contains("pull/") || arg.text.contains("merge-requests/");
                let proposed = line.read.operands.iter().any(proposed);
                let added = self.was_filled(&mark);
                let others = is_address || proposed || added;
                if others && line.name == "git pull" {
                    self.memory.fill(OTHERS.to_owned());
                }
                if others {
                    self.marks_refs(is_address || added, line);
                }
                if is_address && line.name == "git pull" && line.read.left_over.is_none() {
                    let act = Act::new(Effect::Exec, line.row.name, line.span).because(
                        "merges what lies at an address that is no remote of the repository",
                    );
                    self.note(act.on(&first));
                }
            }
            _ => {}
        }
    }

    /// Whether the source of `git fetch` is no remote of the repository: a URL, `host:path`, or a place outside
    /// the workspace.
    fn is_address(&mut self, source: &str) -> bool {
        let host = source.split_once(':').map_or("", |(host, _)| host);
        let is_path = source.starts_with(['/', '~', '.']);
        source.contains("://")
            || !host.is_empty() && !host.contains('/')
            || is_path && self.ground.place(source).inside != Some(true)
    }

    /// Remembers the names that a command gives to what it loads. What is proposed to the project itself is
    /// remembered in this call alone.
    fn marks_refs(&mut self, lasts: bool, line: &Line<'_>) {
        let targets = line.read.operands.iter().skip(1);
        let targets = targets.filter_map(|arg| arg.text.split_once(':'));
        let mut names: Vec<String> = targets.map(|(_, to)| to.to_owned()).collect();
        names.push("FETCH_HEAD".to_owned());
        for name in names.iter().take(ARCHIVES_MAX) {
            let name = name.trim_start_matches("refs/heads/");
            if lasts {
                self.marks_ref(name, line);
            } else {
                self.memory.fill(format!("{OTHERS} {name}"));
            }
        }
    }

    /// Judges a command that puts what a name of the repository stands for into the working directory.
    fn takes_up_refs(&mut self, line: &Line<'_>) {
        let operands = line.read.operands.iter().take(ARCHIVES_MAX);
        let refs: Vec<String> = operands.map(|arg| arg.text.clone()).collect();
        for name in refs {
            let name = plain_ref(&name).to_owned();
            if self.memory.is_filled(&format!("{OTHERS} {name}")) {
                self.memory.fill(OTHERS.to_owned());
            }
            let remote = name.split('/').next().unwrap_or("");
            let marks = [mark_of_ref(&name), mark_of_ref(&format!("{remote}/"))];
            let marks = marks.map(|mark| self.ground.place(&mark).path);
            if marks.iter().any(|mark| self.was_filled(mark)) {
                // Whatever is in it runs with the next build or test, in this call or a later one.
                let act = Act::new(Effect::Exec, line.row.name, line.span)
                    .because("takes up what was loaded from the repository of somebody else");
                self.note(act.on(name));
            }
        }
    }

    /// Remembers that a name in the repository stands for what somebody else wrote.
    fn marks_ref(&mut self, ref_name: &str, line: &Line<'_>) {
        let mark = self.ground.place(&mark_of_ref(ref_name)).path;
        if !self.memory.fill(mark_of(&mark)) {
            self.unreadable("loads more branches than can be followed", line.span);
        }
    }

    /// Judges what builds, tests, installs or starts the project after somebody else's files were checked out by
    /// the same call, whichever program does it: `make`, a task, a program that nobody has described.
    pub(crate) fn builds_of_others(&mut self, act: &Act) {
        let builds = matches!(
            act.effect,
            Effect::Build | Effect::Project | Effect::Install | Effect::Start
        );
        if builds && self.memory.is_filled(OTHERS) {
            self.runs_of_others(&act.program.clone(), act.span);
        }
    }

    /// Notes that code runs which somebody else proposed, where this call has checked it out.
    pub(super) fn runs_of_others(&mut self, program: &str, span: Span) {
        let here = self.ground.place(".");
        if self.memory.is_filled(OTHERS) && here.inside != Some(false) {
            let act = Act::new(Effect::Exec, program.to_owned(), span).because(UNSEEN);
            self.note(act.on(&here.path));
        }
    }

    /// Remembers what a command takes from a phone, a container or a release: files under names of theirs, where it
    /// works or where a word says.
    pub(super) fn lands_brought(&mut self, line: &Line<'_>) {
        if !LANDING_COMMANDS.contains(line.row.name) || line.read.is_dry() {
            return;
        }
        let mut stream = Stream::unknown(line.stdin.taint);
        stream.taint.network = true;
        let roles = operand_roles(line.row, line.read);
        let operands = line.read.operands.iter().zip(&roles).take(ARCHIVES_MAX);
        let options = line.read.hits.iter().filter_map(Hit::meaning);
        let options = options.filter(|(role, _)| *role == Role::Write);
        let words = operands
            .clone()
            .filter(|(_, role)| **role == Some(Role::Write));
        let targets = words
            .map(|(arg, _)| *arg)
            .chain(options.map(|(_, arg)| arg));
        let mut targets: Vec<String> = targets.map(|arg| arg.text.clone()).collect();
        if targets.is_empty() {
            targets.push(".".to_owned());
        }
        let sources = operands.filter(|(_, role)| **role != Some(Role::Write));
        let names = sources.map(|(arg, _)| arg.text.rsplit(['/', ':']).next().unwrap_or(""));
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        for target in targets.iter().take(ARCHIVES_MAX) {
            let place = self.place(target);
            self.brings(&place, line.span);
            for name in &names {
                let file = format!("{}/{name}", target.trim_end_matches('/'));
                self.remember_file(&Arg::literal(file, line.span), stream.clone());
            }
        }
    }

    /// Whether what lies at `path` inside the workspace, or in a directory above it, came from
    /// somebody else.
    pub(super) fn is_brought(&mut self, path: &str) -> bool {
        let mut path = path;
        for _ in 0..ABOVE_MAX {
            let place = self.ground.place(path);
            if place.inside != Some(true) {
                return false;
            }
            if place.whole_workspace {
                return self.memory.is_filled(&mark_of(path));
            }
            if self.was_filled(path) {
                return true;
            }
            path = parent(path);
        }
        false
    }

    /// Judges running what lies at `path`, if it came from somebody else.
    pub(super) fn runs_brought(&mut self, path: &str, program: &str, span: Span) {
        let others = self.memory.is_filled(OTHERS) && self.ground.place(path).inside == Some(true);
        if others || self.is_brought(path) {
            let act = Act::new(Effect::Exec, program.to_owned(), self.here(span)).because(UNSEEN);
            self.note(act.on(path));
        }
    }

    /// Judges files that a pattern in the place of a script may find, where the same agent wrote them.
    pub(super) fn runs_matches(&mut self, pattern: &str, interpreter: &str, span: Span) {
        if !name(pattern).contains(['*', '?', '[']) {
            return;
        }
        let directory = parent(pattern);
        self.memory.want(Wanted::Directory(directory.to_owned()));
        let before = self.knows.written.within(directory).map(|(path, _)| path);
        let now = self.memory.paths().filter(|path| parent(path) == directory);
        let found = |path: &&str| glob_matches(name(pattern).as_bytes(), name(path).as_bytes());
        let mut paths: Vec<String> = before.chain(now).filter(found).map(str::to_owned).collect();
        paths.sort();
        paths.dedup();
        for path in paths {
            for stream in self.held(&path) {
                self.run_written(&path, &stream, interpreter, span);
            }
        }
    }

    /// Remembers that a copy of what came from somebody else is theirs, too.
    pub(super) fn brings_copy(&mut self, source: &Place, target: &Arg) {
        let outside = source.inside == Some(false) && source.kind != PathKind::System;
        let strange = outside && !self.is_seen(source) && !self.is_owners(source);
        if strange || self.was_filled(&source.path) {
            let below = format!(
                "{}/{}",
                target.text.trim_end_matches('/'),
                name(&source.path)
            );
            for copy in [target.text.as_str(), below.as_str()] {
                let place = self.place(copy);
                if !place.whole_workspace {
                    self.brings(&place, target.span);
                }
            }
        }
    }
}

/// Returns the name of a ref without its folder and without what leads from it to another commit.
fn plain_ref(name: &str) -> &str {
    let name = name.split(['~', '^']).next().unwrap_or(name);
    let name = name.split("@{").next().unwrap_or(name);
    let folders = ["refs/heads/", "refs/remotes/", "remotes/", "heads/"];
    let within = folders.iter().find_map(|folder| name.strip_prefix(folder));
    within.unwrap_or(name)
}

/// Returns where it is remembered that a name in the repository stands for what somebody else wrote; a remote's
/// name ends in a slash.
fn mark_of_ref(ref_name: &str) -> String {
    format!("./.git/ref of others {}", ref_name.replace('/', "\\"))
}

/// Returns the name of an archive without the ending that says how it is packed.
fn stem_of(path: &str) -> Option<&str> {
    let name = name(path);
    ARCHIVE_ENDINGS
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .filter(|stem| !stem.is_empty())
}
