//! Effects of one SQL statement, by its verb and the words that modify it.

use super::functions::{self, Unknown};
use super::tokens::Token;
use super::{Dialect, condition, headline, transfer};
use crate::language::{Deed, Reading};

pub(super) const UNKNOWN_VERB: &str = "an unknown database statement";
const STORED_PROGRAM: &str = "a stored program of the database";
pub(super) const DYNAMIC: &str = "a database statement that is computed";
const TOO_NESTED: &str = "database statements nested too deeply";

/// Statements inside statements are followed this deep.
const DEPTH_MAX: usize = 4;

/// How a verb is judged.
#[derive(Clone, Copy)]
enum Verb {
    Read,
    /// Changes little, or only how data is stored.
    Write,
    /// `UPDATE` and `DELETE`: destroys without a condition.
    Rows,
    Destroy,
    Admin,
    /// Runs code nobody sees here.
    Program,
    /// Judged by its own function.
    Own(fn(&[Token], Context, &mut Reading)),
}

/// What holds for a statement and those inside it.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub(super) dialect: Dialect,
    depth: usize,
}

/// Verbs of all databases.
const VERBS: [(&str, Verb); 87] = [
    ("SELECT", Verb::Own(select)),
    ("VALUES", Verb::Read),
    ("TABLE", Verb::Read),
    ("FROM", Verb::Own(select)),
    ("SHOW", Verb::Read),
    ("DESCRIBE", Verb::Own(explain)),
    ("DESC", Verb::Own(explain)),
    ("EXPLAIN", Verb::Own(explain)),
    ("ANALYZE", Verb::Own(analyze)),
    ("ANALYSE", Verb::Own(analyze)),
    ("WITH", Verb::Own(with)),
    ("USE", Verb::Read),
    ("HELP", Verb::Read),
    ("BEGIN", Verb::Own(begin)),
    ("COMMIT", Verb::Read),
    ("END", Verb::Read),
    ("ROLLBACK", Verb::Read),
    ("ABORT", Verb::Read),
    ("SAVEPOINT", Verb::Read),
    ("RELEASE", Verb::Read),
    ("FETCH", Verb::Read),
    ("CLOSE", Verb::Read),
    ("MOVE", Verb::Read),
    ("LISTEN", Verb::Read),
    ("UNLISTEN", Verb::Read),
    ("DISCARD", Verb::Read),
    ("DEALLOCATE", Verb::Read),
    ("CHECKSUM", Verb::Read),
    ("CHECK", Verb::Read),
    ("EXISTS", Verb::Read),
    ("PRINT", Verb::Read),
    ("LIST", Verb::Read),
    ("CONSISTENCY", Verb::Read),
    ("EXIT", Verb::Read),
    ("QUIT", Verb::Read),
    ("SET", Verb::Own(set)),
    ("RESET", Verb::Own(reset)),
    ("START", Verb::Own(start)),
    ("PRAGMA", Verb::Own(pragma)),
    ("DECLARE", Verb::Own(declare)),
    ("INSERT", Verb::Own(insert)),
    ("UPSERT", Verb::Write),
    ("MERGE", Verb::Write),
    ("UPDATE", Verb::Rows),
    ("DELETE", Verb::Rows),
    ("REPLACE", Verb::Destroy),
    ("CREATE", Verb::Own(create)),
    ("ALTER", Verb::Own(alter)),
    ("DROP", Verb::Own(drop_object)),
    ("TRUNCATE", Verb::Destroy),
    ("PURGE", Verb::Destroy),
    ("RESTORE", Verb::Destroy),
    ("UNDROP", Verb::Write),
    ("RENAME", Verb::Write),
    ("COMMENT", Verb::Write),
    ("LOCK", Verb::Write),
    ("UNLOCK", Verb::Read),
    ("NOTIFY", Verb::Write),
    ("VACUUM", Verb::Own(transfer::vacuum)),
    ("OPTIMIZE", Verb::Write),
    ("REINDEX", Verb::Write),
    ("REPAIR", Verb::Write),
    ("CLUSTER", Verb::Write),
    ("REFRESH", Verb::Write),
    ("CHECKPOINT", Verb::Write),
    ("DETACH", Verb::Write),
    ("GRANT", Verb::Admin),
    ("REVOKE", Verb::Admin),
    ("DENY", Verb::Admin),
    ("REASSIGN", Verb::Admin),
    ("SECURITY", Verb::Admin),
    ("FLUSH", Verb::Admin),
    ("KILL", Verb::Admin),
    ("SHUTDOWN", Verb::Admin),
    ("RESTART", Verb::Admin),
    ("STOP", Verb::Admin),
    ("CHANGE", Verb::Admin),
    ("DBCC", Verb::Admin),
    ("SYSTEM", Verb::Admin),
    ("BACKUP", Verb::Own(transfer::backup)),
    ("COPY", Verb::Own(transfer::copy)),
    ("LOAD", Verb::Own(transfer::load)),
    ("ATTACH", Verb::Own(transfer::attach)),
    ("PREPARE", Verb::Own(prepare)),
    ("EXEC", Verb::Own(execute)),
    ("EXECUTE", Verb::Own(execute)),
    ("CALL", Verb::Program),
];

