//! Finds the projects that lie beside the workspace, in directories that the owner keeps projects in.
//!
//! A path says little about who wrote what lies there. The workspace was started by its owner, and
//! what stands next to it in the same folder of projects is mostly the same owner's work: good
//! enough to build and to test it, not to change it. A home, a root, and folders that browsers,
//! archives and other people fill hold anything at all, so nothing lies beside a workspace there.
//! All of it is lexical, and capital letters make no difference, because for many file systems they
//! make none.

use super::patterns::first_match;
use super::{Ground, HOLE, HOME, is_absolute, is_drive, is_shared, mark_home, row};
use crate::knowledge::PathKind;
use crate::knowledge::names::{FILLED_BY_OTHERS, FOLDERS_OF_ANYTHING};
use crate::written::parent;

impl Ground {
    /// Returns the project beside the workspace that `path` lies in, by the name of its directory in
    /// small letters: one in the same folder, or in the folder above, where the workspace is part of
    /// a repository.
    pub(crate) fn beside(&self, path: &str) -> Option<String> {
        let workspace = self.workspace.as_deref()?;
        let path = mark_home(path).to_lowercase();
        let near = parent(workspace);
        // The higher folder has to be deeper in a home: `~/src` holds projects, `~` does not.
        let found = [(near, 1), (parent(near), 2)]
            .into_iter()
            .filter(|(folder, depth)| holds_projects(folder, *depth))
            .find_map(|(folder, _)| {
                let folder = folder.to_lowercase();
                let below = path.strip_prefix(&folder)?.strip_prefix('/')?;
                Some((folder, below))
            });
        let (folder, below) = found?;
        let name = below.split('/').next().filter(|name| !name.is_empty())?;
        (!below.contains([HOLE, '*', '…']) && is_tidy(below)).then(|| format!("{folder}/{name}"))
    }
}

/// Whether a folder is one that its owner keeps projects in: at least `depth` names below a root or
/// a home, and nothing the tables know as something else.
fn holds_projects(folder: &str, depth: usize) -> bool {
    if !is_absolute(folder) || folder.contains(HOLE) || is_shared(folder) {
        return false;
    }
    let names = folder.split('/').filter(|name| !name.is_empty());
    let names = names.filter(|name| !name.starts_with(HOME) && !is_drive(name));
    let anything = folder
        .rsplit('/')
        .next()
        .is_some_and(|name| FOLDERS_OF_ANYTHING.contains(name.to_lowercase().as_str()));
    let ordinary = match first_match(folder).and_then(row) {
        None => true,
        Some(row) => row.kind == PathKind::Document,
    };
    names.count() >= depth && !anything && ordinary && is_tidy(folder)
}

/// Whether no name in a path is hidden or stands for a folder that others fill.
fn is_tidy(path: &str) -> bool {
    path.split('/').all(|name| {
        !name.starts_with('.') && !FILLED_BY_OTHERS.contains(name.to_lowercase().as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_lie_beside_each_other_in_a_folder_of_projects() {
        for (workspace, path, beside) in [
            ("~/src/app", "~/src/lib", Some("~/src/lib")),
            ("~/src/app", "~/src/lib/a/b", Some("~/src/lib")),
            ("~/Src/app", "~/src/Lib", Some("~/src/lib")),
            ("~/a/b/app/cli", "~/a/b/lib/x", Some("~/a/b/lib")),
            ("~/a/b/app/cli", "~/a/b/app/web", Some("~/a/b/app/web")),
            (
                "/workspaces/app",
                "/workspaces/lib",
                Some("/workspaces/lib"),
            ),
            ("C:/src/app", "C:/src/lib", Some("c:/src/lib")),
            // The folder itself, and what is only called like it.
            ("~/src/app", "~/src", None),
            ("~/src/app", "~/srcs/lib", None),
            ("~/src/app", "~/other/lib", None),
            // A home, a root, and the folder above one that lies right in a home.
            ("~/app", "~/lib", None),
            ("/app", "/lib2", None),
            ("~/src/app", "~/lib/x", None),
            ("C:/app", "C:/lib", None),
            // What others fill, and what is hidden.
            ("~/Downloads/app", "~/Downloads/lib", None),
            ("~/Desktop/app", "~/Desktop/lib", None),
            ("~/Documents/app", "~/Documents/lib", None),
            ("~/a/tmp/app", "~/a/tmp/lib", None),
            ("~/src/app", "~/src/.cache/lib", None),
            ("~/src/app", "~/src/downloads/lib", None),
            ("~/src/app", "~/src/lib/.git", None),
            ("~/.x/app", "~/.x/lib", None),
            // What belongs to the machine, or to everybody.
            ("/usr/src/app", "/usr/src/lib", None),
            ("/srv/www/app", "/srv/www/lib", None),
            ("/mnt/data/app", "/mnt/data/lib", None),
            ("/tmp/x/app", "/tmp/x/lib", None),
        ] {
            let ground = Ground::vouched(Some(workspace), None);
            assert_eq!(
                ground.beside(path),
                beside.map(mark_home),
                "{path} beside {workspace}"
            );
        }
    }
}
