//! Directories outside the workspace: which of them are the owner's other projects, and which this
//! script or an earlier call has filled with files that nobody saw.

use super::Line;
use super::options::Hit;
use super::resolve::find_program;
use super::roles::operand_roles;
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::Walk;
use crate::knowledge::names::{
    CLONING_PROGRAMS, DOWNLOADERS, FILLING_NOTHING, RECURSIVE_DOWNLOADS, SKILL_FOLDERS,
};
use crate::knowledge::{Effect, PathKind, Program, Role};
use crate::place::{Place, mark_home};
use crate::score::Score;
use crate::shell::syntax::Span;
use crate::written::{Wanted, parent};

/// Folders of Windows that everybody fills, wherever they lie.
const SHARED_FOLDERS: &[&str] = &[
    "/temp/",
    "/tmp/",
    "/downloads/",
    "/public/",
    "/desktop/",
    "/onedrive",
];
/// Directories above a file that are asked about.
const ABOVE_MAX: usize = 12;
/// How sensitive a place must be for a person to be asked.
const SENSITIVE: Score = Score::new(600);

impl Line<'_> {
    /// Whether a word of it names what it makes.
    pub(super) fn names_target(&self) -> bool {
        let is_target = |role: &Option<Role>| matches!(role, Some(Role::Write | Role::Create));
        operand_roles(self.row, self.read).iter().any(is_target)
    }

    /// Whether an option of it names what it makes.
    fn sets_target(&self) -> bool {
        let values = self.read.hits.iter().filter_map(Hit::meaning);
        let mut roles = values.map(|(role, _)| role);
        roles.any(|role| matches!(role, Role::Write | Role::Create))
    }
}

