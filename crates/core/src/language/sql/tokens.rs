//! Splits database text into statements of tokens, and client commands between them.

use super::Dialect;
use crate::knowledge::languages::{Call, Calls, Names, SQL_MYSQL};
use crate::language::cursor::{Cursor, continues_name, starts_name};

const UNFINISHED: &str = "SQL with an unfinished quote or comment";
const AMBIGUOUS: &str = "SQL that databases parse differently";
const VARIABLE: &str = "SQL with a variable that the client substitutes";

/// One token of a statement. What stands in quotes is kept as it stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A bare word, as written.
    Word(String),
    /// A name in quotes.
    Quoted(String),
    /// A string.
    Text(String),
    Number(String),
    /// `:name`, `@name`, `$1`, `?` and their kin.
    Variable,
    Mark(char),
}

impl Token {
    /// Whether this is the bare word `wanted`, in any case.
    pub(super) fn is(&self, wanted: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(wanted))
    }

    pub(super) fn is_any(&self, wanted: &[&str]) -> bool {
        wanted.iter().any(|word| self.is(word))
    }

    /// Whether this is a bare word of a list.
    pub(super) fn is_among(&self, names: &Names) -> bool {
        matches!(self, Self::Word(word) if names.contains_in_any_case(word))
    }

    /// Returns what a table says about this bare word.
    pub(super) fn found_in(&self, calls: &Calls) -> Option<&'static Call> {
        match self {
            Self::Word(word) => calls.get_in_any_case(word),
            Self::Quoted(_) | Self::Text(_) | Self::Number(_) | Self::Mark(_) | Self::Variable => {
                None
            }
        }
    }
}

#[derive(Debug)]
pub(super) enum Piece {
    Statement(Vec<Token>),
    /// A command of the client, without the end of the line.
    Client(String),
}

#[derive(Debug, Default)]
pub(super) struct Split {
    pub(super) pieces: Vec<Piece>,
    pub(super) hidden: Option<&'static str>,
}

/// Splits `text` by the rules of `dialect`.
pub(super) fn split(text: &str, dialect: Dialect) -> Split {
    let mut splitter = Splitter {
        cursor: Cursor::new(text),
        dialect,
        split: Split::default(),
        statement: Vec::new(),
        in_versioned_comment: false,
    };
    if splitter.run().is_none() {
        splitter.hide(UNFINISHED);
    }
    splitter.end_statement();
    splitter.split
}

struct Splitter {
    cursor: Cursor,
    dialect: Dialect,
    split: Split,
    statement: Vec<Token>,
    in_versioned_comment: bool,
}

impl Splitter {
    fn hide(&mut self, why: &'static str) {
        self.split.hidden = self.split.hidden.or(Some(why));
    }

    fn end_statement(&mut self) {
        if !self.statement.is_empty() {
            self.split
                .pieces
                .push(Piece::Statement(std::mem::take(&mut self.statement)));
        }
    }

    /// Takes everything; `None` when a quote or comment does not end.
    fn run(&mut self) -> Option<()> {
        while let Some(c) = self.cursor.peek() {
            match c {
                _ if c.is_whitespace() => {
                    self.cursor.bump();
                }
                ';' => {
                    self.cursor.bump();
                    self.end_statement();
                }
                '-' if self.cursor.peek_at(1) == Some('-') => self.dashes(),
                '#' if self.dialect == Dialect::Mysql => {
                    self.cursor.rest_of_line();
                }
                '/' if self.cursor.peek_at(1) == Some('*') => self.comment()?,
                '*' if self.in_versioned_comment && self.cursor.peek_at(1) == Some('/') => {
                    self.cursor.skip(2);
                    self.in_versioned_comment = false;
                }
                '\'' => self.text('\'')?,
                '"' if self.dialect == Dialect::Mysql => self.text('"')?,
                '"' | '`' => self.quoted_name(c)?,
                '[' => self.bracket()?,
                '$' => self.dollar()?,
                '\\' => self.client_command(),
                '.' if self.statement.is_empty() && self.at_line_start() => self.client_command(),
                '!' if self.statement.is_empty() && self.cursor.peek_at(1) == Some('!') => {
                    self.client_command();
                }
                ':' | '@' | '?' => self.variable(c),
                _ if c.is_ascii_digit() => {
                    let number = self.cursor.take_while(|c| continues_name(c) || c == '.');
                    self.statement.push(Token::Number(number));
                }
                _ if starts_name(c) => self.word(),
                _ => {
                    self.cursor.bump();
                    self.statement.push(Token::Mark(c));
                }
            }
        }
        (!self.in_versioned_comment).then_some(())
    }

