//! Files, links and repositories that a script has made so far, and the files that it runs.
//!
//! Separate from the walk so that what is remembered has one owner: programs ask here what a file
//! holds that an earlier command wrote.

use super::value::{Arg, Stream};
use crate::language::is_name_of_secret;
use crate::written::{Content, Files, LOST, Wanted, parent};

/// Files whose content is followed from where it is written to where it is run. A script that runs
/// after more were written is put to a person.
const FILES_MAX: usize = 64;
/// Links that are followed; more is put to a person.
const LINKS_MAX: usize = 64;
/// Links behind links that are followed.
const CHAIN_MAX: usize = 4;
/// Repositories that are remembered.
const REPOSITORIES_MAX: usize = 16;
/// Directories that are remembered as filled; more is put to a person.
const FILLED_MAX: usize = 32;
/// Names of places with secrets that are remembered.
const NAMED_MAX: usize = 16;
/// Files that run files that run files.
const RUNNING_MAX: usize = 8;
/// Stands behind a remembered name when any end may follow.
const ANY_END: char = '\0';

/// A file that was written.
#[derive(Debug)]
struct WrittenFile {
    path: String,
    stream: Stream,
    /// Whether it lies outside the workspace, so that what it holds otherwise is nobody's.
    outside: bool,
    /// Whether the text may have gone on without writing it: in a branch, behind `&&`.
    doubtful: bool,
    /// Whether a build made it of the project's own sources.
    built: bool,
}

/// What is remembered from one command to the next.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// What this text has written into files.
    files: Vec<WrittenFile>,
    /// Whether the shell was told to leave files that exist as they are.
    keeps_files: bool,
    /// Whether a file was written that says what a build runs, and no build has run since.
    unread_recipes: bool,
    /// Files of earlier calls that it runs or would have to know.
    found: Files,
    /// Files that are being read because they run, the innermost last.
    running: Vec<String>,
    /// Links this text has made, and where they lead.
    links: Vec<(String, String)>,
    /// Repositories this text has made.
    repositories: Vec<String>,
    /// Directories outside the workspace that this text has filled with files nobody saw.
    filled: Vec<String>,
    /// Places that are emptied without a question, to which this text has moved what no build makes.
    moved: Vec<String>,
    /// Values of variables that name a place with secrets.
    named: Vec<Arg>,
    /// Whether a word or a value was the name of a variable that holds a credential.
    names_credential: bool,
}

impl Memory {
    /// Remembers what the file at `path`, or the one it leads to, holds now.
    pub(super) fn write(&mut self, path: String, stream: Stream, outside: bool) {
        let path = self.behind_link(&path).unwrap_or(path);
        self.push(path, stream, outside);
    }

    /// Remembers that a build made the file at `path`, outside the workspace, of the project's
    /// sources: there is nothing in it that has to be read.
    pub(super) fn build(&mut self, path: String) {
        self.push(path, Stream::known(""), true);
        if let Some(file) = self.files.last_mut() {
            file.built = true;
        }
    }

    /// Remembers that a variable holds the name of a place with secrets.
    pub(super) fn name(&mut self, value: Arg) {
        if self.named.len() < NAMED_MAX && !self.named.contains(&value) {
            self.named.push(value);
        }
    }

    /// Remembers a word or a value, if it is the name of a variable that holds a credential.
    pub(super) fn heed_name(&mut self, text: &str) {
        self.names_credential |= is_name_of_secret(text);
    }

    /// Whether a word or a value was the name of a variable that holds a credential.
    pub(super) const fn names_credential(&self) -> bool {
        self.names_credential
    }

    /// Returns the names of places with secrets that variables hold.
    pub(super) fn named(&self) -> Vec<Arg> {
        self.named.clone()
    }

    /// Remembers what all files hold whose path begins with `begins`.
    pub(super) fn write_all(&mut self, begins: &str, stream: Stream) {
        self.push(format!("{begins}{ANY_END}"), stream, false);
    }

    fn push(&mut self, path: String, stream: Stream, outside: bool) {
        if !self.has_lost_files() {
            self.files.push(WrittenFile {
                path,
                stream,
                outside,
                doubtful: self.keeps_files,
                built: false,
            });
        }
    }

    /// Returns how many files were written so far.
    pub(super) const fn mark(&self) -> usize {
        self.files.len()
    }

    /// Remembers that files which exist already may stay as they are from now on.
    pub(super) const fn distrust(&mut self) {
        self.keeps_files = true;
    }

    /// Remembers that nobody knows whether what was written since `mark` really was.
    pub(super) fn doubt_since(&mut self, mark: usize) {
        for file in self.files.iter_mut().skip(mark) {
            file.doubtful = true;
        }
    }

    /// Whether more was written than is remembered, so that a file may hold something else.
    pub(super) const fn has_lost_files(&self) -> bool {
        self.files.len() >= FILES_MAX
    }

    /// Whether a build has made the file at `path` for certain, if this text has written it.
    pub(super) fn is_built(&self, path: &str) -> Option<bool> {
        self.latest(path).map(|file| file.built && !file.doubtful)
    }

    /// Whether a build may have made the file at `path`, if this text has written it.
    pub(super) fn was_built(&self, path: &str) -> Option<bool> {
        self.latest(path).map(|file| file.built)
    }

    /// Returns what this text has written into the file at `path`.
    pub(super) fn written(&self, path: &str) -> Option<&Stream> {
        let behind = self.behind_link(path);
        let path = behind.as_deref().unwrap_or(path);
        self.latest(path).map(|file| &file.stream)
    }

    /// Whether this text may have gone on without writing the file at `path`, as far as it has
    /// written it at all.
    pub(super) fn is_doubtful(&self, path: &str) -> bool {
        self.latest(path).is_some_and(|file| file.doubtful)
    }

