//! Links that a script creates: a write through one counts as a write to its target.

use super::Line;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::place::{Place, is_absolute};

/// Options that make `cp` link instead of copy.
const COPY_LINKS: &[&str] = &["-s", "--symbolic-link", "-l", "--link"];

/// Options that make a link hold the words it was given, instead of leading to the file itself.
const SYMBOLIC: &[&str] = &["-s", "--symbolic", "--symbolic-link"];

impl Walk<'_> {
    /// Returns what is known about the path `text`, or about where it leads.
    pub(crate) fn followed(&self, text: &str) -> Place {
        let place = self.ground.place(text);
        let Some(target) = self.memory.behind_link(&place.path) else {
            return place;
        };
        let behind = self.ground.place(&target);
        if behind.read <= place.read && behind.write <= place.write {
            return place;
        }
        Place {
            read: behind.read.max(place.read),
            write: behind.write.max(place.write),
            ..behind
        }
    }

    /// Whether the path `text` is a link that this text made: deleting it deletes nothing else.
    pub(crate) fn is_link(&self, text: &str) -> bool {
        self.memory.has_links() && {
            let path = self.ground.place(text).path;
            self.memory.target(&path).is_some()
        }
    }

    /// Returns the program that `file` leads to, if it is a link to one that this text made.
    pub(super) fn linked_program(&self, file: &Arg) -> Option<Arg> {
        let path = self.ground.place(&file.text).path;
        let target = self.memory.target(&path)?;
        crate::knowledge::program(last_name(target))?;
        Some(Arg {
            text: target.to_owned(),
            ..file.clone()
        })
    }

    /// Remembers the links that a command makes.
    pub(super) fn remember_links(&mut self, line: &Line<'_>) {
        let links = line.row.name == "ln" || line.row.name == "cp" && line.read.has(COPY_LINKS);
        if !links {
            return;
        }
        let operands = line.read.operands.as_slice();
        if let Some(directory) = line.read.value(&["-t", "--target-directory"]) {
            for target in operands {
                self.remember_link(line, target, &inside(&directory.text, &target.text));
            }
            return;
        }
        match operands {
            [] => {}
            [target] => self.remember_link(line, target, last_name(&target.text)),
            [targets @ .., name] => {
                for target in targets {
                    // The last word is the link's name, or the directory it is made in.
                    self.remember_link(line, target, &name.text);
                    self.remember_link(line, target, &inside(&name.text, &target.text));
                }
            }
        }
    }

    fn remember_link(&mut self, line: &Line<'_>, target: &Arg, name: &str) {
        let beside = name.rsplit_once('/').map(|(directory, _)| directory);
        let leads = match beside {
            Some(directory) if line.read.has(SYMBOLIC) && !is_absolute(&target.text) => {
                format!("{directory}/{}", target.text)
            }
            Some(_) | None => target.text.clone(),
        };
        if self.memory.has_all_links() || !self.budget.link() {
            self.unreadable("it makes too many links to follow", line.span);
            return;
        }
        let (made, end) = (self.ground.place(name), self.ground.place(&leads));
        if made.path != end.path && !made.vague && !end.vague {
            self.memory.link(made.path, end.path);
        }
    }
}

fn last_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

fn inside(directory: &str, target: &str) -> String {
    format!("{}/{}", directory.trim_end_matches('/'), last_name(target))
}
