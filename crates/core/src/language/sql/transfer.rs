//! Statements that move data between the database and files or programs.

use super::functions::{self, Unknown};
use super::statement::{Context, DYNAMIC, UNKNOWN_VERB, closing, inner, text_after};
use super::tokens::Token;
use super::{Dialect, headline};
use crate::language::{Deed, Reading};

const FOREIGN_FILE: &str = "SQL or code from a file";

pub(super) fn vacuum(tokens: &[Token], _: Context, reading: &mut Reading) {
    match text_after(tokens, "INTO") {
        Some(path) => reading.see(Deed::WriteFile(path.to_owned())),
        None => reading.see(Deed::DbWrite(headline(tokens))),
    }
}

pub(super) fn backup(tokens: &[Token], _: Context, reading: &mut Reading) {
    reading.see(Deed::DbAdmin(headline(tokens)));
    for token in tokens {
        if let Token::Text(path) = token {
            reading.see(Deed::WriteFile(path.clone()));
        }
    }
}

/// `COPY` moves rows between a table and the client, a file of the server or a program.
pub(super) fn copy(tokens: &[Token], context: Context, reading: &mut Reading) {
    if let Some(Token::Mark('(')) = tokens.get(1) {
        let end = closing(tokens, 1);
        let query = tokens.get(..end).unwrap_or_default();
        functions::check(query.get(1..).unwrap_or_default(), Unknown::Hide, reading);
        inner(query, 2, context, reading);
    }
    let mut depth = 0_usize;
    let direction = tokens.iter().position(|token| {
        if *token == Token::Mark('(') {
            depth += 1;
        } else if *token == Token::Mark(')') {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && token.is_any(&["FROM", "TO"])
    });
    let Some(direction) = direction else {
        reading.hide(UNKNOWN_VERB);
        return;
    };
    let fills = tokens.get(direction).is_some_and(|token| token.is("FROM"));
    if fills {
        reading.see(Deed::DbWrite(headline(tokens)));
    } else {
        reading.see(Deed::DbRead);
    }
    match tokens.get(direction + 1) {
        Some(program) if program.is("PROGRAM") => match tokens.get(direction + 2) {
            Some(Token::Text(command)) => reading.see(Deed::Shell(command.clone())),
            _ => reading.hide(DYNAMIC),
        },
        Some(stream) if stream.is_any(&["STDIN", "STDOUT", "PSTDIN", "PSTDOUT"]) => {}
        Some(Token::Text(path) | Token::Word(path)) if fills => {
            reading.see(Deed::ReadFile(path.clone()));
        }
        Some(Token::Text(path) | Token::Word(path)) if path.contains("://") => {
            reading.see(Deed::Send(path.clone()));
        }
        Some(Token::Text(path) | Token::Word(path)) => reading.see(Deed::WriteFile(path.clone())),
        _ => reading.hide(DYNAMIC),
    }
}

pub(super) fn load(tokens: &[Token], _: Context, reading: &mut Reading) {
    match text_after(tokens, "INFILE").or_else(|| text_after(tokens, "INPATH")) {
        Some(path) => {
            reading.see(Deed::ReadFile(path.to_owned()));
            reading.see(Deed::DbWrite(headline(tokens)));
        }
        None => reading.hide(FOREIGN_FILE),
    }
}

pub(super) fn attach(tokens: &[Token], context: Context, reading: &mut Reading) {
    let path = tokens.iter().find_map(|token| match token {
        Token::Text(path) | Token::Quoted(path) => Some(path),
        Token::Word(_) | Token::Number(_) | Token::Variable | Token::Mark(_) => None,
    });
    match path {
        Some(path) if path == ":memory:" || path.is_empty() => reading.see(Deed::DbRead),
        // The file is made if it does not exist, and later statements may write to it.
        Some(path) => reading.see(Deed::WriteFile(path.clone())),
        None if context.dialect == Dialect::Generic => {
            reading.see(Deed::DbWrite(headline(tokens)));
        }
        None => reading.hide(DYNAMIC),
    }
}
