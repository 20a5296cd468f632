//! Programs that this session has installed of the project itself, and then runs by their names.
//!
//! `npm install -g ./x-1.0.0.tgz` and `cargo install --path .` put the project's own code where every program
//! lies. It is as trusted under its name as in the workspace, and what the session wrote of it is judged.
//! Such a program is remembered by a mark that only its installation leaves.

use super::Line;
use super::options::Hit;
use super::owners::is_describable;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::knowledge::Effect;
use crate::knowledge::names::{
    ACCOUNT_INSTALLS, ARCHIVE_ENDINGS, GLOBAL_INSTALLERS, GLOBAL_OPTIONS, PROJECT_INSTALLS,
    SOURCE_FOLDERS,
};
use crate::place::Place;
use crate::shell::syntax::Span;
use crate::written::{Content, Wanted, name, parent};

/// The directory under which such programs are remembered.
const MARK: &str = "/programs installed by this session";
/// Words of an installation that may name what is installed.
const NAMED_MAX: usize = 8;
/// Options by which an installation names a directory of the project.
const PATH_OPTIONS: &[&str] = &["--path", "-e", "--editable"];

impl Walk<'_> {
    /// Remembers the programs that a command installs from the workspace, and from nowhere else.
    pub(super) fn remember_installed(&mut self, line: &Line<'_>) {
        let program = line.name.split(' ').next().unwrap_or("");
        let given = |arg: &Arg| GLOBAL_OPTIONS.contains(arg.text.as_str());
        let globally = GLOBAL_INSTALLERS.contains(program) && line.args.iter().any(given);
        let installs = globally
            || ACCOUNT_INSTALLS.contains(line.name)
            || PROJECT_INSTALLS.contains(line.name);
        if line.does != Effect::Install || !installs || !self.knows.trusts_workspace {
            return;
        }
        let named = line.read.hits.iter();
        let named = named.filter(|hit| PATH_OPTIONS.contains(&hit.name));
        let named = named.filter_map(|hit: &Hit| hit.value.as_ref());
        let sources: Vec<&Arg> = named.chain(line.read.operands.iter().copied()).collect();
        if sources.is_empty() || sources.len() > NAMED_MAX {
            return;
        }
        let mut programs = Vec::new();
        for source in sources {
            let is_path = source.text.starts_with('.') || source.text.contains('/');
            let place = self.place(&source.text);
            let own = place.inside == Some(true) && !place.vague && !source.glob && is_path;
            // An archive that was loaded is somebody else's.
            if !own || self.is_brought(&place.path) || self.is_fetched(&place) {
                return;
            }
            programs.push(program_of(&place.path));
        }
        for program in programs.into_iter().filter(|name| is_describable(name)) {
            self.memory.build(format!("{MARK}/{program}"));
        }
    }

    /// Whether this session installed the program `name` from the workspace.
    pub(super) fn is_own_program(&mut self, name: &str) -> bool {
        if !is_describable(name) || !self.knows.trusts_workspace {
            return false;
        }
        let mark = format!("{MARK}/{name}");
        let now = self.memory.is_built(&mark);
        let before: Vec<&Content> = self.knows.written.at(&mark).collect();
        let known = now.is_some() || !before.is_empty();
        let own = before.iter().all(|content| **content == Content::Built);
        self.memory.want(Wanted::File(mark.clone()));
        known && own && now.unwrap_or(true)
    }

    /// Judges what the session wrote into the folders that the sources of such a program lie in.
    pub(super) fn takes_up_sources(&mut self, span: Span) {
        let Some(root) = self.ground.workspace.as_deref().map(str::to_owned) else {
            return;
        };
        let root = self.ground.place(&root).path;
        let folders = SOURCE_FOLDERS
            .iter()
            .map(|folder| format!("{root}/{folder}"));
        let folders: Vec<String> = std::iter::once(root.clone()).chain(folders).collect();
        for folder in folders {
            self.memory.want(Wanted::Directory(folder.clone()));
            let before = self.knows.written.within(&folder).map(|(path, _)| path);
            let now = self.memory.paths().filter(|path| parent(path) == folder);
            let mut paths: Vec<String> = before.chain(now).map(str::to_owned).collect();
            paths.sort();
            paths.dedup();
            for path in paths {
                self.picks_up(&path, span);
            }
        }
    }

    /// Whether the file at a place was loaded from the network.
    fn is_fetched(&mut self, place: &Place) -> bool {
        let held = self.may_hold(&place.path);
        held.iter().any(|stream| stream.taint.network)
    }
}

/// Returns the name of the program that a package of the project holds: that of its directory, or that of its
/// archive without the version.
fn program_of(path: &str) -> String {
    let file = name(path);
    let mut endings = ARCHIVE_ENDINGS.iter();
    let stem = endings.find_map(|ending| file.strip_suffix(ending));
    let Some(stem) = stem else {
        return file.to_owned();
    };
    let version = stem
        .match_indices('-')
        .find(|(at, _)| stem.get(at + 1..).is_some_and(starts_with_digit));
    let end = version.map_or(stem.len(), |(at, _)| at);
    stem.get(..end).unwrap_or(stem).replace('_', "-")
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::program_of;

    #[test]
    fn a_program_is_called_like_its_directory_or_its_archive() {
        for (path, program) in [
            ("/w/app/my-tool-1.0.0.tgz", "my-tool"),
            ("/w/app/dist/my_tool-0.3-py3-none-any.whl", "my-tool"),
            ("/w/app/crates/x", "x"),
        ] {
            assert_eq!(program_of(path), program);
        }
    }
}
