//! Effects of one SQL statement, by its verb and the words that modify it.

use super::functions::{self, Unknown};
use super::tokens::Token;
use super::{Dialect, condition, headline, transfer};
use crate::knowledge::languages::{
    Call, SQL_ALTER, SQL_CREATE, SQL_DEFINING, SQL_DROP, SQL_PRAGMAS, SQL_PROCEDURES, SQL_RESET,
    SQL_SET, SQL_STARTING, SQL_TRANSACTIONS, SQL_VERBS,
};
use crate::knowledge::{CallReader, Effect};
use crate::language::{Deed, Reading, deed_of};

pub(super) const UNKNOWN_VERB: &str = "an unknown database statement";
const STORED_PROGRAM: &str = "a stored program of the database";
pub(super) const DYNAMIC: &str = "a database statement that is computed";
const TOO_NESTED: &str = "database statements nested too deeply";

/// Statements inside statements are followed this deep.
const DEPTH_MAX: usize = 4;

/// Notes the effects of a statement that has a grammar of its own.
type Judge = fn(&[Token], Context, &mut Reading);

/// What holds for a statement and those inside it.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub(super) dialect: Dialect,
    depth: usize,
}

/// Verbs with a grammar of their own; the table has all others.
const OWN: [(&str, Judge); 27] = [
    ("SELECT", select),
    ("FROM", select),
    ("DESCRIBE", explain),
    ("DESC", explain),
    ("EXPLAIN", explain),
    ("ANALYZE", analyze),
    ("ANALYSE", analyze),
    ("WITH", with),
    ("BEGIN", begin),
    ("SET", set),
    ("RESET", reset),
    ("START", start),
    ("PRAGMA", pragma),
    ("DECLARE", declare),
    ("INSERT", insert),
    ("MERGE", merge),
    ("CREATE", create),
    ("ALTER", alter),
    ("DROP", drop_object),
    ("VACUUM", transfer::vacuum),
    ("BACKUP", transfer::backup),
    ("COPY", transfer::copy),
    ("LOAD", transfer::load),
    ("ATTACH", transfer::attach),
    ("PREPARE", prepare),
    ("EXEC", execute),
    ("EXECUTE", execute),
];

/// Notes what a statement does.
pub(super) fn judge(tokens: &[Token], dialect: Dialect, reading: &mut Reading) {
    functions::check(tokens, unknown_functions(tokens), reading);
    verb(tokens, Context { dialect, depth: 0 }, reading);
}