/// Notes what a statement does.
pub(super) fn judge(tokens: &[Token], dialect: Dialect, reading: &mut Reading) {
    functions::check(tokens, unknown_functions(tokens), reading);
    verb(tokens, Context { dialect, depth: 0 }, reading);
}

/// Where tables are defined or filled, other names than functions stand before parentheses.
fn unknown_functions(tokens: &[Token]) -> Unknown {
    const DEFINING: [&str; 12] = [
        "INSERT", "CREATE", "ALTER", "REPLACE", "COPY", "LOAD", "GRANT", "REVOKE", "MERGE", "DROP",
        "PRAGMA", "UPSERT",
    ];
    match tokens.first() {
        Some(first) if first.is_any(&DEFINING) => {
            // What is selected into a table is checked like any other query.
            Unknown::Pass
        }
        _ => Unknown::Hide,
    }
}

fn verb(tokens: &[Token], context: Context, reading: &mut Reading) {
    if context.depth > DEPTH_MAX {
        reading.hide(TOO_NESTED);
        return;
    }
    let start = tokens
        .iter()
        .position(|token| *token != Token::Mark('('))
        .unwrap_or(0);
    let tokens = tokens.get(start..).unwrap_or_default();
    let known = tokens
        .first()
        .and_then(|first| VERBS.iter().find(|(name, _)| first.is(name)))
        .map(|(_, verb)| *verb);
    let headline = || headline(tokens);
    if matches!(known, Some(Verb::Read | Verb::Rows)) && context.dialect == Dialect::Generic {
        trailing(tokens, context, reading);
    }
    match known {
        Some(Verb::Read) => reading.see(Deed::DbRead),
        Some(Verb::Write) => reading.see(Deed::DbWrite(headline())),
        Some(Verb::Admin) => reading.see(Deed::DbAdmin(headline())),
        Some(Verb::Program) => reading.hide(STORED_PROGRAM),
        Some(Verb::Rows) if condition::narrows(tokens) => reading.see(Deed::DbWrite(headline())),
        Some(Verb::Rows | Verb::Destroy) => reading.see(Deed::DbDestroy(headline())),
        Some(Verb::Own(own)) => own(tokens, context, reading),
        None => reading.hide(UNKNOWN_VERB),
    }
}

/// Judges a statement that follows another without a semicolon.
fn trailing(tokens: &[Token], context: Context, reading: &mut Reading) {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        if *token == Token::Mark('(') {
            depth += 1;
        } else if *token == Token::Mark(')') {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && starts_unseparated(tokens, at) {
            inner(tokens, at, context, reading);
            return;
        }
    }
}

pub(super) fn inner(tokens: &[Token], at: usize, context: Context, reading: &mut Reading) {
    let context = Context {
        depth: context.depth + 1,
        ..context
    };
    verb(tokens.get(at..).unwrap_or_default(), context, reading);
}

