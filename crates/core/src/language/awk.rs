//! Effects of an `awk` program besides computing and printing.
//!
//! `>` and `|` mean "compare" in a condition and "write to a file" or "run a command" after
//! `print`; the reader keeps track of which of both it is in. File names and commands count when
//! they are literal; computed ones stay hidden.

use super::cursor::{Cursor, continues_name, starts_name};
use super::{
    ALL_VARIABLES, Deed, ENVIRONMENT, FRAGMENT_BYTES_MAX, Reading, TOO_LONG, is_secret_variable,
    runs_its_input,
};
use crate::knowledge::languages::{AWK_FUNCTIONS, AWK_KEYWORDS};

const UNPARSED: &str = "an awk program that cannot be parsed";
const COMPUTED_COMMAND: &str = "awk runs a command it computes";
const COMPUTED_FILE: &str = "awk opens a file whose name it computes";
const LOADED_CODE: &str = "awk loads or calls code that is not in the program";

/// Operators of more than one character, longest first.
const OPERATORS: [&str; 19] = [
    "**=", "||", "&&", "|&", ">>", "<=", ">=", "==", "!=", "!~", "+=", "-=", "*=", "/=", "%=",
    "^=", "**", "++", "--",
];

/// Reads an `awk` program.
pub fn read(program: &str) -> Reading {
    if program.len() > FRAGMENT_BYTES_MAX {
        return Reading::hidden(TOO_LONG);
    }
    let Some(tokens) = tokens(program) else {
        return Reading::hidden(UNPARSED);
    };
    let defined = tokens
        .windows(2)
        .filter_map(|pair| match pair {
            [
                Token::Name { text: keyword, .. },
                Token::Name { text: name, .. },
            ] if keyword == "function" || keyword == "func" => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let mut program = Program {
        tokens: &tokens,
        defined,
        reading: Reading::default(),
    };
    program.walk();
    program.reading
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// `called` says that a parenthesis follows without a space, which makes it a call.
    Name {
        text: String,
        called: bool,
    },
    Number,
    Text(String),
    Pattern,
    Mark(&'static str),
    Newline,
}

impl Token {
    fn is_mark(&self, wanted: &str) -> bool {
        matches!(self, Self::Mark(mark) if *mark == wanted)
    }

    fn is_name(&self, wanted: &str) -> bool {
        matches!(self, Self::Name { text, .. } if text == wanted)
    }

    /// Whether a slash after this token divides.
    fn ends_operand(&self) -> bool {
        match self {
            Self::Name { text, .. } => !AWK_KEYWORDS.contains(text),
            Self::Number | Self::Text(_) | Self::Pattern => true,
            Self::Mark(mark) => matches!(*mark, ")" | "]" | "$" | "++" | "--"),
            Self::Newline => false,
        }
    }
}

fn tokens(program: &str) -> Option<Vec<Token>> {
    let mut cursor = Cursor::new(program);
    let mut tokens: Vec<Token> = Vec::new();
    while let Some(c) = cursor.peek() {
        if c == '\n' {
            cursor.bump();
            tokens.push(Token::Newline);
        } else if c.is_whitespace() {
            cursor.bump();
        } else if c == '#' {
            cursor.rest_of_line();
        } else if c == '\\' && matches!(cursor.peek_at(1), Some('\n' | '\r')) {
            cursor.skip(2);
        } else if c == '"' {
            cursor.bump();
            tokens.push(Token::Text(text(&mut cursor)?));
        } else if c.is_ascii_digit() || (c == '.' && cursor.peek_at(1)?.is_ascii_digit()) {
            cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '.');
            tokens.push(Token::Number);
        } else if starts_name(c) {
            let text = cursor.take_while(|c| continues_name(c) || c == ':');
            let called = cursor.peek() == Some('(');
            tokens.push(Token::Name { text, called });
        } else if c == '/' && !tokens.last().is_some_and(Token::ends_operand) {
            cursor.bump();
            pattern(&mut cursor)?;
            tokens.push(Token::Pattern);
        } else {
            tokens.push(Token::Mark(mark(&mut cursor)?));
        }
    }
    Some(tokens)
}

/// The string up to its closing quote, with the usual escapes undone.
fn text(cursor: &mut Cursor) -> Option<String> {
    let mut text = String::new();
    loop {
        match cursor.bump()? {
            '"' => return Some(text),
            '\n' => return None,
            '\\' => match cursor.bump()? {
                '\n' => {}
                'n' => text.push('\n'),
                't' => text.push('\t'),
                '0'..='7' | 'x' => {
                    // A character written as a number may spell anything, so it is kept as a
                    // sign that no file or command has.
                    text.push('\u{0}');
                }
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
}

fn pattern(cursor: &mut Cursor) -> Option<()> {
    let mut in_brackets = false;
    loop {
        match cursor.bump()? {
            '\n' => return None,
            '\\' => {
                cursor.bump()?;
            }
            '[' if !in_brackets => {
                in_brackets = true;
                cursor.eat('^');
                cursor.eat(']');
            }
            ']' => in_brackets = false,
            '/' if !in_brackets => return Some(()),
            _ => {}
        }
    }
}

fn mark(cursor: &mut Cursor) -> Option<&'static str> {
    const SINGLE: [&str; 25] = [
        "{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "|",
        "?", ":", "~", "$", "=", "@", "&",
    ];
    OPERATORS
        .iter()
        .chain(SINGLE.iter())
        .find(|mark| cursor.eat_text(mark))
        .copied()
}

struct Program<'a> {
    tokens: &'a [Token],
    defined: Vec<&'a str>,
    reading: Reading,
}

impl Program<'_> {
    fn walk(&mut self) {
        let mut depth = 0_usize;
        // The nesting at which the current `print` stands, while it lasts.
        let mut printing: Option<usize> = None;
        for (at, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Name { text, called } => {
                    if text == "print" || text == "printf" {
                        printing = Some(depth);
                    }
                    self.name(at, text, *called);
                }
                Token::Newline => {
                    if !self.before(at).is_some_and(|token| token.is_mark(",")) {
                        printing = None;
                    }
                }
                Token::Mark(mark) => match *mark {
                    "(" | "[" => depth += 1,
                    ")" | "]" => depth = depth.saturating_sub(1),
                    ";" | "{" | "}" => printing = None,
                    ">" | ">>" if printing == Some(depth) => self.write(at),
                    "|" | "|&" => self.pipe(at),
                    "@" => self.directive(at),
                    _ => {}
                },
                Token::Number | Token::Text(_) | Token::Pattern => {}
            }
        }
    }

    fn before(&self, at: usize) -> Option<&Token> {
        at.checked_sub(1).and_then(|at| self.tokens.get(at))
    }

    fn name(&mut self, at: usize, name: &str, called: bool) {
        match name {
            "system" => match self.tokens.get(at + 2..at + 4) {
                Some([Token::Text(command), close]) if close.is_mark(")") => {
                    // An empty command only flushes the output.
                    if !command.is_empty() {
                        self.shell(command.clone());
                    }
                }
                _ => self.reading.hide(COMPUTED_COMMAND),
            },
            "getline" => self.getline(at),
            "ENVIRON" => {
                self.reading.see(match self.tokens.get(at + 1..at + 4) {
                    Some([open, Token::Text(name), close])
                        if open.is_mark("[") && close.is_mark("]") && !is_secret_variable(name) =>
                    {
                        Deed::ReadFile(ENVIRONMENT.to_owned())
                    }
                    _ => Deed::Reveal(ALL_VARIABLES.to_owned()),
                });
            }
            "ARGV" if self.assigns_element(at) => self.reading.hide(COMPUTED_FILE),
            _ if called
                && !AWK_KEYWORDS.contains(name)
                && !AWK_FUNCTIONS.contains(name)
                && !self.defined.contains(&name) =>
            {
                self.reading.hide(LOADED_CODE);
            }
            _ => {}
        }
    }

    /// Whether the array element at `at` is assigned to. Only the first few tokens are looked at.
    fn assigns_element(&self, at: usize) -> bool {
        const INDEX_TOKENS_MAX: usize = 16;
        let rest = self.tokens.get(at + 1..).unwrap_or_default();
        let close = rest
            .iter()
            .take(INDEX_TOKENS_MAX)
            .position(|token| token.is_mark("]"));
        match close {
            Some(close) => rest.get(close + 1).is_some_and(|token| token.is_mark("=")),
            None => true,
        }
    }

    fn shell(&mut self, command: String) {
        if command.contains('\u{0}') {
            self.reading.hide(COMPUTED_COMMAND);
        } else {
            self.reading.see(Deed::Shell(command));
        }
    }

    /// The literal at `at`, if nothing is glued to it.
    fn literal(&self, at: usize) -> Option<&str> {
        let Some(Token::Text(text)) = self.tokens.get(at) else {
            return None;
        };
        let alone = match self.tokens.get(at + 1) {
            None | Some(Token::Newline) => true,
            Some(Token::Mark(mark)) => !matches!(*mark, "(" | "$" | "[" | "+" | "-" | "?" | "!"),
            Some(Token::Name { text, .. }) => text == "in",
            Some(Token::Number | Token::Text(_) | Token::Pattern) => false,
        };
        (alone && !text.contains('\u{0}')).then_some(text.as_str())
    }

    fn write(&mut self, at: usize) {
        match self.literal(at + 1).map(str::to_owned) {
            Some(path) if path.starts_with("/inet") => self.reading.see(Deed::Send(path)),
            Some(path) if is_own_stream(&path) => {}
            Some(path) => self.reading.see(Deed::WriteFile(path)),
            None => self.reading.hide(COMPUTED_FILE),
        }
    }

    fn pipe(&mut self, at: usize) {
        let takes_output = self
            .tokens
            .get(at + 1)
            .is_some_and(|next| next.is_name("getline"));
        let command = if takes_output {
            self.piped_literal(at)
        } else {
            self.literal(at + 1)
        };
        match command.map(str::to_owned) {
            Some(address) if address.starts_with("/inet") => self.reading.see(Deed::Send(address)),
            Some(command) => {
                if !takes_output && runs_its_input(&command) {
                    self.reading.hide(COMPUTED_COMMAND);
                }
                self.shell(command);
            }
            None => self.reading.hide(COMPUTED_COMMAND),
        }
    }

    /// The literal before the pipe at `at`, if nothing is glued to its front.
    fn piped_literal(&self, at: usize) -> Option<&str> {
        let Some(Token::Text(command)) = self.before(at) else {
            return None;
        };
        let alone = match at.checked_sub(2).and_then(|at| self.tokens.get(at)) {
            None | Some(Token::Newline) => true,
            Some(Token::Mark(mark)) => {
                matches!(*mark, "{" | "}" | ";" | "(" | "&&" | "||" | "!" | "=" | ",")
            }
            Some(Token::Name { text, .. }) => matches!(text.as_str(), "do" | "else"),
            Some(Token::Number | Token::Text(_) | Token::Pattern) => false,
        };
        alone.then_some(command.as_str())
    }

    /// `getline`, `getline variable`, each perhaps from a file.
    fn getline(&mut self, at: usize) {
        const VARIABLE_TOKENS_MAX: usize = 16;
        let mut next = at + 1;
        while next <= at + VARIABLE_TOKENS_MAX {
            match self.tokens.get(next) {
                Some(Token::Name { .. } | Token::Number) => next += 1,
                Some(Token::Mark(mark)) if matches!(*mark, "$" | "[" | "]") => next += 1,
                Some(Token::Mark("<")) => {
                    match self.literal(next + 1).map(str::to_owned) {
                        Some(path) if path.starts_with("/inet") => {
                            self.reading.see(Deed::Fetch(path));
                        }
                        Some(path) if is_own_stream(&path) => {}
                        Some(path) => self.reading.see(Deed::ReadFile(path)),
                        None => self.reading.hide(COMPUTED_FILE),
                    }
                    return;
                }
                _ => return,
            }
        }
        self.reading.hide(COMPUTED_FILE);
    }

    /// `@include`, `@load` and `@function(…)` bring in code; `@/…/` is only a typed pattern.
    fn directive(&mut self, at: usize) {
        let harmless = match self.tokens.get(at + 1) {
            Some(Token::Pattern) => true,
            Some(token) => token.is_name("namespace"),
            None => false,
        };
        if !harmless {
            self.reading.hide(LOADED_CODE);
        }
    }
}

fn is_own_stream(path: &str) -> bool {
    matches!(
        path,
        "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/null" | "-"
    ) || path
        .strip_prefix("/dev/fd/")
        .is_some_and(|n| matches!(n, "0" | "1" | "2"))
}