    fn at_line_start(&self) -> bool {
        self.cursor
            .peek_at(1)
            .is_some_and(|c| c.is_ascii_alphabetic())
    }

    fn dashes(&mut self) {
        // MySQL takes two dashes for a comment only before a blank.
        let blank = self.cursor.peek_at(2).is_none_or(char::is_whitespace);
        match self.dialect {
            Dialect::Mysql if !blank => {
                self.cursor.skip(2);
                self.statement.push(Token::Mark('-'));
                self.statement.push(Token::Mark('-'));
            }
            Dialect::Generic if !blank => {
                self.hide_if_code_follows();
                self.cursor.rest_of_line();
            }
            Dialect::Generic | Dialect::Psql | Dialect::Mysql | Dialect::Sqlite => {
                self.cursor.rest_of_line();
            }
        }
    }

    /// `--5` is a comment for most and arithmetic for MySQL; words after it are a comment.
    fn hide_if_code_follows(&mut self) {
        if self
            .cursor
            .peek_at(2)
            .is_some_and(|c| c.is_ascii_digit() || c == '(')
        {
            self.hide(AMBIGUOUS);
        }
    }

    fn comment(&mut self) -> Option<()> {
        self.cursor.skip(2);
        let versioned = self.cursor.looking_at("!") || self.cursor.looking_at("M!");
        if versioned && self.dialect == Dialect::Mysql {
            // MySQL runs what stands in such a comment.
            self.cursor
                .take_while(|c| c == '!' || c == 'M' || c.is_ascii_digit());
            self.in_versioned_comment = true;
            return Some(());
        }
        if versioned && self.dialect == Dialect::Generic {
            self.hide(AMBIGUOUS);
        }
        let mut depth = 1_usize;
        while depth > 0 {
            if self.cursor.eat_text("*/") {
                depth -= 1;
            } else if self.cursor.eat_text("/*") {
                match self.dialect {
                    Dialect::Psql => depth += 1,
                    Dialect::Generic => self.hide(AMBIGUOUS),
                    Dialect::Mysql | Dialect::Sqlite => {}
                }
            } else {
                self.cursor.bump()?;
            }
        }
        Some(())
    }

    /// A string; whether a backslash escapes depends on the dialect and on an `E` in front.
    fn text(&mut self, quote: char) -> Option<()> {
        let escapes = self.dialect == Dialect::Mysql
            || matches!(self.statement.last(), Some(Token::Word(word))
                if word.eq_ignore_ascii_case("e") && matches!(self.cursor.before(), Some('e' | 'E')));
        self.cursor.bump();
        let mut text = String::new();
        loop {
            match self.cursor.bump()? {
                '\\' if escapes => text.extend(self.cursor.bump()),
                '\\' if self.dialect == Dialect::Generic && self.cursor.peek() == Some(quote) => {
                    self.hide(AMBIGUOUS);
                    text.push('\\');
                }
                c if c == quote => {
                    if !self.cursor.eat(quote) {
                        break;
                    }
                    text.push(quote);
                }
                c => text.push(c),
            }
        }
        self.statement.push(Token::Text(text));
        Some(())
    }

    fn quoted_name(&mut self, quote: char) -> Option<()> {
        self.cursor.bump();
        let mut name = String::new();
        loop {
            let c = self.cursor.bump()?;
            if c == quote && !self.cursor.eat(quote) {
                break;
            }
            name.push(c);
        }
        self.statement.push(Token::Quoted(name));
        Some(())
    }

