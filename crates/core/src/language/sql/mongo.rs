//! Effects of a snippet for `mongosh --eval`.
//!
//! The snippet is JavaScript, but of a narrow kind: chains of methods on `db`. Every method called
//! must be known; whatever is computed stays hidden.

use crate::knowledge::CallReader;
use crate::knowledge::languages::{
    MONGO_FORBIDDEN, MONGO_METHODS, MONGO_READING_COMMANDS, MONGO_REMOVING_KEYS,
};
use crate::language::script::{Token, javascript_tokens};
use crate::language::{Deed, FRAGMENT_BYTES_MAX, Reading, TOO_LONG, deed_of};

const UNPARSED: &str = "a MongoDB script that cannot be parsed";
const UNKNOWN: &str = "an unknown MongoDB method";
const COMPUTED: &str = "a MongoDB script that computes what it calls";

/// Reads a snippet for `mongosh` or `mongo`.
pub fn mongo(js: &str) -> Reading {
    if js.len() > FRAGMENT_BYTES_MAX {
        return Reading::hidden(TOO_LONG);
    }
    let Some(tokens) = javascript_tokens(js) else {
        return Reading::hidden(UNPARSED);
    };
    let mut reading = Reading::default();
    let shell_words = shell_command(&tokens, &mut reading);
    for (at, token) in tokens.iter().enumerate().skip(shell_words) {
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let next = |mark: &str| rest.first().is_some_and(|token| token.is_mark(mark));
        match token {
            // Keys such as `$out` are written with or without quotes.
            Token::Name(key) if key.starts_with('$') => operator(key, &mut reading),
            Token::Name(name) if next("(") => {
                call(name, rest.get(1..).unwrap_or_default(), &mut reading);
            }
            Token::Name(name) => {
                if !next(":") && MONGO_FORBIDDEN.contains(name) {
                    reading.hide(COMPUTED);
                }
            }
            Token::Text(Some(text)) => operator(text, &mut reading),
            // A key with escapes in it, or a text that code is put into.
            Token::Text(None) if next(":") || next("+") => reading.hide(COMPUTED),
            // `{[key]: value}`
            Token::Mark("]") if next(":") => reading.hide(COMPUTED),
            Token::Mark("]" | ")" | "?.") if next("(") => reading.hide(COMPUTED),
            Token::Text(None)
            | Token::Mark(_)
            | Token::Number
            | Token::Newline
            | Token::Variable(_)
            | Token::Symbol(_)
            | Token::Command(_) => {}
        }
    }
    reading
}

/// Notes stages of a pipeline that write, and operators that run code.
fn operator(text: &str, reading: &mut Reading) {
    if matches!(text, "$out" | "$merge") {
        // The collection they name is replaced, or rows of it.
        reading.see(Deed::DbDestroy(text.to_owned()));
    } else if matches!(text, "$where" | "$function" | "$accumulator") {
        reading.hide(COMPUTED);
    }
}

/// `show dbs` and `use name` are commands of the shell, not JavaScript.
fn shell_command(tokens: &[Token], reading: &mut Reading) -> usize {
    match tokens {
        [Token::Name(word), Token::Name(_), ..] if word == "show" || word == "use" => {
            reading.see(Deed::DbRead);
            2
        }
        _ => 0,
    }
}

/// Tokens of arguments that are looked through; more count as the worst.
const MIXED_TOKENS_MAX: usize = 512;

fn call(name: &str, arguments: &[Token], reading: &mut Reading) {
    if name == "runCommand" || name == "adminCommand" {
        run_command(name, arguments, reading);
        return;
    }
    let Some(call) = MONGO_METHODS.get(name) else {
        reading.hide(UNKNOWN);
        return;
    };
    if call.reader == Some(CallReader::Bulk) {
        let removes = arguments.iter().take(MIXED_TOKENS_MAX).any(|token| {
            matches!(token, Token::Name(key) | Token::Text(Some(key)) if MONGO_REMOVING_KEYS.contains(key))
        });
        // What is not written out may delete as well.
        let open = matches!(arguments, [Token::Name(_), ..]) || arguments.len() > MIXED_TOKENS_MAX;
        reading.see(if removes || open {
            Deed::DbDestroy(name.to_owned())
        } else {
            Deed::DbWrite(name.to_owned())
        });
    } else if call.reader == Some(CallReader::Filter) {
        filter(name, arguments, reading);
    } else if let Some(deed) = deed_of(call.does, name.to_owned()) {
        reading.see(deed);
    } else {
        reading.hide(UNKNOWN);
    }
}

/// A method that changes what its filter selects: an empty one selects everything, or whatever comes
/// first.
fn filter(name: &str, arguments: &[Token], reading: &mut Reading) {
    match arguments {
        [Token::Mark("{"), Token::Mark("}"), ..] | [Token::Mark(")"), ..] => {
            reading.see(Deed::DbDestroy(name.to_owned()));
        }
        [Token::Mark("{"), ..] => reading.see(Deed::DbWrite(name.to_owned())),
        _ => {
            reading.see(Deed::DbDestroy(name.to_owned()));
            reading.hide(COMPUTED);
        }
    }
}

fn run_command(name: &str, arguments: &[Token], reading: &mut Reading) {
    let command = match arguments {
        [
            Token::Mark("{"),
            Token::Name(command) | Token::Text(Some(command)),
            ..,
        ]
        | [Token::Text(Some(command)), ..] => command.as_str(),
        _ => "",
    };
    if MONGO_READING_COMMANDS.contains(command) {
        reading.see(Deed::DbRead);
    } else if command == "drop" || command == "dropDatabase" {
        reading.see(Deed::DbDestroy(command.to_owned()));
    } else {
        reading.see(Deed::DbAdmin(format!("{name} {command}")));
    }
}
