//! Effects of a `sed` script besides editing its input.
//!
//! The whole command grammar of POSIX, GNU and BSD `sed` is parsed: only then is a `w` known to be
//! a command and not a letter of some pattern. Several `-e` fragments are to be joined with line
//! ends before they are read.

use super::cursor::Cursor;
use super::{Deed, FRAGMENT_BYTES_MAX, Reading, TOO_LONG};

const UNPARSED: &str = "a sed script that cannot be parsed";
const RUN_INPUT: &str = "sed runs the text it edits as a command";

/// Reads a `sed` script.
///
/// GNU `sed` ends a pattern at the first delimiter, BSD `sed` lets a bracket expression hide it.
/// Both readings are made; what either of them does counts.
pub fn read(script: &str) -> Reading {
    if script.len() > FRAGMENT_BYTES_MAX {
        return Reading::hidden(TOO_LONG);
    }
    let plain = Parser::new(script, Brackets::Plain).script();
    let shielding = Parser::new(script, Brackets::Shield).script();
    match (plain, shielding) {
        (Some(mut plain), Some(shielding)) => {
            if plain != shielding {
                plain.absorb(shielding);
            }
            plain
        }
        (Some(reading), None) | (None, Some(reading)) => reading,
        (None, None) => Reading::hidden(UNPARSED),
    }
}

/// Whether a delimiter inside `[…]` ends a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    Plain,
    Shield,
}

struct Parser {
    cursor: Cursor,
    brackets: Brackets,
    open_blocks: usize,
    reading: Reading,
}

impl Parser {
    fn new(script: &str, brackets: Brackets) -> Self {
        Self {
            cursor: Cursor::new(script),
            brackets,
            open_blocks: 0,
            reading: Reading::default(),
        }
    }

    fn script(mut self) -> Option<Reading> {
        loop {
            self.cursor.take_while(|c| c.is_whitespace() || c == ';');
            if self.cursor.peek().is_none() {
                return (self.open_blocks == 0).then_some(self.reading);
            }
            self.addresses()?;
            self.command()?;
        }
    }

    fn blanks(&mut self) {
        self.cursor.take_while(|c| c == ' ' || c == '\t');
    }

