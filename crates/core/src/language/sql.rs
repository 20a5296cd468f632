//! Effects of statements given to a database client.
//!
//! SQL is split into tokens by the rules of the client it is meant for, then judged statement by
//! statement by its verb ([`statement`]). Commands of the clients themselves, such as
//! `\!` of `psql` or `.shell` of `sqlite3`, are read in [`client`]. `MongoDB` and Redis have
//! languages of their own.

mod client;
mod condition;
mod functions;
mod mongo;
mod redis;
mod statement;
mod tokens;
mod transfer;

pub use mongo::mongo;
pub use redis::redis;

use self::tokens::{Piece, Token};
use super::{FRAGMENT_BYTES_MAX, Reading, TOO_LONG};
use crate::knowledge::languages::SQL_OBJECTS;

/// Whose rules for quotes, comments and client commands hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Any other database: where dialects disagree, the reading is hidden or counts both.
    Generic,
    /// PostgreSQL through `psql` and its kin.
    Psql,
    /// MySQL or `MariaDB` through `mysql` and its kin.
    Mysql,
    /// SQLite through `sqlite3`.
    Sqlite,
}

impl Dialect {
    /// Returns the dialect of the client `program`, whatever its subcommand.
    pub(crate) fn of_client(program: &str) -> Self {
        match program.split(' ').next().unwrap_or(program) {
            "psql" | "pgcli" | "cockroach" | "usql" => Self::Psql,
            "mysql" | "mariadb" | "mycli" => Self::Mysql,
            "sqlite3" | "sqlite" | "litecli" | "duckdb" => Self::Sqlite,
            _ => Self::Generic,
        }
    }
}

/// Reads a text of SQL statements and client commands.
pub fn read(text: &str, dialect: Dialect) -> Reading {
    if text.len() > FRAGMENT_BYTES_MAX {
        return Reading::hidden(TOO_LONG);
    }
    let split = tokens::split(text, dialect);
    let mut reading = Reading::default();
    for piece in &split.pieces {
        match piece {
            Piece::Statement(tokens) => statement::judge(tokens, dialect, &mut reading),
            Piece::Client(line) => client::judge(line, dialect, &mut reading),
        }
    }
    if let Some(why) = split.hidden {
        reading.hide(why);
    }
    reading
}

/// First words of statements, each with the words that may follow; none means any word may.
///
/// Only pairs that no Unix program is called with are listed.
const OPENINGS: [(&str, &[&str]); 24] = [
    ("SELECT", &[]),
    ("DELETE", &["FROM"]),
    ("INSERT", &["INTO", "OVERWRITE", "IGNORE", "OR"]),
    ("UPDATE", &[]),
    ("DROP", &[]),
    ("TRUNCATE", &[]),
    ("ALTER", &[]),
    ("CREATE", &[]),
    ("REPLACE", &["INTO"]),
    ("MERGE", &["INTO"]),
    ("GRANT", &[]),
    ("REVOKE", &[]),
    (
        "SHOW",
        &[
            "TABLES",
            "DATABASES",
            "SCHEMAS",
            "COLUMNS",
            "GRANTS",
            "CREATE",
            "INDEX",
            "STATUS",
        ],
    ),
    ("DESCRIBE", &["TABLE"]),
    (
        "EXPLAIN",
        &["SELECT", "ANALYZE", "UPDATE", "DELETE", "INSERT", "WITH"],
    ),
    ("WITH", &[]),
    ("PRAGMA", &[]),
    ("COPY", &[]),
    ("LOAD", &["DATA"]),
    ("ATTACH", &["DATABASE"]),
    ("FLUSH", &["PRIVILEGES", "TABLES", "LOGS", "HOSTS"]),
    ("REINDEX", &["TABLE", "DATABASE", "INDEX", "SCHEMA"]),
    ("VACUUM", &["FULL", "ANALYZE", "INTO"]),
    ("EXEC", &["XP_CMDSHELL", "SP_CONFIGURE", "SP_EXECUTESQL"]),
];

/// Whether a whole command line is a SQL statement and not a Unix command.
pub fn looks_like(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|c: char| c.is_whitespace() || c == '(')
        .filter(|word| !word.is_empty())
        .take(64)
        .map(str::to_ascii_uppercase)
        .collect();
    let [first, rest @ ..] = words.as_slice() else {
        return false;
    };
    let Some(second) = rest.first().map(|word| word.trim_end_matches(';')) else {
        return false;
    };
    let Some((_, followers)) = OPENINGS.iter().find(|(opening, _)| opening == first) else {
        return false;
    };
    if !followers.is_empty() {
        return followers.contains(&second) && rest.len() > 1
            || followers.contains(&second)
                && matches!(first.as_str(), "SHOW" | "FLUSH" | "VACUUM" | "REINDEX");
    }
    let has = |wanted: &str| rest.iter().any(|word| word.trim_end_matches(';') == wanted);
    match first.as_str() {
        "SELECT" => {
            has("FROM")
                || second.starts_with(|c: char| c.is_ascii_digit() || c == '\'' || c == '*')
                || text.contains('(')
        }
        "DROP" | "ALTER" | "CREATE" => SQL_OBJECTS.contains_in_any_case(second) && rest.len() > 1,
        "UPDATE" => has("SET"),
        "GRANT" => has("TO"),
        "REVOKE" => has("FROM"),
        "WITH" => has("AS") && has("SELECT") | has("DELETE") | has("UPDATE") | has("INSERT"),
        "PRAGMA" => !second.starts_with('-'),
        "COPY" => has("FROM") | has("TO") | has("INTO") && text.trim_end().ends_with(';'),
        // `truncate` is also a program; its options and file names look different.
        "TRUNCATE" => {
            second == "TABLE"
                || (!second.starts_with('-')
                    && !second.contains('/')
                    && (text.trim_end().ends_with(';') || text.starts_with("TRUNCATE")))
        }
        _ => false,
    }
}

/// The words of a statement, for naming it to a person; bounded, because tables may hold much.
fn headline(tokens: &[Token]) -> String {
    const HEADLINE_TOKENS_MAX: usize = 6;
    let mut line = String::new();
    for token in tokens.iter().take(HEADLINE_TOKENS_MAX) {
        let (glued, text) = match token {
            Token::Word(word) => (false, word.as_str()),
            Token::Quoted(name) => (false, name.as_str()),
            Token::Mark('.') => (true, "."),
            Token::Mark(_) | Token::Text(_) | Token::Number(_) | Token::Variable => break,
        };
        if !line.is_empty() && !glued && !line.ends_with('.') {
            line.push(' ');
        }
        line.push_str(text);
    }
    line
}
