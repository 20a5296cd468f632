//! Files of statements that a database is given: `psql app_test -f schema.sql`, `sqlite3 dev.db < schema.sql`.
//!
//! On a database of this machine they are code of the project, as a script is that changes the same database.
//! What the session wrote is read; a name that says it destroys something, a database elsewhere or in
//! production, and a file from outside the workspace are put to a person.

use super::Line;
use super::roles::takes_statements;
use crate::act::Act;
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::Walk;
use crate::host::host_kind;
use crate::knowledge::names::{
    DATABASE_HOST_OPTIONS, DATABASE_HOST_VARIABLES, NEAR_DATABASES, REMOVING_STATEMENTS,
};
use crate::knowledge::{Effect, HostKind, Role};

impl Walk<'_> {
    /// Takes note of a client whose words or variables may name a database of another machine.
    pub(super) fn heed_database(&mut self, line: &Line<'_>) {
        if !takes_statements(line.row) {
            return;
        }
        // Variables that are not seen may say where the database is.
        let handed = self.scope.brought.variables || self.scope.brought.functions;
        self.scope.reach.far_database |= handed || !NEAR_DATABASES.contains(line.name);
        if line.does != Effect::DbRead {
            return;
        }
        let is_host = |name: &str| DATABASE_HOST_OPTIONS.contains(name);
        let named = line.read.hits.iter().filter(|hit| is_host(hit.name));
        let mut hosts = named.filter_map(|hit| hit.value.as_ref());
        let values = line.read.hits.iter().filter_map(|hit| hit.value.as_ref());
        let mut words = line.read.operands.iter().copied().chain(values);
        let by_variable = |(name, _): &(String, _)| DATABASE_HOST_VARIABLES.contains(name.as_str());
        self.scope.reach.far_database |= hosts.any(|host| !is_near(&host.text))
            || words.any(says_address)
            || self.scope.variables.iter().any(by_variable);
    }

    /// Takes note of a variable by which a client learns where its database is.
    pub(super) fn heed_database_host(&mut self, name: &str, value: &Arg) {
        let names = DATABASE_HOST_VARIABLES.contains(name);
        self.scope.reach.far_database |= names && !is_near(&value.text);
    }

    /// Judges a file of the project whose statements run. Returns whether it is one; otherwise nothing is
    /// noted.
    pub(super) fn runs_statements(&mut self, file: &Arg, program: &'static str) -> bool {
        let place = self.ground.place(&file.text);
        let own = place.inside == Some(true) && self.knows.trusts_workspace && !place.vague;
        let ending = file.text.rsplit_once('.').map_or("", |(_, ending)| ending);
        let named = !file.glob && file.delivers.is_none() && ending.eq_ignore_ascii_case("sql");
        if !own || !named || self.scope.reach.far_database {
            return false;
        }
        let held = self.may_hold(&place.path);
        let is_hidden = |held: &Stream| held.text.as_deref().is_none_or(connects_elsewhere);
        if held.iter().any(is_hidden) || takes_away(&file.text) {
            return false;
        }
        self.telling_words(file, &[]);
        for text in held.into_iter().filter_map(|held| held.text) {
            self.mini_language(Role::Sql, &Arg::literal(text, file.span), program);
        }
        let act = Act::new(Effect::DbWrite, program, self.here(file.span));
        self.note(act.because("runs the statements of a file").on(place.path));
        true
    }

    /// Judges statements that come out of files of the project: `psql app_test < schema.sql`.
    pub(super) fn runs_given_statements(&mut self, line: &Line<'_>) -> bool {
        let files = line.stdin.files.clone();
        let arg = |path: &String| Arg::literal(path.clone(), line.span);
        !files.is_empty()
            && !line.stdin.taint.network
            && !line.stdin.taint.computed
            && files
                .iter()
                .all(|path| self.runs_statements(&arg(path), line.row.name))
    }
}

/// Whether statements turn to another database than the one that was named.
fn connects_elsewhere(text: &str) -> bool {
    let connects = |line: &str| {
        let first = line.split_whitespace().next().unwrap_or("");
        let first = first.to_ascii_lowercase();
        first.starts_with("\\c") && !first.starts_with("\\copy")
            || matches!(first.as_str(), "connect" | "\\u" | ".open" | "attach")
    };
    text.lines().any(connects)
}

/// Whether the name of a file says that its statements take something away again: `reset.sql`, `0001.down.sql`.
fn takes_away(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or("").to_ascii_lowercase();
    let mut parts = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    parts.any(|part| REMOVING_STATEMENTS.contains(part))
}

/// Whether a host is this machine: by name, by address, or a socket.
fn is_near(host: &str) -> bool {
    let kind = host_kind(&format!("https://{host}/")).1;
    host.starts_with('/') || matches!(kind, Some((HostKind::Loopback, _)))
}

/// Whether a word may be the address of a database that is not on this machine.
fn says_address(word: &Arg) -> bool {
    let text = word.text.as_str();
    let scheme = text.split_once("://").map(|(_, rest)| rest);
    let host = scheme.map(|rest| rest.rsplit('@').next().unwrap_or(rest));
    let host = host.map(|host| host.split(['/', ':', '?']).next().unwrap_or(host));
    // `host=localhost dbname=app` is how some clients write an address.
    let stays = |pair: &str| match pair.split_once('=') {
        Some(("host" | "hostaddr", value)) => is_near(value),
        Some((name, _)) => !name.is_empty() && name != "service",
        None => false,
    };
    let in_pairs = text.contains('=') && (text.contains("host") || text.contains("service"));
    word.vague()
        || host.is_some_and(|host| !is_near(host))
        || in_pairs && !text.split_whitespace().all(stays)
}
