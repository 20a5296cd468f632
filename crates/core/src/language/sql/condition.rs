//! Decides whether the condition of a `DELETE` or `UPDATE` excludes any rows.

use super::tokens::Token;

/// Words that end a condition.
const ENDS: [&str; 6] = ["RETURNING", "ORDER", "LIMIT", "OPTION", "GROUP", "ALLOW"];

/// Whether the statement has a condition that is not true for every row.
///
/// Only what can be seen without knowing the data counts: no condition, constants that are true,
/// a value compared with itself, and the usual ways to say "any row".
pub(super) fn narrows(statement: &[Token]) -> bool {
    let mut depth = 0_usize;
    let mut condition: Option<Vec<&Token>> = None;
    for token in statement {
        if *token == Token::Mark('(') {
            depth += 1;
        } else if *token == Token::Mark(')') {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && token.is("WHERE") {
            condition = Some(Vec::new());
            continue;
        } else if depth == 0 && condition.is_some() && token.is_any(&ENDS) {
            break;
        }
        if let Some(condition) = &mut condition {
            condition.push(token);
        }
    }
    condition.is_some_and(|condition| {
        !condition.is_empty()
            && !is_always_true(&condition, 0)
            && !selects_itself(statement, &condition)
    })
}

/// Whether the condition only says that a row is one of the table's rows:
/// `id IN (SELECT id FROM users)`.
fn selects_itself(statement: &[Token], condition: &[&Token]) -> bool {
    let table = match statement {
        [update, table, ..] if update.is("UPDATE") => table,
        [delete, from, table, ..] if delete.is("DELETE") && from.is("FROM") => table,
        _ => return false,
    };
    let [
        column,
        of,
        Token::Mark('('),
        select,
        named,
        from,
        whence,
        Token::Mark(')'),
    ] = condition
    else {
        return false;
    };
    of.is("IN") && select.is("SELECT") && column == named && from.is("FROM") && *whence == table
}

/// Conditions nested deeper than this are taken to be true.
const DEPTH_MAX: usize = 8;

fn is_always_true(condition: &[&Token], depth: usize) -> bool {
    if depth > DEPTH_MAX {
        return true;
    }
    if let Some(inner) = parenthesised(condition) {
        return is_always_true(inner, depth + 1);
    }
    split_at_word(condition, "OR").iter().any(|alternative| {
        split_at_word(alternative, "AND")
            .iter()
            .all(|term| match parenthesised(term) {
                Some(inner) => is_always_true(inner, depth + 1),
                None => is_true_term(term),
            })
    })
}

fn is_true_term(term: &[&Token]) -> bool {
    match term {
        [word] if word.is("TRUE") => true,
        [not, word] if not.is("NOT") && word.is("FALSE") => true,
        [Token::Number(number)] => number.parse::<f64>().is_ok_and(|value| value.abs() > 0.0),
        [left, Token::Mark('='), right] => left == right && !matches!(left, Token::Variable),
        [_, is, not, null] if is.is("IS") && not.is("NOT") && null.is("NULL") => true,
        [_, like, Token::Text(pattern)] if like.is("LIKE") || like.is("ILIKE") => pattern == "%",
        [Token::Number(left), operator @ .., Token::Number(right)] => {
            let (Ok(left), Ok(right)) = (left.parse::<f64>(), right.parse::<f64>()) else {
                return false;
            };
            match operator {
                [Token::Mark('<')] => left < right,
                [Token::Mark('>')] => left > right,
                [Token::Mark('<'), Token::Mark('>')] | [Token::Mark('!'), Token::Mark('=')] => {
                    (left - right).abs() > 0.0
                }
                [Token::Mark('<'), Token::Mark('=')] => left <= right,
                [Token::Mark('>'), Token::Mark('=')] => left >= right,
                _ => false,
            }
        }
        // `id > 0` and `id >= 1` leave out no row of a usual key.
        [_, Token::Mark('>'), Token::Number(number)] => number == "0",
        [_, Token::Mark('>'), Token::Mark('='), Token::Number(number)] => {
            number == "0" || number == "1"
        }
        [_, Token::Mark('>'), Token::Mark('-'), Token::Number(_)] => true,
        [
            _,
            Token::Mark('<' | '!'),
            Token::Mark('>' | '='),
            Token::Text(text),
        ] => text.is_empty(),
        _ => false,
    }
}

/// The inside of a pair of parentheses around the whole condition.
fn parenthesised<'a, 'b>(condition: &'a [&'b Token]) -> Option<&'a [&'b Token]> {
    let [Token::Mark('('), inner @ .., Token::Mark(')')] = condition else {
        return None;
    };
    let mut depth = 0_usize;
    for token in inner {
        if **token == Token::Mark('(') {
            depth += 1;
        } else if **token == Token::Mark(')') {
            depth = depth.checked_sub(1)?;
        }
    }
    Some(inner)
}

fn split_at_word<'a, 'b>(condition: &'a [&'b Token], word: &str) -> Vec<&'a [&'b Token]> {
    let mut depth = 0_usize;
    condition
        .split(|token| {
            if **token == Token::Mark('(') {
                depth += 1;
            } else if **token == Token::Mark(')') {
                depth = depth.saturating_sub(1);
            }
            depth == 0 && token.is(word)
        })
        .collect()
}
