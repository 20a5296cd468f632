//! The command line that starts a server through `countersign mcp`, and how it is told from others.

use std::collections::BTreeSet;
use std::path::Path;

use super::State;
use crate::init::Place;
use crate::init::plan::key_file;

/// Longest name of a server that `countersign mcp` takes, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// How servers of one client are started through Countersign.
#[derive(Debug)]
pub(super) struct Wrapping {
    /// This program.
    pub(super) program: String,
    options: Vec<String>,
}

impl Wrapping {
    /// Returns how the servers of the client with the key of `agent` are started.
    pub(super) fn new(place: &Place, agent: &str) -> Self {
        let key = key_file(place, agent);
        let mut options = vec!["--key-file".to_owned(), key.to_string_lossy().into_owned()];
        if !place.is_usual_home() {
            options.extend(["--home".to_owned(), place.directory.clone()]);
        }
        Self {
            program: place.program.clone(),
            options,
        }
    }

    /// Returns the words in front of the command of the server `name`, without the program.
    pub(super) fn words(&self, name: &str) -> Vec<String> {
        let named = ["mcp", "--name", name].map(str::to_owned);
        let end = "--".to_owned();
        named
            .into_iter()
            .chain(self.options.iter().cloned())
            .chain([end])
            .collect()
    }
}

/// The words of a server's command line, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// How the server is started.
    pub(super) state: State,
    /// How many words stand in front of the server's own, the program included.
    pub(super) before: usize,
    /// The server's own words.
    pub(super) own: &'a [String],
}

/// Takes the command line `words` apart.
pub(super) fn take_apart(words: &[String]) -> Line<'_> {
    let direct = |state| Line {
        state,
        before: 0,
        own: words,
    };
    let [program, command, rest @ ..] = words else {
        return direct(if words.is_empty() {
            State::Unknown
        } else {
            State::Direct
        });
    };
    let stem = Path::new(program).file_stem().unwrap_or_default();
    let is_ours = stem
        .to_string_lossy()
        .to_lowercase()
        .contains("countersign");
    if !is_ours || command != "mcp" {
        return direct(State::Direct);
    }
    match rest.iter().position(|word| word == "--") {
        Some(at) if rest.len() > at + 1 => Line {
            state: State::Wrapped,
            before: at + 3,
            own: rest.get(at + 1..).unwrap_or_default(),
        },
        Some(_) | None => direct(State::Own),
    }
}

/// Gives servers names that `countersign mcp` takes, each its own.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    /// Returns a name for the server that the client calls `name`.
    pub(super) fn of(&mut self, name: &str) -> String {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
        let mut plain: String = name
            .chars()
            .map(|it| if is_plain(it) { it } else { '-' })
            .take(NAME_BYTES_MAX / 2)
            .collect();
        // Two of them separate a server from its tool.
        while plain.contains("__") {
            plain = plain.replace("__", "_");
        }
        // At an end, one makes such a pair with the two.
        let plain = plain.trim_start_matches(['-', '_']).trim_end_matches('_');
        let plain = if plain.is_empty() { "server" } else { plain };
        let mut found = plain.to_owned();
        let mut number = 2;
        while !self.0.insert(found.clone()) {
            found = format!("{plain}-{number}");
            number += 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_command_lines_are_told_from_others() {
        let rows = [
            ("npx -y a", State::Direct, "npx -y a"),
            (
                "/usr/bin/countersign mcp --name a -- npx -y -- b",
                State::Wrapped,
                "npx -y -- b",
            ),
            ("countersign mcp serve", State::Own, "countersign mcp serve"),
            (
                "countersign mcp --name a --",
                State::Own,
                "countersign mcp --name a --",
            ),
            ("guard mcp -- npx", State::Direct, "guard mcp -- npx"),
            (
                "countersign hook -- npx",
                State::Direct,
                "countersign hook -- npx",
            ),
            ("npx", State::Direct, "npx"),
        ];
        for (line, state, own) in rows {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let apart = take_apart(&words);
            assert_eq!(
                (apart.state, apart.own.join(" ")),
                (state, own.to_owned()),
                "{line}"
            );
            assert_eq!(words.get(apart.before..).unwrap(), apart.own, "{line}");
        }
        assert_eq!(take_apart(&[]).state, State::Unknown);
    }

    #[test]
    fn every_server_gets_a_name_of_its_own() {
        let mut names = Names::default();
        let long = "n".repeat(100);
        let rows = [
            ("github", "github"),
            ("My Server", "My-Server"),
            ("my__server", "my_server"),
            ("my_server", "my_server-2"),
            ("--name", "name"),
            ("_end_", "end"),
            ("", "server"),
            ("été", "-t-".trim_start_matches('-')),
            (long.as_str(), long.split_at(32).0),
        ];
        for (name, expected) in rows {
            assert_eq!(names.of(name), expected, "{name}");
        }
    }
}
