//! SQL functions that reach beyond the rows of their statement.

use super::tokens::Token;
use crate::knowledge::languages::{Call, SQL_COMPUTING, SQL_FUNCTIONS};
use crate::knowledge::{Effect, Role};
use crate::language::{Deed, Reading, deed_of, deed_on};

const UNKNOWN: &str = "an unknown database function";
const COMPUTED: &str = "a database function with a computed file or command";
const ELSEWHERE: &str = "a database function that runs other code";

/// Whether names in front of parentheses must be known functions.
///
/// Where a table or a type is defined, other names stand there as well.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    Hide,
    Pass,
}

/// Notes what the functions called in `tokens` do.
pub(super) fn check(tokens: &[Token], unknown: Unknown, reading: &mut Reading) {
    for (at, pair) in tokens.windows(2).enumerate() {
        let [Token::Word(name) | Token::Quoted(name), Token::Mark('(')] = pair else {
            continue;
        };
        let name = name.to_ascii_lowercase();
        let arguments = tokens.get(at + 2..).unwrap_or_default();
        if let Some(call) = SQL_FUNCTIONS.get(&name) {
            apply(call, &name, arguments, reading);
        } else if unknown == Unknown::Hide
            && !SQL_COMPUTING.contains(&name)
            && !is_other_name(tokens, at)
        {
            reading.hide(UNKNOWN);
        }
    }
}

/// Whether the name before the parenthesis is a type, an alias or a named subquery.
fn is_other_name(tokens: &[Token], at: usize) -> bool {
    const COLUMN_TOKENS_MAX: usize = 64;
    match at.checked_sub(1).and_then(|at| tokens.get(at)) {
        Some(Token::Mark(')' | ':')) => true,
        Some(token) if token.is_any(&["AS", "WITH", "RECURSIVE"]) => true,
        Some(Token::Mark(',')) => {
            let columns = tokens.get(at..).unwrap_or_default();
            columns
                .iter()
                .take(COLUMN_TOKENS_MAX)
                .position(|token| *token == Token::Mark(')'))
                .is_some_and(|close| {
                    columns.get(close + 1).is_some_and(|next| next.is("AS"))
                        && columns.get(close + 2) == Some(&Token::Mark('('))
                })
        }
        _ => false,
    }
}

fn apply(call: &Call, name: &str, arguments: &[Token], reading: &mut Reading) {
    if call.takes.is_empty() {
        let what = if call.does == Effect::Kill {
            format!("database sessions ({name})")
        } else {
            name.to_owned()
        };
        match deed_of(call.does, what) {
            Some(deed) => reading.see(deed),
            None => reading.hide(ELSEWHERE),
        }
    }
    for (place, operand) in call.takes.iter().enumerate() {
        let literal = literal_argument(arguments, place);
        match (operand.role, literal) {
            (Role::Text, _) => {}
            (Role::UrlSend, literal) => reading.see(Deed::Send(literal.unwrap_or_default())),
            (role, literal) => match literal.and_then(|text| deed_on(role, text)) {
                Some(deed) => reading.see(deed),
                None => reading.hide(COMPUTED),
            },
        }
    }
}

/// The string at one place of an argument list, if it stands there alone.
fn literal_argument(arguments: &[Token], place: usize) -> Option<String> {
    const ARGUMENT_TOKENS_MAX: usize = 64;
    let mut depth = 0_usize;
    let mut current = 0_usize;
    let mut start = 0_usize;
    for (at, token) in arguments.iter().take(ARGUMENT_TOKENS_MAX).enumerate() {
        let ends = match token {
            Token::Mark('(') => {
                depth += 1;
                false
            }
            Token::Mark(')') if depth > 0 => {
                depth -= 1;
                false
            }
            Token::Mark(')') => true,
            Token::Mark(',') => depth == 0,
            Token::Mark(_)
            | Token::Word(_)
            | Token::Quoted(_)
            | Token::Text(_)
            | Token::Number(_)
            | Token::Variable => false,
        };
        if ends {
            if current == place {
                return match arguments.get(start..at) {
                    Some([Token::Text(text) | Token::Quoted(text)]) => Some(text.clone()),
                    _ => None,
                };
            }
            current += 1;
            start = at + 1;
        }
    }
    None
}
