//! Packages that a runner fetches and runs at once: `npx x`, `uvx x`, `npm create x`.
//!
//! Anybody can publish under a name that is free, so a package is trusted here only if it is described
//! by a row or widely known. What the words behind it say does not count: its code runs in any case.

use super::Line;
use super::accounts::is_known;
use crate::act::Act;
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::Walk;
use crate::knowledge::names::{
    CREATING_COMMANDS, INSTALLED_ONLY_OPTIONS, INSTALLED_ONLY_RUNNERS, KNOWN_TAPS, PACKAGE_OPTIONS,
};
use crate::knowledge::{self, Effect, Program};
use crate::shell::syntax::Span;

/// Why a person is asked.
const UNKNOWN_PACKAGE: &str = "fetches and runs a package that nobody has described";

impl Walk<'_> {
    /// Follows a command that the runner `line` may have to fetch first. `None`: it is run as it stands.
    pub(super) fn fetched_command(&mut self, line: &Line<'_>, command: &[Arg]) -> Option<Stream> {
        let (first, rest) = command.split_first()?;
        let own = line.args.len().saturating_sub(command.len());
        let own = line.args.get(..own).unwrap_or(&[]);
        let stays = |arg: &Arg| INSTALLED_ONLY_OPTIONS.contains(arg.text.as_str());
        let runner = INSTALLED_ONLY_RUNNERS.contains(line.name) || own.iter().any(stays);
        if line.does != Effect::Install || runner {
            return None;
        }
        let named = line
            .read
            .hits
            .iter()
            .filter(|hit| PACKAGE_OPTIONS.contains(hit.name));
        let named: Vec<&Arg> = named.filter_map(|hit| hit.value.as_ref()).collect();
        let strange = named.iter().copied().find(|value| {
            // `--with a,b`: all of them are loaded.
            let mut parts = value.text.split(',').map(str::trim);
            !is_own(&value.text) && !parts.all(|part| !part.is_empty() && is_described(part))
        });
        if let Some(package) = strange {
            self.note_package(package, line.span);
        }
        // Without such an option the package is called like the command.
        if !named.is_empty() || !is_package_name(&first.text) {
            return None;
        }
        if !is_described(&first.text) {
            self.note_package(first, line.span);
        }
        let base = base_of(&first.text);
        if base.len() == first.text.len() {
            return None;
        }
        // A known publisher's package that has no row does what the project wants of it.
        if is_published(&first.text) && knowledge::program(base).is_none() {
            self.telling_words(first, rest);
            self.note_inferred(Effect::Project, &first.shown(), line.span);
            return Some(Stream::unknown(Taint::default()).telling());
        }
        let mut words = vec![Arg {
            text: base.to_owned(),
            ..first.clone()
        }];
        words.extend_from_slice(rest);
        Some(self.program(&words, line.stdin))
    }

    /// Judges `npm create x`, which runs the package `create-x`.
    pub(super) fn creates_by_package(&mut self, line: &Line<'_>) {
        if line.does != Effect::Install || !CREATING_COMMANDS.contains(line.name) {
            return;
        }
        let Some(first) = line.read.operands.first() else {
            return;
        };
        let text = first.text.as_str();
        let (scope, name) = match text.split_once('/') {
            Some((scope, name)) if scope.starts_with('@') => (format!("{scope}/"), name),
            _ if text.starts_with('@') => (format!("{text}/"), ""),
            _ => (String::new(), text),
        };
        let creator = format!("{scope}create-{name}");
        let described = is_described(creator.trim_end_matches('-')) || is_own(text);
        if first.vague() || !described {
            self.note_package(first, line.span);
        }
    }

    /// Judges `brew install owner/tap/x`, which takes up the repository of somebody.
    pub(super) fn installs_from_tap(&mut self, line: &Line<'_>) {
        if !line.name.starts_with("brew ") || line.does != Effect::Install {
            return;
        }
        let is_tap = |text: &str| {
            text.split('/').count() == 3
                && !text.starts_with(['.', '/', '~'])
                && !KNOWN_TAPS.iter().any(|tap| text.starts_with(tap))
        };
        if let Some(tap) = line.read.operands.iter().find(|arg| is_tap(&arg.text)) {
            let act = Act::new(Effect::Exec, line.row.name, line.span)
                .because("installs code from the repository of somebody who is not widely known");
            self.note(act.on(tap.shown()));
        }
    }

    fn note_package(&mut self, package: &Arg, span: Span) {
        let act = Act::new(Effect::Exec, "", span).because(UNKNOWN_PACKAGE);
        self.note(act.on(package.shown()));
    }
}

/// Whether a word names something of the project: a directory, a file.
fn is_own(text: &str) -> bool {
    text.starts_with("./") || matches!(text, "." | "..")
}

/// Whether a word is read as a package and not as a path: `x`, `x@1`, `@scope/x`, `owner/x`.
fn is_package_name(text: &str) -> bool {
    !text.starts_with(['.', '/', '~', '-']) && !text.contains(':')
        || text
            .split_once('@')
            .is_some_and(|(name, version)| !name.contains([':', '/']) && version.contains(':'))
}

/// Whether a package is described by a row, or widely known. Another package behind its name
/// (`tsc@npm:x`) and somebody's repository (`owner/x`) are not.
fn is_described(package: &str) -> bool {
    let scoped = package.starts_with('@');
    let base = base_of(package);
    let version = package.get(1..).and_then(|rest| rest.split_once('@'));
    let aliased = version.is_some_and(|(_, version)| version.contains([':', '/']));
    if aliased || package.contains("://") {
        return false;
    }
    if scoped {
        return is_known(package);
    }
    let name = package.split(['@', '[', '=', '<', '>', '~', '!']).next();
    let name = name.unwrap_or(package);
    let is_row = || knowledge::program(base).is_some_and(|program| !is_of_system(program));
    !name.contains('/') && (is_known(name) || is_row())
}

/// Whether a row describes a program of a system. Whoever published a package called `jq` or `ls` wrote
/// another program.
fn is_of_system(program: &Program) -> bool {
    program.of_system
        || ["(1)", "(8)"]
            .iter()
            .any(|it| program.row.manual.contains(it))
}

/// Whether a package of a scope comes from a known publisher.
fn is_published(package: &str) -> bool {
    package.starts_with('@') && is_described(package)
}

/// Returns the program of a package: without its scope and version.
fn base_of(package: &str) -> &str {
    let rest = match package
        .strip_prefix('@')
        .and_then(|rest| rest.split_once('/'))
    {
        Some((_, name)) => name,
        None => package,
    };
    let end = rest.find(['@', '[', '=', '<', '>', '~', '!']);
    rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::{base_of, is_described, is_package_name};

    #[test]
    fn packages_are_known_by_name_scope_or_row() {
        for package in [
            "eslint",
            "eslint@9",
            "@biomejs/biome@latest",
            "typescript",
            "ruff==0.5",
        ] {
            assert!(is_described(package), "{package}");
        }
        for package in [
            "an-odd-one",
            "@odd/eslint",
            "odd/eslint",
            "tsc@npm:odd",
            "eslint@https://x",
            "jq",
            "ls@1",
            "git",
            "curl",
        ] {
            assert!(!is_described(package), "{package}");
        }
    }

    #[test]
    fn a_package_is_told_from_a_path() {
        assert_eq!(base_of("@biomejs/biome@2"), "biome");
        assert!(is_package_name("@a/b") && is_package_name("a/b") && is_package_name("tsc@npm:x"));
        assert!(
            !is_package_name("./a") && !is_package_name("/a") && !is_package_name("github:a/b")
        );
    }
}