/// Where tables are defined or filled, other names than functions stand before parentheses.
fn unknown_functions(tokens: &[Token]) -> Unknown {
    match tokens.first() {
        Some(first) if first.is_among(&SQL_DEFINING) => {
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
    let first = tokens.first();
    let own = |first: &Token| OWN.iter().find(|(name, _)| first.is(name));
    if let Some((_, judge)) = first.and_then(own) {
        judge(tokens, context, reading);
        return;
    }
    let Some(known) = first.and_then(|first| first.found_in(&SQL_VERBS)) else {
        reading.hide(UNKNOWN_VERB);
        return;
    };
    let filters = known.reader == Some(CallReader::Filter);
    if (known.does == Effect::DbRead || filters) && context.dialect == Dialect::Generic {
        trailing(tokens, context, reading);
    }
    let does = if filters && !condition::narrows(tokens) {
        Effect::DbDestroy
    } else {
        known.does
    };
    match deed_of(does, headline(tokens)) {
        Some(deed) => reading.see(deed),
        None => reading.hide(STORED_PROGRAM),
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
    let is_start = tokens
        .get(at)
        .is_some_and(|token| token.is_among(&SQL_STARTING));
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
    if context.dialect == Dialect::Generic {
        trailing(tokens, context, reading);
    }
    let mut words = tokens.iter().take(4);
    let outlasting = words.find_map(|token| token.found_in(&SQL_SET));
    see(outlasting, tokens, reading);
}

/// Notes what a table says of the statement's object; a statement about any other one only reads.
fn see(known: Option<&Call>, tokens: &[Token], reading: &mut Reading) {
    let does = known.map_or(Effect::DbRead, |known| known.does);
    reading.see(deed_of(does, headline(tokens)).unwrap_or(Deed::DbRead));
}

fn reset(tokens: &[Token], _: Context, reading: &mut Reading) {
    let known = tokens.get(1).and_then(|what| what.found_in(&SQL_RESET));
    see(known, tokens, reading);
}

/// `BEGIN` opens a transaction, or a block of statements.
fn begin(tokens: &[Token], context: Context, reading: &mut Reading) {
    match tokens.get(1) {
        Some(second) if !second.is_among(&SQL_TRANSACTIONS) => inner(tokens, 1, context, reading),
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
    let ([_, _, Token::Mark('.'), name, ..] | [_, name, ..]) = tokens else {
        reading.hide(UNKNOWN_VERB);
        return;
    };
    let sets = tokens.contains(&Token::Mark('=')) || tokens.contains(&Token::Mark('('));
    match name.found_in(&SQL_PRAGMAS).map(|known| known.does) {
        Some(Effect::DbRead) => reading.see(Deed::DbRead),
        Some(Effect::DbWrite) => reading.see(Deed::DbWrite(headline(tokens))),
        _ if !sets => reading.see(Deed::DbRead),
        Some(Effect::DbAdmin) => reading.see(Deed::DbAdmin(headline(tokens))),
        _ => reading.see(Deed::DbWrite(headline(tokens))),
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

/// `MERGE` has no condition for the rows it deletes but the one that joins them.
fn merge(tokens: &[Token], _: Context, reading: &mut Reading) {
    let deletes = tokens
        .windows(2)
        .any(|pair| matches!(pair, [then, verb] if then.is("THEN") && verb.is("DELETE")));
    reading.see(if deletes {
        Deed::DbDestroy(headline(tokens))
    } else {
        Deed::DbWrite(headline(tokens))
    });
}

fn create(tokens: &[Token], context: Context, reading: &mut Reading) {
    let kind = tokens.get(1..).unwrap_or_default().iter().take(6);
    let kind = kind
        .take_while(|token| !matches!(token, Token::Mark(_) | Token::Quoted(_)))
        .find_map(|token| Some((token, token.found_in(&SQL_CREATE)?)));
    let replaces = tokens.get(1).is_some_and(|second| second.is("OR"));
    match kind {
        Some((_, known)) if known.does == Effect::DbAdmin => {
            reading.see(Deed::DbAdmin(headline(tokens)));
        }
        Some((_, known)) if known.reader == Some(CallReader::LoadsCode) => {
            reading.see(Deed::DbWrite(headline(tokens)));
            reading.hide(STORED_PROGRAM);
        }
        Some((kind, _)) if kind.is_any(&["TABLE", "DATABASE", "SCHEMA"]) && replaces => {
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
    let mut words = tokens.iter().skip(1);
    let changes_rights = words.any(|token| token.found_in(&SQL_ALTER).is_some());
    if loses {
        reading.see(Deed::DbDestroy(headline(tokens)));
    } else if changes_rights {
        reading.see(Deed::DbAdmin(headline(tokens)));
    } else {
        reading.see(Deed::DbWrite(headline(tokens)));
    }
}

fn drop_object(tokens: &[Token], _: Context, reading: &mut Reading) {
    let known = tokens.get(1).and_then(|kind| kind.found_in(&SQL_DROP));
    let does = known.map_or(Effect::DbDestroy, |known| known.does);
    reading.see(deed_of(does, headline(tokens)).unwrap_or(Deed::DbRead));
}

fn prepare(tokens: &[Token], context: Context, reading: &mut Reading) {
    match tokens.iter().position(|token| token.is("AS")) {
        Some(at) => inner(tokens, at + 1, context, reading),
        None => reading.hide(DYNAMIC),
    }
}

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
            let known = SQL_PROCEDURES.get_in_any_case(name);
            let does = known.map(|known| known.does);
            match (does, tokens.get(at + 1)) {
                (Some(Effect::Exec), Some(Token::Text(command))) => {
                    reading.see(Deed::Shell(command.clone()));
                }
                (Some(Effect::DbAdmin), _) => reading.see(Deed::DbAdmin(headline(tokens))),
                (Some(Effect::DbRead), _) => reading.see(Deed::DbRead),
                _ => reading.hide(STORED_PROGRAM),
            }
        }
        _ => reading.hide(DYNAMIC),
    }
}
