//! What a snippet given to `mongosh --eval` would do.
//!
//! The snippet is JavaScript, but of a narrow kind: chains of methods on `db`. Every method called
//! must be known; whatever is computed stays hidden.

use crate::knowledge::CallReader;
use crate::knowledge::languages::{
    MONGO_FORBIDDEN, MONGO_METHODS, MONGO_READING_COMMANDS, MONGO_REMOVING_KEYS,
};
use crate::language::cursor::{Cursor, starts_name};
use crate::language::{Deed, FRAGMENT_BYTES_MAX, Reading, TOO_LONG, deed_of};

const UNPARSED: &str = "a MongoDB script that cannot be parsed";
const UNKNOWN: &str = "an unknown MongoDB method";
const COMPUTED: &str = "a MongoDB script that computes what it calls";

/// Reads a snippet for `mongosh` or `mongo`.
pub fn mongo(js: &str) -> Reading {
    if js.len() > FRAGMENT_BYTES_MAX {
        return Reading::hidden(TOO_LONG);
    }
    let Some(tokens) = tokens(js) else {
        return Reading::hidden(UNPARSED);
    };
    let mut reading = Reading::default();
    let shell_words = shell_command(&tokens, &mut reading);
    for (at, token) in tokens.iter().enumerate().skip(shell_words) {
        let next = tokens.get(at + 1);
        match token {
            Token::Name(name) if next == Some(&Token::Mark('(')) => {
                let arguments = tokens.get(at + 2..).unwrap_or_default();
                call(name, arguments, &mut reading);
            }
            Token::Name(name) => {
                let is_key = next == Some(&Token::Mark(':'));
                if !is_key && MONGO_FORBIDDEN.contains(name) {
                    reading.hide(COMPUTED);
                }
            }
            Token::Text(text) => {
                // Stages of a pipeline that write are keys, with or without quotes.
                if (text == "$out" || text == "$merge") && next == Some(&Token::Mark(':')) {
                    // The collection they name is replaced, or rows of it.
                    reading.see(Deed::DbDestroy(text.clone()));
                } else if matches!(text.as_str(), "$where" | "$function" | "$accumulator") {
                    reading.hide(COMPUTED);
                }
            }
            Token::Mark(']' | ')') if next == Some(&Token::Mark('(')) => reading.hide(COMPUTED),
            Token::Mark('`') => reading.hide(COMPUTED),
            Token::Mark(_) => {}
        }
    }
    reading
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Text(String),
    Mark(char),
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
    match call.reader {
        Some(CallReader::Bulk) => {
            let removes = arguments.iter().take(MIXED_TOKENS_MAX).any(|token| {
                matches!(token, Token::Name(key) | Token::Text(key) if MONGO_REMOVING_KEYS.contains(key))
            });
            // What is not written out may delete as well.
            let open =
                matches!(arguments, [Token::Name(_), ..]) || arguments.len() > MIXED_TOKENS_MAX;
            reading.see(if removes || open {
                Deed::DbDestroy(name.to_owned())
            } else {
                Deed::DbWrite(name.to_owned())
            });
        }
        // An empty filter selects everything, or whatever comes first.
        Some(CallReader::Filter) => match arguments {
            [Token::Mark('{'), Token::Mark('}'), ..] | [Token::Mark(')'), ..] => {
                reading.see(Deed::DbDestroy(name.to_owned()));
            }
            [Token::Mark('{'), ..] => reading.see(Deed::DbWrite(name.to_owned())),
            _ => {
                reading.see(Deed::DbDestroy(name.to_owned()));
                reading.hide(COMPUTED);
            }
        },
        Some(
            CallReader::Open
            | CallReader::Remove
            | CallReader::Block
            | CallReader::Property
            | CallReader::Keys
            | CallReader::LoadsCode,
        ) => reading.hide(UNKNOWN),
        None => match deed_of(call.does, name.to_owned()) {
            Some(deed) => reading.see(deed),
            None => reading.hide(UNKNOWN),
        },
    }
}

fn run_command(name: &str, arguments: &[Token], reading: &mut Reading) {
    let command = match arguments {
        [
            Token::Mark('{'),
            Token::Name(command) | Token::Text(command),
            ..,
        ]
        | [Token::Text(command), ..] => command.as_str(),
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

fn tokens(js: &str) -> Option<Vec<Token>> {
    let mut cursor = Cursor::new(js);
    let mut tokens = Vec::new();
    while let Some(c) = cursor.peek() {
        if c.is_whitespace() {
            cursor.bump();
        } else if cursor.looking_at("//") {
            cursor.rest_of_line();
        } else if cursor.eat_text("/*") {
            cursor.take_until("*/")?;
        } else if c == '\'' || c == '"' {
            cursor.bump();
            tokens.push(Token::Text(text(&mut cursor, c)?));
        } else if c == '/'
            && !matches!(
                tokens.last(),
                Some(Token::Name(_) | Token::Mark(')' | ']' | '0'))
            )
        {
            cursor.bump();
            pattern(&mut cursor)?;
            tokens.push(Token::Mark('0'));
        } else if starts_name(c) || c == '$' {
            let name = cursor.take_while(|c| c.is_alphanumeric() || c == '_' || c == '$');
            // `$out` is a key of a pipeline as well as a string.
            tokens.push(if name.starts_with('$') {
                Token::Text(name)
            } else {
                Token::Name(name)
            });
        } else if c.is_ascii_digit() {
            cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '.');
            tokens.push(Token::Mark('0'));
        } else if c == '\\' {
            return None;
        } else {
            cursor.bump();
            tokens.push(Token::Mark(c));
        }
    }
    Some(tokens)
}

fn text(cursor: &mut Cursor, quote: char) -> Option<String> {
    let mut text = String::new();
    loop {
        match cursor.bump()? {
            '\\' => text.extend(cursor.bump()),
            c if c == quote => return Some(text),
            c => text.push(c),
        }
    }
}

fn pattern(cursor: &mut Cursor) -> Option<()> {
    loop {
        match cursor.bump()? {
            '\\' => {
                cursor.bump()?;
            }
            '/' => break,
            '\n' => return None,
            _ => {}
        }
    }
    cursor.take_while(char::is_alphabetic);
    Some(())
}
