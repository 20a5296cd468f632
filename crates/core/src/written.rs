//! Files that an agent wrote in earlier calls, with their possible contents, for when a later call
//! runs one.
//!
//! Following a call yields [`Files`]: what it writes, and which files it would have to know. Whoever
//! keeps the first hands the second back as [`Written`], and the call is judged again. A file may
//! hold any of the contents that were ever meant for it: a write may have failed, and nobody here
//! looks at the disk. So what is known of a file only ever adds to the risk of running it.

use std::collections::BTreeMap;

/// Longest content that is kept; a longer file counts as unknown.
pub const CONTENT_BYTES_MAX: usize = 64 * 1024;
/// Contents of one file that are kept; a file with more counts as unknown, too.
pub const VERSIONS_MAX: usize = 16;
/// Files that one call writes and that are remembered.
pub(crate) const WRITES_MAX: usize = 64;
/// The name under which it is remembered that a call wrote more files than that.
pub(crate) const LOST: &str = "/more files than are remembered";
/// Files and directories that one call may ask about.
const WANTED_MAX: usize = 64;

/// What a file may hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Content {
    /// Exactly this.
    Exact(String),
    /// Something that was not seen.
    Unknown,
    /// What a build made of the project's own sources: as trusted as they are.
    Built,
    /// Something that was loaded from the network.
    Fetched,
}

impl Content {
    /// Returns `text` as a content, unless it is too long to be kept.
    pub fn of(text: &str) -> Self {
        if text.len() > CONTENT_BYTES_MAX {
            Self::Unknown
        } else {
            Self::Exact(text.to_owned())
        }
    }
}

/// Files that were written before a call, by path as [`crate::place::Place`] spells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    files: BTreeMap<String, Vec<Content>>,
}

impl Written {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds that the file at `path` may hold `content`.
    pub fn add(&mut self, path: &str, content: Content) {
        let contents = self.files.entry(path.to_owned()).or_default();
        if contents.contains(&content) {
            return;
        }
        if contents.len() < VERSIONS_MAX {
            contents.push(content);
        } else {
            // What was left out may be anything.
            contents.retain(|known| *known == Content::Fetched);
            contents.push(Content::Unknown);
        }
    }

    /// Says that the file at `path` holds exactly `content` now, whatever was meant for it before.
    pub fn set(&mut self, path: &str, content: Content) {
        self.files.insert(path.to_owned(), vec![content]);
    }

    /// Returns what the file at `path` may hold; nothing if nobody is known to have written it. A
    /// file that was written without saying from where may be any of that name.
    pub fn at<'w>(&'w self, path: &'w str) -> impl Iterator<Item = &'w Content> {
        let elsewhere = self.files.iter().filter(move |(known, _)| {
            !known.starts_with(['/', '~'])
                && path
                    .strip_suffix(known.as_str())
                    .is_some_and(|front| front.ends_with('/'))
        });
        let here = self.files.get(path).into_iter();
        here.chain(elsewhere.map(|(_, contents)| contents))
            .flatten()
    }

    /// Adds to `known` what is held here of `wanted`. Returns whether there was anything.
    pub fn look_up(&self, wanted: &Wanted, known: &mut Self) -> bool {
        let is_wanted = |path: &str| match wanted {
            Wanted::Directory(directory) => parent(path) == directory,
            Wanted::File(file) => {
                path == file || !path.starts_with(['/', '~']) && name(path) == name(file)
            }
        };
        let mut found = false;
        for (path, contents) in self.files.iter().filter(|(path, _)| is_wanted(path)) {
            for content in contents {
                known.add(path, content.clone());
                found = true;
            }
        }
        found
    }

    /// Returns the files right in `directory`, with what each may hold.
    pub fn within<'w>(
        &'w self,
        directory: &'w str,
    ) -> impl Iterator<Item = (&'w str, &'w [Content])> {
        self.files
            .iter()
            .filter(move |(path, _)| parent(path) == directory)
            .map(|(path, contents)| (path.as_str(), contents.as_slice()))
    }
}

/// What a call would have to know to be judged completely.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// What this file may hold.
    File(String),
    /// What the files right in this directory may hold.
    Directory(String),
}

/// What following a call found out about files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// What it would have to know.
    pub wanted: Vec<Wanted>,
    /// What it writes, in order.
    pub writes: Vec<(String, Content)>,
    /// Which files that earlier calls wrote it runs, or has taken up by what it runs.
    pub runs: Vec<String>,
    /// Whether it would have to know more than can be asked for.
    pub wants_more: bool,
}

impl Files {
    /// Adds what `other` found out.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.wants_more |= other.wants_more;
        other
            .wanted
            .into_iter()
            .for_each(|wanted| self.want(wanted));
        for (path, content) in other.writes {
            self.write(path, content);
        }
        other.runs.iter().for_each(|path| self.run(path));
    }

    pub(crate) fn run(&mut self, path: &str) {
        if !self.runs.iter().any(|known| known == path) {
            self.runs.push(path.to_owned());
        }
    }

    pub(crate) fn want(&mut self, wanted: Wanted) {
        if self.wanted.contains(&wanted) {
            return;
        }
        if self.wanted.len() < WANTED_MAX {
            self.wanted.push(wanted);
        } else {
            self.wants_more = true;
        }
    }

    pub(crate) fn write(&mut self, path: String, content: Content) {
        // What goes to a device, or nobody knows where, is in no file that can be named later.
        let named = !path.starts_with("/dev/") && !path.contains(['…', '*', '\0']);
        if !named || path.is_empty() {
            return;
        }
        if self.writes.len() < WRITES_MAX {
            self.writes.push((path, content));
        } else if self.writes.len() == WRITES_MAX {
            self.writes.push((LOST.to_owned(), Content::Unknown));
        }
    }
}

/// Returns the directory that the file at `path` lies in; empty if it is not said.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Returns the name of the file at `path`.
pub fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_too_many_contents_may_hold_anything() {
        let mut written = Written::default();
        for number in 0..=VERSIONS_MAX {
            written.add("/w/a.py", Content::of(&number.to_string()));
        }
        let held: Vec<&Content> = written.at("/w/a.py").collect();
        assert_eq!(held, [&Content::Unknown]);
    }

    #[test]
    fn a_file_written_from_nowhere_may_be_any_of_that_name() {
        let mut written = Written::default();
        written.add("tools/a.py", Content::Unknown);
        assert_eq!(written.at("/w/tools/a.py").count(), 1);
        assert_eq!(written.at("/w/mytools/a.py").count(), 0);
        assert_eq!(written.at("/w/a.py").count(), 0);
    }
}