fn has(tokens: &[Token], word: &str) -> bool {
    tokens.iter().any(|token| token.is(word))
}

/// The string that follows the first `word`.
pub(super) fn text_after<'a>(tokens: &'a [Token], word: &str) -> Option<&'a str> {
    let at = tokens.iter().position(|token| token.is(word))?;
    match tokens.get(at + 1) {
        Some(Token::Text(text) | Token::Quoted(text)) => Some(text),
        _ => None,
    }
}

fn select(tokens: &[Token], context: Context, reading: &mut Reading) {
    reading.see(Deed::DbRead);
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('(') => depth += 1,
            Token::Mark(')') => depth = depth.saturating_sub(1),
            Token::Word(_) if token.is("INTO") => {
                into(tokens.get(at + 1..).unwrap_or_default(), reading);
            }
            Token::Word(_)
                if depth == 0
                    && context.dialect == Dialect::Generic
                    && starts_unseparated(tokens, at) =>
            {
                inner(tokens, at, context, reading);
                return;
            }
            Token::Mark(_)
            | Token::Word(_)
            | Token::Quoted(_)
            | Token::Text(_)
            | Token::Number(_)
            | Token::Variable => {}
        }
    }
}

/// Some databases need no semicolon between statements.
fn starts_unseparated(tokens: &[Token], at: usize) -> bool {
    const STARTS: [&str; 12] = [
        "DROP", "DELETE", "UPDATE", "INSERT", "TRUNCATE", "EXEC", "EXECUTE", "ALTER", "GRANT",
        "REVOKE", "SHUTDOWN", "MERGE",
    ];
    let is_start = tokens.get(at).is_some_and(|token| token.is_any(&STARTS));
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let is_clause = before.is_none_or(|token| {
        token.is_any(&["FOR", "KEY", "AS"]) || matches!(token, Token::Mark('.' | ','))
    });
    let is_name = matches!(tokens.get(at + 1), Some(Token::Mark('(' | '.' | ',' | '=')));
    is_start && !is_clause && !is_name
}

/// What a query's result goes into: a file, a variable or a new table.
fn into(target: &[Token], reading: &mut Reading) {
    match target {
        [word, Token::Text(path), ..] if word.is_any(&["OUTFILE", "DUMPFILE"]) => {
            reading.see(Deed::WriteFile(path.clone()));
        }
        [word, ..] if word.is_any(&["OUTFILE", "DUMPFILE"]) => reading.hide(DYNAMIC),
        [Token::Variable, ..] => {}
        _ => reading.see(Deed::DbWrite(format!("INTO {}", headline(target)))),
    }
}

fn explain(tokens: &[Token], context: Context, reading: &mut Reading) {
    reading.see(Deed::DbRead);
    // Only `ANALYZE` runs what is explained.
    let explained = tokens.iter().skip(1).position(|token| {
        token.is_any(&[
            "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "MERGE", "REPLACE", "CREATE",
            "EXECUTE", "EXPLAIN",
        ])
    });
    let Some(start) = explained.map(|at| at + 1) else {
        return;
    };
    if has(tokens.get(..start).unwrap_or_default(), "ANALYZE")
        || has(tokens.get(..start).unwrap_or_default(), "ANALYSE")
    {
        inner(tokens, start, context, reading);
    }
}

