//! Programs and tools that read a whole directory, including the keys in it.

use super::Line;
use super::lifts::only_counts;
use super::roles::operand_roles;
use crate::follow::value::{Arg, Taint};
use crate::follow::walk::Walk;
use crate::glob::is_glob;
use crate::knowledge::{Reader, Role, TREE_PROGRAMS, TREE_TOOLS, TREES, TreeRow};
use crate::place::below::Look;
use crate::place::mark_home;

/// Patterns of one command that are looked at.
const PATTERNS_MAX: usize = 32;

impl Walk<'_> {
    /// Judges the directories that a command reads as a whole.
    pub(crate) fn reads_trees(&mut self, line: &Line<'_>) -> Taint {
        let Some(row) = named(TREE_PROGRAMS, line.name).or(named(TREE_PROGRAMS, line.row.name))
        else {
            return Taint::default();
        };
        let gives = |options: &[&str]| options.iter().any(|option| gives(line, option));
        let unread = gives(row.unless) || only_counts(line.read);
        if !row.with.is_empty() && !gives(row.with) || unread {
            return Taint::default();
        }
        let ground = self.ground.clone();
        for hit in &line.read.hits {
            if let Some((Role::Cwd, directory)) = hit.meaning() {
                self.ground.enter(&directory.text);
            }
        }
        let mut look = Look {
            skips_hidden: row.skips_hidden && !gives(row.unhides),
            ..Look::default()
        };
        for hit in line.read.hits.iter().take(PATTERNS_MAX) {
            let Some(value) = &hit.value else { continue };
            if row.only.contains(&hit.name) {
                look.limit(&value.text);
            } else if row.not.contains(&hit.name) {
                look.not.push(value.text.trim_end_matches('/').to_owned());
            }
        }
        let roles = operand_roles(line.row, line.read);
        // `scp` and `tar` read their words by a reader of their own.
        let reads = |role: &Option<Role>| {
            matches!(role, Some(Role::Read | Role::Upload))
                || line.row.reader.is_some() && matches!(role, Some(Role::Text))
        };
        let roots = line.read.operands.iter().zip(&roles);
        let roots = roots.filter(|(_, role)| reads(role)).map(|(root, _)| *root);
        let mut roots: Vec<&Arg> = roots.collect();
        let here = Arg::literal(".", line.span);
        if roots.is_empty() && row.here && !line.stdin.connected {
            roots.push(&here);
        }
        let mut taint = Taint::default();
        for root in roots {
            taint = taint.and(self.reads_tree(root, &look, line.row.name));
        }
        self.ground = ground;
        taint
    }

    /// Judges reading all files that a pattern finds: as reading the most sensitive one it may find.
    pub(crate) fn reads_matches(&mut self, pattern: &Arg, program: &str) -> Taint {
        let names: Vec<&str> = pattern.text.split('/').collect();
        let Some(at) = names.iter().position(|name| is_glob(name)) else {
            return Taint::default();
        };
        let (root, rest) = names.split_at(at);
        // A star stands for no hidden name, unless the dot is given.
        let dotted = rest
            .iter()
            .any(|name| name.starts_with('.') || name.starts_with("[."));
        let last = rest.last().copied().unwrap_or("*");
        let look = Look {
            skips_hidden: !dotted,
            only: vec![last.to_owned()],
            depth: (!rest.contains(&"**")).then_some(rest.len()),
            ..Look::default()
        };
        let root = match root {
            [] => ".".to_owned(),
            [""] => "/".to_owned(),
            names => names.join("/"),
        };
        self.reads_tree(&Arg::literal(root, pattern.span), &look, program)
    }

    /// Judges reading all of a directory: as reading the most sensitive file in it.
    pub(crate) fn reads_tree(&mut self, root: &Arg, look: &Look, program: &str) -> Taint {
        // A link that this text has made leads where it leads.
        let place = self.place(&root.text);
        let directory = if place.vague || is_glob(&root.text) {
            root.text.clone()
        } else {
            mark_home(&place.path)
        };
        match self.ground.sensitive_below(&directory, look) {
            Some(path) => {
                let file = Arg {
                    text: path,
                    glob: false,
                    ..root.clone()
                };
                let before = self.acts.len();
                let taint = self.reads(&file, program);
                for act in self.acts.iter_mut().skip(before) {
                    act.note = "reads a whole directory that contains secrets";
                    act.subject = format!("{}, in it {}", root.shown(), act.subject);
                }
                taint
            }
            None => Taint::default(),
        }
    }
}

impl Look {
    /// Takes the value of an option that says which files alone are read: a pattern, one that is left out
    /// (`!*.md`), or the name of a kind of file.
    pub(crate) fn limit(&mut self, value: &str) {
        if let Some(left_out) = value.strip_prefix('!') {
            self.not.push(left_out.trim_end_matches('/').to_owned());
            return;
        }
        let is_sign = |letter: &char| matches!(letter, '\\' | '^' | '$');
        let plain: String = value.chars().filter(|letter| !is_sign(letter)).collect();
        for part in plain.split([',', '|']).filter(|part| !part.is_empty()) {
            self.only.push(part.to_owned());
            if !part.contains(['*', '.', '/']) {
                self.only.push(format!("*.{part}"));
            }
        }
    }
}

/// Returns how a tool reads directories as a whole.
pub(crate) fn tool(name: &str) -> Option<&'static TreeRow> {
    named(TREE_TOOLS, &name.to_lowercase())
}

fn named(table: &'static [(&'static str, u16)], name: &str) -> Option<&'static TreeRow> {
    let at = table
        .binary_search_by(|(known, _)| (*known).cmp(name))
        .ok()?;
    TREES.get(usize::from(table.get(at)?.1))
}

/// Whether a command line gives an option: a letter alone or in a bundle, a long name perhaps cut short, or
/// `option=value`. What only looks like it counts as well: that may ask once too often, never too seldom.
fn gives(line: &Line<'_>, option: &str) -> bool {
    let bare_bundle = line.row.reader == Some(Reader::Tar);
    let words = line.args.iter().take_while(|arg| arg.text != "--");
    let mut words = words.enumerate().map(|(at, arg)| (at, arg.text.as_str()));
    if let Some((name, value)) = option.split_once('=') {
        let joined = format!("{name}={value}");
        let attached = format!("{name}{value}");
        return words.any(|(at, word)| {
            let next = line.args.get(at + 1).map(|arg| arg.text.as_str());
            word == joined || word == attached || word == name && next == Some(value)
        });
    }
    if option.starts_with("--") {
        return words.any(|(_, word)| {
            let word = word.split('=').next().unwrap_or(word);
            word.len() > 3 && word.starts_with("--") && option.starts_with(word)
        });
    }
    let Some(letter) = option.strip_prefix('-') else {
        return false;
    };
    words.any(|(at, word)| {
        let dashed = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let bundle = dashed.or_else(|| (bare_bundle && at == 0).then_some(word));
        bundle.is_some_and(|bundle| bundle.contains(letter))
    })
}
