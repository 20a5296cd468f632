//! Command lines that reach no further than this machine, although their rows speak of more: a cluster of
//! containers here, a message on this screen, a task of every package of the workspace.

use super::production::names_production;
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::Walk;
use crate::knowledge::names::{
    CLUSTER_ESCAPES, CLUSTER_PROGRAMS, FOREACH_SWITCHES, FOREACH_VALUES, LOCAL_CLUSTER_CHANGES,
    LOCAL_CLUSTERS, OTHER_CLUSTER_OPTIONS,
};
use crate::knowledge::{Effect, Program, Row};
use crate::written::{Wanted, parent};

impl Walk<'_> {
    /// Returns what a change in a cluster is where the command line says that the cluster runs on this machine,
    /// and nothing that it is given reaches out of the cluster.
    pub(super) fn in_local_cluster(
        &mut self,
        program: &Program,
        row: &Row,
        rest: &[Arg],
        stdin: &Stream,
    ) -> Option<Effect> {
        let effect = changes_local_cluster(program, row, rest, stdin)?;
        let given = rest.iter().any(|arg| reaches_out(&arg.text));
        // What comes through a pipe has to be seen.
        let piped = stdin.connected && stdin.text.as_deref().is_none_or(reaches_out);
        (!given && !piped && !self.manifests_reach_out(rest)).then_some(effect)
    }

    /// Whether a manifest that this session wrote reaches out of the cluster, or its content is not known.
    fn manifests_reach_out(&mut self, rest: &[Arg]) -> bool {
        let paths = rest.iter().filter(|arg| !arg.text.starts_with('-'));
        let paths: Vec<String> = paths.take(PATHS_MAX).map(|arg| arg.text.clone()).collect();
        paths.iter().any(|path| {
            let place = self.place(path);
            let path = place.path.clone();
            let mut held = self.may_hold(&path);
            self.memory.want(Wanted::Directory(path.clone()));
            let within: Vec<String> = self
                .knows
                .written
                .within(&path)
                .map(|(file, _)| file.to_owned())
                .collect();
            let now: Vec<String> = self
                .memory
                .paths()
                .filter(|file| parent(file) == path)
                .map(str::to_owned)
                .collect();
            for file in within.iter().chain(&now) {
                held.extend(self.held(file));
            }
            // A file from elsewhere that nobody wrote here was not seen.
            if held.is_empty() && place.inside != Some(true) {
                return true;
            }
            held.iter()
                .any(|held| held.taint.network || held.text.as_deref().is_none_or(reaches_out))
        })
    }
}

/// Words of a command line that may name a manifest.
const PATHS_MAX: usize = 16;

/// Whether a text of a manifest speaks of the machine that the cluster runs on.
fn reaches_out(text: &str) -> bool {
    CLUSTER_ESCAPES.iter().any(|word| text.contains(word))
}

fn changes_local_cluster(
    program: &Program,
    row: &Row,
    rest: &[Arg],
    stdin: &Stream,
) -> Option<Effect> {
    let changes = row.does == Effect::CloudWrite && CLUSTER_PROGRAMS.contains(program.row.name);
    if !changes || stdin.taint.network || rest.iter().any(|arg| arg.vague() || arg.glob) {
        return None;
    }
    let words: Vec<&str> = rest.iter().map(|arg| arg.text.as_str()).collect();
    let own = words.split(|word| *word == "--").next().unwrap_or(&[]);
    let named = own.iter().enumerate().filter_map(|(at, word)| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let is_context = matches!(name, "--context" | "--kube-context");
        is_context.then(|| {
            if value.is_empty() {
                own.get(at + 1).copied()
            } else {
                Some(value)
            }
        })
    });
    let named: Vec<Option<&str>> = named.collect();
    let is_local = |name: Option<&str>| {
        name.is_some_and(|name| {
            let starts = |known: &str| match known.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == known,
            };
            LOCAL_CLUSTERS.iter().any(starts) && !names_production(name)
        })
    };
    let elsewhere = |word: &&str| {
        let name = word.split('=').next().unwrap_or(word);
        OTHER_CLUSTER_OPTIONS.contains(name) || word.contains("://")
    };
    let orders: Vec<&str> = own
        .iter()
        .copied()
        .filter(|word| !word.starts_with('-'))
        .collect();
    let is_listed = |change: &str| {
        let change: Vec<&str> = change.split(' ').collect();
        orders
            .windows(change.len())
            .take(ORDER_WORDS)
            .any(|words| words == change)
    };
    let small = LOCAL_CLUSTER_CHANGES.iter().any(is_listed);
    let local =
        !named.is_empty() && named.iter().copied().all(is_local) && !own.iter().any(elsewhere);
    (local && small).then_some(Effect::Start)
}

/// Words of a command line in which its order stands, values of options before it included.
const ORDER_WORDS: usize = 6;

/// Whether a script of `osascript` shows a message on the screen and does nothing else.
pub(super) fn only_notifies(program: &Program, rest: &[Arg]) -> bool {
    let [option, text] = rest else {
        return false;
    };
    if program.row.name != "osascript" || option.text != "-e" || text.vague() {
        return false;
    }
    let Some(mut rest) = text.text.trim().strip_prefix("display notification ") else {
        return false;
    };
    loop {
        let Some(after) = literal(rest) else {
            return false;
        };
        if after.trim().is_empty() {
            return true;
        }
        let next = ["with title ", "subtitle ", "sound name "];
        let Some(more) = next
            .iter()
            .find_map(|word| after.trim_start().strip_prefix(word))
        else {
            return false;
        };
        rest = more;
    }
}

/// Returns what follows the text in double quotes at the front.
fn literal(text: &str) -> Option<&str> {
    let inside = text.trim_start().strip_prefix('"')?;
    let mut escaped = false;
    for (at, letter) in inside.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return inside.get(at + 1..),
            _ => {}
        }
    }
    None
}

/// Returns the command of the package manager that `yarn workspaces foreach` repeats in every package.
pub(super) fn repeated_in_workspaces(program: &Program, rest: &[Arg]) -> Option<Vec<Arg>> {
    let [first, second, options @ ..] = rest else {
        return None;
    };
    if program.row.name != "npm" || first.text != "workspaces" || second.text != "foreach" {
        return None;
    }
    let mut words = options;
    loop {
        let [word, more @ ..] = words else {
            return None;
        };
        let letters = word
            .text
            .strip_prefix('-')
            .filter(|text| !text.starts_with('-'));
        let bundled = |letters: &str| {
            !letters.is_empty() && letters.bytes().all(|letter| b"ARWptiv".contains(&letter))
        };
        if FOREACH_VALUES.contains(word.text.as_str()) {
            words = more.get(1..)?;
        } else if FOREACH_SWITCHES.contains(word.text.as_str()) || letters.is_some_and(bundled) {
            words = more;
        } else if word.text.starts_with('-') || word.vague() {
            return None;
        } else {
            return Some(words.to_vec());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn a_text_ends_at_its_own_quote() {
        assert_eq!(literal("\"a\" b"), Some(" b"));
        assert_eq!(literal("\"a\\\" b\" c"), Some(" c"));
        assert_eq!(literal("\"a"), None);
        assert_eq!(literal("a"), None);
    }
}