fn analyze(tokens: &[Token], context: Context, reading: &mut Reading) {
    let start = tokens.iter().position(|token| {
        token.is_any(&["SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "REPLACE"])
    });
    match start {
        Some(start) => inner(tokens, start, context, reading),
        None => reading.see(Deed::DbWrite(headline(tokens))),
    }
}

/// Named subqueries may change rows, and so may the statement after them.
fn with(tokens: &[Token], context: Context, reading: &mut Reading) {
    const MAIN: [&str; 7] = [
        "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "VALUES",
    ];
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('(') => {
                depth += 1;
                let next = tokens.get(at + 1);
                // Rows are changed directly below the `WITH` or not at all.
                if depth == 1
                    && next
                        .is_some_and(|next| next.is_any(&["INSERT", "UPDATE", "DELETE", "MERGE"]))
                {
                    let end = closing(tokens, at);
                    inner(
                        tokens.get(..end).unwrap_or_default(),
                        at + 1,
                        context,
                        reading,
                    );
                }
            }
            Token::Mark(')') => depth = depth.saturating_sub(1),
            Token::Word(_) if depth == 0 && token.is_any(&MAIN) => {
                inner(tokens, at, context, reading);
                return;
            }
            Token::Mark(_)
            | Token::Word(_)
            | Token::Quoted(_)
            | Token::Text(_)
            | Token::Number(_)
            | Token::Variable => {}
        }
    }
    reading.hide(UNKNOWN_VERB);
}

/// The place of the parenthesis that closes the one at `open`, or the end.
pub(super) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if *token == Token::Mark('(') {
            depth += 1;
        } else if *token == Token::Mark(')') {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at;
            }
        }
    }
    tokens.len()
}

fn set(tokens: &[Token], context: Context, reading: &mut Reading) {
    const OUTLASTING: [&str; 8] = [
        "GLOBAL",
        "PERSIST",
        "PERSIST_ONLY",
        "PASSWORD",
        "ROLE",
        "AUTHORIZATION",
        "CLUSTER",
        "RESOURCE",
    ];
    if context.dialect == Dialect::Generic {
        trailing(tokens, context, reading);
    }
    if tokens.iter().take(4).any(|token| token.is_any(&OUTLASTING)) {
        reading.see(Deed::DbAdmin(headline(tokens)));
    } else {
        reading.see(Deed::DbRead);
    }
}

fn reset(tokens: &[Token], _: Context, reading: &mut Reading) {
    match tokens.get(1) {
        Some(what) if what.is_any(&["MASTER", "SLAVE", "REPLICA", "BINARY"]) => {
            reading.see(Deed::DbDestroy(headline(tokens)));
        }
        Some(what) if what.is("PERSIST") => reading.see(Deed::DbAdmin(headline(tokens))),
        _ => reading.see(Deed::DbRead),
    }
}

/// `BEGIN` opens a transaction, or a block of statements.
fn begin(tokens: &[Token], context: Context, reading: &mut Reading) {
    const KINDS: [&str; 13] = [
        "TRANSACTION",
        "TRAN",
        "WORK",
        "ISOLATION",
        "READ",
        "DEFERRED",
        "IMMEDIATE",
        "EXCLUSIVE",
        "CONCURRENT",
        "TRY",
        "CATCH",
        "NOT",
        "DEFERRABLE",
    ];
    match tokens.get(1) {
        Some(second) if !second.is_any(&KINDS) => inner(tokens, 1, context, reading),
        _ => reading.see(Deed::DbRead),
    }
}

fn start(tokens: &[Token], _: Context, reading: &mut Reading) {
    if has(tokens, "TRANSACTION") {
        reading.see(Deed::DbRead);
    } else {
        reading.see(Deed::DbAdmin(headline(tokens)));
    }
}

/// SQLite settings: asking is a read, answering may change the file or its protections.
fn pragma(tokens: &[Token], _: Context, reading: &mut Reading) {
    const ASKING: &str = "table_info table_xinfo table_list index_list index_info index_xinfo
        foreign_key_list foreign_key_check integrity_check quick_check database_list
        collation_list function_list module_list pragma_list compile_options";
    const CHANGING: &str = "optimize wal_checkpoint incremental_vacuum shrink_memory";
    const PROTECTIONS: &str = "writable_schema trusted_schema key rekey cell_size_check";
    let ([_, _, Token::Mark('.'), name, ..] | [_, name, ..]) = tokens else {
        reading.hide(UNKNOWN_VERB);
        return;
    };
    let named = |list: &str| list.split_whitespace().any(|known| name.is(known));
    let sets = tokens.contains(&Token::Mark('=')) || tokens.contains(&Token::Mark('('));
    if named(ASKING) || (!sets && !named(CHANGING)) {
        reading.see(Deed::DbRead);
    } else if named(PROTECTIONS) {
        reading.see(Deed::DbAdmin(headline(tokens)));
    } else {
        reading.see(Deed::DbWrite(headline(tokens)));
    }
}