    fn latest(&self, path: &str) -> Option<&WrittenFile> {
        let is_it = |file: &&WrittenFile| match file.path.strip_suffix(ANY_END) {
            Some(begins) => path.len() > begins.len() && path.starts_with(begins),
            None => file.path == path,
        };
        self.files.iter().rev().find(is_it)
    }

    /// Returns the paths that were written.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// Whether a file was loaded from the network.
    pub(super) fn has_downloads(&self) -> bool {
        self.files.iter().any(|file| file.stream.taint.network)
    }

    /// Remembers that a file was written which says what a build runs.
    pub(super) const fn wrote_recipe(&mut self) {
        self.unread_recipes = true;
    }

    /// Whether such a file was written since this was asked last.
    pub(super) const fn take_unread_recipes(&mut self) -> bool {
        std::mem::replace(&mut self.unread_recipes, false)
    }

    /// Whether this text made a link.
    pub(super) const fn has_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// Whether this text made a link right in `directory`.
    pub(super) fn has_links_in(&self, directory: &str) -> bool {
        self.links.iter().any(|(link, _)| parent(link) == directory)
    }

    /// Whether there are too many links to remember another.
    pub(super) const fn has_all_links(&self) -> bool {
        self.links.len() >= LINKS_MAX
    }

    /// Remembers that `link` leads to `target`.
    pub(super) fn link(&mut self, link: String, target: String) {
        self.links.push((link, target));
    }

    /// Returns what the link at `path` leads to, if this text made it.
    pub(super) fn target(&self, path: &str) -> Option<&str> {
        let made = self.links.iter().rev().find(|(link, _)| link == path);
        made.map(|(_, target)| target.as_str())
    }

    /// Returns where a path leads, if it is or lies behind a link that this text made.
    pub(super) fn behind_link(&self, path: &str) -> Option<String> {
        let mut found: Option<String> = None;
        for _ in 0..CHAIN_MAX {
            let path = found.as_deref().unwrap_or(path);
            let next = self.links.iter().rev().find_map(|(link, target)| {
                let rest = path.strip_prefix(link.as_str())?;
                let below = rest.is_empty() || rest.starts_with('/');
                below.then(|| format!("{}{rest}", target.trim_end_matches('/')))
            });
            match next {
                Some(next) if next.is_empty() => found = Some("/".to_owned()),
                Some(next) => found = Some(next),
                None => break,
            }
        }
        found
    }

    /// Remembers a repository that was made.
    pub(super) fn add_repository(&mut self, path: String) {
        if self.repositories.len() < REPOSITORIES_MAX {
            self.repositories.push(path);
        }
    }

    /// Whether `path` lies in a repository that this text made.
    pub(super) fn is_in_made_repository(&self, path: &str) -> bool {
        self.repositories.iter().any(|made| {
            let below = path.strip_prefix(made.as_str());
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Remembers a directory that was filled with files nobody saw; `false` if there are too many.
    pub(super) fn fill(&mut self, directory: String) -> bool {
        if self.is_filled(&directory) {
            return true;
        }
        let fits = self.filled.len() < FILLED_MAX;
        if fits {
            self.filled.push(directory);
        }
        fits
    }

    /// Whether this text has filled `directory`.
    pub(super) fn is_filled(&self, directory: &str) -> bool {
        self.filled.iter().any(|filled| filled == directory)
    }

    /// Remembers under `mark` that something was moved to a place; `false` if there are too many.
    pub(super) fn moves(&mut self, mark: String) -> bool {
        let known = self.moved.contains(&mark);
        let fits = known || self.moved.len() < FILLED_MAX;
        if fits && !known {
            self.moved.push(mark);
        }
        fits
    }

    /// Whether this text has moved something to the place that `mark` stands for.
    pub(super) fn has_moved(&self, mark: &str) -> bool {
        self.moved.iter().any(|known| known == mark)
    }

    /// Remembers that the call can only be judged completely with `wanted`.
    pub(super) fn want(&mut self, wanted: Wanted) {
        self.found.want(wanted);
    }

    /// Remembers that a file runs which an earlier call wrote.
    pub(super) fn ran(&mut self, path: &str) {
        self.found.run(path);
    }

    /// Begins to read the file at `path` because it runs; `false` if it is being read already, or
    /// too many are.
    pub(super) fn begin(&mut self, path: &str) -> bool {
        let known = self.running.iter().any(|running| running == path);
        let begins = !known && self.running.len() < RUNNING_MAX;
        if begins {
            self.running.push(path.to_owned());
        }
        begins
    }

    /// Ends reading the file that was begun last.
    pub(super) fn end(&mut self) {
        self.running.pop();
    }

    /// Returns the file that is being read because it runs.
    pub(super) fn running(&self) -> Option<&str> {
        self.running.last().map(String::as_str)
    }

    /// Returns what was found out about files. What a link leads to may change by itself.
    pub(super) fn into_files(mut self) -> Files {
        // What is dropped for want of room must not be these.
        for directory in self.filled {
            let mark = format!("{}/", directory.trim_end_matches('/'));
            self.found.write(mark, Content::Unknown);
        }
        for mark in self.moved {
            self.found.write(mark, Content::Unknown);
        }
        if self.files.len() >= FILES_MAX {
            self.found.write(LOST.to_owned(), Content::Unknown);
        }
        for file in self.files {
            if file.built {
                self.found.write(file.path, Content::Built);
                continue;
            }
            if file.outside && file.doubtful {
                self.found.write(file.path.clone(), Content::Unknown);
            }
            self.found.write(file.path, Content::from(file.stream));
        }
        for (link, _) in self.links {
            self.found.write(link, Content::Unknown);
        }
        self.found
    }
}