impl Walk<'_> {
    /// Remembers that `program` puts something into a place outside the workspace: a clone, an
    /// archive, a copy. What lies there from now on is not known.
    pub(crate) fn fills(&mut self, place: &Place, program: &str, span: Span) {
        // A worktree is the project's own where its repository is.
        let own = !program.starts_with("git ") || self.ground.place(".").inside == Some(true);
        let nothing = own && FILLING_NOTHING.contains(program);
        // What begins with something unknown may lie anywhere, whatever directory it is named from.
        let known = place.path.split('…').next().unwrap_or("");
        let anywhere = place.vague && known.trim_end_matches('/') == self.ground.place(".").path;
        let inside = place.inside == Some(true) && !anywhere;
        if inside && CLONING_PROGRAMS.contains(program) {
            self.brings(place, span);
        }
        if inside || nothing || place.kind == PathKind::Sink {
            return;
        }
        let mut filled = Vec::new();
        if place.vague || place.inside.is_none() {
            // It may lie in any project beside the workspace.
            let workspace = self.ground.workspace.as_deref().unwrap_or("");
            let near = parent(workspace);
            filled.extend([near, parent(near)].map(str::to_owned));
            filled.retain(|folder| !folder.is_empty());
        } else if let Some(project) = self.ground.beside(&place.path) {
            filled.push(project);
        } else if program != ">" {
            // A redirection writes one file, whose content is followed by itself.
            filled.push(place.path.clone());
        }
        for folder in filled {
            if !self.memory.fill(mark_of(&folder)) {
                self.unreadable("fills more directories than can be followed", span);
            }
        }
    }

    /// Remembers that a command changes files of the directory it works in, of which it names none
    /// or only some: an archive is unpacked, a patch applied, another branch checked out.
    pub(super) fn fills_here(&mut self, line: &Line<'_>, base: Effect) {
        let changes = matches!(
            base,
            Effect::Create | Effect::Write | Effect::VcsLocal | Effect::VcsDiscard
        );
        // What git changes in another repository is a question of its own.
        let changes = changes && !line.row.name.starts_with("git ");
        let remote_name = line.read.has(&["-O", "--remote-name", "--remote-name-all"]);
        let puts = remote_name || DOWNLOADERS.contains(line.row.name);
        let downloads = base == Effect::NetRead && puts;
        if !changes && !downloads || self.ground.cwd.is_none() {
            return;
        }
        let place = self.place(".");
        // Among the owner's projects a single file may say what runs; elsewhere a file that is
        // named is followed by itself.
        let project = self.ground.beside(&place.path).is_some();
        let many = if downloads {
            let gives = |option: &str| line.args.iter().any(|arg| arg.text == option);
            RECURSIVE_DOWNLOADS.iter().any(gives)
        } else {
            !line.names_target() && !line.sets_target()
        };
        if project || many {
            self.fills(&place, line.row.name, line.span);
        }
    }

    /// Whether a place lies in another project of the owner, beside the workspace, into which
    /// neither this script nor an earlier call has put anything.
    pub(super) fn is_owners(&mut self, place: &Place) -> bool {
        let ordinary = place.kind == PathKind::Document && place.write < SENSITIVE && !place.vague;
        if !self.knows.trusts_beside || !self.knows.trusts_workspace || !ordinary {
            return false;
        }
        let linked = self.memory.behind_link(&place.path).is_some();
        let Some(project) = self.ground.beside(&place.path).filter(|_| !linked) else {
            return false;
        };
        !self.was_filled(&project) && self.is_settled(&project)
    }

    /// Whether nothing is known to have put files that nobody saw into one of the directories that
    /// the file at `path` lies in.
    pub(super) fn is_settled(&mut self, path: &str) -> bool {
        let mut directory = parent(path);
        for _ in 0..ABOVE_MAX {
            if directory.is_empty() || directory == "~" {
                return true;
            }
            if self.was_filled(directory) {
                return false;
            }
            directory = parent(directory);
        }
        false
    }

    /// Whether all that the file at a place outside the workspace may hold was seen: this script or
    /// earlier calls wrote it for certain, and nothing else is known to have filled its directory.
    pub(super) fn is_seen(&mut self, place: &Place) -> bool {
        let ordinary = matches!(place.kind, PathKind::Temp | PathKind::Document)
            && place.write < SENSITIVE
            && place.inside == Some(false)
            && !place.vague;
        let lost = self.memory.has_lost_files() || self.memory.is_doubtful(&place.path);
        if !ordinary || lost || !self.knows.trusts_workspace {
            return false;
        }
        let held = self.may_hold(&place.path);
        let seen = |stream: &Stream| {
            stream.text.is_some() && !stream.taint.network && !stream.taint.uncertain
        };
        !held.is_empty() && held.iter().all(seen) && self.is_settled(&place.path)
    }

    /// Whether all sources that a command like `go run` names outside the workspace were seen.
    pub(super) fn sources_are_seen(&mut self, line: &Line<'_>) -> bool {
        let Some((first, _)) = line
            .read
            .operands
            .iter()
            .zip(operand_roles(line.row, line.read))
            .find(|(_, role)| *role == Some(Role::Script))
        else {
            return false;
        };
        let Some((_, end)) = first
            .text
            .rsplit_once('.')
            .filter(|(_, end)| !end.is_empty())
        else {
            return false;
        };
        let same = |operand: &&&Arg| operand.text.ends_with(end);
        let sources: Vec<Arg> = line
            .read
            .operands
            .iter()
            .filter(same)
            .map(|arg| (*arg).clone())
            .collect();
        sources.iter().all(|source| {
            let place = self.place(&source.text);
            self.is_seen(&place)
        })
    }

    /// Whether a file lies in a folder of the home into which the owner installs skills and plugins
    /// of agents, and the agent did not write it.
    pub(super) fn is_installed(&mut self, place: &Place) -> bool {
        let folder = |folder: &str| {
            let below = place.path.strip_prefix("~/")?.strip_prefix(folder)?;
            Some(below.starts_with('/'))
        };
        let is_there = SKILL_FOLDERS.iter().any(|name| folder(name) == Some(true));
        is_there
            && !place.vague
            && place.inside != Some(true)
            && self.may_hold(&place.path).is_empty()
            && self.is_settled(&place.path)
    }

    /// Whether a program that is called by its path outside the workspace may be another one than its
    /// name says, because this script or an earlier call has put it there.
    pub(super) fn is_replaced(&mut self, program: &Arg) -> bool {
        if !program.text.contains(['/', '\\']) || program.vague() {
            return false;
        }
        let place = self.place(&program.text);
        place.inside == Some(false)
            && place.kind != PathKind::System
            && !(self.may_hold(&place.path).is_empty() && self.is_settled(&place.path))
    }

    /// Returns the program that a path of Windows names where the owner installs programs: on the system
    /// drive or in a user's application data, outside what everybody fills. To write there is a question,
    /// and what this session has put there is not the program of that name.
    pub(super) fn installed(&mut self, program: &Arg) -> Option<(&'static Program, String)> {
        let base = program.text.rsplit(['/', '\\']).next()?;
        if !self.ground.is_windows
            || !base.to_ascii_lowercase().ends_with(".exe")
            || program.vague()
            || self.is_replaced(program)
        {
            return None;
        }
        let found = find_program(base)?;
        let place = self.place(&program.text);
        let path = place.path.to_lowercase();
        let is_installed = match path.strip_prefix('~') {
            Some(below) => below.starts_with("/appdata/"),
            None => path.starts_with("c:/"),
        };
        let is_filled_by_all = SHARED_FOLDERS.iter().any(|folder| path.contains(folder));
        let is_outside = place.inside == Some(false) && place.kind != PathKind::Temp;
        (is_installed && is_outside && !is_filled_by_all).then_some(found)
    }

    /// Whether a program that is called by its path in the workspace is a file that the session has written:
    /// then its name says nothing about what it does.
    pub(super) fn is_written_here(&mut self, program: &Arg) -> bool {
        if !program.text.contains(['/', '\\']) || program.vague() {
            return false;
        }
        let place = self.place(&program.text);
        place.inside == Some(true) && !self.may_hold(&place.path).is_empty()
    }

    pub(super) fn was_filled(&mut self, directory: &str) -> bool {
        let directory = mark_of(directory);
        let mark = format!("{directory}/");
        let before = self.knows.written.at(&mark).next().is_some();
        self.memory.want(Wanted::File(mark));
        before || self.memory.is_filled(&directory)
    }
}

/// Returns the one spelling by which a directory is remembered as filled: some file systems make no
/// difference between capital and small letters.
pub(super) fn mark_of(directory: &str) -> String {
    let marked = mark_home(directory).to_lowercase();
    marked.trim_end_matches('/').to_owned()
}