    fn addresses(&mut self) -> Option<()> {
        if self.address()? {
            self.blanks();
            if self.cursor.eat(',') {
                self.blanks();
                let relative = self.cursor.eat('+') || self.cursor.eat('~');
                if relative && !self.cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
                    return None;
                }
                if !self.address()? {
                    return None;
                }
            }
        }
        self.blanks();
        while self.cursor.eat('!') {
            self.blanks();
        }
        Some(())
    }

    /// Takes one address if there is one; `None` if it is malformed.
    fn address(&mut self) -> Option<bool> {
        match self.cursor.peek() {
            Some('$') => {
                self.cursor.bump();
            }
            Some('0'..='9') => {
                self.cursor.take_while(|c| c.is_ascii_digit());
                if self.cursor.eat('~') {
                    self.cursor.take_while(|c| c.is_ascii_digit());
                }
            }
            Some('/') => {
                self.cursor.bump();
                self.delimited('/', self.brackets)?;
                self.cursor.take_while(|c| c == 'I' || c == 'M');
            }
            Some('\\') => {
                self.cursor.bump();
                let delimiter = self.cursor.bump()?;
                self.delimited(delimiter, self.brackets)?;
                self.cursor.take_while(|c| c == 'I' || c == 'M');
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Moves behind the next `delimiter` that is not escaped.
    fn delimited(&mut self, delimiter: char, brackets: Brackets) -> Option<()> {
        loop {
            match self.cursor.bump()? {
                c if c == delimiter => return Some(()),
                '\\' => {
                    self.cursor.bump()?;
                }
                '[' if brackets == Brackets::Shield => self.bracket_expression()?,
                _ => {}
            }
        }
    }

    fn bracket_expression(&mut self) -> Option<()> {
        self.cursor.eat('^');
        self.cursor.eat(']');
        loop {
            match self.cursor.bump()? {
                ']' => return Some(()),
                '[' => {
                    if let Some(class @ (':' | '.' | '=')) = self.cursor.peek() {
                        self.cursor.bump();
                        self.cursor.take_until(&format!("{class}]"))?;
                    }
                }
                _ => {}
            }
        }
    }

    fn command(&mut self) -> Option<()> {
        match self.cursor.bump()? {
            '#' => {
                self.cursor.rest_of_line();
                Some(())
            }
            '{' => {
                self.open_blocks += 1;
                Some(())
            }
            '}' => {
                self.open_blocks = self.open_blocks.checked_sub(1)?;
                self.end_of_command()
            }
            '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' => {
                self.end_of_command()
            }
            'a' | 'i' | 'c' => self.text(),
            ':' => {
                self.blanks();
                let label = self.cursor.take_while(|c| !c.is_whitespace() && c != ';');
                (!label.is_empty()).then_some(())
            }
            'b' | 't' | 'T' => {
                self.blanks();
                self.cursor
                    .take_while(|c| !c.is_whitespace() && c != ';' && c != '}');
                self.end_of_command()
            }
            'e' => {
                let command = self.cursor.rest_of_line().trim().to_owned();
                if command.is_empty() {
                    self.reading.hide(RUN_INPUT);
                } else {
                    self.reading.see(Deed::Shell(command));
                }
                Some(())
            }
            'l' | 'L' | 'q' | 'Q' => {
                self.blanks();
                self.cursor.take_while(|c| c.is_ascii_digit());
                self.end_of_command()
            }
            'r' | 'R' => {
                let path = self.file_name()?;
                if path != "/dev/stdin" {
                    self.reading.see(Deed::ReadFile(path));
                }
                Some(())
            }
            'w' | 'W' => self.write(),
            'v' => {
                self.cursor.take_while(|c| c != ';' && c != '\n');
                Some(())
            }
            's' => self.substitute(),
            'y' => {
                let delimiter = self.cursor.bump().filter(|&c| c != '\n' && c != '\\')?;
                self.delimited(delimiter, Brackets::Plain)?;
                self.delimited(delimiter, Brackets::Plain)?;
                self.end_of_command()
            }
            _ => None,
        }
    }

    /// After a command comes its end, or the end of the block it stands in.
    fn end_of_command(&mut self) -> Option<()> {
        self.blanks();
        matches!(
            self.cursor.peek(),
            None | Some('\n' | '\r' | ';' | '}' | '#')
        )
        .then_some(())
    }

    /// The text of `a`, `i` and `c` goes on while lines end in a backslash.
    fn text(&mut self) -> Option<()> {
        self.blanks();
        self.cursor.peek()?;
        while let Some(c) = self.cursor.bump() {
            if c == '\\' {
                self.cursor.bump();
            } else if c == '\n' {
                break;
            }
        }
        Some(())
    }

    fn file_name(&mut self) -> Option<String> {
        let name = self.cursor.rest_of_line().trim().to_owned();
        (!name.is_empty()).then_some(name)
    }

    fn write(&mut self) -> Option<()> {
        let path = self.file_name()?;
        if path != "/dev/stdout" && path != "/dev/stderr" {
            self.reading.see(Deed::WriteFile(path));
        }
        Some(())
    }

    fn substitute(&mut self) -> Option<()> {
        let delimiter = self.cursor.bump().filter(|&c| c != '\n' && c != '\\')?;
        self.delimited(delimiter, self.brackets)?;
        self.delimited(delimiter, Brackets::Plain)?;
        loop {
            match self.cursor.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                    self.cursor.bump();
                }
                Some('e') => {
                    self.cursor.bump();
                    self.reading.hide(RUN_INPUT);
                }
                Some('w') => {
                    self.cursor.bump();
                    return self.write();
                }
                _ => return self.end_of_command(),
            }
        }
    }
}
/// Whether a script leaves nothing of what it is given: `d`, `1,$d`, `s/.*//`.
pub fn empties(script: &str) -> bool {
    let script: String = script.split_whitespace().collect();
    let script = script.trim_end_matches(';');
    if matches!(script, "d" | "1,$d" | "0,$d" | "$!N;d" | "1~1d" | "D") {
        return true;
    }
    let Some(delimiter) = script
        .strip_prefix('s')
        .and_then(|rest| rest.chars().next())
    else {
        return false;
    };
    let parts: Vec<&str> = script.split(delimiter).collect();
    matches!(
        parts.as_slice(),
        [
            "s",
            ".*" | "^.*$" | "^.*" | ".*$" | ".\\+" | ".",
            "",
            "" | "g"
        ]
    )
}