fn declare(tokens: &[Token], context: Context, reading: &mut Reading) {
    match tokens.iter().position(|token| token.is("FOR")) {
        Some(at) if has(tokens, "CURSOR") => inner(tokens, at + 1, context, reading),
        _ => reading.hide(STORED_PROGRAM),
    }
}

fn insert(tokens: &[Token], context: Context, reading: &mut Reading) {
    let source = tokens
        .iter()
        .position(|token| token.is_any(&["VALUES", "SELECT", "SET"]));
    if let Some(source) = source {
        functions::check(
            tokens.get(source..).unwrap_or_default(),
            Unknown::Hide,
            reading,
        );
    }
    if tokens.get(1).is_some_and(|second| second.is("OVERWRITE")) {
        reading.see(Deed::DbDestroy(headline(tokens)));
    } else if tokens.iter().take(4).any(|token| token.is("FUNCTION")) {
        reading.hide(UNKNOWN_VERB);
    } else {
        reading.see(Deed::DbWrite(headline(tokens)));
    }
    // An upsert says `DO UPDATE` or `ON DUPLICATE KEY UPDATE`; otherwise another statement may
    // follow without a semicolon.
    if context.dialect == Dialect::Generic && !has(tokens, "CONFLICT") && !has(tokens, "DUPLICATE")
    {
        let later = source.unwrap_or(0) + 1;
        if let Some(at) = (later..tokens.len()).find(|at| starts_unseparated(tokens, *at)) {
            inner(tokens, at, context, reading);
        }
    }
}

fn create(tokens: &[Token], context: Context, reading: &mut Reading) {
    const RIGHTS: [&str; 16] = [
        "USER",
        "ROLE",
        "LOGIN",
        "GROUP",
        "EXTENSION",
        "SERVER",
        "SUBSCRIPTION",
        "PUBLICATION",
        "POLICY",
        "CREDENTIAL",
        "LANGUAGE",
        "TRIGGER",
        "RULE",
        "EVENT",
        "CAST",
        "TABLESPACE",
    ];
    const PROGRAMS: [&str; 4] = ["FUNCTION", "PROCEDURE", "AGGREGATE", "ASSEMBLY"];
    let kind = tokens.get(1..).unwrap_or_default().iter().take(6);
    let named_kind: Vec<&Token> = kind
        .take_while(|token| !matches!(token, Token::Mark(_) | Token::Quoted(_)))
        .collect();
    let first_kind = named_kind.iter().find(|token| {
        token.is_any(&RIGHTS)
            || token.is_any(&PROGRAMS)
            || token.is_any(&[
                "TABLE", "VIEW", "INDEX", "DATABASE", "SCHEMA", "SEQUENCE", "TYPE", "KEYSPACE",
                "DOMAIN",
            ])
    });
    let replaces = tokens.get(1).is_some_and(|second| second.is("OR"));
    match first_kind {
        Some(kind) if kind.is_any(&RIGHTS) => reading.see(Deed::DbAdmin(headline(tokens))),
        Some(kind) if kind.is_any(&PROGRAMS) => {
            reading.see(Deed::DbWrite(headline(tokens)));
            reading.hide(STORED_PROGRAM);
        }
        Some(kind) if kind.is_any(&["TABLE", "DATABASE", "SCHEMA"]) && replaces => {
            reading.see(Deed::DbDestroy(headline(tokens)));
        }
        Some(_) => reading.see(Deed::DbWrite(headline(tokens))),
        None => {
            reading.see(Deed::DbWrite(headline(tokens)));
            reading.hide(UNKNOWN_VERB);
        }
    }
    let query = tokens
        .windows(2)
        .position(|pair| matches!(pair, [first, second] if first.is("AS") && second.is_any(&["SELECT", "WITH"])));
    if let Some(query) = query {
        let query = tokens.get(query + 1..).unwrap_or_default();
        functions::check(query, Unknown::Hide, reading);
        inner(query, 0, context, reading);
    }
}

