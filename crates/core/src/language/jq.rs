//! Effects of a `jq`, `gojq`, `jaq` or `yq` filter besides transforming its input.
//!
//! Filters cannot write. They can read the environment, and files in some dialects; a few
//! dialects run commands. Functions are checked against the known ones, because an unknown name
//! may be a dialect's way out.

use super::cursor::{Cursor, continues_name, starts_name};
use super::{
    ALL_VARIABLES, Deed, ENVIRONMENT, FRAGMENT_BYTES_MAX, Reading, TOO_LONG, is_secret_variable,
};
use crate::knowledge::languages::JQ_COMPUTING;

const UNPARSED: &str = "a jq filter that cannot be parsed";
const LOADED_CODE: &str = "a jq filter that loads other code";
const UNKNOWN_FUNCTION: &str = "an unknown jq function";
const COMPUTED_FILE: &str = "a filter that reads a file whose name it computes";

/// String interpolations may nest this deep; deeper ones stay hidden.
const DEPTH_MAX: usize = 64;

/// Reads a filter.
pub fn read(filter: &str) -> Reading {
    if filter.len() > FRAGMENT_BYTES_MAX {
        return Reading::hidden(TOO_LONG);
    }
    let mut tokens = Vec::new();
    if scan(&mut Cursor::new(filter), &mut tokens).is_none() {
        return Reading::hidden(UNPARSED);
    }
    let own: std::collections::HashSet<&str> = own_names(&tokens).collect();
    let mut reading = Reading::default();
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark(c @ ('(' | '[' | '{')) => open.push(*c),
            Token::Mark(')' | ']' | '}') => {
                open.pop();
            }
            Token::Variable(name) => {
                if name == "ENV" {
                    environment(tokens.get(at + 1..).unwrap_or_default(), &mut reading);
                } else if name == "__prog_args" {
                    reading.hide(UNKNOWN_FUNCTION);
                }
            }
            Token::Name(name) => {
                let before = at.checked_sub(1).and_then(|at| tokens.get(at));
                let after = tokens.get(at + 1..).unwrap_or_default();
                let is_key =
                    matches!(before, Some(Token::Mark('{' | ','))) && open.last() == Some(&'{');
                let is_defined = matches!(before, Some(Token::Name(word)) if word == "def");
                if !is_key
                    && !is_defined
                    && !JQ_COMPUTING.contains(name)
                    && !own.contains(name.as_str())
                {
                    function(name, after, &mut reading);
                }
            }
            Token::Mark(_) | Token::Member(_) | Token::Text(_) => {}
        }
    }
    reading
}

#[derive(Debug)]
enum Token {
    Name(String),
    Variable(String),
    /// `.name`
    Member(String),
    /// A string; `None` when something is interpolated into it.
    Text(Option<String>),
    Mark(char),
}

/// Functions and parameters the filter defines itself.
fn own_names(tokens: &[Token]) -> impl Iterator<Item = &str> {
    let mut in_head = false;
    tokens.iter().filter_map(move |token| match token {
        Token::Name(name) if name == "def" => {
            in_head = true;
            None
        }
        Token::Name(name) if in_head => Some(name.as_str()),
        Token::Mark(':') => {
            in_head = false;
            None
        }
        Token::Name(_)
        | Token::Variable(_)
        | Token::Member(_)
        | Token::Text(_)
        | Token::Mark(_) => None,
    })
}

/// Judges what is taken from the environment: one variable, their names, or all of them.
fn environment(after: &[Token], reading: &mut Reading) {
    let taken = match after {
        [Token::Member(name), ..]
        | [Token::Mark('[' | '.'), Token::Text(Some(name)), ..]
        | [Token::Mark('('), Token::Name(name), ..] => Some(name.as_str()),
        [Token::Mark('|'), Token::Name(name), ..] if matches!(name.as_str(), "keys" | "length") => {
            Some("")
        }
        _ => None,
    };
    reading.see(match taken {
        Some(name) if !is_secret_variable(name) => Deed::ReadFile(ENVIRONMENT.to_owned()),
        Some(name) => Deed::Reveal(name.to_owned()),
        None => Deed::Reveal(ALL_VARIABLES.to_owned()),
    });
}

fn function(name: &str, after: &[Token], reading: &mut Reading) {
    match name {
        "env" => environment(after, reading),
        "strenv" | "envsubst" => reading.see(Deed::ReadFile(ENVIRONMENT.to_owned())),
        "import" | "include" | "modulemeta" => reading.hide(LOADED_CODE),
        _ if name == "load" || name.starts_with("load_") => match after {
            [
                Token::Mark('('),
                Token::Text(Some(path)),
                Token::Mark(')'),
                ..,
            ] => {
                reading.see(Deed::ReadFile(path.clone()));
            }
            _ => reading.hide(COMPUTED_FILE),
        },
        _ => reading.hide(UNKNOWN_FUNCTION),
    }
}

/// Splits a filter into tokens; what is interpolated into strings is split as well.
fn scan(cursor: &mut Cursor, tokens: &mut Vec<Token>) -> Option<()> {
    // One entry per interpolation that is open: how many parentheses are open inside it.
    let mut interpolations: Vec<usize> = Vec::new();
    while let Some(c) = cursor.peek() {
        if c.is_whitespace() {
            cursor.bump();
        } else if c == '#' {
            cursor.rest_of_line();
        } else if c == '"' {
            cursor.bump();
            text(cursor, tokens, &mut interpolations)?;
        } else if c == '.' && cursor.peek_at(1).is_some_and(starts_name) {
            cursor.bump();
            tokens.push(Token::Member(cursor.take_while(continues_name)));
        } else if c == '$' && cursor.peek_at(1).is_some_and(starts_name) {
            cursor.bump();
            tokens.push(Token::Variable(
                cursor.take_while(|c| continues_name(c) || c == ':'),
            ));
        } else if c == '@' {
            cursor.bump();
            cursor.take_while(continues_name);
        } else if c.is_ascii_digit() {
            cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '.');
            tokens.push(Token::Mark('0'));
        } else if starts_name(c) {
            tokens.push(Token::Name(cursor.take_while(continues_name)));
        } else {
            cursor.bump();
            match (c, interpolations.last_mut()) {
                ('(', Some(open)) => *open += 1,
                (')', Some(0)) => {
                    interpolations.pop();
                    tokens.push(Token::Mark(')'));
                    text(cursor, tokens, &mut interpolations)?;
                    continue;
                }
                (')', Some(open)) => *open -= 1,
                _ => {}
            }
            tokens.push(Token::Mark(c));
        }
    }
    interpolations.is_empty().then_some(())
}

/// Takes a string up to its closing quote, or up to the next interpolation.
fn text(
    cursor: &mut Cursor,
    tokens: &mut Vec<Token>,
    interpolations: &mut Vec<usize>,
) -> Option<()> {
    let is_continued = matches!(tokens.last(), Some(Token::Mark(')')));
    let mut text = String::new();
    loop {
        match cursor.bump()? {
            '"' => {
                tokens.push(Token::Text((!is_continued).then_some(text)));
                return Some(());
            }
            '\\' if cursor.eat('(') => {
                if interpolations.len() >= DEPTH_MAX {
                    return None;
                }
                interpolations.push(0);
                tokens.push(Token::Text(None));
                tokens.push(Token::Mark('('));
                return Some(());
            }
            '\\' => text.extend(cursor.bump()),
            other => text.push(other),
        }
    }
}
