//! Where a value of JavaScript begins: a slash there starts a pattern, elsewhere it divides, and what
//! stands behind it is code. Other marks that change what is code are here, too.

use super::{Lexer, Token};
use crate::knowledge::Syntax;

/// Words after which a value begins.
const VALUE_FOLLOWS: [&str; 14] = [
    "return",
    "typeof",
    "case",
    "in",
    "instanceof",
    "new",
    "delete",
    "void",
    "throw",
    "else",
    "do",
    "extends",
    "default",
    "if",
];
/// Words that are names outside of some functions, so that nobody can tell what follows them.
const DOUBTFUL: [&str; 5] = ["of", "await", "yield", "async", "let"];
/// Words whose parentheses hold a condition, behind which a statement begins.
const CONDITIONS: [&str; 4] = ["if", "while", "for", "with"];
/// Tokens that a condition may have.
const CONDITION_MAX: usize = 512;

impl Lexer<'_> {
    /// Whether a value begins at the cursor; `None` when nobody can tell. The end of a line changes
    /// nothing: what follows may go on with the value before it.
    pub(super) fn begins_value(&self) -> Option<bool> {
        let mut before = self.tokens.iter().enumerate().rev();
        let last = before.find(|(_, token)| **token != Token::Newline);
        let Some((at, last)) = last else {
            return Some(true);
        };
        let joins = at
            .checked_sub(1)
            .and_then(|at| self.tokens.get(at))
            .is_some_and(|token| token.is_mark(".") || token.is_mark("?."));
        match last {
            Token::Name(_) if joins => Some(false),
            Token::Name(name) if DOUBTFUL.contains(&name.as_str()) => None,
            Token::Name(name) => Some(VALUE_FOLLOWS.contains(&name.as_str())),
            Token::Mark("}" | "++" | "--") => None,
            Token::Mark(")") => self.closes_condition(at),
            Token::Variable(_)
            | Token::Symbol(_)
            | Token::Text(_)
            | Token::Command(_)
            | Token::Number
            | Token::Mark(_)
            | Token::Newline => Some(!last.ends_operand()),
        }
    }

    /// Whether the parenthesis at `at` closes a condition; `None` when it is too long to tell.
    fn closes_condition(&self, at: usize) -> Option<bool> {
        let mut depth = 0_usize;
        for back in 0..CONDITION_MAX {
            let place = at.checked_sub(back)?;
            let token = self.tokens.get(place)?;
            if token.is_mark(")") {
                depth += 1;
            } else if token.is_mark("(") {
                depth -= 1;
            }
            if depth == 0 {
                let word = |back: usize| {
                    place
                        .checked_sub(back)
                        .and_then(|place| self.tokens.get(place))
                };
                let joined = word(2).is_some_and(|token| token.is_mark("."));
                let is = |wanted: &&str| word(1).is_some_and(|token| token.is_name(wanted));
                // `for await (…)`
                let waits = is(&"await") && word(2).is_some_and(|token| token.is_name("for"));
                return Some(!joined && CONDITIONS.iter().any(is) || waits);
            }
        }
        None
    }

    /// Whether the rest is not what it looks like: JavaScript knows comments of HTML, and PHP leaves
    /// its code and comes back to it.
    pub(super) fn leaves_the_language(&self) -> bool {
        match self.script.syntax {
            Syntax::JavaScript => {
                let begins_line = matches!(self.tokens.last(), None | Some(Token::Newline));
                self.cursor.looking_at("<!--") || begins_line && self.cursor.looking_at("-->")
            }
            Syntax::Php => self.cursor.looking_at("?>"),
            Syntax::Plain | Syntax::Python | Syntax::Ruby | Syntax::Perl => false,
        }
    }
}