fn alter(tokens: &[Token], _: Context, reading: &mut Reading) {
    const LOSING: [&str; 6] = ["DROP", "TRUNCATE", "DELETE", "UPDATE", "EXCHANGE", "DETACH"];
    const RIGHTS: [&str; 16] = [
        "USER",
        "ROLE",
        "LOGIN",
        "SYSTEM",
        "OWNER",
        "DATABASE",
        "SERVER",
        "INSTANCE",
        "DISABLE",
        "DEFAULT_PRIVILEGES",
        "PRIVILEGES",
        "EXTENSION",
        "GROUP",
        "POLICY",
        "PROFILE",
        "SUBSCRIPTION",
    ];
    // `DROP NOT NULL`, `DROP DEFAULT` and `DROP CONSTRAINT` lose no data.
    let loses = tokens.iter().enumerate().any(|(at, token)| {
        token.is_any(&LOSING)
            && !tokens.get(at + 1).is_some_and(|next| {
                next.is_any(&[
                    "NOT",
                    "DEFAULT",
                    "CONSTRAINT",
                    "IDENTITY",
                    "EXPRESSION",
                    "CASCADE",
                ])
            })
            && !at
                .checked_sub(1)
                .and_then(|at| tokens.get(at))
                .is_some_and(|on| on.is("ON"))
    });
    if loses {
        reading.see(Deed::DbDestroy(headline(tokens)));
    } else if tokens.iter().skip(1).any(|token| token.is_any(&RIGHTS)) {
        reading.see(Deed::DbAdmin(headline(tokens)));
    } else {
        reading.see(Deed::DbWrite(headline(tokens)));
    }
}

fn drop_object(tokens: &[Token], _: Context, reading: &mut Reading) {
    const RIGHTS: [&str; 6] = ["USER", "ROLE", "LOGIN", "POLICY", "CREDENTIAL", "GROUP"];
    if tokens.get(1).is_some_and(|kind| kind.is_any(&RIGHTS)) {
        reading.see(Deed::DbAdmin(headline(tokens)));
    } else {
        reading.see(Deed::DbDestroy(headline(tokens)));
    }
}

fn prepare(tokens: &[Token], context: Context, reading: &mut Reading) {
    match tokens.iter().position(|token| token.is("AS")) {
        Some(at) => inner(tokens, at + 1, context, reading),
        None => reading.hide(DYNAMIC),
    }
}

/// Stored programs of the server that only show something.
const SHOWING_PROCEDURES: [&str; 14] = [
    "sp_help",
    "sp_helptext",
    "sp_helpdb",
    "sp_helpindex",
    "sp_who",
    "sp_who2",
    "sp_columns",
    "sp_tables",
    "sp_spaceused",
    "sp_databases",
    "sp_lock",
    "sp_fkeys",
    "sp_pkeys",
    "sp_depends",
];

fn execute(tokens: &[Token], _: Context, reading: &mut Reading) {
    let name = tokens
        .iter()
        .enumerate()
        .skip(1)
        .take_while(|(_, token)| {
            matches!(token, Token::Word(_) | Token::Quoted(_) | Token::Mark('.'))
        })
        .last();
    match name {
        Some((at, Token::Word(name) | Token::Quoted(name))) => {
            let name = name.to_ascii_lowercase();
            match (name.as_str(), tokens.get(at + 1)) {
                ("xp_cmdshell", Some(Token::Text(command))) => {
                    reading.see(Deed::Shell(command.clone()));
                }
                ("sp_configure", _) => reading.see(Deed::DbAdmin(headline(tokens))),
                (name, _) if SHOWING_PROCEDURES.contains(&name) => reading.see(Deed::DbRead),
                _ => reading.hide(STORED_PROGRAM),
            }
        }
        _ => reading.hide(DYNAMIC),
    }
}