    /// `[name]` is a quoted name for some and an array index for others.
    fn bracket(&mut self) -> Option<()> {
        // A name is short; what is longer is read as an index.
        const NAME_CHARS_MAX: usize = 130;
        let after_operand = matches!(
            self.statement.last(),
            Some(Token::Word(_) | Token::Quoted(_) | Token::Mark(']' | ')') | Token::Variable)
        );
        self.cursor.bump();
        if self.dialect == Dialect::Sqlite {
            let name = self.cursor.take_until("]")?;
            self.statement.push(Token::Quoted(name));
            return Some(());
        }
        if self.dialect == Dialect::Generic && !after_operand {
            let mut ahead = 0;
            while ahead < NAME_CHARS_MAX {
                match self.cursor.peek_at(ahead) {
                    None | Some(']') => break,
                    Some('\'' | '"' | '`' | ';') => {
                        self.hide(AMBIGUOUS);
                        break;
                    }
                    Some(_) => ahead += 1,
                }
            }
        }
        self.statement.push(Token::Mark('['));
        Some(())
    }

    /// `$tag$ … $tag$` is a string, `$1` a parameter.
    fn dollar(&mut self) -> Option<()> {
        self.cursor.bump();
        let tag = self.cursor.take_while(continues_name);
        let is_number = tag.starts_with(|c: char| c.is_ascii_digit());
        if is_number || self.cursor.peek() != Some('$') {
            self.statement.push(Token::Variable);
            return Some(());
        }
        if matches!(self.dialect, Dialect::Mysql | Dialect::Sqlite) {
            self.hide(AMBIGUOUS);
        }
        self.cursor.bump();
        let text = self.cursor.take_until(&format!("${tag}$"))?;
        self.statement.push(Token::Text(text));
        Some(())
    }

    fn variable(&mut self, c: char) {
        self.cursor.bump();
        if c == ':' && matches!(self.cursor.peek(), Some(':' | '=')) {
            let second = self.cursor.bump().unwrap_or(':');
            self.statement.push(Token::Mark(':'));
            self.statement.push(Token::Mark(second));
            return;
        }
        let named = self.cursor.peek().is_some_and(|next| {
            starts_name(next) || (c == ':' && matches!(next, '\'' | '"' | '{'))
        });
        if c == ':' && named && matches!(self.dialect, Dialect::Psql | Dialect::Generic) {
            self.hide(VARIABLE);
        }
        if c == '@' {
            self.cursor
                .take_while(|c| continues_name(c) || c == '@' || c == '.');
        } else if c == ':' {
            self.cursor.take_while(continues_name);
        }
        self.statement.push(Token::Variable);
    }

    fn word(&mut self) {
        let word = self.cursor.take_while(|c| continues_name(c) || c == '$');
        if self.statement.is_empty() && self.is_client_word(&word) {
            let rest = self.cursor.rest_of_line();
            self.split
                .pieces
                .push(Piece::Client(format!("{word}{rest}")));
            return;
        }
        // Some clients end a batch with a line `GO`.
        if word.eq_ignore_ascii_case("go") && self.dialect == Dialect::Generic {
            self.end_statement();
            return;
        }
        self.statement.push(Token::Word(word));
    }

    /// The MySQL client also takes commands without a backslash at the start of a statement.
    fn is_client_word(&self, word: &str) -> bool {
        self.dialect == Dialect::Mysql
            && word.len() > 1
            && SQL_MYSQL.get_in_any_case(word).is_some()
    }

    fn client_command(&mut self) {
        if self.dialect == Dialect::Mysql && self.cursor.peek() == Some('\\') {
            // Except for a few commands the MySQL client takes one letter, and goes on after it.
            let takes_rest = matches!(
                self.cursor.peek_at(1),
                Some('!' | '.' | 'T' | 'P' | 'd' | 'u' | 'r' | 'e' | 'R' | 'C')
            );
            self.end_statement();
            let line = if takes_rest {
                self.cursor.rest_of_line()
            } else {
                let mut letter = String::new();
                letter.extend(self.cursor.bump());
                letter.extend(self.cursor.bump());
                letter
            };
            self.split.pieces.push(Piece::Client(line));
            return;
        }
        self.end_statement();
        let line = self.cursor.rest_of_line();
        self.split.pieces.push(Piece::Client(line));
    }
}
